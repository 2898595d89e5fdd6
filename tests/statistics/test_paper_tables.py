"""The regressions of Tables 2, 3 and 6 against statsmodels."""

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from scipy.stats import chi2

from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.statistics.cell_tables import load_cells
from cogniload_repro.statistics.design import FULL, GRID, LINEAR, QUADRATIC, X
from cogniload_repro.statistics.fits import fit
from cogniload_repro.statistics.paper_tables import aic_table, glm_table, interactions_table, spread_terms


@pytest.fixture(scope="module")
def cells():
    """Reconstructed cells of two models, between them one that is always right."""
    cells = load_counts()
    sure = GRID.assign(model="sure", total=10, correct=10)
    return pd.concat([cells[cells["model"] == "QwQ-32B"], sure, cells[cells["model"] == "o3-2025-04-16"]])


def test_tables_have_one_row_a_model_in_the_order_of_the_cells(cells):
    """Tables 2, 3 and 6 hold every model; one without a fit says so and has no numbers."""
    for table in (glm_table(cells), interactions_table(cells), aic_table(cells)):
        assert table["model"].tolist() == ["QwQ-32B", "sure", "o3-2025-04-16"]
        assert table["status"].tolist() == ["ok", "separation", "ok"]
        numbers = table.drop(columns=["model", "status"]).drop(columns="total", errors="ignore")
        assert numbers.iloc[1].isna().all()
        assert numbers.drop(columns="nt50", errors="ignore").iloc[[0, 2]].notna().all(axis=None)


def test_tables_hold_the_fits_of_each_model(cells):
    """Table 2 is the quadratic fit, Table 6 compares it with the linear one, Table 3 drops interactions one by one."""
    own = cells[cells["model"] == "o3-2025-04-16"]
    k, n = own["correct"].to_numpy(), own["total"].to_numpy()

    def fitted(x):
        model = sm.GLM(np.column_stack([k, n - k]), x, family=sm.families.Binomial())
        return model.fit(tol=1e-10, tol_criterion="params")

    results = {columns: fitted(X[:, columns]) for columns in (LINEAR, QUADRATIC, FULL)}
    row = glm_table(cells).iloc[2]
    names = ["0", "d", "N", "rho", "rho2"]
    np.testing.assert_allclose(row[[f"beta_{name}" for name in names]].astype(float), results[QUADRATIC].params)
    np.testing.assert_allclose(row[[f"se_{name}" for name in names]].astype(float), results[QUADRATIC].bse)
    np.testing.assert_allclose(row[[f"p_{name}" for name in names]].astype(float), results[QUADRATIC].pvalues)
    assert row["total"] == n.sum() == 1398
    row = aic_table(cells).iloc[2]
    drop = 2 * (results[QUADRATIC].llf - results[LINEAR].llf)
    assert row["p_lr"] == pytest.approx(chi2.sf(drop, 1))
    assert row["aic_linear"] - row["aic_quadratic"] == pytest.approx(drop - 2)
    row = interactions_table(cells).iloc[2]
    for place, name in enumerate(("dN", "drho", "Nrho", "dNrho"), start=5):
        dropped = fitted(np.delete(X, place, axis=1))
        assert row[f"beta_{name}"] == pytest.approx(results[FULL].params[place], rel=1e-6)
        assert row[f"p_{name}"] == pytest.approx(chi2.sf(2 * (results[FULL].llf - dropped.llf), 1), rel=1e-6)


def test_terms_stand_under_the_papers_symbols_and_others_under_their_own():
    """Any fit can be spread, one of a model without known covariates too."""
    cells = load_counts().query("model in ['QwQ-32B', 'o3-2025-04-16']")
    cells = cells.assign(prompt_mean=np.where(cells["model"] == "QwQ-32B", 40.0 * cells["N"], np.nan))
    wide = spread_terms(fit(cells, "correct ~ d + np.sqrt(prompt_mean)")).set_index("model")
    assert wide["status"].to_dict() == {"QwQ-32B": "ok", "o3-2025-04-16": "no prompt_mean"}
    assert [name for name in wide if name.startswith("beta_")] == ["beta_0", "beta_d", "beta_np.sqrt(prompt_mean)"]
    assert wide.loc["o3-2025-04-16"].drop("status").isna().all()


def test_tables_of_a_partial_grid_have_p_values():
    """On a part of the grid nothing is identified, but a table of one reconstruction has the p-values of its fits."""
    cells = load_cells(models=["QwQ-32B"])
    cells = cells[cells["N"].isin([20, 50]) & cells["ratio_pct"].isin([5, 50, 95])]
    assert glm_table(cells).filter(like="p_").notna().all(axis=None)
    assert interactions_table(cells).filter(like="p_").notna().all(axis=None)
    assert aic_table(cells)["p_lr"].notna().all()
