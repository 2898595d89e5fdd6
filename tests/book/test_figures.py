"""The paper's figures, read back from the artists drawn."""

import re
import xml.etree.ElementTree as ElementTree
from functools import cache
from itertools import combinations

import pandas as pd
import pytest
from fixtures.provisional import mini_cells, provisional_cells, rename_model
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.image import imread
from matplotlib.text import Text

from cogniload_repro.book.figures import (
    FIGURES,
    NAMED,
    PaperFigure,
    panel_accuracy,
)
from cogniload_repro.book.style import pens, plain_label, save_figure
from cogniload_repro.models import BY_NAME, MODELS, NAMES
from cogniload_repro.regression.cell_tables import accuracy_by, load_cells
from cogniload_repro.regression.reconstructions import mean_cells, prediction_band

CELLS = provisional_cells()
COMMITTED = load_cells()
HOSTILE = "my $model$_<text>-->&"
STRANGERS = [
    rename_model(CELLS, NAMES[at], name)
    for at, name in enumerate((HOSTILE, "checkpoint-0000001", "own"))
]


@cache
def make(name, committed=False):
    """A figure of the provisional or the committed cells, made once."""
    return PaperFigure(name, COMMITTED if committed else CELLS)


@cache
def draw(name, committed=False):
    """The same as the paper arranges it, drawn once."""
    return make(name, committed).draw_as_printed()


def plots(figure):
    """Return the axes that plot accuracy."""
    return [ax for ax in figure.axes if ax.get_xlabel()]


def words(figure):
    """All texts in a figure."""
    return [
        text.get_text()
        for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))
    ]


def drawn_points(ax, pen):
    """Return the accuracies shown with a model's own marker and colour."""
    return [
        list(line.get_ydata())
        for line in ax.lines
        if (line.get_color(), line.get_marker()) == (pen.color, pen.marker)
        and line.get_clip_on()
        and line.get_markerfacecolor() != "white"
    ]


@pytest.mark.parametrize("name", ["figure1", "figure4", "figure6"])
def test_every_model_shows_its_accuracies(name):
    """Each panel draws, for each of the 22 models, the pooled accuracies at every level, once."""
    for ax, panel in zip(plots(draw(name)), FIGURES[name], strict=True):
        cells = CELLS if not panel.at else CELLS[CELLS[panel.at] == panel.level]
        expected = accuracy_by(cells, "model", panel.across)
        for model, pen in pens(list(NAMES)).items():
            assert drawn_points(ax, pen) == [
                expected.loc[expected["model"] == model, "accuracy"].tolist()
            ]
        levels = [f"{level}" for level in sorted(CELLS[panel.across].unique())]
        numeric = panel.across == "ratio_pct"  # 5 and 10, 90 and 95 would touch
        labels = [
            "" if numeric and level in ("10", "90") else level for level in levels
        ]
        assert [tick.get_text() for tick in ax.get_xticklabels()] == labels


def test_overflows_are_marked():
    """Points with more than a tenth of overflows are hollow.

    The caption says so.
    """
    (_, by_length, _) = plots(draw("figure1", committed=True))
    hollow = sum(
        len(line.get_xdata())
        for line in by_length.lines
        if line.get_markerfacecolor() == "white"
    )
    shares = (
        COMMITTED.groupby(["model", "N"])[["ctx", "total"]].sum().eval("ctx / total")
    )
    assert hollow == (shares > 0.1).sum() > 5
    points = panel_accuracy(FIGURES["figure4"][2], COMMITTED, banded=True)  # at N = 250
    assert set(points.loc[points["marked"], "model"]) == set(
        shares[shares > 0.1].xs(250, level="N").index
    )


@pytest.mark.parametrize("name", ["figure1", "figure6"])
def test_reconstructed_points_have_their_range(name):
    """Reconstructed points are the mean of the drawn tables, with their band.

    The band has a width along rho alone.
    """
    for ax, panel in zip(plots(draw(name, committed=True)), FIGURES[name], strict=True):
        expected = prediction_band(COMMITTED, "model", panel.across)
        heights = {
            round(y, 9)
            for drawn in ax.collections
            for path in drawn.get_paths()
            for y in path.vertices[:, 1]
        }
        assert {
            round(y, 9) for y in expected[["lowest", "highest"]].to_numpy().ravel()
        } <= heights
        points = [
            y
            for model, pen in pens(list(NAMES)).items()
            for line in drawn_points(ax, pen)
            for y in line
        ]
        means = accuracy_by(mean_cells(COMMITTED), "model", panel.across)["accuracy"]
        assert sorted(points) == pytest.approx(sorted(means))
        assert (expected["highest"] > expected["lowest"]).any() == (
            panel.across == "ratio_pct"
        )
    assert name == "figure6" or not plots(draw(name))[0].collections


