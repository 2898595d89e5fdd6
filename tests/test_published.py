"""The printed tables agree with themselves."""

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.models import NAMES
from cogniload_repro.published import (
    ERRORS,
    TABLES,
    correct_by,
    load_claims,
    load_printed,
    load_table,
)

pytestmark = pytest.mark.filterwarnings("error")

BETAS = ["beta_0", "beta_d", "beta_N", "beta_rho", "beta_rho2"]
ROWS = {"table2": 22, "table3": 22, "table4": 110, "table5": 88, "table6": 22, "tokens": 440}
ROWS["results_page"] = 19


@pytest.mark.parametrize("table", TABLES)
def test_numbers_are_the_printed_strings(table):
    """Every table has its rows, and `load_table` turns each printed string into its number, blanks into NaN."""
    printed, numbers = load_printed(table), load_table(table)
    assert len(printed) == len(numbers) == ROWS[table]
    columns = numbers.select_dtypes("number").columns
    texts = {"model", "developer", "in_paper", "flag", "raw", "printed_model"}
    assert set(numbers) - set(columns) <= {*texts, *numbers.filter(like="_stars")}
    for column in columns:
        expected = [float(text) if text else np.nan for text in printed[column]]
        np.testing.assert_array_equal(numbers[column].to_numpy(float), expected)
    whole = [column for column in columns if column in ("d", "N", "samples", "acc_pct", *ERRORS)]
    assert (numbers[whole].dtypes == "int64").all()
    numbers["model"] = ""  # what a caller does to a loaded table stays with the caller
    assert (load_table(table)["model"] == printed["model"]).all()


def test_tables_4_and_5_count_the_same_answers():
    """By d and by N, every model has the same samples, correct answers and errors of each bucket."""
    by_d, by_N = (
        load_table(name).groupby("model")[["samples", *ERRORS]].sum()
        for name in ("table4", "table5")
    )
    pd.testing.assert_frame_equal(by_d, by_N)
    correct = [correct_by(name).groupby("model")["correct"].sum() for name in ("table4", "table5")]
    pd.testing.assert_series_equal(*correct)


def test_claims_name_models_of_the_paper():
    """Each has a number of its own."""
    assert set(load_claims()["model"]) <= {"", *NAMES}
    assert load_claims()["id"].is_unique


def test_the_results_page_names_models_of_the_paper_as_the_paper_does():
    """The page's 13 models of the paper have the paper's names, its six others have not."""
    page = load_table("results_page").set_index("in_paper")["model"]
    assert len(page["yes"]) == len(set(page["yes"]) & set(NAMES)) == 13
    assert len(page["no"]) == len(set(page["no"]) - set(NAMES)) == 6
