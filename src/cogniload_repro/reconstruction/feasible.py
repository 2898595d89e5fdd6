"""Reconstructions: many tables of counts per model, each in agreement with all printed numbers.

The first table, r0, is drawn around the smooth response; the others depart from it as much as the
accuracies stated in the prose do (`misfit`). They show which values of a number are likely;
`bounds` shows which are possible. The misfit is fixed at its estimate, and the departures are
random effects of the levels of rho alone.
"""

from collections.abc import Iterable
from concurrent.futures import Executor
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from cogniload_repro.grid import CELL
from cogniload_repro.models import MODELS, Model
from cogniload_repro.reconstruction.integers import draw_counts
from cogniload_repro.reconstruction.misfit import estimate_misfit, find_departures
from cogniload_repro.reconstruction.reconstruct import DRAW_SEED, write_csv
from cogniload_repro.reconstruction.sufficient import recover_sums
from cogniload_repro.regression.design import GRID
from cogniload_repro.regression.reconstructions import TABLES_FILE

#: Number of committed tables per model that depart from the smooth response.
COUNT = 24


def write_tables(
    executor: Executor,
    path: str | Path = TABLES_FILE,
    models: Iterable[Model] = MODELS,
    tables: int = COUNT,
) -> Path:
    """Draw the tables of every model and write them to one CSV file.

    They depart from the smooth response by the estimated misfit, rounded to two decimals. The file
    does not depend on the number of processes.
    """
    misfit = round(estimate_misfit(find_departures()).value, 2)
    draw = partial(_draw_model, misfit=misfit, tables=tables)
    return write_csv(path, executor.map(draw, models))


def _draw_model(model: Model, misfit: float, tables: int) -> pd.DataFrame:
    """Return a model's cells with its tables as columns: the smooth one, r0, then r1, r2, ..."""
    smooth_stream = np.random.default_rng([DRAW_SEED, MODELS.index(model)])
    smooth = draw_counts(recover_sums(model), smooth_stream)
    others = draw_tables(model, misfit, tables)
    cells = GRID[CELL].copy()
    cells.insert(0, "model", model.name)
    for number, correct in enumerate([smooth, *others]):
        cells[f"r{number}"] = correct
    return cells


def draw_tables(model: Model, misfit: float, tables: int) -> list[np.ndarray]:
    """Draw distinct tables of correct answers that agree with everything printed for a model.

    Each table has its own random stream, so that the first ones do not depend on ``tables``.
    """
    model_sums = recover_sums(model)
    drawn: list[np.ndarray] = []
    # a trailing 0 would be the stream of the smooth table
    for stream in range(1, 4 * tables + 1):
        rng = np.random.default_rng([DRAW_SEED, MODELS.index(model), stream])
        try:
            correct = draw_counts(model_sums, rng, misfit)
        except ValueError:
            continue
        if not any(np.array_equal(correct, other) for other in drawn):
            drawn.append(correct)
        if len(drawn) == tables:
            return drawn
    raise ValueError(
        f"found only {len(drawn)} of {tables} tables of {model.name}; ask for fewer tables"
    )
