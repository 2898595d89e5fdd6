"""How far accuracies along rho depart from what the printed sums say, estimated where the prose states them.

Tables 3 to 6 fix a model's sums; the most even accuracies with these sums change smoothly along rho. The accuracies
that the prose states depart from the smooth ones by more than chance: as if each level of rho had its own effect,
normal with one standard deviation (log-odds), the misfit. Bands along rho integrate over its likelihood. They assume
that only whole levels of rho depart.
"""

from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit
from scipy.stats import chi2, norm

from cogniload_repro.models import NAMES
from cogniload_repro.reconstruction.constraints import PROSE_RATIOS, level_sums, prose_along_rho
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.reconstruction.sufficient import recovered_from
from cogniload_repro.statistics.design import GRID, X
from cogniload_repro.statistics.likelihood import maximise

#: Intervals and bands hold with this probability.
CERTAINTY = 0.95
_WIDEST = 3.0  # log-odds; no estimate is sought beyond
_GRID = np.linspace(0, 1, 201)  # misfits that a band integrates over


class Departures(NamedTuple):
    """Accuracies (fractions) that a model's sums do not fix, as printed and as expected of a smooth response.

    ``levels`` has the needle ratio of each (%); ``chance``, shape (m, m), the covariance of the printed around the
    expected by chance and rounding, given the sums; ``reach``, shape (m, q), the change of each accuracy with the
    effect of each level, given the sums.
    """

    model: str
    levels: tuple[int, ...]
    printed: np.ndarray
    expected: np.ndarray
    chance: np.ndarray
    reach: np.ndarray


class Misfit(NamedTuple):
    """The misfit of highest likelihood (log-odds), its 95% interval by likelihood ratio, and that ratio against none.

    ``numbers`` are the printed accuracies that the estimate rests on.
    """

    value: float
    low: float
    high: float
    ratio: float
    numbers: int


def find_departures(models: Iterable[str] = NAMES) -> list[Departures]:
    """Return the accuracies along rho that the prose states, for each model of which it states some."""
    found = []
    for model in models:
        claims = prose_along_rho(model)
        claims = claims[claims["condition"].isin(PROSE_RATIOS)]
        if levels := tuple(PROSE_RATIOS[condition] for condition in claims["condition"]):
            points = [GRID["ratio_pct"] == level for level in levels]
            expected, chance, reach = _given_sums(model, np.array(points, float))
            chance = chance + 0.01**2 / 12 * np.eye(len(levels))  # printed to two decimals
            found.append(Departures(model, levels, claims["value"].to_numpy(float), expected, chance, reach))
    return found


def log_likelihood(misfit: float, departures: Sequence[Departures]) -> float:
    """Return the log-likelihood of a misfit (log-odds), up to a constant."""
    total = 0.0
    for one in departures:
        covariance, gap = one.chance + misfit**2 * one.reach @ one.reach.T, one.printed - one.expected
        total -= (gap @ np.linalg.solve(covariance, gap) + np.linalg.slogdet(covariance)[1]) / 2
    return total


def estimate_misfit(departures: Sequence[Departures]) -> Misfit:
    """Estimate one misfit for all departures by maximum likelihood."""
    if not departures:
        raise ValueError("no accuracy is printed that the sums do not fix; the misfit needs models of the paper")
    best = minimize_scalar(lambda misfit: -log_likelihood(misfit, departures), bounds=(0, _WIDEST), method="bounded")
    highest = max(-best.fun, log_likelihood(0.0, departures))
    value = float(best.x) if -best.fun >= highest else 0.0
    drop = chi2.ppf(CERTAINTY, 1) / 2

    def above(misfit: float) -> float:
        return log_likelihood(misfit, departures) - highest + drop

    low = 0.0 if above(0.0) >= 0 else float(brentq(above, 0.0, value))
    ratio = 2 * (highest - log_likelihood(0.0, departures))
    return Misfit(value, low, float(brentq(above, value, _WIDEST)), ratio, sum(len(one.levels) for one in departures))


def estimate_without(departures: Sequence[Departures]) -> pd.DataFrame:
    """Return the misfit without each model: model, numbers (its printed accuracies), misfit, low, high, ratio."""
    rows = []
    for place, one in enumerate(departures):
        rows.append((one.model, len(one.levels), *estimate_misfit([*departures[:place], *departures[place + 1 :]])[:4]))
    return pd.DataFrame(rows, columns=["model", "numbers", "misfit", "low", "high", "ratio"])


