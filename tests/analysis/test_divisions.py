"""Slopes and interactions among finished answers, over all divisions of the overflows."""

import pandas as pd
import pytest
from samples import fit_one

from cogniload_repro.analysis import divisions
from cogniload_repro.models import NAMES
from cogniload_repro.regression.cell_tables import load_cells

CELLS = load_cells()


def of(model):
    """The cells of one model."""
    return CELLS[CELLS["model"] == model]


def test_scored_answers_have_one_slope():
    """Where overflows are known cell by cell, the slope among finished answers is that of a fit."""
    cells = of("Phi-4-reasoning").assign(provenance="scored")
    slopes = divisions.finished_slopes(cells).iloc[0]
    fit = fit_one(cells.assign(total=cells["total"] - cells["ctx"]))
    assert slopes["slope_low"] == slopes["slope_high"] == pytest.approx(fit.coef[2])


def test_kept_divisions_are_those_of_a_search(monkeypatch):
    """Every model has its rows, which a search finds again.

    Other counts of the same model are searched.
    """
    committed = pd.read_csv(divisions.DIVISIONS)
    assert committed["model"].drop_duplicates().tolist() == list(NAMES)
    assert (committed.groupby("model").size() == 1 + (7 + 1) + (4 + 1) + (5 + 1)).all()
    assert (committed["low"] <= committed["high"]).all()
    cells = of("gpt-5-2025-08-07")
    some = cells.query("N > 20")
    ends = [
        *divisions.finished_interactions(cells, "dN", 0.5).iloc[0, 4:],
        *divisions.finished_slopes(cells).iloc[0, 1:],
    ]
    less = divisions.finished_slopes(some)
    monkeypatch.setattr(divisions, "_read_divisions", dict)
    again = [
        *divisions.finished_interactions(cells, "dN", 0.5).iloc[0, 4:],
        *divisions.finished_slopes(cells).iloc[0, 1:],
    ]
    assert again == pytest.approx(ends, rel=1e-6)
    pd.testing.assert_frame_equal(divisions.finished_slopes(some), less)
    assert less["slope"].item() != ends[3]


@pytest.mark.slow
@pytest.mark.parametrize(
    "model", ["gpt-5-mini-2025-08-07", "DeepSeek-R1-Distill-Qwen-32B"]
)
def test_divisions_are_made_again(model):
    """A search gives the committed rows of a model, with few overflows or with many."""
    again = divisions.search_divisions(of(model)).astype({"level": float})
    committed = pd.read_csv(divisions.DIVISIONS)
    rows = committed[committed["model"] == model].reset_index(drop=True)
    pd.testing.assert_frame_equal(again, rows, check_dtype=False, rtol=1e-6)
