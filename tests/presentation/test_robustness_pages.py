"""Tables of the pages on uncertainty and alternatives, as a reader sees them."""

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.presentation import findings
from cogniload_repro.presentation import robustness_pages as beyond
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.robustness.comparisons import compare_pairs, place_outsiders, rank_intervals
from cogniload_repro.robustness.conclusions import analyse
from cogniload_repro.robustness.interactions import count_interactions
from cogniload_repro.robustness.overflows import compare_treatments
from cogniload_repro.robustness.uncertainty import capacity_intervals

CELLS = load_counts()
FEW = CELLS[CELLS["model"].isin(["QwQ-32B", "Qwen3-32B", "Qwen3-30B-A3B", "Qwen3-1.7B"])]


def test_intervals_show_limits_that_do_not_exist():
    """An infinite end reads as no limit, a point that does not exist as a dash, tiny values keep a digit."""
    intervals = capacity_intervals(FEW, replicates=50)
    nt50 = beyond.print_intervals(intervals, "nt50").set_index("Model")
    assert nt50.loc["Qwen3-30B-A3B", "Profile"].endswith("to no limit")
    assert "Qwen3-1.7B" not in nt50.index
    ecl50 = beyond.print_intervals(intervals, "ecl50").set_index("Model")
    assert ecl50.loc["QwQ-32B", "ECL50"] == "48.0"
    assert float(ecl50.loc["Qwen3-1.7B", "ECL50"]) > 0


def test_ranks_name_class_and_open_ranks():
    """A rank that is sure stands alone, another with the ranks it may be."""
    pairs = {quantity: compare_pairs(FEW, quantity) for quantity in ("accuracy", "ecl50")}
    table = beyond.print_ranks(*(rank_intervals(one) for one in pairs.values())).set_index("Model")
    assert table.loc["Qwen3-1.7B"].tolist() == ["low", "4", "4"]
    assert table.loc["QwQ-32B", "Rank by accuracy"] == "1 (1 to 2)"
    listed = beyond.print_open_pairs(pairs["accuracy"], "accuracy")
    assert listed[["Model", "Against"]].to_numpy().tolist() == [["QwQ-32B", "Qwen3-32B"]]
    assert int(listed["Puzzles per cell"].item().replace(",", "")) > 100


def test_failed_fits_show_their_status():
    """A specification that a model does not allow shows why, in place of a number."""
    fits = pd.DataFrame({"specification": ["paper", "x"], "model": "QwQ-32B", "status": ["ok", "separation"],
                         "ecl50": [47.96, np.nan]})  # fmt: skip
    assert beyond.print_points(fits, "ecl50", ["paper", "x"]).iloc[0].tolist() == ["QwQ-32B", "48.0", "separation"]


def test_overflows_show_intervals_as_factors():
    """Each treatment has its ECL50 with the factor of its interval, or its status."""
    table = beyond.print_overflows(compare_treatments(FEW)).set_index("Model")
    assert table.loc["QwQ-32B", "as wrong"].startswith("48.0 (×/÷ 1.0")
    assert table.loc["Qwen3-1.7B", "own outcome"] == "separation"


def test_a_few_models_still_make_a_page():
    """What needs all models says so in a sentence instead of failing."""
    assert "pooling needs 7" in beyond.show_pooling(FEW).html


@pytest.mark.parametrize("models", [0, 1])
def test_pages_without_fits_or_rivals_say_what_they_need(models, tmp_path):
    """A model without mixed answers, alone or beside one, gives sentences and empty tables instead of an error."""
    perfect = FEW[FEW["model"] == "Qwen3-32B"].assign(model="mine", ctx=0, correct=lambda rows: rows["n"])
    cells = pd.concat([FEW[FEW["model"] == "QwQ-32B"]] * models + [perfect])
    found = analyse(cells, replicates=5)
    shown = beyond.show_fingerprints(found.intervals, cells, tmp_path, "").html
    assert ("no model here has one (separation)" in shown) == (models == 0)
    assert "need a finite fit of DeepSeek-R1-0528" in findings.show_conclusions(found, "reconstructed").html
    for table in (
        beyond.print_ranks(*(rank_intervals(pairs) for pairs in (found.accuracy_pairs, found.ecl50_pairs))),
        beyond.print_open_pairs(found.accuracy_pairs, "accuracy"),
        beyond.print_outsiders(place_outsiders(found.ecl50_pairs)),
    ):
        assert table.empty
    for table in (
        beyond.print_troughs(found.troughs),
        beyond.print_loads(found.loads),
        beyond.print_dispersion(found.dispersion),
        beyond.print_intervals(found.intervals, "ecl50"),
    ):
        assert len(table) == models
    assert len(beyond.print_interactions(found.interactions)) == 4 * models
    assert len(beyond.print_interaction_counts(count_interactions(found.interactions))) == 4 * models
    assert len(beyond.print_overflows(found.overflows)) == models
