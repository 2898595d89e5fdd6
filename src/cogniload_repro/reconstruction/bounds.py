"""Outer bounds of the accuracy at each point of the figures along rho: a relaxation, not the attainable range.

Two linear programmes per point (`polytope.possible_range`) let the counts be fractional: no table lies outside, but
whole counts may reach far less. gpt-5's curve has one value in every reconstruction, and wide bounds.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from cogniload_repro.frames import read_frame
from cogniload_repro.models import NAMES
from cogniload_repro.reconstruction.polytope import constraints_around, possible_range
from cogniload_repro.schemas import Column, Schema
from cogniload_repro.statistics.design import GRID
from cogniload_repro.storage import RECONSTRUCTED, write_whole

#: The committed bounds.
BOUNDS = RECONSTRUCTED / "bounds.csv"

#: Which cells are pooled: all, those of one d or those of one N, with the levels that Figures 6 (and 1), 3 and 4 show.
PANELS = {"": (0,), "d": (1, 5, 10), "N": (20, 100, 250)}

_KEYS = ["model", "load", "level", "ratio_pct"]
_SHARE = Column(low=0, high=1)
_SCHEMA = Schema(
    {
        "model": Column("text", words=NAMES),
        "load": Column("text", words=tuple(filter(None, PANELS)), missing=True),
        "level": Column("whole", low=0),
        "ratio_pct": Column("whole", low=0, high=100),
        "least": _SHARE,
        "most": _SHARE,
    },
    tuple(_KEYS),
    others=None,
)


def find_bounds(cells: pd.DataFrame) -> Iterable[pd.DataFrame]:
    """Yield, model by model, the bounds of every point (about a second each).

    Parameters
    ----------
    cells : DataFrame
        The reconstructed cells, whole.

    Yields
    ------
    DataFrame
        Columns model, load (empty, d or N), level (0 without a load), ratio_pct (%), least and most (fraction, to four
        decimals, rounded outwards).
    """
    for model in dict.fromkeys(cells["model"]):
        constraints = constraints_around(cells, model)
        rows = []
        for load, levels in PANELS.items():
            for level in levels:
                pooled = (GRID[load] == level).to_numpy() if load else np.ones(len(GRID), dtype=bool)
                for ratio in GRID["ratio_pct"].unique():
                    least, most = possible_range(constraints, pooled & (GRID["ratio_pct"] == ratio).to_numpy())
                    rows.append((model, load, level, ratio, np.floor(least * 1e4 + 1e-6), np.ceil(most * 1e4 - 1e-6)))
        frame = pd.DataFrame(rows, columns=[*_KEYS, "least", "most"])
        yield frame.assign(least=(frame["least"] / 1e4).clip(0, 1), most=(frame["most"] / 1e4).clip(0, 1))


def write_bounds(frames: Iterable[pd.DataFrame], path: str | Path = BOUNDS) -> Path:
    """Write bounds as CSV, whole or not at all."""
    return write_whole(path, pd.concat(frames, ignore_index=True).to_csv(index=False, lineterminator="\n"))


def load_bounds(path: str | Path = BOUNDS) -> pd.DataFrame:
    """Return the committed bounds of all points: see `find_bounds` for the columns.

    Raises
    ------
    ValueError
        If the file is missing or is not such a table.
    """
    return read_frame(path, _SCHEMA, "restore it with git, or make it again with `cogniload feasible`")
