"""Figures of the chapters beyond the paper."""

import numpy as np
import pandas as pd
import pytest

<<<<<<< HEAD
from cogniload_repro.companions.load import cell_loads
from cogniload_repro.evaluation.planning import read_designs
from cogniload_repro.presentation.companion_figures import draw_designs, draw_growth, draw_loads
=======
from cogniload_repro.presentation.companion_figures import draw_drift
>>>>>>> a1d2457 (wip2)
from cogniload_repro.presentation.style import save_figure

MODELS = ["QwQ-32B", "Phi-4-reasoning"]


def texts(figure):
    """Return what is written below the axes."""
    return " ".join(text.get_text() for text in figure.texts)


<<<<<<< HEAD
def test_every_cell_stands_at_its_load_and_its_accuracy(cells):
    """A panel a model, a point a cell; the dashed line crosses one half at the critical load."""
    loads = cell_loads(cells)["everybody"]
    thresholds = pd.DataFrame({"model": MODELS, "critical_load": [1e5, 1e3], "slope": [-0.7, -0.4]})
    figure = draw_loads(cells, loads, thresholds, MODELS, "From somewhere")
    assert len(figure.axes) == len(MODELS)
    for ax, row in zip(figure.axes, thresholds.itertuples(), strict=True):
        own = cells[cells["model"] == row.model]
        expected = np.column_stack([np.exp(loads[own.index]), own["correct"] / own["total"]])
        assert np.allclose(np.sort(points(ax), axis=0), np.sort(expected, axis=0))
        (line,) = (line for line in ax.lines if line.get_linestyle() == "--")
        assert np.interp(-0.5, -line.get_ydata(), np.log(line.get_xdata())) == pytest.approx(
            np.log(row.critical_load), abs=0.1
        )
    assert "From somewhere" in texts(figure)


def test_every_design_stands_at_its_gain_and_its_coverage():
    """Two panels, a point for each design on each kind of curve, the names of all designs once a panel."""
    designs = read_designs()
    figure = draw_designs(designs, "From somewhere")
    for ax, point in zip(figure.axes, ("ecl50", "id50"), strict=True):
        expected = designs[[f"gain_{point}", f"covers_{point}"]].to_numpy()
        assert np.allclose(np.sort(points(ax), axis=0), np.sort(expected, axis=0))
        assert {text.get_text() for text in ax.texts} == set(designs["design"])
    assert "From somewhere" in texts(figure)


def test_growth_is_drawn_at_its_factor():
    """The first perturbation stands on top, each way to count at its own factor."""
    growth = pd.DataFrame({"symbols": [1.0, 3.0], "llama3": [1.5, 12.0]}, index=["reverse_words", "rail_fence"])
    figure = draw_growth(growth, "Tokens", "Two puzzles")
    (ax,) = figure.axes
    labels = {text.get_text(): place for text, place in zip(ax.get_yticklabels(), ax.get_yticks(), strict=True)}
    drawn = {tuple(point) for point in points(ax)}
    assert {(factor, labels[name.replace("_", " ")]) for name, row in growth.iterrows() for factor in row} == drawn
    assert labels["reverse words"] > labels["rail fence"]
    assert "Two puzzles" in texts(figure)
=======
def test_drift_ends_where_the_nearest_explanation_leaves_it():
    """Models stand by how far their rows moved; a distance too small for the scale is drawn whole, in sight."""
    rows = pd.DataFrame({"model": MODELS, "distance": [4.0, 90.0]})
    figure = draw_drift(rows, pd.Series({MODELS[0]: 0.01, MODELS[1]: 70.0}), "Reconstructed")
    (ax,) = figure.axes
    before, after = (dict(zip(line.get_ydata(), line.get_xdata(), strict=True)) for line in ax.lines)
    assert (before, after[1]) == ({0: 4.0, 1: 90.0}, 70.0)
    assert ax.get_xlim()[0] < after[0] <= 0.1
    assert "Reconstructed" in texts(figure)
>>>>>>> a1d2457 (wip2)


@pytest.mark.parametrize("name", ["$$", "$x^2$", "$\\frac$", "#1", "a_b^"])
def test_a_model_of_any_name_is_drawn_letter_by_letter(tmp_path, name):
    """No name is set as a formula, and none stops the picture."""
<<<<<<< HEAD
    cells = pd.DataFrame({"model": name, "N": [20, 50], "total": 10, "correct": [9, 3]})
    thresholds = pd.DataFrame({"model": [name], "slope": [-1.0], "critical_load": [1000.0]})
    loads = draw_loads(cells, pd.Series([5.0, 8.0]), thresholds, [name], "Note $$.")
    save_figure(loads, tmp_path / "loads")
    assert loads.axes[0].title.get_text() == name
    assert not loads.axes[0].title.get_parse_math()
=======
    rows = pd.DataFrame({"model": [name], "distance": [4.0]})
    drift = draw_drift(rows, pd.Series({name: 1.0}), "Note $$.")
    save_figure(drift, tmp_path / "drift")
    label = drift.axes[0].get_yticklabels()[0]
    assert label.get_text() == name
    assert not label.get_parse_math()
    assert np.isfinite(drift.axes[0].lines[0].get_xdata()).all()
>>>>>>> a1d2457 (wip2)
