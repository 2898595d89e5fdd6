"""The least and the largest accuracy of any table: committed bounds, and a problem with all tables."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.models import NAMES
from cogniload_repro.reconstruction.bounds import PANELS, find_bounds, load_bounds, possible_range
from cogniload_repro.reconstruction.constraints import Constraints, constrain
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.reconstruction.sufficient import sum_cells
from cogniload_repro.statistics.design import GRID
from cogniload_repro.statistics.reconstructions import KEYS, load_tables

CELLS = load_counts()
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
    tables = load_tables().merge(CELLS[[*KEYS, "total"]])
    names = tables.filter(regex=r"^r\d+$").columns
    points = ["model", "ratio_pct"]
    for level in PANELS[load]:
        cells = tables[tables[load] == level] if load else tables
        sums = cells.groupby(points)[[*names, "total"]].sum()
        is_panel = (BOUNDS["load"] == load) & (BOUNDS["level"] == level)
        bounds = BOUNDS[is_panel].set_index(points).loc[sums.index]
        accuracies = sums[names].div(sums["total"], axis=0)
        assert accuracies.ge(bounds["least"] - 1e-12, axis=0).all(axis=None)
        assert accuracies.le(bounds["most"] + 1e-12, axis=0).all(axis=None)


def test_bounds_of_gpt5_allow_more_than_its_tables_have():
    """Counts may be fractional, so bounds reach beyond what whole numbers do."""
    is_gpt5 = (BOUNDS["model"] == "gpt-5-2025-08-07") & (BOUNDS["load"] == "")
    gpt5 = BOUNDS[is_gpt5]
    assert (gpt5["most"] - gpt5["least"]).max() > 0.1


def test_bounds_are_made_again_and_rounded_outwards():
    """The programmes give a model's committed rows."""
    model = "o4-mini-2025-04-16"
    (bounds,) = find_bounds(CELLS[CELLS["model"] == model])
    sums = sum_cells(CELLS, model)
    is_first = GRID["ratio_pct"] == bounds["ratio_pct"][0]
    low, high = possible_range(constrain(sums, sums.sums), is_first.to_numpy())
    assert bounds["least"][0] <= low + 1e-9 <= high - 1e-9 <= bounds["most"][0]
    committed = BOUNDS[BOUNDS["model"] == model].reset_index(drop=True)
    ends = ["least", "most"]
    np.testing.assert_allclose(bounds[ends], committed[ends], atol=1.5e-4)
    points = bounds.drop(columns=ends)
    pd.testing.assert_frame_equal(points, committed.drop(columns=ends), check_dtype=False)


def small_problem(seed):
    """Constraints on nine cells in a square of up to 14 answers each, and all tables that fit.

    Exact are the sums of the rows and of two columns; two windows bound other sums.
    """
    rng = np.random.default_rng(seed)
    place = np.arange(9)
    exact = [
        *(place // 3 == row for row in range(3)),
        *(place % 3 == column for column in range(2)),
    ]
    exact = np.array(exact, dtype=int)
    middle = rng.integers(4, 11, 9)
    windows = rng.normal(size=(2, 9)) / 3
    constraints = Constraints(exact, exact @ middle, windows, windows @ middle, np.full(9, 14.0))
    # four free cells; the sums of rows and columns give the other five
    tables = np.zeros((15**4, 3, 3), dtype=int)
    tables[:, :2, :2] = np.array(list(product(range(15), repeat=4))).reshape(-1, 2, 2)
    rows = constraints.sums[:3]
    tables[:, :2, 2] = rows[:2] - tables[:, :2].sum(axis=2)
    tables[:, 2, :2] = constraints.sums[3:] - tables[:, :, :2].sum(axis=1)
    tables[:, 2, 2] = rows[2] - tables[:, 2].sum(axis=1)
    tables = tables.reshape(-1, 9)
    return constraints, np.array([table for table in tables if constraints.met(table)])


@pytest.mark.parametrize("seed", range(2))
def test_no_table_lies_outside_the_range(seed):
    """The range of a group's share holds every table, and is not much wider than they are."""
    constraints, tables = small_problem(seed)
    members = np.isin(range(9), [0, 4])
    low, high = possible_range(constraints, members)
    shares = tables[:, members].sum(axis=1) / 28
    assert low - 1e-9 <= shares.min() <= low + 0.15
    assert high - 0.15 <= shares.max() <= high + 1e-9
