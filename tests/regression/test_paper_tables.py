"""Tables 2, 3 and 6 as numbers, against statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm
from samples import three_models
from scipy.stats import chi2

from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.regression.design import LINEAR_COLUMNS, QUADRATIC_COLUMNS, X
from cogniload_repro.regression.paper_tables import (
    aic_table,
    glm_table,
    interactions_table,
)

THREE = three_models(load_cells())
O3 = THREE[THREE["model"] == "o3-2025-04-16"]


def fit_counts(covariates):
    """The binomial regression of o3's counts, by statsmodels."""
    counts = np.column_stack([O3["correct"], O3["total"] - O3["correct"]])
    model = sm.GLM(counts, covariates, family=sm.families.Binomial())
    return model.fit(tol=1e-10, tol_criterion="params")


def find_row(table):
    """The row of o3."""
    return table.set_index("model").loc["o3-2025-04-16"]


def test_table_2_is_the_quadratic_fit():
    """Coefficients, standard errors and p-values, of all answers."""
    row = find_row(glm_table(THREE))
    results = fit_counts(X[:, QUADRATIC_COLUMNS])
    for kind, numbers in (
        ("beta", results.params),
        ("se", results.bse),
        ("p", results.pvalues),
    ):
        names = [f"{kind}_{name}" for name in ("0", "d", "N", "rho", "rho2")]
        np.testing.assert_allclose(row[names].astype(float), numbers)
    assert row["total"] == O3["total"].sum() == 1398


def test_table_6_compares_it_with_the_linear_fit():
    """A likelihood-ratio test of one coefficient, which costs an AIC of 2."""
    row = find_row(aic_table(THREE))
    gain = 2 * (
        fit_counts(X[:, QUADRATIC_COLUMNS]).llf - fit_counts(X[:, LINEAR_COLUMNS]).llf
    )
    assert row["p_lr"] == pytest.approx(chi2.sf(gain, 1))
    assert row["aic_linear"] - row["aic_quadratic"] == pytest.approx(gain - 2)


@pytest.mark.parametrize(
    ("name", "column"), [("dN", 5), ("drho", 6), ("Nrho", 7), ("dNrho", 8)]
)
def test_table_3_drops_interactions_one_by_one(name, column):
    """Each p is that of the likelihood-ratio test of the regression without one product."""
    row = find_row(interactions_table(THREE))
    full = fit_counts(X)
    reduced = fit_counts(np.delete(X, column, axis=1))
    p = chi2.sf(2 * (full.llf - reduced.llf), 1)
    assert row[f"beta_{name}"] == pytest.approx(full.params[column], rel=1e-6)
    assert row[f"p_{name}"] == pytest.approx(p, rel=1e-6)
