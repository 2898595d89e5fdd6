"""What a report counts, refuses and writes."""

from collections import Counter

import pandas as pd
import pytest

from cogniload_repro.importing.rejections import IMPORT_PAGE
from cogniload_repro.importing.report import Rejected, Report

DUPLICATE = Rejected("a.jsonl", 3, "duplicate", "again", "20_1_1_7_red", "m")
NOT_READ = Rejected("README", 0, "not read", "no JSONL")
UNREADABLE = Rejected("b.csv", 0, "unreadable file", "a quote is not closed")


def test_the_report_counts_and_shows_an_example():
    """A line per reason, and the columns not read; what is only listed does not count."""
    rows = [DUPLICATE, NOT_READ, DUPLICATE._replace(row=4)]
    report = Report(Counter(mine=1000), rejected=rows, unread={"thoughts"})
    assert report.summary().splitlines() == [
        "responses: 1,000, models: 1, rejected rows: 2",
        "  1,000 responses lack a number of tokens: whether they overflow cannot be tested",
        "  2 duplicate, first in 'a.jsonl', row 3: again",
        "  1 not read, first in 'README', row 0: no JSONL",
        f"  columns that are not read: thoughts; {IMPORT_PAGE}",
    ]
    report.check(2)


@pytest.mark.parametrize(
    ("responses", "rows", "allowed", "words"),
    [
        (
            {"m": 1},
            [DUPLICATE] * 2,
            1,
            r"rejected rows: 2, allowed: 1; .* make MAX_REJECTED=n",
        ),
        (
            {"m": 1},
            [UNREADABLE],
            1000,
            r"'b\.csv' cannot be read to its end, .*is not closed",
        ),
        ({"m": 1}, [UNREADABLE], 0, "repair it, save it as UTF-8, or remove it"),
        ({}, [NOT_READ], 0, "no row that can be read; it may have only a header"),
    ],
)
def test_a_report_is_refused_in_a_sentence(responses, rows, allowed, words):
    """Too many rejected rows, a file that is not whole, no rows at all."""
    with pytest.raises(ValueError, match=words):
        Report(Counter(responses), rejected=rows).check(allowed)


def test_rejected_rows_are_written_for_readers(tmp_path):
    """Those of earlier sources first; no cell is a formula."""
    odd = DUPLICATE._replace(detail="=1+1")
    for row in (odd, NOT_READ):
        Report(rejected=[row]).write_rejected(tmp_path / "rejected.csv")
    text = pd.read_csv(tmp_path / "rejected.csv")
    assert text["file"].tolist() == ["a.jsonl", "README"]
    assert text["detail"][0] == "'=1+1"