def widening(model: str, shares: np.ndarray, drawn: float) -> np.ndarray:
    """Return how much wider 95% bands are than those drawn with one misfit, when its likelihood is integrated over.

    ``shares``, shape (m, 140), has the weight of each cell in the accuracy of each point; ``drawn`` is the misfit
    (log-odds) of the tables that the bands are made of. The result, shape (m,), is 1 where the sums fix the point.
    """
    _, chance, reach = _given_sums(model, shares)
    alone, effect = np.maximum(np.diag(chance), 0), (reach**2).sum(axis=1)
    sd, at = np.sqrt(alone[:, None] + _GRID**2 * effect[:, None]), np.sqrt(alone + drawn**2 * effect)
    fixed = at < 1e-9
    sd[fixed], at[fixed] = 1.0, 1.0
    low, high = np.zeros(len(at)), 20 * at
    for _ in range(50):
        middle = (low + high) / 2
        enough = (2 * norm.cdf(middle[:, None] / sd) - 1) @ _likelihood() >= CERTAINTY
        low, high = np.where(enough, low, middle), np.where(enough, middle, high)
    return np.where(fixed, 1.0, high / (norm.ppf((1 + CERTAINTY) / 2) * at))


def compare_assumptions(models: Iterable[str] = NAMES) -> pd.Series:
    """Return how much wider bands would be if more than whole levels of rho departed as much (median over points).

    figure3 and figure4, with effects of each (d, rho) and (N, rho); tiles, accuracies by N and d with effects of
    each (N, d).
    """
    misfit, both = estimate_misfit(find_departures()).value, [("d", "ratio_pct"), ("N", "ratio_pct")]
    cases = {"figure3": (both[0], both), "figure4": (both[1], both), "tiles": (("N", "d"), [("N", "d")])}
    models, found = tuple(models), {}
    for name, (points, more) in cases.items():
        shares, ratios = np.array(_indicators(points), float), []
        for model in models:
            _, chance, reach = _given_sums(model, shares)
            extra = sum((_given_sums(model, shares, which)[2] ** 2).sum(axis=1) for which in more)
            ratios.append(np.sqrt(1 + misfit**2 * extra / (np.diag(chance) + misfit**2 * (reach**2).sum(axis=1))))
        found[name] = float(np.median(np.concatenate(ratios)))
    return pd.Series(found)


@cache
def _likelihood() -> np.ndarray:
    """Return the likelihood of each misfit in `_GRID`, their sum one."""
    departures = find_departures()
    loglik = np.array([log_likelihood(misfit, departures) for misfit in _GRID])
    weights = np.exp(loglik - loglik.max())
    return weights / weights.sum()


def _given_sums(
    model: str, shares: np.ndarray, effects: tuple[str, ...] = ("ratio_pct",)
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return expected accuracies of points, their covariance, and their change with effects, given a model's sums."""
    n, p, left = _response(model)
    weights, shares = n * p * (1 - p), shares / (shares @ n)[:, None]
    per_effect = np.array(_indicators(effects), float).T * weights[:, None]
    return shares @ (n * p), shares @ (left * weights) @ shares.T, shares @ left @ per_effect


@cache
def _response(model: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return answers per cell, the smoothest accuracies with a model's printed sums, and what the sums leave free."""
    recovered = recovered_from(load_counts(), model)
    rows, known = zip(*level_sums(model), strict=True)
    fixed, sums = np.column_stack([*rows, X[:, 3:]]), np.concatenate([known, recovered.T[3:]])
    p = expit(fixed @ maximise(fixed, recovered.n, sums)[0])
    weighted = (recovered.n * p * (1 - p))[:, None] * fixed
    # given the sums, a change of the cells leaves only what their fit does not take up
    return recovered.n, p, np.eye(len(p)) - weighted @ np.linalg.solve(fixed.T @ weighted, fixed.T)


@cache
def _indicators(columns: tuple[str, ...]) -> list[np.ndarray]:
    """Return for each combination of levels which of the 140 cells have it."""
    codes = GRID.groupby(list(columns)).ngroup().to_numpy()
    return [codes == code for code in range(codes.max() + 1)]
