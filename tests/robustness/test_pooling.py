"""Partial pooling of the models' coefficients."""

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.robustness.pooling import fit_population, heterogeneity_table, pool_models, shrink

CELLS = load_counts()


def test_population_is_recovered():
    """Mean and spread of a known normal distribution come back from noisy estimates."""
    rng = np.random.default_rng(4)
    spread = np.array([[1.0, 0.6], [0.6, 2.0]])
    noise = np.array([np.diag(rng.uniform(0.05, 0.5, 2)) for _ in range(3000)])
    true = rng.multivariate_normal([3.0, -1.0], spread, size=3000)
    seen = np.array([rng.multivariate_normal(one, cov) for one, cov in zip(true, noise, strict=True)])
    mean, found = fit_population(seen, noise)
    assert mean == pytest.approx([3.0, -1.0], abs=0.1)
    assert found == pytest.approx(spread, abs=0.12)


def test_exact_estimates_stay_and_empty_ones_take_the_mean():
    """Without noise a model keeps its own coefficients; with nothing but noise it has the population's."""
    mean, spread = np.array([1.0, 2.0]), np.eye(2)
    own = np.array([[5.0, -3.0]])
    pooled, posterior = shrink(own, 1e-12 * np.eye(2)[None], mean, spread)
    assert pooled == pytest.approx(own, abs=1e-9)
    assert np.abs(posterior).max() < 1e-9
    pooled, posterior = shrink(own, 1e12 * np.eye(2)[None], mean, spread)
    assert pooled[0] == pytest.approx(mean, abs=1e-9)
    assert posterior[0] == pytest.approx(spread, abs=1e-9)


def test_shrinking_is_the_precision_weighted_mean():
    """In one dimension the pooled value weighs the model's own and the population's by their precision."""
    pooled, posterior = shrink(np.array([[4.0]]), np.array([[[0.5]]]), np.array([1.0]), np.array([[2.0]]))
    assert pooled[0, 0] == pytest.approx((4 / 0.5 + 1 / 2) / (1 / 0.5 + 1 / 2))
    assert posterior[0, 0, 0] == pytest.approx(1 / (1 / 0.5 + 1 / 2))


def test_models_with_few_puzzles_move_most():
    """Pooled standard errors are never larger than own ones, and shrink more with ten puzzles a cell than with 100."""
    table = pool_models(CELLS).set_index("model")
    assert (table["se_pooled_rho2"] <= table["se_own_rho2"]).all()
    assert len(table) == 22
    moved = (table["pooled_rho2"] - table["own_rho2"]).abs()
    few = CELLS.groupby("model")["total"].max().reindex(table.index) == 10
    assert moved[few].median() > 3 * moved[~few].median()


def test_too_few_models_are_refused():
    """Five coefficients and their covariance cannot be learned from a handful of models."""
    few = CELLS[CELLS["model"].isin(CELLS["model"].unique()[:6])]
    with pytest.raises(ValueError, match="6 models have a finite fit, and pooling needs 7"):
        pool_models(few)


def test_one_slope_for_all_has_no_heterogeneity():
    """Estimates that differ by their errors alone have a small tau; true differences are found, beyond the errors."""
    rng = np.random.default_rng(5)
    columns = {"own_d": rng.normal(-0.3, 0.1, 400), "own_N": rng.normal(-3, 1, 400) + rng.normal(0, 0.1, 400)}
    columns |= {"own_rho": 0.0, "own_rho2": 0.0}
    pooled = pd.DataFrame(columns).assign(**{f"se_own_{term}": 0.1 for term in ("d", "N", "rho", "rho2")})
    pooled[["own_rho", "own_rho2"]] = rng.normal(1, 0.1, (400, 2))
    table = heterogeneity_table(pooled).set_index("term")
    assert table.loc["d", "tau"] < 0.03
    assert table.loc["N", "tau"] == pytest.approx(1, rel=0.1)
    assert table.loc["N", "i2"] > 0.98
    assert table.loc["d", "mean"] == pytest.approx(-0.3, abs=0.02)
    assert table.loc["N", "span"] == pytest.approx(table.loc["N", "tau"] * np.log10(12.5))
