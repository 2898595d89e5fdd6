"""Other people's text on its way to terminals, spreadsheets and messages with addresses; Markdown has its module."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # make asks for a line with an address before every build, and pandas takes half a second
    import pandas as pd

#: What spreadsheets take for a formula, or for the guard of one, and the signed numbers and dashes of printed tables,
#: which they do not.
_FORMULA = re.compile(r"\s*[=+\-@]|[\t\r\n]|'")
_NUMBER = re.compile(r"[+-]?\d[\d,]*\.?\d*(e[+-]?\d+)?%?\**|--|-")
_HOST, _SUM = re.compile(r"(\[.*\]|[^:@]*)(:\d*)?"), re.compile(r"sha256=[0-9A-Fa-f]+")
_USER, _QUERY = re.compile(r"(?<=://)[^/?#\s]*@|[^\s/@:]+:[^\s/]+@"), re.compile(r"\?[^\s'\")#>]*")
_ADDRESS = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(//|/(?=.*[:@]))(.*)", re.DOTALL)


def for_terminal(text: str) -> str:
    """Return text that a terminal shows letter by letter: controls, and marks that turn the writing, are spelt out."""
    return "".join(
        sign if sign.isprintable() or sign in "\n\t" else sign.encode("unicode_escape").decode() for sign in text
    )


def for_spreadsheet(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a frame, to be written as CSV, with an apostrophe before text that would be taken for a formula."""
    return frame.map(_guard_cell).set_axis([_guard_cell(name) for name in frame.columns], axis=1)


def _guard_cell(cell: object) -> object:
    is_formula = isinstance(cell, str) and _FORMULA.match(cell) and not _NUMBER.fullmatch(cell)
    return f"'{cell}" if is_formula else cell


def without_secrets(address: str) -> str:
    """Return an address without user, password, query and fragment, but for a sum; a path comes back as it is."""
    found = _ADDRESS.fullmatch(address)
    if not found:
        return address
    scheme, strokes, rest = found.groups()
    rest, _, fragment = rest.partition("#")
    host, slash, path = rest.partition("?")[0].partition("/")
    if scheme != "hf":
        if "@" in path and not _HOST.fullmatch(host):  # perhaps the stroke is one of a password
            host, slash, path = path.rpartition("@")[2].partition("/")
        host = host.rpartition("@")[2]
    digits = _SUM.match(fragment)
    return f"{scheme}:{strokes}{host}{slash}{path}" + (f"#{digits[0]}" if digits else "")


def without_queries(message: str) -> str:
    """Return another program's message without the users, passwords and queries of addresses that it quotes."""
    return _QUERY.sub("", _USER.sub("", message))
