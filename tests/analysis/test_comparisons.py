"""Which models differ."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import confint_proportions_2indep

from cogniload_repro.analysis.comparisons import (
    compare_accuracies,
    compare_answers,
    compare_ecl50,
    compare_pairs,
)
from cogniload_repro.analysis.differences import judge_differences
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.regression.reconstructions import each_reconstruction

CELLS = load_cells()
FEW = CELLS[
    CELLS["model"].isin(["QwQ-32B", "Qwen3-32B", "gpt-5-nano-2025-08-07", "Qwen3-1.7B"])
]
GRID = [(N, d, 50.0) for N in (20, 50, 100, 250) for d in (1, 3, 5, 7, 10)]
GPT5 = "gpt-5-2025-08-07"
O3 = "o3-2025-04-16"


def table_of(**models):
    """Cells of models that are given as (right answers, answers) of each cell of a small grid."""
    rows = [
        {
            "model": name,
            "N": N,
            "d": d,
            "ratio_pct": ratio,
            "rho": ratio / 100,
            "total": n,
            "correct": k,
        }
        for name, counts in models.items()
        for (N, d, ratio), (k, n) in zip(GRID, counts, strict=False)
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize("compare", [compare_pairs, compare_ecl50])
def test_every_pair_once_with_corrected_p(compare):
    """231 pairs, the larger value first.

    Holm's p is a running maximum of the sorted p times those left.
    """
    table = compare(CELLS).sort_values("p", kind="stable")
    assert (
        len(
            {
                frozenset(pair)
                for pair in zip(table["first"], table["second"], strict=True)
            }
        )
        == 231
    )
    assert (table["difference"] >= 0).all()
    by_hand = np.minimum(
        np.maximum.accumulate(table["p"].to_numpy() * np.arange(231, 0, -1)), 1
    )
    assert np.allclose(table["p_holm"], by_hand)


@pytest.mark.parametrize(
    ("one", "other"), [((7, 10), (30, 90)), ((0, 10), (0, 10)), ((10, 10), (95, 100))]
)
def test_a_single_cell_has_newcombes_interval(one, other):
    """In one cell the difference is that of the shares, and the interval is statsmodels'."""
    (row,) = compare_accuracies(table_of(a=[one], b=[other]), [("a", "b")]).itertuples()
    low, high = confint_proportions_2indep(
        *one, *other, compare="diff", method="newcomb"
    )
    assert row.difference == one[0] / one[1] - other[0] / other[1]
    assert (row.ci_low, row.ci_high) == pytest.approx((low, high))


@pytest.mark.parametrize(("n", "m", "base"), [(10, 100, 2), (10, 10, 0)])
def test_intervals_cover_as_they_say(n, m, base):
    """95% of the intervals of drawn tables hold the true difference.

    Easy and hard cells have different numbers of answers.
    """
    rng = np.random.default_rng([n, m])
    p = expit(base + np.linspace(-2, 2, 20))
    q = expit(base - 0.3 + np.linspace(-2.4, 2.4, 20))
    truth = (p - q).mean()
    sizes = np.where(np.arange(20) % 2, n, 2 * n)
    table = pd.DataFrame({"d": range(20), "ratio_pct": 50.0, "rho": 0.5}).merge(
        pd.DataFrame({"N": range(1, 401)}), "cross"
    )  # each drawn table is the level of one N
    drawn = (("a", sizes, p), ("b", np.full(20, m), q))
    cells = [
        table.assign(
            model=model,
            total=size[table["d"]],
            correct=rng.binomial(size[table["d"]], share[table["d"]]),
        )
        for model, size, share in drawn
    ]
    levels = compare_accuracies(pd.concat(cells), [("a", "b")], "N")
    is_covered = (levels["ci_low"] <= truth) & (truth <= levels["ci_high"])
    assert is_covered.mean() > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 400)
    width = (levels["ci_high"] - levels["ci_low"]).mean()
    assert width < 2 * 3 * levels["difference"].std()  # no wider than needed


def test_only_cells_that_both_have_are_compared():
    """Cells of one model alone do not count; without any in common, there is no row."""
    cells = table_of(a=[(10, 10)] * 20, b=[(5, 10)] * 3, c=[(0, 0)] * 19 + [(1, 1)])
    pairs = [("a", "b"), ("b", "c")]
    assert compare_accuracies(cells, pairs, "d")["cells"].tolist() == [1, 1, 1]
    assert compare_accuracies(cells, pairs)["second"].tolist() == ["b"]


