"""Answers that ran out of context (overflows), and bounds on accuracy among finished answers.

Tables 4 and 5 print overflows by d and by N, but not by N and d together, nor by rho. Accuracy
among finished answers is therefore bounded, not identified; pooled over d, it flatters a model that
finishes only easy puzzles. The bounds are those of linear programmes over all tables with the
printed sums; fractional answers are allowed, so the bounds hold for integers too. For slopes among
finished answers see `divisions`.
"""

from collections.abc import Collection, Mapping
from math import ceil, floor

import numpy as np
import pandas as pd
from scipy.optimize import linprog

from cogniload_repro.regression.cell_tables import errors_by
from cogniload_repro.regression.reconstructions import from_printed_tables
from cogniload_repro.storage import ERRORS

#: Accuracy at a level is marked if more than this fraction of answers ran out of context.
MARKED_SHARE = 0.10
_OUTCOMES = ("correct", *ERRORS)
#: Numerical error of a linear programme, in answers.
_SLACK = 1e-6


def overflow_shares(cells: pd.DataFrame, by: str = "N") -> pd.DataFrame:
    """Count answers that ran out of context by model and one load.

    One row per model and level: model, the load, total, wrong and ctx (numbers of answers, wrong
    answers and overflows), share (overflows among all answers, fraction) and of_errors (overflows
    among wrong answers; NaN if there are none). Empty if overflows are not known.
    """
    columns = [
        "model",
        by,
        "total",
        "wrong",
        "ctx",
        "share",
        "of_errors",
    ]
    if "ctx" not in cells:
        return pd.DataFrame(columns=columns)
    counts = errors_by(cells, by).rename(columns={"samples": "total"})
    wrong = counts[list(ERRORS)].sum(axis=1)
    counts["wrong"] = wrong
    counts["share"] = counts["ctx"] / counts["total"]
    counts["of_errors"] = counts["ctx"] / wrong.where(wrong > 0)
    return counts[columns]


def marked_levels(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the levels of d and of N at which a model's overflows exceed `MARKED_SHARE`.

    One row per model and marked level: model, load (d or N), level, share (fraction). The tables
    print these counts, so they are the same in every reconstruction.
    """
    tables = []
    for load in ("d", "N"):
        shares = overflow_shares(cells, load).rename(columns={load: "level"})
        tables.append(shares.assign(load=load))
    shares = pd.concat(tables)
    is_marked = shares["share"] > MARKED_SHARE
    columns = [
        "model",
        "load",
        "level",
        "share",
    ]
    return shares.loc[is_marked, columns].reset_index(drop=True)


def finished_accuracy(
    cells: pd.DataFrame,
    N: int,
    levels: Mapping[str, Collection[int]],
) -> pd.DataFrame:
    """Bound each model's accuracy among finished answers at one length, for named sets of d.

    One row per model and set: model, d (name of the set), fewest and most (finished answers), low
    and high (least and largest accuracy among them over all counts with the printed sums by d and
    by N; NaN if no answer can have finished). For scored answers both ends are the same.
    """
    columns = [
        "model",
        "d",
        "fewest",
        "most",
        "low",
        "high",
    ]
    if "ctx" not in cells:
        return pd.DataFrame(columns=columns)
    rows = []
    answered = cells[cells["total"] > 0]
    for model, counts in answered.groupby("model", sort=False, observed=True):
        groups = counts.groupby(["N", "d"], as_index=False)
        table = groups[["total", *_OUTCOMES]].sum()
        is_reconstructed = from_printed_tables(counts).any()
        for name, difficulties in levels.items():
            table["inside"] = (table["N"] == N) & table["d"].isin(difficulties)
            if not table["inside"].any():
                continue
            if is_reconstructed:
                rows.append((model, name, *_bound_finished(table)))
            else:
                rows.append((model, name, *_count_finished(table[table["inside"]])))
    return pd.DataFrame(rows, columns=columns)


def _count_finished(table: pd.DataFrame) -> tuple[int, int, float, float]:
    """Return the finished answers and the accuracy among them, as ranges with equal ends."""
    correct, ctx, total = table[["correct", "ctx", "total"]].sum()
    finished = total - ctx
    accuracy = correct / finished if finished else np.nan
    return finished, finished, accuracy, accuracy


def _bound_finished(table: pd.DataFrame) -> tuple[int, int, float, float]:
    """Bound the number of finished answers in the rows inside, and the accuracy among them."""
    rows = [
        "N",
        "d",
        "total",
        "inside",
    ]
    counts = table.melt(rows, _OUTCOMES, var_name="outcome", value_name="count")
    is_correct = counts["inside"] & (counts["outcome"] == "correct")
    is_finished = counts["inside"] & (counts["outcome"] != "ctx")
    correct = is_correct.to_numpy(float)
    finished = is_finished.to_numpy(float)
    sums, printed = _lay_out_sums(counts)
    fewest, most = _find_extremes(finished, sums, printed)
    # accuracy is a ratio: divided by its denominator, the counts enter a linear programme
    # (Charnes and Cooper, 1962); the last variable is one over the denominator
    scaled_sums = np.block([[sums, -printed[:, None]], [finished, np.zeros(1)]])
    scaled_printed = np.append(np.zeros(len(printed)), 1.0)
    low, high = _find_extremes(np.append(correct, 0.0), scaled_sums, scaled_printed)
    return ceil(fewest - _SLACK), floor(most + _SLACK), low, high


def _lay_out_sums(counts: pd.DataFrame) -> tuple[np.ndarray, np.ndarray]:
    """Return A and b of the equations A x = b for counts x by N, d and outcome.

    The sums b are the answers at each N and d, and each outcome at every level of N and of d. In a
    sampled reconstruction, the errors are those of the typical table, so that they need not add up
    with its correct answers; the answers are therefore taken from the totals.
    """
    by_cell = counts.groupby(["N", "d"])
    members = [pd.get_dummies(by_cell.ngroup())]
    printed = [by_cell["total"].first()]
    for load in ("N", "d"):
        by_level = counts.groupby([load, "outcome"])
        members.append(pd.get_dummies(by_level.ngroup()))
        printed.append(by_level["count"].sum())
    sums = np.hstack(members).T
    return sums.astype(float), np.concatenate(printed).astype(float)


def _find_extremes(
    weights: np.ndarray,
    sums: np.ndarray,
    printed: np.ndarray,
) -> tuple[float, float]:
    """Return the least and largest weighted sum of counts with given sums; NaN if infeasible."""
    least = linprog(weights, A_eq=sums, b_eq=printed)
    largest = linprog(-weights, A_eq=sums, b_eq=printed)
    if least.fun is None or largest.fun is None:
        return np.nan, np.nan
    return least.fun, -largest.fun
