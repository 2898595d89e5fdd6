"""The last-clause shortcut: how many answers can use it, and whether a model's answers do.

The *shortcut* answers with the last value that any statement gives the attribute asked about.
Counts bound its use: if a fraction s of a model's answers in every cell are the shortcut's, the
model's accuracy is at least s times the shortcut's in every cell. So for all weights w >= 0,

    s  <=  sum(w * correct) / sum(w * answers * accuracy of the shortcut).

If w is a linear combination of the columns whose sums the paper fixes, the right side is
identified. A linear programme finds the weights that minimise it. Scored answers show more: whether
a model is correct more often on the puzzles on which the shortcut is.
"""

import numpy as np
import pandas as pd
from scipy.optimize import linprog
from scipy.stats import norm

from cogniload_repro.analysis.differences import Share, compare_shares
from cogniload_repro.grid import CELL
from cogniload_repro.published import ALPHA
from cogniload_repro.regression.design import GRID
from cogniload_repro.regression.identification import FIXED_COLUMNS
from cogniload_repro.regression.reconstructions import from_printed_tables


def shortcut_bound(cells: pd.DataFrame, baselines: pd.DataFrame) -> pd.DataFrame:
    """Return an upper bound on the fraction of each model's answers that repeat the last clause.

    The bound assumes that a model uses the shortcut equally often in all cells. If it does not, the
    bound is one on a weighted mean of the fractions, with the weights that make it smallest.

    Parameters
    ----------
    cells : DataFrame
        Counts as `load_cells` returns them: model, N, d, ratio_pct, total, correct.
    baselines : DataFrame
        One row per puzzle as `baselines` returns it: N, d, ratio_pct and last_clause (1 if the
        shortcut is correct).

    Returns
    -------
    DataFrame
        One row per model: model, bound (fraction of the answers, at most 1), upper (one-sided
        upper confidence limit of level 1 - `published.ALPHA`, for the sampling of answers and
        puzzles) and identified (False if the bound differs between tables that agree with the
        paper, as on a part of the grid). NaN if no cell of the model has a puzzle of the baselines.

    Examples
    --------
    >>> names = ["N", "d", "ratio_pct"]
    >>> puzzles = pd.DataFrame([(20, 1, 95), (20, 1, 5)], columns=names).assign(last_clause=[1, 0])
    >>> cells = puzzles[names].assign(model="mine", total=10, correct=[4, 9])
    >>> shortcut_bound(cells, puzzles)["bound"].round(3).tolist()
    [0.4]
    """
    by_cell = baselines.groupby(CELL)["last_clause"]
    shortcut = by_cell.agg(right="mean", puzzles="size")
    grid = pd.MultiIndex.from_frame(GRID[CELL])
    answered = cells[cells["total"] > 0]
    rows = []
    for model, counts in answered.groupby("model", sort=False, observed=True):
        is_reconstructed = from_printed_tables(counts).any()
        counts = counts[[*CELL, "total", "correct"]]
        counts = counts.join(shortcut, CELL, how="inner")
        loads = pd.MultiIndex.from_frame(counts[CELL])
        places = grid.get_indexer(loads)
        on_grid = places >= 0
        fixed = FIXED_COLUMNS[places[on_grid]]
        share, error = _smallest_bound(counts[on_grid], fixed)
        upper = share + norm.ppf(1 - ALPHA) * error
        identified = on_grid.sum() == len(GRID) or not is_reconstructed
        rows.append((model, min(share, 1.0), min(upper, 1.0), identified))
    columns = [
        "model",
        "bound",
        "upper",
        "identified",
    ]
    return pd.DataFrame(rows, columns=columns)


