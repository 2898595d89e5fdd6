"""How far Table 2 alone fixes the roots that the authors published later."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from cogniload_repro.models import BY_NAME
from cogniload_repro.published import load_table
from cogniload_repro.reconstruction.printed import (
    BETAS,
    load_imputed_aics,
    printed_rows,
)
from cogniload_repro.reconstruction.roots import smaller_root_range
from cogniload_repro.reconstruction.table2 import (
    derive_all,
    derive_each,
    row_deviations,
    row_values,
)
from cogniload_repro.regression.design import GRID, X, grid_means, roots_along_rho

#: The model whose Table 6 contradicts its Table 2, and which is therefore no test.
(ODD,) = load_imputed_aics().index
PAGE = load_table("results_page").set_index("model")
ROOTS = PAGE.loc[PAGE["in_paper"] == "yes", "nt50_pct"].dropna()
MEANS = grid_means(GRID)


@pytest.fixture(scope="module")
def predictions():
    """The smaller roots (%) that Tables 4 to 6 imply, by model."""
    rows = derive_all("half-up")
    betas = np.array([row.beta for row in rows])
    smaller = 100 * roots_along_rho(betas, MEANS)[:, 0]
    return pd.Series(smaller, [row.model.name for row in rows])


def test_printed_coefficients_are_too_coarse_to_predict_the_published_roots():
    """From the two decimals of Table 2 no root agrees with the page to its digit."""
    betas = printed_rows(ROOTS.index)[:, : len(BETAS)]
    roots = 100 * roots_along_rho(betas, MEANS)[:, 0]
    assert np.abs(roots - ROOTS).min() > 0.05


def test_table_2_excludes_what_table_6_implies_of_one_model(predictions):
    """Its row of Table 2 allows the page's root, but not the one that follows from Table 6."""
    low, high = smaller_root_range(ODD)
    assert 100 * low < ROOTS[ODD] < 100 * high
    assert predictions[ODD] < 100 * low


@pytest.mark.parametrize("name", ROOTS.index.drop(ODD))
def test_tables_2_and_6_agree_on_the_other_models(predictions, name):
    """The root that follows from Table 6 lies where Table 2 allows it."""
    low, high = smaller_root_range(name)
    assert 100 * low < predictions[name] < 100 * high


def draw_coefficients(name, rng):
    """Coefficients around a model's, most in directions that change capacity points little.

    Those are the directions of the fit's own uncertainty.
    """
    (row,) = derive_each([(BY_NAME[name], ())])
    x = X[:, :5]
    accuracy = expit(x @ row.beta)
    weights = accuracy * (1 - accuracy)
    information = x.T @ (x * weights[:, None])
    covariance = np.linalg.inv(information)
    spread = np.linalg.cholesky(covariance)
    scales = rng.uniform(0, 0.05, size=(40_000, 1))
    noise = rng.normal(size=(40_000, 5))
    return row.beta + scales * noise @ spread.T


@pytest.mark.parametrize("name", ["QwQ-32B", "Phi-4-reasoning-plus"])
def test_no_coefficients_that_print_as_table_2_have_a_root_outside_of_the_range(name):
    """Random coefficients within the rounding of a row have roots inside, nearly up to the ends."""
    betas = draw_coefficients(name, np.random.default_rng(1))
    deviations = row_deviations(row_values(betas, MEANS), printed_rows([name]))
    prints = deviations.max(axis=1) <= 1
    roots = roots_along_rho(betas[prints], MEANS)[:, 0]
    low, high = smaller_root_range(name)
    assert len(roots) > 20
    least = roots.min()
    largest = roots.max()
    assert low <= least
    assert largest <= high
    assert largest - least > 0.3 * (high - low)
