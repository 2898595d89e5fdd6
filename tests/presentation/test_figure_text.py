"""Captions and descriptions of the figures."""

import re

import pandas as pd
import pytest
from fixtures.provisional import mini_cells, provisional_cells, rename_model

from cogniload_repro.presentation.figure_text import alt_text, figure_caption
from cogniload_repro.presentation.figures import FIGURES
from cogniload_repro.reconstruction.feasible import spread_band
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.statistics.accuracy import accuracy_by

CELLS = provisional_cells()
NOTE = "Reconstructed from the paper's tables, not raw outputs."


@pytest.mark.parametrize("name", FIGURES)
def test_captions_say_what_is_drawn(name):
    """A caption has the number of models, and the intervals where they are drawn."""
    caption = figure_caption(name, CELLS, "reconstructed")
    assert "22 models" in caption
    assert ("90% Wilson" in caption) == (len(FIGURES[name]) == 1)


def test_answers_behind_a_figure_are_counted_once():
    """Figure 1 shows every answer in each panel; Figure 3 those at three of five levels of d."""
    hard = CELLS[CELLS["d"].isin([1, 5, 10])]
    for name, cells in (("figure1", CELLS), ("figure3", hard)):
        answers = re.search(r"\(([\d,]+) answers", figure_caption(name, CELLS, "imported"))[1]
        assert answers == f"{cells['total'].sum():,}"


@pytest.mark.parametrize("name", FIGURES)
def test_descriptions_follow_the_cells(name):
    """A description changes with the data and names the source when told it."""
    other = CELLS.assign(correct=CELLS["total"] - CELLS["correct"])
    assert alt_text(name, CELLS) != alt_text(name, other)
    assert alt_text(name, CELLS, "reconstructed") == f"{alt_text(name, CELLS)} {NOTE}"


def test_captions_say_how_far_points_can_move():
    """Reconstructed points come with their range in words, also where it is nothing; others do not."""
    cells = load_counts()
    band = spread_band(cells, "model", "ratio_pct")
    most = ((band["highest"] - band["lowest"]) / 2).max()
    assert f"largest {most:.3f}, " in figure_caption("figure6", cells, "reconstructed")
    assert "same points" in figure_caption("figure7", cells, "reconstructed")
    for words in (figure_caption("figure6", CELLS, "reconstructed"), figure_caption("figure6", cells, "imported")):
        assert "prediction interval" not in words
        assert "same points" not in words


def test_description_numbers():
    """The median's course and the extremes at the right end are those of the cells."""
    table = accuracy_by(CELLS, "model", "d")
    median = table.groupby("d")["accuracy"].median()
    end = table[table["d"] == 10]
    text = alt_text("figure5", CELLS)
    assert f"{median[1]:.2f} at 1, then {median[10]:.2f} at 10" in text
    assert f"gpt-5 ({end['accuracy'].max():.2f}) highest" in text
    assert f"DS-Qwen-1.5B ({end['accuracy'].min():.2f}) lowest" in text


def test_trough_and_ties_are_told():
    """A lowest point between the ends is named; models that share an extreme are counted."""
    cells = pd.DataFrame(
        [(m, 20, 1, ratio, 10, k) for m in ("a", "b", "c") for ratio, k in ((5, 8), (50, 4), (95, 7))],
        columns=["model", "N", "d", "ratio_pct", "total", "correct"],
    )
    text = alt_text("figure6", cells)
    assert "is 0.80 at 5%, then its lowest, 0.40, at 50%, then 0.70 at 95%; at 95% 3 models (0.70) highest" in text
    assert "a is 0.80 at 5%" in alt_text("figure6", cells[cells["model"] == "a"])


def test_absent_levels_are_told():
    """On the mini-grid the panels that are not there are described as such."""
    text = alt_text("figure4", mini_cells(), "reconstructed")
    assert text.count("no cells in this grid") == 2
    assert text.endswith("Partial grid: 18 of the paper's 140 cells.")
    own = rename_model(CELLS, "QwQ-32B", "own")
    assert "23 models" in figure_caption("figure1", pd.concat([CELLS, own]), "reconstructed")
