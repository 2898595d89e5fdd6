"""Bounds on the accuracy at each point of a figure over all tables that agree with the paper.

Two linear programmes per point, with the printed numbers linearised (`constraints`). Counts may
be fractional in them, so that the bounds are outer limits: integer tables may span much less.
"""

import numpy as np
import pandas as pd
from scipy.optimize import linprog

from cogniload_repro.paths import RECONSTRUCTED
from cogniload_repro.reconstruction.constraints import Constraints

#: The committed bounds.
BOUNDS = RECONSTRUCTED / "bounds.csv"
#: Cells pooled in a panel: all, those of one d or those of one N, at the levels shown in
#: Figures 6 (and 1), 3 and 4.
PANELS = {
    "": (0,),
    "d": (1, 5, 10),
    "N": (20, 100, 250),
}


def load_bounds() -> pd.DataFrame:
    """Return the committed bounds of all points (`scripts/sample_reconstructions.py`).

    Columns model, load (empty, d or N), level (0 without a load), ratio_pct (%), least and most
    (fraction, to four decimals, rounded outwards).
    """
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
