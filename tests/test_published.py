"""The printed tables agree with themselves."""

import re

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.models import NAMES
from cogniload_repro.paths import PUBLISHED
from cogniload_repro.published import (
    ERRORS,
    TABLES,
    correct_by,
    load_printed,
    load_table,
)

pytestmark = pytest.mark.filterwarnings("error")

ROWS = {
    "table2": 22,
    "table3": 22,
    "table4": 110,
    "table5": 88,
    "table6": 22,
    "tokens": 440,
    "results_page": 19,
}
WHOLE = {"d", "N", "samples", "acc_pct", *ERRORS}


@pytest.mark.parametrize("table", TABLES)
def test_numbers_are_the_printed_strings(table):
    """Every printed string becomes its number, and a blank becomes NaN."""
    printed = load_printed(table)
    numbers = load_table(table)
    assert len(printed) == len(numbers) == ROWS[table]
    for column in numbers.select_dtypes("number"):
        expected = [float(text) if text else np.nan for text in printed[column]]
        np.testing.assert_array_equal(numbers[column].to_numpy(float), expected)
        assert column not in WHOLE or numbers[column].dtype == "int64"


def test_tables_4_and_5_count_the_same_answers():
    """A model has the same samples, correct answers and errors by d and by N."""
    counts = ["samples", *ERRORS]
    by_d = load_table("table4").groupby("model")[counts].sum()
    by_N = load_table("table5").groupby("model")[counts].sum()
    pd.testing.assert_frame_equal(by_d, by_N)
    correct_by_d = correct_by("table4").groupby("model")["correct"].sum()
    correct_by_N = correct_by("table5").groupby("model")["correct"].sum()
    pd.testing.assert_series_equal(correct_by_d, correct_by_N)


def test_the_results_page_names_models_of_the_paper_as_the_paper_does():
    """The page's 13 models of the paper have the paper's names, its six others have not."""
    page = load_table("results_page")
    in_paper = page["model"].isin(NAMES)
    assert in_paper.sum() == 13
    assert in_paper.equals(page["in_paper"] == "yes")
    assert page["model"].is_unique


def test_the_readme_of_the_tables_counts_their_rows():
    """Each file that the README lists has the number of rows that it states."""
    readme = (PUBLISHED / "README.md").read_text(encoding="utf-8")
    stated = dict(re.findall(r"^\| `(\S+\.csv)` \| (\d+) \|", readme, re.MULTILINE))
    counted = {}
    for name in stated:
        counted[name] = str(len(pd.read_csv(PUBLISHED / name, dtype=str)))
    assert stated == counted
    assert len(stated) > 10
