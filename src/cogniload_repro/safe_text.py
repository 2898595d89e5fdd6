"""Other people's text, made safe to show in a terminal or a spreadsheet."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import pandas as pd

# what spreadsheets take for a formula or for its guard, including full-width characters
_FORMULA = re.compile(r"\s*[=+\-@＝＋－＠﹦﹢﹣﹫]|[\t\r\n]|'")
# signed numbers and dashes of printed tables, which are not formulas
_NUMBER_FORM = re.compile(r"[+-]?\d[\d,]*\.?\d*(e[+-]?\d+)?%?\**|--|-")


def for_terminal(text: str) -> str:
    """Return text with control characters and marks of writing direction escaped."""
    signs = []
    for sign in text:
        is_plain = sign.isprintable() or sign in "\n\t"
        signs.append(sign if is_plain else sign.encode("unicode_escape").decode())
    return "".join(signs)


def for_spreadsheet(frame: "pd.DataFrame") -> "pd.DataFrame":
    """Return a frame that can be written as CSV without text that spreadsheets run as formulas.

    An apostrophe is put before text that begins like a formula.
    """
    headings = [_guard_cell(name) for name in frame.columns]
    return frame.map(_guard_cell).set_axis(headings, axis=1)


def _guard_cell(cell: object) -> object:
    is_text = isinstance(cell, str) and not _NUMBER_FORM.fullmatch(cell)
    return f"'{cell}" if is_text and _FORMULA.match(str(cell)) else cell
