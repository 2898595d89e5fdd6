"""Slopes and interactions among finished answers, over all divisions of the overflows."""

import importlib.util
from pathlib import Path

import pandas as pd
import pytest
from samples import fit_one

from cogniload_repro.analysis import divisions
from cogniload_repro.analysis.interactions import simple_slopes
from cogniload_repro.models import NAMES
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.regression.formulas import INTERACTIONS

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
    slopes = divisions.finished_ranges(cells).iloc[0]
    finished = cells.assign(total=cells["total"] - cells["ctx"])
    fit = fit_one(finished)
    assert slopes["low"] == slopes["high"] == pytest.approx(fit.coef[2])
    fit = fit_one(finished, INTERACTIONS)
    slope = fit.coef[5] + 0.5 * fit.coef[8]  # of d x N at rho = 0.5
    variance = fit.covariance[5, 5] + 0.25 * fit.covariance[8, 8]
    variance += fit.covariance[5, 8]
    products = divisions.finished_ranges(cells, "dN", 0.5).iloc[0]
    assert products["low"] == pytest.approx(slope / variance**0.5)


@pytest.mark.parametrize("term", ["dN", "drho", "Nrho"])
def test_a_committed_interaction_is_the_simple_slope(term):
    """With overflows as failures, its z is the one that chapter 6 tests."""
    level = {"dN": 0.5, "drho": 50, "Nrho": 3}[term]
    cells = of("gpt-5-2025-08-07")
    (row,) = (
        simple_slopes(cells).query("term == @term and level == @level").itertuples()
    )
    committed = divisions.finished_ranges(cells, term, level).iloc[0]
    assert committed["value"] == pytest.approx(row.slope / row.se, rel=1e-6)


def test_every_model_of_the_paper_has_its_rows():
    """Of other sums of its counts nothing is known."""
    committed = pd.read_csv(divisions.DIVISIONS)
    assert committed["model"].drop_duplicates().tolist() == list(NAMES)
    levels = (7 + 1) + (4 + 1) + (5 + 1)  # tested and the origin
    assert (committed.groupby("model").size() == 1 + levels).all()
    assert (committed["low"] <= committed["high"]).all()
    cells = of("gpt-5-2025-08-07")
    slopes = divisions.finished_ranges(cells).iloc[0]
    assert slopes["value"] == pytest.approx(fit_one(cells).coef[2], rel=1e-6)
    assert slopes["low"] < slopes["high"]
    part = divisions.finished_ranges(cells.query("N > 20"))
    assert part[["value", "low", "high"]].isna().all(axis=None)


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
