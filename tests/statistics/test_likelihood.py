"""Fits from sufficient statistics, against fits to the answers themselves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogniload_repro.statistics.design import X
from cogniload_repro.statistics.likelihood import maximise, maximise_all, solve_aic

_SEEDS = st.integers(0, 2**32 - 1)


def answers(seed, columns):
    """Return covariates, puzzles and correct answers of a made-up model whose log-odds follow them."""
    rng = np.random.default_rng(seed)
    x = X[:, :columns]
    beta = np.array([5, -0.2, -2, -2, 2])[:columns] * rng.uniform(0.3, 1.2, columns)
    n = rng.integers(5, 120, len(x)).astype(float)
    return x, n, rng.binomial(n.astype(int), 1 / (1 + np.exp(-x @ beta)))


@given(_SEEDS, st.sampled_from([4, 5]))
@settings(max_examples=30)
def test_an_aic_leads_back_to_its_sum(seed, columns):
    """One of the two sums with a given AIC is the one it was computed from, and the other has that AIC too."""
    x, n, k = answers(seed, columns)
    t = x.T @ k.astype(float)
    beta, loglik = maximise(x, n, t)
    (below,), (above,) = solve_aic(x, n[None], t[None, :-1], np.array([2 * columns - 2 * loglik]))
    # near a slope of zero the AIC hardly tells the sum
    assert min(abs(below - t[-1]), abs(above - t[-1])) <= 1e-6 / min(1, abs(beta[-1]))
    for root, sign in ((below, -1), (above, 1)):
        slope, same = maximise(x, n, np.append(t[:-1], root))
        assert same == pytest.approx(loglik, abs=1e-8)
        assert np.sign(slope[-1]) == sign


@given(_SEEDS)
@settings(max_examples=20)
def test_many_fits_at_once_are_those_of_one_by_one(seed):
    """Every row has the fit that it has by itself, and what cannot be fitted leaves the others alone."""
    x, n, k = answers(seed, 5)
    t = np.array(
        [x.T @ k, x.T @ (2 * n), x.T @ (k // 2), x.T @ -n]
    )  # the second and fourth are beyond what n allows
    found, logliks = maximise_all(x, np.array([n] * 4), t)
    for place in (0, 2):
        beta, loglik = maximise(x, n, t[place])
        assert found[place] == pytest.approx(beta, rel=1e-8, abs=1e-8)
        assert logliks[place] == pytest.approx(loglik, rel=1e-12)
    assert np.isnan(found[[1, 3]]).all()
    assert np.isnan(logliks[[1, 3]]).all()
    for place in (1, 3):
        with pytest.raises(ValueError, match="no finite"):
            maximise(x, n, t[place])
