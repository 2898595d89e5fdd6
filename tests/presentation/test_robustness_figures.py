"""Figures that the paper does not have, read back from the artists drawn."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from cogniload_repro.models import NAMES
from cogniload_repro.presentation.robustness_figures import (
    CURVE,
    draw_classes,
    draw_fingerprints,
    draw_rho_response,
    draw_spans,
    draw_specifications,
    draw_surfaces,
    surface,
)
from cogniload_repro.presentation.style import pens
from cogniload_repro.reconstruction.feasible import spread_band
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.robustness.uncertainty import capacity_intervals
from cogniload_repro.statistics.regression import fit_glm

CELLS = load_counts()
NOTE = "Reconstructed from the paper's tables, not raw outputs"


@cache
def intervals():
    """Capacity points with intervals from few replicates."""
    return capacity_intervals(CELLS, replicates=20)


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
    for figure in (draw_fingerprints(points, own, ""), draw_surfaces(own, ""), draw_rho_response(own, name, "")):
        FigureCanvasAgg(figure).draw()
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


@pytest.mark.parametrize("reconstructed", [True, False])
def test_specifications_are_placed_by_their_numbers(reconstructed):
    """A dot a regression and panel but for the paper's own, none without an order; what is not settled is pale."""
    table = pd.DataFrame(
        {
            "specification": ["paper", "N", "probit", "N as factor"],
            "settled": [True, True, False, True],
            "models": [4, 4, 2, 4],
            "aic_better": [0, 1, 2, 3],
            "order": [1.0, 0.9, 0.8, np.nan],
        }
    )
    figure = draw_specifications(table, NOTE, reconstructed=reconstructed)
    names = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    told = [
        {names[int(y)]: (x, line.get_label()) for line in ax.lines if line.get_marker() == "o"
         for x, y in zip(line.get_xdata(), line.get_ydata(), strict=True) if not np.isnan(x)}
        for ax in figure.axes
    ]  # fmt: skip
    assert {name: x for name, (x, _) in told[0].items()} == {"N": 0.25, "probit": 1.0, "N as factor": 0.75}
    assert {name: x for name, (x, _) in told[1].items()} == {"N": 0.9, "probit": 0.8}
    assert (told[0]["probit"][1] != told[0]["N"][1]) == reconstructed


def test_classes_are_columns_of_their_members():
    """Models stand by accuracy, the best on top; a class is a column with a mark in the row of each member."""
    accuracy = pd.Series({"QwQ-32B": 0.6, "Qwen3-8B": 0.5, "o3-2025-04-16": 0.9})
    figure = draw_classes([("o3-2025-04-16",), ("QwQ-32B", "Qwen3-8B")], accuracy, NOTE)
    names = [tick.get_text() for tick in figure.axes[0].get_yticklabels()]
    assert names == ["Qwen3-8B", "QwQ-32B", "o3"]
    (dots,) = (line for line in figure.axes[0].lines)
    assert list(dots.get_xdata()) == [0.5, 0.6, 0.9]
    marks = {(int(x), names[int(y)]) for line in figure.axes[1].lines for x, y in zip(*line.get_data(), strict=True)}
    assert marks == {(1, "o3"), (2, "QwQ-32B"), (2, "Qwen3-8B")}


def test_surface_adds_up_to_the_cells():
    """Observed and fitted answers over (N, d) sum to those of the model, whatever the residuals."""
    own = CELLS[CELLS["model"] == "QwQ-32B"]
    tiles = surface(own)
    assert len(tiles) == 20
    assert (tiles["total"] * tiles["accuracy"]).sum() == pytest.approx(own["correct"].sum())
    assert (tiles["total"] * tiles["fitted"]).sum() == pytest.approx(own["correct"].sum())
    cell = own[(own["N"] == 50) & (own["d"] == 3)]
    expected = (cell["total"] * fit_glm(own).accuracy[(own["N"] == 50) & (own["d"] == 3)]).sum() / cell["total"].sum()
    assert tiles.query("N == 50 and d == 3")["fitted"].item() == pytest.approx(expected)


