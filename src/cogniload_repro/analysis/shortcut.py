"""How many answers can repeat the last clause: a bound from the sums that the printed tables fix.

The *last-clause shortcut* names the last value that any statement gives the attribute asked about.
If a share s of a model's answers repeats it, the model is right at least as often as s times the
shortcut in every cell. So for all weights w >= 0 over the cells,

    s  <=  sum(w * correct) / sum(w * answers * accuracy of the shortcut).

If w is a combination of the columns whose sums the paper fixes, the right side is the same in every
table that agrees with the paper. A linear programme finds the weights with the smallest right side.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import linprog
from scipy.stats import norm

from cogniload_repro.grid import CELL
from cogniload_repro.published import ALPHA
from cogniload_repro.regression.design import GRID
from cogniload_repro.regression.identification import FIXED_COLUMNS
from cogniload_repro.regression.reconstructions import reconstructed_models

_BOUND_COLUMNS = ["model", "bound", "upper", "identified"]


class _Bound(NamedTuple):
    """The smallest upper bound of the share, its standard error, and the weights of the cells."""

    share: float
    error: float
    weights: np.ndarray


def shortcut_bound(cells: pd.DataFrame, baselines: pd.DataFrame) -> pd.DataFrame:
    """Return the largest share of each model's answers that can repeat the last clause.

    The share is that of every cell if it is the same in all of them, and else a mean over the cells
    with the weights that give the smallest bound.

    Parameters
    ----------
    cells : DataFrame
        Counts as `load_cells` returns them: model, N, d, ratio_pct, total, correct.
    baselines : DataFrame
        One row per puzzle as `baselines` returns it: N, d, ratio_pct and last_clause (1 where the
        shortcut is right).

    Returns
    -------
    DataFrame
        One row per model: model, bound (fraction of the answers, at most 1), upper (one-sided
        upper limit of the bound at level 1 - `published.ALPHA`, for the chance in answers and
        puzzles) and identified (False if tables that agree with the paper differ in it, as on a
        part of the grid). NaN where no cell of the model has a puzzle of the baselines.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> names = ["N", "d", "ratio_pct"]
    >>> puzzles = pd.DataFrame([(20, 1, 95), (20, 1, 5)], columns=names).assign(last_clause=[1, 0])
    >>> cells = puzzles[names].assign(model="mine", total=10, correct=[4, 9])
    >>> cl.shortcut_bound(cells, puzzles)["bound"].round(3).tolist()
    [0.4]
    """
    shortcut = baselines.groupby(CELL)["last_clause"].agg(right="mean", puzzles="size")
    columns = pd.DataFrame(FIXED_COLUMNS, index=pd.MultiIndex.from_frame(GRID[CELL]))
    reconstructed = set(reconstructed_models(cells))
    rows = []
    for model, counts in cells[cells["total"] > 0].groupby(
        "model", sort=False, observed=True
    ):
        asked = counts[[*CELL, "total", "correct"]].join(shortcut, on=CELL, how="inner")
        places = columns.index.get_indexer(pd.MultiIndex.from_frame(asked[CELL]))
        known = asked[places >= 0]
        best = _smallest_bound(known, FIXED_COLUMNS[places[places >= 0]])
        upper = best.share + norm.ppf(1 - ALPHA) * best.error
        identified = model not in reconstructed or len(known) == len(GRID)
        rows.append((model, min(best.share, 1.0), min(upper, 1.0), identified))
    return pd.DataFrame(rows, columns=_BOUND_COLUMNS)


def _smallest_bound(cells: pd.DataFrame, columns: np.ndarray) -> _Bound:
    """Return the smallest bound over the non-negative combinations of some columns."""
    answers = cells["total"].to_numpy(float)
    correct = cells["correct"].to_numpy(float)
    shortcut = cells["right"].to_numpy(float)
    unknown = _Bound(np.nan, np.nan, np.full(len(cells), np.nan))
    if not (answers * shortcut).any():
        return unknown
    if not correct.any():
        return _Bound(0.0, 0.0, np.zeros(len(cells)))

    scaled = columns / np.abs(columns).max(axis=0).clip(min=1)
    size = correct.max()  # the solver takes tiny costs for zero
    programme = linprog(
        scaled.T @ (correct / size),
        A_ub=-scaled,
        b_ub=np.zeros(len(cells)),
        A_eq=[scaled.T @ (answers * shortcut)],
        b_eq=[1.0],
        bounds=[(None, None)] * scaled.shape[1],
    )
    if programme.status != 0:
        return unknown
    weights = (scaled @ programme.x).clip(min=0)

    # the denominator is 1, so that both variances are relative to it
    accuracy = correct / answers
    answer_variance = weights**2 @ (answers * accuracy * (1 - accuracy))
    puzzle_spread = shortcut * (1 - shortcut) / cells["puzzles"].to_numpy(float)
    puzzle_variance = (weights * answers) ** 2 @ puzzle_spread
    share = size * programme.fun
    error = np.sqrt(answer_variance + share**2 * puzzle_variance)
    return _Bound(float(share), float(error), weights)
