"""A ceiling of accuracy: found where there is one, and not where there is none."""

import numpy as np
import pytest
from scipy.special import expit

from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.robustness.lapses import fit_lapses
from cogniload_repro.robustness.uncertainty import fit_quadratics

CELLS = load_counts()
_HIGHER = np.array([2.0, 0, 0, 0, 0])
QWQ = CELLS[CELLS["model"] == "QwQ-32B"]


def drawn(ceiling, seed):
    """Return cells around the fitted line of a model, times a ceiling."""
    (quadratic,) = fit_quadratics(QWQ)
    p = ceiling * expit(quadratic.x @ (quadratic.fit.coef + _HIGHER))
    return QWQ.assign(total=400, correct=np.random.default_rng(seed).binomial(400, p))


def test_a_known_ceiling_is_recovered():
    """Tables drawn with a ceiling of 0.8 give it back, and the capacity point belongs to the ceiling's accuracy."""
    rows = [fit_lapses(drawn(0.8, seed)).iloc[0] for seed in range(5)]
    assert np.mean([row["ceiling"] for row in rows]) == pytest.approx(0.8, abs=0.02)
    assert max(row["p"] for row in rows) < 1e-6
    (quadratic,) = fit_quadratics(QWQ)
    beta, means = quadratic.fit.coef + _HIGHER, quadratic.means
    at = beta[0] + beta[1] * means["d"] + beta[3] * means["rho"] + beta[4] * means["rho"] ** 2
    expected = 10 ** ((np.log(0.625 / 0.375) - at) / beta[2])  # 0.8 times 0.625 is one half
    assert np.mean([row["ecl50"] for row in rows]) == pytest.approx(expected, rel=0.1)


def test_without_a_ceiling_none_is_found():
    """Answers around the plain line do not pay for a ceiling, and cost its parameter."""
    rows = [fit_lapses(drawn(1.0, seed)).iloc[0] for seed in range(5)]
    assert min(row["ceiling"] for row in rows) > 0.97
    assert all(-4 < row["daic"] <= 2 for row in rows)
