"""The bounds of every point along rho."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.models import NAMES
from cogniload_repro.reconstruction.bounds import PANELS, find_bounds, load_bounds, possible_range
from cogniload_repro.reconstruction.constraints import Constraints, constrain
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.reconstruction.sufficient import recovered_from
from cogniload_repro.statistics.design import GRID
from cogniload_repro.statistics.reconstructions import load_tables

CELLS, BOUNDS = load_counts(), load_bounds()


def test_every_point_has_its_bounds():
    """All points of Figures 1, 3, 4 and 6 along rho, each once, with a lower and an upper bound."""
    levels = sum(len(levels) for levels in PANELS.values())
    assert len(BOUNDS) == 22 * 7 * levels
    assert not BOUNDS.duplicated(["model", "load", "level", "ratio_pct"]).any()
    assert (BOUNDS["least"] <= BOUNDS["most"]).all()
    assert BOUNDS["model"].drop_duplicates().tolist() == list(NAMES)


def test_no_reconstruction_lies_outside():
    """Every committed table lies between the bounds of every point; for gpt-5 they allow more than any table has."""
    tables = load_tables().merge(CELLS[["model", "N", "d", "ratio_pct", "total"]])
    drawn = [name for name in tables if name.startswith("r") and name[1:].isdigit()]
    for load, levels in PANELS.items():
        for level in levels:
            kept = tables if not load else tables[tables[load] == level]
            sums = kept.groupby(["model", "ratio_pct"])[[*drawn, "total"]].sum()
            own = BOUNDS[(BOUNDS["load"].fillna("") == load) & (BOUNDS["level"] == level)]
            ends = own.set_index(["model", "ratio_pct"]).loc[sums.index, ["least", "most"]]
            shares = sums[drawn].div(sums["total"], axis=0)
            assert shares.ge(ends["least"] - 1e-12, axis=0).all(axis=None)
            assert shares.le(ends["most"] + 1e-12, axis=0).all(axis=None)
    gpt5 = BOUNDS[(BOUNDS["model"] == "gpt-5-2025-08-07") & (BOUNDS["load"] == "")]
    assert (gpt5["most"] - gpt5["least"]).max() > 0.1


def test_bounds_are_made_again():
    """The programmes give a model's committed rows."""
    name = "o4-mini-2025-04-16"
    (made,) = find_bounds(CELLS[CELLS["model"] == name])
    recovered, first = recovered_from(CELLS, name), (GRID["ratio_pct"] == made["ratio_pct"][0]).to_numpy()
    low, high = possible_range(constrain(recovered, recovered.T), first)
    assert made["least"][0] <= low + 1e-9 <= high - 1e-9 <= made["most"][0]  # rounded outwards
    committed = BOUNDS[BOUNDS["model"] == name].reset_index(drop=True)
    np.testing.assert_allclose(made[["least", "most"]], committed[["least", "most"]], atol=1.5e-4)
    pd.testing.assert_frame_equal(made.drop(columns=["least", "most"]), committed.drop(columns=["least", "most"]),
                                  check_dtype=False)  # fmt: skip


def small_problem(seed):
    """Return nine cells in a square with up to 14 answers each, their margins, two windows, and all tables that fit."""
    rng = np.random.default_rng(seed)
    square = np.arange(9).reshape(3, 3)
    margins = [*(np.isin(range(9), row) for row in square), *(np.isin(range(9), column) for column in square.T[:2])]
    exact, middle = np.array(margins, dtype=int), rng.integers(4, 11, 9)
    weights = rng.normal(size=(2, 9)) / 3
    constraints = Constraints(exact, exact @ middle, weights, weights @ middle, np.full(9, 14.0))
    k = np.zeros((15**4, 9), dtype=int)
    k[:, [0, 1, 3, 4]] = list(product(range(15), repeat=4))
    k[:, [2, 5]] = constraints.sums[:2] - k.reshape(-1, 3, 3).sum(axis=2)[:, :2]
    k[:, [6, 7]] = constraints.sums[3:] - k.reshape(-1, 3, 3).sum(axis=1)[:, :2]
    k[:, 8] = constraints.sums[2] - k[:, 6:8].sum(axis=1)
    return constraints, np.array([table for table in k if constraints.met(table)])


@pytest.mark.parametrize("seed", range(2))
def test_no_table_lies_outside_the_range(seed):
    """The range of a group's share holds every table, and is not much wider than they are."""
    constraints, tables = small_problem(seed)
    members = np.isin(range(9), [0, 4])
    low, high = possible_range(constraints, members)
    shares = tables[:, members].sum(axis=1) / 28
    assert low - 1e-9 <= shares.min() <= low + 0.15
    assert high - 0.15 <= shares.max() <= high + 1e-9
