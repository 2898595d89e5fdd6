"""The texts of a response in which the scorer looks for the answer, and the values in them (Appendix D.2 to D.4)."""

from collections.abc import Sequence
from typing import NamedTuple

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

# Blocks of lines before the last one that are searched for a name: characters in the first, growth to the next.
_FIRST_BLOCK = 2_048
_BLOCK_GROWTH = 16


class Windows(NamedTuple):
    """The three lower-case texts in which the answer is looked for; empty where there is none."""

    valid_poi_last: str
    poi_last: str
    last_sentence: str


def take_last_sentence(line: str) -> str:
    """Return what the line has before its last full stop, back to the one before; the line if it has none."""
    pieces = line.rsplit(".", 2)
    return pieces[-2] if len(pieces) > 1 else line


def find_windows(
    response: str, poi: str, category: str, *, late_drop: bool = False, cut_windows: bool = False
) -> Windows:
    """Cut the deciding texts out of a response (Appendix D.3, Algorithm 2); the options are those of `ScorerRules`."""
    qualifiers = QUALIFIERS.get(category)
    if qualifiers is None:
        raise ValueError(
            f"unknown category {category!r}; the categories are: {', '.join(QUALIFIERS)}"
        )
    text = response.rstrip("\n") if late_drop else response
    valid_poi_last, poi_last, last = _find_lines(
        _drop_remark(text).rstrip("\n"), poi.lower(), qualifiers
    )
    if cut_windows:
        valid_poi_last, poi_last = take_last_sentence(valid_poi_last), take_last_sentence(poi_last)
    return Windows(valid_poi_last, poi_last, take_last_sentence(last))


def _drop_remark(text: str) -> str:
    """Return a text without its last line if that begins and ends with a bracket."""
    start = text.rfind("\n") + 1 if text.endswith(")") else -1
    return text[:start] if start >= 0 and text.startswith("(", start) else text


def _find_lines(text: str, name: str, qualifiers: tuple[str, ...]) -> tuple[str, str, str]:
    """Return the last line with the name and a qualifier, the last with the name, and the last of all, lower case."""
    start = text.rfind("\n") + 1
    last = text[
        start:
    ].lower()  # as in the whole text: no letter's lower case depends on what stands on another line
    poi_last = last if last.rfind(name) >= 0 else ""  # in long texts twice as fast as `in`
    if poi_last and _has_any(last, qualifiers):
        return last, last, last
    end, size = (
        start,
        _FIRST_BLOCK,
    )  # blocks of lines before the last, each larger than the one after it
    while end:
        start = text.rfind("\n", 0, max(end - size, 0)) + 1
        block = text[start:end].lower()
        if block.rfind(name) >= 0:
            valid_poi_last, named = _search_block(block, name, qualifiers)
            poi_last = poi_last or named
            if valid_poi_last:
                return valid_poi_last, poi_last, last
        end, size = start, size * _BLOCK_GROWTH
    return "", poi_last, last


def _search_block(block: str, name: str, qualifiers: tuple[str, ...]) -> tuple[str, str]:
    """Return the last of these lines with the name and a qualifier, and the last with the name."""
    line = block[block.rfind("\n", 0, block.rfind(name)) + 1 :].partition("\n")[0]
    if name in line and _has_any(line, qualifiers):
        return line, line
    named = [line for line in block.split("\n") if name in line]
    together = "\n".join(named)
    if all(together.rfind(qualifier) < 0 for qualifier in qualifiers):
        return "", named[-1] if named else ""  # a name of two lines is on none
    return next(line for line in reversed(named) if _has_any(line, qualifiers)), named[-1]


def _has_any(line: str, qualifiers: tuple[str, ...]) -> bool:
    for qualifier in qualifiers:  # noqa: SIM110  (faster than any)
        if qualifier in line:
            return True
    return False


def is_mentioned(value: str, sentence: str) -> bool:
    """Return whether a sentence gives the value in one of its spellings (CheckCorrectAnswer, Algorithm 3)."""
    if value in SPELLINGS:
        return any(_find_spelling(spelling, sentence) >= 0 for spelling in SPELLINGS[value])
    return value in sentence and _find_spelling(value, sentence) >= 0


def find_mention(value: str, sentence: str) -> tuple[int, int] | None:
    """Return start and end of the last place that makes `is_mentioned` true; None where there is none."""
    if value not in sentence and value not in SPELLINGS:
        return None
    starts = [
        (_find_spelling(spelling, sentence), spelling)
        for spelling in SPELLINGS.get(value, (value,))
    ]
    start, spelling = max(starts)
    return (start, start + len(spelling)) if start >= 0 else None


def has_alternative(
    sentence: str, domain: Sequence[str], gold: str, *, last_mention: bool = False
) -> bool:
    """Return whether another value of the domain speaks against the gold one (AltFlag, Algorithm 3).

    Where the gold value occurs as well, the flag stays only if an alternative encloses its last occurrence
    ("non-fiction" around "fiction"). With ``last_mention`` it also stands or falls with which value is mentioned last
    (D.4, item 5). The sentence is a window, in lower case.
    """
    start = sentence.rfind(gold.lower())
    enclosed = start >= 0 and _is_enclosed(start, sentence, domain, gold)
    if start >= 0 and not enclosed and not last_mention:
        return False
    if not any(value != gold and is_mentioned(value.lower(), sentence) for value in domain):
        return False
    if enclosed or not last_mention:
        return True
    return _last_start(find_alternatives(domain, gold), sentence) > _last_start(
        [gold.lower()], sentence
    )


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
        return False  # the usual case: no alternative contains the gold value
    values, end = find_alternatives(domain, gold), start + len(gold.lower())
    return any(
        0 <= (at := sentence.rfind(value)) <= start and at + len(value) >= end for value in values
    )


def _last_start(values: Sequence[str], sentence: str) -> int:
    """Return where the last of these mentions starts, -1 if there is none."""
    return max((span[0] for value in values if (span := find_mention(value, sentence))), default=-1)
