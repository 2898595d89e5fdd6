"""Bounds of every point along rho."""

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.models import NAMES
from cogniload_repro.reconstruction.bounds import PANELS, find_bounds, load_bounds, point_ranges, write_bounds
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.statistics.reconstructions import load_tables

CELLS, BOUNDS = load_counts(), load_bounds()


def test_every_point_has_its_bounds():
    """All points of Figures 1, 3, 4 and 6 along rho, each once, with a lower and an upper bound."""
    levels = sum(len(levels) for levels in PANELS.values())
    assert len(BOUNDS) == 22 * 7 * levels
    assert not BOUNDS.duplicated(["model", "load", "level", "ratio_pct"]).any()
    assert (BOUNDS["least"] <= BOUNDS["most"]).all()
    assert BOUNDS["model"].drop_duplicates().tolist() == list(NAMES)


def test_no_drawn_table_lies_outside():
    """The committed table and all drawn ones lie between the bounds of every point."""
    ranges = point_ranges(CELLS)
    assert len(ranges) == len(BOUNDS)
    assert (ranges["least"] <= ranges["least_drawn"] + 1e-12).all()
    assert (ranges["most_drawn"] <= ranges["most"] + 1e-12).all()
    assert ranges["mean"].between(ranges["lowest"], ranges["highest"]).all()
    tables, row = load_tables(), BOUNDS.query("model == 'QwQ-32B' and load == 'd' and level == 5 and ratio_pct == 25")
    own = tables.query("model == 'QwQ-32B' and d == 5 and ratio_pct == 25").iloc[:, 4:].sum() / 400
    assert own.between(row["least"].item(), row["most"].item()).all()
    committed = (
        CELLS.groupby(["model", "ratio_pct"])[["correct", "total"]].sum().eval("correct / total").rename("share")
    )
    pooled = BOUNDS[BOUNDS["load"] == ""].merge(committed.reset_index())
    assert pooled["share"].between(pooled["least"] - 1e-12, pooled["most"] + 1e-12).all()


@pytest.mark.parametrize("name", ["o4-mini-2025-04-16"])
def test_bounds_are_made_again(name):
    """The programmes give a model's committed rows."""
    (made,) = find_bounds(CELLS[CELLS["model"] == name])
    committed = BOUNDS[BOUNDS["model"] == name].reset_index(drop=True)
    np.testing.assert_allclose(made[["least", "most"]], committed[["least", "most"]], atol=1.5e-4)
    pd.testing.assert_frame_equal(made.drop(columns=["least", "most"]), committed.drop(columns=["least", "most"]),
                                  check_dtype=False)  # fmt: skip


def test_parts_of_the_grid_and_known_counts_have_none():
    """Bounds are of the whole grid, and of reconstructed models only."""
    assert point_ranges(CELLS[CELLS["N"] == 20]).empty
    known = CELLS.assign(correct=CELLS["correct"].mask(CELLS.index == CELLS.index[CELLS["model"] == "QwQ-32B"][70], 1))
    assert set(point_ranges(known)["model"]) == set(NAMES) - {"QwQ-32B"}


def test_written_bounds_are_read_back(tmp_path):
    """Writing and loading gives the same rows; a file with an impossible share is refused, with the remedy."""
    path = write_bounds([BOUNDS], tmp_path / "bounds.csv")
    pd.testing.assert_frame_equal(load_bounds(path), BOUNDS)
    path.write_text(path.read_text().replace(",1.0\n", ",1.5\n", 1))
    with pytest.raises(ValueError, match=r"most 1\.5.*cogniload feasible"):
        load_bounds(path)
