"""The verdict on one response by the rules of Appendix D, and the reason for it."""

import re
from collections.abc import Collection, Mapping, Sequence
from typing import Any, NamedTuple

from cogniload_repro.endings import CONTEXT_TOKENS, RESERVED_TOKENS
from cogniload_repro.grid import check_count
from cogniload_repro.puzzles.puzzle import Puzzle
from cogniload_repro.scoring.windows import (
    QUALIFIERS,
    ScorerRules,
    Windows,
    find_alternatives,
    find_mention,
    find_windows,
    has_alternative,
    take_last_sentence,
)

CORRECT_BUCKETS = ("correct_valid", "correct_poi", "correct_last_sentence")
LOGIC_BUCKETS = ("wrong_logic", "wrong_logic_poi", "wrong_logic_last_sentence")
CONTEXT_BUCKET = "wrong_max_context"
OTHER_BUCKET = "wrong_other"
#: The eight buckets of Appendix D.5.
BUCKETS = (*CORRECT_BUCKETS, CONTEXT_BUCKET, *LOGIC_BUCKETS, OTHER_BUCKET)


PSEUDOCODE = ScorerRules()
ANSWER_ONLY = ScorerRules(answer_only=True)
#: Rules by the names under which they can be chosen: the appendix's algorithms, its prose, and each
#: rule alone.
SCORERS = {
    "pseudocode": PSEUDOCODE,
    "prose": ScorerRules(cut_windows=True, last_mention=True),
    "late_drop": ScorerRules(late_drop=True),
    "cut_windows": ScorerRules(cut_windows=True),
    "last_mention": ScorerRules(last_mention=True),
    "answer_only": ANSWER_ONLY,
}

_SENTENCE_CHARS = 400
_UNSURE = re.compile(
    r"\b(?:not\s+(?:\w+\s+)?(?:sure|certain|clear|enough\s+information)"
    r"|un(?:sure|certain|clear|able\s+to)|no\s+idea"
    r"|(?:not|can(?:no|['’])t|don['’]t|couldn['’]t)\s+(?:be\s+)?"
    r"(?:know|tell|say|determined?|decided?|concluded?|answer)"
    r"|give\s+up|impossible\s+to|insufficient\s+information)\b",
    re.IGNORECASE,
)
_SHOWN_CHARS = 300


class Question(NamedTuple):
    """What is asked: the person, the correct value, all values, and the category."""

    poi: str
    gold: str
    domain: Sequence[str]
    category: str


class Verdict(str):
    """The bucket of a response, which explains itself.

    As text it is the bucket's name, such as "correct_valid".

    Attributes
    ----------
    question : Question
        What was asked.
    windows : Windows
        The three texts in which the scorer looks, in lower case.
    window : str
        The one that decided; of `wrong_other` the first that is not empty.
    answer : str
        The value found there, as it is spelled; "" for `wrong_other` and `wrong_max_context`.
    reason : str
        The rule that decided.
    """

    question: Question
    windows: Windows
    window: str = ""
    answer: str = ""
    reason: str

    def __new__(cls, bucket: str, **evidence: object) -> "Verdict":
        """Attach the evidence to the name of a bucket."""
        verdict = super().__new__(cls, bucket)
        vars(verdict).update(evidence)
        return verdict

    @property
    def is_correct(self) -> bool:
        """Whether the response counts as correct."""
        return self in CORRECT_BUCKETS

    def explain(self) -> str:
        """Return what was asked, where the scorer looked, what it found and what decided."""
        poi, gold, domain, category = self.question
        others = find_alternatives(domain, gold)
        places = (
            f"last line with {poi} and one of: {', '.join(QUALIFIERS[category])}",
            f"last line with {poi}",
            "last sentence",
        )
        lines = [
            f"asked: {category} of {poi}; correct: {gold}; other: {', '.join(others)}"
        ]
        before = ""
        for number, (place, window) in enumerate(
            zip(places, self.windows, strict=True), start=1
        ):
            if not window:
                lines.append(f"{number}. {place}: none")
            elif window == before:
                lines.append(f"{number}. {place}: the same")
            else:
                lines.append(f"{number}. {place}: {_shorten(window)!r}")
                spelling = _find_last([gold], window) or "no"
                mentioned = [value for value in others if find_mention(value, window)]
                values = ", ".join(mentioned) or "none"
                lines.append(f"   correct value: {spelling}; other values: {values}")
            before = window
        lines.append(f"{self}: {self.reason}")
        return "\n".join(lines)


def _shorten(window: str) -> str:
    return window if len(window) <= _SHOWN_CHARS else f"... {window[-_SHOWN_CHARS:]}"


def _find_last(values: Sequence[str], window: str) -> str:
    """Return the mention of one of these values that comes last, as it is spelled; "" if none."""
    mentions = [find_mention(value, window) for value in values]
    start, end = max((mention for mention in mentions if mention), default=(0, 0))
    return window[start:end]


