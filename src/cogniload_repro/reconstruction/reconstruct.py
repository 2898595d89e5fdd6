"""The cells of a reconstruction: the typical table of counts, with its errors by type."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import xlogy

from cogniload_repro.files import write_whole
from cogniload_repro.published import ERRORS
from cogniload_repro.reconstruction.errors import OF_CONDITION, allocate_errors
from cogniload_repro.reconstruction.sufficient import ModelSums
from cogniload_repro.regression.design import GRID

#: Seed of the committed tables.
DRAW_SEED = 2026
#: The columns of the committed table; its rows are in the order of the models and of the grid.
_CELL_COLUMNS = [
    "model",
    "N",
    "d",
    "ratio_pct",
    "needles",
    "rho",
    "total",
    "correct",
    *ERRORS,
]


def find_typical(tables: np.ndarray, total: np.ndarray) -> int:
    """Return the index of the table with the median deviance, among tables of shape (tables, 140).

    All tables have the same sufficient statistics and so the same maximised log-likelihood; their
    deviances are therefore ordered as their saturated log-likelihoods.
    """
    accuracy = tables / total
    saturated = xlogy(tables, accuracy) + xlogy(total - tables, 1 - accuracy)
    order = np.argsort(saturated.sum(axis=1), kind="stable")
    return int(order[len(tables) // 2])


def write_csv(path: str | Path, frames: Iterable[pd.DataFrame]) -> Path:
    """Concatenate frames and write them as CSV, atomically."""
    stacked = pd.concat(frames, ignore_index=True)
    return write_whole(path, stacked.to_csv(index=False, lineterminator="\n"))


def assemble_cells(
    model_sums: ModelSums,
    correct: np.ndarray,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Return a model's cells with their correct answers and the number of errors of each type.

    Within a condition (N, d), the types are assigned to the errors of its seven cells at random.
    """
    total = model_sums.answers.astype(int)
    errors = total - correct
    errors_of_condition = (OF_CONDITION @ errors).astype(int)
    by_condition = allocate_errors(model_sums.model, errors_of_condition)
    by_type = np.zeros((len(GRID), len(ERRORS)), dtype=int)
    for is_member, counts in zip(OF_CONDITION, by_condition, strict=True):
        places = np.flatnonzero(is_member)
        kinds = rng.permutation(np.repeat(np.arange(len(ERRORS)), counts))
        ends = np.cumsum(errors[places])
        kinds_by_cell = np.split(kinds, ends[:-1])
        for place, of_cell in zip(places, kinds_by_cell, strict=True):
            by_type[place] = np.bincount(of_cell, minlength=len(ERRORS))
    cells = GRID.assign(model=model_sums.model, total=total, correct=correct)
    cells[list(ERRORS)] = by_type
    return cells[_CELL_COLUMNS]
