"""Which models differ: pairs by accuracy over shared cells, or by ECL50; all models; own models; kinds of puzzles.

The mean over cells has the standard error of a stratified design, with the accuracies that the paper's regression fits.
The printed tables identify it, and where the regression misses it is too large rather than too small. Answers of two
models count as independent although both may have met the same puzzles, which again is cautious.
"""

from collections.abc import Sequence
from itertools import combinations
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import binomtest, norm
from statsmodels.stats.meta_analysis import combine_effects
from statsmodels.stats.proportion import proportion_confint

from cogniload_repro.models import MODELS, NAMES
from cogniload_repro.published import ALPHA
from cogniload_repro.robustness.uncertainty import correct_holm, fit_quadratics, standard_error
from cogniload_repro.statistics.cell_tables import accuracy_by
from cogniload_repro.statistics.reconstructions import (
    over_reconstructions,
    range_over,
    reconstructed_models,
)

#: What models are compared by: mean accuracy over shared cells (fraction); the decimal logarithm of ECL50 (statements).
QUANTITIES = ("accuracy", "ecl50")
#: Differences of accuracy below this one are negligible, unless another margin is asked for.
MARGIN = 0.05
#: What a comparison may find: a difference; one shown to be within the margin; equivalence; neither.
VERDICTS = ("different", "different, negligible", "equivalent", "inconclusive")
#: At most so many models are shown and compared with each other, the paper's first.
MANY = 40
_CELL = ["N", "d", "ratio_pct"]

#: The three classes (paper, section 3.1.4).
TIERS = {
    tier: tuple(model.name for model in MODELS if model.tier == tier)
    for tier in ("frontier", "mid", "low")
}
TIER_OF = {model: tier for tier, models in TIERS.items() for model in models}


class Difference(NamedTuple):
    """A difference of two accuracies (fractions), first minus second, with Newcombe's interval.

    p is of no difference (two-sided), p_equivalence of one as large as the margin or larger (two one-sided tests).
    """

    difference: float
    ci_low: float
    ci_high: float
    p: float
    p_equivalence: float


class _Side(NamedTuple):
    """Observed and expected accuracy, and the variance of the observed, by model and cell; 0 where there is none."""

    accuracy: np.ndarray
    expected: np.ndarray
    variance: np.ndarray
    answers: np.ndarray


def judge(p: float, p_equivalence: float) -> str:
    """Return one of `VERDICTS` for a p-value of no difference and one of no equivalence, at level `ALPHA`."""
    if p < ALPHA:
        return VERDICTS[1] if p_equivalence < ALPHA else VERDICTS[0]
    return VERDICTS[2] if p_equivalence < ALPHA else VERDICTS[3]


