"""Figures of the chapters beyond the paper."""

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.presentation.companion_figures import draw_drift, draw_loads
from cogniload_repro.presentation.style import save_figure


@pytest.mark.parametrize("name", ["$$", "$x^2$", "$\\frac$", "#1", "a_b^"])
def test_a_model_of_any_name_is_drawn_letter_by_letter(tmp_path, name):
    """No name is set as a formula, and none stops the picture."""
    cells = pd.DataFrame({"model": name, "N": [20, 50], "n": 10, "correct": [9, 3]})
    thresholds = pd.DataFrame({"model": [name], "slope": [-1.0], "critical_load": [1000.0]})
    loads = draw_loads(cells, pd.Series([5.0, 8.0]), thresholds, [name], "Note $$.")
    rows = pd.DataFrame({"model": [name], "distance": [4.0]})
    drift = draw_drift(rows, pd.Series({name: 1.0}), "Note $$.")
    save_figure(loads, tmp_path / "loads")
    save_figure(drift, tmp_path / "drift")
    labels = [loads.axes[0].title, drift.axes[0].get_yticklabels()[0]]
    assert [label.get_text() for label in labels] == [name, name]
    assert not any(label.get_parse_math() for label in labels)
    assert np.isfinite(drift.axes[0].lines[0].get_xdata()).all()
