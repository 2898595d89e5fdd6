"""Cognitive load as one number: state bits times predicates times steps.

Source: the post "Why Some Puzzles Are Hard for LLMs: A Framework for Cognitive Load" (2025-06-08).
The post does not treat CogniLoad: the loads of its cells are definitions of ours that follow the
post's.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import isotonic_regression
from scipy.special import expit, xlogy

from cogniload_repro.analysis.specifications import SharedGrid, shared_grids
from cogniload_repro.regression.design import QUADRATIC_COLUMNS, lay_out
from cogniload_repro.regression.likelihood import maximise_all

PAPER = "the paper's regression: d, log N, ρ, ρ²"
FALLING = "any falling function of the load"
#: Specifications by what a fit lets accuracy depend on: columns of `cell_loads`.
LOADS = {
    "load, everybody's state": ["everybody"],
    "load, the person's state": ["person"],
    "load, the person's state over its needles": ["needles"],
    "free exponents of S × C and D": ["log_SC", "log_N"],
}


def cell_loads(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the loads of cells (columns N, d and rho) under three readings of the post.

    S: max(d, 2) people have d attributes of max(d + 1, 3) values each (paper, Table 1). C: a
    statement has 1 to d conditions and as many updates, each number equally likely (section
    2.1.3), so that a step takes d + 1 predicates on average. D: the N statements, one step each.

    Returns
    -------
    DataFrame
        Same index. state_bits (S) and predicates (C); natural logarithms of the load: everybody
        (everybody's state over all statements), person (the state of the person of interest over
        all statements), needles (that person's state over the needles alone); and of the two
        factors of the first: log_SC and log_N. S and C depend on d alone and share an exponent.
    """
    people = cells["d"].clip(lower=2)
    values = (cells["d"] + 1).clip(lower=3)
    loads = pd.DataFrame(index=cells.index)
    loads["state_bits"] = people * cells["d"] * np.log2(values)
    loads["predicates"] = cells["d"] + 1
    loads["log_SC"] = np.log(loads["state_bits"] * loads["predicates"])
    loads["log_N"] = np.log(cells["N"])
    loads["everybody"] = loads["log_SC"] + loads["log_N"]
    loads["person"] = loads["everybody"] - np.log(people)
    loads["needles"] = loads["person"] + np.log(cells["rho"])
    return loads


def compare_curves(cells: pd.DataFrame) -> pd.DataFrame:
    """Fit every specification to each model, and compare their deviances and AICs.

    Returns
    -------
    DataFrame
        One row per specification, summed over models: specification; terms; deviance (twice the
        log-likelihood short of the saturated one); aic (Bernoulli likelihoods, as in the paper's
        Table 6) and aic_difference from the paper's regression; models_better, those whose AIC is
        below that of the paper's regression. The last row is the best that any function can do
        which never rises with the load: it has no fixed number of terms, so no AIC.
    """
    grids = list(shared_grids(cells))
    designs = {PAPER: [lay_out(grid.cells)[:, QUADRATIC_COLUMNS] for grid in grids]}
    for specification, loads in LOADS.items():
        designs[specification] = [_lay_out_loads(grid.cells, loads) for grid in grids]
    fits = {name: _fit_grids(grids, matrices) for name, matrices in designs.items()}
    paper_aic = fits[PAPER].aic
    rows = []
    for specification, fit in fits.items():
        rows.append(
            {
                "specification": specification,
                "terms": designs[specification][0].shape[1] * len(fit.aic),
                "deviance": fit.deviance,
                "aic": fit.aic.sum(),
                "aic_difference": (fit.aic - paper_aic).sum(),
                "models_better": (fit.aic < paper_aic).sum(),
            }
        )
    falling = sum(_deviance_of_falling(grid) for grid in grids)
    rows.append({"specification": FALLING, "deviance": falling})
    return pd.DataFrame(rows).astype({"models_better": "Int64", "terms": "Int64"})


class _GridFits(NamedTuple):
    """The AIC of each model under one specification, and the deviance summed over them."""

    aic: np.ndarray
    deviance: float


def _fit_grids(grids: list[SharedGrid], designs: list[np.ndarray]) -> _GridFits:
    """Fit one specification to the models of each grid; `designs` has its columns on each grid."""
    deviance = 0.0
    aics = []
    for grid, x in zip(grids, designs, strict=True):
        coefficients, logliks = maximise_all(x, grid.total, grid.correct @ x)
        accuracy = expit(coefficients @ x.T)
        deviance += _deviance(grid.correct, grid.total, accuracy)
        aics.append(2 * x.shape[1] - 2 * logliks)
    return _GridFits(np.concatenate(aics), deviance)


def _lay_out_loads(cells: pd.DataFrame, loads: list[str]) -> np.ndarray:
    """Return the design of a regression on some logarithms of loads."""
    return np.column_stack([np.ones(len(cells)), cell_loads(cells)[loads]])


def _deviance_of_falling(grid: SharedGrid) -> float:
    """Return the deviance of the isotonic fit: accuracies that never rise with the load."""
    loads = cell_loads(grid.cells)["everybody"].round(9)
    levels, level_of_cell = np.unique(loads, return_inverse=True)
    accuracies = []
    for correct, total in zip(grid.correct, grid.total, strict=True):
        correct_by_level = np.bincount(level_of_cell, correct, len(levels))
        total_by_level = np.bincount(level_of_cell, total, len(levels))
        observed = correct_by_level / total_by_level
        falling = isotonic_regression(
            observed, weights=total_by_level, increasing=False
        )
        accuracies.append(falling.x[level_of_cell])
    return _deviance(grid.correct, grid.total, np.array(accuracies))


def _deviance(correct: np.ndarray, total: np.ndarray, accuracy: np.ndarray) -> float:
    """Return twice the log-likelihood that fitted accuracies lose against the saturated model."""
    wrong = total - correct
    saturated = xlogy(correct, correct / total) + xlogy(wrong, wrong / total)
    fitted = xlogy(correct, accuracy) + xlogy(wrong, 1 - accuracy)
    return float(2 * (saturated - fitted).sum())
