"""Intervals of the capacity points and of the trough along rho, and many tests at once.

A capacity point is the load at which the linear predictor is zero. Held at a value it is one linear constraint on
the coefficients, so that a profile likelihood needs no more than the same regression without intercept on covariates
measured from that point.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit
from scipy.stats import chi2, norm

from cogniload_repro.published import ALPHA
from cogniload_repro.statistics.checks import check_cells
from cogniload_repro.statistics.design import NO_SLOPE, grid_means, lay_out, many_points
from cogniload_repro.statistics.likelihood import maximise
from cogniload_repro.statistics.reconstructions import reconstructed_models
from cogniload_repro.statistics.regression import QUADRATIC, Fit, fit_glm, is_identified

POINTS = ("ecl50", "nt50", "id50")
#: Probability with which an effect of the size called detectable is found.
POWER = 0.8
#: Where the search for an end of an interval stops: log10 statements, fraction of needles, units of d.
_BOUNDS = {"ecl50": (-30.0, 30.0), "nt50": (0.0, 1.0), "id50": (-300.0, 300.0)}
_TROUGH_BOUNDS = (-10.0, 10.0)
#: Intervals that this process has found, by point and counts: chapters and their verdicts ask for many again.
_INTERVALS: dict[tuple, tuple[float, float]] = {}
_TROUGHS = [
    "model",
    "trough",
    "low",
    "high",
    "lowest",
    "inside",
    "curvature",
    "slope_low",
    "slope_high",
    "p_u",
]
_ENDS = (0.05, 0.95)  # nominal ratios at the ends of the paper's grid


class Quadratic(NamedTuple):
    """A model's fit of the paper's specification: x (1, d, log10 N, rho, rho^2) and k of n correct, by cell; means."""

    model: str
    x: np.ndarray
    k: np.ndarray
    n: np.ndarray
    fit: Fit
    means: dict[str, float]

    @property
    def accuracy(self) -> np.ndarray:
        """Fitted accuracy of each cell."""
        return expit(self.x @ self.fit.coef)

    @property
    def points(self) -> dict[str, float]:
        """Capacity points, ECL50 as log10; NaN where there is none."""
        return {
            point: float(values[0])
            for point, values in many_points(self.fit.coef[None], self.means).items()
        }

    def loss(self, x: np.ndarray) -> float:
        """Return twice the log-likelihood lost with other covariates."""
        return 2 * (self.fit.loglik - maximise(x, self.n, x.T @ self.k)[1])

    def loss_at(self, point: str, value: float) -> float:
        """Return twice the log-likelihood lost when a capacity point is held at a value (log10 for ECL50)."""
        return self.loss(self.x[:, 1:] - place(point, value, self.means)[1:])


def correct_holm(p: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return p-values adjusted after Holm; unknown ones stay so and do not count (statsmodels' takes 0.1 s a call)."""
    p = np.array(p, dtype=float)
    known = np.flatnonzero(np.isfinite(p))
    order = known[np.argsort(p[known], kind="stable")]
    p[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1.0)
    return p


def correct_within(table: pd.DataFrame, family: list[str], p: str = "p") -> np.ndarray:
    """Return a column of p-values corrected within each family, the rows with the same values in some columns."""
    return table.groupby(family, sort=False)[p].transform(correct_holm).to_numpy(float)


def fit_quadratics(cells: pd.DataFrame) -> tuple[Quadratic, ...]:
    """Return the paper's regression of every model whose fit exists, in the order of the cells."""
    found = []
    for model, own in cells[cells["total"] > 0].groupby("model", sort=False, observed=True):
        if (fit := fit_glm(own)).status == "ok":
            k, n = own["correct"].to_numpy(float), own["total"].to_numpy(float)
            found.append(Quadratic(model, lay_out(own)[:, :5], k, n, fit, grid_means(own)))
    return tuple(found)


