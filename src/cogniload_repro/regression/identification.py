"""Whether the printed tables identify a regression on a reconstructed model's counts.

The sufficient statistics of a logistic regression are the sums of its columns over the correct
answers. Tables 4 and 5 fix the correct answers at each level of d and of N; Tables 2, 3 and 6 fix
the sums of rho, rho squared and the products of loads. If the columns of a regression are linear
combinations of these, its fit is the same in every table of counts that agrees with the paper, and
is identified. Any other fit has a range.
"""

import numpy as np
import pandas as pd

from cogniload_repro.grid import CELL
from cogniload_repro.regression.design import GRID, PRODUCTS, X
from cogniload_repro.regression.glm import Fit
from cogniload_repro.regression.reconstructions import (
    are_committed,
    from_printed_tables,
)


def _lay_out_fixed_columns() -> np.ndarray:
    levels = [pd.get_dummies(GRID[load]) for load in ("d", "N")]
    rho = X[:, [3, 4]]  # and its square
    return np.column_stack([*levels, rho, X[:, [*PRODUCTS.values()]]]).astype(float)


_GRID_INDEX = pd.MultiIndex.from_frame(GRID[CELL].astype(float))
#: Columns whose sums over correct answers the paper fixes, shape (140, 15), of rank 14.
FIXED_COLUMNS = _lay_out_fixed_columns()


def is_identified(fit: Fit) -> bool:
    """Return whether a regression's counts, or the sums that it depends on, are known.

    Scored answers are known. Of reconstructed counts, only the committed typical ones stand for all
    tables that agree with the paper, and only if a logit regression has its columns in the span of
    `FIXED_COLUMNS`.
    """
    if not from_printed_tables(fit.cells).any():
        return True
    if fit.design is None or fit.family != "logit" or not are_committed(fit.cells):
        return False
    return in_span(_spread_over_grid(fit.cells, fit.design.x))


def _spread_over_grid(cells: pd.DataFrame, columns: np.ndarray) -> np.ndarray:
    """Return columns over the cells of the grid, zero in those without answers."""
    places = _GRID_INDEX.get_indexer(
        pd.MultiIndex.from_frame(cells[CELL].astype(float))
    )
    spread = np.zeros((len(GRID), columns.shape[1]))
    spread[places] = columns
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
    return in_span(_spread_over_grid(cells, np.ones((len(cells), 1))))
