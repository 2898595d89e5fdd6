"""The typical reconstruction: per model, the table of counts with the median deviance.

It is not the authors' data: many tables agree with everything that the paper prints (`feasible`).
The smoothest table, or the mean of all, would make the paper's regression fit too well.
"""

from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.special import xlogy

from cogniload_repro.files import write_whole
from cogniload_repro.models import MODELS, Model
from cogniload_repro.published import ERRORS
from cogniload_repro.reconstruction.buckets import OF_CONDITION, allocate_errors
from cogniload_repro.reconstruction.sufficient import ModelSums, recover_sums
from cogniload_repro.regression.design import GRID
from cogniload_repro.regression.reconstructions import KEYS, load_tables

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


def reconstruct(models: Iterable[Model] = MODELS) -> Iterator[pd.DataFrame]:
    """Yield each model's typical table: 140 cells with the columns of `_CELL_COLUMNS`.

    Error types are assigned to cells at random, from a random stream of the model's own.
    """
    for model in models:
        rng = np.random.default_rng([DRAW_SEED, MODELS.index(model)])
        model_sums = recover_sums(model)
        yield assemble_cells(model_sums, _find_committed(model_sums), rng)


def _find_committed(model_sums: ModelSums) -> np.ndarray:
    """Return the typical one of a model's committed tables."""
    tables = load_tables()
    of_model = tables[tables["model"] == model_sums.model]
    counts = of_model.drop(columns=KEYS).to_numpy().T
    return counts[find_typical(counts, model_sums.answers)]


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
    """Return a model's cells with their correct answers and the number of errors in each bucket.

    Within a condition (N, d), the buckets are assigned to the errors of its seven cells at random.
    """
    total = model_sums.answers.astype(int)
    errors = total - correct
    errors_of_condition = (OF_CONDITION @ errors).astype(int)
    by_condition = allocate_errors(model_sums.model, errors_of_condition)
    buckets = np.zeros((len(GRID), len(ERRORS)), dtype=int)
    for is_member, counts in zip(OF_CONDITION, by_condition, strict=True):
        places = np.flatnonzero(is_member)
        kinds = rng.permutation(np.repeat(np.arange(len(ERRORS)), counts))
        ends = np.cumsum(errors[places])
        kinds_by_cell = np.split(kinds, ends[:-1])
        for place, of_cell in zip(places, kinds_by_cell, strict=True):
            buckets[place] = np.bincount(of_cell, minlength=len(ERRORS))
    cells = GRID.assign(model=model_sums.model, total=total, correct=correct)
    cells[list(ERRORS)] = buckets
    return cells[_CELL_COLUMNS]
