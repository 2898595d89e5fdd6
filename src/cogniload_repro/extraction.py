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
_FIRST_BLOCK = 1_024
_BLOCK_GROWTH = 32
# Dotted capital I and Kelvin sign: the only characters beyond A-Z whose lower case has an ASCII letter.
_ASCII_MAKERS = ("\u0130", "\u212a")
_CAPITAL_SIGMA = "\u03a3"
_SMALL_BLOCK = 4_096  # characters; below, lower case is cheaper than the way over bytes
_CASE_BIT = np.uint8(0x20)  # what tells a-z from A-Z


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
    text = _drop_remark(response.rstrip("\n") if late_drop else response)
    valid_poi_last, poi_last = _find_poi_lines(text, poi.lower(), QUALIFIERS[category])
    if cut_windows:
        valid_poi_last, poi_last = take_last_sentence(valid_poi_last), take_last_sentence(poi_last)
    return Windows(valid_poi_last, poi_last, _find_last_sentence(text))


def _drop_remark(text: str) -> str:
    """Return the text without its last line if that is a remark in round brackets."""
    if not text.endswith(")"):
        return text
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
    poi_last = ""
    end, size = len(text), _FIRST_BLOCK
    while end > 0:
        start = text.rfind("\n", 0, end - size) + 1 if end > size else 0
        block = text[start:end]
        line = _find_last_line(block, poi)
        if line is not None:
            poi_last = poi_last or line
            if _has_any(line, qualifiers):
                return line, poi_last
            for line in reversed(block.lower().split("\n")):
                if poi in line and _has_any(line, qualifiers):
                    return line, poi_last
        end, size = start, size * _BLOCK_GROWTH
    return "", poi_last


def _find_last_line(block: str, name: str) -> str | None:
    """Return the last line with a lower-case name, in lower case; None where there is none."""
    if (len(block) < _SMALL_BLOCK and block.isascii()) or not _is_foldable(block, name):
        block = block.lower()
        position = block.rfind(name)
        if position < 0:
            return None
        end = block.find("\n", position)
        return block[block.rfind("\n", 0, position) + 1 : end if end >= 0 else None]
    encoded = block.encode("utf-8", "surrogatepass")
    position = (np.frombuffer(encoded, np.uint8) | _CASE_BIT).tobytes().rfind(name.encode())
    if position < 0:
        return None
    end = encoded.find(b"\n", position)
    line = encoded[encoded.rfind(b"\n", 0, position) + 1 : end if end >= 0 else None]
    return line.decode("utf-8", "surrogatepass").lower()


def _is_foldable(block: str, name: str) -> bool:
    """Tell whether a name is found in the block's bytes with their case bits set just where it is in lower case.

    True of names of the letters a to z; setting the bits takes a fifth of the time of `str.lower`.
    """
    if not (name.isascii() and name.isalpha()):
        return False
    return block.isascii() or not (_ASCII_MAKERS[0] in block or _ASCII_MAKERS[1] in block)


def _has_any(line: str, qualifiers: tuple[str, ...]) -> bool:
    for qualifier in qualifiers:  # noqa: SIM110  (faster than any)
        if qualifier in line:
            return True
    return False
