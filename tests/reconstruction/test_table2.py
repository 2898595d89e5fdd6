"""Table 2 from Tables 4 to 6: what follows, and which coding of rho the authors used."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.models import BY_NAME, MODELS
from cogniload_repro.published import load_table
from cogniload_repro.reconstruction.codings import (
    CODINGS,
    coded_covariates,
    coded_means,
    lattice_step,
)
from cogniload_repro.reconstruction.printed import (
    exact_sums,
    load_imputed_aics,
    printed_aics,
    printed_rows,
)
from cogniload_repro.reconstruction.table2 import (
    compare_table2,
    derive_all,
    derive_each,
    least_deviations,
    row_deviations,
    row_values,
)
from cogniload_repro.regression.design import GRID, grid_means, roots_along_rho
from cogniload_repro.regression.likelihood import maximise_all, solve_aic

pytestmark = pytest.mark.filterwarnings("error")
#: The model whose row of Table 6 contradicts its row of Table 2.
(ODD,) = load_imputed_aics().index


@pytest.fixture(scope="module")
def rows():
    """What Tables 4 to 6 imply of Table 2."""
    return derive_all("half-up")


def test_one_row_disagrees_and_no_other(rows):
    """With the paper's rounding one model's row lies outside of what the AICs' rounding allows."""
    assert [row.model for row in rows] == list(MODELS)
    assert all(row.has_possible_sum for row in rows)
    deviating = [row for row in rows if row.max_deviation > 1]
    assert [row.model.name for row in deviating] == [ODD]
    assert (least_deviations(deviating) > 1).all()


def test_favourable_rounding_mends_little():
    """A row of the wrong coding stays wrong at every corner of the AICs' rounding.

    At each corner either AIC has a sum with a falling and one with a rising slope.
    """
    name = "QwQ-32B"
    (row,) = derive_each([(BY_NAME[name], ())], "nominal")
    x = coded_covariates("nominal")
    answers = np.full((1, len(x)), 100.0)
    known = exact_sums(name)[None]
    deviations = [row.max_deviation]
    for rounding in product((-0.0005, 0.0005), repeat=2):
        linear, quadratic = (printed_aics([name]) + rounding).T
        for sum_rho in solve_aic(x[:, :4], answers, known, linear):
            sums = np.column_stack([known, sum_rho])
            for sum_square in solve_aic(x, answers, sums, quadratic):
                all_sums = np.column_stack([sums, sum_square])
                betas, _ = maximise_all(x, answers, all_sums)
                values = row_values(betas, coded_means("nominal"))
                deviations.append(row_deviations(values, printed_rows([name])).max())
    [least] = least_deviations([row])
    assert least == pytest.approx(min(deviations))
    assert 1 < least < row.max_deviation < least + 0.2


def test_every_star_follows(rows):
    """The derived standard errors give all the stars that Table 2 prints."""
    numbers = compare_table2(rows)
    assert len(numbers) == 8 * len(MODELS)
    coefficients = numbers[numbers["se"].notna()]
    assert len(coefficients) == 5 * len(MODELS)
    assert coefficients["stars"].tolist() == coefficients["printed_stars"].tolist()


def test_21_rows_follow_to_the_digit(rows):
    """Only numbers of one model deviate by more than half a unit of the last digit."""
    numbers = compare_table2(rows)
    is_apart = numbers["deviation"] > 1
    assert set(numbers.loc[is_apart, "model"]) == {ODD}


def test_a_point_that_one_side_lacks_deviates_infinitely():
    """A point that neither has deviates by nothing; others by half units of their last digit."""
    printed = np.array([1, 1, 1, 1, 1, 20.0, np.nan, 3])
    same = row_deviations(printed, printed)
    assert (same == 0).all()
    with_point = printed.copy()
    with_point[6] = 0.5
    assert row_deviations(with_point, printed)[6] == np.inf
    assert row_deviations(printed, with_point)[6] == np.inf
    deviations = row_deviations(printed + 0.05, printed)
    assert deviations[[0, 5, 7]] == pytest.approx([10, 1, 10])


@pytest.mark.slow
def test_the_data_used_halves_up():
    """One coding gives every complete model a possible sum; the others as many as chance would."""
    complete = {}
    for coding in CODINGS:
        complete[coding] = [row for row in derive_all(coding) if not row.model.missing]
    assert all(row.has_possible_sum for row in complete["half-up"])
    for coding in ("half-even", "nominal"):
        step = float(lattice_step(coding))
        low, high = np.transpose([row.window for row in complete[coding]])
        by_chance = np.minimum((high - low) / step, 1).sum()
        possible = sum(row.has_possible_sum for row in complete[coding])
        assert abs(possible - by_chance) < 2 * np.sqrt(by_chance)
        assert sum(row.max_deviation <= 1 for row in complete[coding]) < 6


def test_published_roots_follow_only_with_halves_rounded_up():
    """Five of five roots of the results page, to the digit; with another coding none does."""
    page = load_table("results_page").set_index("model")
    roots = page.loc[page["in_paper"] == "yes", "nt50_pct"].dropna()
    is_other = roots.index != ODD
    for coding in CODINGS:
        rows = {row.model.name: row for row in derive_all(coding)}
        betas = np.array([rows[name].beta for name in roots.index])
        smaller = 100 * roots_along_rho(betas, grid_means(GRID))[:, 0]
        agrees = pd.Series(smaller, roots.index).round(1) == roots
        assert agrees.tolist() == (is_other & (coding == "half-up")).tolist()
