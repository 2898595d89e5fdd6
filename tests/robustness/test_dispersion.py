"""Scatter beyond that of independent trials."""

import numpy as np
import pytest
from scipy.linalg import null_space
from scipy.stats import norm
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_linear_model import GLM

from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.robustness.dispersion import dispersion_table
from cogniload_repro.robustness.specifications import SETTLED
from cogniload_repro.robustness.uncertainty import fit_quadratics
from cogniload_repro.statistics.regression import QUADRATIC, fit_glm

CELLS = load_counts()
QWQ = CELLS[CELLS["model"] == "QwQ-32B"]


def drawn_cells(correlation, seed):
    """Return cells of 100 answers around the fitted line, with a correlation between the answers of a cell."""
    (quadratic,) = fit_quadratics(QWQ)
    p, rng = quadratic.accuracy, np.random.default_rng(seed)
    if correlation:
        precision = 1 / correlation - 1
        p = rng.beta(p * precision, (1 - p) * precision)
    return QWQ.assign(correct=rng.binomial(100, p))


def test_known_scatter_is_found():
    """Tables drawn with a correlation of 0.1 between the answers of a cell have the dispersion that follows from it."""
    phis = [dispersion_table(drawn_cells(0.1, seed))["phi"].iloc[0] for seed in range(10)]
    assert np.mean(phis) == pytest.approx(1 + 99 * 0.1, rel=0.15)


def test_independent_answers_show_no_scatter():
    """Tables drawn as independent trials around the line have dispersion one, and no misfit that is settled."""
    rows = [dispersion_table(drawn_cells(0, seed)).iloc[0] for seed in range(10)]
    assert np.mean([row["phi"] for row in rows]) == pytest.approx(1, abs=0.12)  # SE of the mean: 0.04
    assert np.mean([row["lr"] for row in rows]) == pytest.approx(9, abs=4)  # chi-square on 9 df, SE of the mean 1.3


def test_quasi_binomial_widens_statsmodels_errors():
    """Dispersion is statsmodels' Pearson chi-square by its degrees of freedom, and widens its standard errors.

    Its own scale "X2" is not used: for counts it leaves out the number of answers a cell.
    """
    (quadratic,) = fit_quadratics(QWQ)
    counts = np.column_stack([quadratic.k, quadratic.n - quadratic.k])
    result = GLM(counts, quadratic.x, family=Binomial()).fit()
    scale = result.pearson_chi2 / result.df_resid
    row = dispersion_table(QWQ).iloc[0]
    assert row["phi"] == pytest.approx(scale)
    for kind, wider in (("quasi", scale), ("least", row["least_phi"])):
        expected = 2 * norm.sf(np.abs(result.params) / (result.bse * np.sqrt(wider)))
        names = [f"p_{kind}_{term}" for term in ("0", "d", "N", "rho", "rho2")]
        assert row[names].to_list() == pytest.approx(expected, rel=1e-3)


def test_the_least_dispersion_is_settled_and_a_bound():
    """It is the likelihood ratio of all that is settled, the same for tables with the same sums, and below deviance."""
    row = dispersion_table(QWQ).iloc[0]
    paper, wide = fit_glm(QWQ, QUADRATIC), fit_glm(QWQ, f"correct ~ {SETTLED}")
    assert row["lr"] == pytest.approx(2 * (wide.loglik - paper.loglik))
    assert row["lr_df"] == len(wide.terms) - len(paper.terms) == 9
    basis = null_space(wide.expand(QWQ).T)
    shift = basis @ np.random.default_rng(3).normal(size=basis.shape[1])
    room = np.minimum(QWQ["correct"], QWQ["total"] - QWQ["correct"]).to_numpy(float)
    moved = QWQ.assign(correct=QWQ["correct"] + 0.9 * shift * (room / np.abs(shift)).min())
    other = dispersion_table(moved).iloc[0]
    assert other["least_phi"] == pytest.approx(row["least_phi"], rel=1e-6)
    assert other["phi"] != pytest.approx(row["phi"], rel=1e-3)
    for cells in (QWQ, moved):
        k, n = cells["correct"].to_numpy(float), cells["total"].to_numpy(float)
        deviance = Binomial().deviance(k / n, fit_glm(cells).accuracy, var_weights=n)
        assert row["least_phi"] <= deviance / 135
