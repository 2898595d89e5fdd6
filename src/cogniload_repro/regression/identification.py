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
from cogniload_repro.regression.formulas import build_design

#: The places of the cells in the grid.
_GRID_PLACES = {
    cell: place for place, cell in enumerate(map(tuple, GRID[CELL].to_numpy()))
}


def _lay_out_fixed_columns() -> np.ndarray:
    columns = []
    for load in ("d", "N"):
        for level in sorted(GRID[load].unique()):
            columns.append(GRID[load] == level)
    columns.append(X[:, 3])  # rho
    columns.append(X[:, 4])  # rho squared
    for product in PRODUCTS.values():
        columns.append(X[:, product])
    return np.column_stack(columns).astype(float)


#: Columns whose sums over correct answers the paper fixes, shape (140, 15), of rank 14.
FIXED_COLUMNS = _lay_out_fixed_columns()


def is_identified(
    cells: pd.DataFrame,
    formula: str,
    family: str = "logit",
) -> bool:
    """Return whether the printed tables identify the regression of one reconstructed model.

    Only the logit link has these sufficient statistics.
    """
    if family != "logit":
        return False
    covered = cells[cells["total"] > 0]
    design, _ = build_design(covered, formula)
    loads = [tuple(cell) for cell in covered[CELL].to_numpy(float)]
    if not _GRID_PLACES.keys() >= {*loads}:  # the paper has no such cell
        return False
    columns = np.zeros((len(GRID), design.shape[1]))
    columns[[_GRID_PLACES[cell] for cell in loads]] = design
    return in_span(columns)


def in_span(columns: np.ndarray) -> bool:
    """Return whether columns over the 140 cells are in the span of `FIXED_COLUMNS`."""
    scale = np.abs(columns).max(axis=0)
    columns = columns / np.where(scale > 0, scale, 1)
    weights, *_ = np.linalg.lstsq(FIXED_COLUMNS, columns, rcond=None)
    distances = columns - FIXED_COLUMNS @ weights
    return bool(np.abs(distances).max() < 1e-8)
