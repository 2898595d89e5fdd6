"""Text of others in a terminal and in a spreadsheet."""

import csv
import io
import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.safe_text import for_spreadsheet, for_terminal


@given(st.text())
def test_a_terminal_gets_only_printable_signs(text):
    """Printable text is not touched, and what is left can be written."""
    plain = for_terminal(text)
    assert all(sign.isprintable() or sign in "\n\t" for sign in plain)
    assert plain.encode("utf-8")[:1] or not text
    assert plain == text or not text.isprintable()


@pytest.mark.parametrize(
    "text",
    [
        "+1+1",
        "-2+3+cmd|' /C calc'!D2",
        "@SUM(1)",
        " =1",
        "\t=1",
        "\uff1d1+1",
        "'quoted",
    ],
)
def test_a_spreadsheet_gets_no_formula(text):
    """Cells and headings that begin as formulas are written with an apostrophe before them."""
    frame = for_spreadsheet(pd.DataFrame({text: [text, "QwQ-32B"]}))
    assert list(frame) == [f"'{text}"]
    assert frame.iloc[:, 0].tolist() == [f"'{text}", "QwQ-32B"]


@pytest.mark.parametrize(
    "text", ["-0.51***", "+1.1", "--", "-", "-1,000", "3.41e-05", "-2.5e+17", "-0.5%"]
)
def test_printed_numbers_stay_numbers(text):
    """Signs, stars and dashes of printed tables are no formula."""
    frame = pd.DataFrame({"number": [text]})
    assert for_spreadsheet(frame)["number"].tolist() == [text]


@given(st.lists(st.text(max_size=8), min_size=1))
def test_no_cell_of_a_guarded_table_begins_as_a_formula(cells):
    """Whatever the cells, as they stand in the file."""
    table = for_spreadsheet(pd.DataFrame({"a": cells}))
    text = table.to_csv(index=False, lineterminator="\n")
    for (cell,) in csv.reader(io.StringIO(text, newline="")):
        assert not re.match(r"\s*[=@]|\+(?!\d)", cell)
