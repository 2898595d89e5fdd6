"""One response to a puzzle scored, or turned into a reward for training."""

from collections.abc import Collection, Mapping
from typing import Any

from cogniload_repro.grid import check_count
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
        If the puzzle or one of its parts has the wrong type.
    ValueError
        If the response is not text, the category or scorer is unknown, the correct value is empty,
        or a token count is not a whole number of at least 0.

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
    counts = {"prompt_tokens": prompt_tokens, "response_tokens": response_tokens}
    for name, count in counts.items():
        if count is not None:
            check_count(name, count, 0)
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
    if isinstance(puzzle, Puzzle):
        category = puzzle.category
        return Question(puzzle.poi, puzzle.solution, puzzle.domains[category], category)
    if puzzle is not None:
        kind = type(puzzle).__name__
        raise TypeError(
            f"the puzzle is a {kind}; give what draw_puzzle or read_puzzle returns"
        )
    values: list[Any] = [None]
    if domain is not None and not isinstance(domain, str | Mapping):
        values = [*domain]
    if not all(isinstance(text, str) for text in (poi, gold, category, *values)):
        raise TypeError(
            "poi, gold and category must be text, domain the values of the asked category, "
            "such as puzzle.domains[puzzle.category]; or give only the puzzle"
        )
    return Question(poi, gold, values, category)  # type: ignore[arg-type]


def reward(
    puzzle: Puzzle,
    response: str,
    *,
    prompt_tokens: int | None = None,
    response_tokens: int | None = None,
) -> float:
    """Return 1.0 for a response that the paper's scorer calls correct, otherwise 0.0 (section 4).

    Parameters and errors are those of `score_response`.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> puzzle = cl.draw_puzzle(N=20, d=1, needles=1, puzzle_id=770487)
    >>> cl.reward(puzzle, f"So {puzzle.poi} is wearing {puzzle.solution} underwear.")
    1.0
    """
    outcome = score_response(
        response, puzzle, prompt_tokens=prompt_tokens, response_tokens=response_tokens
    )
    return float(outcome.is_correct)
