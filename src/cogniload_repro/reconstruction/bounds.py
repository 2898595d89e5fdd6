"""Outer bounds of accuracy along rho over all tables of counts that agree with the paper.

Two linear programmes bound each point of the figures. They let the counts be fractional: no table lies outside, but
whole counts may reach far less. gpt-5's curve has one value in every reconstruction, and wide bounds.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd
from scipy.optimize import linprog

from cogniload_repro.reconstruction.constraints import Constraints, constrain
from cogniload_repro.reconstruction.sufficient import recovered_from
from cogniload_repro.statistics.design import GRID
from cogniload_repro.storage import RECONSTRUCTED

#: The committed bounds.
BOUNDS = RECONSTRUCTED / "bounds.csv"

#: Which cells are pooled: all, those of one d or those of one N, with the levels that Figures 6 (and 1), 3 and 4 show.
PANELS = {"": (0,), "d": (1, 5, 10), "N": (20, 100, 250)}

_KEYS = ["model", "load", "level", "ratio_pct"]


def find_bounds(cells: pd.DataFrame) -> Iterable[pd.DataFrame]:
    """Yield, model by model, the bounds of every point (about a second each), from the reconstructed cells.

    Columns model, load (empty, d or N), level (0 without a load), ratio_pct (%), least and most (fraction, to four
    decimals, rounded outwards).
    """
    points = [(load, level) for load, levels in PANELS.items() for level in levels]
    for model in dict.fromkeys(cells["model"]):
        recovered, rows = recovered_from(cells, model), []
        constraints = constrain(recovered, recovered.T)  # linear around the reconstructed counts
        for load, level in points:
            for ratio in GRID["ratio_pct"].unique():
                own = (GRID["ratio_pct"] == ratio) & (GRID[load] == level if load else True)
                least, most = possible_range(constraints, own.to_numpy())
                rows.append((model, load, level, ratio, np.floor(least * 1e4 + 1e-6), np.ceil(most * 1e4 - 1e-6)))
        frame = pd.DataFrame(rows, columns=[*_KEYS, "least", "most"])
        yield frame.assign(least=(frame["least"] / 1e4).clip(0, 1), most=(frame["most"] / 1e4).clip(0, 1))


def load_bounds() -> pd.DataFrame:
    """Return the committed bounds of all points: see `find_bounds` for the columns."""
    return pd.read_csv(BOUNDS, keep_default_na=False)


def possible_range(constraints: Constraints, members: np.ndarray) -> tuple[float, float]:
    """Return the least and the largest share of correct answers that a group of cells (a mask) can have.

    A relaxation: the counts need not be whole, so no possible table lies outside.
    """
    group = members.astype(float)
    ends = []
    for sign in (1, -1):
        programme = linprog(
            sign * group,
            A_ub=np.vstack([constraints.windows, -constraints.windows]),
            b_ub=np.concatenate([constraints.centre + 1, 1 - constraints.centre]),
            A_eq=constraints.exact,
            b_eq=constraints.sums,
            bounds=np.column_stack([np.zeros(len(group)), constraints.n]),
        )
        if programme.x is None:
            raise ValueError(f"no counts meet these constraints ({programme.message}); check the cells they come from")
        ends.append(float(sign * programme.fun / (group @ constraints.n)))
    return ends[0], ends[1]
