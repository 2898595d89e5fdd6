"""Interactions of two loads at the levels of the third that were tested.

Appendix B tests them where the third load is zero (rho = 0, N = 1, d = 0), which no puzzle has. Simple slopes are the
same interaction, of the same fit, at the levels of the grid. The printed tables identify all of them.
"""

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import norm

from cogniload_repro.published import ALPHA
from cogniload_repro.robustness.uncertainty import POWER, correct_within
from cogniload_repro.statistics.fits import PRODUCT_TERMS
from cogniload_repro.statistics.regression import INTERACTIONS, SYMBOLS, fit_glm

#: Products of loads by the names of Table 3, and the load at whose levels a product of two is a simple slope.
TERMS = {SYMBOLS[term]: term for term in PRODUCT_TERMS}
THIRD = {"dN": "rho", "drho": "N", "Nrho": "d"}
#: Where Table 3 tests a product of two loads: the third load at zero, which for log10 N is N = 1.
ORIGIN = {"rho": 0.0, "N": 1.0, "d": 0.0}
_LEVEL = ["term", "third", "level", "tested"]


def interaction_tests(table3: pd.DataFrame) -> pd.DataFrame:
    """Return the tests of Table 3 (`fits.interactions_table`) with p-values corrected within each product.

    One row per model with a finite fit of Appendix B's regression, and product: model, term (dN, drho, Nrho, dNrho),
    beta_paper, p_paper (likelihood ratio), holm_paper (p after Holm over the models).
    """
    wide = table3.query("status == 'ok'")
    parts = [wide[["model", f"beta_{term}", f"p_{term}"]].assign(term=term) for term in TERMS]
    named = [part.set_axis(["model", "beta_paper", "p_paper", "term"], axis=1) for part in parts]
    tests = pd.concat(named).sort_index(kind="stable").reset_index(drop=True)
    return tests.assign(holm_paper=correct_within(tests, ["term"], "p_paper"))


def simple_slopes(
    cells: pd.DataFrame, formula: str = INTERACTIONS, family: str = "logit"
) -> pd.DataFrame:
    """Return the interaction of two loads at each tested level of the third, and at its origin, where Table 3 tests.

    One row per model with a finite fit, product of two loads in the formula and level: model, term (dN, drho, Nrho),
    third (rho, N or d), level (nominal fraction, statements, units of d), tested (False at the origin), slope (log-odds
    per unit of both loads), se, p (two-sided Wald), p_holm (over the models, at this product and level), detectable
    (size of the slope that a test at `ALPHA` detects with power `POWER`).
    """
    levels = {
        "rho": cells["ratio_pct"].unique() / 100,
        "N": cells["N"].unique(),
        "d": cells["d"].unique(),
    }
    rows = []
    for model, own in cells.groupby("model", sort=False, observed=True):
        fit = fit_glm(own, formula, family)
        products = np.array([":".join(sorted(term.split(":"))) for term in fit.terms])
        for term, third in THIRD.items() if fit.status == "ok" else ():
            at = np.array([ORIGIN[third], *np.sort(levels[third])], dtype=float)
            load = np.log10(at) if third == "N" else at
            weights = (products == TERMS[term]) + np.outer(load, products == TERMS["dNrho"])
            if weights.any():
                se = np.sqrt(((weights @ fit.covariance) * weights).sum(axis=1))
                frame = pd.DataFrame({"model": model, "term": term, "third": third, "level": at})
                rows.append(frame.assign(tested=frame.index > 0, slope=weights @ fit.coef, se=se))
    empty = pd.DataFrame(columns=["model", *_LEVEL, "slope", "se"]).astype(
        {"slope": float, "se": float}
    )
    table = pd.concat(rows or [empty], ignore_index=True)
    table["p"] = 2 * norm.sf(np.abs(table["slope"] / table["se"]))
    table["p_holm"] = correct_within(table, ["term", "level"])
    return table.assign(detectable=(norm.ppf(1 - ALPHA / 2) + norm.ppf(POWER)) * table["se"])


def arms_of_the_u(cells: pd.DataFrame) -> pd.DataFrame:
    """Return how far fitted accuracy falls and rises along rho at each level of d and of N (paper, Appendix A).

    One row per model with a finite fit of Appendix B's regression, load (d, N) and level: model, load, level, fall
    (fraction, from the lowest rho of the grid to the trough) and rise (from the trough to the highest). The curve is
    the mean of fitted accuracies over the levels of the other load. The curvature is the same at all levels in this
    regression, so that differences between levels show a tilt.
    """
    shares = cells["ratio_pct"] / 100
    rho = np.linspace(shares.min(), shares.max(), 181)
    rows = []
    for model, own in cells.groupby("model", sort=False, observed=True):
        fit = fit_glm(own, INTERACTIONS)
        if fit.status != "ok":
            continue
        coef = dict(zip(fit.terms, fit.coef, strict=True))
        d, N = (np.sort(own[load].unique()).astype(float) for load in ("d", "N"))
        D, L, R = np.meshgrid(d, np.log10(N), rho, indexing="ij")
        values = {"Intercept": 1.0, "d": D, "log10_N": L, "rho": R, "I(rho ** 2)": R**2}
        values |= {
            term: np.prod([values[name] for name in term.split(":")], axis=0)
            for term in PRODUCT_TERMS
        }
        accuracy = expit(sum(coef[term] * values[term] for term in coef))
        for load, levels, curves in (
            ("d", d, accuracy.mean(axis=1)),
            ("N", N, accuracy.mean(axis=0)),
        ):
            arms = curves[:, [0, -1]] - curves.min(axis=1, keepdims=True)
            rows += [
                (model, load, level, *pair)
                for level, pair in zip(levels, arms.tolist(), strict=True)
            ]
    return pd.DataFrame(rows, columns=["model", "load", "level", "fall", "rise"])


def count_slopes(slopes: pd.DataFrame, alpha: float = ALPHA) -> pd.DataFrame:
    """Count the models with significant simple slopes by sign.

    One row per product and level: term, third, level, tested, negative and positive (models with p below alpha),
    negative_holm and positive_holm (after Holm).
    """
    signs = {"negative": slopes["slope"] < 0, "positive": slopes["slope"] > 0}
    kinds = {"": slopes["p"] < alpha, "_holm": slopes["p_holm"] < alpha}
    counted = {
        sign + kind: where & is_small
        for kind, is_small in kinds.items()
        for sign, where in signs.items()
    }
    counts = slopes[_LEVEL].assign(**counted).groupby(_LEVEL, sort=False).sum().reset_index()
    return counts.astype({"tested": bool, "level": float})
