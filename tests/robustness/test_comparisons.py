"""Models held against one another."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from cogniload_repro.models import NAMES
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.robustness.comparisons import (
    QUANTITIES,
    TIER_OF,
    check_tiers,
    compare_pairs,
    dominant_load,
    estimate_models,
    place_outsiders,
    puzzles_needed,
    rank_intervals,
)
from cogniload_repro.robustness.uncertainty import fit_quadratics
from cogniload_repro.statistics.accuracy import accuracy_by

CELLS = load_counts()
FEW = CELLS[CELLS["model"].isin(["QwQ-32B", "Qwen3-32B", "gpt-5-nano-2025-08-07", "Qwen3-1.7B"])]


@cache
def pairs(quantity):
    """All pairs of models."""
    return compare_pairs(CELLS, quantity)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_every_pair_once_with_corrected_p(quantity):
    """231 pairs, the larger value first; Holm never below Benjamini-Hochberg, and that never below the raw p."""
    table = pairs(quantity)
    assert len({frozenset(pair) for pair in zip(table["first"], table["second"], strict=True)}) == 231
    assert (table["difference"] >= 0).all()
    assert (table["p_holm"] >= table["p_bh"] - 1e-15).all()
    assert (table["p_bh"] >= table["p"] - 1e-15).all()


def test_holm_is_the_step_down_by_hand():
    """The corrected p-values are the running maximum of the sorted ones times the number still in the race."""
    table = compare_pairs(FEW, "accuracy").sort_values("p")
    by_hand = np.minimum(np.maximum.accumulate(table["p"].to_numpy() * np.arange(len(table), 0, -1)), 1)
    assert np.allclose(table["p_holm"], by_hand)


def test_accuracies_are_those_of_the_cells():
    """The accuracies compared are right answers by answers."""
    table = estimate_models(CELLS).set_index("model")["accuracy"]
    assert np.allclose(table, accuracy_by(CELLS, "model").set_index("model")["accuracy"].reindex(table.index))


def test_standard_error_is_the_spread_of_drawn_tables():
    """The accuracy of tables drawn from the fit varies as its standard error says (4000 tables: 1.1%)."""
    quadratic = next(iter(fit_quadratics(CELLS[CELLS["model"] == "gpt-5-nano-2025-08-07"])))
    drawn = np.random.default_rng(5).binomial(quadratic.n.astype(int), quadratic.accuracy, size=(4000, 140))
    row = estimate_models(CELLS).set_index("model").loc["gpt-5-nano-2025-08-07"]
    assert (drawn.sum(axis=1) / quadratic.n.sum()).std() == pytest.approx(row["se_accuracy"], rel=0.05)


def test_twins_are_never_told_apart():
    """A model under a second name has difference 0, p 1, and needs no end of puzzles."""
    own = CELLS[CELLS["model"] == "QwQ-32B"]
    row = compare_pairs(pd.concat([own, own.assign(model="twin")]), "ecl50").iloc[0]
    assert row["difference"] == 0
    assert row["p"] == 1
    assert np.isinf(row["needed"])


def test_unknown_quantity_is_refused():
    """A misspelt quantity is answered with those there are."""
    with pytest.raises(ValueError, match="not compared by 'acc'; choose one of: accuracy, pooled, ecl50"):
        compare_pairs(FEW, "acc")


def test_needed_puzzles_have_the_power_asked_for():
    """With that many puzzles per cell the two-sided test finds the difference with probability 80%."""
    n = puzzles_needed(0.03, 0.2)
    se = 0.2 / np.sqrt(n)
    assert norm.sf(norm.ppf(0.975) - 0.03 / se) == pytest.approx(0.8, abs=1e-6)


def test_needed_puzzles_do_not_depend_on_those_there_are():
    """Ten times the answers at the same accuracies leave the number needed where it is."""
    more = FEW.assign(total=10 * FEW["total"], correct=10 * FEW["correct"])
    assert np.allclose(compare_pairs(FEW, "accuracy")["needed"], compare_pairs(more, "accuracy")["needed"], rtol=1e-6)


@pytest.mark.parametrize("quantity", QUANTITIES)
def test_rank_intervals_hold_the_rank_and_follow_the_pairs(quantity):
    """Every rank lies in its interval, whose ends count the models significantly better and worse."""
    table = rank_intervals(pairs(quantity)).set_index("model")
    assert sorted(table["rank"]) == list(range(1, 23))
    assert (table["best"] <= table["rank"]).all()
    assert (table["rank"] <= table["worst"]).all()
    apart = pairs(quantity).query("p_holm <= 0.05")
    for model, row in table.iterrows():
        assert row["best"] == 1 + (apart["second"] == model).sum()
        assert row["worst"] == 22 - (apart["first"] == model).sum()


def test_classes_are_the_papers():
    """Nineteen of the 22 models are in one class each; three in none."""
    assert len(TIER_OF) == 19
    assert set(NAMES) - set(TIER_OF) == {"EXAONE-Deep-32B", "gemini-2.5-flash", "gemini-2.5-flash-lite"}


def test_classes_out_of_order_are_reported():
    """A pair in the wrong order is reversed, an open one not separated, one in order not listed."""
    made = pd.DataFrame(
        {
            "first": ["QwQ-32B", "o3-2025-04-16", "o3-2025-04-16"],
            "second": ["gpt-5-2025-08-07", "Qwen3-8B", "Qwen3-1.7B"],
            "difference": [0.2, 0.1, 0.5],
            "p_holm": [0.01, 0.3, 0.001],
        }
    )
    found = check_tiers(made).set_index("upper")
    assert found.loc["gpt-5-2025-08-07", ["lower", "difference", "verdict"]].tolist() == ["QwQ-32B", -0.2, "reversed"]
    assert found.loc["o3-2025-04-16", ["lower", "difference", "verdict"]].tolist() == ["Qwen3-8B", 0.1, "not separated"]


def test_outsiders_meet_every_member_once():
    """Better, tied and worse add up to the class, for each of the three models without one."""
    table = place_outsiders(pairs("ecl50"))
    sizes = pd.Series(TIER_OF).value_counts()
    assert (table[["better", "tied", "worse"]].sum(axis=1) == table["tier"].map(sizes)).all()
    assert len(table) == 9


def test_falls_are_those_of_the_margins():
    """The falls are differences of accuracies by N and by d, and their order decides the sign."""
    table = dominant_load(CELLS).set_index("model")
    for load in ("N", "d"):
        margin = accuracy_by(CELLS, "model", load).pivot_table("accuracy", "model", load)
        fall = margin.iloc[:, 0] - margin.iloc[:, -1]
        assert np.allclose(table[f"fall_{load}"], fall.reindex(table.index))
    assert np.allclose(table["difference"], table["fall_N"] - table["fall_d"])


def test_standard_error_of_falls_is_the_spread_of_drawn_tables():
    """The difference of the falls varies over drawn tables as its standard error says."""
    own = CELLS[CELLS["model"] == "o4-mini-2025-04-16"]
    quadratic = next(iter(fit_quadratics(own)))
    drawn = np.random.default_rng(7).binomial(quadratic.n.astype(int), quadratic.accuracy, size=(1000, 140))
    n, ends = own["total"].to_numpy(), {}
    for load in ("N", "d"):
        for end in (own[load].min(), own[load].max()):
            at = (own[load] == end).to_numpy()
            ends[load, end] = drawn[:, at].sum(axis=1) / n[at].sum()
    falls = {load: ends[load, own[load].min()] - ends[load, own[load].max()] for load in ("N", "d")}
    assert (falls["N"] - falls["d"]).std() == pytest.approx(dominant_load(own)["se"].iloc[0], rel=0.1)


def test_a_model_without_a_capacity_point_is_compared_by_accuracy_alone():
    """Where accuracy rises with N there is no ECL50, and no p-value; the other models are compared as before."""
    cells = load_counts().query("model in ('QwQ-32B', 'Qwen3-32B')")
    turned = cells.query("model == 'QwQ-32B'").assign(model="turned")
    turned["N"] = turned["N"].map({20: 250, 50: 100, 100: 50, 250: 20})
    pairs = compare_pairs(pd.concat([cells, turned]), "ecl50")
    assert set(pairs["first"]) | set(pairs["second"]) == {"QwQ-32B", "Qwen3-32B"}
    assert pairs["p_holm"].tolist() == compare_pairs(cells, "ecl50")["p_holm"].tolist()
    assert len(compare_pairs(pd.concat([cells, turned]), "accuracy")) == 3
