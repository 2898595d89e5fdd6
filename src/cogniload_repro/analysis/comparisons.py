"""Compare models in accuracy: pairs of models, overall and by level; the same puzzles; ECL50.

The answers of two models are treated as independent although both may have had the same puzzles,
which is conservative. Intervals and tests are those of `differences`, the variances of the means
those of `accuracies`.
"""

from collections.abc import Iterable, Sequence

import numpy as np
import pandas as pd

from cogniload_repro.analysis.accuracies import (
    AccuracyTable,
    compare_means,
    mean_shares,
    tabulate_accuracies,
)
from cogniload_repro.analysis.differences import (
    Difference,
    compare_paired,
    judge_difference,
    two_sided_p,
)
from cogniload_repro.analysis.uncertainty import correct_holm, correct_within
from cogniload_repro.models import NAMES
from cogniload_repro.published import ALPHA
from cogniload_repro.regression.capacity import find_points
from cogniload_repro.regression.glm import fit_finite
from cogniload_repro.regression.identification import is_mean_identified
from cogniload_repro.regression.reconstructions import (
    each_reconstruction,
    from_printed_tables,
    range_over,
)

#: Default equivalence margin: smaller differences of accuracy are negligible.
MARGIN = 0.05
#: Largest number of models that are shown and compared; the paper's models come first.
MANY = 40
_PAIR = ["first", "second"]
_MEANS = ["accuracy_first", "accuracy_second", "difference"]
_TESTS = ["ci_low", "ci_high", "p", "p_equivalence"]


