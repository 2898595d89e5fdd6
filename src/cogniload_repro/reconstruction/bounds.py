"""Bounds on the accuracy at each point of a figure over all tables that agree with the paper.

Two linear programmes per point, with the printed numbers linearised (`constraints`). Counts may
be fractional in them, so that the bounds are outer limits: integer tables may span much less.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.optimize import linprog

from cogniload_repro.paths import RECONSTRUCTED
from cogniload_repro.reconstruction.constraints import Constraints, constrain
from cogniload_repro.reconstruction.sufficient import sum_cells
from cogniload_repro.regression.design import GRID

#: The committed bounds.
BOUNDS = RECONSTRUCTED / "bounds.csv"
#: Cells pooled in a panel: all, those of one d or those of one N, at the levels shown in
#: Figures 6 (and 1), 3 and 4.
PANELS = {
    "": (0,),
    "d": (1, 5, 10),
    "N": (20, 100, 250),
}


def find_bounds(cells: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield the bounds of every point, one table per model, from the reconstructed cells.

    Columns model, load (empty, d or N), level (0 without a load), ratio_pct (%), least and most
    (fraction, to four decimals, rounded outwards).
    """
    for model in cells["model"].unique():
        model_sums = sum_cells(cells, model)
        # the printed numbers are linearised around the sums of these counts
        constraints = constrain(model_sums, model_sums.sums)
        points: list[tuple] = []
        for load, levels in PANELS.items():
            for level in levels:
                points += _bound_points(constraints, load, level)
        columns = ["load", "level", "ratio_pct", "least", "most"]
        bounds = pd.DataFrame(points, columns=columns)
        bounds.insert(0, "model", model)
        yield bounds


def _bound_points(
    constraints: Constraints,
    load: str,
    level: int,
) -> Iterator[tuple[str, int, int, float, float]]:
    """Yield load, level, needle ratio (%) and bounds for each point of a panel."""
    for ratio_pct in GRID["ratio_pct"].unique():
        is_point = GRID["ratio_pct"] == ratio_pct
        if load:
            is_point &= GRID[load] == level
        least, most = possible_range(constraints, is_point.to_numpy())
        rounded_least = np.floor(least * 1e4 + 1e-6) / 1e4
        rounded_most = np.ceil(most * 1e4 - 1e-6) / 1e4
        yield load, level, ratio_pct, max(rounded_least, 0.0), min(rounded_most, 1.0)


def load_bounds() -> pd.DataFrame:
    """Return the committed bounds of all points: see `find_bounds` for the columns."""
    return pd.read_csv(BOUNDS, keep_default_na=False)


def possible_range(
    constraints: Constraints, members: np.ndarray
) -> tuple[float, float]:
    """Return the least and the largest pooled accuracy (fraction) of a group of cells.

    ``members`` is a mask over the 140 cells. This is the linear relaxation: counts need not be
    integers, so that the range contains that of the integer tables.
    """
    group = members.astype(float)
    total = group @ constraints.answers
    least = _minimise(constraints, group)
    most = -_minimise(constraints, -group)
    return least / total, most / total


def _minimise(constraints: Constraints, weights: np.ndarray) -> float:
    """Return the least weighted sum of counts under the constraints, by a linear programme."""
    fewest = np.zeros(len(weights))
    programme = linprog(
        weights,
        A_ub=np.vstack([constraints.windows, -constraints.windows]),
        b_ub=np.append(constraints.centre + 1, 1 - constraints.centre),
        A_eq=constraints.exact,
        b_eq=constraints.sums,
        bounds=np.column_stack([fewest, constraints.answers]),
    )
    if programme.x is None:
        raise ValueError(
            f"no counts meet these constraints ({programme.message}); "
            "check the cells they come from"
        )
    return float(programme.fun)