def test_pairs_of_answers_are_mcnemars():
    """Counts, p-value and interval on puzzles that both have answered; the others do not count."""
    names = [f"p{number}" for number in range(60)]
    first = pd.Series([True] * 40 + [False] * 20, index=names)
    other = pd.Series([True] * 30 + [False] * 25 + [True] * 5, index=names)
    counts, difference = compare_answers(
        first, pd.concat([other, pd.Series([True], index=["more"])])
    )
    assert counts.to_dict() == {
        "both": 30,
        "first_alone": 10,
        "second_alone": 5,
        "neither": 15,
    }
    table = [[30, 10], [5, 15]]
    assert difference.p == pytest.approx(
        mcnemar(table, exact=False, correction=False).pvalue
    )
    assert difference.difference == pytest.approx(5 / 60)
    assert difference.ci_low < 0 < difference.difference < difference.ci_high
    same = pd.Series([True, False] * 500)
    alike = compare_answers(same, same)[1]
    few = compare_answers(same[:10], same[:10])[1]
    assert alike.p == 1
    assert judge_differences(alike.p, alike.p_equivalence) == "equivalent"
    assert judge_differences(few.p, few.p_equivalence) == "inconclusive"
    with pytest.raises(ValueError, match="no puzzle"):
        compare_answers(first, pd.Series([True], index=["else"]))


def test_pairs_are_single_comparisons_and_identified():
    """Each row of the table of pairs is what comparing its two models gives.

    Another reconstruction gives the same.
    """
    few, other = list(
        each_reconstruction(CELLS[CELLS["model"].isin([O3, "QwQ-32B", "Qwen3-32B"])])
    )[::12]
    names = ["difference", "ci_low", "ci_high", "p"]
    for pair in compare_pairs(few).itertuples():
        both = [(pair.first, pair.second)]
        single, again = (
            compare_accuracies(table, both).iloc[0] for table in (few, other)
        )
        assert pair.verdict == single["verdict"] == again["verdict"]
        assert [getattr(pair, name) for name in names] == pytest.approx(
            single[names].tolist()
        )
        assert again[names].astype(float).tolist() == pytest.approx(
            single[names].tolist(), abs=1e-3
        )  # a printed digit


def test_a_planned_pair_does_not_depend_on_other_models():
    """Its p and verdict are its own; only Holm's p counts the pairs of the cells."""
    alone = FEW[FEW["model"].isin(["QwQ-32B", "Qwen3-32B"])]
    (single,) = compare_pairs(alone).itertuples()
    pairs = compare_pairs(FEW).set_index(["first", "second"])
    among = pairs.loc[(single.first, single.second)]
    assert among["p"] == pytest.approx(single.p) == single.p_holm
    others = (pairs["p"] >= among["p"]).sum()
    assert len(pairs) == 6
    assert among["p_holm"] >= min(1, others * among["p"])
    assert among["verdict"] == single.verdict


def test_points_that_are_not_identified_are_not_tested():
    """On a part of the grid p would be one reconstruction's; against scored counts as well."""
    part = CELLS.query("model in ('QwQ-32B', 'Qwen3-32B') and ratio_pct in (5, 50, 95)")
    mine = CELLS[CELLS["model"] == O3].assign(model="mine", provenance="scored")
    pairs = compare_ecl50(pd.concat([part, mine], ignore_index=True))
    assert len(pairs) == 3
    assert pairs[["p", "p_holm"]].isna().all(axis=None)
    assert compare_ecl50(part.assign(provenance="scored"))["p"].notna().all()


def test_models_on_part_of_a_level_are_compared_over_all_reconstructions():
    """On three ratios a verdict would be one reconstruction's.

    A range stands in its place, and no pair is tested.
    """
    part = CELLS.query("model in ('QwQ-32B', 'Qwen3-32B') and ratio_pct in (5, 50, 95)")
    row = compare_pairs(part).iloc[0]
    tables = [
        table.eval("share = correct / total").groupby("model")["share"].mean()
        for table in each_reconstruction(part)
    ]
    differences = pd.Series(
        [means[row["first"]] - means[row["second"]] for means in tables]
    )
    assert not row["identified"]
    assert row["difference"] == pytest.approx(differences.median())
    assert row["difference_p10"] == pytest.approx(differences.quantile(0.1))
    assert row[["ci_low", "ci_high", "p", "p_holm"]].isna().all()
    assert row["verdict"].endswith(" of 24")
    assert not compare_pairs(part)["identified"].any()
    assert len(compare_pairs(part.assign(provenance="scored"))) == 1
    whole = CELLS.query("model in ('QwQ-32B', 'Qwen3-32B') and N <= 50")
    assert compare_pairs(whole)["identified"].all()
