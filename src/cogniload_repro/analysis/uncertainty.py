"""Profile-likelihood intervals of the capacity points and the trough along rho; Holm's method.

A capacity point is the load at which the linear predictor is zero. Fixing it at a value is one
linear constraint on the coefficients: the profile likelihood at that value is the maximum for the
same regression without intercept, with covariates measured from the point.
"""

from collections.abc import Callable, Sequence
from functools import cache, partial
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import chi2, norm

from cogniload_repro.analysis.differences import two_sided_p
from cogniload_repro.published import ALPHA
from cogniload_repro.regression.checks import check_cells
from cogniload_repro.regression.design import (
    NO_SLOPE,
    QUADRATIC_COLUMNS,
    grid_means,
    lay_out,
    many_points,
)
from cogniload_repro.regression.glm import QUADRATIC, Fit, fit_glm
from cogniload_repro.regression.identification import is_identified
from cogniload_repro.regression.likelihood import maximise
from cogniload_repro.regression.reconstructions import reconstructed_models

#: Power of a test against an effect of the size called detectable.
POWER = 0.8
#: Limits of the search for the ends of an interval (log10 statements, needle ratio, d).
_POINT_LIMITS = {"ecl50": (-30.0, 30.0), "nt50": (0.0, 1.0), "id50": (-300.0, 300.0)}
_TROUGH_LIMITS = (-10.0, 10.0)
#: The load on whose scale each capacity point is measured.
_LOAD_OF_POINT = {"ecl50": "log10_N", "nt50": "rho", "id50": "d"}
#: The range of rho in which the paper states that accuracy is lowest (section 3), nominal.
STATED_TROUGH = (0.25, 0.5)
#: The ends of the paper's grid, nominal ratios.
_LOWEST_RHO = 0.05
_HIGHEST_RHO = 0.95


class Quadratic(NamedTuple):
    """One model's fit of the paper's regression.

    By cell: covariates x (1, d, log10 N, rho, rho^2), k correct answers and n answers. ``means``
    are the means of the loads over the cells.
    """

    model: str
    x: np.ndarray
    k: np.ndarray
    n: np.ndarray
    fit: Fit
    means: dict[str, float]

    def loss(self, x: np.ndarray) -> float:
        """Return the likelihood-ratio statistic of the restricted regression on covariates x."""
        _, loglik = maximise(x, self.n, x.T @ self.k)
        return 2 * (self.fit.loglik - loglik)

    def loss_at(self, point: str, value: float) -> float:
        """Return the likelihood-ratio statistic of a value of a capacity point (log10 ECL50)."""
        distances = self.x[:, 1:] - place(point, value, self.means)[1:]
        return self.loss(distances)


