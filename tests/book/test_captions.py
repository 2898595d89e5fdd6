"""The paper's figures in words: captions and descriptions."""

import re

import pandas as pd
from fixtures.provisional import mini_cells, provisional_cells, rename_model

from cogniload_repro.book.captions import caption_figure, describe_figure
from cogniload_repro.book.figures import FIGURES, PaperFigure

CELLS = provisional_cells()


def caption(name, cells=CELLS):
    """Return the caption of a figure over cells."""
    return caption_figure(PaperFigure(name, cells))


def description(name, cells=CELLS):
    """Return the description of a figure over cells."""
    return describe_figure(PaperFigure(name, cells))


def test_captions_count_models_and_answers_once():
    """Figure 1 shows every answer in each panel.

    Figure 3 those at three of five levels of d; single ones intervals.
    """
    for name, cells in (
        ("figure1", CELLS),
        ("figure3", CELLS[CELLS["d"].isin([1, 5, 10])]),
        ("figure5", CELLS),
    ):
        text = caption(name)
        assert f"22 models ({cells['total'].sum():,} answers)" in text
        assert ("90% Wilson" in text) == (name == "figure5")
    many = pd.concat(
        [
            CELLS,
            *(rename_model(CELLS, "QwQ-32B", f"own {number}") for number in range(30)),
        ]
    )
    assert re.search(
        "of 40 models .*Not drawn: 12 more models", caption("figure1", many)
    )


def test_a_caption_begins_with_what_its_points_show():
    """Each figure's own comparison, counted over the models drawn.

    Without the levels compared, the mean alone.
    """
    right = {
        "a": (90, 10, 50),
        "b": (80, 20, 30),
        "c": (10, 60, 70),
        "last clause": (0, 0, 0),
    }
    at = [(20, 1, 5), (250, 10, 50), (20, 10, 95)]
    rows = [
        (m, *at[k], 100, n) for m, counts in right.items() for k, n in enumerate(counts)
    ]
    cells = pd.DataFrame(
        rows, columns=["model", "N", "d", "ratio_pct", "total", "correct"]
    )
    begun = {name: caption(name, cells).partition(". Mean")[0] for name in FIGURES}
    assert (
        begun["figure5"] == "Accuracy is lower at $d$ = 10 than at 1 in 2 of 3 models"
    )
    assert (
        begun["figure7"] == "Accuracy is lower at $N$ = 250 than at 20 in 2 of 3 models"
    )
    assert (
        begun["figure6"]
        == r"Accuracy is lowest between the ends of $\rho$ in 2 of 3 models"
    )
    higher = "Accuracy is higher at the right end than at the lowest point by 10 points"
    assert begun["figure3"] == f"{higher} at $d$ = 10 (median over models)"
    assert "the median over models is 80% at 1, 30% at 10." in description(
        "figure5", cells
    )
    alone = caption("figure5", cells[cells["d"] == 1])
    assert alone.startswith("Mean accuracy of 3 models")


def test_a_partial_grid_is_counted():
    """A panel whose level is not there says so, and the figure counts its cells, down to one."""
    text = description("figure4", mini_cells())
    assert text.count("no cells in this grid") == 2
    assert text.endswith("Partial grid: 18 of the paper's 140 cells.")
    alone = rename_model(CELLS, "QwQ-32B", "own")
    alone = alone.query("N == 20 and d == 1 and ratio_pct == 50")
    for name in ("figure3", "figure7"):
        text = description(name, alone)
        assert "Partial grid: 1 of the paper's 140 cells" in text
