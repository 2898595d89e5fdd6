"""Answers that ran out of context, and what the tables say of those that were finished.

Tables 4 and 5 print overflows by d and by N. They do not print them by N and d together, nor by
rho, so accuracy among finished answers is bounded, not identified: a model that only finishes easy
puzzles looks good when levels of d are pooled. The bounds come from integer programmes over all
counts that have the printed sums. `divisions` has slopes among finished answers.
"""

from collections.abc import Collection, Mapping
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import Bounds, LinearConstraint, milp

from cogniload_repro.regression.cell_tables import errors_by
from cogniload_repro.regression.reconstructions import from_printed_tables
from cogniload_repro.schemas import ERRORS

#: Accuracy at a level is marked where a larger share of a model's answers ran out of context.
MARKED_SHARE = 0.10
_OUTCOMES = ("correct", *ERRORS)
_SHARES = ["total", "wrong", "ctx", "share", "of_errors"]
#: Steps of Dinkelbach's method; it converges faster than linearly.
_RATIO_STEPS = 50


def overflow_shares(cells: pd.DataFrame, by: str = "N") -> pd.DataFrame:
    """Count answers that ran out of context by model and one load.

    One row per model and level: model, the load, total, wrong and ctx (answers), share (of the
    answers that ran out of context) and of_errors (their share of the wrong answers; NaN without
    any). Empty if overflows are not known.
    """
    columns = ["model", by, *_SHARES]
    if "ctx" not in cells:
        return pd.DataFrame(columns=columns)
    counts = errors_by(cells, by).rename(columns={"samples": "total"})
    counts["wrong"] = counts[list(ERRORS)].sum(axis=1)
    counts["share"] = counts["ctx"] / counts["total"]
    counts["of_errors"] = counts["ctx"] / counts["wrong"].where(counts["wrong"] > 0)
    return counts[columns]


def marked_levels(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the levels of d and of N at which a model has more overflows than `MARKED_SHARE`.

    One row per model and such level: model, load (d or N), level, share (fraction). The tables
    print these counts, so they are the same in each reconstruction.
    """
    loads = []
    for load in ("d", "N"):
        shares = overflow_shares(cells, load).rename(columns={load: "level"})
        loads.append(shares.assign(load=load))
    shares = pd.concat(loads)[["model", "load", "level", "share"]]
    return shares[shares["share"] > MARKED_SHARE].reset_index(drop=True)


def finished_accuracy(
    cells: pd.DataFrame, N: int, levels: Mapping[str, Collection[int]]
) -> pd.DataFrame:
    """Bound the accuracy among finished answers at a length, by named sets of d.

    One row per model and set: model, d (its name), fewest and most (finished answers), low and high
    (accuracy among them: least and largest in any counts with the printed sums by d and by N; NaN
    where no answer can have finished). Scored answers have one value.
    """
    columns = ["model", "d", "fewest", "most", "low", "high"]
    if "ctx" not in cells:
        return pd.DataFrame(columns=columns)
    rows = []
    asked = cells[cells["total"] > 0]
    for model, counts in asked.groupby("model", sort=False, observed=True):
        tables = _Tables(counts, exact=not from_printed_tables(counts).any())
        for name, difficulties in levels.items():
            inside = np.outer(
                tables.lengths == N, np.isin(tables.difficulties, list(difficulties))
            )
            if tables.total[inside].sum():
                rows.append((model, name, *tables.finished(inside)))
    return pd.DataFrame(rows, columns=columns)


class _Finished(NamedTuple):
    """The fewest and most finished answers, and the least and largest accuracy among them."""

    fewest: int
    most: int
    low: float
    high: float


class _Tables:
    """All counts by N, d and outcome that have one model's printed sums.

    The sums are those over N and over d of each outcome, and the answers in each (N, d).
    """

    def __init__(self, cells: pd.DataFrame, *, exact: bool):
        table = cells.groupby(["N", "d"])[["total", *_OUTCOMES]].sum()
        grid = pd.MultiIndex.from_product(table.index.levels)
        table = table.reindex(grid, fill_value=0)
        self.lengths = grid.levels[0].to_numpy()
        self.difficulties = grid.levels[1].to_numpy()
        self.total = table["total"].to_numpy().reshape(len(self.lengths), -1)
        counts = table[list(_OUTCOMES)].to_numpy(float).reshape(*self.total.shape, -1)

        # each row is a sum: the answers of a cell, an outcome at a d, an outcome at an N
        unit = np.eye(counts.size).reshape(*counts.shape, -1)
        rows = [unit.sum(axis=axis).reshape(-1, counts.size) for axis in (2, 0, 1)]
        self._rows = np.vstack(rows)
        self._sums = self._rows @ counts.ravel()
        # the errors of a reconstruction are those of another table, so they may not add up
        self._sums[: self.total.size] = self.total.ravel()
        self._bounds = Bounds(0, np.inf)
        if exact:
            self._bounds = Bounds(counts.ravel(), counts.ravel())

    def finished(self, inside: np.ndarray) -> _Finished:
        """Return what is possible among the finished answers of some (N, d)."""
        is_correct = np.array(
            [outcome == "correct" for outcome in _OUTCOMES], dtype=float
        )
        is_finished = np.array([outcome != "ctx" for outcome in _OUTCOMES], dtype=float)
        correct = np.outer(inside, is_correct).ravel()
        finished = np.outer(inside, is_finished).ravel()
        fewest = round(finished @ self._largest(-finished))
        most = round(finished @ self._largest(finished))
        single = fewest == most
        low = self._extreme_ratio(correct, finished, sign=-1, single=single)
        high = self._extreme_ratio(correct, finished, sign=1, single=single)
        return _Finished(fewest, most, low, high)

    def _extreme_ratio(
        self, correct: np.ndarray, finished: np.ndarray, *, sign: int, single: bool
    ) -> float:
        """Return the least (sign -1) or largest (1) accuracy among finished answers, NaN if none.

        Dinkelbach's method: the ratio moves to that of the counts which exceed it most. If there is
        a ``single`` number of finished answers, the first such counts are the extreme ones.
        """
        ratio = 0.0 if sign < 0 else 1.0  # outside the range
        for _ in range(_RATIO_STEPS):
            counts = self._largest(
                sign * (correct - ratio * finished), at_least_one=finished
            )
            if counts is None:
                return np.nan
            if abs((correct - ratio * finished) @ counts) < 1e-6:
                return ratio
            ratio = float(correct @ counts / (finished @ counts))
            if single:
                return ratio
        return ratio

    def _largest(
        self, weights: np.ndarray, at_least_one: np.ndarray | None = None
    ) -> np.ndarray | None:
        """Return the whole counts with the largest weighted sum; None if there are none."""
        constraints = [LinearConstraint(self._rows, self._sums, self._sums)]
        if at_least_one is not None:
            constraints.append(LinearConstraint(at_least_one[None], 1, np.inf))
        programme = milp(
            -weights, constraints=constraints, integrality=1, bounds=self._bounds
        )
        return None if programme.x is None else np.round(programme.x)