def limit_models(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells of at most `MANY` models: the paper's, then others in their order."""
    kept = sorted(cells["model"].unique(), key=lambda name: name not in NAMES)[:MANY]
    return cells if cells["model"].nunique() <= MANY else cells[cells["model"].isin(kept)]


def compare_models(
    cells: pd.DataFrame, first: str, second: str, by: Sequence[str] = (), margin: float = MARGIN
) -> pd.DataFrame:
    """Compare the accuracies of two models, overall or at each level of some columns (all three loads: single cells).

    One row per level: the columns; cells, answers_first, answers_second; accuracy_first, accuracy_second (means over
    the cells that both have); the fields of `Difference`; p_holm (over all rows; overall, as `compare_pairs` has it);
    verdict (of `VERDICTS`, both p-values Holm-adjusted); identified, difference_p10, difference_p90. What the printed
    tables do not identify (levels of the ratio, single cells) has the median difference and its range over the
    samples, but no interval, p or verdict.
    """
    if not 0 < margin < 1:
        raise ValueError(
            f"the margin is {margin:g}; a difference of accuracies lies between 0 and 1, such as 0.05"
        )
    known = cells.loc[cells["total"] > 0, "model"].unique()
    if first == second or not {first, second} <= set(known):
        raise ValueError(
            f"{first} and {second} are not two models of the cells, which have: {', '.join(known)}"
        )
    pair = cells[cells["model"].isin([first, second])]
    rows = _compare_levels(pair, first, second, by, margin)
    rows = rows.assign(
        identified=True, difference_p10=rows["difference"], difference_p90=rows["difference"]
    )
    if not by:
        pairs = compare_pairs(cells, margin=margin)
        found = pairs.loc[
            pairs[["first", "second"]].isin([first, second]).all(axis=1), ["p_holm", "verdict"]
        ]
        if len(found):  # not of very many models
            rows["p_holm"], rows["verdict"] = found.iloc[0]
    elif {*by} & {*_CELL} not in ({"N"}, {"d"}, set()) and reconstructed_models(pair):
        tables = over_reconstructions(
            pair, lambda table: _compare_levels(table, first, second, by, margin)
        )
        columns = ["accuracy_first", "accuracy_second", "difference"]
        over = tables.groupby(list(by), sort=True)
        rows[columns] = over[columns].median().to_numpy()
        rows[["difference_p10", "difference_p90"]] = range_over(over, ["difference"]).to_numpy()
        rows[["ci_low", "ci_high", "p", "p_equivalence", "p_holm"]] = np.nan
        rows["identified"], rows["verdict"] = False, ""
    return rows


def _compare_levels(
    pair: pd.DataFrame, first: str, second: str, by: Sequence[str], margin: float
) -> pd.DataFrame:
    models, index, side = _lay_out(pair)
    one, other = models.index(first), models.index(second)
    shared = (side.answers[one] > 0) & (side.answers[other] > 0)
    if not shared.any():
        raise ValueError(f"{first} and {second} have no cell of the grid in common")
    groups = index[shared].groupby(list(by)).indices if by else {(): np.arange(shared.sum())}
    masks = np.zeros((len(groups), len(index)), dtype=bool)
    for mask, rows in zip(masks, groups.values(), strict=True):
        mask[np.flatnonzero(shared)[rows]] = True
    levels = [level if isinstance(level, tuple) else (level,) for level in groups]
    rows = pd.DataFrame(levels, columns=list(by), index=range(len(levels))).assign(
        cells=masks.sum(axis=1)
    )
    for word, at in (("first", one), ("second", other)):
        rows[f"answers_{word}"] = masks @ side.answers[at]
        rows[f"accuracy_{word}"] = masks @ side.accuracy[at] / masks.sum(axis=1)
    places = np.full(len(levels), one), np.full(len(levels), other)
    return _judge_rows(rows.join(_differences(side, *places, masks, margin)))


def compare_pairs(
    cells: pd.DataFrame, quantity: str = "accuracy", margin: float = MARGIN
) -> pd.DataFrame:
    """Compare every pair of models, of at most `MANY`, by one of `QUANTITIES`.

    One row per pair, the larger value first: first, second, difference (of accuracies, or of log10 ECL50), ci_low,
    ci_high, p, p_holm. Of accuracies also cells, p_equivalence, verdict, and by N difference_N and significant_N
    (after Holm over the levels of the pair). Models without the quantity are left out.
    """
    if quantity not in QUANTITIES:
        raise ValueError(
            f"models are not compared by {quantity!r}; choose one of: {', '.join(QUANTITIES)}"
        )
    cells = limit_models(cells)
    if quantity == "ecl50":
        return _compare_lengths(cells)
    models, index, side = _lay_out(cells)
    present = side.answers > 0
    mean = side.accuracy.sum(axis=1) / np.maximum(present.sum(axis=1), 1)
    first, second = _rank_pairs(mean)
    masks = present[first] & present[second]
    first, second, masks = (part[masks.any(axis=1)] for part in (first, second, masks))
    names = np.array(models, dtype=object)
    table = pd.DataFrame(
        {"first": names[first], "second": names[second], "cells": masks.sum(axis=1)}
    )
    table = table.join(_differences(side, first, second, masks, margin))
    lengths = index["N"].to_numpy()
    levels = {
        N: _differences(side, first, second, masks & (lengths == N), margin)
        for N in np.unique(lengths)
    }
    if levels and len(table):
        p = np.apply_along_axis(
            correct_holm, 1, np.column_stack([level["p"] for level in levels.values()])
        )
        for (N, level), adjusted in zip(levels.items(), p.T, strict=True):
            table[f"difference_{N}"], table[f"significant_{N}"] = (
                level["difference"],
                adjusted < ALPHA,
            )
    return _judge_rows(table)


def _compare_lengths(cells: pd.DataFrame) -> pd.DataFrame:
    """Compare models by log10 ECL50, with the standard errors of the delta method."""
    found = [
        (one.model, one.points["ecl50"], standard_error(one, "ecl50"))
        for one in fit_quadratics(cells)
    ]
    table = pd.DataFrame(found, columns=["model", "value", "se"]).astype(
        {"value": float, "se": float}
    )
    table = table[np.isfinite(table[["value", "se"]]).all(axis=1)]
    names, value, se = (
        table["model"].to_numpy(object),
        table["value"].to_numpy(),
        table["se"].to_numpy(),
    )
    first, second = _rank_pairs(value)
    difference, error = value[first] - value[second], np.hypot(se[first], se[second])
    reach, p = norm.ppf(1 - ALPHA / 2) * error, 2 * norm.sf(np.abs(difference) / error)
    columns = {"first": names[first], "second": names[second], "difference": difference}
    columns |= {
        "ci_low": difference - reach,
        "ci_high": difference + reach,
        "p": p,
        "p_holm": correct_holm(p),
    }
    return pd.DataFrame(columns)


def _rank_pairs(value: np.ndarray) -> np.ndarray:
    """Return the places of each pair, the larger value first, in the order of the values."""
    order = np.argsort(-value, kind="stable")
    return order[np.array(list(combinations(range(len(order)), 2)), dtype=int).reshape(-1, 2)].T


def _lay_out(cells: pd.DataFrame) -> tuple[list[str], pd.DataFrame, _Side]:
    """Return the models, the cells that any of them has, and their accuracies there.

    Expected accuracies are those of the paper's regression; without a finite fit, the cell's with half a success and
    half a failure more. Perturbed prompts are other cells.
    """
    cells = cells[cells["total"] > 0]
    condition = cells["perturbation"].fillna("") if "perturbation" in cells else ""
    cells = cells.assign(model=cells["model"].astype(str), perturbation=condition)
    cells["expected"] = (cells["correct"] + 0.5) / (cells["total"] + 1)
    for one in fit_quadratics(cells):
        cells.loc[cells["model"] == one.model, "expected"] = one.accuracy
    keys = [*_CELL, "perturbation"]
    if cells.empty:
        return [], pd.DataFrame(columns=keys), _Side(*(np.zeros((0, 0)) for _ in range(4)))
    cells["expected"] *= cells["total"]
    wide = cells.pivot_table(["total", "correct", "expected"], "model", keys, "sum", fill_value=0)
    total, correct, expected = (
        wide[name].to_numpy(float) for name in ("total", "correct", "expected")
    )
    some = np.maximum(total, 1)
    expected = expected / some
    side = _Side(correct / some, expected, expected * (1 - expected) / some, total)
    return list(wide.index), wide["total"].columns.to_frame(index=False), side


def _differences(
    side: _Side, first: np.ndarray, second: np.ndarray, masks: np.ndarray, margin: float
) -> pd.DataFrame:
    """Return a `Difference` for each pair of models over its cells: Newcombe's combination of two Wilson intervals.

    Wilson's interval takes the number of answers that would have the variance of the mean, were all in one cell. Where
    the fit misses the observed mean by so much that its variance would be too small, that of the observed mean counts.
    """
    cells = np.where(masks.any(axis=1), masks.sum(axis=1), np.nan)  # no cells, no difference
    means, ends, variances = [], [], []
    for models in (first, second):
        mean, expected = (
            (values[models] * masks).sum(axis=1) / cells
            for values in (side.accuracy, side.expected)
        )
        variance = (side.variance[models] * masks).sum(axis=1) / cells**2
        within = (side.expected[models] * (1 - side.expected[models]) * masks).sum(axis=1) / cells
        observed, fitted = mean * (1 - mean), expected * (1 - expected)
        variance = variance * np.maximum(
            1, (observed - fitted + within) / within
        )  # the fit misses the mean here
        answers = np.maximum(observed, fitted) / variance
        ends.append(proportion_confint(mean * answers, answers, ALPHA, "wilson"))
        means.append(mean)
        variances.append(variance)
    difference = means[0] - means[1]
    low = difference - np.hypot(means[0] - ends[0][0], ends[1][1] - means[1])
    high = difference + np.hypot(ends[0][1] - means[0], means[1] - ends[1][0])
    se = np.sqrt(variances[0] + variances[1])
    columns = (
        difference,
        low,
        high,
        2 * norm.sf(np.abs(difference) / se),
        norm.sf((margin - np.abs(difference)) / se),
    )
    return pd.DataFrame(dict(zip(Difference._fields, columns, strict=True)))


def _judge_rows(table: pd.DataFrame) -> pd.DataFrame:
    """Add p_holm and the verdicts, both questions corrected for all rows."""
    p_holm, p_equivalence = correct_holm(table["p"]), correct_holm(table["p_equivalence"])
    return table.assign(
        p_holm=p_holm, verdict=[judge(*pair) for pair in zip(p_holm, p_equivalence, strict=True)]
    )


def compare_answers(
    first: pd.Series, second: pd.Series, margin: float = MARGIN
) -> tuple[pd.Series, Difference]:
    """Compare two models on the puzzles that both have answered, whether each answer is correct by puzzle name.

    Returns the puzzles by who solved them (both, first_alone, second_alone, neither), and the difference: McNemar's
    exact test, Bonett and Price's adjusted interval (2012), and equivalence tested with its standard error.
    """
    pair = pd.concat([first.rename("first"), second.rename("second")], axis=1, join="inner").astype(
        bool
    )
    if pair.empty:
        raise ValueError("no puzzle was answered by both models; compare them by cell")
    solved = (2 * pair["first"] + pair["second"]).value_counts()
    names = {3: "both", 2: "first_alone", 1: "second_alone", 0: "neither"}
    counts = solved.reindex(list(names), fill_value=0).rename(names)
    alone, against = int(counts["first_alone"]), int(counts["second_alone"])
    p = binomtest(alone, alone + against).pvalue if alone + against else 1.0
    shares = np.array([alone + 1, against + 1]) / (len(pair) + 2)
    middle = shares[0] - shares[1]
    se = np.sqrt((shares.sum() - middle**2) / (len(pair) + 2))
    reach, p_equivalence = norm.ppf(1 - ALPHA / 2) * se, float(norm.sf((margin - abs(middle)) / se))
    return counts, Difference(
        (alone - against) / len(pair), middle - reach, middle + reach, p, p_equivalence
    )


def bracket_models(pairs: pd.DataFrame) -> list[tuple[str, ...]]:
    """Return the longest runs of neighbours in the ranking within which no two models differ significantly (Holm).

    Runs of two or more models, best first. Pairs that were not compared count as different.
    """
    models = list(pd.concat([pairs["first"], pairs["second"]]).unique())  # best first
    open_pairs = set(
        pairs.loc[~(pairs["p_holm"] < ALPHA), ["first", "second"]].itertuples(
            index=False, name=None
        )
    )
    ends = [
        max(
            end
            for end in range(start + 1, len(models) + 1)
            if set(combinations(models[start:end], 2)) <= open_pairs
        )
        for start in range(len(models))
    ]
    return [
        tuple(models[start:end])
        for start, end in enumerate(ends)
        if end > max(start + 1, *ends[:start], 0)
    ]


def dominant_load(cells: pd.DataFrame) -> pd.DataFrame:
    """Return whether accuracy falls more from the shortest to the longest N, or from the lowest to the highest d.

    One row per model: model, fall_N, fall_d (accuracy, fractions), se (of their difference, from the fitted
    accuracies), range_N, range_d (change of the fitted log-odds between the ends of the load), difference (fall_N -
    fall_d), p_holm (two-sided).
    """
    rows = []
    for one in fit_quadratics(cells):
        log_N, d = one.x[:, 2], one.x[:, 1]
        contrast_N = _end_contrast(log_N, one.n)
        contrast_d = _end_contrast(d, one.n)
        accuracy = one.k / one.n
        variance = one.accuracy * (1 - one.accuracy) / one.n
        rows.append(
            {
                "model": one.model,
                "fall_N": contrast_N @ accuracy,
                "fall_d": contrast_d @ accuracy,
                "se": np.sqrt((contrast_N - contrast_d) ** 2 @ variance),
                "range_N": abs(one.fit.coef[2]) * np.ptp(log_N),
                "range_d": abs(one.fit.coef[1]) * np.ptp(d),
            }
        )
    table = pd.DataFrame(rows, columns=["model", "fall_N", "fall_d", "se", "range_N", "range_d"])
    difference = table["fall_N"] - table["fall_d"]
    p_holm = correct_holm(2 * norm.sf((difference / table["se"]).abs().astype(float)))
    return table.assign(difference=difference, p_holm=p_holm)


def _end_contrast(load: np.ndarray, answers: np.ndarray) -> np.ndarray:
    """Return weights that give accuracy at the lowest load minus accuracy at the highest."""
    lowest = answers * (load == load.min())
    highest = answers * (load == load.max())
    return lowest / lowest.sum() - highest / highest.sum()


def heterogeneity_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return how much the models' coefficients differ beyond sampling error (random effects, Paule and Mandel).

    One row per term of the paper's regression: term (d, N, rho, rho2), mean (log-odds per unit), tau (standard
    deviation of the true coefficients), relative (tau by the size of the mean) and p (Cochran's test that all models
    share one). Empty for fewer than two models with a finite fit.
    """
    fits, rows = fit_quadratics(cells), []
    for column, term in enumerate(("d", "N", "rho", "rho2") if len(fits) > 1 else (), start=1):
        beta, se = (
            np.array([getattr(one.fit, name)[column] for one in fits]) for name in ("coef", "se")
        )
        found = combine_effects(beta, se**2, method_re="iterated")
        mean, tau = found.mean_effect_re, np.sqrt(max(found.tau2, 0.0))
        rows.append((term, mean, tau, tau / abs(mean), found.test_homogeneity().pvalue))
    return pd.DataFrame(rows, columns=["term", "mean", "tau", "relative", "p"])


def shortcut_use(scores: pd.DataFrame, baselines: pd.DataFrame) -> pd.DataFrame:
    """Compare each model's accuracy on puzzles whose last clause is right and on those where it is wrong, within cells.

    The difference is Mantel and Haenszel's, over the cells that have both kinds, so that no load differs between them;
    its standard error is Sato's (1989), which holds for few answers per cell as for many. Scores are of real outputs
    (reconstructed ones say nothing), baselines those of `baselines.baselines`. One row per model, in the order of the
    scores: model; answers (in cells with both kinds); right and wrong, the accuracies (fractions) where the last clause
    is right and wrong, with the same weights of cells; difference, ci_low and ci_high; p (two-sided). NaN where no cell
    has both kinds, ci and p also where all are alike.
    """
    clause = baselines.drop_duplicates("name").set_index("name")["last_clause"]
    known = (
        scores[["model", *_CELL, "name", "correct"]]
        .assign(clause=scores["name"].map(clause))
        .dropna(subset="clause")
    )
    known = known.astype({"model": str, "correct": int})
    counts = known.pivot_table("correct", ["model", *_CELL], "clause", ["count", "sum"], sort=False)
    counts = counts.reindex(columns=pd.MultiIndex.from_product([["count", "sum"], [0, 1]])).dropna()
    n0, n1, k0, k1 = (counts[column].astype(float) for column in counts)
    n = n0 + n1
    parts = {"answers": n, "weight": n0 * n1 / n, "right": k1 * n0 / n, "wrong": k0 * n1 / n}
    parts["first"] = (n1**2 * k0 - n0**2 * k1 + n0 * n1 * (n0 - n1) / 2) / n**2
    parts["second"] = (k1 * (n0 - k0) + k0 * (n1 - k1)) / (2 * n)
    sums = pd.DataFrame(parts).groupby("model").sum().reindex(known["model"].unique())
    table = pd.DataFrame({"answers": sums["answers"].fillna(0).astype(int)})
    table["right"], table["wrong"] = sums["right"] / sums["weight"], sums["wrong"] / sums["weight"]
    table["difference"] = table["right"] - table["wrong"]
    se = np.sqrt(table["difference"] * sums["first"] + sums["second"]) / sums["weight"]
    se = se.where(se > 0)  # all alike: too few answers for an interval
    reach = norm.ppf(1 - ALPHA / 2) * se
    table["ci_low"] = (table["difference"] - reach).clip(lower=-1)
    table["ci_high"] = (table["difference"] + reach).clip(upper=1)
    table["p"] = 2 * norm.sf(table["difference"].abs() / se)
    return table.rename_axis("model").reset_index()


def rank_models(own: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy and rank of each model among the paper's, which are taken on the model's own cells.

    One row per model: model, total (answers), cells (of the paper's grid), accuracy, low, high (90% Wilson interval);
    rank among the paper's models, best and worst rank that the tests against each of them leave open (Holm, 5%), of
    (models), and nearest (the closest of them), by accuracy, and by ECL50 with the suffix _ecl50. ECL50 is
    missing without a finite fit.
    """
    rows, known = [], {}
    printed = pd.MultiIndex.from_frame(paper[_CELL])
    for model, cells in own.groupby("model", sort=False):
        asked = pd.MultiIndex.from_frame(cells[_CELL])
        key = tuple(sorted(asked))
        if key not in known:  # most models share their cells
            known[key] = _estimate(paper[printed.isin(key)])
        mine = _estimate(cells)
        row = {"model": model, "total": cells["total"].sum(), "cells": asked.isin(printed).sum()}
        row |= next(iter(accuracy_by(cells, "model").to_dict("records")), {})
        for quantity, suffix in (("accuracy", ""), ("ecl50", "_ecl50")):
            if len(mine):
                row |= {
                    name + suffix: value
                    for name, value in _rank(mine.iloc[0], known[key], quantity).items()
                }
        rows.append(row)
    ranks = [
        name + suffix
        for suffix in ("", "_ecl50")
        for name in ("rank", "best", "worst", "of", "nearest")
    ]
    return pd.DataFrame(rows).reindex(
        columns=["model", "total", "cells", "accuracy", "low", "high", *ranks]
    )


