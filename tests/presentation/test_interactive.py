"""Figures as data for the page that draws them."""

import json
import re

import pytest

from cogniload_repro.presentation.figures import FIGURES, find_panels, panel_accuracy
from cogniload_repro.presentation.interactive import accuracy_data, answering_figure
from cogniload_repro.statistics.cell_tables import load_cells


@pytest.fixture(scope="module")
def cells():
    """The committed counts of three models, one under a hostile name."""
    cells = load_cells(models=["QwQ-32B", "o3-2025-04-16", "Qwen3-8B"])
    return cells.replace({"model": {"Qwen3-8B": "</script><b>`mine`"}})


@pytest.mark.parametrize("name", FIGURES)
def test_the_numbers_are_the_pictures(cells, name):
    """Every panel has a row a point, with the counts, accuracy and intervals that the picture draws."""
    data = accuracy_data(name, cells, "reconstructed")
    names = [model["name"] for model in data["models"]]
    for panel, told in zip(find_panels(name), data["panels"], strict=True):
        frame = panel_accuracy(panel, cells, banded=True)
        assert len(told["rows"]) == len(frame)
        for (place, level, n, correct, accuracy, low, high, *_), row in zip(
            told["rows"], frame.to_dict("records"), strict=True
        ):
            assert (names[place], level, n, correct) == (row["model"], row[panel.across], row["total"], row["correct"])
            assert (accuracy, low, high) == pytest.approx((row["accuracy"], row["low"], row["high"]), abs=5e-5)


def test_a_name_cannot_end_the_script(cells):
    """The block has one script, whose text is JSON again, name and all; its fence is the only row of back quotes."""
    block = answering_figure("figure4", accuracy_data("figure4", cells, "imported"))
    assert block.count("</script>") == 1
    data = json.loads(re.search(r'json">(.*)</script>', block)[1])
    told = {key: data["models"][-1][key] for key in ("name", "family", "color", "own")}
    assert told == {"name": "</script><b>`mine`", "family": "Not in the paper", "color": "#000000", "own": True}
    assert block.count("```") == 2
