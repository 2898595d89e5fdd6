"""The misfit: by how much printed accuracies leave the smooth response, and what that makes of the others."""

import numpy as np
import pytest
from scipy.stats import norm

from cogniload_repro.published import load_claims
from cogniload_repro.reconstruction.constraints import PROSE_RATIOS, expected_accuracy, level_sums
from cogniload_repro.reconstruction.misfit import (
    Departures,
    compare_assumptions,
    estimate_misfit,
    estimate_without,
    find_departures,
    log_likelihood,
    widening,
)
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.reconstruction.sufficient import recovered_from
from cogniload_repro.statistics.design import GRID, X

CELLS = load_counts()
OPEN = ["DeepSeek-R1-Distill-Llama-70B", "EXAONE-Deep-32B", "Phi-4-reasoning-plus"]


@pytest.fixture(scope="module")
def departures():
    """What the prose states along rho."""
    return find_departures()


def simulated(misfit, models=300, seed=0):
    """Departures of two levels that each model prints, with a known misfit."""
    rng, one = np.random.default_rng(seed), np.array([[0.4, -0.1, 0.0], [0.0, 0.1, 0.3]])
    chance = np.array([[4e-4, 1e-4], [1e-4, 4e-4]])
    found = []
    for _ in range(models):
        gap = rng.multivariate_normal(np.zeros(2), chance) + one @ rng.normal(0, misfit, 3)
        found.append(Departures("any", (5, 95), 0.5 + gap, np.full(2, 0.5), chance, one))
    return found


@pytest.mark.parametrize("misfit", [0.0, 0.1, 0.3])
def test_a_known_misfit_is_found(misfit):
    """The estimate is near, and its interval holds, the misfit that departures were made with."""
    found = estimate_misfit(simulated(misfit))
    assert found.value == pytest.approx(misfit, abs=0.03)
    assert found.low <= misfit <= found.high
    assert (found.ratio > 10) == (misfit > 0)
    assert found.numbers == 600


def test_the_estimate_is_the_most_likely(departures):
    """No other misfit is likelier, and the ends of the interval are less likely by what chi-square allows."""
    found = estimate_misfit(departures)
    best = log_likelihood(found.value, departures)
    assert all(log_likelihood(other, departures) <= best for other in np.linspace(0, 1, 50))
    for end in (found.low, found.high):
        assert 2 * (best - log_likelihood(end, departures)) == pytest.approx(3.841, abs=0.01)
    assert found.ratio == pytest.approx(2 * (best - log_likelihood(0.0, departures)))


def test_every_stated_accuracy_is_there(departures):
    """One number for each accuracy that the prose states at a place along rho."""
    claims = load_claims()
    stated = claims[claims["condition"].isin(PROSE_RATIOS) & (claims["quantity"] == "accuracy")]
    found = [
        (one.model, level, value) for one in departures for level, value in zip(one.levels, one.printed, strict=True)
    ]
    expected = [(c.model, PROSE_RATIOS[c.condition], float(c.value)) for c in stated.itertuples()]
    assert sorted(found) == sorted(expected)


def test_chance_is_that_of_answers_given_the_sums(departures):
    """Over answers drawn at random and corrected for the sums, an accuracy has the covariance of `chance`."""
    one = next(one for one in departures if one.model == "EXAONE-Deep-32B")
    recovered = recovered_from(CELLS, one.model)
    fixed = np.column_stack([*(cells for cells, _ in level_sums(one.model)), X[:, 3:]])
    p = expected_accuracy(recovered)
    rng = np.random.default_rng(2)
    drawn = rng.binomial(recovered.n.astype(int), p, (20_000, 140)) - recovered.n * p
    weights = recovered.n * p * (1 - p)
    within = drawn - (np.linalg.solve((fixed * weights[:, None]).T @ fixed, fixed.T @ drawn.T).T @ fixed.T) * weights
    shares = np.array([within[:, (GRID["ratio_pct"] == level).to_numpy()].sum(axis=1) / 2000 for level in one.levels])
    np.testing.assert_allclose(np.cov(shares) + np.eye(2) * 0.01**2 / 12, one.chance, rtol=0.1, atol=1e-6)


def test_the_estimate_rests_on_six_numbers_of_open_models(departures):
    """Without the strongest model the misfit is smaller by a quarter; models with ten puzzles per cell show none."""
    without = estimate_without(departures).set_index("model")
    assert without["misfit"].idxmin() == "Phi-4-reasoning-plus"
    assert without["misfit"].min() == pytest.approx(0.127, abs=0.001)
    assert without.loc[OPEN, "numbers"].sum() == 6
    api = [one for one in departures if one.model not in OPEN]
    assert estimate_misfit(api).value == pytest.approx(0, abs=0.01)


def test_a_band_integrates_over_the_likelihood_of_the_misfit(departures):
    """The widened band holds 95% of points whose misfit is drawn from its likelihood; a point that sums fix stays."""
    grid = np.linspace(0, 1, 201)
    weights = np.exp([log_likelihood(misfit, departures) for misfit in grid])
    rng = np.random.default_rng(4)
    misfits = rng.choice(grid, size=200_000, p=weights / weights.sum())
    one = next(one for one in departures if one.model == "EXAONE-Deep-32B")
    shares = np.array([GRID["ratio_pct"] == level for level in one.levels] + [GRID["N"] == 20], float)
    factor = widening(one.model, shares, 0.17)
    assert factor[2] == 1
    chance, effect = np.diag(one.chance) - 0.01**2 / 12, (one.reach**2).sum(axis=1)
    for place in (0, 1):
        points = rng.normal(size=misfits.size) * np.sqrt(chance[place] + misfits**2 * effect[place])
        half = factor[place] * norm.ppf(0.975) * np.sqrt(chance[place] + 0.17**2 * effect[place])
        assert (np.abs(points) <= half).mean() == pytest.approx(0.95, abs=0.003)
        assert 1.1 < factor[place] < 1.3


def test_more_effects_mean_wider_bands():
    """If single (N, d), (d, rho) and (N, rho) departed as much as levels of rho do, bands would double."""
    found = compare_assumptions(["QwQ-32B", "EXAONE-Deep-32B"])
    assert found["tiles"] == pytest.approx(2.1, abs=0.1)
    assert found[["figure3", "figure4"]].between(1.2, 1.5).all()


def test_no_departures_are_refused():
    """Without a printed accuracy there is no misfit, and the message says so."""
    assert find_departures(["QwQ-32B"]) == []
    with pytest.raises(ValueError, match="no accuracy is printed"):
        estimate_misfit([])
