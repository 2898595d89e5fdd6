"""Interactions of two loads at the tested levels of the third load: simple slopes.

Appendix B tests an interaction of two loads with the third at zero (rho = 0, log10 N = 0, d = 0),
which no puzzle has. A simple slope is the same interaction, from the same fit, at a level of the
grid. The printed tables identify simple slopes and the arms of the fitted curve along rho.
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import norm

from cogniload_repro.analysis.differences import QUANTILE, two_sided_p
from cogniload_repro.analysis.uncertainty import POWER, correct_within
from cogniload_repro.regression.design import lay_out
from cogniload_repro.regression.fits import PRODUCT_TERMS
from cogniload_repro.regression.glm import INTERACTIONS, SYMBOLS, Fit, fit_glm

#: Terms of the products of loads, by Table 3's names.
TERMS = {SYMBOLS[term]: term for term in PRODUCT_TERMS}
#: The load at whose levels a product of two loads is a simple slope.
THIRD = {"dN": "rho", "drho": "N", "Nrho": "d"}
#: Level of the third load at which Table 3 tests a product of two: zero, for log10 N at N = 1.
ORIGIN = {"rho": 0.0, "N": 1.0, "d": 0.0}
#: The two arms of the fitted curve along rho.
ARMS = ("fall", "rise")
_LEVEL_KEYS = ["term", "third", "level", "tested"]
#: Points of the curve along rho.
_CURVE_POINTS = 181
#: Step of the numerical derivative of an arm, in standard errors of a coefficient.
_STEP = 1e-3


def simple_slopes(
    cells: pd.DataFrame, formula: str = INTERACTIONS, family: str = "logit"
) -> pd.DataFrame:
    """Return the interaction of two loads at each tested level of the third and at its origin.

    One row per model with a finite fit, product of two loads in the formula and level: model, term
    (dN, drho, Nrho), third (rho, N or d), level (nominal fraction, statements, units of d), tested
    (False at the origin, where Table 3 tests), slope (log-odds per unit of both loads), se, p
    (two-sided Wald test), p_holm (adjusted over the models, per product and level) and detectable
    (the slope that a test at level `ALPHA` detects with power `POWER`).
    """
    levels = tested_levels(cells)
    tables = [pd.DataFrame(columns=["model", *_LEVEL_KEYS, "slope", "se"], dtype=float)]
    for model, counts in cells.groupby("model", sort=False, observed=True):
        fit = fit_glm(counts, formula, family)
        if fit.status == "ok":
            slopes = _slopes_of_fit(fit, levels)
            tables += [table.assign(model=model) for table in slopes]
    table = pd.concat(tables[1:] or tables, ignore_index=True)[list(tables[0])]
    table["p"] = two_sided_p(table["slope"] / table["se"])
    table["p_holm"] = correct_within(table, ["term", "level"])
    return table.assign(detectable=(QUANTILE + norm.ppf(POWER)) * table["se"])


def tested_levels(cells: pd.DataFrame) -> dict[str, list[float]]:
    """Return the levels of rho (nominal fraction), N and d in the cells, by load."""
    return {
        "rho": sorted(set(cells["ratio_pct"] / 100)),
        "N": sorted(set(cells["N"])),
        "d": sorted(set(cells["d"])),
    }


def _slopes_of_fit(fit: Fit, levels: dict[str, list[float]]) -> Iterator[pd.DataFrame]:
    """Yield the simple slopes of each product in a fit, at the origin and at each level.

    The slope of a product of two loads is its coefficient plus the third load times the coefficient
    of the product of all three.
    """
    terms = np.array([":".join(sorted(term.split(":"))) for term in fit.terms])
    is_triple = terms == TERMS["dNrho"]
    for term, third in THIRD.items():
        level = np.array([ORIGIN[third], *levels[third]], dtype=float)
        load = np.log10(level) if third == "N" else level
        weights = (terms == TERMS[term]) + np.outer(load, is_triple)
        if not weights.any():
            continue
        table = pd.DataFrame({"term": term, "third": third, "level": level})
        table["tested"] = table.index > 0
        table["slope"] = weights @ fit.coef
        table["se"] = np.sqrt(((weights @ fit.covariance) * weights).sum(axis=1))
        yield table


def count_slopes(slopes: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Count the models with a significant slope of each sign, Holm-adjusted.

    One row per product and level: term, third, level, tested, negative_holm and positive_holm.
    """
    counted = slopes[_LEVEL_KEYS].copy()
    is_significant = slopes["p_holm"] < alpha
    counted["negative_holm"] = is_significant & (slopes["slope"] < 0)
    counted["positive_holm"] = is_significant & (slopes["slope"] > 0)
    counts = counted.groupby(_LEVEL_KEYS, sort=False).sum().reset_index()
    return counts.astype({"tested": bool, "level": float})


