"""The texts of a response in which the scorer looks for the answer (Appendix D.2, D.3), found from the end."""

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
        raise ValueError(f"unknown category {category!r}; the categories are: {', '.join(QUALIFIERS)}")
    text = response.rstrip("\n") if late_drop else response
    if text.endswith(")"):
        text = _drop_remark(text)
    valid_poi_last, poi_last, last = _find_lines(text.rstrip("\n"), poi.lower(), qualifiers)
    if cut_windows:
        valid_poi_last, poi_last = take_last_sentence(valid_poi_last), take_last_sentence(poi_last)
    return Windows(valid_poi_last, poi_last, take_last_sentence(last))


def _drop_remark(text: str) -> str:
    """Return a text that ends in a bracket without its last line if that begins with one."""
    start = text.rfind("\n") + 1
    return text[:start] if text.startswith("(", start) else text


def _find_lines(text: str, name: str, qualifiers: tuple[str, ...]) -> tuple[str, str, str]:
    """Return the last line with the name and a qualifier, the last with the name, and the last of all, lower case."""
    start = text.rfind("\n") + 1
    last = text[start:].lower()  # as in the whole text: no letter's lower case depends on what stands on another line
    poi_last = last if last.rfind(name) >= 0 else ""  # in long texts twice as fast as `in`
    if poi_last and _has_any(last, qualifiers):
        return last, last, last
    end, size = start, _FIRST_BLOCK  # blocks of lines before the last, each larger than the one after it
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
