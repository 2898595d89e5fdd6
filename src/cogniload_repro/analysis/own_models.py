"""A reader's models: ranks among the paper's, and accuracy compared with two baselines.

The paper's counts are reconstructed, so ranks are computed and tested in every reconstruction.
"""

import numpy as np
import pandas as pd

from cogniload_repro.analysis.accuracies import (
    AccuracyTable,
    mean_shares,
    tabulate_accuracies,
)
from cogniload_repro.analysis.comparisons import measure_samples
from cogniload_repro.analysis.differences import (
    QUANTILE,
    Difference,
    compare_paired,
    two_sided_p,
)
from cogniload_repro.analysis.uncertainty import correct_holm
from cogniload_repro.grid import CELL
from cogniload_repro.published import ALPHA
from cogniload_repro.regression.capacity import capacity_points
from cogniload_repro.regression.cell_tables import wilson_limits
from cogniload_repro.regression.identification import is_mean_identified

#: How an accuracy compares with that of guessing.
ABOVE = "above"
BELOW = "below"
LIKE = "not different"
_TIE = 1e-9  # smaller differences are rounding errors
_ACCURACY_COLUMNS = [
    "accuracy",
    "low",
    "high",
    "identified",
]
_RANK_COLUMNS = [
    "rank",
    "rank_low",
    "rank_high",
    "best",
    "worst",
    "of",
    "nearest",
]


