"""Figures as data for the page that draws them."""

import json
import re

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.presentation.figures import FIGURES, find_panels, panel_accuracy
from cogniload_repro.presentation.inline import write_json
from cogniload_repro.presentation.interactive import (
    accuracy_data,
    answering_figure,
    length_data,
    span_data,
)
from cogniload_repro.presentation.robustness_figures import CURVE, FINGERPRINT, SLOPES
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


def test_spans_are_the_numbers_of_the_picture():
    """A panel a quantity, a row a model with estimate and interval; what does not exist is null, and so is no limit."""
    rows = [("QwQ-32B", point, at, at - 1, np.inf) for point, at in (("ecl50", 80.0), ("nt50", np.nan), ("id50", 5.0))]
    frame = pd.DataFrame(rows, columns=["model", "point", "estimate", "low", "high"])
    data = json.loads(write_json(span_data(frame, FINGERPRINT)))
    assert [(panel["point"], panel["rows"]) for panel in data["panels"]] == [
        ("ecl50", [[0, 80.0, 79.0, None]]), ("nt50", [[0, None, None, None]]), ("id50", [[0, 5.0, 4.0, None]]),
    ]  # fmt: skip
    assert [panel["scale"] for panel in data["panels"]] == ["log", "linear", "linear"]
    assert data["models"][0]["score"] == 80.0


@pytest.mark.parametrize("scales", [FINGERPRINT, SLOPES, CURVE], ids=["points", "slopes", "curve"])
def test_labels_are_plain_and_models_have_every_quantity(scales):
    """No mathematics is left in a label, and only the rows of a quantity stand in its panel."""
    rows = [(model, point, 1.0, np.nan, np.nan) for point in scales for model in ("QwQ-32B", "Qwen3-8B")]
    data = span_data(pd.DataFrame(rows, columns=["model", "point", "estimate", "low", "high"]), scales)
    assert [panel["point"] for panel in data["panels"]] == list(scales)
    last = pd.DataFrame(rows, columns=["model", "point", "estimate", "low", "high"]).tail(2)
    assert [panel["point"] for panel in span_data(last, scales)["panels"]] == list(scales)[-1:]
    assert all(len(panel["rows"]) == 2 for panel in data["panels"])
    assert not re.search(r"[$\\{}_^]", "".join(panel["label"] for panel in data["panels"]))


def test_lengths_are_the_means_that_are_not_odd():
    """A point a printed mean with its configuration; percentiles and cells that look misprinted are left out."""
    frame = pd.DataFrame(
        {
            "model": "QwQ-32B",
            "quantity": ["prompt_mean", "prompt_mean", "prompt_p90"],
            "odd": [False, True, False],
            "printed": [400.0, 500.0, 600.0],
            "z": [-0.5, 9.0, 1.0],
            "N": 20,
            "d": [1, 3, 5],
        }
    )
    (panel,) = length_data(frame)["panels"]
    assert panel["rows"] == [[0, 400.0, -0.5, 20, 1]]


def test_a_name_cannot_end_the_script(cells):
    """The block has one script, whose text is JSON again, name and all; its fence is the only row of back quotes."""
    block = answering_figure("figure5", accuracy_data("figure5", cells, "imported"))
    assert block.count("</script>") == 1
    data = json.loads(re.search(r'json">(.*)</script>', block)[1])
    told = {key: data["models"][-1][key] for key in ("name", "family", "color", "own")}
    assert told == {"name": "</script><b>`mine`", "family": "Not in the paper", "color": "#000000", "own": True}
    assert block.count("```") == 2
