"""Compare models in accuracy: two models at several levels, or all pairs at once.

The answers of two models are treated as independent although both may have had the same puzzles,
which is conservative. Intervals and tests are those of `differences`, the variances of the means
those of `accuracies`.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd

from cogniload_repro.analysis.accuracies import (
    AccuracyTable,
    compare_means,
    is_mean_identified,
    mean_shares,
    tabulate_accuracies,
)
from cogniload_repro.analysis.differences import (
    Difference,
    compare_paired,
    judge_difference,
    two_sided_p,
)
from cogniload_repro.analysis.uncertainty import (
    correct_holm,
    estimate_point,
    fit_quadratics,
)
from cogniload_repro.models import NAMES
from cogniload_repro.published import ALPHA
from cogniload_repro.regression.reconstructions import (
    each_reconstruction,
    range_over,
    reconstructed_models,
)

#: Default equivalence margin: smaller differences of accuracy are negligible.
MARGIN = 0.05
#: Largest number of models that are shown and compared; the paper's models come first.
MANY = 40


def limit_models(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of at most `MANY` models: the paper's, then others in their order."""
    if cells["model"].nunique() <= MANY:
        return cells
    models = sorted(cells["model"].unique(), key=lambda name: name not in NAMES)
    return cells[cells["model"].isin(models[:MANY])]


# ---- two models ----
def compare_models(
    cells: pd.DataFrame,
    first: str,
    second: str,
    by: Sequence[str] = (),
    margin: float = MARGIN,
) -> pd.DataFrame:
    """Compare the accuracies of two models, overall or at each level of some columns.

    One row per level of the columns ``by`` (single cells if these are all three loads): the
    columns; cells, answers_first, answers_second; accuracy_first, accuracy_second (means over the
    cells that both models have); the fields of `Difference`; p_holm (adjusted over all rows;
    overall, over all pairs of models, see `compare_pairs`); verdict (of `DIFFERENCE_VERDICTS`, both
    p-values Holm-adjusted); identified, difference_p10, difference_p90. If the printed tables do
    not identify a row (levels of the ratio, single cells, a part of the grid), it has the median
    difference and its range over the reconstructions, but no interval or p; its verdict says in how
    many of them the models differ.
    """
    if not 0 < margin < 1:
        rule = "choose a difference of accuracies between 0 and 1, such as 0.05"
        raise ValueError(f"the margin is {margin:g}; {rule}")
    known = cells.loc[cells["total"] > 0, "model"].unique()
    if first == second or not {first, second} <= set(known):
        rest = f"of the cells; choose two of: {', '.join(known)}"
        raise ValueError(f"{first} and {second} are not two models {rest}")
    pair = cells[cells["model"].isin([first, second])]
    table = tabulate_accuracies(pair)
    places = np.array([table.models.index(first), table.models.index(second)])
    levels, masks = _find_levels(table, by)

    rows = levels.join(_compare_levels(table, places, masks, margin))
    rows["identified"] = True
    rows["difference_p10"] = rows["difference"]
    rows["difference_p90"] = rows["difference"]
    if reconstructed_models(pair):
        rows["identified"] = [is_mean_identified(table.cells[mask]) for mask in masks]
    if not rows["identified"].all():
        samples = pd.concat(
            _compare_levels(table.with_counts(sample), places, masks, margin)
            for sample in each_reconstruction(pair)
        )
        return _take_ranges(rows, samples)
    if not by:
        rows = _take_family(rows, compare_pairs(cells, margin=margin), (first, second))
    return rows


def _find_levels(
    table: AccuracyTable, by: Sequence[str]
) -> tuple[pd.DataFrame, np.ndarray]:
    """Return the levels at which two models share cells, and a mask of the cells of each level."""
    is_shared = np.asarray((table.answers > 0).all(axis=0))
    if not is_shared.any():
        first, second = table.models
        raise ValueError(f"{first} and {second} have no cell of the grid in common")
    shared = table.cells[is_shared]
    if not by:
        return pd.DataFrame({"cells": [len(shared)]}), is_shared[None]
    groups = shared.groupby(list(by))
    levels = groups.size().rename("cells").reset_index()
    level_of_cell = groups.ngroup().reindex(table.cells.index).to_numpy()
    return levels, np.equal(level_of_cell, levels.index.to_numpy()[:, None])


def _compare_levels(
    table: AccuracyTable, places: np.ndarray, masks: np.ndarray, margin: float
) -> pd.DataFrame:
    """Return accuracies, answers and the difference of two models, with tests, at each level."""
    first, second = np.repeat(places[:, None], len(masks), axis=1)
    columns = {
        "answers_first": masks @ table.answers[places[0]],
        "accuracy_first": mean_shares(table, first, masks).mean,
        "answers_second": masks @ table.answers[places[1]],
        "accuracy_second": mean_shares(table, second, masks).mean,
    }
    differences = compare_means(table, first, second, masks, margin)
    return _judge_rows(pd.DataFrame(columns).join(differences))


def _take_ranges(rows: pd.DataFrame, samples: pd.DataFrame) -> pd.DataFrame:
    """Replace the numbers of levels that are not identified by medians and ranges over samples."""
    rows = rows.copy()
    levels = samples.groupby(level=0)
    numbers = ["accuracy_first", "accuracy_second", "difference"]
    ranges = ["difference_p10", "difference_p90"]
    tests = ["ci_low", "ci_high", "p", "p_equivalence"]
    is_open = ~rows["identified"]
    rows.loc[is_open, numbers] = levels[numbers].median()
    rows.loc[is_open, ranges] = range_over(levels, ["difference"])
    rows.loc[is_open, tests] = np.nan
    rows = _judge_rows(rows)  # Holm's adjustment over the identified levels only
    counted = count_different(samples["p_holm"] < ALPHA, samples.index)
    return rows.assign(verdict=rows["verdict"].mask(is_open, counted))


