"""Compare models in accuracy: pairs of models, overall and by level; the same puzzles; ECL50.

The answers of two models are treated as independent although both may have had the same puzzles,
which is conservative. Intervals and tests are those of `differences`, the variances of the means
those of `accuracies`.
"""

from collections.abc import Iterable
from itertools import combinations

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
    that of one planned comparison; p_holm and verdict_holm: p adjusted over all rows, and the
    verdict that follows; identified, difference_p10, difference_p90.

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
    reconstructed = cells.loc[from_printed_tables(cells), "model"]
    is_reconstructed = rows[_PAIR].isin(set(reconstructed))
    is_open = np.array(is_reconstructed.any(axis=1))
    is_open[is_open] = ~_are_identified(table, masks[is_open])
    rows["identified"] = ~is_open
    rows.loc[is_open, _TESTS] = np.nan
    rows["verdict"] = judge_differences(rows["p"], rows["p_equivalence"])
    rows["p_holm"] = correct_holm(rows["p"])
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
    differs = samples["p"] < ALPHA
    counts = differs.groupby(level=0).agg(["sum", "size"])
    for row, differing, size in counts.itertuples():
        words = f"different in {differing} of {size}"
        rows.loc[row, ["verdict", "verdict_holm"]] = words


def _lay_out_rows(
    table: AccuracyTable,
    pairs: Iterable[tuple[str, str]],
    load: str,
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a row per pair and level with shared cells, and a mask of these cells for each."""
    rows = pd.DataFrame(pairs, columns=_PAIR)
    masks = np.ones((len(rows), len(table.cells)), dtype=bool)
    if load:
        levels = table.cells[[load]].drop_duplicates()
        levels = levels.sort_values(load)
        rows = rows.merge(levels, how="cross")
        masks = rows[[load]].to_numpy() == table.cells[load].to_numpy()
    places = pd.Index(table.models)
    first = table.answers[places.get_indexer(rows["first"])]
    second = table.answers[places.get_indexer(rows["second"])]
    masks &= (first > 0) & (second > 0)
    rows["cells"] = masks.sum(axis=1)
    rows["answers_first"] = (masks * first).sum(axis=1)
    rows["answers_second"] = (masks * second).sum(axis=1)
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
    # all samples at once, since p is searched for
    shares_first, shares_second = zip(*means, strict=True)
    first = Share(*np.concatenate(shares_first, axis=1))
    second = Share(*np.concatenate(shares_second, axis=1))
    samples = np.arange(1, len(means) + 1)
    numbers = {
        "sample": np.repeat(samples, len(rows)),
        "accuracy_first": first.mean,
        "accuracy_second": second.mean,
        "difference": first.mean - second.mean,
        "p": p_of_difference(first, second),
    }
    index = np.tile(rows.index, len(means))
    return pd.DataFrame(numbers, index)


def _are_identified(table: AccuracyTable, masks: np.ndarray) -> np.ndarray:
    """Return for each mask whether the printed tables identify the mean accuracy over its cells."""
    different, places = np.unique(masks, axis=0, return_inverse=True)
    identified = np.zeros(len(different), dtype=bool)
    for place, mask in enumerate(different):
        identified[place] = is_mean_identified(table.cells[mask])
    return identified[places]


def compare_pairs(cells: pd.DataFrame) -> pd.DataFrame:
    """Compare every pair of models, the larger accuracy first.

    One row per pair with cells in common, as `compare_accuracies` returns it.
    """
    table = tabulate_accuracies(cells)
    covered = (table.answers > 0).sum(axis=1)
    mean = table.accuracy.sum(axis=1) / np.maximum(covered, 1)
    order = np.argsort(-mean, kind="stable")
    models = [table.models[place] for place in order]
    return compare_accuracies(cells, combinations(models, 2))


def compare_ecl50(cells: pd.DataFrame) -> pd.DataFrame:
    """Compare the log10 ECL50 of every pair of models by a Wald test.

    One row per pair, the larger ECL50 first: first, second, difference (of the logarithms), p
    (standard errors by the delta method; NaN unless both are identified) and p_holm. Models without
    an ECL50 are left out.
    """
    fits = fit_finite(cells)
    points = find_points(fits, "ecl50")
    points["model"] = [fit.model for fit in fits]
    is_identified = [fit.identified for fit in fits]
    points["se"] = points["se"].where(np.array(is_identified, dtype=bool))
    points = points[points["status"] == "ok"]
    points = points.sort_values("value", ascending=False, kind="stable")
    rows = []
    for first, second in combinations(points.itertuples(), 2):
        difference = first.value - second.value
        z = difference / np.hypot(first.se, second.se)
        rows.append((first.model, second.model, difference, two_sided_p(z)))
    pairs = pd.DataFrame(rows, columns=[*_PAIR, "difference", "p"])
    return pairs.assign(p_holm=correct_holm(pairs["p"]))


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
    both = pair.all(axis=1).sum()
    alone = int(pair["first"].sum() - both)
    against = int(pair["second"].sum() - both)
    counts = {
        "both": both,
        "first_alone": alone,
        "second_alone": against,
        "neither": len(pair) - both - alone - against,
    }
    difference = compare_paired(alone, against, len(pair))
    return pd.Series(counts), difference