def limit_models(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of at most `MANY` models: the paper's, then others in their order."""
    if cells["model"].nunique() <= MANY:
        return cells
    models = sorted(cells["model"].unique(), key=lambda name: name not in NAMES)
    return cells[cells["model"].isin(models[:MANY])]


# ---- independent answers ----
def compare_accuracies(
    cells: pd.DataFrame,
    pairs: Iterable[tuple[str, str]],
    by: Sequence[str] = (),
    margin: float = MARGIN,
) -> pd.DataFrame:
    """Compare the accuracies of pairs of models, overall or at each level of some columns.

    One row per pair and level of the columns ``by`` (single cells if these are all three loads) at
    which both models have cells: first, second; the columns; cells, answers_first, answers_second;
    accuracy_first, accuracy_second (means over the cells that both models have); the fields of
    `Difference`; p_holm (adjusted over all rows); verdict (of `DIFFERENCE_VERDICTS`, both p-values
    Holm-adjusted); identified, difference_p10, difference_p90. If the printed tables do not
    identify a row (levels of the ratio, single cells, a part of the grid), it has the median
    difference and its range over the reconstructions, but no interval or p; its verdict says in how
    many of them the models differ.
    """
    table = tabulate_accuracies(cells)
    rows, masks = _lay_out_rows(table, pairs, by)
    rows = rows.join(_measure(table, rows, masks, margin))
    rows["difference_p10"] = rows["difference"]
    rows["difference_p90"] = rows["difference"]
    reconstructed = cells.loc[from_printed_tables(cells), "model"].unique()
    is_open = np.array(rows[_PAIR].isin(reconstructed).any(axis=1))
    is_open[is_open] = ~_are_identified(table, masks[is_open])
    rows["identified"] = ~is_open
    if is_open.any():
        unknown = rows[is_open]
        samples = measure_samples(table, cells, unknown, masks[is_open], margin)
        by_row = samples.groupby(level=0)
        rows.loc[is_open, _MEANS] = by_row[_MEANS].median()
        rows.loc[is_open, ["difference_p10", "difference_p90"]] = range_over(
            by_row, ["difference"]
        )
        rows.loc[is_open, _TESTS] = np.nan
    rows["p_holm"] = correct_holm(rows["p"])
    p_equivalence = correct_holm(rows["p_equivalence"])
    verdicts = map(judge_difference, rows["p_holm"], p_equivalence)
    rows["verdict"] = list(verdicts)
    if is_open.any():
        rows.loc[is_open, "verdict"] = _count_different(samples)
    return rows


def _lay_out_rows(
    table: AccuracyTable, pairs: Iterable[tuple[str, str]], by: Sequence[str]
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return a row per pair and level with shared cells, and a mask of these cells for each."""
    rows = pd.DataFrame(pairs, columns=_PAIR)
    places = pd.Index(table.models)
    present = table.answers > 0
    shared = present[places.get_indexer(rows["first"])]
    shared = shared & present[places.get_indexer(rows["second"])]
    levels = (
        table.cells[[*by]].drop_duplicates().sort_values([*by])
        if by
        else pd.DataFrame([{}])
    )
    level_masks = np.ones((1, len(table.cells)), dtype=bool)
    if by:
        codes = table.cells.groupby([*by]).ngroup().to_numpy()
        level_masks = codes == np.arange(len(levels))[:, None]
    masks = (shared[:, None] & level_masks).reshape(-1, len(table.cells))
    rows = rows.merge(levels, how="cross")
    rows["cells"] = masks.sum(axis=1)
    has_cells = masks.any(axis=1)
    return rows[has_cells].reset_index(drop=True), masks[has_cells]


def _measure(
    table: AccuracyTable, rows: pd.DataFrame, masks: np.ndarray, margin: float
) -> pd.DataFrame:
    """Return answers, accuracies and their `Difference` for each row."""
    places = pd.Index(table.models)
    columns = {}
    for side in _PAIR:
        models = places.get_indexer(rows[side])
        columns[f"answers_{side}"] = (masks * table.answers[models]).sum(axis=1)
        columns[f"accuracy_{side}"] = mean_shares(table, models, masks).mean
    first, second = (places.get_indexer(rows[side]) for side in _PAIR)
    differences = compare_means(table, first, second, masks, margin)
    return pd.DataFrame(columns, rows.index).join(differences.set_index(rows.index))


def measure_samples(
    table: AccuracyTable,
    cells: pd.DataFrame,
    rows: pd.DataFrame,
    masks: np.ndarray,
    margin: float = MARGIN,
) -> pd.DataFrame:
    """Return the numbers of rows in every reconstruction (column sample), with p_holm in each."""
    samples = []
    for number, sample in enumerate(each_reconstruction(cells), start=1):
        numbers = _measure(table.with_counts(sample), rows, masks, margin)
        numbers["p_holm"] = correct_holm(numbers["p"])
        samples.append(numbers.assign(sample=number))
    return pd.concat(samples)


def _are_identified(table: AccuracyTable, masks: np.ndarray) -> np.ndarray:
    """Return for each mask whether the printed tables identify the mean accuracy over its cells."""
    different, places = np.unique(masks, axis=0, return_inverse=True)
    identified = [is_mean_identified(table.cells[mask]) for mask in different]
    return np.array(identified, dtype=bool)[places]


def _count_different(samples: pd.DataFrame) -> pd.Series:
    """Return for each row in how many samples two models differ: "different in 3 of 24"."""
    differs = (samples["p_holm"] < ALPHA).groupby(level=0)
    return (
        "different in "
        + differs.sum().astype(str)
        + " of "
        + differs.size().astype(str)
    )


def compare_models(
    cells: pd.DataFrame,
    first: str,
    second: str,
    by: Sequence[str] = (),
    margin: float = MARGIN,
) -> pd.DataFrame:
    """Compare two models overall or at each level of some columns: `compare_accuracies`.

    The overall comparison is Holm-adjusted over all pairs of models (`compare_pairs`).
    """
    if not 0 < margin < 1:
        rule = "choose a difference of accuracies between 0 and 1, such as 0.05"
        raise ValueError(f"the margin is {margin:g}; {rule}")
    known = cells.loc[cells["total"] > 0, "model"].unique()
    if first == second or not {first, second} <= set(known):
        rest = f"of the cells; choose two of: {', '.join(known)}"
        raise ValueError(f"{first} and {second} are not two models {rest}")
    pair = cells[cells["model"].isin([first, second])]
    rows = compare_accuracies(pair, [(first, second)], by, margin)
    if rows.empty:
        raise ValueError(f"{first} and {second} have no cell of the grid in common")
    if by or not rows["identified"].all():
        return rows
    pairs = compare_pairs(cells, margin)
    test = pairs.loc[
        pairs[_PAIR].isin([first, second]).all(axis=1), ["p_holm", "verdict"]
    ]
    # of more than `MANY` models, some pairs are tested alone
    return rows if test.empty else rows.assign(**test.iloc[0])


def compare_pairs(cells: pd.DataFrame, margin: float = MARGIN) -> pd.DataFrame:
    """Compare every pair of models (of the first `MANY`), the larger accuracy first.

    One row per pair with cells in common, as `compare_accuracies` returns it, and for each length N
    difference_N and significant_N (Holm-adjusted over the pair's lengths).
    """
    cells = limit_models(cells)
    table = tabulate_accuracies(cells)
    has_answers = (table.answers > 0).sum(axis=1)
    mean = table.accuracy.sum(axis=1) / np.maximum(has_answers, 1)
    names = np.array(table.models, dtype=object)
    pairs = list(zip(*(names[places] for places in _rank_pairs(mean)), strict=True))
    rows = compare_accuracies(cells, pairs, margin=margin)
    lengths = compare_accuracies(cells, pairs, ["N"])
    lengths["significant"] = correct_within(lengths, _PAIR) < ALPHA
    for N, at_length in lengths.groupby("N"):
        named = at_length[[*_PAIR, "difference", "significant"]]
        names_at = {name: f"{name}_{N}" for name in ("difference", "significant")}
        rows = rows.merge(named.rename(columns=names_at), on=_PAIR, how="left")
        rows[f"significant_{N}"] = rows[f"significant_{N}"].eq(True)
    return rows


def compare_ecl50(cells: pd.DataFrame) -> pd.DataFrame:
    """Compare the log10 ECL50 of every pair of models (of the first `MANY`) by a Wald test.

    One row per pair, the larger ECL50 first: first, second, difference (of the logarithms), p
    (standard errors by the delta method) and p_holm. Models without an ECL50 are left out.
    """
    fits = fit_finite(limit_models(cells))
    points = find_points(fits, "ecl50").assign(model=[fit.model for fit in fits])
    points = points[points["status"] == "ok"]
    lengths = points["value"].to_numpy(float)
    errors = points["se"].to_numpy(float)
    names = points["model"].to_numpy(object)
    first, second = _rank_pairs(lengths)
    difference = lengths[first] - lengths[second]
    p = two_sided_p(difference / np.hypot(errors[first], errors[second]))
    pairs = pd.DataFrame({"first": names[first], "second": names[second]})
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
    margin: float = MARGIN,
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
    counts = pd.Series(
        {
            "both": (pair["first"] & pair["second"]).sum(),
            "first_alone": (pair["first"] & ~pair["second"]).sum(),
            "second_alone": (~pair["first"] & pair["second"]).sum(),
            "neither": (~pair["first"] & ~pair["second"]).sum(),
        }
    )
    alone = int(counts["first_alone"])
    against = int(counts["second_alone"])
    return counts, compare_paired(alone, against, len(pair), margin)
