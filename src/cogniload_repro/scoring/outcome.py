"""The outcome of one response by the rules of Appendix D, and the reason for it.

`find_outcome` takes three windows from the response, the parts in which it searches for the answer
(D.3), looks for values in them (D.4), and returns a bucket with its evidence (D.5).
"""

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cogniload_repro.paths import ICLR2026
from cogniload_repro.scoring.reasoning import CONTEXT_TOKENS, RESERVED_TOKENS

with (ICLR2026 / "scorer_words.json").open(encoding="utf-8") as _file:
    _words = json.load(_file)
#: Stems by category: a line about the category contains one of them (Appendix D.2).
QUALIFIERS: dict[str, list[str]] = _words["qualifiers"]
#: Spellings accepted for a value; every other value has its own spelling only.
SPELLINGS: dict[str, list[str]] = _words["spellings"]

#: A value is found only directly after one of these characters or at the start of the sentence.
BOUNDARIES = ' ["*_{('

CORRECT_BUCKETS = ("correct_valid", "correct_poi", "correct_last_sentence")
LOGIC_BUCKETS = ("wrong_logic", "wrong_logic_poi", "wrong_logic_last_sentence")
CONTEXT_BUCKET = "wrong_max_context"
OTHER_BUCKET = "wrong_other"
#: The eight buckets of Appendix D.5.
BUCKETS = (*CORRECT_BUCKETS, CONTEXT_BUCKET, *LOGIC_BUCKETS, OTHER_BUCKET)

_SHOWN_CHARS = 300


@dataclass(frozen=True)
class ScorerRules:
    """Which reading of Appendix D to use where it is ambiguous; by default, its algorithms."""

    #: Remove empty lines at the end before a last line in round brackets is dropped, too.
    late_drop: bool = False
    #: Take the last sentence of the lines that name the person (D.3), not the whole lines.
    cut_windows: bool = False
    #: Another value also counts if it is mentioned after the correct one (D.4, item 5).
    last_mention: bool = False


PSEUDOCODE = ScorerRules()
#: Scorers by name: the appendix's algorithms (pseudocode), its prose, and the pseudocode with one
#: rule changed.
SCORERS = {
    "pseudocode": PSEUDOCODE,
    "prose": ScorerRules(cut_windows=True, last_mention=True),
    "late_drop": ScorerRules(late_drop=True),
    "cut_windows": ScorerRules(cut_windows=True),
    "last_mention": ScorerRules(last_mention=True),
}


class Question(NamedTuple):
    """What is asked: the person, the correct value, all values, and the category."""

    poi: str
    gold: str
    domain: Sequence[str]
    category: str


class Windows(NamedTuple):
    """The three texts that are searched for the answer, in lower case; empty if there is none."""

    valid_poi_last: str
    poi_last: str
    last_sentence: str


class Outcome(str):
    """The bucket of a response, with the evidence for it.

    It is a string, the bucket's name, such as "correct_valid".

    Attributes
    ----------
    question : Question
        What was asked.
    windows : Windows
        The three texts that the scorer searches, in lower case.
    window : str
        The window that decided; for `wrong_other` the first that is not empty.
    answer : str
        The value found there, as it is spelled; "" for `wrong_other` and `wrong_max_context`.
    reason : str
        What decided, such as "window 1 has 'red'".
    """

    question: Question
    windows: Windows
    window: str
    answer: str
    reason: str

    def __new__(cls, bucket: str, **evidence: object) -> "Outcome":
        """Attach the evidence to the name of a bucket."""
        outcome = super().__new__(cls, bucket)
        vars(outcome).update(evidence)
        return outcome

    @property
    def is_correct(self) -> bool:
        """Whether the response counts as correct."""
        return self in CORRECT_BUCKETS

    def explain(self) -> str:
        """Return an explanation: the question, each window, the values found and what decided."""
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
    """Return the last mention of any of these values, as it is spelled there; "" if none."""
    mentions = [find_mention(value, window) for value in values]
    start, end = max((mention for mention in mentions if mention), default=(0, 0))
    return window[start:end]


def find_outcome(
    response: str,
    question: Question,
    rules: ScorerRules = PSEUDOCODE,
    prompt_tokens: int | None = None,
    response_tokens: int | None = None,
) -> Outcome:
    """Return the outcome of a response to a question of checked types (Appendix D.5)."""
    if not isinstance(response, str):
        raise ValueError(
            f"a response must be text, not {response!r:.80}; use '' if empty"
        )
    if not question.gold:
        raise ValueError("the gold value is empty; give the puzzle's solution")
    windows = find_windows(response, question.poi, question.category, rules)
    bucket = CONTEXT_BUCKET
    window = ""
    answer = ""
    if exceeds_budget(prompt_tokens, response_tokens):
        reserve = f"a reserve of {RESERVED_TOKENS} tokens"
        reason = f"prompt, response and {reserve} reach {CONTEXT_TOKENS:,}"
    elif not windows.last_sentence:
        reason = "the last sentence is empty"
    else:
        bucket, place = _find_bucket(windows, question, rules.last_mention)
        window = windows[place]
        reason = "no window has the correct value alone or another value alone"
        if bucket != OTHER_BUCKET:
            values = [question.gold]
            if bucket in LOGIC_BUCKETS:
                values = find_alternatives(question.domain, question.gold)
            answer = _find_last(values, window)
            reason = f"window {place + 1} has {answer!r}"
    return Outcome(
        bucket,
        question=question,
        windows=windows,
        window=window,
        answer=answer,
        reason=reason,
    )


