"""Fits from sufficient statistics, against fits to the answers themselves."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogniload_repro.regression.design import X
from cogniload_repro.regression.likelihood import maximise, maximise_all, solve_aic

_SEEDS = st.integers(0, 2**32 - 1)


def draw_model(seed, columns):
    """Covariates, answers and correct answers of a model whose log-odds follow the covariates."""
    rng = np.random.default_rng(seed)
    covariates = X[:, :columns]
    beta = np.array([5, -0.2, -2, -2, 2])[:columns] * rng.uniform(0.3, 1.2, columns)
    accuracy = 1 / (1 + np.exp(-covariates @ beta))
    answers = rng.integers(5, 120, len(covariates)).astype(float)
    return covariates, answers, rng.binomial(answers.astype(int), accuracy)


@given(_SEEDS, st.sampled_from([4, 5]))
@settings(max_examples=30)
def test_both_sums_have_the_aic_with_slopes_of_either_sign(seed, columns):
    """The sum below has a negative coefficient, the one above a positive one."""
    covariates, answers, correct = draw_model(seed, columns)
    sums = covariates.T @ correct.astype(float)
    _, loglik = maximise(covariates, answers, sums)
    aic = np.array([2 * columns - 2 * loglik])
    roots = solve_aic(covariates, answers[None], sums[None, :-1], aic)
    for (root,), sign in zip(roots, (-1, 1), strict=True):
        beta, same_loglik = maximise(covariates, answers, np.append(sums[:-1], root))
        assert same_loglik == pytest.approx(loglik, abs=1e-8)
        assert np.sign(beta[-1]) == sign


@given(_SEEDS)
@settings(max_examples=20)
def test_many_fits_at_once_are_those_of_one_by_one(seed):
    """Every table has the fit that it has alone; one without a fit does not change the others."""
    covariates, answers, correct = draw_model(seed, 5)
    tables = [correct, 2 * answers, correct // 2, -answers]
    exists = [
        True,
        False,
        True,
        False,
    ]  # there are no more correct answers than answers, or fewer than 0
    sums = np.array([covariates.T @ table for table in tables])
    betas, logliks = maximise_all(covariates, np.tile(answers, (4, 1)), sums)
    for place, has_fit in enumerate(exists):
        if has_fit:
            beta, loglik = maximise(covariates, answers, sums[place])
            assert betas[place] == pytest.approx(beta, rel=1e-8, abs=1e-8)
            assert logliks[place] == pytest.approx(loglik, rel=1e-12)
        else:
            assert np.isnan(betas[place]).all()
            assert np.isnan(logliks[place])
            with pytest.raises(ValueError, match="no finite"):
                maximise(covariates, answers, sums[place])


@pytest.mark.parametrize("answers", [100, 1e6])
def test_a_saturated_fit_has_the_observed_log_odds(answers):
    """To a thousandth of a standard error for any number of answers."""
    accuracy = np.array([0.3, 0.7, 0.99])
    correct = answers * accuracy
    coefficients, _ = maximise(np.eye(3), np.full(3, answers), correct)
    log_odds = np.log(accuracy / (1 - accuracy))
    errors = 1 / np.sqrt(correct * (1 - accuracy))
    assert np.abs((coefficients - log_odds) / errors).max() < 1e-3


@settings(deadline=None)
@given(seed=st.integers(0, 10_000))
def test_a_few_wrong_answers_among_many_have_a_fit(seed):
    """Its log-likelihood has all digits where nearly every answer is correct."""
    rng = np.random.default_rng(seed)
    answers = np.full(len(X), 10_000.0)
    wrong = rng.multinomial(rng.integers(20, 300), np.full(len(X), 1 / len(X)))
    coefficients, loglik = maximise(X[:, :5], answers, X[:, :5].T @ (answers - wrong))
    assert np.isfinite([*coefficients, loglik]).all()