def _estimate(cells: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy and log10 ECL50 of models with a finite fit, each with its standard error."""
    return pd.DataFrame(
        {
            "model": fit.model,
            "accuracy": fit.k.sum() / fit.n.sum(),
            "se_accuracy": np.sqrt(fit.n @ (fit.accuracy * (1 - fit.accuracy))) / fit.n.sum(),
            "ecl50": fit.points["ecl50"],
            "se_ecl50": standard_error(fit, "ecl50"),
        }
        for fit in fit_quadratics(cells)
    )


def _rank(mine: pd.Series, others: pd.DataFrame, quantity: str) -> dict[str, object]:
    """Return the rank of one estimate among others, by tests of its difference from each."""
    others = others.dropna(subset=[quantity, f"se_{quantity}"])
    if others.empty or not np.isfinite([mine[quantity], mine[f"se_{quantity}"]]).all():
        return {}
    difference = others[quantity] - mine[quantity]
    p = 2 * norm.sf(abs(difference) / np.hypot(others[f"se_{quantity}"], mine[f"se_{quantity}"]))
    differs, count = correct_holm(p) < ALPHA, len(others) + 1
    found = {"rank": 1 + (difference > 0).sum(), "best": 1 + (differs & (difference > 0)).sum()}
    found |= {"worst": count - (differs & (difference < 0)).sum(), "of": count}
    return found | {"nearest": others["model"][abs(difference).idxmin()]}
