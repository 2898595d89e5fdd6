"""The printed tables agree with themselves."""

from fractions import Fraction
from itertools import product

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from cogniload_repro.formats import stars
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import NAMES
from cogniload_repro.published import ERRORS, TABLES, correct_by, load_claims, load_printed, load_table
from cogniload_repro.storage import ICLR2026, PUBLISHED

pytestmark = pytest.mark.filterwarnings("error")

BETAS = ["beta_0", "beta_d", "beta_N", "beta_rho", "beta_rho2"]
ROWS = {"table2": 22, "table3": 22, "table4": 110, "table5": 88, "table6": 22, "tokens": 440}


@pytest.mark.parametrize("table", TABLES)
def test_numbers_are_the_printed_strings(table):
    """Every table has its rows, and `load_table` turns each printed string into its number, blanks into NaN."""
    printed, numbers = load_printed(table), load_table(table)
    assert len(printed) == len(numbers) == ROWS[table]
    columns = numbers.select_dtypes("number").columns
    assert set(numbers) - set(columns) <= {"model", "flag", "raw", "printed_model", *numbers.filter(like="_stars")}
    for column in columns:
        expected = [float(text) if text else np.nan for text in printed[column]]
        np.testing.assert_array_equal(numbers[column].to_numpy(float), expected)
    whole = [column for column in columns if column in ("d", "N", "samples", "acc_pct", *ERRORS)]
    assert (numbers[whole].dtypes == "int64").all()
    numbers["model"] = ""  # what a caller does to a loaded table stays with the caller
    assert (load_table(table)["model"] == printed["model"]).all()


@pytest.mark.parametrize("name", ["table4", "table5"])
def test_accuracy_follows_from_errors(name):
    """Samples minus errors give the printed accuracy in every row, halves to even."""
    table, correct = load_table(name), correct_by(name)["correct"]
    rounded = [round(Fraction(100 * int(k), int(n))) for k, n in zip(correct, table["samples"], strict=True)]
    assert table["acc_pct"].tolist() == rounded


def test_tables_4_and_5_count_the_same_answers():
    """By d and by N, every model has the same samples, correct answers and errors of each bucket."""
    by_d, by_N = (load_table(name).groupby("model")[["samples", *ERRORS]].sum() for name in ("table4", "table5"))
    pd.testing.assert_frame_equal(by_d, by_N)
    correct = [correct_by(name).groupby("model")["correct"].sum() for name in ("table4", "table5")]
    pd.testing.assert_series_equal(*correct)


def test_likelihood_ratio_follows_from_the_aics():
    """Some AICs that round to the printed ones give a p-value that rounds to the printed one."""
    for row in load_table("table6").itertuples():
        drop = row.aic_linear - row.aic_quadratic + 2
        high, low = chi2.sf(np.array([drop - 0.001, drop + 0.001]), 1)
        assert low <= row.p_lr + 0.0005, row.model
        assert high >= row.p_lr - 0.0005, row.model


def test_stars_follow_from_the_p_values():
    """Table 3 has the stars of its p-values at 0.05, 0.01 and 0.001."""
    printed = load_printed("table3")
    for column in ("p_dN", "p_drho", "p_Nrho", "p_dNrho"):
        assert [stars(float(p)) for p in printed[column]] == printed[f"{column}_stars"].tolist()


def corner_points(betas):
    """ECL50, ID50 and NT50 at all corners of the box of coefficients that round to the printed ones."""
    d = np.mean([cell.d for cell in PAPER_GRID])
    log_n = np.mean([np.log10(cell.N) for cell in PAPER_GRID])
    rho = np.mean([cell.rho for cell in PAPER_GRID])
    for b0, bd, bN, br, br2 in betas + 0.005 * np.array(list(product((-1, 0, 1), repeat=5))):
        along = br * rho + br2 * rho**2
        constant = b0 + bd * d + bN * log_n
        root = np.sqrt(complex(br**2 - 4 * br2 * constant))
        roots = [((-br + sign * root) / (2 * br2)) for sign in (-1, 1)]
        inside = [r.real for r in roots if r.imag == 0 and 0 <= r.real <= 1]
        yield 10 ** (-(b0 + bd * d + along) / bN), -(b0 + bN * log_n + along) / bd, max(inside, default=np.nan)


@pytest.mark.parametrize("path", [ICLR2026 / "table2_glm.csv", PUBLISHED / "submission2025" / "table3_glm.csv"])
def test_capacity_points_follow_from_the_coefficients(path):
    """ECL50, ID50 and NT50 are those of coefficients that round to the printed ones, in both versions."""
    for row in pd.read_csv(path).itertuples():
        points = np.array(list(corner_points(np.array([getattr(row, beta) for beta in BETAS]))))
        for printed, half_unit, possible in zip(
            (row.ecl50, row.id50, row.nt50), (0.05, 0.005, 0.005), points.T, strict=True
        ):
            if np.isnan(printed):
                assert np.isnan(possible).any(), row.model
            else:
                known = possible[~np.isnan(possible)]
                assert known.min() - half_unit <= printed <= known.max() + half_unit, row.model


def test_claims_name_models_of_the_paper():
    """Each has a number of its own."""
    assert set(load_claims()["model"]) <= {"", *NAMES}
    assert load_claims()["id"].is_unique
