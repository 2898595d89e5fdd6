"""Answers that ran out of context, and what the tables say of those that were finished.

Tables 4 and 5 print overflows by d and by N. They do not print them by N and d together, nor by rho, so accuracy among
finished answers is bounded, not identified: a model that only finishes easy puzzles looks good when levels of d are
pooled. The bounds come from integer programmes over all counts that have the printed sums.
"""

from collections.abc import Collection, Mapping
from functools import cache

import numpy as np
import pandas as pd
from scipy.linalg import block_diag
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_array
from scipy.special import expit

from cogniload_repro.files import RECONSTRUCTED
from cogniload_repro.robustness.interactions import THIRD
from cogniload_repro.schemas import ERRORS
from cogniload_repro.statistics.cell_tables import errors_by
from cogniload_repro.statistics.design import FULL, PRODUCTS, QUADRATIC, lay_out
from cogniload_repro.statistics.likelihood import maximise_all
from cogniload_repro.statistics.reconstructions import from_printed_tables

#: Accuracy at a level is marked where a larger share of a model's answers ran out of context.
MARKED_SHARE = 0.10
#: The committed rows of `search_divisions` for the paper's models.
DIVISIONS = RECONSTRUCTED / "divisions.csv"
_OUTCOMES = ("correct", *ERRORS)
_COUNTS = ["total", "correct", "ctx"]
_STARTS, _STEPS = 3, 60
_SEPARATED = 15.0  # linear predictors beyond this size are as good as separated


def overflow_shares(cells: pd.DataFrame, by: str = "N") -> pd.DataFrame:
    """Count answers that ran out of context by model and one load.

    One row per model and level: model, the load, total, wrong and ctx (answers), share (of the answers that ran out of
    context), of_errors (share of the wrong answers; NaN without any). Empty if overflows are not known.
    """
    columns = ["model", by, "total", "wrong", "ctx", "share", "of_errors"]
    if "ctx" not in cells:
        return pd.DataFrame(columns=columns)
    counts = errors_by(cells, by).rename(columns={"samples": "total"})
    wrong = counts[list(ERRORS)].sum(axis=1)
    shares = {
        "share": counts["ctx"] / counts["total"],
        "of_errors": counts["ctx"] / wrong.where(wrong > 0),
    }
    return counts.assign(wrong=wrong, **shares)[columns]


