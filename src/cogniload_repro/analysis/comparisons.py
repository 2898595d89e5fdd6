"""Which models differ: two by two, by accuracy or ECL50; all at once; by kind of puzzle.

Answers of two models count as independent although both may have met the same puzzles, which is
cautious. Intervals and tests are those of `differences`, the precision of a mean that of
`accuracies`.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import norm

from cogniload_repro.analysis.accuracies import (
    AccuracyTable,
    is_mean_identified,
    mean_shares,
    tabulate_accuracies,
)
from cogniload_repro.analysis.differences import (
    QUANTILE,
    Difference,
    Strata,
    compare_paired,
    compare_shares,
    compare_strata,
    judge_difference,
)
from cogniload_repro.analysis.uncertainty import (
    correct_holm,
    fit_quadratics,
    standard_error,
)
from cogniload_repro.grid import CELL
from cogniload_repro.models import MODELS, NAMES
from cogniload_repro.published import ALPHA
from cogniload_repro.regression.reconstructions import (
    each_reconstruction,
    range_over,
    reconstructed_models,
)

#: Models are compared by mean accuracy over shared cells (fraction), or by log10 of ECL50.
QUANTITIES = ("accuracy", "ecl50")
#: Differences of accuracy below this one are negligible, unless another margin is asked for.
MARGIN = 0.05
#: At most so many models are shown and compared with each other, the paper's first.
MANY = 40

#: The three classes (paper, section 3.1.4).
TIERS = {
    name: tuple(model.name for model in MODELS if model.tier == name)
    for name in ("frontier", "mid", "low")  # in the order of the paper
}
TIER_OF = {model: tier for tier, models in TIERS.items() for model in models}


def limit_models(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of at most `MANY` models: the paper's, then others in their order."""
    if cells["model"].nunique() <= MANY:
        return cells
    models = sorted(cells["model"].unique(), key=lambda name: name not in NAMES)
    return cells[cells["model"].isin(models[:MANY])]


# ---- two models ----
class _Comparison(NamedTuple):
    """Two models by their places in a layout, the cells of each level as masks, the margin."""

    first: int
    second: int
    masks: np.ndarray
    margin: float


def compare_models(
    cells: pd.DataFrame,
    first: str,
    second: str,
    by: Sequence[str] = (),
    margin: float = MARGIN,
) -> pd.DataFrame:
    """Compare the accuracies of two models, overall or at each level of some columns.

    One row per level (all three loads: single cells): the columns; cells, answers_first,
    answers_second; accuracy_first, accuracy_second (means over the cells that both have); the
    fields of `Difference`; p_holm (over all rows; overall, as `compare_pairs` has it); verdict (of
    `DIFFERENCE_VERDICTS`, both p-values Holm-adjusted); identified, difference_p10,
    difference_p90. A row that the printed tables do not identify (levels of the ratio, single
    cells, a part of the grid) has the median difference and its range over the reconstructions,
    but no interval or p; its verdict is in how many of them the models differ.
    """
    if not 0 < margin < 1:
        rule = "a difference of accuracies lies between 0 and 1, such as 0.05"
        raise ValueError(f"the margin is {margin:g}; {rule}")
    known = cells.loc[cells["total"] > 0, "model"].unique()
    if first == second or not {first, second} <= set(known):
        rest = f"of the cells, which have: {', '.join(known)}"
        raise ValueError(f"{first} and {second} are not two models {rest}")
    pair = cells[cells["model"].isin([first, second])]
    layout = tabulate_accuracies(pair)
    places = layout.models.index(first), layout.models.index(second)
    levels, masks = _find_levels(layout, by)
    comparison = _Comparison(*places, masks, margin)
    rows = levels.join(_compare_levels(layout, comparison))
    rows["identified"] = True
    rows["difference_p10"] = rows["difference"]
    rows["difference_p90"] = rows["difference"]
    if reconstructed_models(pair):
        rows["identified"] = [is_mean_identified(layout.cells[mask]) for mask in masks]
    if not rows["identified"].all():
        return _take_ranges(rows, _compare_over_tables(pair, layout, comparison))
    if not by:
        rows = _take_family(rows, compare_pairs(cells, margin=margin), (first, second))
    return rows


