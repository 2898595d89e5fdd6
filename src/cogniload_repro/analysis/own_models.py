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
from cogniload_repro.analysis.uncertainty import correct_within
from cogniload_repro.grid import CELL
from cogniload_repro.published import ALPHA
from cogniload_repro.regression.cell_tables import wilson_limits
from cogniload_repro.regression.identification import is_mean_identified

#: How an accuracy compares with that of guessing.
ABOVE = "above"
BELOW = "below"
LIKE = "not different"
_TIE = 1e-9  # smaller differences are rounding errors
_RANK_COLUMNS = [
    "model",
    "cells",
    "accuracy",
    "low",
    "high",
    "identified",
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
    identified (whether the printed tables identify the mean accuracies compared). A model without
    cells of the grid has no rank.
    """
    grid = pd.MultiIndex.from_frame(paper[CELL].astype(float))
    loads = pd.MultiIndex.from_frame(cells[CELL].astype(float))
    answered = cells[loads.isin(grid) & (cells["total"] > 0)]
    both = pd.concat([paper, answered], ignore_index=True)
    table = tabulate_accuracies(both)
    rivals = paper["model"].unique()
    rows = []
    for model, shared in answered.groupby("model", sort=False, observed=True):
        row = {"model": model, "cells": len(shared)}
        row |= _measure_accuracy(table, str(model))
        row |= _rank(table, both, str(model), rivals)
        rows.append(row)
    ranks = pd.DataFrame(rows, columns=_RANK_COLUMNS).set_index("model")
    answers = cells.groupby("model", sort=False)["total"].sum()
    ranked = answers.to_frame().join(ranks)
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
    has_answers = table.answers > 0
    places = pd.Index(table.models)
    of_model = has_answers[places.get_loc(model)]
    shared = has_answers[places.get_indexer(rivals)] & of_model
    samples = measure_samples(table, cells, pairs, shared)
    samples["rival"] = pairs["first"]
    samples = samples.reset_index(drop=True)
    # in each reconstruction: rivals above the model, and those that the tests tell from it
    difference = samples["difference"]
    differs = correct_within(samples, ["sample"]) < ALPHA
    samples["is_above"] = difference > _TIE
    samples["is_better"] = differs & (difference > 0)
    samples["is_worse"] = differs & (difference < 0)
    samples["distance"] = difference.abs()
    by_sample = samples.groupby("sample")
    counts = by_sample[["is_above", "is_better", "is_worse"]].sum()
    ranks = 1 + counts["is_above"]
    nearest = samples.loc[by_sample["distance"].idxmin(), "rival"]
    models = len(rivals) + 1
    return {
        "rank": int(ranks.quantile(0.5, interpolation="nearest")),
        "rank_low": ranks.min(),
        "rank_high": ranks.max(),
        "best": 1 + counts["is_better"].min(),
        "worst": models - counts["is_worse"].min(),
        "of": models,
        "nearest": nearest.mode().iloc[0],
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
