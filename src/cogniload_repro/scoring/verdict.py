"""Score one response by the rules of Appendix D, from the windows that `windows` finds."""

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from cogniload_repro.endings import CONTEXT_TOKENS, RESERVED_TOKENS, take_answer
from cogniload_repro.grid import check_count
from cogniload_repro.puzzles.puzzle import Puzzle
from cogniload_repro.scoring.windows import (
    Windows,
    find_alternatives,
    find_mention,
    find_windows,
    has_alternative,
    is_mentioned,
    take_last_sentence,
)

CORRECT_BUCKETS = ("correct_valid", "correct_poi", "correct_last_sentence")
LOGIC_BUCKETS = ("wrong_logic", "wrong_logic_poi", "wrong_logic_last_sentence")
CONTEXT_BUCKET = "wrong_max_context"
OTHER_BUCKET = "wrong_other"
#: The eight buckets of Appendix D.5.
BUCKETS = (*CORRECT_BUCKETS, CONTEXT_BUCKET, *LOGIC_BUCKETS, OTHER_BUCKET)


@dataclass(frozen=True)
class ScorerRules:
    """How Appendix D is read where it can be read twice; the default is its Algorithms 1-3 as printed."""

    #: Drop a closing line in round brackets after the empty lines: a trailing newline cannot save it.
    late_drop: bool = False
    #: Take the last sentence of the lines that name the person of interest (D.3), not the whole lines.
    cut_windows: bool = False
    #: Let the flag for alternatives also stand or fall with which value is mentioned last (D.4, item 5).
    last_mention: bool = False
    #: Look in nothing but the last sentence of what follows the reasoning; not the paper's rule.
    answer_only: bool = False


#: Scorers by name: the appendix's algorithms, its prose, each difference alone, and the answer without its reasoning.
SCORERS = {
    "pseudocode": ScorerRules(),
    "prose": ScorerRules(cut_windows=True, last_mention=True),
    "late_drop": ScorerRules(late_drop=True),
    "cut_windows": ScorerRules(cut_windows=True),
    "last_mention": ScorerRules(last_mention=True),
    "answer_only": ScorerRules(answer_only=True),
}
PSEUDOCODE, ANSWER_ONLY = SCORERS["pseudocode"], SCORERS["answer_only"]

_SENTENCE_CHARS = 400
_UNSURE = re.compile(
    r"\b(?:not\s+(?:\w+\s+)?(?:sure|certain|clear|enough\s+information)|un(?:sure|certain|clear|able\s+to)|no\s+idea"
    r"|(?:not|can(?:no|['’])t|don['’]t|couldn['’]t)\s+(?:be\s+)?(?:know|tell|say|determined?|decided?|concluded?|answer)"
    r"|give\s+up|impossible\s+to|insufficient\s+information)\b",
    re.IGNORECASE,
)


class Question(NamedTuple):
    """What the scorer needs to know of a puzzle."""

    poi: str
    gold: str
    domain: Sequence[str]
    category: str


class Verdict(NamedTuple):
    """A bucket with its evidence: the deciding window and the value found in it, as it is spelled there.

    A `wrong_other` has no answer, its window is the first that is not empty; `wrong_max_context` has neither.
    """

    bucket: str
    window: str
    answer: str


def find_scorer(name: str) -> ScorerRules:
    """Return the rules of the scorer of this name; a ValueError if there is none."""
    if name not in SCORERS:
        raise ValueError(f"unknown scorer {name!r}; choose one of: {', '.join(SCORERS)}")
    return SCORERS[name]


def take_question(
    puzzle: Puzzle | None = None,
    *,
    poi: str | None = None,
    gold: str | None = None,
    domain: Collection[str] | None = None,
    category: str | None = None,
) -> Question:
    """Return what is asked, of a puzzle or of its four parts; a TypeError where one has another type."""
    if isinstance(puzzle, Puzzle):
        return Question(
            puzzle.poi, puzzle.solution, puzzle.domains[puzzle.category], puzzle.category
        )
    if puzzle is not None:
        raise TypeError(
            f"the puzzle is a {type(puzzle).__name__}; give what draw_puzzle or read_puzzle returns"
        )
    values = (None,) if domain is None or isinstance(domain, str | Mapping) else tuple(domain)
    if not all(isinstance(one, str) for one in (poi, gold, category, *values)):
        raise TypeError(
            "poi, gold and category must be text, domain the values of the asked category "
            "(puzzle.domains[puzzle.category]); or give the puzzle alone"
        )
    return Question(poi, gold, values, category)  # type: ignore[arg-type]


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
) -> str:
    """Return the bucket of one response (paper, section 2.1.6 and Appendix D).

    Parameters
    ----------
    response : str
        The model's whole output, the reasoning included.
    puzzle : Puzzle, optional
        As `draw_puzzle` or `read_puzzle` returns it; in its place, the four parts below.
    poi, gold : str, optional
        The person of interest and the correct value.
    domain : collection of str, optional
        The puzzle's values of the asked category, the gold one included.
    category : str, optional
        The asked category, a key of `cogniload_repro.scoring.windows.QUALIFIERS`.
    prompt_tokens, response_tokens : int, optional
        Token counts; the context budget is tested only where both are known.
    scorer : str
        How Appendix D is read where it can be read twice: a name among `SCORERS`.

    Raises
    ------
    TypeError
        If the puzzle or one of its parts has another type.
    ValueError
        If the response is not text, the category or scorer is unknown, the gold value is empty, or a number of tokens
        is no whole number of at least 0.

    Examples
    --------
    >>> score_response("So Raymond is wearing **red** underwear.", poi="Raymond", gold="red",
    ...                domain=["yellow", "blue", "red"], category="clothes_underwear")
    'correct_valid'
    """
    options: dict[str, Any] = {
        "prompt_tokens": prompt_tokens,
        "response_tokens": response_tokens,
        "scorer": scorer,
    }
    return explain_response(
        response, puzzle, poi=poi, gold=gold, domain=domain, category=category, **options
    ).bucket


