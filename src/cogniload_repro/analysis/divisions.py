"""Regressions on finished answers only, over all divisions of the overflows among the cells.

Leaving overflows out of the paper's regression changes the number of answers per cell, and the
printed tables do not say how many overflows each cell has. A local search from several starts
finds the least and the largest slope or z. Each value found is attained by a division that agrees
with Tables 2 to 6, but more extreme values may exist: these are not bounds.
"""

from functools import cache
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.linalg import block_diag
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_array
from scipy.special import expit

from cogniload_repro.analysis.interactions import THIRD, tested_levels
from cogniload_repro.files import RECONSTRUCTED
from cogniload_repro.regression.design import (
    FULL_COLUMNS,
    PRODUCTS,
    QUADRATIC_COLUMNS,
    lay_out,
)
from cogniload_repro.regression.likelihood import maximise_all
from cogniload_repro.regression.reconstructions import from_printed_tables

#: The committed rows of `search_divisions` for the paper's models.
DIVISIONS = RECONSTRUCTED / "divisions.csv"
#: The term whose coefficient is the slope in N of Table 2; other terms are products of two loads.
SLOPE = "log10_N"
_SUM_COLUMNS = ["total", "correct", "ctx"]
_STARTS = 3
_SEARCH_STEPS = 60
#: Shortest step of the search, as a fraction of the way to a vertex, and smallest gain.
_SHORTEST_STEP = 1e-3
_GAIN = 1e-5
#: A linear predictor beyond this size counts as separation.
_SEPARATED = 15.0


class Ends(NamedTuple):
    """An estimate with overflows counted as failures, and its range among finished answers."""

    value: float
    low: float
    high: float


def finished_slopes(cells: pd.DataFrame) -> pd.DataFrame:
    """Return each model's slope in N of the paper's regression among finished answers.

    One row per model: model, slope (overflows counted as failures, as in the paper), slope_low and
    slope_high (the least and the largest found over the divisions of the overflows; equal for
    scored answers). For the paper's models on its whole grid they are read from `DIVISIONS`; for
    other counts they are searched for, which takes a second per model.
    """
    rows = []
    for model in cells["model"].unique():
        rows.append((model, *_find_ends(cells, model, SLOPE, None)))
    return pd.DataFrame(rows, columns=["model", "slope", "slope_low", "slope_high"])


def finished_interactions(
    cells: pd.DataFrame, term: str, level: float | None = None
) -> pd.DataFrame:
    """Return z of a product of two loads (dN, drho or Nrho) among finished answers.

    Given a level of the third load (nominal fraction, statements, units of d), z is that of the
    simple slope at this level in the regression of Table 3. Otherwise it is that of the product
    when it is the only one added to the terms of Table 2. One row per model: model, term, level,
    ctx (answers that ran out of context), z (overflows counted as failures), z_low and z_high (as
    in `finished_slopes`).
    """
    overflows = cells.groupby("model", sort=False, observed=True)["ctx"].sum()
    rows = []
    for model, ctx in overflows.items():
        ends = _find_ends(cells, str(model), term, level)
        rows.append((model, term, level, ctx, *ends))
    columns = ["model", "term", "level", "ctx", "z", "z_low", "z_high"]
    return pd.DataFrame(rows, columns=columns)


def search_divisions(cells: pd.DataFrame) -> pd.DataFrame:
    """Return one model's rows of the committed table `DIVISIONS`, by searching its divisions.

    Columns: model, term, level, total, correct and ctx (answers), value, low, high. Term log10_N
    is the slope of `finished_slopes`, other terms are those of `finished_interactions`, at every
    tested level of the third load and without one (NaN).
    """
    model = cells["model"].iloc[0]
    counts = cells[_SUM_COLUMNS].sum()
    regressions: list[tuple[str, float | None]] = [(SLOPE, None)]
    levels = tested_levels(cells)
    for term, third in THIRD.items():
        regressions += [(term, level) for level in (None, *levels[third])]
    rows = []
    for term, level in regressions:
        ends = _Divisions(cells, term, level).search_ends()
        rows.append((model, term, level, *counts, *ends))
    columns = ["model", "term", "level", *_SUM_COLUMNS, *Ends._fields]
    return pd.DataFrame(rows, columns=columns)


@cache
def _read_divisions() -> dict[tuple, Ends]:
    """Return the committed ranges by model, term, level and sums of the counts."""
    ends = {}
    for row in pd.read_csv(DIVISIONS).itertuples(index=False):
        level = None if np.isnan(row.level) else row.level
        key = (row.model, row.term, level, row.total, row.correct, row.ctx)
        ends[key] = Ends(row.value, row.low, row.high)
    return ends


def _find_ends(cells: pd.DataFrame, model: str, term: str, level: float | None) -> Ends:
    """Return the range of one model: the committed one for these sums, else that of a search."""
    counts = cells[(cells["model"] == model) & (cells["total"] > 0)]
    if counts.empty:
        return Ends(np.nan, np.nan, np.nan)
    if not from_printed_tables(counts).any():
        return _Divisions(counts, term, level).value_of_given()
    committed = _read_divisions().get((model, term, level, *counts[_SUM_COLUMNS].sum()))
    return committed or _Divisions(counts, term, level).search_ends()


