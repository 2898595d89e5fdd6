"""Pictures of the consistency chapter, read back from the artists drawn."""

import pandas as pd
import pytest

from cogniload_repro.models import MODELS, NAMES
from cogniload_repro.presentation.consistency_figures import SPREADS, draw_lattice, draw_spread, half_widths
from cogniload_repro.reconstruction.reconstruct import load_cells


@pytest.fixture(scope="module")
def cells():
    """The reconstructed cells."""
    return load_cells()


def test_each_window_is_drawn_as_it_came_out():
    """A window that agrees is a blue bar with a disc, one that does not an orange one with a cross, a wide one grey."""
    rows = [(-0.2, 0.1, 0.4, True, 0.6), (0.1, 0.2, 0.3, False, 0.2), (-0.9, 0.3, 1.4, True, 1.0)]
    tests = pd.DataFrame(
        [(name, "paper", 7, *row) for name, row in zip(NAMES, rows, strict=False)],
        columns=["model", "rule", "nearest", "low", "value", "high", "inside", "chance"],
    )
    (ax,) = draw_lattice(tests).axes
    bars = [bar.get_segments()[0][:, 0].tolist() for bar in ax.collections]
    assert bars == [[-0.2, 0.4], [0.1, 0.3], [-0.5, 0.5]]
    marks = [line for line in ax.lines if line.get_marker() in ("o", "X")]
    assert [line.get_marker() for line in marks] == ["o", "X", "o"]
    assert len({line.get_color() for line in marks}) == 3
    assert [line.get_xdata()[0] for line in marks] == [0.1, 0.2, 0.3]
    assert [tick.get_text() for tick in ax.get_yticklabels()] == [model.label for model in MODELS[:3]]


def test_spread_shows_both_uncertainties(cells):
    """Each panel has, for every model, the median over tables, a line to the largest, and the Wilson median."""
    figure = draw_spread(cells)
    for ax, dims in zip(figure.axes, SPREADS, strict=True):
        widths = half_widths(cells, *dims).groupby("model", sort=False)
        shown = [line.get_xdata()[0] for line in ax.lines]
        expected = [value for _, own in widths for value in (own["tables"].median(), own["wilson"].median())]
        assert shown == pytest.approx(expected)
        ends = [bar.get_segments()[0][1, 0] for bar in ax.collections]
        assert ends == pytest.approx([own["tables"].max() for _, own in widths])
        assert max(ends) <= ax.get_xlim()[1]
    words = [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]
    assert "Reconstructed from the paper's tables, not raw outputs" in words


def test_half_widths_are_percentage_points(cells):
    """By d the tables agree, and the Wilson interval of 280 or 2,800 answers is as wide as it should be."""
    widths = half_widths(cells, "d").set_index(["model", "d"])
    assert (widths["tables"] == 0).all()
    assert widths.loc[("QwQ-32B", 5), "wilson"] == pytest.approx(100 * 1.645 * (0.25 / 2800) ** 0.5, rel=0.05)
