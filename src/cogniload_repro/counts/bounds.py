"""The least and the largest accuracy that any table of counts can have at a point of a figure.

Two linear programmes bound each point. They let the counts be fractional: no table lies outside,
but whole counts may reach far less.
"""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.optimize import linprog

from cogniload_repro.counts.constraints import Constraints, constrain
from cogniload_repro.counts.sufficient import sum_cells
from cogniload_repro.files import RECONSTRUCTED
from cogniload_repro.regression.design import GRID

#: The committed bounds.
BOUNDS = RECONSTRUCTED / "bounds.csv"
#: Which cells are pooled: all, those of one d or those of one N, with the levels that Figures 6
#: (and 1), 3 and 4 show.
PANELS = {
    "": (0,),
    "d": (1, 5, 10),
    "N": (20, 100, 250),
}


def find_bounds(cells: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield, model by model, the bounds of every point, from the reconstructed cells.

    Columns model, load (empty, d or N), level (0 without a load), ratio_pct (%), least and most
    (fraction, to four decimals, rounded outwards).
    """
    for model in cells["model"].unique():
        model_sums = sum_cells(cells, model)
        # linear around these counts
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
    """Yield each needle ratio of a panel with its bounds."""
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
    """Return the least and the largest share of correct answers that a group of cells can have.

    ``members`` is a mask. A relaxation: the counts need not be whole, so no possible table lies
    outside.
    """
    group = members.astype(float)
    total = group @ constraints.answers
    least = _minimise(constraints, group)
    most = -_minimise(constraints, -group)
    return least / total, most / total


def _minimise(constraints: Constraints, weights: np.ndarray) -> float:
    """Return the least weighted sum of counts that meets the constraints."""
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
