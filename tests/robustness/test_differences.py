"""Two models held against one another."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import confint_proportions_2indep

from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.robustness.comparisons import group_models
from cogniload_repro.robustness.differences import VERDICTS, compare_all, compare_answers, compare_models, judge
from cogniload_repro.statistics.cell_tables import load_cells

CELLS = load_counts()
GRID = [(N, d, 50.0) for N in (20, 50, 100, 250) for d in (1, 3, 5, 7, 10)]


def table_of(**models):
    """Cells of models that are given as (right answers, answers) of each cell of a small grid."""
    rows = [
        {"model": name, "N": N, "d": d, "ratio_pct": ratio, "total": n, "correct": k}
        for name, counts in models.items()
        for (N, d, ratio), (k, n) in zip(GRID, counts, strict=False)
    ]
    return pd.DataFrame(rows)


@pytest.mark.parametrize(("one", "other"), [((7, 10), (30, 90)), ((0, 10), (0, 10)), ((10, 10), (95, 100))])
def test_a_single_cell_has_newcombes_interval(one, other):
    """In one cell the difference is that of the shares, and the interval statsmodels' for the same counts."""
    (row,) = compare_models(table_of(a=[one], b=[other]), "a", "b").itertuples()
    low, high = confint_proportions_2indep(*one, *other, compare="diff", method="newcomb")
    assert row.difference == one[0] / one[1] - other[0] / other[1]
    assert (row.low, row.high) == pytest.approx((low, high))


@pytest.mark.parametrize(("n", "m", "base"), [(10, 100, 2), (100, 100, 0), (10, 10, 0)])
def test_intervals_cover_as_they_say(n, m, base):
    """Of drawn tables with other numbers of answers in easy and hard cells, 95% intervals hold the true difference."""
    rng = np.random.default_rng([n, m])
    p, q = expit(base + np.linspace(-2, 2, 20)), expit(base - 0.3 + np.linspace(-2.4, 2.4, 20))
    truth, sizes = (p - q).mean(), np.where(np.arange(20) % 2, n, 2 * n)
    # each drawn table is the level of one N
    rows = [
        {"model": model, "N": number, "d": d, "ratio_pct": 50.0, "total": size, "correct": rng.binomial(size, share)}
        for number in range(1, 401)
        for d in range(20)
        for model, size, share in (("a", sizes[d], p[d]), ("b", m, q[d]))
    ]
    found = compare_models(pd.DataFrame(rows), "a", "b", ["N"])
    assert ((found["low"] <= truth) & (truth <= found["high"])).mean() > 0.95 - 3 * np.sqrt(0.05 * 0.95 / 400)


def test_having_answered_more_easy_puzzles_is_no_advantage():
    """Two models of one accuracy in every cell are alike, whatever the cells in which they have answered most."""
    easy = [(900, 1000)] * 10 + [(1, 10)] * 10
    hard = [(9, 10)] * 10 + [(100, 1000)] * 10
    (row,) = compare_models(table_of(easy=easy, hard=hard), "easy", "hard", margin=0.1).itertuples()
    assert row.difference == pytest.approx(0)
    assert row.verdict == VERDICTS[2]


def test_only_cells_that_both_have_are_compared():
    """Cells of one model alone do not count; without any in common, and against itself, nothing is compared."""
    cells = table_of(a=[(10, 10)] * 20, b=[(5, 10)] * 3, c=[(0, 0)] * 19 + [(1, 1)])
    assert compare_models(cells, "a", "b", ["d"])["cells"].tolist() == [1, 1, 1]
    for pair, why in ((("b", "c"), "no cell"), (("a", "a"), "itself"), (("a", "none"), "no model none")):
        with pytest.raises(ValueError, match=why):
            compare_models(cells, *pair)
    with pytest.raises(ValueError, match="margin"):
        compare_models(cells, "a", "b", margin=1)


def test_all_pairs_are_the_single_comparisons():
    """Each row of the table of pairs is what comparing its two models gives, at each N too."""
    few = CELLS[CELLS["model"].isin(["QwQ-32B", "Qwen3-32B", "o3-2025-04-16"])]
    pairs = compare_all(few)
    assert len(pairs) == 3
    for pair in pairs.itertuples():
        (one,) = compare_models(few, pair.first, pair.second).itertuples()
        assert np.allclose([pair.difference, pair.low, pair.high, pair.p], [one.difference, one.low, one.high, one.p])
        levels = compare_models(few, pair.first, pair.second, ["N"]).set_index("N")
        for N, row in levels.iterrows():
            assert getattr(pair, f"at_{N}") == pytest.approx(row["difference"])
            assert getattr(pair, f"apart_{N}") == (row["p_holm"] < 0.05)


def test_classes_are_what_the_tests_do_not_tell_apart():
    """Within a class no pair is apart; every pair that is not apart shares a class; no class lies within another."""
    pairs = compare_all(CELLS)
    groups = [set(group) for group in group_models(pairs)]
    apart = {frozenset((row.first, row.second)): row.p_holm <= 0.05 for row in pairs.itertuples()}
    for pair, is_apart in apart.items():
        assert any(pair <= group for group in groups) is not is_apart
    assert not any(one < other for one in groups for other in groups)
    assert set().union(*groups) == set(CELLS["model"])


def test_pairs_of_answers_are_mcnemars():
    """Counts, exact p-value and interval on puzzles that both have answered; the others do not count."""
    names = [f"p{number}" for number in range(60)]
    one = pd.Series([True] * 40 + [False] * 20, index=names)
    other = pd.Series([True] * 30 + [False] * 25 + [True] * 5, index=names)
    counts, found = compare_answers(one, pd.concat([other, pd.Series([True], index=["more"])]))
    assert counts.to_dict() == {"both": 30, "first_alone": 10, "second_alone": 5, "neither": 15}
    assert found.p == pytest.approx(mcnemar([[30, 10], [5, 15]], exact=True).pvalue)
    assert found.difference == pytest.approx(5 / 60)
    assert found.low < 0 < found.difference < found.high
    with pytest.raises(ValueError, match="no puzzle"):
        compare_answers(one, pd.Series([True], index=["else"]))


def test_the_same_answers_twice_are_alike():
    """Without a puzzle that tells them apart, p is 1; enough puzzles show likeness, few do not."""
    same = pd.Series([True, False] * 500, index=[f"p{number}" for number in range(1000)])
    assert compare_answers(same, same)[1].verdict == VERDICTS[2]
    assert compare_answers(same[:10], same[:10])[1].verdict == VERDICTS[3]


@pytest.mark.parametrize(("p", "p_alike", "place"), [(0.01, 0.9, 0), (0.01, 0.01, 1), (0.5, 0.01, 2), (0.5, 0.5, 3)])
def test_a_small_difference_may_be_beyond_doubt(p, p_alike, place):
    """Differing and being alike are two questions."""
    assert judge(p, p_alike) == VERDICTS[place]


def test_accuracies_of_chosen_puzzles_are_compared_with_nothing():
    """A model whose puzzles were chosen by what they tell is in no pair, and refused by name."""
    cells = load_cells(models=["QwQ-32B", "Qwen3-32B", "Qwen3-8B"])
    marked = cells.assign(chosen=(cells["model"] == "Qwen3-8B").astype(int))
    assert set(compare_all(marked)["first"]) | set(compare_all(marked)["second"]) == {"QwQ-32B", "Qwen3-32B"}
    assert compare_all(cells.assign(chosen=1)).empty
    with pytest.raises(ValueError, match="puzzles of Qwen3-8B were chosen"):
        compare_models(marked, "QwQ-32B", "Qwen3-8B")
