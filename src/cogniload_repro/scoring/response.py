"""One response to a puzzle scored."""

from collections.abc import Collection, Mapping
from typing import Any

from cogniload_repro.puzzles.puzzle import Puzzle
from cogniload_repro.scoring.outcome import (
    SCORERS,
    Outcome,
    Question,
    find_outcome,
)


def score_response(
    response: str,
    puzzle: Puzzle | None = None,
    *,
    poi: str | None = None,
    gold: str | None = None,
    domain: Collection[str] | None = None,
    category: str | None = None,
    prompt_tokens: int | None = None,
    response_tokens: int | None = None,
    scorer: str = "pseudocode",
) -> Outcome:
    """Score one response to a puzzle as the paper does (section 2.1.6 and Appendix D).

    Parameters
    ----------
    response : str
        The model's whole output, the reasoning included.
    puzzle : Puzzle, optional
        As returned by `draw_puzzle` or `read_puzzle`; or give the four parts below instead.
    poi, gold : str, optional
        The person of interest and the correct value.
    domain : collection of str, optional
        The puzzle's values of the asked category, the correct one included.
    category : str, optional
        The asked category, a key of `cogniload_repro.scoring.outcome.QUALIFIERS`.
    prompt_tokens, response_tokens : int, optional
        Token counts; the context limit is tested only if both are given.
    scorer : str
        Which reading of Appendix D to use where it is ambiguous: a name in `SCORERS`.

    Returns
    -------
    Outcome
        The name of the bucket as text; its attributes ``window``, ``answer`` and ``reason`` say
        what decided, ``is_correct`` whether it counts as correct, and ``explain()`` describes each
        step.

    Raises
    ------
    TypeError
        If a part of the question has the wrong type.
    ValueError
        If the response is not text, the category or scorer is unknown, or the correct value is
        empty.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> puzzle = cl.draw_puzzle(N=20, d=1, needles=1, puzzle_id=770487)
    >>> cl.score_response("So Raymond is wearing **red** underwear.", puzzle)
    'correct_valid'
    >>> outcome = cl.score_response("Raymond: blue", puzzle)
    >>> outcome.is_correct, outcome.answer
    (False, 'blue')
    >>> print(outcome.explain())
    asked: clothes_underwear of Raymond; correct: red; other: yellow, blue
    1. last line with Raymond and one of: underwear, wear: none
    2. last line with Raymond: 'raymond: blue'
       correct value: no; other values: blue
    3. last sentence: the same
    wrong_logic_poi: window 2 has 'blue'
    """
    question = _read_question(puzzle, poi, gold, domain, category)
    if scorer not in SCORERS:
        names = ", ".join(SCORERS)
        raise ValueError(f"unknown scorer {scorer!r}; choose one of: {names}")
    rules = SCORERS[scorer]
    return find_outcome(response, question, rules, prompt_tokens, response_tokens)


def _read_question(
    puzzle: Puzzle | None,
    poi: str | None,
    gold: str | None,
    domain: Collection[str] | None,
    category: str | None,
) -> Question:
    """Return the question of a puzzle or of its four parts; TypeError if one has the wrong type."""
    if puzzle is not None:
        values = puzzle.domains[puzzle.category]
        return Question(puzzle.poi, puzzle.solution, values, puzzle.category)
    parts: list[Any] = [poi, gold, category]
    if domain is None or isinstance(domain, str | Mapping):
        parts.append(None)
    else:
        parts += domain
    if not all(isinstance(text, str) for text in parts):
        raise TypeError(
            "poi, gold and category must be text, domain the values of the asked category, "
            "such as puzzle.domains[puzzle.category]; or give only the puzzle"
        )
    poi, gold, category, *values = parts
    return Question(poi, gold, values, category)
