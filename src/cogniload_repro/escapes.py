"""Other people's text on its way to terminals, spreadsheets and messages with addresses; Markdown has its module."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:  # make asks for a line with an address before every build, and pandas takes half a second
    import pandas as pd

#: What spreadsheets take for a formula, or for the guard of one, and the signed numbers and dashes of printed tables,
#: which they do not.
_FORMULA = re.compile(r"\s*[=+\-@]|[\t\r\n]|'")
_NUMBER = re.compile(r"[+-]?\d[\d,]*\.?\d*(e[+-]?\d+)?%?\**|--|-")


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
    scheme, mark, rest = address.partition("://")
    if not mark:
        return address
    rest, _, fragment = rest.partition("#")
    host, slash, path = rest.partition("?")[0].partition("/")
    digits = re.match(r"sha256=[0-9A-Fa-f]+", fragment)
    return f"{scheme}://{host.rpartition('@')[2]}{slash}{path}" + (f"#{digits[0]}" if digits else "")
