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
#: Steps of Dinkelbach's method; it converges faster than linearly.
_RATIO_STEPS = 50


def overflow_shares(cells: pd.DataFrame, by: str = "N") -> pd.DataFrame:
    """Count answers that ran out of context by model and one load.

    One row per model and level: model, the load, total, wrong and ctx (answers), share (of the
    answers that ran out of context) and of_errors (their share of the wrong answers; NaN without
    any). Empty if overflows are not known.
    """
    columns = ["model", by, "total", "wrong", "ctx", "share", "of_errors"]
    if "ctx" not in cells:
        return pd.DataFrame(columns=columns)
    counts = errors_by(cells, by).rename(columns={"samples": "total"})
    wrong = counts[list(ERRORS)].sum(axis=1)
    counts["wrong"] = wrong
    counts["share"] = counts["ctx"] / counts["total"]
    counts["of_errors"] = counts["ctx"] / wrong.where(wrong > 0)
    return counts[columns]


def marked_levels(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the levels of d and of N at which a model has more overflows than `MARKED_SHARE`.

    One row per model and such level: model, load (d or N), level, share (fraction). The tables
    print these counts, so they are the same in each reconstruction.
    """
    by_difficulty = overflow_shares(cells, "d").rename(columns={"d": "level"})
    by_length = overflow_shares(cells, "N").rename(columns={"N": "level"})
    shares = pd.concat([by_difficulty.assign(load="d"), by_length.assign(load="N")])
    is_marked = shares["share"] > MARKED_SHARE
    columns = ["model", "load", "level", "share"]
    return shares.loc[is_marked, columns].reset_index(drop=True)


def finished_accuracy(
    cells: pd.DataFrame, N: int, levels: Mapping[str, Collection[int]]
) -> pd.DataFrame:
    """Bound each model's accuracy among finished answers at one length, for named sets of d.

    One row per model and set: model, d (its name), fewest and most (finished answers), low and high
    (accuracy among them: least and largest in any counts with the printed sums by d and by N; NaN
    where no answer can have finished). Scored answers have one value.
    """
    columns = ["model", "d", "fewest", "most", "low", "high"]
    if "ctx" not in cells:
        return pd.DataFrame(columns=columns)
    rows = []
    answered = cells[cells["total"] > 0]
    for model, counts in answered.groupby("model", sort=False, observed=True):
        tables = _Tables(counts, exact=not from_printed_tables(counts).any())
        for name, difficulties in levels.items():
            in_set = np.isin(tables.difficulties, list(difficulties))
            inside = np.outer(tables.lengths == N, in_set)
            if tables.total[inside].any():
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

    The sums are those over N and over d of each outcome, and the answers in each (N, d). ``exact``
    counts are known, and have no other table.
    """

    def __init__(self, cells: pd.DataFrame, *, exact: bool):
        table = cells.groupby(["N", "d"])[["total", *_OUTCOMES]].sum()
        grid = pd.MultiIndex.from_product(table.index.levels)
        table = table.reindex(grid, fill_value=0)
        self.lengths = grid.levels[0].to_numpy()
        self.difficulties = grid.levels[1].to_numpy()
        shape = (len(self.lengths), len(self.difficulties))
        self.total = table["total"].to_numpy().reshape(shape)
        counts = table[list(_OUTCOMES)].to_numpy(float).reshape(*shape, -1)

        # each row picks the counts of a sum; a count is a place in (N, d, outcome)
        unit = np.eye(counts.size).reshape(*counts.shape, -1)
        of_answers = unit.sum(axis=2).reshape(-1, counts.size)
        of_difficulty = unit.sum(axis=0).reshape(-1, counts.size)
        of_length = unit.sum(axis=1).reshape(-1, counts.size)
        rows = np.vstack([of_answers, of_difficulty, of_length])
        sums = rows @ counts.ravel()
        # the errors of a reconstruction are those of another table, so they may not add up
        sums[: self.total.size] = self.total.ravel()
        self._printed = LinearConstraint(rows, sums, sums)
        self._bounds = Bounds(0, np.inf)
        if exact:
            self._bounds = Bounds(counts.ravel(), counts.ravel())

    def finished(self, inside: np.ndarray) -> _Finished:
        """Bound the number of finished answers at some (N, d), and the accuracy among them."""
        outcomes = np.array(_OUTCOMES)
        correct = np.outer(inside, outcomes == "correct").ravel().astype(float)
        finished = np.outer(inside, outcomes != "ctx").ravel().astype(float)
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
            excess = correct - ratio * finished
            counts = self._largest(sign * excess, at_least_one=finished)
            if counts is None:
                return np.nan
            if abs(excess @ counts) < 1e-6:
                return ratio
            ratio = float(correct @ counts / (finished @ counts))
            if single:
                return ratio
        return ratio

    def _largest(
        self, weights: np.ndarray, at_least_one: np.ndarray | None = None
    ) -> np.ndarray | None:
        """Return the whole counts with the largest weighted sum; None if there are none."""
        constraints = [self._printed]
        if at_least_one is not None:
            constraints.append(LinearConstraint(at_least_one[None], 1, np.inf))
        programme = milp(
            -weights, constraints=constraints, integrality=1, bounds=self._bounds
        )
        return None if programme.x is None else np.round(programme.x)
