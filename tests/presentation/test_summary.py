"""The book's first picture and that of its scoreboard."""

import pandas as pd
import pytest

from cogniload_repro.fidelity.ledger import COLUMNS
from cogniload_repro.presentation import summary, verdicts
from cogniload_repro.statistics.cell_tables import load_cells

CELLS = load_cells(models=["QwQ-32B", "gpt-5-2025-08-07", "Qwen3-1.7B", "Qwen3-8B"])
_ROWS = (
    ("table2", "QwQ-32B", "beta_0", "", "derived", "identified", "5.68", 5.68, "5.68", "exact", ""),
    ("table2", "QwQ-32B", "beta_0 stars", "", "derived", "identified", "***", 0.0, "***", "exact", ""),
    ("table2", "QwQ-32B", "beta_d", "", "derived", "identified", "-0.21", -0.31, "-0.31", "differs", ""),
    ("table2", "Qwen3-8B", "beta_d", "", "derived", "identified", "-0.21", None, "", "not_computable", "why"),
    ("table7", "QwQ-32B", "prompt_mean", "", "independent", "", "400", 401.0, "401", "within", ""),
    ("table4", "QwQ-32B", "ctx", "d=1", "input", "identified", "2", 2.0, "2", "exact", ""),
)
CHECKS = pd.DataFrame(_ROWS, columns=list(COLUMNS))


def test_the_first_picture_shows_every_model_and_names_some():
    """All models have a line; the best, the one in the middle and the last have their names."""
    left, right = summary.draw_summary(CELLS, CHECKS).axes
    assert len(left.lines) == 4
    assert {text.get_text() for text in left.texts} == {"gpt-5", "Qwen3-8B", "Qwen3-1.7B"}
    gpt5 = CELLS[CELLS["model"].str.startswith("gpt-5")].groupby("N")[["correct", "total"]].sum()
    drawn = [line.get_ydata().tolist() for line in left.lines]
    assert pytest.approx((gpt5["correct"] / gpt5["total"]).tolist()) in drawn
    points = {tuple(point) for line in right.lines[1:] for point in line.get_xydata().tolist()}
    assert points == {(5.68, 5.68), (-0.21, -0.31)}
    assert "2 coefficients" in summary.describe_summary(CELLS, CHECKS)


def test_a_model_of_a_readers_own_is_named():
    """Whatever its rank, a model that the paper does not have is told apart."""
    own = pd.concat([CELLS, CELLS[CELLS["model"] == "Qwen3-8B"].assign(model="my $x$", correct=0)])
    left, _ = summary.draw_summary(own, CHECKS).axes
    assert "my $x$" in {text.get_text() for text in left.texts}


def test_bars_of_the_scoreboard_are_whole():
    """Each table and kind has a bar, whose shares add up to one."""
    (axes,) = summary.draw_scoreboard(CHECKS).axes
    ends = {}
    for bar in axes.patches:
        ends[bar.get_y()] = max(ends.get(bar.get_y(), 0), bar.get_x() + bar.get_width())
    assert list(ends.values()) == pytest.approx([1, 1, 1])
    assert [label.get_text() for label in axes.get_yticklabels()][-1] == "Table 2, derived (4)"


def test_the_scoreboard_in_a_sentence_counts_nothing_twice():
    """Stars are no test of their own, and what was put in none at all; what cannot be computed is said."""
    sentence = verdicts.summarise(CHECKS)
    assert sentence.startswith("1 of 3 coefficients that were not used in the reconstruction are reproduced")
    assert "1 cannot be computed here" in sentence
