"""Values in a sentence: which are given, and whether another speaks against the right one (Appendix D.4)."""

from collections.abc import Sequence

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


def is_mentioned(value: str, sentence: str) -> bool:
    """Tell whether a sentence gives the value in one of its spellings (CheckCorrectAnswer, Algorithm 3)."""
    if value not in sentence and value not in SPELLINGS:
        return False
    if value in SPELLINGS:
        return any(_find_spelling(spelling, sentence) >= 0 for spelling in SPELLINGS[value])
    return _find_spelling(value, sentence) >= 0


def find_mention(value: str, sentence: str) -> tuple[int, int] | None:
    """Return start and end of the last place that makes `is_mentioned` true; None where there is none."""
    spans = [
        (start, start + len(spelling))
        for spelling in SPELLINGS.get(value, (value,))
        if (start := _find_spelling(spelling, sentence)) >= 0
    ]
    return max(spans) if spans else None


def has_alternative(sentence: str, alternatives: Sequence[str], gold: str, *, last_mention: bool = False) -> bool:
    """Tell whether another value speaks against the gold one (AltFlag, Algorithm 3).

    Where the gold value occurs as well, the flag stays only if an alternative encloses its last occurrence
    ("non-fiction" around "fiction").

    Parameters
    ----------
    sentence : str
        A window of the response, in lower case.
    alternatives : sequence of str
        The domain's values without the gold one.
    gold : str
        The right value.
    last_mention : bool
        Let the flag also stand or fall with which value is mentioned last (D.4, item 5).
    """
    gold = gold.lower()
    start = sentence.rfind(gold)
    enclosed = start >= 0 and _is_enclosed(start, gold, alternatives, sentence)
    if start >= 0 and not enclosed and not last_mention:
        return False
    alternatives = [value.lower() for value in alternatives]
    for value in alternatives:
        if is_mentioned(value, sentence):
            break
    else:
        return False
    return enclosed or not last_mention or _last_start(alternatives, sentence) > _last_start([gold], sentence)


def _find_spelling(spelling: str, sentence: str) -> int:
    """Return the last start of a spelling that satisfies CheckAnswer of Algorithm 3, -1 if there is none."""
    start = sentence.rfind(spelling)
    if start <= 0 or sentence[start - 1] in BOUNDARIES:
        return start
    start = max(sentence.rfind(before + spelling) for before in BOUNDARIES) + 1
    return start if start > 0 or sentence.startswith(spelling) else -1


def _is_enclosed(start: int, gold: str, values: Sequence[str], sentence: str) -> bool:
    """Tell whether some value's last occurrence covers the gold one's, which starts there."""
    for value in map(str.lower, values):
        if gold in value:
            at = sentence.rfind(value)
            if 0 <= at <= start and at + len(value) >= start + len(gold):
                return True
    return False


def _last_start(values: Sequence[str], sentence: str) -> int:
    """Return where the last of these mentions starts, -1 if there is none."""
    return max((span[0] for value in values if (span := find_mention(value, sentence))), default=-1)