def arms_of_the_u(cells: pd.DataFrame) -> pd.DataFrame:
    """Return how far fitted accuracy falls and rises along rho, at each level of d and of N.

    One row per model with a finite fit of Appendix B's regression, load (d, N) and level: model,
    load, level, fall (fraction, from the lowest rho of the grid to the trough) and rise (from the
    trough to the highest rho). The curve is the mean of fitted accuracies over the levels of the
    other load. The regression has the same curvature (log-odds) at all levels, so that differences
    between levels reflect a tilt of the curve, not its curvature.
    """
    tables = [pd.DataFrame(columns=["model", "load", "level", *ARMS])]
    for curves in _fitted_curves(cells):
        table = curves.levels.assign(model=curves.model)
        table[list(ARMS)] = curves.measure_arms(curves.fit.coef)
        tables.append(table)
    return pd.concat(tables[1:] or tables, ignore_index=True)[list(tables[0])]


def arm_changes(cells: pd.DataFrame) -> pd.DataFrame:
    """Test whether an arm of the fitted curve along rho differs between the ends of a load.

    One row per model with a finite fit of Appendix B's regression, load (d, N) and arm (fall,
    rise; see `arms_of_the_u`): model, load, arm, change (fraction: the arm at the highest level
    minus that at the lowest), se (delta method), p (two-sided) and p_holm (adjusted over the
    models, per load and arm).
    """
    rows = []
    for curves in _fitted_curves(cells):
        arms = curves.measure_arms(curves.fit.coef)
        gradients = curves.derive_arms()
        for load, levels in curves.levels.groupby("load", sort=False):
            lowest = levels.index[0]
            highest = levels.index[-1]
            for place, arm in enumerate(ARMS):
                change = arms[highest, place] - arms[lowest, place]
                gradient = gradients[:, highest, place] - gradients[:, lowest, place]
                se = np.sqrt(gradient @ curves.fit.covariance @ gradient)
                rows.append((curves.model, load, arm, change, se))
    table = pd.DataFrame(rows, columns=["model", "load", "arm", "change", "se"])
    table["p"] = two_sided_p(table["change"] / table["se"])
    table["p_holm"] = correct_within(table, ["load", "arm"])
    return table


class _Curves(NamedTuple):
    """The fitted curves along rho of one model, one for each level of d and one for each of N.

    ``levels`` has the load and the level of each curve; ``x`` the covariates at every level of d,
    level of N and point of rho, shape (levels of d, levels of N, points, coefficients).
    """

    model: str
    fit: Fit
    levels: pd.DataFrame
    x: np.ndarray

    def measure_arms(self, coef: np.ndarray) -> np.ndarray:
        """Return fall and rise of each curve at given coefficients, shape (curves, 2)."""
        accuracy = expit(self.x @ coef)
        by_difficulty = accuracy.mean(axis=1)
        by_length = accuracy.mean(axis=0)
        curves = np.concatenate([by_difficulty, by_length])
        troughs = curves.min(axis=1, keepdims=True)
        return curves[:, [0, -1]] - troughs

    def derive_arms(self) -> np.ndarray:
        """Return the arms' central differences by coefficient, shape (coefficients, curves, 2)."""
        gradients = []
        for step in np.diag(_STEP * self.fit.se):
            above = self.measure_arms(self.fit.coef + step)
            below = self.measure_arms(self.fit.coef - step)
            gradients.append((above - below) / (2 * step.max()))
        return np.array(gradients)


def _fitted_curves(cells: pd.DataFrame) -> Iterator[_Curves]:
    """Yield the curves of each model with a finite fit of Appendix B's regression."""
    shares = cells["ratio_pct"] / 100
    rho = np.linspace(shares.min(), shares.max(), _CURVE_POINTS)
    for model, counts in cells.groupby("model", sort=False, observed=True):
        fit = fit_glm(counts, INTERACTIONS)
        if fit.status == "ok":
            yield _lay_curves(str(model), fit, counts, rho)


def _lay_curves(model: str, fit: Fit, cells: pd.DataFrame, rho: np.ndarray) -> _Curves:
    """Return the curves of a fit along rho at the levels of its cells."""
    d_levels = np.sort(cells["d"].unique())
    N_levels = np.sort(cells["N"].unique())
    loads = [d_levels, N_levels, rho]
    points = pd.MultiIndex.from_product(loads, names=["d", "N", "rho"])
    x = lay_out(points.to_frame(index=False))
    by_difficulty = pd.DataFrame({"load": "d", "level": d_levels.astype(float)})
    by_length = pd.DataFrame({"load": "N", "level": N_levels.astype(float)})
    levels = pd.concat([by_difficulty, by_length], ignore_index=True)
    shape = (len(d_levels), len(N_levels), len(rho), x.shape[1])
    return _Curves(model, fit, levels, x.reshape(shape))
