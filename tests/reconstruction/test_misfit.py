"""By how much printed accuracies depart from the smooth response."""

import numpy as np
import pytest
from scipy.stats import chi2

from cogniload_repro.reconstruction.constraints import expected_accuracy, level_sums
from cogniload_repro.reconstruction.misfit import (
    Departures,
    estimate_misfit,
    find_departures,
    log_likelihood,
)
from cogniload_repro.reconstruction.sufficient import sum_cells
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.regression.design import GRID, X


def simulate(misfit, models=300, seed=0):
    """Departures of two levels that each model prints, with a known misfit."""
    rng = np.random.default_rng(seed)
    reach = np.array(
        [
            [0.4, -0.1, 0.0],
            [0.0, 0.1, 0.3],
        ]
    )
    chance = np.array(
        [
            [4e-4, 1e-4],
            [1e-4, 4e-4],
        ]
    )
    expected = np.full(2, 0.5)
    departures = []
    for _ in range(models):
        by_chance = rng.multivariate_normal(np.zeros(2), chance)
        effects = rng.normal(0, misfit, 3)
        departure = Departures(
            model="any",
            levels=(5, 95),
            printed=expected + by_chance + reach @ effects,
            expected=expected,
            chance=chance,
            reach=reach,
        )
        departures.append(departure)
    return departures


@pytest.mark.parametrize("misfit", [0.0, 0.1, 0.3])
def test_a_known_misfit_is_found(misfit):
    """The estimate is near the misfit that departures were made with, and its interval holds it."""
    departures = simulate(misfit)
    estimate = estimate_misfit(departures)
    assert estimate.value == pytest.approx(misfit, abs=0.03)
    assert estimate.low <= misfit <= estimate.high
    assert (estimate.low > 0) == (misfit > 0)
    highest, at_end = (
        log_likelihood(at, departures) for at in (estimate.value, estimate.high)
    )
    assert 2 * (highest - at_end) == pytest.approx(chi2.ppf(0.95, 1), rel=1e-4)


def test_chance_is_that_of_answers_given_the_sums():
    """It is the covariance over random answers, corrected for the sums, and that of rounding."""
    by_model = {departures.model: departures for departures in find_departures()}
    departures = by_model["EXAONE-Deep-32B"]
    model_sums = sum_cells(load_cells(), departures.model)
    answers = model_sums.answers
    accuracy = expected_accuracy(model_sums)
    rng = np.random.default_rng(2)
    correct = rng.binomial(answers.astype(int), accuracy, (5_000, 140))
    noise = correct - answers * accuracy
    levels, _ = level_sums(departures.model)
    covariates = np.column_stack([*levels, X[:, 3:]])
    weights = answers * accuracy * (1 - accuracy)
    information = covariates.T @ (covariates * weights[:, None])
    slopes = np.linalg.solve(information, covariates.T @ noise.T)
    given_sums = noise - weights * (covariates @ slopes).T
    shares = []
    for level in departures.levels:
        is_level = (GRID["ratio_pct"] == level).to_numpy()
        deviations = given_sums[:, is_level].sum(axis=1)
        shares.append(deviations / answers[is_level].sum())
    rounding = 0.01**2 / 12
    covariance = np.cov(shares) + rounding * np.eye(len(shares))
    np.testing.assert_allclose(covariance, departures.chance, rtol=0.1, atol=1e-6)
