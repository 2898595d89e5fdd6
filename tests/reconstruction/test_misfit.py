"""The misfit: by how much printed accuracies leave the smooth response, and what that makes of the others."""

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.models import BY_NAME
from cogniload_repro.published import load_claims
from cogniload_repro.reconstruction.constraints import PROSE_RATIOS, expected_accuracy, level_sums
from cogniload_repro.reconstruction.misfit import (
    Departures,
    estimate_by_load,
    estimate_misfit,
    find_departures,
    log_likelihood,
    predict_left_out,
)
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.reconstruction.sufficient import recovered_from
from cogniload_repro.statistics.design import GRID, X

CELLS = load_counts()


@pytest.fixture(scope="module")
def departures():
    """What the prose states along rho."""
    return find_departures(CELLS)


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


def test_the_prose_is_not_smooth_and_the_printed_levels_are_not_either():
    """Along every load the misfit is there, and the three estimates agree."""
    found = estimate_by_load(CELLS).set_index(["load", "models"])
    everyone = found.xs("all", level="models")
    assert (everyone["ratio"] > 10.8).all()  # p < 0.001
    assert everyone["low"].max() < everyone["high"].min()
    assert (found["low"] <= found["value"]).all()
    assert (found["value"] <= found["high"]).all()
    assert found.groupby("load")["numbers"].max().to_dict() == everyone["numbers"].to_dict()


def test_left_out_accuracies_lie_in_their_bands(departures):
    """Predicted from all others, 85 to 100% of the printed accuracies lie in the 95% bands; smooth ones miss more."""
    predicted = predict_left_out(departures)
    assert len(predicted) == 16
    assert 0.85 <= predicted["inside"].mean() <= 1
    assert (predicted["z_smooth"].abs() <= 1.96).mean() < predicted["inside"].mean()
    assert (predicted["sd"] >= predicted["sd_smooth"]).all()
    pd.testing.assert_series_equal(predicted["printed"] - predicted["z"] * predicted["sd"], predicted["expected"],
                                   check_names=False)  # fmt: skip


def test_a_prediction_knows_nothing_of_what_it_predicts(departures):
    """Whatever is printed at a place, its prediction from the others stays."""
    first, *others = departures
    changed = Departures(
        first.model, first.levels, first.printed + np.array([0.2, 0.0]), first.expected, first.chance, first.reach
    )
    before, after = (predict_left_out([one, *others]).iloc[0] for one in (first, changed))
    for column in ("expected", "sd", "misfit", "expected_smooth"):
        assert after[column] == pytest.approx(before[column])
    assert after["z"] > before["z"]


def test_no_departures_are_refused():
    """Without a printed accuracy there is no misfit, and the message says so."""
    model = next(name for name in BY_NAME if name == "QwQ-32B")
    assert find_departures(CELLS[CELLS["model"] == model]) == []
    with pytest.raises(ValueError, match="no accuracy is printed"):
        estimate_misfit([])
