"""The consistency chapter: pictures, read back from the artists drawn, their descriptions, and two tables."""

import pandas as pd
import pytest

from cogniload_repro.models import MODELS, NAMES
from cogniload_repro.presentation.consistency import (
    SPREADS,
    describe_deviations,
    describe_lattice,
    describe_ranges,
    describe_spread,
    draw_deviations,
    draw_lattice,
    draw_ranges,
    draw_spread,
    print_choices,
    print_sums,
)
from cogniload_repro.reconstruction.bounds import point_ranges
from cogniload_repro.reconstruction.consistency import half_widths, missing_choices, sums_by_level
from cogniload_repro.reconstruction.derivation import RULES
from cogniload_repro.reconstruction.reconstruct import load_counts


@pytest.fixture(scope="module")
def cells():
    """The reconstructed cells."""
    return load_counts()


def test_each_window_is_drawn_as_it_came_out():
    """A window that agrees is a blue bar with a disc, one that does not an orange one with a cross, a wide one grey."""
    rows = [(-0.2, 0.1, 0.4, True, 0.6), (0.1, 0.2, 0.3, False, 0.2), (-0.9, 0.3, 1.4, True, 1.0)]
    tests = pd.DataFrame(
        [(name, "paper", 7, *row) for name, row in zip(NAMES, rows, strict=False)],
        columns=["model", "rule", "nearest", "low", "value", "high", "inside", "chance"],
    )
    assert "halves up: 2 of 3 models" in describe_lattice(tests)
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
        assert f"{max(ends):.1f} at most" in describe_spread(cells)
    words = [text.get_text() for text in figure.findobj(lambda artist: hasattr(artist, "get_text"))]
    assert "Reconstructed from the paper's tables, not raw outputs" in words


def test_ranges_are_nested(cells):
    """Each panel has the bounds, the band within them, and the mean of the drawn tables with their range."""
    ranges, chosen = point_ranges(cells), ["QwQ-32B", "o3-2025-04-16"]
    figure = draw_ranges(ranges, chosen)
    assert len(figure.axes) == 4
    for ax, (load, model) in zip(figure.axes, [(load, name) for load in ("", "d") for name in chosen], strict=True):
        own = ranges[(ranges["model"] == model) & (ranges["load"] == load) & (ranges["level"] <= 1)]
        assert len(own) == 7
        bounds, band, bars = ax.collections
        for area, low, high in ((bounds, "least", "most"), (band, "lowest", "highest")):
            heights = area.get_paths()[0].vertices[:, 1]
            assert (heights.min(), heights.max()) == pytest.approx((own[low].min(), own[high].max()))
        assert [bar[:, 1].tolist() for bar in bars.get_segments()] == own[
            ["least_drawn", "most_drawn"]
        ].to_numpy().tolist()
        assert ax.lines[0].get_ydata().tolist() == own["mean"].tolist()
    width = (ranges["most"] - ranges["least"])[ranges["load"] == ""].median()
    assert f"bounds {width:.2f}" in describe_ranges(ranges)


def test_missing_puzzles_are_listed_with_the_choice_in_use(cells):
    """Each of the three models has exactly one row in use and one without missing puzzles."""
    choices = {model.name: missing_choices(model) for model in MODELS if model.missing}
    shown = print_choices(choices, cells, most=2)
    for _, own in shown.groupby("Model"):
        assert (own["Used here"] == "yes").sum() == 1
        assert (own.iloc[:, 1] == "none missing").sum() == 1
        assert len(own) in (3, 4)


@pytest.mark.parametrize("dimension", ["d", "N"])
def test_sums_of_one_model_add_up(dimension):
    """Under the levels stands the sum of their columns."""
    shown = print_sums(sums_by_level("QwQ-32B", dimension), dimension)
    numbers = shown.iloc[:, [1, 2, 3, 5]].replace(",", "", regex=True).astype(float)
    assert shown.iloc[-1, 0] == "sum"
    assert shown.iloc[-1, 4] == ""
    assert numbers.iloc[-1].to_numpy() == pytest.approx(numbers.iloc[:-1].sum().to_numpy(), abs=0.0003)


def test_deviations_are_drawn_by_reading_and_counted():
    """A row that comes out stands left of the line, under its own reading's mark; the description counts these."""
    worst = pd.DataFrame(
        {"paper": [0.4, 0.9], "port": [3.0, 0.5], "nominal": [20.0, 1.2]}, index=["QwQ-32B", "Qwen3-8B"]
    )
    (axes,) = draw_deviations(worst).axes
    drawn = {line.get_label(): line.get_xdata().tolist() for line in axes.lines}
    assert drawn == {RULES[rule]: worst[rule].tolist() for rule in worst}
    said = describe_deviations(worst)
    assert all(f"{RULES[rule]}: {count} of 2" in said for rule, count in {"paper": 2, "port": 1, "nominal": 0}.items())
