"""Whether the printed tables identify a regression on a reconstructed model's counts.

The sufficient statistics of a logistic regression are the sums of its columns over the correct
answers. Tables 4 and 5 fix the correct answers at each level of d and of N; Tables 6 and 3 fix the
sums of rho, rho squared and the products of loads, where Table 2 selects one of the solutions. If
the columns of a regression are linear combinations of these, its fit is the same, to the printed
precision, in every table of counts that agrees with the paper, and is identified. Any other fit has
a range.
"""

import numpy as np
import pandas as pd

from cogniload_repro.grid import CELL
from cogniload_repro.regression.design import GRID
from cogniload_repro.regression.formulas import FIXED_SUMS, build_design
from cogniload_repro.regression.reconstructions import (
    committed_answers,
    committed_counts,
    from_printed_tables,
)

_GRID_INDEX = pd.MultiIndex.from_frame(GRID[CELL].astype(float))
#: Columns whose sums over correct answers the paper fixes, shape (140, 14).
FIXED_COLUMNS = build_design(GRID, FIXED_SUMS).x
#: Rounding error of a sum, relative to its largest possible size.
_ROUNDING_ERROR = 1e-9


def are_identified(counts: pd.DataFrame, x: np.ndarray, family: str) -> np.ndarray:
    """Return for each of several tables of counts whether its regression is identified.

    ``counts`` are tables with the same cells, one below the other, ``x`` the columns of the
    regression over these cells. Scored answers are known, so any regression on them is identified.
    Reconstructed counts identify a logit regression if its columns are in the span of
    `FIXED_COLUMNS` and have the printed sums.
    """
    is_reconstructed = from_printed_tables(counts).to_numpy()
    identified = ~is_reconstructed.reshape(-1, len(x)).any(axis=1)
    if family != "logit" or identified.all():
        return identified
    spread = _spread_over_grid(counts[: len(x)], x)
    if not in_span(spread):
        return identified
    return identified | _have_printed_sums(counts, x)


def _have_printed_sums(counts: pd.DataFrame, x: np.ndarray) -> np.ndarray:
    """Return for each table whether its sums of the columns x are those of the committed tables.

    These differ among themselves by the precision of the printed numbers.
    """
    shape = (-1, len(x))
    answers = counts["total"].to_numpy(float).reshape(shape)
    correct = counts["correct"].to_numpy(float).reshape(shape)
    sums = correct @ x
    samples = committed_counts(counts)
    committed = samples.reshape(len(samples), *shape) @ x
    largest = answers @ np.abs(x)
    slack = _ROUNDING_ERROR * largest
    is_above = sums >= committed.min(axis=0) - slack
    is_below = sums <= committed.max(axis=0) + slack
    printed = committed_answers(counts).reshape(shape)
    has_answers = answers == printed
    has_sums = (is_above & is_below).all(axis=1)
    return has_sums & has_answers.all(axis=1)


def _spread_over_grid(cells: pd.DataFrame, columns: np.ndarray) -> np.ndarray:
    """Return columns over the cells of the grid, zero in those without answers."""
    loads = pd.MultiIndex.from_frame(cells[CELL].astype(float))
    spread = np.zeros((len(GRID), columns.shape[1]))
    spread[_GRID_INDEX.get_indexer(loads)] = columns
    return spread


def in_span(columns: np.ndarray) -> bool:
    """Return whether columns over the 140 cells are in the span of `FIXED_COLUMNS`."""
    scale = np.abs(columns).max(axis=0)
    columns = columns / np.where(scale > 0, scale, 1)
    weights, *_ = np.linalg.lstsq(FIXED_COLUMNS, columns, rcond=None)
    distances = columns - FIXED_COLUMNS @ weights
    return bool(np.abs(distances).max() < 1e-8)


def is_mean_identified(cells: pd.DataFrame) -> bool:
    """Return whether the printed tables fix the mean accuracy over some cells of the grid."""
    constant = np.ones((len(cells), 1))
    return in_span(_spread_over_grid(cells, constant))