@pytest.mark.parametrize("name", ["figure1", "figure6"])
def test_words_do_not_overlap(name, tmp_path):
    """No two words of a figure touch, and none leaves the picture.

    With three models more, whatever their names.
    """
    cells = pd.concat([CELLS.assign(provenance="reconstructed"), *STRANGERS])
    figure = PaperFigure(name, cells).draw_as_printed()
    FigureCanvasAgg(figure).draw()
    texts = [
        text for text in figure.findobj(Text) if text.get_text() and text.get_visible()
    ]
    boxes = [(text.get_text(), text.get_window_extent()) for text in texts]
    page = figure.bbox.padded(0.01)
    assert {
        text
        for text, box in boxes
        if not (page.contains(*box.min) and page.contains(*box.max))
    } == set()
    inner = [(text, box.padded(-0.5)) for text, box in boxes if min(box.size) > 1]
    for (text, box), (other, other_box) in combinations(inner, 2):
        assert not box.overlaps(other_box), (text, other)
    assert {model.label for model in MODELS} | {plain_label(HOSTILE)} <= set(
        words(figure)
    )
    pen = pens([HOSTILE])[HOSTILE]  # black
    assert any(drawn_points(ax, pen) not in ([], [[]]) for ax in plots(figure))
    png, svg = save_figure(figure, tmp_path / name)
    ElementTree.fromstring(svg.read_bytes())
    assert not re.search(
        rb"<dc:date>|Matplotlib v|Software", png.read_bytes() + svg.read_bytes()
    )
    labelled, _ = save_figure(figure, tmp_path / "labelled", "Source")
    plain = imread(png)
    strip = imread(labelled)  # the label lies below, nothing moves for it
    assert (
        len(strip) > len(plain) == (strip[: len(plain)] == plain).all(axis=(1, 2)).sum()
    )


def test_partial_grid_is_said():
    """A panel whose level is not there says so, down to one model and one cell."""
    figure = PaperFigure("figure4", mini_cells())
    absent = [f"No cells at $N$ = {N}\nin this grid" for N in (100, 250)]
    assert [
        word for word in words(figure.draw()) if word.startswith("No cells")
    ] == absent
    alone = rename_model(CELLS, "QwQ-32B", "own").query(
        "N == 20 and d == 1 and ratio_pct == 50"
    )
    for name in ("figure3", "figure7"):
        assert "own" in words(PaperFigure(name, alone).draw())


def test_a_column_names_some_models_and_greys_the_others():
    """Each panel has a line per model and the median.

    Names stand beside the ends, apart and inside the picture.
    """
    figure = make("figure3", committed=True).draw()
    FigureCanvasAgg(figure).draw()
    assert len(figure.axes) == len(FIGURES["figure3"])
    for ax, panel in zip(figure.axes, FIGURES["figure3"], strict=True):
        wide = panel_accuracy(panel, COMMITTED, banded=True).pivot_table(
            "accuracy", "model", "ratio_pct"
        )
        grey = [
            list(line.get_ydata()) for line in ax.lines if line.get_color() == "0.85"
        ]
        assert grey == wide.drop(index=list(NAMED)).to_numpy().tolist()
        (median,) = (line for line in ax.lines if line.get_color() == "0.25")
        assert list(median.get_ydata()) == pytest.approx(wide.median().tolist())
        names = [text for text in ax.texts if text.get_text()]
        assert {text.get_text() for text in names} == {
            "median of 22",
            *(BY_NAME[name].label for name in NAMED),
        }
        boxes = [text.get_window_extent().padded(-1) for text in names]
        assert not [
            pair for pair in combinations(boxes, 2) if pair[0].overlaps(pair[1])
        ]
        assert all(figure.bbox.contains(*box.min) for box in boxes)
        assert all(figure.bbox.contains(*box.max) for box in boxes)


def test_a_large_figure_becomes_a_panel_for_each_family():
    """Each panel names the models of one family, with intervals; names are in the picture, apart.

    The others, and no median, are grey. Reader's models have a panel of their own.
    """
    cells = pd.concat([COMMITTED, rename_model(COMMITTED, "QwQ-32B", HOSTILE)])
    figure = PaperFigure("figure7", cells).draw()
    FigureCanvasAgg(figure).draw()
    members = {}
    for model in MODELS:
        members.setdefault(model.family, set()).add(model.label)
    members["Other models"] = {plain_label(HOSTILE)}
    low = accuracy_by(cells, "model", "N")["low"]
    drawn = []
    for ax in figure.axes:
        shown = {text.get_text() for text in ax.texts}
        assert shown == members.pop(ax.get_title(loc="left"))
        grey = [line for line in ax.lines if line.get_color() == "0.85"]
        assert len(grey) == len(pens([*NAMES, HOSTILE])) - len(ax.texts)
        for collection in ax.collections:
            drawn += [path.vertices[:, 1].min() for path in collection.get_paths()]
        boxes = [text.get_window_extent().padded(-1) for text in ax.texts]
        assert not [
            pair for pair in combinations(boxes, 2) if pair[0].overlaps(pair[1])
        ]
        assert all(figure.bbox.contains(*box.max) for box in boxes)
    assert members == {}
    assert set(low.round(9)) <= {round(height, 9) for height in drawn}


def test_a_title_stands_above_the_picture_and_moves_nothing(tmp_path):
    """A long one has several lines; what lies below it is the same."""
    figure = PaperFigure("figure3", mini_cells()).draw()
    plain, _ = save_figure(figure, tmp_path / "plain")
    titled, _ = save_figure(figure, tmp_path / "titled", title="It falls " * 9)
    bare = imread(plain)
    strip = len(imread(titled)) - len(bare)
    assert strip > 0
    assert (imread(titled)[strip:] == bare).all()
    (title,) = (text for text in figure.texts if text.get_gid() == "title")
    assert title.get_text().count("\n") > 0
    FigureCanvasAgg(figure).draw()
    assert title.get_window_extent().x1 < figure.bbox.x1
