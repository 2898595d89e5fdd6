"""Accuracy against size and date: the facts are complete, and the lines those of another formula."""

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.models import BY_NAME, NAMES
from cogniload_repro.published import load_facts
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.robustness.scale import place_models, relate_scale

CELLS = load_counts()


def test_every_model_has_a_date_and_a_source():
    """Sizes are given for the models with open weights and a hundred puzzles a cell; dates agree with names."""
    facts = load_facts().set_index("model")
    assert list(facts.index) == list(NAMES)
    assert facts["source"].str.len().min() > 0
    sized = {name for name, model in BY_NAME.items() if model.puzzles_per_cell == 100}
    assert set(facts.index[facts["parameters_billion"].notna()]) == sized
    for name in ("gpt-5-2025-08-07", "o3-2025-04-16"):
        assert name.endswith(f"{facts.loc[name, 'released']:%Y-%m-%d}")


def test_a_doubling_is_a_step():
    """The slope is numpy's straight line through log-odds and the binary logarithm of the size."""
    placed = place_models(CELLS)
    known = placed[placed["parameters_billion"].notna()]
    expected = np.polyfit(np.log2(known["parameters_billion"]), known["log_odds"], 1)[0]
    row = relate_scale(placed).iloc[0]
    assert (row["models"], row["measure"]) == (13, "log_odds")
    assert row["slope"] == pytest.approx(expected)
    assert row["low"] < expected < row["high"]


def test_overall_accuracy_is_that_of_all_answers():
    """Log-odds turn back into correct answers by answers."""
    placed = place_models(CELLS).set_index("model")
    own = CELLS[CELLS["model"] == "QwQ-32B"]
    share = own["correct"].sum() / own["total"].sum()
    assert 1 / (1 + np.exp(-placed.loc["QwQ-32B", "log_odds"])) == pytest.approx(share)


def test_strangers_have_no_facts():
    """Models that the paper does not have are not placed, and too few leave nothing to relate."""
    mine = CELLS[CELLS["model"] == "QwQ-32B"].assign(model="mine")
    assert place_models(mine).empty
    assert relate_scale(place_models(mine)).empty
    assert set(place_models(pd.concat([CELLS, mine]))["model"]) == set(NAMES)
