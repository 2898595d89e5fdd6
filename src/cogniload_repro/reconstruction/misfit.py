"""How far accuracies lie from what the paper's sums say of them, estimated where the paper prints both.

Tables 3 to 6 fix a model's sums. The most even accuracies with these sums change smoothly along rho, and the prose
states some accuracies there; the regression's sums alone are smooth along d and N too, and Tables 4 and 5 print every
level of them. What is printed departs from the smooth by more than chance: as if each level of a load had an easiness
of its own, normal with one standard deviation on the log-odds scale, the misfit.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import brentq, minimize_scalar
from scipy.special import expit
from scipy.stats import chi2, norm

from cogniload_repro.models import BY_NAME
from cogniload_repro.published import correct_by
from cogniload_repro.reconstruction.constraints import PROSE_RATIOS, level_sums, prose_along_rho
from cogniload_repro.reconstruction.sufficient import recovered_from
from cogniload_repro.statistics.design import GRID, X
from cogniload_repro.statistics.likelihood import maximise

#: Intervals and predictions hold with this probability.
CERTAINTY = 0.95
#: The loads whose levels can depart, and where their departures are printed.
LOADS = {"ratio_pct": "prose", "d": "Table 4", "N": "Table 5"}

_WIDEST = 3.0  # log-odds; no estimate is sought beyond


@dataclass(frozen=True)
class Departures:
    """Accuracies that a model's sums do not fix, as printed and as expected of a smooth response.

    Attributes
    ----------
    model : str
    levels : tuple of int
        Level of the load that each accuracy is of.
    printed, expected : ndarray, shape (m,)
        Fractions.
    chance : ndarray, shape (m, m)
        Covariance of the printed around the expected by chance and rounding, given the sums.
    reach : ndarray, shape (m, q)
        By how much each accuracy changes with the log-odds of each level, given the sums.
    """

    model: str
    levels: tuple[int, ...]
    printed: np.ndarray
    expected: np.ndarray
    chance: np.ndarray
    reach: np.ndarray

    def covariance(self, misfit: float) -> np.ndarray:
        """Return the covariance of the printed around the expected, for a misfit (log-odds)."""
        return self.chance + misfit**2 * self.reach @ self.reach.T


@dataclass(frozen=True)
class Misfit:
    """The misfit of highest likelihood (log-odds), its 95% interval by likelihood ratio, and that ratio against none.

    ``ratio`` is twice the difference of the log-likelihoods; ``numbers`` says how many printed numbers it rests on.
    """

    value: float
    low: float
    high: float
    ratio: float
    numbers: int


def find_departures(cells: pd.DataFrame, load: str = "ratio_pct") -> list[Departures]:
    """Return what is printed of the levels of a load, for each model of which something is.

    Parameters
    ----------
    cells : DataFrame
        The reconstructed cells; only sums that the paper's tables fix are taken from them.
    load : str
        A key of `LOADS`. Along rho the sums are those of Tables 3 to 6; along d and N those of the regression, and the
        levels that follow from the others are left out.
    """
    found = [_depart(cells, model, load) for model in dict.fromkeys(cells["model"])]
    return [one for one in found if len(one.levels)]


def log_likelihood(misfit: float, departures: Sequence[Departures]) -> float:
    """Return the log-likelihood of a misfit (log-odds), up to a constant."""
    total = 0.0
    for one in departures:
        covariance, gap = one.covariance(misfit), one.printed - one.expected
        total -= (gap @ np.linalg.solve(covariance, gap) + np.linalg.slogdet(covariance)[1]) / 2
    return total


def estimate_misfit(departures: Sequence[Departures]) -> Misfit:
    """Estimate one misfit for all departures by maximum likelihood.

    Raises
    ------
    ValueError
        If there are no departures.
    """
    if not departures:
        raise ValueError("no accuracy is printed that the sums do not fix; the misfit needs models of the paper")
    best = minimize_scalar(lambda misfit: -log_likelihood(misfit, departures), bounds=(0, _WIDEST), method="bounded")
    highest = max(-best.fun, log_likelihood(0.0, departures))
    value = float(best.x) if -best.fun >= highest else 0.0
    drop = chi2.ppf(CERTAINTY, 1) / 2

    def above(misfit: float) -> float:
        return log_likelihood(misfit, departures) - highest + drop

    return Misfit(
        value,
        0.0 if above(0.0) >= 0 else float(brentq(above, 0.0, value)),
        float(brentq(above, value, _WIDEST)),
        2 * (highest - log_likelihood(0.0, departures)),
        sum(len(one.levels) for one in departures),
    )


def estimate_by_load(cells: pd.DataFrame) -> pd.DataFrame:
    """Estimate the misfit of each load, of the open models, of the others and of all.

    Returns
    -------
    DataFrame
        Columns load, models (open, API, all), numbers (how many printed numbers it rests on), value, low, high
        (log-odds), ratio.
    """
    rows = []
    for load in LOADS:
        departures = find_departures(cells, load)
        is_open = [BY_NAME[one.model].puzzles_per_cell == 100 for one in departures]
        for models, wanted in (("open", {True}), ("API", {False}), ("all", {True, False})):
            found = estimate_misfit([one for one, kind in zip(departures, is_open, strict=True) if kind in wanted])
            rows.append((load, models, found.numbers, found.value, found.low, found.high, found.ratio))
    return pd.DataFrame(rows, columns=["load", "models", "numbers", "value", "low", "high", "ratio"])


def predict_left_out(departures: Sequence[Departures]) -> pd.DataFrame:
    """Predict each printed accuracy from all the others, without misfit and with one estimated without it.

    Returns
    -------
    DataFrame
        One row a printed accuracy: model, level, printed, misfit (estimated from the others), and for each of the two
        ways expected, sd and z (names end in ``_smooth`` without misfit); inside (printed within the 95% prediction).
    """
    rows = []
    for place, one in enumerate(departures):
        for at in range(len(one.levels)):
            others = [*departures[:place], _without(one, at), *departures[place + 1 :]]
            misfit = estimate_misfit([other for other in others if len(other.levels)]).value
            smooth, rough = (_left_out(one, at, spread) for spread in (0.0, misfit))
            inside = abs(rough[2]) <= norm.ppf((1 + CERTAINTY) / 2)
            rows.append((one.model, one.levels[at], one.printed[at], *smooth, misfit, *rough, inside))
    columns = ["expected_smooth", "sd_smooth", "z_smooth", "misfit", "expected", "sd", "z", "inside"]
    return pd.DataFrame(rows, columns=["model", "level", "printed", *columns])


def _depart(cells: pd.DataFrame, model: str, load: str) -> Departures:
    recovered = recovered_from(cells, model)
    n = recovered.n
    if load == "ratio_pct":
        claims = prose_along_rho(model)
        claims = claims[claims["condition"].isin(PROSE_RATIOS)]
        levels = [PROSE_RATIOS[condition] for condition in claims["condition"]]
        printed, rounding = claims["value"].to_numpy(float), 0.01**2 / 12
        rows, known = zip(*level_sums(model), strict=True)
        fixed, sums = np.column_stack([*rows, X[:, 3:]]), np.concatenate([known, recovered.T[3:]])
    else:
        own = correct_by({"d": "table4", "N": "table5"}[load])
        own = own[own["model"] == model].iloc[:-2]  # those of 1 and the load are fixed: two levels follow
        levels, printed, rounding = own[load].tolist(), (own["correct"] / own["samples"]).to_numpy(float), 0.0
        fixed, sums = X, recovered.T
    if not levels:
        none = np.zeros(0)
        return Departures(model, (), none, none, np.zeros((0, 0)), np.zeros((0, GRID[load].nunique())))
    coefficients, _ = maximise(fixed, n, sums)
    p = expit(fixed @ coefficients)
    weights = n * p * (1 - p)
    shares = np.array([(GRID[load] == level) * n for level in levels], float)
    shares = np.where(shares > 0, 1.0, 0.0) / shares.sum(axis=1)[:, None]
    # given the sums, a change of the cells leaves only what their fit does not take up
    left = np.eye(len(n)) - (weights[:, None] * fixed) @ np.linalg.solve(fixed.T @ (weights[:, None] * fixed), fixed.T)
    per_level = (GRID[load].to_numpy()[:, None] == GRID[load].unique()) * weights[:, None]
    chance = shares @ (left * weights) @ shares.T + rounding * np.eye(len(levels))
    return Departures(model, tuple(levels), printed, shares @ (n * p), chance, shares @ left @ per_level)


def _without(one: Departures, at: int) -> Departures:
    kept = [place for place in range(len(one.levels)) if place != at]
    levels = tuple(one.levels[place] for place in kept)
    return Departures(
        one.model, levels, one.printed[kept], one.expected[kept], one.chance[np.ix_(kept, kept)], one.reach[kept]
    )


def _left_out(one: Departures, at: int, misfit: float) -> tuple[float, float, float]:
    """Return mean, standard deviation and z-score of one accuracy, given the model's others."""
    precision = np.linalg.inv(one.covariance(misfit))
    sd = precision[at, at] ** -0.5
    away = float((precision @ (one.printed - one.expected))[at] * sd**2)
    return float(one.printed[at]) - away, float(sd), float(away / sd)
