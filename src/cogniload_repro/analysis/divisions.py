"""Regressions on finished answers only, over all divisions of the overflows among the cells.

Leaving overflows out of the paper's regression changes the number of answers per cell, and the
printed tables do not say how many overflows each cell has. `scripts/search_divisions.py` found the
least and the largest slope or z by a local search from several starts. Each value found is attained
by a division that agrees with Tables 2 to 6, but more extreme values may exist: these are not
bounds.
"""

import numpy as np
import pandas as pd
from scipy.special import expit

from cogniload_repro.analysis.interactions import THIRD
from cogniload_repro.paths import RECONSTRUCTED
from cogniload_repro.regression.design import (
    FULL_COLUMNS,
    PRODUCTS,
    QUADRATIC_COLUMNS,
    lay_out,
)
from cogniload_repro.regression.likelihood import maximise_all
from cogniload_repro.regression.reconstructions import from_printed_tables

#: The committed ranges of the paper's models: model, term, level, sums of the counts (total,
#: correct, ctx), value, low, high. Term log10_N is the slope of Table 2, others are z of a product.
DIVISIONS = RECONSTRUCTED / "divisions.csv"
#: The term whose coefficient is the slope in N of Table 2; other terms are products of two loads.
SLOPE = "log10_N"
#: A linear predictor beyond this size counts as separation.
SEPARATED = 15.0
SUM_COLUMNS = ["total", "correct", "ctx"]


def finished_slopes(cells: pd.DataFrame) -> pd.DataFrame:
    """Return each model's slope in N of the paper's regression among finished answers.

    One row per model: model, slope (overflows counted as failures, as in the paper), slope_low and
    slope_high (the least and the largest found over the divisions of the overflows; equal for
    scored answers; NaN for reconstructed counts on a part of the grid, which were not searched).
    """
    names = {"value": "slope", "low": "slope_low", "high": "slope_high"}
    found = _find_ends(cells, SLOPE, None).rename(columns=names)
    return found[["model", *names.values()]]


def finished_interactions(
    cells: pd.DataFrame,
    term: str,
    level: float | None = None,
) -> pd.DataFrame:
    """Return z of a product of two loads (dN, drho or Nrho) among finished answers.

    Given a level of the third load (nominal fraction, statements, units of d), z is that of the
    simple slope at this level in the regression of Table 3. Otherwise it is that of the product
    when it is the only one added to the terms of Table 2. One row per model: model, term, level,
    ctx (answers that ran out of context), z (overflows counted as failures), z_low and z_high (as
    in `finished_slopes`).
    """
    names = {"value": "z", "low": "z_low", "high": "z_high"}
    found = _find_ends(cells, term, level).rename(columns=names)
    found = found.assign(term=term, level=level)
    return found[
        [
            "model",
            "term",
            "level",
            "ctx",
            *names.values(),
        ]
    ]


def _find_ends(cells: pd.DataFrame, term: str, level: float | None) -> pd.DataFrame:
    """Return value, low and high of each model: the committed ones for these sums, or its own."""
    answered = cells[cells["total"] > 0]
    sums = (
        answered.groupby("model", sort=False, observed=True)[SUM_COLUMNS]
        .sum()
        .reset_index()
    )
    committed = pd.read_csv(DIVISIONS)
    is_level = (
        committed["level"].isna() if level is None else committed["level"] == level
    )
    committed = committed[(committed["term"] == term) & is_level]
    found = sums.merge(committed, on=["model", *SUM_COLUMNS], how="left").set_index(
        "model"
    )
    for model, counts in answered.groupby("model", sort=False, observed=True):
        if not from_printed_tables(counts).any():
            value = estimate_finished(counts, term, level, 0 * counts["ctx"])
            known = estimate_finished(counts, term, level, counts["ctx"])
            found.loc[model, ["value", "low", "high"]] = value, known, known
    return found.reset_index()


def estimate_finished(
    cells: pd.DataFrame,
    term: str,
    level: float | None,
    left_out: pd.Series,
) -> float:
    """Return the slope or z of one model without some of its wrong answers, NaN if not finite."""
    columns, weights = lay_contrast(term, level)
    x = lay_out(cells)[:, columns]
    finished = (cells["total"] - left_out).to_numpy(float)
    (beta,), _ = maximise_all(
        x, finished[None], cells["correct"].to_numpy(float)[None] @ x
    )
    log_odds = x @ beta
    if not np.abs(log_odds).max() <= SEPARATED:
        return np.nan
    slope = weights @ beta
    if term == SLOPE:
        return slope
    accuracy = expit(log_odds)
    information = x.T @ (x * (finished * accuracy * (1 - accuracy))[:, None])
    return slope / np.sqrt(weights @ np.linalg.solve(information, weights))


def lay_contrast(term: str, level: float | None) -> tuple[tuple[int, ...], np.ndarray]:
    """Return the columns of a regression, and the weights of the contrast of its coefficients."""
    if term == SLOPE:
        return QUADRATIC_COLUMNS, np.eye(len(QUADRATIC_COLUMNS))[2]
    if level is None:
        columns = (*QUADRATIC_COLUMNS, PRODUCTS[term])
        return columns, np.eye(len(columns))[-1]
    third = np.log10(level) if THIRD[term] == "N" else level
    unit = np.eye(len(FULL_COLUMNS))
    return FULL_COLUMNS, unit[PRODUCTS[term]] + third * unit[PRODUCTS["dNrho"]]
