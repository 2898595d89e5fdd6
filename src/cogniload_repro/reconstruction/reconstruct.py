"""The typical reconstruction: per model the table of counts with the median lack of fit, with its errors allocated.

A reconstruction is not the authors' data: many tables agree with everything the paper prints (`feasible`). The
smoothest would flatter the paper's regression, and so would the mean. See `sufficient` for the statistics, `counts` for
the correct answers, `buckets` for the errors.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import xlogy

from cogniload_repro import schemas
from cogniload_repro.files import write_whole
from cogniload_repro.frames import read_frame
from cogniload_repro.grid import Cell
from cogniload_repro.models import BY_NAME, MODELS, NAMES, Model
from cogniload_repro.published import ERRORS
from cogniload_repro.reconstruction.buckets import OF_CONDITION, spread_errors
from cogniload_repro.reconstruction.counts import draw_counts
from cogniload_repro.reconstruction.sufficient import Recovered, recover
from cogniload_repro.schemas import Rule, Schema
from cogniload_repro.statistics.design import GRID
from cogniload_repro.statistics.reconstructions import KEYS, load_tables
from cogniload_repro.storage import RECONSTRUCTED

#: The committed table, and its seed.
CELLS = RECONSTRUCTED / "cells.csv"
DRAW_SEED = 2026
_REMEDY = "restore it with git, or make it again with `cogniload reconstruct`"


def _is_in_place(cells: pd.DataFrame) -> pd.Series:
    """Tell by row whether it is the cell that has its place there: the models in printed order, each with the grid."""
    places = np.arange(len(cells))
    own = GRID.iloc[places % len(GRID)].reset_index(drop=True)
    models = np.array(NAMES)[(places // len(GRID)).clip(max=len(NAMES) - 1)]
    same = (cells[["N", "d", "ratio_pct", "needles"]] == own[["N", "d", "ratio_pct", "needles"]]).all(axis=1)
    return same & (cells["model"] == models) & np.isclose(cells["rho"], own["rho"])


#: The committed table: the counts of `schemas.CELLS`, complete, in the order of models and grid.
COUNTS = Schema(
    {name: schemas.CELLS.columns[name]._replace(optional=False)
     for name in ("model", "N", "d", "ratio_pct", "needles", "rho", "total", "correct", *ERRORS)},
    rules=(
        Rule("is not the cell of the grid that belongs there", _is_in_place),
        Rule("does not add up to its total", lambda cells: cells[["correct", *ERRORS]].sum(axis=1) == cells["total"]),
    ),
    others=None,
)  # fmt: skip


def reconstruct(models: Iterable[Model] = MODELS, seed: int | None = None) -> Iterable[pd.DataFrame]:
    """Yield, model by model, the 140 cells with answers, correct answers and error buckets.

    Parameters
    ----------
    models : iterable of Model
    seed : int, optional
        Sample another table; by default the typical one of the committed tables. Every model has its own stream, so a
        model's cells do not depend on which others are asked for.

    Yields
    ------
    DataFrame
        Columns of `COUNTS`, rows in grid order.
    """
    for model in models:
        rng = np.random.default_rng([DRAW_SEED if seed is None else seed, MODELS.index(model)])
        recovered = recover(model)
        if seed is None:
            tables = load_tables().query("model == @model.name").iloc[:, len(KEYS) :].to_numpy().T
            correct = tables[find_typical(tables, recovered.n)]
        else:
            correct = draw_counts(recovered, rng)
        yield assemble_cells(recovered, correct, rng)


def find_typical(tables: np.ndarray, total: np.ndarray) -> int:
    """Return the place of the table with the median lack of fit.

    All tables have the same likelihood under the regression whose sums the paper fixes, so their deviances from it are
    ordered as their saturated log-likelihoods.

    Parameters
    ----------
    tables : ndarray of int, shape (tables, 140)
        Correct answers per cell.
    total : ndarray, shape (140,)
        Answers per cell.
    """
    saturated = (xlogy(tables, tables / total) + xlogy(total - tables, 1 - tables / total)).sum(axis=1)
    return int(np.argsort(saturated, kind="stable")[len(tables) // 2])


def write_counts(path: str | Path, frames: Iterable[pd.DataFrame]) -> Path:
    """Write reconstructed cells as CSV, whole or not at all."""
    cells = pd.concat(frames, ignore_index=True)
    return write_whole(path, cells.to_csv(index=False, lineterminator="\n"))


def load_counts(path: str | Path = CELLS) -> pd.DataFrame:
    """Return the reconstructed cells of all 22 models, 3,080 rows with the columns of `COUNTS`.

    Raises
    ------
    ValueError
        If the file is missing or is not such a table.
    """
    cells = read_frame(path, COUNTS, _REMEDY)
    if len(cells) != len(BY_NAME) * len(GRID):
        raise ValueError(f"{path} has {len(cells)} rows instead of {len(BY_NAME) * len(GRID)}; {_REMEDY}")
    return cells


def cells_in(grid: Iterable[Cell]) -> pd.DataFrame:
    """Return the reconstructed cells of a grid.

    Raises
    ------
    ValueError
        If the grid has a cell that the paper does not have.
    """
    cells = load_counts()
    keys = list(zip(cells["N"], cells["ratio_pct"].astype(float), cells["d"], strict=True))
    wanted = {(cell.N, float(cell.ratio_pct), cell.d) for cell in grid}
    if foreign := sorted(wanted - set(keys)):
        raise ValueError(f"the paper has no cell (N, ratio_pct, d) = {foreign[0]}; only its cells can be reconstructed")
    return cells[[key in wanted for key in keys]].reset_index(drop=True)


def assemble_cells(recovered: Recovered, correct: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Return a model's cells, with the errors spread over the buckets.

    Parameters
    ----------
    recovered : Recovered
    correct : ndarray of int, shape (140,)
    rng : numpy Generator
        Decides which ratio an error of a given (N, d) and bucket falls to; the paper says nothing of that.
    """
    cells = GRID.assign(model=recovered.model.name, total=recovered.n.astype(int), correct=correct)
    errors = (cells["total"] - cells["correct"]).to_numpy()
    by_condition = spread_errors(recovered.model.name, (OF_CONDITION @ errors).astype(int))
    buckets = np.zeros((len(cells), len(ERRORS)), dtype=int)
    for members, counts in zip(OF_CONDITION, by_condition, strict=True):
        rows = np.flatnonzero(members)
        drawn = rng.permutation(np.repeat(np.arange(len(ERRORS)), counts))
        for row, part in zip(rows, np.split(drawn, np.cumsum(errors[rows])[:-1]), strict=True):
            buckets[row] = np.bincount(part, minlength=len(ERRORS))
    cells[list(ERRORS)] = buckets
    return cells[list(COUNTS.columns)]
