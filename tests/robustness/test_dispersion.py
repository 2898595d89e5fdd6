"""Scatter beyond that of independent trials."""

import numpy as np
import pytest
from scipy.special import gammaln
from scipy.stats import betabinom, norm
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_linear_model import GLM

from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.robustness.dispersion import beta_binomial_loss, dispersion_table
from cogniload_repro.robustness.uncertainty import fit_quadratics

CELLS = load_counts()
QWQ = CELLS[CELLS["model"] == "QwQ-32B"]


def log_choose(n, k):
    """Logarithms of binomial coefficients."""
    return gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)


def drawn_cells(correlation, seed):
    """Return cells of 100 answers around the fitted line, with a correlation between the answers of a cell."""
    (quadratic,) = fit_quadratics(QWQ)
    p, rng = quadratic.accuracy, np.random.default_rng(seed)
    if correlation:
        precision = 1 / correlation - 1
        p = rng.beta(p * precision, (1 - p) * precision)
    return QWQ.assign(correct=rng.binomial(100, p))


def test_loss_is_scipys_distribution_without_the_binomial_coefficient():
    """The likelihood is the beta-binomial one of the single answers."""
    (quadratic,) = fit_quadratics(QWQ)
    p, precision = quadratic.accuracy, np.exp(2.5)
    expected = betabinom.logpmf(quadratic.k, quadratic.n, p * precision, (1 - p) * precision)
    expected = (expected - log_choose(quadratic.n, quadratic.k)).sum()
    theta = np.append(quadratic.fit.coef, 2.5)
    assert beta_binomial_loss(theta, quadratic.x, quadratic.k, quadratic.n) == pytest.approx(-expected)


def test_loss_without_extra_scatter_is_the_binomial_one():
    """As the correlation goes to zero the likelihood becomes that of independent answers."""
    (quadratic,) = fit_quadratics(QWQ)
    loss = beta_binomial_loss(np.append(quadratic.fit.coef, 16.0), quadratic.x, quadratic.k, quadratic.n)
    assert -loss == pytest.approx(quadratic.fit.loglik, abs=0.05)


def test_known_correlation_is_recovered():
    """Tables drawn with a correlation of 0.1 give it back, on average over ten of them within a tenth."""
    rows = [dispersion_table(drawn_cells(0.1, seed)).iloc[0] for seed in range(10)]
    assert np.mean([row["icc"] for row in rows]) == pytest.approx(0.1, rel=0.1)
    assert max(row["p_beta"] for row in rows) < 1e-6
    assert np.mean([row["phi"] for row in rows]) == pytest.approx(1 + 99 * 0.1, rel=0.15)


def test_independent_answers_show_no_scatter():
    """Tables drawn as independent trials have dispersion one, and a beta-binomial that does not pay."""
    rows = [dispersion_table(drawn_cells(0, seed)).iloc[0] for seed in range(10)]
    assert np.mean([row["phi"] for row in rows]) == pytest.approx(1, abs=0.12)  # SE of the mean: 0.04
    assert sum(row["daic_beta"] < 0 for row in rows) <= 4


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
    expected = 2 * norm.sf(np.abs(result.params) / (result.bse * np.sqrt(scale)))
    assert row[["p_quasi_0", "p_quasi_d", "p_quasi_N", "p_quasi_rho", "p_quasi_rho2"]].to_list() == pytest.approx(
        expected, rel=1e-3
    )
