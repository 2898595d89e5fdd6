"""Tables of the pages on uncertainty and alternatives, as a reader sees them."""

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from cogniload_repro.parquet import write_table
from cogniload_repro.presentation import pages_beyond as beyond
from cogniload_repro.reconstruction.reconstruct import load_cells
from cogniload_repro.robustness.comparisons import compare_pairs, rank_intervals
from cogniload_repro.robustness.overflows import compare_treatments
from cogniload_repro.robustness.uncertainty import capacity_intervals

CELLS = load_cells()
FEW = CELLS[CELLS["model"].isin(["QwQ-32B", "Qwen3-32B", "Qwen3-30B-A3B", "Qwen3-1.7B"])]


def test_picture_is_saved_and_its_caption_says_where_data_come_from(tmp_path):
    """PNG and SVG lie in the build, and the caption ends with the provenance."""
    write_table(tmp_path / "cells.parquet", FEW, {"provenance": "reconstructed"})
    figure = Figure()
    figure.add_subplot().plot([1, 2])
    fragment = beyond.show_picture(figure, "mine", FEW, tmp_path, caption="A line", alt="A line rises.")
    assert {file.name for file in (tmp_path / "figures").iterdir()} == {"mine.png", "mine.svg"}
    assert "A line. Reconstructed from the paper's tables, not raw outputs." in fragment.markdown
    assert ":alt: A line rises." in fragment.markdown


def test_intervals_show_limits_that_do_not_exist():
    """An infinite end reads as no limit, a point that does not exist as a dash, tiny values keep a digit."""
    intervals = capacity_intervals(FEW, replicates=50)
    nt50 = beyond.print_intervals(intervals, "nt50").set_index("Model")
    assert nt50.loc["Qwen3-30B-A3B", "Profile"].endswith("to no limit")
    assert "Qwen3-1.7B" not in nt50.index
    ecl50 = beyond.print_intervals(intervals, "ecl50").set_index("Model")
    assert ecl50.loc["QwQ-32B", "ECL50"] == "48.0"
    assert float(ecl50.loc["Qwen3-1.7B", "ECL50"]) > 0


def test_agreement_is_measured_in_standard_errors():
    """Intervals moved by one standard error are one standard error apart."""
    intervals = capacity_intervals(FEW, replicates=20)
    for end in ("low", "high"):
        moved = np.where(intervals["point"] == "ecl50", intervals[f"profile_{end}"] * 10 ** intervals["se"],
                         intervals[f"profile_{end}"] + intervals["se"])  # fmt: skip
        intervals[f"delta_{end}"] = moved
    facts = beyond.measure_agreement(intervals)
    assert facts["delta_median"] == "1.00"
    assert facts["delta_largest"] == "1.00"


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
