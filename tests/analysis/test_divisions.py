"""Slopes and interactions among finished answers, over all divisions of the overflows."""

import importlib.util
from pathlib import Path

import pandas as pd
import pytest
from samples import fit_one

from cogniload_repro.analysis import divisions
from cogniload_repro.models import NAMES
from cogniload_repro.regression.cell_tables import load_cells

CELLS = load_cells()
_PATH = Path(__file__).parents[2] / "scripts" / "search_divisions.py"
_spec = importlib.util.spec_from_file_location("search_divisions", _PATH)
search = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(search)


def of(model):
    """The cells of one model."""
    return CELLS[CELLS["model"] == model]


def test_scored_answers_have_one_slope():
    """Where overflows are known cell by cell, the slope among finished answers is that of a fit."""
    cells = of("Phi-4-reasoning").assign(provenance="scored")
    slopes = divisions.finished_slopes(cells).iloc[0]
    fit = fit_one(cells.assign(total=cells["total"] - cells["ctx"]))
    assert slopes["slope_low"] == slopes["slope_high"] == pytest.approx(fit.coef[2])


def test_every_model_of_the_paper_has_its_rows():
    """Of other sums of its counts nothing is known."""
    committed = pd.read_csv(divisions.DIVISIONS)
    assert committed["model"].drop_duplicates().tolist() == list(NAMES)
    levels = (7 + 2) + (4 + 2) + (5 + 2)  # tested, the origin and none
    assert (committed.groupby("model").size() == 1 + levels).all()
    assert (committed["low"] <= committed["high"]).all()
    cells = of("gpt-5-2025-08-07")
    slopes = divisions.finished_slopes(cells).iloc[0]
    assert slopes["slope"] == pytest.approx(fit_one(cells).coef[2], rel=1e-6)
    assert slopes["slope_low"] < slopes["slope_high"]
    part = divisions.finished_slopes(cells.query("N > 20"))
    assert part[["slope", "slope_low", "slope_high"]].isna().all(axis=None)


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", ["gpt-5-mini-2025-08-07", "DeepSeek-R1-Distill-Qwen-32B"]
)
def test_divisions_are_made_again(model):
    """A search gives the committed rows of a model, with few overflows or with many."""
    again = search.search_divisions(of(model)).astype({"level": float})
    committed = pd.read_csv(divisions.DIVISIONS)
    rows = committed[committed["model"] == model].reset_index(drop=True)
    pd.testing.assert_frame_equal(again, rows, check_dtype=False, rtol=1e-6)
