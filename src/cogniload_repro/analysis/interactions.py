"""Interactions of two loads at the tested levels of the third load: simple slopes.

Appendix B tests an interaction of two loads with the third at zero (rho = 0, log10 N = 0, d = 0),
which no puzzle has. A simple slope is the same interaction, from the same fit, at a level of the
grid. The printed tables identify simple slopes.
"""

import numpy as np
import pandas as pd
from scipy.stats import norm

from cogniload_repro.analysis.differences import QUANTILE, two_sided_p
from cogniload_repro.analysis.uncertainty import POWER, correct_within
from cogniload_repro.regression.fits import PRODUCT_TERMS
from cogniload_repro.regression.formulas import (
    INTERACTIONS,
    SYMBOLS,
    add_logarithm,
)
from cogniload_repro.regression.glm import fit_finite

#: Terms of the products of loads, by Table 3's names.
TERMS = {SYMBOLS[term]: term for term in PRODUCT_TERMS}
#: The load at whose levels a product of two loads is a simple slope.
THIRD = {"dN": "rho", "drho": "N", "Nrho": "d"}
#: Level of the third load at which Table 3 tests a product of two: zero, for log10 N at N = 1.
ORIGIN = {"rho": 0.0, "N": 1.0, "d": 0.0}
_SLOPE_COLUMNS = [
    "model",
    "term",
    "third",
    "level",
    "tested",
    "slope",
    "se",
    "p",
]


def simple_slopes(
    cells: pd.DataFrame,
    formula: str = INTERACTIONS,
    family: str = "logit",
) -> pd.DataFrame:
    """Return the interaction of two loads at each tested level of the third and at its origin.

    One row per model with a finite fit, product of two loads in the formula and level: model, term
    (dN, drho, Nrho), third (rho, N or d), level (nominal fraction, statements, units of d), tested
    (False at the origin, where Table 3 tests), slope (log-odds per unit of both loads), se, p
    (two-sided Wald test; NaN if the fit is not identified), p_holm (adjusted over the models, per
    product and level) and detectable (the slope that a test at level `ALPHA` detects with power
    `POWER`).
    """
    rows = []
    for fit in fit_finite(cells, formula, family):
        levels = tested_levels(fit.cells)
        for term, third in THIRD.items():
            for place, level in enumerate([ORIGIN[third], *levels[third]]):
                weights = _weigh_terms(fit.terms, term, level)
                if weights.any():
                    slope = weights @ fit.coef
                    se = np.sqrt(weights @ fit.covariance @ weights)
                    p = two_sided_p(slope / se) if fit.identified else np.nan
                    names = (fit.model, term, third, level, place > 0)
                    rows.append((*names, slope, se, p))
    table = pd.DataFrame(rows, columns=_SLOPE_COLUMNS)
    table["p_holm"] = correct_within(table, ["term", "level"])
    table["detectable"] = (QUANTILE + norm.ppf(POWER)) * table["se"]
    return table


def tested_levels(cells: pd.DataFrame) -> dict[str, list[float]]:
    """Return the levels of rho (nominal fraction), N and d in the cells, by load."""
    return {
        "rho": sorted(set(cells["ratio_pct"] / 100)),
        "N": sorted(set(cells["N"])),
        "d": sorted(set(cells["d"])),
    }


def _weigh_terms(
    terms: tuple[str, ...],
    product: str,
    level: float,
) -> np.ndarray:
    """Return the weights of coefficients in the slope of a product at a level of the third load.

    The slope is the product's coefficient plus the third load times that of the product of all
    three.
    """
    third = np.log10(level) if THIRD[product] == "N" else level
    weights = {TERMS[product]: 1.0, TERMS["dNrho"]: third}
    ordered = [":".join(sorted(term.split(":"))) for term in terms]
    return np.array([weights.get(term, 0.0) for term in ordered])


def tilts_along_ratio(cells: pd.DataFrame) -> pd.DataFrame:
    """Test whether accuracy moves along rho as another load grows, without a curve along rho.

    The statistic is the sum of (load - mean)(rho - mean) x accuracy over the cells, which the
    printed tables fix. One row per model with a finite fit of Appendix B's regression, which gives
    its variance, and load (d, log10_N): model, load, z (positive: towards high rho), p (two-sided;
    NaN if the fit is not identified) and p_holm (adjusted over the models, per load).
    """
    rows = []
    for fit in fit_finite(cells, INTERACTIONS):
        loads = add_logarithm(fit.cells)[["d", "log10_N", "rho"]]
        centred = loads - loads.mean()
        accuracy = fit.correct / fit.answers
        variance = fit.accuracy * (1 - fit.accuracy) / fit.answers
        for load in ("d", "log10_N"):
            weights = (centred[load] * centred["rho"]).to_numpy()
            z = weights @ accuracy / np.sqrt(weights**2 @ variance)
            p = two_sided_p(z) if fit.identified else np.nan
            rows.append((fit.model, load, z, p))
    columns = [
        "model",
        "load",
        "z",
        "p",
    ]
    table = pd.DataFrame(rows, columns=columns)
    return table.assign(p_holm=correct_within(table, ["load"]))
