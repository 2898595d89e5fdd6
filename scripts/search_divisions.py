"""Search the divisions of overflows among cells, and write data/reconstructed/divisions.csv.

For each model of the paper, a local search from several starts finds the least and the largest
value of a statistic of the finished answers over all divisions of the overflows that agree with
Tables 2 to 6. Three minutes; `analysis.divisions` reads the result. Usage:

    .venv/bin/python scripts/search_divisions.py
"""

from collections.abc import Iterator
from functools import partial

import numpy as np
import pandas as pd
from scipy.linalg import block_diag
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_array
from scipy.special import expit

from cogniload_repro import load_cells
from cogniload_repro.analysis.divisions import (
    DIVISIONS,
    SLOPE,
    SUM_COLUMNS,
)
from cogniload_repro.analysis.interactions import ORIGIN, THIRD, tested_levels
from cogniload_repro.executors import open_executor
from cogniload_repro.reconstruction.reconstruct import write_csv
from cogniload_repro.regression.design import (
    FULL_COLUMNS,
    PRODUCTS,
    QUADRATIC_COLUMNS,
    lay_out,
)
from cogniload_repro.regression.likelihood import maximise_all

_STARTS = 3
_SEARCH_STEPS = 60
#: Shortest step of the search, as a fraction of the way to a vertex, and smallest gain.
_SHORTEST_STEP = 1e-3
_GAIN = 1e-5
#: A linear predictor beyond this size counts as separation.
SEPARATED = 15.0


def search_divisions(cells: pd.DataFrame) -> pd.DataFrame:
    """Return one model's rows of `DIVISIONS`.

    Products are taken at every tested level of the third load and at its origin.
    """
    model = cells["model"].iloc[0]
    counts = cells[SUM_COLUMNS].sum()
    regressions: list[tuple[str, float | None]] = [(SLOPE, None)]
    levels = tested_levels(cells)
    for term, third in THIRD.items():
        regressions += [(term, level) for level in (ORIGIN[third], *levels[third])]
    possible = constrain(cells)
    rows = []
    for term, level in regressions:
        value, _ = differentiate(cells, term, level, np.zeros(len(cells)))
        low, high = search_ends(cells, term, level, possible)
        rows.append((model, term, level, *counts, value, low, high))
    columns = ["model", "term", "level", *SUM_COLUMNS, "value", "low", "high"]
    return pd.DataFrame(rows, columns=columns)


def constrain(cells: pd.DataFrame) -> tuple[LinearConstraint, LinearConstraint]:
    """Return the linear constraints on the vector of correct answers, then overflows, by cell.

    Correct answers keep the identified sums, overflows their sums by N and d; a cell's correct
    answers and overflows are together at most its answers.
    """
    levels = [cells["N"] == N for N in cells["N"].unique()]
    levels += [cells["d"] == d for d in cells["d"].unique()]
    by_level = np.column_stack(levels).astype(float)
    of_correct = np.column_stack([by_level, lay_out(cells)[:, 3:]])
    rows = block_diag(of_correct.T, by_level.T)
    printed = rows @ np.concatenate([cells["correct"], cells["ctx"]])
    answers = np.hstack([np.eye(len(cells)), np.eye(len(cells))])
    return (
        LinearConstraint(csc_array(rows), printed, printed),
        LinearConstraint(csc_array(answers), -np.inf, cells["total"]),
    )


def search_ends(cells, term, level, possible) -> tuple[float, float]:
    """Return the least and the largest value found by searches from several starts."""
    ctx = cells["ctx"].to_numpy(float)
    if not ctx.any():
        value, _ = differentiate(cells, term, level, ctx)
        return value, value
    chance = np.random.default_rng(0)
    starts = [ctx]
    for _ in range(_STARTS - 1):
        starts.append(find_corner(possible, chance.normal(size=len(ctx))))
    evaluate = partial(differentiate, cells, term, level)
    lows = [search(evaluate, possible, -1, start) for start in starts]
    highs = [search(evaluate, possible, 1, start) for start in starts]
    return np.fmin.reduce([np.nan, *lows]), np.fmax.reduce([np.nan, *highs])


def search(evaluate, possible, sign: int, ctx: np.ndarray) -> float:
    """Return the least (sign -1) or largest (1) value found by the Frank-Wolfe method.

    Each step is towards the vertex with the largest gain along the gradient, the solution of a
    linear programme, and is halved until the value itself improves.
    """
    best, gradient = evaluate(ctx)
    if not np.isfinite(best):
        return best
    for _ in range(_SEARCH_STEPS):
        direction = find_corner(possible, sign * gradient) - ctx
        length = 1.0
        value, slope = evaluate(ctx + direction)
        while not sign * (value - best) > _GAIN and length > _SHORTEST_STEP:
            length /= 2
            value, slope = evaluate(ctx + length * direction)
        if length <= _SHORTEST_STEP:
            break
        ctx = ctx + length * direction
        best = value
        gradient = slope
    return best


def find_corner(possible, weights: np.ndarray) -> np.ndarray:
    """Return the overflows by cell with the largest weighted sum: a vertex of the polytope."""
    costs = np.concatenate([np.zeros(len(weights)), -weights])
    options = {"presolve": False}
    programme = milp(
        costs, constraints=possible, bounds=Bounds(0, np.inf), options=options
    )
    return programme.x[len(weights) :]


def differentiate(cells, term, level, ctx: np.ndarray) -> tuple[float, np.ndarray]:
    """Return slope or z without these overflows and its gradient by them, NaN if no fit."""
    columns, weights = lay_contrast(term, level)
    x = lay_out(cells)[:, columns]
    finished = cells["total"].to_numpy(float) - ctx
    sums = x.T @ cells["correct"].to_numpy(float)
    (beta,), _ = maximise_all(x, finished[None], sums[None])
    if not np.abs(x @ beta).max() <= SEPARATED:
        return np.nan, np.full(len(finished), np.nan)
    accuracy = expit(x @ beta)
    binomial = accuracy * (1 - accuracy)
    covariance = np.linalg.inv(x.T @ (x * (finished * binomial)[:, None]))
    along = x @ covariance @ weights
    slope = weights @ beta
    slope_change = accuracy * along
    if term == SLOPE:
        return slope, slope_change
    variance = weights @ covariance @ weights
    bend = finished * binomial * (1 - 2 * accuracy) * along**2
    through_beta = accuracy * (x @ covariance @ (x.T @ bend))
    variance_change = binomial * along**2 - through_beta
    se = np.sqrt(variance)
    z = slope / se
    return z, slope_change / se - z * variance_change / (2 * variance)


def lay_contrast(term, level) -> tuple[tuple[int, ...], np.ndarray]:
    """Return the columns of a regression, and the weights of the contrast of its coefficients."""
    unit = np.eye(len(FULL_COLUMNS))
    if term == SLOPE:
        return QUADRATIC_COLUMNS, unit[2, : len(QUADRATIC_COLUMNS)]
    third = np.log10(level) if THIRD[term] == "N" else level
    return FULL_COLUMNS, unit[PRODUCTS[term]] + third * unit[PRODUCTS["dNrho"]]


def search_models() -> Iterator[pd.DataFrame]:
    """Yield the rows of each model."""
    models = [counts for _, counts in load_cells().groupby("model", sort=False)]
    with open_executor(2) as executor:
        yield from executor.map(search_divisions, models)


if __name__ == "__main__":
    print(f"wrote {write_csv(DIVISIONS, search_models())}")
