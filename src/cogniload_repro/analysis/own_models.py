"""A reader's models: ranks among the paper's, and accuracy compared with two baselines.

The paper's counts are reconstructed, so ranks are computed and tested in every reconstruction.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from cogniload_repro.analysis.accuracies import (
    AccuracyTable,
    is_mean_identified,
    mean_shares,
    tabulate_accuracies,
)
from cogniload_repro.analysis.comparisons import MARGIN, count_different
from cogniload_repro.analysis.differences import (
    Difference,
    Share,
    compare_paired,
    compare_shares,
    two_sided_p,
    wilson_limits,
)
from cogniload_repro.analysis.uncertainty import (
    correct_holm,
    estimate_point,
)
from cogniload_repro.grid import CELL
from cogniload_repro.published import ALPHA
from cogniload_repro.regression.design import grid_means
from cogniload_repro.regression.glm import QUADRATIC, fit_glm, fit_tables
from cogniload_repro.regression.reconstructions import (
    committed_counts,
    each_reconstruction,
    range_over,
)

#: How an accuracy compares with that of guessing.
ABOVE = "above"
BELOW = "below"
LIKE = "not different"
_TIE = 1e-9  # smaller differences are rounding errors
_RANK_COLUMNS = ["rank", "rank_low", "rank_high", "best", "worst", "of", "nearest"]


def rank_models(cells: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """Rank each of a reader's models among the paper's, over the cells that it has answered.

    One row per model: model, total (answers), cells (of the paper's grid); accuracy (mean over
    these cells, equally weighted), low, high (95% interval); rank among the paper's models (median
    over the reconstructions), rank_low and rank_high (smallest and largest over them); best and
    worst (extremes of the ranks that the pairwise tests leave possible in some reconstruction;
    Holm, 5%); of (number of models ranked); nearest (the closest model in most reconstructions);
    identified (whether the printed tables identify the mean accuracies compared). The same by
    ECL50, with the suffix _ecl50; left_out (the paper's models without an ECL50 on these cells);
    status (of the model's regression). A model without cells of the grid has no rank.
    """
    grid = pd.MultiIndex.from_frame(paper[CELL].astype(float))
    on_grid = pd.MultiIndex.from_frame(cells[CELL].astype(float)).isin(grid)
    answered = cells[on_grid & (cells["total"] > 0)]
    table = tabulate_accuracies(pd.concat([paper, answered], ignore_index=True))
    ranks = _rank_by_accuracy(table, answered, paper)
    rows = []
    for model, counts in cells.groupby("model", sort=False):
        shared = answered[answered["model"] == model]
        row = {"model": model, "total": counts["total"].sum(), "cells": len(shared)}
        row["status"] = fit_glm(counts).status
        if len(shared):
            row |= _measure_accuracy(table, str(model)) | ranks[model]
            row |= _rank_by_ecl50(shared, paper)
        rows.append(row)
    columns = ["model", "total", "cells", "accuracy", "low", "high", *_RANK_COLUMNS]
    columns += ["identified", "status", "ecl50"]
    columns += [f"{name}_ecl50" for name in _RANK_COLUMNS]
    return pd.DataFrame(rows).reindex(columns=[*columns, "left_out"])


def compare_in_samples(
    cells: pd.DataFrame, pairs: Sequence[tuple[str, str]]
) -> pd.DataFrame:
    """Compare pairs of models over the reconstructions, if their difference is not identified.

    One row per pair with cells in common: first, second, cells (that both have), difference (of
    mean accuracies over these cells, median over the reconstructions), difference_p10,
    difference_p90, and verdict (in how many reconstructions they differ, as in `compare_models`).
    """
    table = tabulate_accuracies(cells)
    names = pd.DataFrame(pairs, columns=["first", "second"])
    places = pd.Index(table.models)
    first = places.get_indexer(names["first"])
    second = places.get_indexer(names["second"])
    masks = (table.answers[first] > 0) & (table.answers[second] > 0)

    samples = [table.with_counts(sample) for sample in each_reconstruction(cells)]
    differences = _compare_samples(samples, first, second, masks)
    by_pair = differences.groupby("pair")
    compared = names.assign(
        cells=masks.sum(axis=1), difference=by_pair["difference"].median()
    )
    compared = compared.join(range_over(by_pair, ["difference"]))
    is_different = differences["p"] < ALPHA
    compared["verdict"] = count_different(is_different, differences["pair"])
    return compared[masks.any(axis=1)]


def _compare_samples(
    samples: Sequence[AccuracyTable],
    first: np.ndarray,
    second: np.ndarray,
    masks: np.ndarray,
) -> pd.DataFrame:
    """Return a `Difference` per sample and pair, with the columns sample and pair (indices).

    All samples are compared at once: the search for p-values is slow, but vectorised.
    """
    first_means = [mean_shares(sample, first, masks) for sample in samples]
    second_means = [mean_shares(sample, second, masks) for sample in samples]
    differences = compare_shares(
        Share(*np.hstack(first_means)), Share(*np.hstack(second_means)), MARGIN
    )
    return differences.assign(
        sample=np.repeat(range(len(samples)), len(first)),
        pair=np.tile(range(len(first)), len(samples)),
    )


def _measure_accuracy(table: AccuracyTable, model: str) -> dict[str, object]:
    """Return a model's mean accuracy, and whether the paper's over these cells are identified."""
    place = table.models.index(model)
    mask = table.answers[place] > 0
    share = mean_shares(table, np.array([place]), mask[None])
    low, high = wilson_limits(share)
    return {
        "accuracy": share.mean[0],
        "low": low[0],
        "high": high[0],
        "identified": is_mean_identified(table.cells[mask]),
    }


# ---- ranks by accuracy ----
def _rank_by_accuracy(
    table: AccuracyTable,
    answered: pd.DataFrame,
    paper: pd.DataFrame,
) -> dict[str, dict[str, object]]:
    """Return the ranks of models by accuracy, summarised over the reconstructions."""
    names = pd.Index(table.models)
    models = answered["model"].unique()
    rivals = names[~names.isin(models)]
    pairs = pd.MultiIndex.from_product([models, rivals], names=["model", "rival"])
    first = names.get_indexer(pairs.get_level_values("rival"))
    second = names.get_indexer(pairs.get_level_values("model"))
    masks = (table.answers[first] > 0) & (table.answers[second] > 0)

    samples = []
    for sample in each_reconstruction(paper):
        counts = pd.concat([sample, answered], ignore_index=True)
        samples.append(table.with_counts(counts))
    differences = _compare_samples(samples, first, second, masks)
    rows = differences.join(pairs.to_frame(index=False), on="pair")
    ranks = {}
    for model, rows_of_model in rows.groupby("model"):
        of_sample = [_rank(sample) for _, sample in rows_of_model.groupby("sample")]
        ranks[str(model)] = _summarise_ranks(of_sample)
    return ranks


def _rank(rivals: pd.DataFrame) -> dict[str, object]:
    """Return a model's rank in one table, and the best and worst rank that the tests allow.

    There is one row per rival, with its difference from the model and its p-value.
    """
    difference = rivals["difference"].to_numpy()
    differs = correct_holm(rivals["p"]) < ALPHA
    models = len(rivals) + 1
    return {
        "rank": 1 + int((difference > _TIE).sum()),
        "best": 1 + int((differs & (difference > 0)).sum()),
        "worst": models - int((differs & (difference < 0)).sum()),
        "of": models,
        "nearest": rivals["rival"].iloc[np.argmin(np.abs(difference))],
    }


def _summarise_ranks(ranks: list[dict[str, object]]) -> dict[str, object]:
    """Summarise a model's ranks over the reconstructions: median rank, extremes, nearest model."""
    table = pd.DataFrame(ranks)
    return {
        "rank": int(table["rank"].quantile(0.5, interpolation="nearest")),
        "rank_low": table["rank"].min(),
        "rank_high": table["rank"].max(),
        "best": table["best"].min(),
        "worst": table["worst"].max(),
        "of": table["of"].iloc[0],
        "nearest": table["nearest"].mode().iloc[0],
    }


# ---- ranks by ECL50 ----
def _rank_by_ecl50(cells: pd.DataFrame, paper: pd.DataFrame) -> dict[str, object]:
    """Return the rank of one model by ECL50 on its cells, empty if it has no ECL50."""
    log_ecl50, se = estimate_point(fit_glm(cells), grid_means(cells), "ecl50")
    if not np.isfinite([log_ecl50, se]).all():
        return {}
    own_cells = pd.MultiIndex.from_frame(cells[CELL])
    is_shared = pd.MultiIndex.from_frame(paper[CELL]).isin(own_cells)
    rivals = _paper_lengths(paper[is_shared])
    is_finite = np.isfinite(rivals[["log_ecl50", "se"]]).all(axis=1)
    is_known = is_finite.groupby(rivals["rival"], sort=False).all()
    row: dict[str, object] = {
        "ecl50": 10.0**log_ecl50,
        "left_out": ", ".join(is_known.index[~is_known]),
    }
    if not is_known.any():
        return row
    rivals = rivals[rivals["rival"].map(is_known)]
    difference = rivals["log_ecl50"] - log_ecl50
    p = two_sided_p(difference / np.hypot(rivals["se"], se))
    rivals = rivals.assign(difference=difference, p=p)
    ranks = [_rank(sample) for _, sample in rivals.groupby("reconstruction")]
    summary = _summarise_ranks(ranks)
    return row | {f"{name}_ecl50": number for name, number in summary.items()}


def _paper_lengths(paper: pd.DataFrame) -> pd.DataFrame:
    """Return the ECL50 of the paper's models in each reconstruction, NaN if there is none.

    One row per model and reconstruction: rival, reconstruction, log_ecl50, se.
    """
    counts = committed_counts(paper)
    rows = []
    for model, cells in paper.groupby("model", sort=False, observed=True):
        correct = counts[:, paper["model"] == model]
        total = np.tile(cells["total"].to_numpy(float), (len(correct), 1))
        means = grid_means(cells)
        for number, fit in enumerate(fit_tables(cells, correct, total, QUADRATIC)):
            rows.append((model, number, *estimate_point(fit, means, "ecl50")))
    return pd.DataFrame(rows, columns=["rival", "reconstruction", "log_ecl50", "se"])


# ---- baselines that do no reasoning ----
def compare_with_baselines(
    scores: pd.DataFrame, baselines: pd.DataFrame
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
    low, high = wilson_limits(Share(accuracy.to_numpy(), count.to_numpy(float)))
    guess = groups["guess"].mean()
    z_guess = (accuracy - guess) / np.sqrt(guess * (1 - guess) / count)
    p_guess = two_sided_p(z_guess)
    side = np.where(z_guess > 0, ABOVE, BELOW)
    pairs = zip(sums["alone"], sums["against"], count, strict=True)
    differences = [compare_paired(*pair, MARGIN) for pair in pairs]
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
