"""Tables 2, 3 and 6 as numbers, against statsmodels."""

import numpy as np
import pytest
import statsmodels.api as sm
from samples import three_models
from scipy.stats import chi2

from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.statistics.design import FULL, LINEAR, QUADRATIC, X
from cogniload_repro.statistics.paper_tables import aic_table, glm_table, interactions_table

THREE = three_models(load_counts())


def test_tables_hold_the_fits_of_each_model():
    """Table 2 is the quadratic fit, Table 6 compares it with the linear one, Table 3 drops interactions one by one."""
    own = THREE[THREE["model"] == "o3-2025-04-16"]
    k, n = own["correct"].to_numpy(), own["total"].to_numpy()

    def fitted(x):
        model = sm.GLM(np.column_stack([k, n - k]), x, family=sm.families.Binomial())
        return model.fit(tol=1e-10, tol_criterion="params")

    results = {columns: fitted(X[:, columns]) for columns in (LINEAR, QUADRATIC, FULL)}
    row = glm_table(THREE).iloc[2]
    names = ["0", "d", "N", "rho", "rho2"]
    np.testing.assert_allclose(
        row[[f"beta_{name}" for name in names]].astype(float), results[QUADRATIC].params
    )
    np.testing.assert_allclose(
        row[[f"se_{name}" for name in names]].astype(float), results[QUADRATIC].bse
    )
    np.testing.assert_allclose(
        row[[f"p_{name}" for name in names]].astype(float), results[QUADRATIC].pvalues
    )
    assert row["total"] == n.sum() == 1398
    row = aic_table(THREE).iloc[2]
    drop = 2 * (results[QUADRATIC].llf - results[LINEAR].llf)
    assert row["p_lr"] == pytest.approx(chi2.sf(drop, 1))
    assert row["aic_linear"] - row["aic_quadratic"] == pytest.approx(drop - 2)
    row = interactions_table(THREE).iloc[2]
    for place, name in enumerate(("dN", "drho", "Nrho", "dNrho"), start=5):
        dropped = fitted(np.delete(X, place, axis=1))
        assert row[f"beta_{name}"] == pytest.approx(results[FULL].params[place], rel=1e-6)
        assert row[f"p_{name}"] == pytest.approx(
            chi2.sf(2 * (results[FULL].llf - dropped.llf), 1), rel=1e-6
        )
