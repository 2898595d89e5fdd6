"""How far accuracies along rho depart from a smooth response.

Tables 3 to 6 fix a model's sums; the most even accuracies with these sums change smoothly along
rho. The accuracies that the prose states depart from the smooth ones by more than chance: as if
each level of rho had its own effect, normal with one standard deviation (log-odds), the misfit.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit
from scipy.stats import chi2

from cogniload_repro.counts.constraints import level_sums
from cogniload_repro.counts.prose import PROSE_RATIOS, prose_along_rho
from cogniload_repro.counts.sufficient import sum_cells
from cogniload_repro.models import NAMES
from cogniload_repro.published import ALPHA
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.regression.design import GRID, OF_RATIO, X
from cogniload_repro.regression.likelihood import maximise

#: Log-odds beyond which no estimate is sought.
_WIDEST = 3.0
#: Variance of an accuracy that is rounded to two decimals.
_ROUNDING_VARIANCE = 0.01**2 / 12


class Departures(NamedTuple):
    """Accuracies (fractions) that a model's sums do not fix, at some needle ratios (%).

    ``chance``, shape (m, m), is the covariance of the printed around the expected accuracies by
    chance and rounding; ``reach``, shape (m, q), the change of each accuracy with the effect of
    each level of rho; both given the sums.
    """

    model: str
    levels: tuple[int, ...]
    printed: np.ndarray
    expected: np.ndarray
    chance: np.ndarray
    reach: np.ndarray


class Misfit(NamedTuple):
    """The likeliest misfit and its interval by likelihood ratio."""

    value: float
    low: float
    high: float


def find_departures() -> list[Departures]:
    """Return the accuracies along rho that the prose states, for each model of which it does."""
    departures = []
    for model in NAMES:
        claims = prose_along_rho(model)
        claims = claims[claims["rho"].isin(PROSE_RATIOS)]
        levels = tuple(claims["rho"].map(PROSE_RATIOS))
        if levels:
            printed = claims["value"].to_numpy(float)
            departures.append(_expect_departures(model, levels, printed))
    return departures


def log_likelihood(misfit: float, departures: Sequence[Departures]) -> float:
    """Return the log-likelihood of a misfit, up to a constant."""
    loglik = 0.0
    for departure in departures:
        covariance = departure.chance + misfit**2 * departure.reach @ departure.reach.T
        gap = departure.printed - departure.expected
        squared_distance = gap @ np.linalg.solve(covariance, gap)
        _, log_determinant = np.linalg.slogdet(covariance)
        loglik -= (squared_distance + log_determinant) / 2
    return loglik


def estimate_misfit(departures: Sequence[Departures]) -> Misfit:
    """Estimate one misfit for all departures by maximum likelihood."""
    best = minimize_scalar(
        lambda misfit: -log_likelihood(misfit, departures),
        bounds=(0, _WIDEST),
        method="bounded",
    )
    value = float(best.x)
    highest = -best.fun
    loglik_without = log_likelihood(0.0, departures)
    if loglik_without > highest:
        value = 0.0
        highest = loglik_without
    drop = chi2.ppf(1 - ALPHA, 1) / 2

    def above_drop(misfit: float) -> float:
        return log_likelihood(misfit, departures) - highest + drop

    low = 0.0
    if above_drop(0.0) < 0:
        low = float(brentq(above_drop, 0.0, value))
    high = float(brentq(above_drop, value, _WIDEST))
    return Misfit(value, low, high)


def _expect_departures(
    model: str, levels: tuple[int, ...], printed: np.ndarray
) -> Departures:
    """Return printed accuracies at some ratios, with what is expected of them given the sums."""
    answers, accuracy, free = _smooth_response(model)
    weights = answers * accuracy * (1 - accuracy)
    cells = np.array([GRID["ratio_pct"] == level for level in levels], float)
    shares = cells / (cells @ answers)[:, None]
    by_chance = shares @ (free * weights) @ shares.T
    return Departures(
        model=model,
        levels=levels,
        printed=printed,
        expected=shares @ (answers * accuracy),
        chance=by_chance + _ROUNDING_VARIANCE * np.eye(len(levels)),
        reach=shares @ free @ (OF_RATIO * weights).T,
    )


@cache
def _smooth_response(model: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return answers by cell, the most even accuracies, and the projection off the fixed sums.

    The projection, shape (140, 140), takes from a change of the cells' correct answers what a fit
    of the sums would take up.
    """
    _, answers, sums = sum_cells(load_cells(), model)
    levels, level_counts = level_sums(model)
    covariates = np.column_stack([*levels, X[:, 3:]])
    known = np.concatenate([level_counts, sums[3:]])
    beta, _ = maximise(covariates, answers, known)
    accuracy = expit(covariates @ beta)
    weighted = (answers * accuracy * (1 - accuracy))[:, None] * covariates
    information = covariates.T @ weighted
    taken_up = weighted @ np.linalg.solve(information, covariates.T)
    return answers, accuracy, np.eye(len(accuracy)) - taken_up
