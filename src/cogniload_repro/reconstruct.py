"""Published tables -> one table of counts per model and cell that agrees with everything the paper prints.

Such a table is a reconstruction, not the authors' data: many tables agree, one is drawn. See `sufficient` for the
statistics, `counts` for the correct answers, `buckets` for the errors.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from .buckets import OF_CONDITION, spread_errors
from .counts import draw_counts
from .models import MODELS, Model
from .published import ERRORS
from .sufficient import GRID, Recovered, recover

#: Seed of the committed table.
SEED = 2026
COLUMNS = ("model", "N", "d", "ratio_pct", "needles", "rho", "n", "correct", *ERRORS)


def reconstruct(models: Iterable[Model] = MODELS, seed: int = SEED) -> Iterable[pd.DataFrame]:
    """Yield, model by model, the 140 cells with answers, correct answers and error buckets.

    Parameters
    ----------
    models : iterable of Model
    seed : int
        Every model has its own stream, so a model's cells do not depend on which others are asked for.

    Yields
    ------
    DataFrame
        Columns `COLUMNS`, rows in grid order.
    """
    for model in models:
        rng = np.random.default_rng([seed, MODELS.index(model)])
        recovered = recover(model)
        yield assemble_cells(recovered, draw_counts(recovered, rng), rng)


def assemble_cells(recovered: Recovered, correct: np.ndarray, rng: np.random.Generator) -> pd.DataFrame:
    """Return a model's cells, with the errors spread over the buckets.

    Parameters
    ----------
    recovered : Recovered
    correct : ndarray of int, shape (140,)
    rng : numpy Generator
        Decides which ratio an error of a given (N, d) and bucket falls to; the paper says nothing of that.
    """
    cells = GRID.assign(model=recovered.model.name, n=recovered.n.astype(int), correct=correct)
    errors = (cells["n"] - cells["correct"]).to_numpy()
    by_condition = spread_errors(recovered.model.name, (OF_CONDITION @ errors).astype(int))
    buckets = np.zeros((len(cells), len(ERRORS)), dtype=int)
    for members, counts in zip(OF_CONDITION, by_condition, strict=True):
        rows = np.flatnonzero(members)
        drawn = rng.permutation(np.repeat(np.arange(len(ERRORS)), counts))
        for row, part in zip(rows, np.split(drawn, np.cumsum(errors[rows])[:-1]), strict=True):
            buckets[row] = np.bincount(part, minlength=len(ERRORS))
    cells[list(ERRORS)] = buckets
    return cells[list(COLUMNS)]