def explain_response(
    response: str,
    puzzle: Puzzle | None = None,
    *,
    prompt_tokens: int | None = None,
    response_tokens: int | None = None,
    scorer: str = "pseudocode",
    **parts: Any,
) -> Verdict:
    """Return a response's bucket, the window that decided it and the value found there; see `score_response`.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> cl.explain_response("So Raymond is wearing **red** underwear.", poi="Raymond", gold="blue",
    ...                     domain=["yellow", "blue", "red"], category="clothes_underwear")
    Verdict(bucket='wrong_logic', window='so raymond is wearing **red** underwear.', answer='red')
    """
    for name, count in (("prompt_tokens", prompt_tokens), ("response_tokens", response_tokens)):
        if count is not None:
            check_count(name, count, 0)
    return find_verdict(
        response,
        take_question(puzzle, **parts),
        prompt_tokens,
        response_tokens,
        find_scorer(scorer),
    )


def reward(
    puzzle: Puzzle,
    response: str,
    *,
    prompt_tokens: int | None = None,
    response_tokens: int | None = None,
) -> float:
    """Return 1.0 for a response that the paper's scorer calls correct, 0.0 for any other (paper, section 4).

    Parameters and errors are those of `score_response`; a response beyond the context budget earns nothing.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> puzzle = cl.draw_puzzle(N=20, d=1, needles=1, puzzle_id=770487)
    >>> cl.reward(puzzle, f"So {puzzle.poi} is wearing {puzzle.solution} underwear.")
    1.0
    """
    bucket = score_response(
        response, puzzle, prompt_tokens=prompt_tokens, response_tokens=response_tokens
    )
    return float(bucket in CORRECT_BUCKETS)


def find_verdict(
    response: str,
    question: Question,
    prompt_tokens: int | None = None,
    response_tokens: int | None = None,
    rules: ScorerRules = PSEUDOCODE,
) -> Verdict:
    """Return the verdict on a question whose types are known."""
    bucket, window = find_bucket(response, question, rules, prompt_tokens, response_tokens)
    if bucket in (CONTEXT_BUCKET, OTHER_BUCKET):
        return Verdict(bucket, window, "")
    values = (
        [question.gold]
        if bucket in CORRECT_BUCKETS
        else find_alternatives(question.domain, question.gold)
    )
    start, end = max(span for value in values if (span := find_mention(value, window)))
    return Verdict(bucket, window, window[start:end])


def exceeds_budget(prompt_tokens: int | None, response_tokens: int | None) -> bool:
    """Return whether prompt and response fill the context (Appendix D.3); never, where a count is unknown."""
    if prompt_tokens is None or response_tokens is None:
        return False
    return prompt_tokens + response_tokens + RESERVED_TOKENS >= CONTEXT_TOKENS


def is_unsure(answer: str) -> bool:
    """Return whether the last sentence of a text says in words that the answer is not known; a hint, no verdict."""
    last = take_last_sentence(answer.rstrip("\n").rpartition("\n")[2])
    return _UNSURE.search(last[-_SENTENCE_CHARS:]) is not None


def find_bucket(  # noqa: C901
    response: str,
    question: Question,
    rules: ScorerRules = PSEUDOCODE,
    prompt_tokens: int | None = None,
    response_tokens: int | None = None,
) -> tuple[str, str]:
    """Return bucket and deciding window under a scorer (Appendix D.5)."""
    poi, gold, domain, category = question
    if not isinstance(response, str):
        raise ValueError(
            f"a response must be text, not {type(response).__name__}; use '' for an empty one"
        )
    if not gold:
        raise ValueError("the gold value is empty; give the puzzle's solution")
    if not response or exceeds_budget(prompt_tokens, response_tokens):
        return CONTEXT_BUCKET, ""
    text = take_answer(response) or "" if rules.answer_only else response
    windows = find_windows(
        text, poi, category, late_drop=rules.late_drop, cut_windows=rules.cut_windows
    )
    if not windows.last_sentence:
        return CONTEXT_BUCKET, ""
    if rules.answer_only:
        windows = Windows("", "", windows.last_sentence)
    without_gold, previous = [], ""
    for rank, window in enumerate(windows):
        if not window or window == previous:
            continue  # nothing is in an empty text, and the same text decides at its first place or not at all
        previous = window
        if not is_mentioned(gold, window):
            without_gold.append((rank, window))
        elif not has_alternative(window, domain, gold, last_mention=rules.last_mention):
            return CORRECT_BUCKETS[rank], window
    for rank, window in without_gold:
        if has_alternative(window, domain, gold, last_mention=rules.last_mention):
            return LOGIC_BUCKETS[rank], window
    return OTHER_BUCKET, next(filter(None, windows))