def capacity_intervals(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the capacity points with profile-likelihood intervals.

    Parameters
    ----------
    cells : DataFrame
        Cells frame; models without a finite fit are left out.

    Returns
    -------
    DataFrame
        One row per model and point: model, point, se (of the decimal logarithm for ecl50), estimate, profile_low and
        profile_high (of level 1 - `published.ALPHA`), and identified (whether the printed tables fix them). ECL50 in
        statements, NT50 as a fraction, ID50 in units of d; NaN where the point does not exist, infinite where the
        likelihood sets no limit (for NT50: none inside [0, 1]).

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> intervals = cl.intervals(cl.load_cells(models=["QwQ-32B"]))
    >>> intervals[["point", "estimate", "profile_low", "profile_high"]].round(2)
       point  estimate  profile_low  profile_high
    0  ecl50     47.96        44.20         51.98
    1   nt50      0.95         0.92          0.99
    2   id50      3.56         3.21          3.90
    """
    cells = check_cells(cells, QUADRATIC)
    reconstructed, rows = set(reconstructed_models(cells)), []
    for quadratic in fit_quadratics(cells):
        own = cells[cells["model"] == quadratic.model]
        identified = quadratic.model not in reconstructed or is_identified(own, QUADRATIC)
        for point, estimate in quadratic.points.items():
            ends = [estimate, *profile_interval(quadratic, point)]
            if point == "ecl50":
                with np.errstate(over="ignore"):
                    ends = [float(np.float64(10) ** end) for end in ends]
            rows.append(
                (quadratic.model, point, standard_error(quadratic, point), *ends, identified)
            )
    columns = ["model", "point", "se", "estimate", "profile_low", "profile_high", "identified"]
    return pd.DataFrame(rows, columns=columns)


def place(point: str, value: float, means: dict[str, float]) -> np.ndarray:
    """Return 1, d, log10 N, rho, rho^2 where one load has a value and the others are at their means."""
    held = means | {{"ecl50": "log10_N", "id50": "d", "nt50": "rho"}[point]: value}
    return np.array([1.0, held["d"], held["log10_N"], held["rho"], held["rho"] ** 2])


def standard_error(quadratic: Quadratic, point: str) -> float:
    """Return the standard error of a capacity point by the delta method; of log10 for ECL50."""
    value, (_, bd, bN, br, br2) = quadratic.points[point], quadratic.fit.coef
    at = place(point, value, quadratic.means)
    slope = {"ecl50": bN, "id50": bd, "nt50": br + 2 * br2 * value}[point]
    return float(np.sqrt(at @ quadratic.fit.covariance @ at) / abs(slope))


def profile_interval(quadratic: Quadratic, point: str) -> tuple[float, float]:
    """Return the values around a capacity point (for NT50 the largest root in [0, 1]) that the test does not reject.

    An end that is not reached inside the bounds is infinite. NaN if the point does not exist.
    """
    if not np.isfinite(value := quadratic.points[point]):
        return np.nan, np.nan
    key = point, *(part.tobytes() for part in quadratic[1:4])
    if key not in _INTERVALS:
        step = standard_error(quadratic, point)
        _INTERVALS[key] = _search(partial(quadratic.loss_at, point), value, step, _BOUNDS[point])
    return _INTERVALS[key]


def _search(
    statistic: Callable[[float], float], value: float, step: float, bounds: tuple[float, float]
) -> tuple[float, float]:
    """Return the ends of the range around a value in which a statistic stays below the chi-square quantile."""
    limit, ends, statistic = chi2.ppf(1 - ALPHA, 1), [], cache(statistic)
    for sign, bound in zip((-1, 1), bounds, strict=True):
        inner = outer = value
        stride = min(step, 1e6)
        while outer != bound and (outer == value or statistic(outer) <= limit):
            inner, outer = outer, sign * min(sign * outer + stride, sign * bound)
            stride *= 1.5
        inside = statistic(outer) <= limit
        ends.append(
            sign * np.inf
            if inside
            else brentq(lambda at: statistic(at) - limit, inner, outer, xtol=1e-10)
        )
    return ends[0], ends[1]


def trough_table(cells: pd.DataFrame, stated: tuple[float, float] = (0.25, 0.5)) -> pd.DataFrame:
    """Return where along rho the quadratic fit is lowest, and whether there is a U at all.

    One row per model: model, trough (fraction; of a maximum if curvature is negative), low, high
    (profile likelihood, infinite if unlimited; these three are NaN for a curve so straight that it
    turns nowhere near the tested ratios, or not at all), lowest (of the tested ratios, nominal, the
    one at which the fit is lowest), inside (whether that is a stated one), curvature (beta_rho2),
    slope_low, slope_high (log-odds per unit of rho at 5% and 95%), p_u (Sasabuchi's test: the larger
    of the one-sided p-values of a fall at the low end and a rise at the high end).
    """
    ratios = np.sort(cells["ratio_pct"].unique()) / 100
    rows = []
    for quadratic in fit_quadratics(cells):
        linear, curvature = quadratic.fit.coef[3:]
        trough, low, high = _find_trough(quadratic)
        lowest = ratios[np.argmin(linear * ratios + curvature * ratios**2)]
        slopes = [linear + 2 * curvature * rho for rho in _ENDS]
        z_low, z_high = (
            slope / _slope_error(quadratic, rho) for slope, rho in zip(slopes, _ENDS, strict=True)
        )
        p_u = max(norm.cdf(z_low), norm.sf(z_high))
        is_inside = stated[0] <= lowest <= stated[1]
        rows.append(
            (quadratic.model, trough, low, high, lowest, is_inside, curvature, *slopes, p_u)
        )
    return pd.DataFrame(rows, columns=_TROUGHS)


def _find_trough(quadratic: Quadratic) -> tuple[float, float, float]:
    """Return the rho at which the fitted curve turns, with its interval; NaN if it does not."""
    linear, curvature = quadratic.fit.coef[3:]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        trough = -linear / (2 * curvature)
    if abs(curvature) < NO_SLOPE or not _TROUGH_BOUNDS[0] < trough < _TROUGH_BOUNDS[1]:
        return np.nan, np.nan, np.nan

    def loss_at(rho: float) -> float:
        distance = quadratic.x[:, 3] - rho
        return quadratic.loss(np.column_stack([quadratic.x[:, :3], distance**2]))

    step = _slope_error(quadratic, trough) / abs(2 * curvature)
    return trough, *_search(loss_at, trough, step, _TROUGH_BOUNDS)


def _slope_error(quadratic: Quadratic, rho: float) -> float:
    """Return the standard error of the fitted slope along rho, at one value of rho."""
    weights = np.array([1, 2 * rho])
    return float(np.sqrt(weights @ quadratic.fit.covariance[3:, 3:] @ weights))