def find_scorer(name: str) -> ScorerRules:
    """Return the rules of this name; a ValueError lists the names."""
    if name not in SCORERS:
        raise ValueError(
            f"unknown scorer {name!r}; choose one of: {', '.join(SCORERS)}"
        )
    return SCORERS[name]


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
) -> Verdict:
    """Score one response to a puzzle as the paper does (section 2.1.6 and Appendix D).

    Parameters
    ----------
    response : str
        The model's whole output, the reasoning included.
    puzzle : Puzzle, optional
        As `draw_puzzle` or `read_puzzle` returns it; in its place, the four parts below.
    poi, gold : str, optional
        The person of interest and the correct value.
    domain : collection of str, optional
        The puzzle's values of the asked category, the correct one included.
    category : str, optional
        The asked category, a key of `cogniload_repro.scoring.windows.QUALIFIERS`.
    prompt_tokens, response_tokens : int, optional
        Token counts; the context budget is tested only where both are known.
    scorer : str
        How Appendix D is read where it can be read twice: a name among `SCORERS`.

    Returns
    -------
    Verdict
        The name of the bucket as text; its attributes ``window``, ``answer`` and ``reason`` say
        what decided, ``is_correct`` whether it counts as correct, and ``explain()`` describes each
        step.

    Raises
    ------
    TypeError
        If the puzzle or one of its parts has another type.
    ValueError
        If the response is not text, the category or scorer is unknown, the correct value is empty,
        or a number of tokens is no whole number of at least 0.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> puzzle = cl.draw_puzzle(N=20, d=1, needles=1, puzzle_id=770487)
    >>> cl.score_response("So Raymond is wearing **red** underwear.", puzzle)
    'correct_valid'
    >>> verdict = cl.score_response("Raymond: blue", puzzle)
    >>> verdict.is_correct, verdict.answer
    (False, 'blue')
    >>> print(verdict.explain())
    asked: clothes_underwear of Raymond; correct: red; other: yellow, blue
    1. last line with Raymond and one of: underwear, wear: none
    2. last line with Raymond: 'raymond: blue'
       correct value: no; other values: blue
    3. last sentence: the same
    wrong_logic_poi: window 2 has 'blue'
    """
    for name, count in (
        ("prompt_tokens", prompt_tokens),
        ("response_tokens", response_tokens),
    ):
        if count is not None:
            check_count(name, count, 0)
    question = _read_question(puzzle, poi, gold, domain, category)
    rules = find_scorer(scorer)
    return find_verdict(response, question, rules, prompt_tokens, response_tokens)


def _read_question(
    puzzle: Puzzle | None,
    poi: str | None,
    gold: str | None,
    domain: Collection[str] | None,
    category: str | None,
) -> Question:
    """Return what a puzzle asks, or its four parts; TypeError where one has another type."""
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
            "poi, gold and category must be text, domain the values of the asked category "
            "(puzzle.domains[puzzle.category]); or give the puzzle alone"
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
    verdict = score_response(
        response, puzzle, prompt_tokens=prompt_tokens, response_tokens=response_tokens
    )
    return float(verdict.is_correct)


def find_verdict(
    response: str,
    question: Question,
    rules: ScorerRules = PSEUDOCODE,
    prompt_tokens: int | None = None,
    response_tokens: int | None = None,
) -> Verdict:
    """Return the verdict on a response to a question whose types are known (Appendix D.5)."""
    if not isinstance(response, str):
        kind = type(response).__name__
        raise ValueError(
            f"a response must be text, not {kind}; use '' for an empty one"
        )
    if not question.gold:
        raise ValueError("the gold value is empty; give the puzzle's solution")
    windows = find_windows(response, question.poi, question.category, rules)
    evidence: dict[str, object] = {"question": question, "windows": windows}
    if exceeds_budget(prompt_tokens, response_tokens):
        reason = (
            f"prompt, response and {RESERVED_TOKENS} tokens reach {CONTEXT_TOKENS:,}"
        )
        return Verdict(CONTEXT_BUCKET, reason=reason, **evidence)
    if not windows.last_sentence:
        return Verdict(CONTEXT_BUCKET, reason="the last sentence is empty", **evidence)
    bucket, place = _find_bucket(windows, question, rules.last_mention)
    window = windows[place]
    if bucket == OTHER_BUCKET:
        reason = "no window has the correct value on its own, or another value in place of it"
        return Verdict(bucket, window=window, reason=reason, **evidence)
    values = [question.gold]
    if bucket in LOGIC_BUCKETS:
        values = find_alternatives(question.domain, question.gold)
    answer = _find_last(values, window)
    reason = f"window {place + 1} has {answer!r}"
    return Verdict(bucket, window=window, answer=answer, reason=reason, **evidence)


def _find_bucket(
    windows: Windows, question: Question, last_mention: bool
) -> tuple[str, int]:
    """Return the bucket of a response and the place of the window that decides.

    The first window with the correct value alone decides, then the first with another one alone.
    """
    gold = question.gold
    wrong_place = None
    for place, window in enumerate(windows):
        if not window or window in windows[:place]:
            continue  # the same text decides at its first place, or not at all
        has_gold = find_mention(gold, window) is not None
        has_other = has_alternative(
            window, question.domain, gold, last_mention=last_mention
        )
        if has_gold and not has_other:
            return CORRECT_BUCKETS[place], place
        if has_other and not has_gold and wrong_place is None:
            wrong_place = place
    if wrong_place is not None:
        return LOGIC_BUCKETS[wrong_place], wrong_place
    first_place = next(place for place, window in enumerate(windows) if window)
    return OTHER_BUCKET, first_place


def exceeds_budget(prompt_tokens: int | None, response_tokens: int | None) -> bool:
    """Return whether prompt and response fill the context (Appendix D.3).

    They never do where a count is unknown.
    """
    if prompt_tokens is None or response_tokens is None:
        return False
    return prompt_tokens + response_tokens + RESERVED_TOKENS >= CONTEXT_TOKENS


def is_unsure(answer: str) -> bool:
    """Return whether the last sentence says that the answer is not known; a hint, no verdict."""
    _, _, last_line = answer.rstrip("\n").rpartition("\n")
    sentence = take_last_sentence(last_line)
    return _UNSURE.search(sentence[-_SENTENCE_CHARS:]) is not None