def _find_bucket(
    windows: Windows, question: Question, last_mention: bool
) -> tuple[str, int]:
    """Return the bucket of a response and the index of the window that decides.

    That is the first window with the correct value alone, or else with another value alone.
    """
    gold = question.gold
    wrong_place = None
    for place, window in enumerate(windows):
        if not window or window in windows[:place]:
            continue  # the same text was already judged as an earlier window
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


def ends_correct(answer: str, question: Question) -> bool:
    """Return whether the last sentence of a text has the correct value alone."""
    poi, gold, domain, category = question
    _, _, last_sentence = find_windows(answer, poi, category)
    has_gold = find_mention(gold, last_sentence) is not None
    return has_gold and not has_alternative(last_sentence, domain, gold)


def exceeds_budget(prompt_tokens: int | None, response_tokens: int | None) -> bool:
    """Return whether prompt and response fill the context (Appendix D.3).

    False if a count is unknown.
    """
    if prompt_tokens is None or response_tokens is None:
        return False
    return prompt_tokens + response_tokens + RESERVED_TOKENS >= CONTEXT_TOKENS


def take_last_sentence(line: str) -> str:
    """Return the text of a line between its last two full stops.

    With one full stop, return the text before it; without any, the whole line.
    """
    pieces = line.rsplit(".", 2)
    return pieces[-2] if len(pieces) > 1 else line


def find_windows(
    response: str, poi: str, category: str, rules: ScorerRules = PSEUDOCODE
) -> Windows:
    """Return the three windows of a response (Appendix D.3, Algorithms 1 and 2)."""
    qualifiers = QUALIFIERS.get(category)
    if qualifiers is None:
        known = ", ".join(QUALIFIERS)
        raise ValueError(f"unknown category {category!r}; the categories are: {known}")
    lines = with_line_feeds(response).lower().split("\n")
    if rules.late_drop:
        lines = _drop_empty(lines)
    if lines[-1].startswith("(") and lines[-1].endswith(")"):
        lines.pop()
    lines = _drop_empty(lines)
    last_sentence = take_last_sentence(lines[-1])
    poi_lines = [line for line in lines if poi.lower() in line]
    valid_lines = [line for line in poi_lines if _is_qualified(line, qualifiers)]
    poi_last = poi_lines[-1] if poi_lines else ""
    valid_poi_last = valid_lines[-1] if valid_lines else ""
    if rules.cut_windows:
        poi_last = take_last_sentence(poi_last)
        valid_poi_last = take_last_sentence(valid_poi_last)
    return Windows(valid_poi_last, poi_last, last_sentence)


def with_line_feeds(text: str) -> str:
    """Return a text whose lines all end in LF, as reading a text file does."""
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _is_qualified(line: str, qualifiers: Sequence[str]) -> bool:
    return any(qualifier in line for qualifier in qualifiers)


def _drop_empty(lines: list[str]) -> list[str]:
    """Return the lines that are not empty, or else one empty line."""
    return [line for line in lines if line] or [""]


def find_mention(value: str, sentence: str) -> tuple[int, int] | None:
    """Return the start and end of the last mention of a value in a sentence, None if none.

    A value may be in any of its spellings (CheckCorrectAnswer of Algorithm 3).
    """
    spans = []
    for spelling in SPELLINGS.get(value, [value]):
        start = _find_spelling(spelling, sentence)
        if start >= 0:
            spans.append((start, start + len(spelling)))
    return max(spans, default=None)


def _find_spelling(spelling: str, sentence: str) -> int:
    """Return the last start of a spelling that CheckAnswer of Algorithm 3 accepts, -1 if none."""
    start = sentence.rfind(spelling)
    if start <= 0 or sentence[start - 1] in BOUNDARIES:
        return start
    boundary = max(sentence.rfind(sign + spelling) for sign in BOUNDARIES)
    if boundary >= 0:
        return boundary + 1
    return 0 if sentence.startswith(spelling) else -1


def find_alternatives(domain: Sequence[str], gold: str) -> list[str]:
    """Return the values of a domain other than the gold one, in lower case."""
    return [value.lower() for value in domain if value != gold]


def has_alternative(
    sentence: str, domain: Sequence[str], gold: str, *, last_mention: bool = False
) -> bool:
    """Return whether another value of the domain counts against the gold one.

    This is AltFlag of Algorithm 3. If the gold value occurs as well, another value counts only
    if it encloses the last occurrence of the gold one ("non-fiction" around "fiction"). With
    ``last_mention`` it also counts if it is mentioned later (D.4, item 5). The sentence is a
    window, in lower case.
    """
    alternatives = find_alternatives(domain, gold)
    mentions = [find_mention(value, sentence) for value in alternatives]
    starts = [mention[0] for mention in mentions if mention]
    if not starts:
        return False
    gold = gold.lower()
    gold_start = sentence.rfind(gold)
    gold_end = gold_start + len(gold)
    for value in alternatives:
        start = sentence.rfind(value)
        if 0 <= start <= gold_start and start + len(value) >= gold_end:
            return True
    if not last_mention:
        return gold_start < 0
    gold_mention = find_mention(gold, sentence)
    return gold_mention is None or max(starts) > gold_mention[0]
