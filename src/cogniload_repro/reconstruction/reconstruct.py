"""The typical reconstruction: per model the table of counts with the median lack of fit, with its errors allocated.

It is not the authors' data: many tables agree with everything the paper prints (`feasible`). The smoothest would
flatter the paper's regression, and so would the mean.
"""

from collections.abc import Iterable
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.special import xlogy
from scipy.stats import norm

from cogniload_repro.endings import CONTEXT_TOKENS, RESERVED_TOKENS
from cogniload_repro.files import RECONSTRUCTED, write_whole
from cogniload_repro.models import MODELS, Model
from cogniload_repro.published import ERRORS, load_table
from cogniload_repro.reconstruction.constraints import (
    CONDITIONS,
    OF_BUCKETS,
    OF_CONDITION,
    bucket_sums,
)
from cogniload_repro.reconstruction.counts import draw_counts
from cogniload_repro.reconstruction.sufficient import Recovered, recover
from cogniload_repro.statistics.design import GRID
from cogniload_repro.statistics.reconstructions import KEYS, load_tables

#: Seed of the committed tables.
DRAW_SEED = 2026
#: The committed table.
CELLS = RECONSTRUCTED / "cells.csv"
#: The columns of the committed table, whose rows are in the order of models and grid.
COLUMNS = ["model", "N", "d", "ratio_pct", "needles", "rho", "total", "correct", *ERRORS]


def reconstruct(
    models: Iterable[Model] = MODELS, seed: int | None = None
) -> Iterable[pd.DataFrame]:
    """Yield, model by model, the 140 cells with the columns of `COLUMNS`, each model from its own random stream.

    A ``seed`` samples another table; by default it is the typical one of the committed tables.
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
    """Return the place of the table, of shape (tables, 140), with the median lack of fit.

    All have the same likelihood under the regression, so deviances are ordered as saturated log-likelihoods.
    """
    saturated = (xlogy(tables, tables / total) + xlogy(total - tables, 1 - tables / total)).sum(
        axis=1
    )
    return int(np.argsort(saturated, kind="stable")[len(tables) // 2])


def write_csv(path: str | Path, frames: Iterable[pd.DataFrame]) -> Path:
    """Write frames below one another as CSV, whole or not at all."""
    return write_whole(
        path, pd.concat(frames, ignore_index=True).to_csv(index=False, lineterminator="\n")
    )


@cache
def load_counts() -> pd.DataFrame:
    """Return the reconstructed cells of all 22 models, 3,080 rows with the columns of `COLUMNS`."""
    return pd.read_csv(CELLS)


def assemble_cells(
    recovered: Recovered, correct: np.ndarray, rng: np.random.Generator
) -> pd.DataFrame:
    """Return a model's cells with their errors in buckets; which ratio an error of an (N, d) falls to is random."""
    cells = GRID.assign(model=recovered.model.name, total=recovered.n.astype(int), correct=correct)
    errors = (cells["total"] - cells["correct"]).to_numpy()
    by_condition = allocate_errors(recovered.model.name, (OF_CONDITION @ errors).astype(int))
    buckets = np.zeros((len(cells), len(ERRORS)), dtype=int)
    for members, counts in zip(OF_CONDITION, by_condition, strict=True):
        rows = np.flatnonzero(members)
        drawn = rng.permutation(np.repeat(np.arange(len(ERRORS)), counts))
        for row, part in zip(rows, np.split(drawn, np.cumsum(errors[rows])[:-1]), strict=True):
            buckets[row] = np.bincount(part, minlength=len(ERRORS))
    cells[list(ERRORS)] = buckets
    return cells[COLUMNS]


def allocate_errors(model: str, errors: np.ndarray) -> np.ndarray:
    """Allocate the errors of each of `CONDITIONS` over the buckets, with the sums of Tables 4 and 5 exact.

    These are the whole numbers, shape (20, 5), nearest to the most even allocation (ctx: as token lengths suggest).
    """
    groups, sums = bucket_sums(model)
    groups, sums = np.vstack([groups, OF_BUCKETS]), np.concatenate([sums, errors])
    start = np.ones((len(CONDITIONS), len(ERRORS)))
    start[:, 0] = overflow_chance(model)
    even = start.ravel()
    for _ in range(500):  # iterative proportional fitting
        for group, total in zip(groups, sums, strict=True):
            if (current := group @ even) > 0:
                even *= np.where(group > 0, total / current, 1)
    # least absolute distance: minimise the sum of distances, each at least |whole - even|
    size, unit = len(even), np.eye(len(even))
    programme = milp(
        np.append(np.zeros(size), np.ones(size)),
        constraints=[
            LinearConstraint(np.hstack([groups, np.zeros_like(groups)]), sums, sums),
            LinearConstraint(np.hstack([unit, -unit]), -np.inf, even),
            LinearConstraint(np.hstack([unit, unit]), even, np.inf),
        ],
        integrality=np.append(np.ones(size), np.zeros(size)),
        bounds=Bounds(0, np.inf),
    )
    if programme.x is None:
        raise ValueError(
            f"the errors of {model} cannot be allocated to the buckets of Tables 4 and 5 ({programme.message}); "
            "try another seed"
        )
    return np.rint(programme.x[:size]).astype(int).reshape(start.shape)


def overflow_chance(model: str) -> np.ndarray:
    """Return a rough chance of a context overflow per condition, shape (20,), from the printed token lengths.

    Output lengths are taken as log-normal; where they are not legible, the median of the other chances stands in.
    """
    tokens = load_table("tokens").set_index(["model", "N", "d"]).loc[model].reindex(CONDITIONS)
    # mean = exp(m + s^2/2), p90 = exp(m + 1.2816 s): a quadratic in s; its smaller root is the usual case
    z, ratio = norm.ppf(0.9), np.log(tokens["output_p90"] / tokens["output_mean"])
    s = z - np.sqrt(np.maximum(z**2 - 2 * ratio, 0))
    m = np.log(tokens["output_p90"]) - z * s
    room = CONTEXT_TOKENS - RESERVED_TOKENS - tokens["prompt_mean"]
    chance = pd.Series(norm.sf((np.log(room) - m) / np.maximum(s, 0.05)), CONDITIONS)
    return chance.fillna(chance.median()).fillna(1.0).clip(lower=1e-4).to_numpy()