def rank_models(cells: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """Rank each of a reader's models among the paper's, over the cells that it has answered.

    One row per model: model, total (answers), cells (of the paper's grid); accuracy (mean over
    these cells, equally weighted), low, high (95% interval); rank among the paper's models (median
    over the reconstructions), rank_low and rank_high (smallest and largest over them); best and
    worst (extremes of the ranks that the pairwise tests leave possible in some reconstruction;
    Holm, 5%); of (number of models ranked); nearest (the closest model in most reconstructions);
    identified (whether the printed tables identify the mean accuracies compared); status (of the
    model's regression) and ecl50. A model without cells of the grid has no rank.
    """
    grid = pd.MultiIndex.from_frame(paper[CELL].astype(float))
    on_grid = pd.MultiIndex.from_frame(cells[CELL].astype(float)).isin(grid)
    answered = cells[on_grid & (cells["total"] > 0)]
    both = pd.concat([paper, answered], ignore_index=True)
    table = tabulate_accuracies(both)
    sums = cells.groupby("model", sort=False)["total"].sum().rename("total")
    points = capacity_points(cells).set_index("model")[["status", "ecl50"]]
    rows = []
    for model, shared in answered.groupby("model", sort=False, observed=True):
        row = {"model": model, "cells": len(shared)} | _measure_accuracy(
            table, str(model)
        )
        rows.append(row | _rank(table, both, str(model), paper["model"].unique()))
    ranks = pd.DataFrame(
        rows,
        columns=[
            "model",
            "cells",
            *_ACCURACY_COLUMNS,
            *_RANK_COLUMNS,
        ],
    )
    ranked = sums.to_frame().join(ranks.set_index("model")).join(points)
    return ranked.fillna({"cells": 0}).reset_index()


def _measure_accuracy(table: AccuracyTable, model: str) -> dict[str, object]:
    """Return a model's mean accuracy, and whether the paper's over these cells are identified."""
    place = table.models.index(model)
    mask = table.answers[place] > 0
    share = mean_shares(table, np.array([place]), mask[None])
    low, high = wilson_limits(*share, QUANTILE)
    return {
        "accuracy": share.mean[0],
        "low": low[0],
        "high": high[0],
        "identified": is_mean_identified(table.cells[mask]),
    }


def _rank(
    table: AccuracyTable,
    cells: pd.DataFrame,
    model: str,
    rivals: np.ndarray,
) -> dict[str, object]:
    """Return a model's ranks by accuracy among its rivals, over the reconstructions."""
    pairs = pd.DataFrame({"first": rivals, "second": model})
    present = table.answers > 0
    places = pd.Index(table.models)
    masks = present[places.get_indexer(rivals)] & present[places.get_loc(model)]
    samples = measure_samples(table, cells, pairs, masks)
    samples["rival"] = pairs["first"]
    ranks = pd.DataFrame(
        [_rank_once(sample) for _, sample in samples.groupby("sample")]
    )
    return {
        "rank": int(ranks["rank"].quantile(0.5, interpolation="nearest")),
        "rank_low": ranks["rank"].min(),
        "rank_high": ranks["rank"].max(),
        "best": ranks["best"].min(),
        "worst": ranks["worst"].max(),
        "of": len(rivals) + 1,
        "nearest": ranks["nearest"].mode().iloc[0],
    }


def _rank_once(rivals: pd.DataFrame) -> dict[str, object]:
    """Return a model's rank in one table, and the best and worst rank that the tests allow.

    There is one row per rival, with its difference from the model and its p-value.
    """
    difference = rivals["difference"].to_numpy()
    differs = correct_holm(rivals["p"]) < ALPHA
    return {
        "rank": 1 + int((difference > _TIE).sum()),
        "best": 1 + int((differs & (difference > 0)).sum()),
        "worst": len(rivals) + 1 - int((differs & (difference < 0)).sum()),
        "nearest": rivals["rival"].iloc[np.argmin(np.abs(difference))],
    }


# ---- baselines that do no reasoning ----
def compare_with_baselines(
    scores: pd.DataFrame,
    baselines: pd.DataFrame,
) -> pd.DataFrame:
    """Compare each model with random guessing and the last-clause shortcut on its puzzles.

    ``scores`` are those of real responses, ``baselines`` as returned by `baselines.baselines`. One
    row per model, in the order of the scores: model, answers, correct; accuracy, low, high
    (Wilson's 95% interval); guess (expected accuracy of guessing), p_guess and against_guess
    (above, below or not different: the score test, which the interval inverts); clause (accuracy of
    the shortcut); above, above_low, above_high and p_above (the model's accuracy minus that of the
    shortcut on the same puzzles: `differences.compare_paired`). The probability of a correct guess
    differs between puzzles; the test uses its mean, which overstates the variance.
    """
    known = baselines.drop_duplicates("name")[["name", "guess", "last_clause"]]
    answers = scores[["model", "name", "correct"]].merge(known, on="name")
    answers = answers.astype({"model": str, "correct": bool, "last_clause": bool})
    answers["alone"] = answers["correct"] & ~answers["last_clause"]
    answers["against"] = answers["last_clause"] & ~answers["correct"]
    groups = answers.groupby("model", sort=False)
    sums = groups[["correct", "alone", "against"]].sum()
    count = groups.size()
    accuracy = groups["correct"].mean()
    low, high = wilson_limits(accuracy, count, QUANTILE)
    guess = groups["guess"].mean()
    z_guess = (accuracy - guess) / np.sqrt(guess * (1 - guess) / count)
    p_guess = two_sided_p(z_guess)
    side = np.where(z_guess > 0, ABOVE, BELOW)
    pairs = zip(sums["alone"], sums["against"], count, strict=True)
    differences = [compare_paired(*pair) for pair in pairs]
    paired = pd.DataFrame(differences, count.index, Difference._fields)
    table = pd.DataFrame(
        {
            "answers": count,
            "correct": sums["correct"],
            "accuracy": accuracy,
            "low": low,
            "high": high,
            "guess": guess,
            "p_guess": p_guess,
            "against_guess": np.where(p_guess < ALPHA, side, LIKE),
            "clause": groups["last_clause"].mean(),
            "above": paired["difference"],
            "above_low": paired["ci_low"],
            "above_high": paired["ci_high"],
            "p_above": paired["p"],
        }
    )
    return table.reset_index()
