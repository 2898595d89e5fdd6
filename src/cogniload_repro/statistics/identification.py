"""Which regressions the printed tables identify.

A logistic regression depends on the answers only through the sums of its design columns over correct answers. Tables 4
and 5 fix the correct answers at each level of d and of N, Tables 2, 3 and 6 the sums of rho, rho squared and the
products of loads. A fit whose columns are combinations of these has the same result in every table of counts that
agrees with the paper; any other has a range.
"""

import numpy as np
import pandas as pd

from cogniload_repro.statistics.design import GRID, PRODUCTS, X
from cogniload_repro.statistics.formulas import build_design

_PLACES = pd.Series(range(len(GRID)), pd.MultiIndex.from_frame(GRID[["N", "d", "ratio_pct"]]))
#: Columns whose sums over correct answers the paper fixes, shape (140, 14 independent of 16).
FIXED = np.column_stack(
    [*(GRID[load] == level for load in ("d", "N") for level in sorted(GRID[load].unique())), X[:, 3:5]]
    + [X[:, column] for column in PRODUCTS.values()]
).astype(float)


def is_identified(cells: pd.DataFrame, formula: str, family: str = "logit") -> bool:
    """Return whether the printed tables determine a regression of one reconstructed model's counts.

    Cells of the paper's grid that are left out count as zeros in every column.
    """
    if family != "logit":
        return False
    cells = cells[cells["total"] > 0]
    design = build_design(cells, formula)[0].to_numpy()
    columns = np.zeros((len(GRID), design.shape[1]))
    columns[_PLACES.loc[pd.MultiIndex.from_frame(cells[["N", "d", "ratio_pct"]])]] = design
    return in_span(columns)


def in_span(columns: np.ndarray) -> bool:
    """Return whether columns over the 140 cells are combinations of those whose sums the paper fixes."""
    scale = np.abs(columns).max(axis=0)
    columns = columns / np.where(scale > 0, scale, 1)
    fitted = FIXED @ np.linalg.lstsq(FIXED, columns, rcond=None)[0]
    return bool(np.abs(columns - fitted).max() < 1e-8)