def count_different(is_different: pd.Series, groups: pd.Index | pd.Series) -> pd.Series:
    """Return for each group in how many samples two models differ: "different in 3 of 24"."""
    samples = is_different.groupby(groups)
    differ = samples.sum().astype(str)
    return "different in " + differ + " of " + samples.size().astype(str)


def _take_family(
    rows: pd.DataFrame, pairs: pd.DataFrame, names: tuple[str, str]
) -> pd.DataFrame:
    """Return the overall comparison of two models, Holm-adjusted over all pairs of models.

    If the pair is not among the compared ones (of more than `MANY` models), it is tested alone.
    """
    is_pair = pairs[["first", "second"]].isin(names).all(axis=1)
    test = pairs.loc[is_pair, ["p_holm", "verdict"]]
    return rows if test.empty else rows.assign(**test.iloc[0])


# ---- all pairs ----
def compare_pairs(
    cells: pd.DataFrame,
    margin: float = MARGIN,
) -> pd.DataFrame:
    """Compare the accuracies of every pair of models (of the first `MANY`).

    One row per pair, the larger accuracy first: first, second, cells (that both models have), the
    fields of `Difference`, p_holm, verdict, and for each length N difference_N and significant_N
    (Holm-adjusted over the pair's lengths). Pairs whose accuracies the printed tables do not
    identify, because they share only a part of the grid, are left out; `compare_models` compares
    them over the reconstructions.
    """
    cells = limit_models(cells)
    table = tabulate_accuracies(cells)
    present = table.answers > 0
    mean = table.accuracy.sum(axis=1) / np.maximum(present.sum(axis=1), 1)
    first, second = _rank_pairs(mean)
    masks = present[first] & present[second]

    names = np.array(table.models, dtype=object)
    is_reconstructed = np.isin(names, reconstructed_models(cells))
    is_scored = ~(is_reconstructed[first] | is_reconstructed[second])
    is_comparable = masks.any(axis=1) & (is_scored | _are_identified(table, masks))
    first = first[is_comparable]
    second = second[is_comparable]
    masks = masks[is_comparable]

    pairs = pd.DataFrame({"first": names[first], "second": names[second]})
    pairs["cells"] = masks.sum(axis=1)
    pairs = pairs.join(compare_means(table, first, second, masks, margin))
    return _judge_rows(pairs.join(_compare_at_lengths(table, first, second, masks)))


def _are_identified(table: AccuracyTable, masks: np.ndarray) -> np.ndarray:
    """Return for each mask whether the printed tables identify the mean accuracy over its cells."""
    different, places = np.unique(masks, axis=0, return_inverse=True)
    identified = [is_mean_identified(table.cells[mask]) for mask in different]
    return np.array(identified, dtype=bool)[places]


def _compare_at_lengths(
    table: AccuracyTable,
    first: np.ndarray,
    second: np.ndarray,
    masks: np.ndarray,
) -> pd.DataFrame:
    """Return difference_N and significant_N per pair and length; empty if there are no pairs."""
    if not first.size:
        return pd.DataFrame()
    lengths = table.cells["N"].to_numpy()
    levels = {}
    for N in np.unique(lengths):
        at_length = masks & (lengths == N)
        levels[N] = compare_means(table, first, second, at_length, MARGIN)
    p = np.column_stack([level["p"] for level in levels.values()])
    p_holm = np.apply_along_axis(correct_holm, 1, p)
    columns = {}
    for place, (N, level) in enumerate(levels.items()):
        columns[f"difference_{N}"] = level["difference"]
        columns[f"significant_{N}"] = p_holm[:, place] < ALPHA
    return pd.DataFrame(columns)


def compare_ecl50(cells: pd.DataFrame) -> pd.DataFrame:
    """Compare the log10 ECL50 of every pair of models (of the first `MANY`) by a Wald test.

    One row per pair, the larger ECL50 first: first, second, difference (of the logarithms), p
    (standard errors by the delta method) and p_holm. Models without an ECL50 are left out.
    """
    rows = []
    for quadratic in fit_quadratics(limit_models(cells)):
        estimate = estimate_point(quadratic.fit, quadratic.means, "ecl50")
        if np.isfinite(estimate).all():
            rows.append((quadratic.model, *estimate))
    lengths = pd.DataFrame(rows, columns=["model", "log_ecl50", "se"])
    names = lengths["model"].to_numpy(object)
    log_ecl50 = lengths["log_ecl50"].to_numpy(float)
    se = lengths["se"].to_numpy(float)

    first, second = _rank_pairs(log_ecl50)
    difference = log_ecl50[first] - log_ecl50[second]
    p = two_sided_p(difference / np.hypot(se[first], se[second]))
    pairs = pd.DataFrame({"first": names[first], "second": names[second]})
    return pairs.assign(difference=difference, p=p, p_holm=correct_holm(p))


def _rank_pairs(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the indices of all pairs, the larger value first, in decreasing order of values."""
    order = np.argsort(-values, kind="stable")
    first, second = np.triu_indices(len(order), k=1)
    return order[first], order[second]


def _judge_rows(rows: pd.DataFrame) -> pd.DataFrame:
    """Add p_holm and the verdicts; both p-values are Holm-adjusted over all rows."""
    p_holm = correct_holm(rows["p"])
    p_equivalence = correct_holm(rows["p_equivalence"])
    verdicts = map(judge_difference, p_holm, p_equivalence)
    return rows.assign(p_holm=p_holm, verdict=list(verdicts))


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
