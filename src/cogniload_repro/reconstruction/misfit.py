"""The misfit: how far accuracies along rho depart from a smooth response.

Tables 3 to 6 fix a model's sums; the maximum-entropy accuracies with these sums change smoothly
along rho. The accuracies stated in the prose depart from them by more than sampling error. The
model is a normal random effect of each level of rho; its standard deviation (log-odds), the same
for all levels and models, is the misfit.
"""

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit
from scipy.stats import chi2

from cogniload_repro.models import NAMES
from cogniload_repro.paths import DATA
from cogniload_repro.published import ALPHA
from cogniload_repro.reconstruction.constraints import level_sums
from cogniload_repro.reconstruction.prose import PROSE_RATIOS, prose_along_rho
from cogniload_repro.reconstruction.sufficient import sum_cells
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.regression.design import GRID, OF_RATIO, X
from cogniload_repro.regression.likelihood import maximise

#: How often bands and ranges over reconstructions hold a known truth: truth, panel, band and range
#: (shares of the points), points, truths, tables (`scripts/simulate_ranges.py`).
COVERAGE = DATA / "range_coverage.csv"
#: Upper end of the search for the misfit and its interval (log-odds).
_WIDEST = 3.0
#: Variance of an accuracy that is rounded to two decimals.
_ROUNDING_VARIANCE = 0.01**2 / 12


class Departures(NamedTuple):
    """A model's printed and expected accuracies (fractions) at some needle ratios (%).

    ``chance``, shape (m, m), is the covariance of printed minus expected accuracies due to
    binomial sampling and rounding. ``reach``, shape (m, q), is the derivative of the accuracies
    by the random effects of the q levels of rho. Both are conditional on the sums.
    """

    model: str
    levels: tuple[int, ...]
    printed: np.ndarray
    expected: np.ndarray
    chance: np.ndarray
    reach: np.ndarray


class Misfit(NamedTuple):
    """The maximum-likelihood estimate of the misfit, with its likelihood-ratio interval."""

    value: float
    low: float
    high: float


def find_departures() -> list[Departures]:
    """Return the accuracies along rho stated in the prose, for each model that has any."""
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
    """Return the normal log-likelihood of a misfit, up to a constant.

    Given misfit s, printed minus expected accuracies are N(0, chance + s^2 reach reach').
    """
    loglik = 0.0
    for departure in departures:
        covariance = departure.chance + misfit**2 * departure.reach @ departure.reach.T
        gap = departure.printed - departure.expected
        squared_distance = gap @ np.linalg.solve(covariance, gap)
        _, log_determinant = np.linalg.slogdet(covariance)
        loglik -= (squared_distance + log_determinant) / 2
    return loglik


def estimate_misfit(departures: Sequence[Departures]) -> Misfit:
    """Estimate the misfit common to all models by maximum likelihood."""
    best = minimize_scalar(
        lambda misfit: -log_likelihood(misfit, departures),
        bounds=(0, _WIDEST),
        method="bounded",
    )
    value = float(best.x)
    highest = -best.fun
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
    """Return printed accuracies at some ratios with their expectation and covariance.

    All moments are conditional on the sums, to first order.
    """
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
    """Return answers by cell, maximum-entropy accuracies, and the projection given the sums.

    The projection, shape (140, 140), is I - W X (X' W X)^-1 X', with the constrained columns X
    and the binomial variances W. It removes from a change of the counts the part that a fit on X
    takes up.
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
