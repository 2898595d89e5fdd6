"""Sentences of the pages on uncertainty and alternatives."""

import numpy as np

from cogniload_repro.presentation import findings
from cogniload_repro.reconstruction.reconstruct import load_cells
from cogniload_repro.robustness.comparisons import check_tiers, compare_pairs
from cogniload_repro.robustness.specifications import SPECIFICATIONS, fit_specifications, summarise_specifications
from cogniload_repro.robustness.uncertainty import capacity_intervals

CELLS = load_cells()
FEW = CELLS[CELLS["model"].isin(["QwQ-32B", "Qwen3-32B", "Qwen3-30B-A3B", "Qwen3-1.7B"])]


def test_agreement_is_measured_in_standard_errors():
    """Intervals moved by one standard error are one standard error apart."""
    intervals = capacity_intervals(FEW, replicates=20)
    for end in ("low", "high"):
        moved = np.where(intervals["point"] == "ecl50", intervals[f"profile_{end}"] * 10 ** intervals["se"],
                         intervals[f"profile_{end}"] + intervals["se"])  # fmt: skip
        intervals[f"delta_{end}"] = moved
    facts = findings.measure_agreement(intervals)
    assert facts["delta_median"] == "1.00"
    assert facts["delta_largest"] == "1.00"


def test_points_outside_the_grid_are_counted():
    """The sentence counts the capacity points beyond the loads that were tested, and nothing is said of no points."""
    intervals = capacity_intervals(FEW, replicates=5)
    ecl50 = intervals.loc[intervals["point"] == "ecl50", "estimate"]
    outside = (~ecl50.between(20, 250)).sum()
    assert f"{outside} of 4 ECL50" in findings.describe_agreement(intervals, FEW).html
    assert findings.describe_agreement(intervals.iloc[:0], FEW).html == ""
    endless = intervals.assign(profile_high=np.inf, profile_low=0.0, delta_low=np.nan, delta_high=np.inf)
    assert "no interval has ends" in findings.describe_agreement(endless, FEW).html


def test_pairs_and_classes_are_counted():
    """The sentence has the pairs, those told apart, and the pairs of different classes that are not in order."""
    pairs = [compare_pairs(FEW, quantity) for quantity in ("accuracy", "ecl50")]
    text = findings.describe_pairs(*pairs).html
    assert f"Of 6 pairs, {(pairs[0]['p_holm'] < 0.05).sum()} are told apart by accuracy" in text
    assert f"number {len(check_tiers(pairs[1]))} by ECL50" in text
    outsiders = [one.assign(first="a", second="b") for one in pairs]
    assert "classes" not in findings.describe_pairs(*outsiders).html
    assert "needs two" in findings.describe_pairs(*(one.iloc[:0] for one in pairs)).html


def test_what_is_settled_concerns_reconstructed_cells_only():
    """Real outputs are counts: nothing about them is open."""
    assert "settled" in findings.describe_settled("reconstructed").html
    assert findings.describe_settled("imported").html == findings.describe_settled("").html == ""


def test_specifications_are_summed_up():
    """Names with a better AIC in most models, and the lowest rank correlation, are those of the table."""
    chosen = SPECIFICATIONS[:5]
    summary = summarise_specifications(fit_specifications(FEW, chosen), capacity_intervals(FEW, replicates=5), chosen)
    text = findings.describe_specifications(summary, "reconstructed").html
    lowest = summary.iloc[1:].sort_values("order").iloc[0]
    assert f"({lowest['order']:.3f})" in text
    better = summary.iloc[1:].query("settled and aic_better > models / 2")["specification"]
    named = text.split("and settled: ")[1].split(".")[0].replace(" and ", ", ").split(", ")
    assert named == (list(better) or ["none"])


def test_spread_is_that_of_the_committed_reconstruction():
    """Counts that are not the committed ones have no spread to tell of."""
    assert "points (median)" in findings.describe_spread(FEW)
    assert findings.describe_spread(FEW.assign(correct=FEW["n"])) == ""