def _smallest_bound(
    cells: pd.DataFrame,
    columns: np.ndarray,
) -> tuple[float, float]:
    """Return the smallest bound on the fraction and its standard error.

    The weights are non-negative and in the span of some columns.
    """
    answers = cells["total"].to_numpy(float)
    correct = cells["correct"].to_numpy(float)
    shortcut = cells["right"].to_numpy(float)
    by_shortcut = answers * shortcut
    if not by_shortcut.any():
        return np.nan, np.nan
    if not correct.any():
        return 0.0, 0.0

    largest = np.abs(columns).max(axis=0)
    scaled = columns / largest.clip(min=1)
    size = correct.max()  # scaled, as the solver treats tiny costs as zero
    programme = linprog(
        scaled.T @ (correct / size),
        A_ub=-scaled,
        b_ub=np.zeros(len(cells)),
        A_eq=[scaled.T @ by_shortcut],
        b_eq=[1.0],
        bounds=(None, None),
    )
    if programme.status != 0:
        return np.nan, np.nan
    weights = (scaled @ programme.x).clip(min=0)

    # delta method for a ratio of independent sums whose denominator is 1
    accuracy = correct / answers
    binomial = answers * accuracy * (1 - accuracy)
    answer_variance = weights**2 @ binomial
    puzzles = cells["puzzles"].to_numpy(float)
    puzzle_spread = shortcut * (1 - shortcut) / puzzles
    puzzle_variance = (weights * answers) ** 2 @ puzzle_spread
    share = size * programme.fun
    error = np.sqrt(answer_variance + share**2 * puzzle_variance)
    return float(share), float(error)


def shortcut_use(scores: pd.DataFrame, baselines: pd.DataFrame) -> pd.DataFrame:
    """Compare each model's accuracy on puzzles where the shortcut is right with that on others.

    ``scores`` are those of real responses (reconstructed counts cannot tell), ``baselines`` as
    returned by `baselines.baselines`. One row per model, in the order of the scores: model;
    answers_right, correct_right, answers_wrong, correct_wrong (all answers to the two kinds of
    puzzles); right and wrong (accuracies in the cells with both kinds, with Mantel-Haenszel
    weights, so that the loads are balanced); difference, ci_low, ci_high and p (Newcombe's method,
    with the effective numbers of answers of weighted means). The last six are NaN if no cell has
    both kinds.
    """
    clause = baselines.drop_duplicates("name").set_index("name")["last_clause"]
    answers = scores.assign(clause=scores["name"].map(clause))
    answers = answers.dropna(subset="clause")
    answers = answers.astype({"model": str, "correct": int, "clause": int})
    counts = answers.pivot_table(
        "correct", ["model", *CELL], "clause", ["count", "sum"]
    )
    both_kinds = pd.MultiIndex.from_product([["count", "sum"], [0, 1]])
    counts = counts.reindex(columns=both_kinds).fillna(0)
    size = counts["count"]
    weight = size.prod(axis=1) / size.sum(axis=1)  # zero in cells with one kind only
    weight /= weight.groupby("model").transform("sum")
    accuracy = counts["sum"] / size
    shares = accuracy.mul(weight, axis=0)
    mean = shares.groupby("model").sum(min_count=1)
    # the variance of a weighted mean, divided by p (1 - p)
    variance = (1 / size).mul(weight**2, axis=0)
    effective = 1 / variance.groupby("model").sum(min_count=1)
    right = Share(mean[1].to_numpy(), effective[1].to_numpy())
    wrong = Share(mean[0].to_numpy(), effective[0].to_numpy())
    difference = compare_shares(right, wrong).set_axis(mean.index)
    sums = counts.groupby("model").sum().astype(int)
    table = pd.DataFrame(
        {
            "answers_right": sums["count", 1],
            "correct_right": sums["sum", 1],
            "answers_wrong": sums["count", 0],
            "correct_wrong": sums["sum", 0],
            "right": mean[1],
            "wrong": mean[0],
        }
    )
    table = table.join(difference.drop(columns="p_equivalence"))
    return table.loc[answers["model"].unique()].reset_index()
