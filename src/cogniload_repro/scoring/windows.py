"""The texts of a response in which the scorer looks, and the values in them (Appendix D)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from cogniload_repro.endings import take_answer

#: Stems, one of which a line about the asked category contains (Appendix D.2).
QUALIFIERS = {
    "location": ("at", "located", "in"),
    "clothes_shirt": ("shirt", "wear"),
    "clothes_pant": ("pant", "wear"),
    "clothes_hat": ("hat", "wear"),
    "clothes_socks": ("sock", "wear"),
    "clothes_gloves": ("glove", "wear"),
    "clothes_underwear": ("underwear", "wear"),
    "hair": ("hair",),
    "recent_eat": ("eat", "ate"),
    "recent_watch": ("watch", "watched", "movie"),
    "recent_listen": ("listen", "listened", "music"),
    "recent_read": ("read", "book"),
}

#: Spellings accepted for a value; every other value stands for itself only.
SPELLINGS = {
    "reaggea": ("reaggea", "reggae"),
    "sci-fi": ("sci-fi", "science fiction", "science-fiction"),
    "camp": ("camp", "campground"),
    "potatoes": ("potatoes", "potato"),
    "market": ("market", "marketplace"),
    "livingroom": ("livingroom", "living room"),
}

#: Characters of which one stands directly before a value, unless the value begins the sentence.
BOUNDARIES = ' ["*_{('


@dataclass(frozen=True)
class ScorerRules:
    """How Appendix D is read where it can be read twice; by default, its Algorithms 1 to 3."""

    #: Drop a closing line in round brackets after the empty lines: a line break cannot save it.
    late_drop: bool = False
    #: Take the last sentence of the lines that name the person (D.3), not the whole lines.
    cut_windows: bool = False
    #: Another value also counts if it is mentioned after the correct one (D.4, item 5).
    last_mention: bool = False
    #: Look only in the last sentence of what follows the reasoning; not the paper's rule.
    answer_only: bool = False


class Windows(NamedTuple):
    """The three lower-case texts in which the answer is looked for; empty where there is none."""

    valid_poi_last: str
    poi_last: str
    last_sentence: str


def take_last_sentence(line: str) -> str:
    """Return what stands before the last full stop of a line, back to the one before.

    A line without a full stop is returned whole.
    """
    pieces = line.rsplit(".", 2)
    return pieces[-2] if len(pieces) > 1 else line


def find_windows(
    response: str, poi: str, category: str, rules: ScorerRules = ScorerRules()
) -> Windows:
    """Cut the deciding texts out of a response (Appendix D.3, Algorithm 2)."""
    qualifiers = QUALIFIERS.get(category)
    if qualifiers is None:
        known = ", ".join(QUALIFIERS)
        raise ValueError(f"unknown category {category!r}; the categories are: {known}")
    text = take_answer(response) or "" if rules.answer_only else response
    if rules.late_drop:
        text = text.rstrip("\n")
    text = _drop_remark(text).rstrip("\n")
    last_sentence = take_last_sentence(next(_lines_from_end(text)))
    if rules.answer_only:
        return Windows("", "", last_sentence)
    valid_poi_last, poi_last = _find_lines(text, poi.lower(), qualifiers)
    if rules.cut_windows:
        valid_poi_last = take_last_sentence(valid_poi_last)
        poi_last = take_last_sentence(poi_last)
    return Windows(valid_poi_last, poi_last, last_sentence)


def _drop_remark(text: str) -> str:
    """Return a text without its last line if that begins and ends with a round bracket."""
    if not text.endswith(")"):
        return text
    start = text.rfind("\n") + 1
    return text[:start] if text.startswith("(", start) else text


def _find_lines(text: str, name: str, qualifiers: tuple[str, ...]) -> tuple[str, str]:
    """Return the last line with the name and a qualifier, and the last one with the name."""
    poi_last = ""
    for line in _lines_from_end(text):
        if name not in line:
            continue
        poi_last = poi_last or line
        if any(qualifier in line for qualifier in qualifiers):
            return line, poi_last
    return "", poi_last


def _lines_from_end(text: str) -> Iterator[str]:
    """Yield the lines of a text in lower case, the last one first."""
    end = len(text)
    while end >= 0:
        start = text.rfind("\n", 0, end) + 1
        yield text[start:end].lower()
        end = start - 1


def find_mention(value: str, sentence: str) -> tuple[int, int] | None:
    """Return the start and end of the last mention of a value in a sentence, None if none.

    A value may be in any of its spellings (CheckCorrectAnswer of Algorithm 3).
    """
    if value not in sentence and value not in SPELLINGS:
        return None
    spans = []
    for spelling in SPELLINGS.get(value, (value,)):
        start = _find_spelling(spelling, sentence)
        spans.append((start, start + len(spelling)))
    last = max(spans)
    return last if last[0] >= 0 else None


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

    It is the AltFlag of Algorithm 3. Where the gold value occurs as well, another one counts only
    if it encloses the last occurrence of the gold one ("non-fiction" around "fiction"). With
    ``last_mention`` it also counts if it is mentioned later (D.4, item 5). The sentence is a
    window, in lower case.
    """
    alternatives = find_alternatives(domain, gold)
    gold = gold.lower()
    gold_start = sentence.rfind(gold)
    is_enclosed = gold_start >= 0 and any(
        gold in value and _covers(value, sentence, gold_start, gold_start + len(gold))
        for value in alternatives
    )
    if gold_start >= 0 and not is_enclosed and not last_mention:
        return False
    mentions = [find_mention(value, sentence) for value in alternatives]
    starts = [mention[0] for mention in mentions if mention]
    if not starts:
        return False
    if is_enclosed or not last_mention:
        return True
    gold_mention = find_mention(gold, sentence)
    return gold_mention is None or max(starts) > gold_mention[0]


def _covers(value: str, sentence: str, start: int, end: int) -> bool:
    """Return whether the last occurrence of a value covers a part of the sentence."""
    first = sentence.rfind(value)
    return 0 <= first <= start and first + len(value) >= end
