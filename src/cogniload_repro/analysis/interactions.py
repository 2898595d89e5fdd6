"""Interactions of two loads at the levels of the third load that were tested.

Appendix B tests an interaction where the third load is zero (rho = 0, N = 1, d = 0), which no
puzzle has. A simple slope is the same interaction, of the same fit, at a level of the grid. The
printed tables identify simple slopes and the arms of the fitted curve along rho.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import norm

from cogniload_repro.analysis.uncertainty import POWER, correct_within
from cogniload_repro.published import ALPHA
from cogniload_repro.regression.fits import PRODUCT_TERMS
from cogniload_repro.regression.glm import INTERACTIONS, SYMBOLS, Fit, fit_glm

#: Products of loads by the names of Table 3.
TERMS = {SYMBOLS[term]: term for term in PRODUCT_TERMS}
#: The load at whose levels a product of two loads is a simple slope.
THIRD = {"dN": "rho", "drho": "N", "Nrho": "d"}
#: Where Table 3 tests a product of two loads: the third load at zero, which for log10 N is N = 1.
ORIGIN = {"rho": 0.0, "N": 1.0, "d": 0.0}
#: The two arms of the fitted curve along rho.
ARMS = ("fall", "rise")
_LEVEL = ["term", "third", "level", "tested"]
_SLOPES = ["model", *_LEVEL, "slope", "se"]
#: Points of the curve along rho.
_CURVE_POINTS = 181
#: Step of the numerical derivative of an arm, in standard errors of a coefficient.
_STEP = 1e-3


def simple_slopes(
    cells: pd.DataFrame, formula: str = INTERACTIONS, family: str = "logit"
) -> pd.DataFrame:
    """Return the interaction of two loads at each tested level of the third, and at its origin.

    One row per model with a finite fit, product of two loads in the formula and level: model, term
    (dN, drho, Nrho), third (rho, N or d), level (nominal fraction, statements, units of d), tested
    (False at the origin, where Table 3 tests), slope (log-odds per unit of both loads), se, p
    (two-sided Wald), p_holm (over the models, at this product and level) and detectable (the size
    of a slope that a test at `ALPHA` detects with power `POWER`).
    """
    levels = {
        "rho": np.sort(cells["ratio_pct"].unique()) / 100,
        "N": np.sort(cells["N"].unique()),
        "d": np.sort(cells["d"].unique()),
    }
    slopes = []
    for model, counts in cells.groupby("model", sort=False, observed=True):
        fit = fit_glm(counts, formula, family)
        if fit.status == "ok":
            slopes += [
                slope.assign(model=model) for slope in _slopes_of_fit(fit, levels)
            ]
    empty = pd.DataFrame(columns=_SLOPES).astype({"slope": float, "se": float})
    table = pd.concat(slopes or [empty], ignore_index=True)[_SLOPES]
    table["p"] = 2 * norm.sf(np.abs(table["slope"] / table["se"]))
    table["p_holm"] = correct_within(table, ["term", "level"])
    quantiles = norm.ppf(1 - ALPHA / 2) + norm.ppf(POWER)
    return table.assign(detectable=quantiles * table["se"])


def _slopes_of_fit(fit: Fit, levels: dict[str, np.ndarray]) -> Iterator[pd.DataFrame]:
    """Yield the simple slopes of each product that a fit has."""
    terms = np.array([":".join(sorted(term.split(":"))) for term in fit.terms])
    for term, third in THIRD.items():
        level = np.array([ORIGIN[third], *levels[third]], dtype=float)
        load = np.log10(level) if third == "N" else level
        weights = (terms == TERMS[term]) + np.outer(load, terms == TERMS["dNrho"])
        if not weights.any():
            continue
        slopes = pd.DataFrame({"term": term, "third": third, "level": level})
        slopes["tested"] = slopes.index > 0
        slopes["slope"] = weights @ fit.coef
        slopes["se"] = np.sqrt(((weights @ fit.covariance) * weights).sum(axis=1))
        yield slopes


def count_slopes(slopes: pd.DataFrame, alpha: float = ALPHA) -> pd.DataFrame:
    """Count the models with significant simple slopes by sign.

    One row per product and level: term, third, level, tested, negative and positive (models with p
    below alpha), negative_holm and positive_holm (after Holm's correction).
    """
    signs = {"negative": slopes["slope"] < 0, "positive": slopes["slope"] > 0}
    counted = slopes[_LEVEL].copy()
    for column, p in (("", "p"), ("_holm", "p_holm")):
        for sign, has_sign in signs.items():
            counted[sign + column] = has_sign & (slopes[p] < alpha)
    counts = counted.groupby(_LEVEL, sort=False).sum().reset_index()
    return counts.astype({"tested": bool, "level": float})


def arms_of_the_u(cells: pd.DataFrame) -> pd.DataFrame:
    """Return how far fitted accuracy falls and rises along rho, at each level of d and of N.

    One row per model with a finite fit of Appendix B's regression, load (d, N) and level: model,
    load, level, fall (fraction, from the lowest rho of the grid to the trough) and rise (from the
    trough to the highest rho). The curve is the mean of fitted accuracies over the levels of the
    other load. The regression has one curvature for all levels, so that differences between levels
    show a tilt of the curve.
    """
    tables = []
    for model, fit, grid in _fitted_curves(cells):
        table = grid.levels.assign(model=model)
        table[[*ARMS]] = grid.arms(fit.coef)
        tables.append(table)
    columns = ["model", "load", "level", *ARMS]
    return (
        pd.concat(tables, ignore_index=True)[columns]
        if tables
        else pd.DataFrame(columns=columns)
    )


def arm_changes(cells: pd.DataFrame) -> pd.DataFrame:
    """Test whether an arm of the fitted curve along rho is longer at the highest level of a load.

    One row per model with a finite fit of Appendix B's regression, load (d, N) and arm (fall,
    rise; see `arms_of_the_u`): model, load, arm, change (fraction: the arm at the highest level
    minus that at the lowest), se (delta method), p (two-sided) and p_holm (over the models, per
    load and arm).
    """
    rows = []
    for model, fit, grid in _fitted_curves(cells):
        gradients = grid.gradients(fit)
        arms = grid.arms(fit.coef)
        for load, levels in grid.levels.groupby("load", sort=False):
            low, high = levels.index[[0, -1]]
            for place, arm in enumerate(ARMS):
                gradient = gradients[:, high, place] - gradients[:, low, place]
                change = arms[high, place] - arms[low, place]
                se = np.sqrt(gradient @ fit.covariance @ gradient)
                rows.append((model, load, arm, change, se))
    table = pd.DataFrame(rows, columns=["model", "load", "arm", "change", "se"])
    table["p"] = 2 * norm.sf(np.abs(table["change"] / table["se"]))
    table["p_holm"] = correct_within(table, ["load", "arm"])
    return table


class _Curves:
    """The grid on which the fitted curves along rho of one model are computed."""

    def __init__(self, terms: tuple[str, ...], cells: pd.DataFrame, rho: np.ndarray):
        d = np.sort(cells["d"].unique()).astype(float)
        N = np.sort(cells["N"].unique()).astype(float)
        difficulty, length, ratio = np.meshgrid(d, np.log10(N), rho, indexing="ij")
        values = {
            "d": difficulty,
            "log10_N": length,
            "rho": ratio,
            "I(rho ** 2)": ratio**2,
        }
        values["Intercept"] = np.ones_like(ratio)
        for term in PRODUCT_TERMS:
            values[term] = np.prod([values[load] for load in term.split(":")], axis=0)
        self._columns = np.stack([values[term] for term in terms])
        by_difficulty = pd.DataFrame({"load": "d", "level": d})
        by_length = pd.DataFrame({"load": "N", "level": N})
        #: Load and level of the curves, in their order.
        self.levels = pd.concat([by_difficulty, by_length], ignore_index=True)

    def arms(self, coef: np.ndarray) -> np.ndarray:
        """Return fall and rise of each curve, shape (levels, 2)."""
        accuracy = expit(np.tensordot(coef, self._columns, axes=1))
        curves = np.concatenate([accuracy.mean(axis=1), accuracy.mean(axis=0)])
        return curves[:, [0, -1]] - curves.min(axis=1, keepdims=True)

    def gradients(self, fit: Fit) -> np.ndarray:
        """Return the arms' derivatives by each coefficient, shape (coefficients, levels, 2)."""
        gradients = []
        for place, se in enumerate(fit.se):
            step = np.zeros(len(fit.coef))
            step[place] = _STEP * se
            difference = self.arms(fit.coef + step) - self.arms(fit.coef - step)
            gradients.append(difference / (2 * _STEP * se))
        return np.array(gradients)


def _fitted_curves(cells: pd.DataFrame) -> Iterator[tuple[str, Fit, _Curves]]:
    """Yield the models with a finite fit of Appendix B's regression, and their curves."""
    shares = cells["ratio_pct"] / 100
    rho = np.linspace(shares.min(), shares.max(), _CURVE_POINTS)
    for model, counts in cells.groupby("model", sort=False, observed=True):
        fit = fit_glm(counts, INTERACTIONS)
        if fit.status == "ok":
            yield str(model), fit, _Curves(fit.terms, counts, rho)
