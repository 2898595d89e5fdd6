"""Compare models in accuracy: pairs of models, overall and by level; the same puzzles; ECL50.

The answers of two models are treated as independent although both may have had the same puzzles,
which is conservative. Intervals and tests are those of `differences`, the variances of the means
those of `accuracies`.
"""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from cogniload_repro.analysis.accuracies import (
    AccuracyTable,
    mean_shares,
    tabulate_accuracies,
)
from cogniload_repro.analysis.differences import (
    Difference,
    Share,
    compare_paired,
    compare_shares,
    judge_differences,
    p_of_difference,
    two_sided_p,
)
from cogniload_repro.analysis.uncertainty import correct_holm
from cogniload_repro.published import ALPHA
from cogniload_repro.regression.capacity import find_points
from cogniload_repro.regression.glm import fit_finite
from cogniload_repro.regression.identification import is_mean_identified
from cogniload_repro.regression.reconstructions import (
    each_reconstruction,
    from_printed_tables,
    range_over,
)

_PAIR = ["first", "second"]
_MEANS = ["accuracy_first", "accuracy_second", "difference"]
_TESTS = [
    "ci_low",
    "ci_high",
    "p",
    "p_equivalence",
]


# ---- independent answers ----
def compare_accuracies(
    cells: pd.DataFrame,
    pairs: Iterable[tuple[str, str]],
    load: str = "",
) -> pd.DataFrame:
    """Compare the accuracies of pairs of models, overall or at each level of a load.

    One row per pair and level at which both models have cells: first, second; the load; cells,
    answers_first, answers_second; accuracy_first, accuracy_second (means over the cells that both
    models have); the fields of `Difference`; verdict ("different", "equivalent" or "inconclusive"),
    that of one planned comparison; p_holm, tests and verdict_holm: p adjusted over all rows, their
    number, and the verdict that follows; identified, difference_p10, difference_p90.

    If the printed tables do not identify a row (levels of the ratio, single cells, a part of the
    grid), it has the median difference and its range over the reconstructions, but no interval or
    p; its verdict says in how many of them the models differ.
    """
    table = tabulate_accuracies(cells)
    rows, masks = _lay_out_rows(table, pairs, load)
    first, second = _mean_pairs(table, rows, masks)
    rows["accuracy_first"] = first.mean
    rows["accuracy_second"] = second.mean
    rows = rows.join(compare_shares(first, second))
    rows["difference_p10"] = rows["difference"]
    rows["difference_p90"] = rows["difference"]
    reconstructed = cells.loc[from_printed_tables(cells), "model"].unique()
    is_open = np.array(rows[_PAIR].isin(reconstructed).any(axis=1))
    is_open[is_open] = ~_are_identified(table, masks[is_open])
    rows["identified"] = ~is_open
    rows.loc[is_open, _TESTS] = np.nan
    rows["verdict"] = judge_differences(rows["p"], rows["p_equivalence"])
    rows["p_holm"] = correct_holm(rows["p"])
    rows["tests"] = rows["p"].count()
    p_equivalence = correct_holm(rows["p_equivalence"])
    rows["verdict_holm"] = judge_differences(rows["p_holm"], p_equivalence)
    if is_open.any():
        samples = measure_samples(table, cells, rows[is_open], masks[is_open])
        _replace_by_ranges(rows, samples)
    return rows


def _replace_by_ranges(rows: pd.DataFrame, samples: pd.DataFrame) -> None:
    """Write medians, ranges and counts over the reconstructions into the rows of the samples."""
    by_row = samples.groupby(level=0)
    medians = by_row[_MEANS].median()
    ends = range_over(by_row, ["difference"])
    rows.loc[medians.index, _MEANS] = medians
    rows.loc[medians.index, list(ends)] = ends
    counts = (samples["p"] < ALPHA).groupby(level=0).agg(["sum", "size"])
    for row, differs, size in counts.itertuples():
        words = f"different in {differs} of {size}"
        rows.loc[row, ["verdict", "verdict_holm"]] = words


