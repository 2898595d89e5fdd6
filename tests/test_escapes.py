"""Other people's text on its way out."""

import csv
import io
import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.escapes import for_spreadsheet, for_terminal, without_secrets


@given(st.text())
def test_a_terminal_gets_letters_only(text):
    """No control, no turning of the writing and no half a character is left; printable text is not touched."""
    shown = for_terminal(text)
    assert all(sign.isprintable() or sign in "\n\t" for sign in shown)
    shown.encode("utf-8")
    if text.isprintable():
        assert shown == text
    assert for_terminal("\x1b]0;a\rb \u202e c\n\udcff") == "\\x1b]0;a\\rb \\u202e c\n\\udcff"


@pytest.mark.parametrize(
    "text",
    ["=1+1", "+1+1", "-2+3+cmd|' /C calc'!D2", "@SUM(1)", "=cmd|' /C calc'!A0", " =1", "\t=1", "\r=1", "--1", "-x"],
)
def test_a_spreadsheet_gets_no_formula(text):
    """Cells and headings that begin as formulas do are written with an apostrophe before them."""
    frame = for_spreadsheet(pd.DataFrame({text: [text, "QwQ-32B"]}))
    assert list(frame) == [f"'{text}"]
    assert list(frame.iloc[:, 0]) == [f"'{text}", "QwQ-32B"]


@pytest.mark.parametrize("cell", ["-0.51***", "+1.1", "--", "-", "-1,000", "3.41e-05", "-2.5e+17", "-0.5%", -1.5, None])
def test_printed_numbers_stay_numbers(cell):
    """Signs, stars and dashes of printed tables are no formula."""
    (shown,) = for_spreadsheet(pd.DataFrame({"a": [cell]}, dtype=object))["a"]
    assert shown is cell or shown == cell
    frame = pd.DataFrame({"a": pd.array([1, None], "Int64"), "b": pd.Timestamp("2026-01-01"), "d": [-5, cell]})
    assert for_spreadsheet(frame).to_csv() == frame.to_csv()


@given(st.lists(st.text(max_size=8), min_size=1))
def test_no_cell_of_a_guarded_table_begins_as_a_formula(cells):
    """Whatever the cells, as they stand in the file."""
    text = for_spreadsheet(pd.DataFrame({"a": cells})).to_csv(index=False, lineterminator="\n")
    for (cell,) in csv.reader(io.StringIO(text, newline="")):
        assert not re.match(r"\s*[=@]|\+(?!\d)", cell)


@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("http://me:s3cret@host/x?token=TOK", "http://host/x"),
        ("https://host/a@b/c#token=TOK", "https://host/a@b/c"),
        ("https://[::1]:8080/a@b?x=1#sha256=0f", "https://[::1]:8080/a@b#sha256=0f"),
        ("https://host?token=TOK", "https://host"),
        ("hf://datasets/o/n@0123/a.jsonl", "hf://datasets/o/n@0123/a.jsonl"),
        ("s3://key:word@bucket/x", "s3://bucket/x"),
        ("git+https://me:s3cret@h/a?token=TOK", "git+https://h/a"),
        ("C:/me/a:b@c", "C:/me/a:b@c"),
        ("outputs/a?b#c@d", "outputs/a?b#c@d"),
    ],
)
def test_an_address_is_shown_without_its_secrets(address, shown):
    """User, password, query and fragment are left out."""
    assert without_secrets(address) == shown
    assert without_secrets(shown) == shown
