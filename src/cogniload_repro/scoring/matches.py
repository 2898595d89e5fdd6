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
    """Return whether a sentence gives the value in one of its spellings (CheckCorrectAnswer, Algorithm 3)."""
    if value in SPELLINGS:
        return any(_find_spelling(spelling, sentence) >= 0 for spelling in SPELLINGS[value])
    return value in sentence and _find_spelling(value, sentence) >= 0


def find_mention(value: str, sentence: str) -> tuple[int, int] | None:
    """Return start and end of the last place that makes `is_mentioned` true; None where there is none."""
    if value not in sentence and value not in SPELLINGS:
        return None
    starts = [(_find_spelling(spelling, sentence), spelling) for spelling in SPELLINGS.get(value, (value,))]
    start, spelling = max(starts)
    return (start, start + len(spelling)) if start >= 0 else None


def has_alternative(sentence: str, domain: Sequence[str], gold: str, *, last_mention: bool = False) -> bool:
    """Return whether another value of the domain speaks against the gold one (AltFlag, Algorithm 3).

    Where the gold value occurs as well, the flag stays only if an alternative encloses its last occurrence
    ("non-fiction" around "fiction"). With ``last_mention`` it also stands or falls with which value is mentioned last
    (D.4, item 5). The sentence is a window, in lower case.
    """
    start = sentence.rfind(gold.lower())
    enclosed = start >= 0 and _is_enclosed(start, sentence, domain, gold)
    if start >= 0 and not enclosed and not last_mention:
        return False
    for value in domain:
        if value != gold and is_mentioned(value.lower(), sentence):
            break
    else:
        return False
    if enclosed or not last_mention:
        return True
    return _last_start(find_alternatives(domain, gold), sentence) > _last_start([gold.lower()], sentence)


def find_alternatives(domain: Sequence[str], gold: str) -> list[str]:
    """Return the values of a domain other than the gold one, in lower case."""
    return [value.lower() for value in domain if value != gold]


def _find_spelling(spelling: str, sentence: str) -> int:
    """Return the last start of a spelling that satisfies CheckAnswer of Algorithm 3, -1 if there is none."""
    start = sentence.rfind(spelling)
    if start <= 0 or sentence[start - 1] in BOUNDARIES:
        return start
    start = max(sentence.rfind(before + spelling) for before in BOUNDARIES) + 1
    return start if start > 0 or sentence.startswith(spelling) else -1


def _is_enclosed(start: int, sentence: str, domain: Sequence[str], gold: str) -> bool:
    """Return whether an alternative's last occurrence covers the gold one's, which starts there."""
    if "\n".join(domain).lower().count(gold.lower()) == domain.count(gold):
        return False  # no alternative contains the gold value: nearly always so, and told at once
    for value in find_alternatives(domain, gold):
        at = sentence.rfind(value)
        if 0 <= at <= start and at + len(value) >= start + len(gold.lower()):
            return True
    return False


def _last_start(values: Sequence[str], sentence: str) -> int:
    """Return where the last of these mentions starts, -1 if there is none."""
    return max((span[0] for value in values if (span := find_mention(value, sentence))), default=-1)
