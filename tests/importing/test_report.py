"""What a report counts, refuses and writes."""

import pandas as pd
import pytest

from cogniload_repro.outputs.report import Rejected, Report

DUPLICATE = Rejected("a.jsonl", 3, "duplicate", "again", "m")
NOT_READ = Rejected("README", 0, "not read", "no JSONL")
UNREADABLE = Rejected("b.csv", 0, "unreadable file", "a quote is not closed")


def test_the_report_counts_and_shows_an_example():
    """A line per reason and remark; what is only listed does not count among the rows."""
    rows = [DUPLICATE, NOT_READ, DUPLICATE._replace(row=4)]
    report = Report({"mine": 1000}, rows, remarks={"'thoughts' is not read": 7})
    assert report.summary().splitlines() == [
        "responses: 1,000, models: 1, rejected rows: 2",
        "  2 duplicate, first in 'a.jsonl', row 3: again",
        "  1 not read, first in 'README', row 0: no JSONL",
        "  7 responses: 'thoughts' is not read",
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
        ({"m": 1}, [UNREADABLE], 0, "repair it, or remove it from the source"),
        ({}, [NOT_READ], 0, "no row that can be read; it may be empty"),
    ],
)
def test_a_report_is_refused_in_a_sentence(responses, rows, allowed, words):
    """Too many rejected rows, a file that is not whole, no rows at all."""
    with pytest.raises(ValueError, match=words):
        Report(responses, rows).check(allowed)


def test_rejected_rows_are_written_for_programs_and_for_readers(tmp_path):
    """Parquet and CSV hold the same rows, those of earlier sources first; no cell is a formula."""
    for row in (DUPLICATE._replace(detail="=1+1"), NOT_READ):
        Report(rejected=[row]).write_rejected(tmp_path, {"provenance": "imported"})
    table = pd.read_parquet(tmp_path / "rejected.parquet")
    text = pd.read_csv(tmp_path / "rejected.csv")
    assert table["file"].tolist() == text["file"].tolist() == ["a.jsonl", "README"]
    assert (table["detail"][0], text["detail"][0]) == ("=1+1", "'=1+1")