class _Divisions:
    """The divisions of one model's overflows among its cells that agree with Tables 2 to 6.

    The value of a division is a statistic of the finished answers: the slope in N of Table 2's
    regression, or z of a product of two loads.
    """

    def __init__(self, cells: pd.DataFrame, term: str, level: float | None):
        covariates = lay_out(cells)
        correct = cells["correct"].to_numpy(float)
        self._ctx = cells["ctx"].to_numpy(float)
        self._total = cells["total"].to_numpy(float)
        self._is_slope = term == SLOPE
        columns, self._weights = _lay_contrast(term, level)
        self._x = covariates[:, columns]
        self._sums = self._x.T @ correct
        self._beta = np.zeros(len(columns))
        self._possible = self._constrain(cells, covariates, correct)

    def _constrain(
        self, cells: pd.DataFrame, covariates: np.ndarray, correct: np.ndarray
    ) -> tuple[LinearConstraint, LinearConstraint]:
        """Return the linear constraints on the vector of correct answers, then overflows, by cell.

        Correct answers keep the identified sums, overflows their sums by N and d; a cell's correct
        answers and overflows are together at most its answers.
        """
        levels = [cells["N"] == N for N in cells["N"].unique()]
        levels += [cells["d"] == d for d in cells["d"].unique()]
        by_level = np.column_stack(levels).astype(float)
        of_correct = np.column_stack([by_level, covariates[:, 3:]])
        rows = block_diag(of_correct.T, by_level.T)
        printed = rows @ np.concatenate([correct, self._ctx])
        answers = np.hstack([np.eye(len(cells)), np.eye(len(cells))])
        return (
            LinearConstraint(csc_array(rows), printed, printed),
            LinearConstraint(csc_array(answers), -np.inf, self._total),
        )

    def value_of_given(self) -> Ends:
        """Return the statistic for known overflows in each cell, as both ends of the range."""
        value = self._evaluate(self._ctx)[0]
        return Ends(self._evaluate(0 * self._ctx)[0], value, value)

    def search_ends(self) -> Ends:
        """Return the least and the largest value found by searches from several starts."""
        if not self._ctx.any():
            return self.value_of_given()
        chance = np.random.default_rng(0)
        starts = [self._ctx]
        for _ in range(_STARTS - 1):
            starts.append(self._corner(chance.normal(size=len(self._ctx))))
        lows = [self._search(-1, start) for start in starts]
        highs = [self._search(1, start) for start in starts]
        low = np.fmin.reduce([np.nan, *lows])
        high = np.fmax.reduce([np.nan, *highs])
        return Ends(self._evaluate(0 * self._ctx)[0], low, high)

    def _search(self, sign: int, ctx: np.ndarray) -> float:
        """Return the least (sign -1) or largest (1) value found by the Frank-Wolfe method.

        Each step is towards the vertex with the largest gain along the gradient, the solution of a
        linear programme, and is halved until the value itself improves.
        """
        best, gradient = self._evaluate(ctx)
        if not np.isfinite(best):
            return best
        for _ in range(_SEARCH_STEPS):
            direction = self._corner(sign * gradient) - ctx
            length = 1.0
            value, slope = self._evaluate(ctx + direction)
            while not sign * (value - best) > _GAIN and length > _SHORTEST_STEP:
                length /= 2
                value, slope = self._evaluate(ctx + length * direction)
            if length <= _SHORTEST_STEP:
                break
            ctx = ctx + length * direction
            best = value
            gradient = slope
        return best

    def _evaluate(self, ctx: np.ndarray) -> tuple[float, np.ndarray]:
        """Return slope or z without these overflows and its gradient by them, NaN if no fit."""
        x = self._x
        finished = self._total - ctx
        # start at the fit of the previous division, which is near
        (beta,), _ = maximise_all(x, finished[None], self._sums[None], start=self._beta)
        if not np.abs(x @ beta).max() <= _SEPARATED:
            return np.nan, np.full(len(finished), np.nan)
        self._beta = beta

        p = expit(x @ beta)
        binomial = p * (1 - p)
        covariance = np.linalg.inv(x.T @ (x * (finished * binomial)[:, None]))
        along = x @ covariance @ self._weights
        slope = self._weights @ beta
        slope_change = p * along
        if self._is_slope:
            return slope, slope_change

        variance = self._weights @ covariance @ self._weights
        bend = finished * binomial * (1 - 2 * p) * along**2
        through_beta = p * (x @ covariance @ (x.T @ bend))
        variance_change = binomial * along**2 - through_beta
        se = np.sqrt(variance)
        z = slope / se
        z_change = slope_change / se - z * variance_change / (2 * variance)
        return z, z_change

    def _corner(self, weights: np.ndarray) -> np.ndarray:
        """Return the overflows by cell with the largest weighted sum: a vertex of the polytope."""
        costs = np.concatenate([np.zeros(len(weights)), -weights])
        programme = milp(
            costs,
            constraints=self._possible,
            bounds=Bounds(0, np.inf),
            options={"presolve": False},
        )
        return programme.x[len(weights) :]


def _lay_contrast(term: str, level: float | None) -> tuple[tuple[int, ...], np.ndarray]:
    """Return the columns of a regression, and the weights of the contrast of its coefficients."""
    if term == SLOPE:
        return QUADRATIC_COLUMNS, np.eye(len(QUADRATIC_COLUMNS))[2]
    if level is None:
        columns = (*QUADRATIC_COLUMNS, PRODUCTS[term])
        return columns, np.eye(len(columns))[-1]
    third = np.log10(level) if THIRD[term] == "N" else level
    unit = np.eye(len(FULL_COLUMNS))
    return FULL_COLUMNS, unit[PRODUCTS[term]] + third * unit[PRODUCTS["dNrho"]]