def test_surfaces_print_every_accuracy():
    """One panel a model with twenty numbers, accuracy in whole percent."""
    figure = draw_surfaces(CELLS, NOTE)
    panels = {ax.get_title(): ax for ax in figure.axes if ax.texts}
    assert len(panels) == 22
    tiles = surface(CELLS[CELLS["model"] == "o3-2025-04-16"])
    assert [text.get_text() for text in panels["o3"].texts] == [f"{100 * value:.0f}" for value in tiles["accuracy"]]


def test_surface_without_a_fit_is_grey():
    """A model that makes no error has accuracies and no residuals."""
    perfect = CELLS[CELLS["model"] == "QwQ-32B"].assign(correct=lambda rows: rows["total"])
    figure = draw_surfaces(perfect, "")
    (image,) = (image for ax in figure.axes if ax.texts for image in ax.images)
    assert np.ma.getmaskarray(image.get_array()).all() or np.isnan(np.asarray(image.get_array(), float)).all()


def test_response_shows_cells_curve_and_band():
    """Each panel has the cell accuracies, the fitted ones, and the band if there is one."""
    own = CELLS[CELLS["model"] == "QwQ-32B"]
    figure = draw_rho_response(CELLS, "QwQ-32B", NOTE)
    assert len(figure.axes) == 20
    first = own[(own["N"] == 20) & (own["d"] == 1)].sort_values("ratio_pct")
    lines = [line for line in figure.axes[0].lines if len(line.get_xdata()) == 7]
    points, curve = (next(line for line in lines if line.get_marker() == marker) for marker in ("o", "None"))
    assert list(points.get_ydata()) == pytest.approx(list(first["correct"] / first["total"]))
    fitted = fit_glm(own).accuracy[((own["N"] == 20) & (own["d"] == 1)).to_numpy()]
    assert sorted(curve.get_ydata()) == pytest.approx(sorted(fitted))
    assert len(figure.axes[0].collections) == 2
    band = figure.axes[0].collections[0].get_paths()[0].vertices
    allowed = spread_band(own, "N", "d", "ratio_pct").query("N == 20 and d == 1")
    assert band[:, 1].min() == pytest.approx(allowed["lowest"].min())
    assert band[:, 1].max() == pytest.approx(allowed["highest"].max())
    other = CELLS.assign(correct=CELLS["correct"].where(CELLS.index != CELLS.index[CELLS["model"] == "QwQ-32B"][70], 1))
    assert len(draw_rho_response(other, "QwQ-32B", "").axes[0].collections) == 1


def test_unknown_model_is_refused():
    """A model that the cells do not have is answered with those they have."""
    with pytest.raises(ValueError, match="no model 'gpt-6'; they have: DeepSeek-R1-0528"):
        draw_rho_response(CELLS, "gpt-6", NOTE)


@pytest.mark.parametrize("draw", [
    lambda word: draw_fingerprints(intervals(), CELLS, word),
    lambda word: draw_surfaces(CELLS, word),
    lambda word: draw_rho_response(CELLS, "QwQ-32B", word),
], ids=["fingerprints", "surfaces", "response"])  # fmt: skip
def test_provenance_stands_in_the_picture(draw):
    """Pictures of reconstructed cells say so, others do not; nothing is drawn outside the page."""
    figure = draw(NOTE)
    assert NOTE in words(figure)
    assert NOTE not in words(draw("imported"))
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    page = figure.bbox
    for text in figure.findobj(
        lambda artist: hasattr(artist, "get_text") and artist.get_text() and artist.get_visible()
    ):
        box = text.get_window_extent(canvas.get_renderer())
        assert box.width == 0 or (box.x0 >= page.x0 - 1 and box.x1 <= page.x1 + 1), text.get_text()