def _find_levels(
    layout: AccuracyTable, by: Sequence[str]
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the levels at which two models share cells, and these cells of each as a mask."""
    shared = np.asarray((layout.answers > 0).all(axis=0))
    if not shared.any():
        first, second = layout.models
        raise ValueError(f"{first} and {second} have no cell of the grid in common")
    cells = layout.cells[shared]
    if not by:
        return pd.DataFrame({"cells": [len(cells)]}), shared[None]
    levels = cells.groupby(list(by)).size().rename("cells").reset_index()
    number = cells.groupby(list(by)).ngroup().reindex(layout.cells.index)
    inside = np.equal(number.to_numpy(), levels.index.to_numpy()[:, None])
    return levels, inside


def _compare_levels(layout: AccuracyTable, comparison: _Comparison) -> pd.DataFrame:
    """Return accuracies, answers and the tested difference of two models at each level."""
    masks = comparison.masks
    first = mean_shares(layout, np.full(len(masks), comparison.first), masks)
    second = mean_shares(layout, np.full(len(masks), comparison.second), masks)
    columns = {
        "answers_first": masks @ layout.answers[comparison.first],
        "accuracy_first": first.mean,
        "answers_second": masks @ layout.answers[comparison.second],
        "accuracy_second": second.mean,
    }
    differences = compare_shares(first, second, comparison.margin)
    return _judge_rows(pd.DataFrame(columns).join(differences))


def _compare_over_tables(
    pair: pd.DataFrame,
    layout: AccuracyTable,
    comparison: _Comparison,
) -> pd.DataFrame:
    """Return two models compared in every reconstruction: one row per level and table."""
    tables = each_reconstruction(pair)
    return pd.concat(
        _compare_levels(layout.with_counts(table), comparison) for table in tables
    )


def _take_ranges(rows: pd.DataFrame, tables: pd.DataFrame) -> pd.DataFrame:
    """Return rows whose numbers are medians and ranges over tables where not identified."""
    rows = rows.copy()
    levels = tables.groupby(level=0)
    numbers = ["accuracy_first", "accuracy_second", "difference"]
    ranges = ["difference_p10", "difference_p90"]
    tests = ["ci_low", "ci_high", "p", "p_equivalence"]
    open_rows = ~rows["identified"]
    rows.loc[open_rows, numbers] = levels[numbers].median()
    rows.loc[open_rows, ranges] = range_over(levels, ["difference"])
    rows.loc[open_rows, tests] = np.nan
    rows = _judge_rows(rows)  # Holm's adjustment over the tests that remain
    differ = (tables["p_holm"] < ALPHA).groupby(level=0).sum()
    of = levels.size()
    counted = "different in " + differ.astype(str) + " of " + of.astype(str)
    return rows.assign(verdict=rows["verdict"].mask(open_rows, counted))


def _take_family(
    rows: pd.DataFrame, pairs: pd.DataFrame, names: tuple[str, str]
) -> pd.DataFrame:
    """Return the overall comparison of two models, tested as one among all pairs.

    Of very many models not all pairs are compared; then it is tested alone.
    """
    is_pair = pairs[["first", "second"]].isin(names).all(axis=1)
    test = pairs.loc[is_pair, ["p_holm", "verdict"]]
    return rows if test.empty else rows.assign(**test.iloc[0])


# ---- all pairs ----
def compare_pairs(
    cells: pd.DataFrame,
    quantity: str = "accuracy",
    margin: float = MARGIN,
) -> pd.DataFrame:
    """Compare every pair of models, of at most `MANY`, by one of `QUANTITIES`.

    One row per pair, the larger value first: first, second, difference (of accuracies, or of log10
    ECL50), ci_low, ci_high, p, p_holm. Of accuracies also cells, p_equivalence, verdict, and by N
    difference_N and significant_N (after Holm over the levels of the pair). Left out are models
    without the quantity, and pairs whose accuracies the printed tables do not identify, because
    they share a part of the grid only (`compare_models` has these over the reconstructions).
    """
    if quantity not in QUANTITIES:
        choices = ", ".join(QUANTITIES)
        raise ValueError(
            f"models are not compared by {quantity!r}; choose one of: {choices}"
        )
    cells = limit_models(cells)
    if quantity == "ecl50":
        return _compare_lengths(cells)
    layout = tabulate_accuracies(cells)
    present = layout.answers > 0
    mean = layout.accuracy.sum(axis=1) / np.maximum(present.sum(axis=1), 1)
    first, second = _rank_pairs(mean)
    masks = present[first] & present[second]
    names = np.array(layout.models, dtype=object)
    reconstructed = np.isin(names, reconstructed_models(cells))
    comparable = masks.any(axis=1)
    comparable &= ~(reconstructed[first] | reconstructed[second]) | _are_identified(
        layout, masks
    )
    first = first[comparable]
    second = second[comparable]
    masks = masks[comparable]
    table = pd.DataFrame({"first": names[first], "second": names[second]})
    table["cells"] = masks.sum(axis=1)
    table = table.join(_compare_places(layout, first, second, masks, margin))
    return _judge_rows(table.join(_compare_at_lengths(layout, first, second, masks)))


def _are_identified(layout: AccuracyTable, masks: np.ndarray) -> np.ndarray:
    """Return for each mask whether the printed tables fix the mean accuracies over its cells."""
    different, places = np.unique(masks, axis=0, return_inverse=True)
    identified = [is_mean_identified(layout.cells[mask]) for mask in different]
    return np.array(identified, dtype=bool)[places]


def _compare_places(
    layout: AccuracyTable,
    first: np.ndarray,
    second: np.ndarray,
    masks: np.ndarray,
    margin: float,
) -> pd.DataFrame:
    """Return a `Difference` for each pair of models, by place, over the cells of its mask."""
    first_share = mean_shares(layout, first, masks)
    second_share = mean_shares(layout, second, masks)
    return compare_shares(first_share, second_share, margin)


def _compare_at_lengths(
    layout: AccuracyTable,
    first: np.ndarray,
    second: np.ndarray,
    masks: np.ndarray,
) -> pd.DataFrame:
    """Return difference_N and significant_N of each pair at each length."""
    lengths = layout.cells["N"].to_numpy()
    levels = {}
    for N in np.unique(lengths):
        levels[N] = _compare_places(
            layout, first, second, masks & (lengths == N), MARGIN
        )
    columns = {}
    if levels and len(first):
        p = np.column_stack([level["p"] for level in levels.values()])
        adjusted = np.apply_along_axis(correct_holm, 1, p)
        for place, (N, level) in enumerate(levels.items()):
            columns[f"difference_{N}"] = level["difference"]
            columns[f"significant_{N}"] = adjusted[:, place] < ALPHA
    return pd.DataFrame(columns)


def _compare_lengths(cells: pd.DataFrame) -> pd.DataFrame:
    """Compare models by log10 ECL50, with the standard errors of the delta method."""
    rows = []
    for quadratic in fit_quadratics(cells):
        se = standard_error(quadratic, "ecl50")
        rows.append((quadratic.model, quadratic.points["ecl50"], se))
    table = pd.DataFrame(rows, columns=["model", "value", "se"])
    table = table.astype({"value": float, "se": float})
    table = table[np.isfinite(table[["value", "se"]]).all(axis=1)]
    names = table["model"].to_numpy(object)
    value = table["value"].to_numpy()
    errors = table["se"].to_numpy()
    first, second = _rank_pairs(value)
    difference = value[first] - value[second]
    error = np.hypot(errors[first], errors[second])
    p = 2 * norm.sf(np.abs(difference) / error)
    return pd.DataFrame(
        {
            "first": names[first],
            "second": names[second],
            "difference": difference,
            "ci_low": difference - QUANTILE * error,
            "ci_high": difference + QUANTILE * error,
            "p": p,
            "p_holm": correct_holm(p),
        }
    )


def _rank_pairs(value: np.ndarray) -> np.ndarray:
    """Return the places of each pair, the larger value first, in the order of the values."""
    order = np.argsort(-value, kind="stable")
    places = np.array(list(combinations(range(len(order)), 2)), dtype=int)
    return order[places.reshape(-1, 2)].T


def _judge_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Add p_holm and the verdicts, both questions corrected for all rows."""
    p_holm = correct_holm(table["p"])
    p_equivalence = correct_holm(table["p_equivalence"])
    verdicts = [
        judge_difference(*tests) for tests in zip(p_holm, p_equivalence, strict=True)
    ]
    return table.assign(p_holm=p_holm, verdict=verdicts)


def compare_answers(
    first: pd.Series,
    second: pd.Series,
    margin: float = MARGIN,
) -> tuple[pd.Series, Difference]:
    """Compare two models on the puzzles that both have answered, whether each is correct by puzzle.

    Returns the puzzles by who solved them (both, first_alone, second_alone, neither), and the
    difference with Tango's interval; its test is McNemar's.
    """
    named = [first.rename("first"), second.rename("second")]
    pair = pd.concat(named, axis=1, join="inner").astype(bool)
    if pair.empty:
        raise ValueError("no puzzle was answered by both models; compare them by cell")
    solved = (2 * pair["first"] + pair["second"]).value_counts()
    names = {3: "both", 2: "first_alone", 1: "second_alone", 0: "neither"}
    counts = solved.reindex(list(names), fill_value=0).rename(names)
    alone = int(counts["first_alone"])
    against = int(counts["second_alone"])
    return counts, compare_paired(alone, against, len(pair), margin)


def bracket_models(pairs: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return the longest runs of neighbours in the ranking within which no two models differ.

    Runs of two or more models, best first; models differ significantly after Holm's adjustment.
    Pairs that were not compared count as different.
    """
    models = list(pd.concat([pairs["first"], pairs["second"]]).unique())  # best first
    alike = pairs.loc[pairs["p_holm"] >= ALPHA, ["first", "second"]]
    alike_pairs = set(alike.itertuples(index=False, name=None))
    runs: list[tuple[str, ...]] = []
    last_end = 0
    for start in range(len(models)):
        end = start + 1
        while (
            end < len(models)
            and set(combinations(models[start : end + 1], 2)) <= alike_pairs
        ):
            end += 1
        if end > max(start + 1, last_end):
            runs.append(tuple(models[start:end]))
        last_end = max(last_end, end)
    return runs


# ---- kinds of puzzles ----
def shortcut_use(scores: pd.DataFrame, baselines: pd.DataFrame) -> pd.DataFrame:
    """Compare each model's accuracy where the last clause is right with that where it is wrong.

    Scores are of real outputs (reconstructed ones say nothing), baselines those of
    `baselines.baselines`. One row per model, in the order of the scores: model; answers_right,
    correct_right, answers_wrong, correct_wrong (all answers to the two kinds of puzzles); answers
    (in cells that have both kinds); right and wrong, the accuracies (fractions) within these cells,
    both with Mantel and Haenszel's weights, so that no load differs between them; difference,
    ci_low, ci_high and p (`differences.compare_strata`). The last six are NaN where no cell has
    both kinds.
    """
    clause = baselines.drop_duplicates("name").set_index("name")["last_clause"]
    answers = scores[["model", *CELL, "correct"]].assign(
        clause=scores["name"].map(clause)
    )
    answers = answers.dropna(subset="clause").astype(
        {"model": str, "correct": int, "clause": int}
    )
    how = ["count", "sum"]
    counts = answers.pivot_table("correct", ["model", *CELL], "clause", how, sort=False)
    kinds = pd.MultiIndex.from_product([how, [0, 1]])
    counts = counts.reindex(columns=kinds).fillna(0.0)
    rows = [
        _compare_kinds(model, counts.loc[model]) for model in answers["model"].unique()
    ]
    return pd.DataFrame(rows, columns=_SHORTCUT_COLUMNS)


_SHORTCUT_COLUMNS = [
    *("model", "answers_right", "correct_right", "answers_wrong", "correct_wrong"),
    *("answers", "right", "wrong", "difference", "ci_low", "ci_high", "p"),
]


def _compare_kinds(model: str, counts: pd.DataFrame) -> dict[str, object]:
    """Return one row of `shortcut_use` from a model's answers and correct ones by cell and kind."""
    sums = counts.sum().astype(int)
    row: dict[str, object] = {
        "model": model,
        "answers_right": sums["count", 1],
        "correct_right": sums["sum", 1],
        "answers_wrong": sums["count", 0],
        "correct_wrong": sums["sum", 0],
        "answers": 0,
    }
    both = counts[(counts["count"] > 0).all(axis=1)]
    if both.empty:
        return row
    order = ("sum", 1), ("count", 1), ("sum", 0), ("count", 0)
    strata = Strata(*(both[column].to_numpy(float) for column in order))
    right, wrong = strata.shares
    difference = compare_strata(strata, MARGIN)._asdict()
    difference.pop("p_equivalence")
    return (
        row
        | difference
        | {"answers": int(strata.total.sum()), "right": right, "wrong": wrong}
    )
