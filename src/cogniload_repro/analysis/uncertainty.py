"""Profile-likelihood intervals of the capacity points; the trough along rho; Holm's method.

A capacity point is the load at which the linear predictor is zero. Fixing it at a value is one
linear constraint on the coefficients: the profile likelihood at that value is the maximum for the
same regression without intercept, with covariates measured from the point.
"""

from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.stats import chi2, norm

from cogniload_repro.analysis.differences import QUANTILE
from cogniload_repro.published import ALPHA
from cogniload_repro.regression.capacity import POINTS, find_points
from cogniload_repro.regression.checks import check_cells
from cogniload_repro.regression.design import grid_means
from cogniload_repro.regression.formulas import QUADRATIC
from cogniload_repro.regression.glm import Fit, fit_finite
from cogniload_repro.regression.likelihood import maximise

#: Power of a test against an effect of the size called detectable.
POWER = 0.8
_ENDS = ["estimate", "profile_low", "profile_high"]
#: The range of rho in which the paper states that accuracy is lowest (section 3), nominal.
STATED_TROUGH = (0.25, 0.5)
#: The ends of the paper's grid, nominal ratios.
_LOWEST_RHO = 0.05
_HIGHEST_RHO = 0.95
#: Curvatures up to this size are rounding error.
_NO_CURVATURE = 1e-9


def correct_holm(p: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return p-values adjusted by Holm's method; NaN stays NaN and does not count as a test.

    statsmodels' function takes 0.1 s per call, because it runs the garbage collector each time.
    """
    p = np.array(p, dtype=float)
    known = np.flatnonzero(np.isfinite(p))
    order = known[np.argsort(p[known], kind="stable")]
    factors = np.arange(len(order), 0, -1)
    adjusted = np.maximum.accumulate(p[order] * factors)
    p[order] = np.minimum(adjusted, 1.0)
    return p


def correct_within(
    table: pd.DataFrame,
    family: list[str],
) -> np.ndarray:
    """Return the column p of a table, Holm-adjusted within each family of tests.

    A family is a set of rows with the same values in the columns ``family``.
    """
    groups = table.groupby(family, sort=False)["p"]
    return groups.transform(correct_holm).to_numpy(float)


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
    fits = fit_finite(check_cells(cells, QUADRATIC))
    tables = []
    for point in POINTS:
        table = find_points(fits, point).rename(columns={"value": "estimate"})
        table.insert(0, "model", [fit.model for fit in fits])
        table.insert(1, "point", point)
        table["identified"] = [fit.identified for fit in fits]
        ends = []
        for fit, row in zip(fits, table.itertuples(), strict=True):
            ends.append(_profile(fit, point, row.estimate, row.se))
        limits = np.reshape(ends, (-1, 2))
        table["profile_low"] = limits[:, 0]
        table["profile_high"] = limits[:, 1]
        if point == "ecl50":
            with np.errstate(over="ignore"):
                table[_ENDS] = 10 ** table[_ENDS]
        tables.append(table)
    columns = [
        "model",
        "point",
        "se",
        *_ENDS,
        "identified",
    ]
    by_model = pd.concat(tables).sort_index(kind="stable")
    return by_model[columns].reset_index(drop=True)


def _profile(
    fit: Fit,
    point: str,
    value: float,
    se: float,
) -> tuple[float, float]:
    """Return the ends of a profile-likelihood interval, NaN if there is no such point."""
    if np.isnan(value):
        return np.nan, np.nan
    load, limits = POINTS[point]
    means = grid_means(fit.cells)
    covariates = fit.design.x[:, 1:]

    @cache
    def statistic(value: float) -> float:
        loads = means | {load: value}
        rho = loads["rho"]
        origin = np.array([loads["d"], loads["log10_N"], rho, rho**2])
        x = covariates - origin
        _, loglik = maximise(x, fit.answers, x.T @ fit.correct)
        return 2 * (fit.loglik - loglik)

    low = _search_limit(statistic, value, -se, limits[0])
    high = _search_limit(statistic, value, se, limits[1])
    return low, high


def _search_limit(
    statistic: Callable[[float], float],
    value: float,
    step: float,
    bound: float,
) -> float:
    """Return the value between an estimate and a bound at which the test begins to reject.

    It is infinite if the test rejects no value up to the bound. The statistic is compared with the
    quantile of chi-square with 1 df; growing strides bracket the root for Brent's method.
    """
    quantile = chi2.ppf(1 - ALPHA, 1)
    sign = np.sign(step)
    stride = min(abs(step), 1e6)
    outside = value
    rejects = False
    while not rejects:
        if outside == bound:
            return sign * np.inf
        inside = outside
        outside = sign * min(sign * inside + stride, sign * bound)
        stride *= 1.5
        rejects = statistic(outside) > quantile

    def above_quantile(value: float) -> float:
        return statistic(value) - quantile

    return brentq(above_quantile, inside, outside, xtol=1e-10)


def trough_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the rho at which the quadratic fit turns, and Sasabuchi's test of a U shape.

    One row per model:

    - model
    - trough (rho at the turning point, a maximum if the curvature is negative; NaN without one)
    - lowest (the tested ratio, nominal, at which the fit is lowest), inside (whether it is in
      `STATED_TROUGH`)
    - within (whether the fit falls significantly at the lower end of `STATED_TROUGH` and rises at
      the upper one), beyond (whether it rises at the lower end or falls at the upper one); tests of
      level `published.ALPHA`, two-sided; both False if the fit is not identified
    - p_u (Sasabuchi's test: the larger of the one-sided p-values of a negative slope at 5% and a
      positive slope at 95%; NaN if the fit is not identified)
    """
    ratios = np.sort(cells["ratio_pct"].unique()) / 100
    start, end = STATED_TROUGH
    rows = []
    for fit in fit_finite(cells):
        linear, curvature = fit.coef[3:]
        log_odds = linear * ratios + curvature * ratios**2
        lowest = ratios[log_odds.argmin()]
        trough = np.nan
        if abs(curvature) > _NO_CURVATURE:
            trough = -linear / (2 * curvature)
        first, at_start, at_end, last = (
            _test_slope(fit, rho) for rho in (_LOWEST_RHO, start, end, _HIGHEST_RHO)
        )
        rows.append(
            {
                "model": fit.model,
                "trough": trough,
                "lowest": lowest,
                "inside": start <= lowest <= end,
                "within": at_start < -QUANTILE and at_end > QUANTILE,
                "beyond": at_start > QUANTILE or at_end < -QUANTILE,
                "p_u": max(norm.cdf(first), norm.sf(last)),
            }
        )
    columns = ["model", "trough", "lowest", "inside", "within", "beyond", "p_u"]
    return pd.DataFrame(rows, columns=columns)


def _test_slope(fit: Fit, rho: float) -> float:
    """Return z of the slope along rho at one ratio, NaN if the fit is not identified."""
    if not fit.identified:
        return np.nan
    weights = np.array([1.0, 2 * rho])
    slope = weights @ fit.coef[3:]
    variance = weights @ fit.covariance[3:, 3:] @ weights
    return slope / np.sqrt(variance)
