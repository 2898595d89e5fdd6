"""Regressions on finished answers only, over all divisions of the overflows among the cells.

Leaving overflows out of the paper's regression changes the number of answers per cell, and the
printed tables do not say how many overflows each cell has. `scripts/search_divisions.py` found the
least and the largest slope or z by a local search from several starts. Each value found is attained
by a division that agrees with Tables 2 to 6, but more extreme values may exist: these are not
bounds.
"""

import pandas as pd

from cogniload_repro.analysis.interactions import simple_slopes
from cogniload_repro.paths import RECONSTRUCTED
from cogniload_repro.regression.glm import fit_finite
from cogniload_repro.regression.reconstructions import from_printed_tables

#: The committed ranges of the paper's models: model, term, level, sums of the counts (total,
#: correct, ctx), value, low, high. Term log10_N is the slope of Table 2, others are z of a product.
DIVISIONS = RECONSTRUCTED / "divisions.csv"
#: The term whose coefficient is the slope in N of Table 2; other terms are products of two loads.
SLOPE = "log10_N"
SUM_COLUMNS = ["total", "correct", "ctx"]


def finished_ranges(
    cells: pd.DataFrame,
    term: str = SLOPE,
    level: float | None = None,
) -> pd.DataFrame:
    """Return a slope in N, or z of a product of two loads, among finished answers.

    The slope in N is that of the paper's regression. z is that of the simple slope of a product
    (term dN, drho or Nrho) at a level of the third load (nominal fraction, statements, units of d),
    in the regression of Table 3. One row per model: model, term, level, value (overflows counted as
    failures, as in the paper), low and high (the least and the largest found over the divisions of
    the overflows; equal for scored answers; NaN where an answer may be an overflow or not, and for
    reconstructed counts on a part of the grid, which were not searched).
    """
    answered = cells[cells["total"] > 0]
    models = answered.groupby("model", sort=False, observed=True)
    sums = models[SUM_COLUMNS].sum().reset_index()
    committed = pd.read_csv(DIVISIONS)
    is_level = committed["level"] == level
    if level is None:
        is_level = committed["level"].isna()
    searched = committed[(committed["term"] == term) & is_level]
    keys = ["model", *SUM_COLUMNS]
    found = sums.merge(searched, on=keys, how="left")
    found = found.assign(term=term, level=level).set_index("model")
    scored = answered[~from_printed_tables(answered)]
    is_scored = found.index.isin(scored["model"])
    if is_scored.any():
        untested = scored.loc[scored["ctx"].isna(), "model"]
        finished = scored.assign(total=scored["total"] - scored["ctx"])
        finished = finished[~finished["model"].isin(untested)]
        known = _find_slopes(finished, term, level)
        found.loc[is_scored, "value"] = _find_slopes(scored, term, level)
        found.loc[is_scored, "low"] = known
        found.loc[is_scored, "high"] = known
    columns = [
        "term",
        "level",
        "value",
        "low",
        "high",
    ]
    return found[columns].reset_index()


def _find_slopes(
    cells: pd.DataFrame,
    term: str,
    level: float | None,
) -> pd.Series:
    """Return the slope or z of each model with a finite fit, by model."""
    if cells.empty:
        return pd.Series(dtype=float)
    if term == SLOPE:
        slopes = {fit.model: fit.coef[2] for fit in fit_finite(cells)}
        return pd.Series(slopes, dtype=float)
    products = simple_slopes(cells).query("term == @term and level == @level")
    products = products.set_index("model").astype({"slope": float, "se": float})
    return products["slope"] / products["se"]
