"""Figures that the paper does not have, read back from the artists drawn."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from cogniload_repro.models import NAMES
from cogniload_repro.presentation.robustness_figures import (
    CURVE,
    draw_fingerprints,
    draw_spans,
)
from cogniload_repro.presentation.style import pens
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.robustness.uncertainty import capacity_intervals

CELLS = load_counts()
NOTE = "Reconstructed from the paper's tables, not raw outputs"


@cache
def intervals():
    """Capacity points with intervals ."""
    return capacity_intervals(CELLS)


def words(figure):
    """All texts in a figure."""
    return [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]


def test_fingerprints_show_every_point_that_is_on_the_scale():
    """Each panel marks, with the model's own pen, the estimates inside its limits, and bars end at the interval."""
    figure = draw_fingerprints(intervals(), CELLS, NOTE)
    drawn = pens(list(NAMES))
    for ax, point in zip(figure.axes, ("ecl50", "nt50", "id50"), strict=True):
        low, high = ax.get_xlim()
        own = intervals()[(intervals()["point"] == point) & intervals()["estimate"].between(low, high)]
        marks = {
            (line.get_xdata()[0], line.get_marker(), line.get_color())
            for line in ax.lines
            if len(line.get_xdata()) == 1
        }
        for row in own.itertuples():
            assert (row.estimate, drawn[row.model].marker, drawn[row.model].color) in marks
        bars = {tuple(line.get_xdata()) for line in ax.lines if len(line.get_xdata()) == 2}
        assert bars == {(max(row.profile_low, low), min(row.profile_high, high)) for row in own.itertuples()}


def test_fingerprints_sort_models_and_say_what_is_missing():
    """Rows run from the smallest to the largest ECL50; a model without NT50 is said to be above or below one half."""
    figure = draw_fingerprints(intervals(), CELLS, NOTE)
    labels = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert (labels[0], labels[-1]) == ("DS-Qwen-1.5B", "gpt-5")
    texts = {round(text.get_position()[1]): text.get_text() for text in figure.axes[1].texts}
    assert texts[labels.index("gpt-5")] == "above ½ throughout"
    assert texts[labels.index("Qwen3-1.7B")] == "below ½ throughout"


@pytest.mark.parametrize("name", ["$$", "$\\x$", "a_b^"])
def test_a_model_of_any_name_is_drawn(name):
    """A model's name is text to every picture, whatever mathematics it looks like."""
    own = CELLS[CELLS["model"] == "QwQ-32B"].assign(model=name)
    points = intervals()[intervals()["model"] == "QwQ-32B"].assign(model=name)
    FigureCanvasAgg(draw_fingerprints(points, own, "")).draw()
    assert draw_fingerprints(points, own, "").axes[0].get_yticklabels()[0].get_text() == name


def test_spans_are_sorted_and_have_lines_from_zero_without_intervals():
    """The largest of the first quantity stands on top; bars end at intervals, or lead from zero where none is known."""
    rows = [
        ("QwQ-32B", "daic", -100.0, np.nan, np.nan),
        ("QwQ-32B", "rho2", 3.0, 2.0, 4.0),
        ("Qwen3-8B", "daic", 5.0, np.nan, np.nan),
        ("Qwen3-8B", "rho2", 0.5, -1.0, 2.0),
    ]
    figure = draw_spans(pd.DataFrame(rows, columns=["model", "point", "estimate", "low", "high"]), CURVE, NOTE)
    assert [tick.get_text() for tick in figure.axes[0].get_yticklabels()] == ["QwQ-32B", "Qwen3-8B"]
    level = [
        [line for line in ax.lines if len(line.get_xdata()) == 2 > len(set(line.get_ydata()))] for ax in figure.axes
    ]
    bars = [{tuple(line.get_xdata()) for line in lines} for lines in level]
    assert bars == [{(0, -100.0), (0, 5.0)}, {(2.0, 4.0), (-1.0, 2.0)}]
    assert NOTE in words(figure)


@pytest.mark.parametrize("kept", ["daic", "rho2"])
def test_spans_without_a_quantity_have_no_panel_for_it(kept):
    """A reader's formula may lack a term, in all models or in one: the others are drawn."""
    rows = [(model, point, 1.0, 0.5, 2.0) for model in ("QwQ-32B", "Qwen3-8B") for point in CURVE]
    spans = pd.DataFrame(rows, columns=["model", "point", "estimate", "low", "high"])
    (ax,) = draw_spans(spans[spans["point"] == kept], CURVE, NOTE).axes
    assert ax.get_xlabel() == CURVE[kept].label
    assert len(draw_spans(spans.drop(index=3), CURVE, NOTE).axes) == 2


def test_provenance_stands_in_the_picture():
    """Pictures of reconstructed cells say so, others do not; nothing is drawn outside the page."""
    figure = draw_fingerprints(intervals(), CELLS, NOTE)
    assert NOTE in words(figure)
    assert NOTE not in words(draw_fingerprints(intervals(), CELLS, "imported"))
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    page = figure.bbox
    for text in figure.findobj(
        lambda artist: hasattr(artist, "get_text") and artist.get_text() and artist.get_visible()
    ):
        box = text.get_window_extent(canvas.get_renderer())
        assert box.width == 0 or (box.x0 >= page.x0 - 1 and box.x1 <= page.x1 + 1), text.get_text()