def marked_levels(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the levels of d and of N at which more than `MARKED_SHARE` of a model's answers ran out of context.

    model, load (d or N), level, share (fraction). What the tables print, so it is the same in each reconstruction.
    """
    parts = [
        overflow_shares(cells, load).rename(columns={load: "level"}).assign(load=load)
        for load in ("d", "N")
    ]
    shares = pd.concat(parts)[["model", "load", "level", "share"]]
    return shares[shares["share"] > MARKED_SHARE].reset_index(drop=True)


def finished_accuracy(
    cells: pd.DataFrame, N: int, levels: Mapping[str, Collection[int]]
) -> pd.DataFrame:
    """Bound the accuracy among answers that were finished within the context, at a length, by named sets of d.

    One row per model and set: model, d (its name), fewest and most (finished answers), low and high (accuracy among
    them: least and largest in any counts with the printed sums by d and by N; NaN where no answer can have finished).
    Real outputs have one value.
    """
    rows = []
    known = cells[cells["total"] > 0] if "ctx" in cells else cells[:0]
    for model, own in known.groupby("model", sort=False, observed=True):
        tables = _Tables(own, exact=not from_printed_tables(own).any())
        for name, named in levels.items():
            inside = np.outer(tables.lengths == N, np.isin(tables.difficulties, list(named)))
            if tables.total[inside].sum():
                rows.append((model, name, *tables.finished(inside)))
    return pd.DataFrame(rows, columns=["model", "d", "fewest", "most", "low", "high"])


def finished_slopes(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the slope in N of the paper's regression among finished answers, over all divisions of the overflows.

    One row per model: model, slope (overflows counted as failures, as in the paper), slope_low and slope_high (least
    and largest found by `_Division.search`; real outputs have one value). For the paper's models on its whole grid they
    are read from `DIVISIONS`; for other counts they are searched, a second a model.
    """
    rows = [(model, *_ends(cells, model, "log10_N", None)) for model in cells["model"].unique()]
    return pd.DataFrame(rows, columns=["model", "slope", "slope_low", "slope_high"])


def finished_interactions(
    cells: pd.DataFrame, term: str, level: float | None = None
) -> pd.DataFrame:
    """Return z of a product of two loads (dN, drho or Nrho) among finished answers, as `finished_slopes` has slopes.

    With the level of the third load (nominal fraction, statements, units of d), of the simple slope there in the
    regression of Table 3; without one, of the product as the only one, next to the terms of Table 2. One row per model:
    model, term, level, ctx (answers that ran out of context), z, z_low and z_high.
    """
    overflows = cells.groupby("model", sort=False, observed=True)["ctx"].sum()
    rows = [
        (model, term, level, ctx, *_ends(cells, model, term, level))
        for model, ctx in overflows.items()
    ]
    return pd.DataFrame(rows, columns=["model", "term", "level", "ctx", "z", "z_low", "z_high"])


def search_divisions(own: pd.DataFrame) -> pd.DataFrame:
    """Return a model's rows of `DIVISIONS`: model, term, level, total, correct and ctx (answers), value, low, high.

    Term log10_N is the slope of `finished_slopes`, others are those of `finished_interactions`, at every tested level
    of the third load and without one (NaN).
    """
    levels = {"rho": own["ratio_pct"] / 100, "N": own["N"], "d": own["d"]}
    asked = [
        ("log10_N", None),
        *((term, at) for term in THIRD for at in (None, *sorted(set(levels[THIRD[term]])))),
    ]
    model, counts = own["model"].iloc[0], own[_COUNTS].sum()
    rows = [
        (model, term, at, *counts, *_Division(own, term, at, exact=False).ends())
        for term, at in asked
    ]
    return pd.DataFrame(rows, columns=["model", "term", "level", *_COUNTS, "value", "low", "high"])


@cache
def _read_divisions() -> dict[tuple, tuple[float, float, float]]:
    rows = pd.read_csv(DIVISIONS).itertuples(index=False)
    return {
        (*one[:2], None if np.isnan(one.level) else one.level, *one[3:6]): tuple(one[6:])
        for one in rows
    }


def _ends(
    cells: pd.DataFrame, model: str, term: str, level: float | None
) -> tuple[float, float, float]:
    """Return the value with overflows counted as failures, and the least and the largest without them."""
    own = cells[(cells["model"] == model) & (cells["total"] > 0)]
    exact = not from_printed_tables(own).any()
    kept = None if exact else _read_divisions().get((model, term, level, *own[_COUNTS].sum()))
    return kept or _Division(own, term, level, exact=exact).ends()


class _Tables:
    """All counts by N, d and outcome that have one model's sums: by N, by d, and of answers in each (N, d)."""

    def __init__(self, own: pd.DataFrame, *, exact: bool):
        table = own.groupby(["N", "d"])[["total", *_OUTCOMES]].sum()
        grid = pd.MultiIndex.from_product(table.index.levels)
        table = table.reindex(grid, fill_value=0)
        self.lengths, self.difficulties = (level.to_numpy() for level in grid.levels)
        self.total = table["total"].to_numpy().reshape(len(self.lengths), -1)
        counts = table[list(_OUTCOMES)].to_numpy(float).reshape(*self.total.shape, -1)
        each = np.eye(counts.size).reshape(*counts.shape, -1)
        self._sums = np.vstack([each.sum(axis=axis).reshape(-1, counts.size) for axis in (2, 0, 1)])
        self._needed = self._sums @ counts.ravel()
        self._needed[: self.total.size] = (
            self.total.ravel()
        )  # a reconstruction's errors are those of another table
        self._bounds = Bounds(counts.ravel(), counts.ravel()) if exact else Bounds(0, np.inf)

    def finished(self, inside: np.ndarray) -> tuple[int, int, float, float]:
        """Return the fewest and most finished answers in some (N, d), and the least and largest accuracy among them."""
        correct, finished = (
            np.outer(inside, [kept(outcome) for outcome in _OUTCOMES]).ravel().astype(float)
            for kept in (lambda outcome: outcome == "correct", lambda outcome: outcome != "ctx")
        )
        fewest, most = (round(finished @ self._largest(sign * finished)) for sign in (-1, 1))
        ends = []
        for sign, ratio in ((-1, 0.0), (1, 1.0)):  # Dinkelbach's method, from outside the range
            for _ in range(50):
                counts = self._largest(sign * (correct - ratio * finished), finished)
                if counts is None:
                    return fewest, most, np.nan, np.nan
                if abs((correct - ratio * finished) @ counts) < 1e-6:
                    break
                ratio = float(correct @ counts / (finished @ counts))
                if fewest == most:  # the ratio is then one of counts
                    break
            ends.append(ratio)
        return fewest, most, ends[0], ends[1]

    def _largest(self, weights: np.ndarray, some: np.ndarray | None = None) -> np.ndarray | None:
        """Return the whole counts with the largest weighted sum and, with ``some``, at least one of those."""
        constraints = [LinearConstraint(self._sums, self._needed, self._needed)]
        constraints += [] if some is None else [LinearConstraint(some[None], 1, np.inf)]
        found = milp(-weights, constraints=constraints, integrality=1, bounds=self._bounds)
        return None if found.x is None else np.round(found.x)


class _Division:
    """The finished answers of one model over its cells, as far as the printed tables leave it open.

    Of the slope in N of the paper's regression (term log10_N), or of z of a product of two loads.
    """

    def __init__(self, own: pd.DataFrame, term: str, level: float | None, *, exact: bool):
        self._ctx, self._total = own["ctx"].to_numpy(float), own["total"].to_numpy(float)
        columns: tuple[int, ...] = QUADRATIC if term == "log10_N" else (*QUADRATIC, PRODUCTS[term])
        self._weights, self._is_slope, self._exact = (
            np.eye(len(columns))[-1],
            term == "log10_N",
            exact,
        )
        if self._is_slope:
            self._weights = np.eye(5)[2]
        elif level is not None:
            third = np.log10(level) if THIRD[term] == "N" else level
            columns, self._weights = (
                FULL,
                np.eye(9)[PRODUCTS[term]] + third * np.eye(9)[PRODUCTS["dNrho"]],
            )
        x, correct = lay_out(own), own["correct"].to_numpy(float)
        self._x, self._t = x[:, columns], x[:, columns].T @ correct
        self._beta = np.zeros(len(columns))
        levels = np.column_stack(
            [own[load] == level for load in ("N", "d") for level in own[load].unique()]
        )
        fixed = np.column_stack([levels, x[:, 3:]])  # of the correct answers: Tables 2 to 6
        sums = block_diag(fixed.T, levels.T.astype(float))
        needed, both = (
            sums @ np.concatenate([correct, self._ctx]),
            np.hstack([np.eye(len(own))] * 2),
        )
        self._possible = (LinearConstraint(csc_array(sums), needed, needed),
                          LinearConstraint(csc_array(both), -np.inf, self._total))  # fmt: skip

    def ends(self) -> tuple[float, float, float]:
        """Return the value with overflows counted as failures, and the least and the largest without them."""
        if self._exact or not self._ctx.any():
            low = high = self._value(self._ctx)[0]
        else:
            rng = np.random.default_rng(0)
            corners = (self._corner(rng.normal(size=len(self._ctx))) for _ in range(_STARTS - 1))
            starts = [self._ctx, *corners]
            found = {
                sign: [sign * self.search(sign, start) for start in starts] for sign in (-1, 1)
            }
            low, high = (sign * np.fmax.reduce([np.nan, *values]) for sign, values in found.items())
        return self._value(0 * self._ctx)[0], low, high

    def search(self, sign: int, ctx: np.ndarray) -> float:
        """Return the least (sign -1) or largest (1) value that steps towards corners reach from a division.

        Linear programmes follow the gradient. Every value on the way is attained; nothing proves that none lies beyond.
        """
        best, gradient = self._value(ctx)
        for _ in range(_STEPS if np.isfinite(best) else 0):
            step, length = self._corner(sign * gradient) - ctx, 1.0
            while (
                not sign * ((new := self._value(ctx + length * step))[0] - best) > 1e-5
                and length > 1e-3
            ):
                length /= 2
            if length <= 1e-3:
                break
            ctx, (best, gradient) = ctx + length * step, new
        return best

    def _value(self, ctx: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the value when these overflows are left out, and how it changes with each; NaN without a fit."""
        n, x = self._total - ctx, self._x
        (beta,), _ = maximise_all(
            x, n[None], self._t[None], start=self._beta
        )  # from the last division's
        if not np.abs(x @ beta).max() <= _SEPARATED:
            return np.nan, np.full(len(n), np.nan)
        self._beta = beta
        p = expit(x @ beta)
        inverse = np.linalg.inv(x.T @ (x * (n * p * (1 - p))[:, None]))
        along = x @ inverse @ self._weights
        slope, change = self._weights @ beta, p * along
        if self._is_slope:
            return slope, change
        variance, bends = (
            self._weights @ inverse @ self._weights,
            n * p * (1 - p) * (1 - 2 * p) * along**2,
        )
        variance_change = p * (1 - p) * along**2 - p * (x @ inverse @ (x.T @ bends))
        return slope / variance**0.5, change / variance**0.5 - slope * variance_change / (
            2 * variance**1.5
        )

    def _corner(self, weights: np.ndarray) -> np.ndarray:
        """Return the overflows by cell with the largest weighted sum, next to some correct answers."""
        aim = np.concatenate([np.zeros(len(weights)), -weights])
        found = milp(
            aim, constraints=self._possible, bounds=Bounds(0, np.inf), options={"presolve": False}
        )
        return found.x[len(weights) :]
