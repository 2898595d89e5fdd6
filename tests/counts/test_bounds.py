"""The least and the largest accuracy that any table of counts can have at a point."""

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.counts.bounds import (
    PANELS,
    find_bounds,
    load_bounds,
    possible_range,
)
from cogniload_repro.counts.constraints import constrain
from cogniload_repro.counts.sufficient import sum_cells
from cogniload_repro.models import NAMES
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.regression.design import GRID
from cogniload_repro.regression.reconstructions import KEYS, load_tables

CELLS = load_cells()
BOUNDS = load_bounds()


def test_every_point_has_its_bounds():
    """All points of Figures 1, 3, 4 and 6 along rho, each once, with a lower and an upper bound."""
    panels = sum(len(levels) for levels in PANELS.values())
    assert len(BOUNDS) == 22 * 7 * panels
    assert not BOUNDS.duplicated(["model", "load", "level", "ratio_pct"]).any()
    assert (BOUNDS["least"] <= BOUNDS["most"]).all()
    assert BOUNDS["model"].drop_duplicates().tolist() == list(NAMES)


@pytest.mark.parametrize("load", PANELS)
def test_no_reconstruction_lies_outside(load):
    """Every committed table lies between the bounds of every point."""
    tables = load_tables()
    names = tables.columns.drop(KEYS)
    tables = tables.merge(CELLS[[*KEYS, "total"]])
    points = ["model", "ratio_pct"]
    for level in PANELS[load]:
        cells = tables[tables[load] == level] if load else tables
        sums = cells.groupby(points)[[*names, "total"]].sum()
        accuracies = sums[names].div(sums["total"], axis=0)
        is_load = BOUNDS["load"] == load
        is_level = BOUNDS["level"] == level
        bounds = BOUNDS[is_load & is_level].set_index(points)
        bounds = bounds.loc[sums.index]
        is_above = accuracies.ge(bounds["least"] - 1e-12, axis=0)
        is_below = accuracies.le(bounds["most"] + 1e-12, axis=0)
        assert is_above.all(axis=None)
        assert is_below.all(axis=None)


def test_bounds_are_made_again_and_rounded_outwards():
    """The programmes give a model's committed rows."""
    model = "o4-mini-2025-04-16"
    (bounds,) = find_bounds(CELLS[CELLS["model"] == model])
    model_sums = sum_cells(CELLS, model)
    constraints = constrain(model_sums, model_sums.sums)
    is_first = GRID["ratio_pct"] == bounds["ratio_pct"][0]
    low, high = possible_range(constraints, is_first.to_numpy())
    assert low < high
    assert bounds["least"][0] <= low + 1e-9
    assert bounds["most"][0] >= high - 1e-9
    committed = BOUNDS[BOUNDS["model"] == model].reset_index(drop=True)
    ends = ["least", "most"]
    np.testing.assert_allclose(bounds[ends], committed[ends], atol=1.5e-4)
    points = bounds.drop(columns=ends)
    expected = committed.drop(columns=ends)
    pd.testing.assert_frame_equal(points, expected, check_dtype=False)