def _lay_out_rows(
    table: AccuracyTable,
    pairs: Iterable[tuple[str, str]],
    load: str,
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a row per pair and level with shared cells, and a mask of these cells for each."""
    rows = pd.DataFrame(pairs, columns=_PAIR)
    at_level = np.ones((1, len(table.cells)), dtype=bool)
    if load:
        levels = pd.DataFrame({load: np.unique(table.cells[load])})
        at_level = levels.to_numpy() == table.cells[load].to_numpy()
        rows = rows.merge(levels, how="cross")
    masks = np.tile(at_level, (len(rows) // len(at_level), 1))
    places = pd.Index(table.models)
    answers = {side: table.answers[places.get_indexer(rows[side])] for side in _PAIR}
    for of_side in answers.values():
        masks &= of_side > 0
    rows["cells"] = masks.sum(axis=1)
    for side, of_side in answers.items():
        rows[f"answers_{side}"] = (masks * of_side).sum(axis=1)
    has_cells = masks.any(axis=1)
    return rows[has_cells].reset_index(drop=True), masks[has_cells]


def _mean_pairs(
    table: AccuracyTable,
    rows: pd.DataFrame,
    masks: np.ndarray,
) -> tuple[Share, Share]:
    """Return the mean accuracies of the first and of the second model of each row."""
    places = pd.Index(table.models)
    first = mean_shares(table, places.get_indexer(rows["first"]), masks)
    second = mean_shares(table, places.get_indexer(rows["second"]), masks)
    return first, second


def measure_samples(
    table: AccuracyTable,
    cells: pd.DataFrame,
    rows: pd.DataFrame,
    masks: np.ndarray,
) -> pd.DataFrame:
    """Return the accuracies, difference and p of rows in every reconstruction (column sample)."""
    means = [
        _mean_pairs(table.with_counts(sample), rows, masks)
        for sample in each_reconstruction(cells)
    ]
    sides = zip(*means, strict=True)  # all samples at once, since p is searched for
    first, second = (Share(*np.concatenate(side, axis=1)) for side in sides)
    numbers = {
        "sample": np.repeat(np.arange(1, len(means) + 1), len(rows)),
        "accuracy_first": first.mean,
        "accuracy_second": second.mean,
        "difference": first.mean - second.mean,
        "p": p_of_difference(first, second),
    }
    return pd.DataFrame(numbers, np.tile(rows.index, len(means)))


def _are_identified(table: AccuracyTable, masks: np.ndarray) -> np.ndarray:
    """Return for each mask whether the printed tables identify the mean accuracy over its cells."""
    different, places = np.unique(masks, axis=0, return_inverse=True)
    identified = [is_mean_identified(table.cells[mask]) for mask in different]
    return np.array(identified, dtype=bool)[places]


def compare_pairs(cells: pd.DataFrame) -> pd.DataFrame:
    """Compare every pair of models, the larger accuracy first.

    One row per pair with cells in common, as `compare_accuracies` returns it.
    """
    table = tabulate_accuracies(cells)
    has_answers = (table.answers > 0).sum(axis=1)
    mean = table.accuracy.sum(axis=1) / np.maximum(has_answers, 1)
    first, second = _rank_pairs(mean)
    names = np.array(table.models, dtype=object)
    pairs = list(zip(names[first], names[second], strict=True))
    return compare_accuracies(cells, pairs)


def compare_ecl50(cells: pd.DataFrame) -> pd.DataFrame:
    """Compare the log10 ECL50 of every pair of models by a Wald test.

    One row per pair, the larger ECL50 first: first, second, difference (of the logarithms), p
    (standard errors by the delta method; NaN unless both are identified) and p_holm. Models without
    an ECL50 are left out.
    """
    fits = fit_finite(cells)
    points = find_points(fits, "ecl50")
    points["model"] = [fit.model for fit in fits]
    points["identified"] = [fit.identified for fit in fits]
    points = points[points["status"] == "ok"]
    first, second = (
        points.iloc[places].reset_index(drop=True)
        for places in _rank_pairs(points["value"].to_numpy(float))
    )
    difference = first["value"] - second["value"]
    z = difference / np.hypot(first["se"], second["se"])
    p = two_sided_p(z.where(first["identified"] & second["identified"]))
    pairs = pd.DataFrame(
        {"first": first["model"], "second": second["model"]}, dtype=str
    )
    return pairs.assign(difference=difference, p=p, p_holm=correct_holm(p))


def _rank_pairs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of all pairs, the larger value first, in decreasing order of values."""
    order = np.argsort(-values, kind="stable")
    first, second = np.triu_indices(len(order), k=1)
    return order[first], order[second]


# ---- answers to the same puzzles ----
def compare_answers(
    first: pd.Series,
    second: pd.Series,
) -> tuple[pd.Series, Difference]:
    """Compare two models on the puzzles that both answered (matched pairs).

    ``first`` and ``second`` say whether each model is correct, indexed by puzzle. Returns the
    number of puzzles solved by both, first_alone, second_alone and neither, and the difference with
    Tango's score interval; the test of no difference is McNemar's.
    """
    columns = [first.rename("first"), second.rename("second")]
    pair = pd.concat(columns, axis=1, join="inner").astype(bool)
    if pair.empty:
        raise ValueError("no puzzle was answered by both models; compare them by cell")
    alone = int((pair["first"] & ~pair["second"]).sum())
    against = int((pair["second"] & ~pair["first"]).sum())
    counts = {
        "both": pair.all(axis=1).sum(),
        "first_alone": alone,
        "second_alone": against,
        "neither": len(pair) - pair.any(axis=1).sum(),
    }
    return pd.Series(counts), compare_paired(alone, against, len(pair))
