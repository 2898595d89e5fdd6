"""Slopes and interactions among finished answers, over all divisions of the overflows."""

import pandas as pd
import pytest

from cogniload_repro.analysis import divisions
from cogniload_repro.analysis.interactions import simple_slopes
from cogniload_repro.models import NAMES
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.regression.glm import fit_glm

CELLS = load_cells()


def of(model):
    """The cells of one model."""
    return CELLS[CELLS["model"] == model]


def test_scored_answers_have_one_slope():
    """Where overflows are known cell by cell, the slope among finished answers is that of a fit."""
    cells = of("Phi-4-reasoning").assign(provenance="scored")
    slopes = divisions.finished_slopes(cells).iloc[0]
    fit = fit_glm(cells.assign(total=cells["total"] - cells["ctx"]))
    assert slopes["slope_low"] == slopes["slope_high"] == pytest.approx(fit.coef[2])


def test_without_overflows_the_leaders_compound_less():
    """At rho = 50% the z of gpt-5 and o3 are -3.6 and -4.1 with overflows.

    Without them anything below zero.
    """
    leaders = CELLS[CELLS["model"].isin(["gpt-5-2025-08-07", "o3-2025-04-16"])]
    table = divisions.finished_interactions(leaders, "dN", 0.5).set_index("model")
    assert table["ctx"].tolist() == [32, 24]
    assert table["z"].tolist() == pytest.approx([-3.57, -4.09], abs=0.005)
    slopes = (
        simple_slopes(leaders).query("term == 'dN' and level == 0.5").set_index("model")
    )
    assert (slopes["slope"] / slopes["se"]).tolist() == pytest.approx(
        table["z"].tolist(), abs=1e-6
    )
    assert table["z_low"].tolist() == pytest.approx([-2.5, -3.2], abs=0.05)
    assert table["z_high"].tolist() == pytest.approx([-0.54, -0.48], abs=0.05)
    longest = divisions.finished_interactions(leaders, "drho", 250)
    assert longest["z_high"].tolist() == pytest.approx([-2.9, -1.7], abs=0.05)
    pro = divisions.finished_interactions(of("gemini-2.5-pro"), "dN", 0.95).iloc[
        0
    ]  # some fits fail
    assert pro["z_low"] < pro["z"] < 0 < pro["z_high"] < 10


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
def test_divisions_are_made_again():
    """A search for each model gives the committed file."""
    again = pd.concat(
        divisions.search_divisions(cells)
        for _, cells in CELLS.groupby("model", sort=False)
    )
    committed = pd.read_csv(divisions.DIVISIONS)
    again = again.reset_index(drop=True).astype({"level": float})
    pd.testing.assert_frame_equal(again, committed, check_dtype=False, rtol=1e-6)
