"""Search the divisions of overflows among cells, and write data/reconstructed/divisions.csv.

For each model of the paper, a local search from several starts finds the least and the largest
value of a statistic of the finished answers over all divisions of the overflows that agree with
Tables 2 to 6. Three minutes; `analysis.divisions` reads the result. Usage:

    .venv/bin/python scripts/search_divisions.py
"""

from functools import partial

import numpy as np
import pandas as pd
from scipy.linalg import block_diag
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_array
from scipy.special import expit

from cogniload_repro import load_cells
from cogniload_repro.analysis.divisions import DIVISIONS, SLOPE, SUM_COLUMNS
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

COLUMNS = [
    "model",
    "term",
    "level",
    *SUM_COLUMNS,
    "value",
    "low",
    "high",
]
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
    none = np.zeros(len(cells))
    possible = constrain(cells)
    levels = tested_levels(cells)
    regressions = [(SLOPE, None)]
    for term, third in THIRD.items():
        for level in (ORIGIN[third], *levels[third]):
            regressions.append((term, level))
    rows = []
    for term, level in regressions:
        value, _ = differentiate(cells, term, level, none)
        low, high = search_ends(cells, term, level, possible)
        rows.append((model, term, level, *counts, value, low, high))
    return pd.DataFrame(rows, columns=COLUMNS)


def constrain(cells: pd.DataFrame) -> list[LinearConstraint]:
    """Return the linear constraints on the vector of correct answers, then overflows, by cell.

    Correct answers keep the identified sums, overflows their sums by N and d; a cell's correct
    answers and overflows are together at most its answers.
    """
    levels = []
    for load in ("N", "d"):
        for level in cells[load].unique():
            levels.append(cells[load] == level)
    by_level = np.column_stack(levels).astype(float)
    of_rho = lay_out(cells)[:, 3:]
    by_sum = np.hstack([by_level, of_rho])
    sums = block_diag(by_sum.T, by_level.T)
    counts = np.append(cells["correct"], cells["ctx"])
    printed = sums @ counts
    answers = np.tile(np.eye(len(cells)), 2)
    return [
        LinearConstraint(csc_array(sums), printed, printed),
        LinearConstraint(csc_array(answers), -np.inf, cells["total"]),
    ]


def search_ends(cells, term, level, possible) -> tuple[float, float]:
    """Return the least and the largest value found by searches from several starts."""
    ctx = cells["ctx"].to_numpy(float)
    rng = np.random.default_rng(0)
    starts = [ctx]
    while len(starts) < _STARTS:
        weights = rng.normal(size=len(ctx))
        starts.append(find_corner(possible, weights))
    evaluate = partial(differentiate, cells, term, level)
    low = high = np.nan
    for start in starts:
        low = np.fmin(low, search(evaluate, possible, -1, start))
        high = np.fmax(high, search(evaluate, possible, 1, start))
    return low, high


def search(evaluate, possible, sign: int, ctx: np.ndarray) -> float:
    """Return the least (sign -1) or largest (1) value found by the Frank-Wolfe method.

    Each step is towards the vertex with the largest gain along the gradient, the solution of a
    linear programme, and is halved until the value itself improves.
    """
    best, gradient = evaluate(ctx)
    if np.isnan(best):
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
    costs = np.append(np.zeros(len(weights)), -weights)
    programme = milp(
        costs,
        constraints=possible,
        bounds=Bounds(0, np.inf),
        options={"presolve": False},
    )
    return programme.x[len(weights) :]


def differentiate(cells, term, level, ctx: np.ndarray) -> tuple[float, np.ndarray]:
    """Return slope or z without these overflows and its gradient by them, NaN if no fit."""
    weights = weigh_terms(term, level)
    x = lay_out(cells)[:, : len(weights)]
    finished = cells["total"].to_numpy(float) - ctx
    sums = cells["correct"].to_numpy(float) @ x
    (beta,), _ = maximise_all(x, finished[None], sums[None])
    log_odds = x @ beta
    if not np.abs(log_odds).max() <= SEPARATED:
        return np.nan, np.full(len(ctx), np.nan)
    accuracy = expit(log_odds)
    binomial = accuracy * (1 - accuracy)
    covariance = np.linalg.inv((x.T * finished * binomial) @ x)
    along = x @ covariance @ weights
    slope = weights @ beta
    change = accuracy * along
    if term == SLOPE:
        return slope, change
    direct = binomial * along**2
    bend = finished * direct * (1 - 2 * accuracy)
    through_beta = accuracy * (x @ covariance @ (bend @ x))
    variance_change = direct - through_beta
    se = np.sqrt(weights @ covariance @ weights)
    se_change = variance_change / (2 * se)
    z = slope / se
    return z, (change - z * se_change) / se


def weigh_terms(term, level) -> np.ndarray:
    """Return the weights of coefficients of Table 2's regression, or Table 3's, in a slope."""
    unit = np.eye(len(FULL_COLUMNS))
    if term == SLOPE:
        return unit[2][QUADRATIC_COLUMNS]
    third = np.log10(level) if THIRD[term] == "N" else level
    return unit[PRODUCTS[term]] + third * unit[PRODUCTS["dNrho"]]


if __name__ == "__main__":
    models = [counts for _, counts in load_cells().groupby("model", sort=False)]
    with open_executor(2) as executor:
        tables = executor.map(search_divisions, models)
        print("wrote", write_csv(DIVISIONS, tables))
