"""A reader's models: ranks among the paper's; accuracy above guessing and the last clause.

The paper's counts are reconstructed, so a rank is found, and tested, in every reconstruction.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.stats import norm

from cogniload_repro.analysis.accuracies import (
    AccuracyTable,
    is_mean_identified,
    mean_shares,
    tabulate_accuracies,
)
from cogniload_repro.analysis.comparisons import MARGIN
from cogniload_repro.analysis.differences import (
    Share,
    compare_paired,
    compare_shares,
    wilson_limits,
)
from cogniload_repro.analysis.uncertainty import (
    Quadratic,
    correct_holm,
    fit_quadratics,
    standard_error,
)
from cogniload_repro.grid import CELL
from cogniload_repro.published import ALPHA
from cogniload_repro.regression import design
from cogniload_repro.regression.glm import QUADRATIC, fit_glm, fit_tables
from cogniload_repro.regression.reconstructions import (
    committed_counts,
    over_reconstructions,
    range_over,
)

#: How an accuracy compares with that of a guesser.
ABOVE, BELOW, LIKE = "above", "below", "not different"
_TIE = 1e-9  # values that differ by less are equal, but for rounding
_RANKS = ["rank", "rank_low", "rank_high", "best", "worst", "of", "nearest"]


def rank_models(cells: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """Return the rank of each model among the paper's, which are taken on the model's own cells.

    One row per model: model, total (answers), cells (of the paper's grid); accuracy (the mean over
    these cells, each with the same weight), low, high (95% interval); rank among the paper's models
    (the median over the reconstructions), rank_low and rank_high (the least and greatest of them);
    best and worst, the ranks that the tests against each model leave open in some reconstruction
    (Holm, 5%); of (models); nearest (the closest, in most reconstructions); identified (whether the
    printed tables fix the mean accuracies compared). The same by ECL50 with the suffix _ecl50, and
    left_out (models of the paper without ECL50 on these cells), status (of the model's regression).
    Without a cell of the grid there is no accuracy and no rank.
    """
    grid = pd.MultiIndex.from_frame(paper[CELL].astype(float))
    on_grid = pd.MultiIndex.from_frame(cells[CELL].astype(float)).isin(grid)
    answered = cells[on_grid & (cells["total"] > 0)]
    layout = tabulate_accuracies(pd.concat([paper, answered], ignore_index=True))
    by_accuracy = _rank_by_accuracy(layout, answered, paper)
    rows = []
    for model, counts in cells.groupby("model", sort=False):
        shared = answered[answered["model"] == model]
        row = {"model": model, "total": counts["total"].sum(), "cells": len(shared)}
        row["status"] = fit_glm(counts).status
        if len(shared):
            row |= _measure_accuracy(layout, str(model)) | by_accuracy[model]
            row |= _rank_by_length(shared, paper)
        rows.append(row)
    head = [
        "model",
        "total",
        "cells",
        "accuracy",
        "low",
        "high",
        *_RANKS,
        "identified",
        "status",
    ]
    lengths = [f"{name}_ecl50" for name in _RANKS]
    return pd.DataFrame(rows).reindex(columns=[*head, "ecl50", *lengths, "left_out"])


def compare_in_samples(
    cells: pd.DataFrame, pairs: Sequence[tuple[str, str]]
) -> pd.DataFrame:
    """Compare pairs of models whose difference the printed tables do not identify.

    One row per pair with a cell in common: first, second, cells (that both have), difference (of
    their mean accuracies over these, the median over the reconstructions), difference_p10,
    difference_p90, and verdict, in how many reconstructions they differ, as in `compare_models`.
    """
    layout = tabulate_accuracies(cells)
    places = pd.Index(layout.models)
    first = places.get_indexer([names[0] for names in pairs])
    second = places.get_indexer([names[1] for names in pairs])
    masks = (layout.answers[first] > 0) & (layout.answers[second] > 0)

    def compare(table: pd.DataFrame) -> pd.DataFrame:
        counted = layout.with_counts(table)
        first_share = mean_shares(counted, first, masks)
        second_share = mean_shares(counted, second, masks)
        return compare_shares(first_share, second_share, MARGIN).assign(
            pair=range(len(pairs))
        )

    samples = over_reconstructions(cells, compare)
    by_pair = samples.groupby("pair")
    table = pd.DataFrame(pairs, columns=["first", "second"]).assign(
        cells=masks.sum(axis=1)
    )
    table["difference"] = by_pair["difference"].median()
    table = table.join(range_over(by_pair, ["difference"]))
    differ = (samples["p"] < ALPHA).groupby(samples["pair"]).sum()
    table["verdict"] = (
        "different in " + differ.astype(str) + " of " + by_pair.size().astype(str)
    )
    return table[masks.any(axis=1)]


def _measure_accuracy(layout: AccuracyTable, model: str) -> dict[str, object]:
    """Return a model's mean accuracy over its cells, and whether the paper's are identified."""
    place = layout.models.index(model)
    mask = layout.answers[place] > 0
    share = mean_shares(layout, np.array([place]), mask[None])
    low, high = wilson_limits(share)
    return {
        "accuracy": share.mean[0],
        "low": low[0],
        "high": high[0],
        "identified": is_mean_identified(layout.cells[mask]),
    }


# ---- ranks by accuracy ----
def _rank_by_accuracy(
    layout: AccuracyTable,
    answered: pd.DataFrame,
    paper: pd.DataFrame,
) -> dict[str, dict[str, object]]:
    """Return the ranks of models by accuracy, over all reconstructions of the paper's."""
    models = list(answered["model"].unique())
    if not models:
        return {}

    def pair_up(table: pd.DataFrame) -> pd.DataFrame:
        counted = layout.with_counts(pd.concat([table, answered], ignore_index=True))
        return pd.concat(_pair_up(counted, model, models) for model in models)

    pairs = over_reconstructions(paper, pair_up)
    rivals = Share(
        pairs["rival_accuracy"].to_numpy(), pairs["rival_answers"].to_numpy()
    )
    mine = Share(pairs["accuracy"].to_numpy(), pairs["answers"].to_numpy())
    pairs = pairs.join(compare_shares(rivals, mine, MARGIN))
    return {
        model: _summarise(_rank_tables(pairs[pairs["model"] == model]))
        for model in models
    }


def _pair_up(layout: AccuracyTable, model: str, ranked: list[str]) -> pd.DataFrame:
    """Return the accuracy of a model and of each of the paper's on its cells, with precisions."""
    place = layout.models.index(model)
    names = [name for name in layout.models if name not in ranked]
    rivals = np.array([layout.models.index(name) for name in names])
    masks = (layout.answers[place] > 0) & (layout.answers[rivals] > 0)
    mine = mean_shares(layout, np.full(len(rivals), place), masks)
    theirs = mean_shares(layout, rivals, masks)
    return pd.DataFrame(
        {
            "model": model,
            "rival": names,
            "accuracy": mine.mean,
            "answers": mine.answers,
            "rival_accuracy": theirs.mean,
            "rival_answers": theirs.answers,
        }
    )


def _rank_tables(pairs: pd.DataFrame) -> pd.DataFrame:
    """Return the rank of one model in each reconstruction."""
    rows = []
    for _, table in pairs.groupby("reconstruction"):
        names = table["rival"].to_numpy(object)
        rows.append(_rank(table["difference"].to_numpy(), table["p"].to_numpy(), names))
    return pd.DataFrame(rows)


def _rank(
    difference: np.ndarray, p: np.ndarray, names: np.ndarray
) -> dict[str, object]:
    """Return a rank, and the best and worst that are left open, from differences of others."""
    differs = correct_holm(p) < ALPHA
    count = len(names) + 1
    return {
        "rank": 1 + int((difference > _TIE).sum()),
        "best": 1 + int((differs & (difference > 0)).sum()),
        "worst": count - int((differs & (difference < 0)).sum()),
        "of": count,
        "nearest": names[np.argmin(np.abs(difference))],
    }


def _summarise(tables: pd.DataFrame) -> dict[str, object]:
    """Return the rank of one model over tables of counts."""
    return {
        "rank": int(tables["rank"].quantile(0.5, interpolation="nearest")),
        "rank_low": tables["rank"].min(),
        "rank_high": tables["rank"].max(),
        "best": tables["best"].min(),
        "worst": tables["worst"].max(),
        "of": tables["of"].iloc[0],
        "nearest": tables["nearest"].mode().iloc[0],
    }


# ---- ranks by ECL50 ----
def _rank_by_length(cells: pd.DataFrame, paper: pd.DataFrame) -> dict[str, object]:
    """Return the rank of one model by ECL50 on its cells; nothing where it has none."""
    lengths = [_measure_length(quadratic) for quadratic in fit_quadratics(cells)]
    if not lengths or not np.isfinite(lengths[0]).all():
        return {}
    value, se = lengths[0]
    inside = pd.MultiIndex.from_frame(paper[CELL]).isin(
        pd.MultiIndex.from_frame(cells[CELL])
    )
    names, values, errors = _paper_lengths(paper[inside])
    known = np.isfinite(values).all(axis=0) & np.isfinite(errors).all(axis=0)
    tables = []
    for table_values, table_errors in zip(
        values[:, known], errors[:, known], strict=True
    ):
        difference = table_values - value
        p = 2 * norm.sf(np.abs(difference) / np.hypot(table_errors, se))
        tables.append(_rank(difference, p, names[known]))
    left_out = ", ".join(names[~known])
    row: dict[str, object] = {"ecl50": 10.0**value, "left_out": left_out}
    if known.any():
        ranked = _summarise(pd.DataFrame(tables))
        row |= {f"{name}_ecl50": number for name, number in ranked.items()}
    return row


def _measure_length(quadratic: Quadratic) -> tuple[float, float]:
    """Return log10 of ECL50 and its standard error."""
    return quadratic.points["ecl50"], standard_error(quadratic, "ecl50")


def _paper_lengths(paper: pd.DataFrame) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return models, and log10 of their ECL50 with its error by reconstruction and model."""
    names = paper["model"].unique().astype(object)
    counts = committed_counts(paper)
    measures = np.full((2, len(counts), len(names)), np.nan)
    for place, model in enumerate(names):
        rows = (paper["model"] == model).to_numpy()
        cells = paper[rows]
        total = cells["total"].to_numpy(float)
        x = design.lay_out(cells)[:, :5]
        means = design.grid_means(cells)
        totals = np.tile(total, (len(counts), 1))
        fits = fit_tables(cells, counts[:, rows], totals, QUADRATIC)
        for number, fit in enumerate(fits):
            if fit.status == "ok":
                quadratic = Quadratic(model, x, counts[number, rows], total, fit, means)
                measures[:, number, place] = _measure_length(quadratic)
    return names, *measures


# ---- answerers that track nobody ----
def compare_with_baselines(
    scores: pd.DataFrame, baselines: pd.DataFrame
) -> pd.DataFrame:
    """Compare each model with a guesser and a last-clause answerer on the puzzles that it answered.

    Scores are of real outputs, baselines those of `baselines.baselines`. One row per model, in the
    order of the scores: model, answers, correct; accuracy, low, high (Wilson's 95% interval);
    guess (expected accuracy of the guesser), p_guess and against_guess (above, below or not
    different: the score test, which the interval inverts); clause (accuracy of the last-clause
    answerer); above, above_low, above_high and p_above (the model's accuracy minus that, on the
    same puzzles: `differences.compare_paired`). A guesser's chances differ between puzzles; the
    test takes their mean, which overstates its variance.
    """
    known = baselines.drop_duplicates("name")[["name", "guess", "last_clause"]]
    answers = scores[["model", "name", "correct"]].astype(
        {"model": str, "correct": bool}
    )
    answers = answers.merge(known, on="name")
    groups = answers.groupby("model", sort=False)
    return pd.DataFrame(
        [_compare_with_baselines(model, rows) for model, rows in groups]
    )


def _compare_with_baselines(model: str, rows: pd.DataFrame) -> dict[str, object]:
    count = len(rows)
    accuracy = rows["correct"].mean()
    low, high = wilson_limits(Share(np.array([accuracy]), np.array([float(count)])))
    guess = rows["guess"].mean()
    errors = (accuracy - guess) / np.sqrt(guess * (1 - guess) / count)
    p_guess = 2 * norm.sf(abs(errors))
    side = ABOVE if errors > 0 else BELOW
    clause = rows["last_clause"].astype(bool)
    alone = int((rows["correct"] & ~clause).sum())
    against = int((clause & ~rows["correct"]).sum())
    above = compare_paired(alone, against, count, MARGIN)
    return {
        "model": model,
        "answers": count,
        "correct": int(rows["correct"].sum()),
        "accuracy": accuracy,
        "low": low[0],
        "high": high[0],
        "guess": guess,
        "p_guess": p_guess,
        "against_guess": side if p_guess < ALPHA else LIKE,
        "clause": clause.mean(),
        "above": above.difference,
        "above_low": above.ci_low,
        "above_high": above.ci_high,
        "p_above": above.p,
    }