def correct_holm(p: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return p-values adjusted by Holm's method; NaN stays NaN and does not count as a test.

    statsmodels' function takes 0.1 s per call, because it runs the garbage collector each time.
    """
    p = np.array(p, dtype=float)
    known = np.flatnonzero(np.isfinite(p))
    order = known[np.argsort(p[known], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    p[order] = np.minimum(np.maximum.accumulate(p[order] * factors), 1.0)
    return p


def count_separated(accuracies: Sequence[float], answers: int, level: float) -> int:
    """Return how many pairs of models would differ significantly, given their accuracies.

    Each model has the same number of ``answers``. Two-sample z tests of proportions with pooled
    variance, Holm-adjusted over the pairs.
    """
    first, second = np.array(list(combinations(accuracies, 2))).T
    pooled = (first + second) / 2
    error = np.sqrt(2 * pooled * (1 - pooled) / answers)
    p = two_sided_p((first - second) / error)
    return int((correct_holm(p) < level).sum())


def correct_within(table: pd.DataFrame, family: list[str]) -> np.ndarray:
    """Return the column p of a table, Holm-adjusted within each family of tests.

    A family is a set of rows with the same values in the columns ``family``.
    """
    groups = table.groupby(family, sort=False)["p"]
    return groups.transform(correct_holm).to_numpy(float)


def fit_quadratics(cells: pd.DataFrame) -> tuple[Quadratic, ...]:
    """Fit the paper's regression to every model and return the finite fits."""
    quadratics = []
    covered = cells[cells["total"] > 0]
    for model, counts in covered.groupby("model", sort=False, observed=True):
        fit = fit_glm(counts)
        if fit.status != "ok":
            continue
        x = lay_out(counts)[:, QUADRATIC_COLUMNS]
        k = counts["correct"].to_numpy(float)
        n = counts["total"].to_numpy(float)
        quadratics.append(Quadratic(model, x, k, n, fit, grid_means(counts)))
    return tuple(quadratics)


def capacity_intervals(cells: pd.DataFrame) -> pd.DataFrame:
    """Return each model's capacity points with profile-likelihood intervals.

    Parameters
    ----------
    cells : DataFrame
        Cells frame; models without a finite fit are left out.

    Returns
    -------
    DataFrame
        One row per model and point: model, point, se (of the decimal logarithm for ecl50),
        estimate, profile_low and profile_high (level 1 - `published.ALPHA`), and identified
        (whether the printed tables identify them). ECL50 is in statements, NT50 a fraction, ID50 in
        units of d. Numbers are NaN if the point does not exist; an end is infinite if the
        likelihood-ratio test rejects no value on that side (for NT50: none inside [0, 1]).

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
    reconstructed = reconstructed_models(cells)
    rows = []
    for quadratic in fit_quadratics(cells):
        model = quadratic.model
        counts = cells[cells["model"] == model]
        identified = model not in reconstructed or is_identified(counts, QUADRATIC)
        for point, limits in _POINT_LIMITS.items():
            estimate, se = estimate_point(quadratic.fit, quadratic.means, point)
            interval = np.full(3, np.nan)
            if np.isfinite(estimate):
                loss = partial(quadratic.loss_at, point)
                interval[:] = estimate, *_search_ends(loss, estimate, se, limits)
            if point == "ecl50":
                with np.errstate(over="ignore"):
                    interval = 10**interval
            rows.append((model, point, se, *interval, identified))
    columns = ["model", "point", "se", "estimate", "profile_low", "profile_high"]
    return pd.DataFrame(rows, columns=[*columns, "identified"])


def place(point: str, value: float, means: dict[str, float]) -> np.ndarray:
    """Return 1, d, log10 N, rho, rho^2 at a value of one load, the others at their means."""
    loads = means | {_LOAD_OF_POINT[point]: value}
    return np.array(
        [1.0, loads["d"], loads["log10_N"], loads["rho"], loads["rho"] ** 2]
    )


def estimate_point(
    fit: Fit, means: dict[str, float], point: str
) -> tuple[float, float]:
    """Return a capacity point of a fit and its standard error by the delta method.

    For ECL50 both refer to its decimal logarithm. Both are NaN if the point does not exist.
    """
    if fit.status != "ok":
        return np.nan, np.nan
    value = float(many_points(fit.coef[None], means)[point][0])
    _, slope_d, slope_N, slope_rho, curvature = fit.coef
    slopes = {
        "ecl50": slope_N,
        "id50": slope_d,
        "nt50": slope_rho + 2 * curvature * value,
    }
    at = place(point, value, means)
    se = np.sqrt(at @ fit.covariance @ at) / abs(slopes[point])
    return value, float(se)


def _search_ends(
    statistic: Callable[[float], float],
    value: float,
    step: float,
    bounds: tuple[float, float],
) -> tuple[float, float]:
    """Return the values below and above an estimate at which the likelihood-ratio test rejects."""
    low = _search_limit(statistic, value, -step, bounds[0])
    high = _search_limit(statistic, value, step, bounds[1])
    return low, high


def _search_limit(
    statistic: Callable[[float], float], value: float, step: float, bound: float
) -> float:
    """Return the value between an estimate and a bound at which the test begins to reject.

    It is infinite if the test rejects no value up to the bound. The statistic is compared with the
    quantile of chi-square with 1 df; growing strides bracket the root for Brent's method.
    """
    quantile = chi2.ppf(1 - ALPHA, 1)
    sign = np.sign(step)
    stride = min(abs(step), 1e6)
    statistic = cache(statistic)
    inside = outside = value
    while outside != bound and (outside == value or statistic(outside) <= quantile):
        inside = outside
        outside = sign * min(sign * outside + stride, sign * bound)
        stride *= 1.5
    if statistic(outside) <= quantile:
        return sign * np.inf
    return brentq(lambda at: statistic(at) - quantile, inside, outside, xtol=1e-10)


def trough_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the rho at which the quadratic fit turns, and Sasabuchi's test of a U shape.

    One row per model:

    - model
    - trough (rho at the turning point, a maximum if the curvature is negative), low, high (profile
      likelihood; infinite if unbounded); NaN if the curve turns beyond `_TROUGH_LIMITS` or nowhere
    - lowest (the tested ratio, nominal, at which the fit is lowest), inside (whether it is in
      `STATED_TROUGH`)
    - curvature (beta_rho2), slope_low, slope_high (log-odds per unit of rho, at 5% and 95%)
    - p_u (Sasabuchi's test: the larger of the one-sided p-values of a negative slope at 5% and a
      positive slope at 95%)
    """
    columns = ["model", "trough", "low", "high", "lowest", "inside", "curvature"]
    columns += ["slope_low", "slope_high", "p_u"]
    ratios = np.sort(cells["ratio_pct"].unique()) / 100
    rows = []
    for quadratic in fit_quadratics(cells):
        linear, curvature = quadratic.fit.coef[3:]
        lowest = ratios[np.argmin(linear * ratios + curvature * ratios**2)]
        is_inside = STATED_TROUGH[0] <= lowest <= STATED_TROUGH[1]
        slope_low = linear + 2 * curvature * _LOWEST_RHO
        slope_high = linear + 2 * curvature * _HIGHEST_RHO
        p_fall = norm.cdf(slope_low / _slope_error(quadratic, _LOWEST_RHO))
        p_rise = norm.sf(slope_high / _slope_error(quadratic, _HIGHEST_RHO))
        shape = [lowest, is_inside, curvature, slope_low, slope_high]
        interval = _find_trough(quadratic)
        rows.append((quadratic.model, *interval, *shape, max(p_fall, p_rise)))
    return pd.DataFrame(rows, columns=columns)


def _find_trough(quadratic: Quadratic) -> tuple[float, float, float]:
    """Return the turning point of the fitted curve along rho with its interval, or NaN."""
    linear, curvature = quadratic.fit.coef[3:]
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        trough = -linear / (2 * curvature)
    if abs(curvature) < NO_SLOPE or not _TROUGH_LIMITS[0] < trough < _TROUGH_LIMITS[1]:
        return np.nan, np.nan, np.nan

    def loss_at(rho: float) -> float:
        distance = quadratic.x[:, 3] - rho
        return quadratic.loss(np.column_stack([quadratic.x[:, :3], distance**2]))

    step = _slope_error(quadratic, trough) / abs(2 * curvature)
    return trough, *_search_ends(loss_at, trough, step, _TROUGH_LIMITS)


def _slope_error(quadratic: Quadratic, rho: float) -> float:
    """Return the standard error of the fitted slope along rho at one value of rho."""
    weights = np.array([1, 2 * rho])
    return float(np.sqrt(weights @ quadratic.fit.covariance[3:, 3:] @ weights))
