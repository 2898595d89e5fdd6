"""The windows of a response: the texts in which the scorer looks for the answer (Appendix D.2 and D.3).

A response is read from its end, where the answer is; the outcome is that of Algorithm 2 on the whole text.
"""

from typing import NamedTuple

import numpy as np

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

_QUESTION_STARTS = {
    "Where is": "location",
    "What color shirt": "clothes_shirt",
    "What color pant": "clothes_pant",
    "What color hat": "clothes_hat",
    "What color of socks": "clothes_socks",
    "What color of gloves": "clothes_gloves",
    "What color of underwear": "clothes_underwear",
    "What is the final hair color": "hair",
}
_QUESTION_ENDS = {
    "most recently eat?": "recent_eat",
    "recently watch?": "recent_watch",
    "recently listen to?": "recent_listen",
    "recently read?": "recent_read",
}

# Blocks searched for a name, from the end backwards: characters in the first, growth from one to the next.
_FIRST_BLOCK = 512
_BLOCK_GROWTH = 64
# Dotted capital I and Kelvin sign: the only characters beyond A-Z whose lower case has an ASCII letter.
_ASCII_MAKERS = ("\u0130", "\u212a")
_CAPITAL_SIGMA = "\u03a3"
_ASCII = bytes(range(128))
_CASE_BIT = np.uint8(0x20)
_SMALL_BLOCK = 4_096  # characters; a smaller one is in lower case before it is in bytes


class Windows(NamedTuple):
    """The three lower-case texts in which the answer is looked for; empty where there is none."""

    valid_poi_last: str
    poi_last: str
    last_sentence: str


def categorize_question(question: str) -> str:
    """Return the category that a puzzle's last line asks for (Appendix D.2).

    Raises
    ------
    ValueError
        If the line follows none of the twelve templates.
    """
    for start, category in _QUESTION_STARTS.items():
        if question.startswith(start):
            return category
    for end, category in _QUESTION_ENDS.items():
        if question.endswith(end):
            return category
    raise ValueError(f"the question {question!r} follows none of the templates; give the puzzle's last line")


def take_last_sentence(line: str) -> str:
    """Return what the line has before its last full stop, back to the one before; the line if it has none."""
    head, stop, _ = line.rpartition(".")
    return head.rpartition(".")[2] if stop else line


def find_windows(
    response: str, poi: str, category: str, *, late_drop: bool = False, cut_windows: bool = False
) -> Windows:
    """Cut the deciding texts out of a response (Appendix D.3, Algorithm 2).

    Parameters
    ----------
    response : str
        The model's whole output.
    poi : str
        Name of the person of interest.
    category : str
        The asked category, a key of `QUALIFIERS`.
    late_drop, cut_windows : bool
        See `cogniload_repro.scoring.Reading`.

    Raises
    ------
    ValueError
        If the category is not one of the twelve, or the name is empty or longer than a line.
    """
    if category not in QUALIFIERS:
        raise ValueError(f"unknown category {category!r}; the categories are: {', '.join(QUALIFIERS)}")
    if not poi or "\n" in poi:
        raise ValueError(f"the person of interest {poi!r} must be a name on one line")
    text = response.rstrip("\n") if late_drop else response
    if text.endswith(")"):
        text = _drop_remark(text)
    valid_poi_last, poi_last = _find_poi_lines(text, poi.lower(), QUALIFIERS[category])
    if cut_windows:
        valid_poi_last, poi_last = take_last_sentence(valid_poi_last), take_last_sentence(poi_last)
    return Windows(valid_poi_last, poi_last, _find_last_sentence(text))


def _drop_remark(text: str) -> str:
    """Return a text that ends in a bracket without its last line if that begins with one."""
    start = text.rfind("\n") + 1
    return text[:start] if text.startswith("(", start) else text


def _find_last_sentence(text: str) -> str:
    """Return the last sentence of the last line that is not empty, in lower case."""
    text = text.rstrip("\n")
    line = text[text.rfind("\n") + 1 :]
    if _CAPITAL_SIGMA in line:  # its lower case depends on the letters around it, beyond full stops too
        return take_last_sentence(line.lower())
    return take_last_sentence(line).lower()


def _find_poi_lines(text: str, poi: str, qualifiers: tuple[str, ...]) -> tuple[str, str]:
    """Return the last line with the name and a qualifier, and the last line with the name, in lower case."""
    name = poi if poi.isascii() else poi.encode("utf-8", "surrogatepass").decode("latin-1")
    poi_last = ""
    end, size = len(text), _FIRST_BLOCK
    while end > 0:
        start = text.rfind("\n", 0, end - size) + 1 if end > size else 0
        block = _fold(text[start:end], poi)
        position = block.rfind(name)
        if position >= 0:
            line_end = block.find("\n", position)
            line = _unfold(block[block.rfind("\n", 0, position) + 1 : line_end if line_end >= 0 else None])
            poi_last = poi_last or line
            if _has_any(line, qualifiers):
                return line, poi_last
            for line in reversed(block.split("\n")):
                if name in line and _has_any(line, qualifiers):
                    return _unfold(line), poi_last
        end, size = start, size * _BLOCK_GROWTH
    return "", poi_last


def _has_any(line: str, qualifiers: tuple[str, ...]) -> bool:
    for qualifier in qualifiers:  # noqa: SIM110  (faster than any)
        if qualifier in line:
            return True
    return False


def _fold(block: str, name: str) -> str:
    """Return text whose every character is a byte of UTF-8, in which a lower-case name is found as in `str.lower`.

    Bytes are put into lower case many times faster than characters beyond ASCII. The text of a large block
    without the name is empty: setting the bit that tells a-z from A-Z is enough to know, and faster still.
    """
    small = len(block) < _SMALL_BLOCK
    if small and block.isascii():
        return block.lower()
    if not name.isascii() or _ASCII_MAKERS[0] in block or _ASCII_MAKERS[1] in block:
        block = block.lower()
    encoded = block.encode("utf-8", "surrogatepass")
    if not small and name.isascii() and name.isalpha():
        cased = np.frombuffer(encoded, np.uint8) | _CASE_BIT
        if cased.tobytes().rfind(name.encode()) < 0:
            return ""
    return encoded.lower().decode("latin-1")


def _unfold(line: str) -> str:
    """Return a line of folded text as it is in lower case; a final sigma's context ends with the line."""
    if line.isascii():
        return line
    encoded = line.encode("latin-1")
    text = encoded.decode("utf-8", "surrogatepass")
    foreign = encoded.translate(None, _ASCII).decode("utf-8", "surrogatepass")
    return text if foreign.lower() == foreign else text.lower()
