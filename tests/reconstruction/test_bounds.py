"""Bounds of every point along rho."""

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.models import NAMES
from cogniload_repro.reconstruction.bounds import PANELS, find_bounds, load_bounds, write_bounds
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


@pytest.mark.parametrize("name", ["o4-mini-2025-04-16"])
def test_bounds_are_made_again(name):
    """The programmes give a model's committed rows."""
    (made,) = find_bounds(CELLS[CELLS["model"] == name])
    committed = BOUNDS[BOUNDS["model"] == name].reset_index(drop=True)
    np.testing.assert_allclose(made[["least", "most"]], committed[["least", "most"]], atol=1.5e-4)
    pd.testing.assert_frame_equal(made.drop(columns=["least", "most"]), committed.drop(columns=["least", "most"]),
                                  check_dtype=False)  # fmt: skip


def test_written_bounds_are_read_back(tmp_path):
    """Writing and loading gives the same rows; a file with an impossible share is refused, with the remedy."""
    path = write_bounds([BOUNDS], tmp_path / "bounds.csv")
    pd.testing.assert_frame_equal(load_bounds(path), BOUNDS)
    path.write_text(path.read_text().replace(",1.0\n", ",1.5\n", 1))
    with pytest.raises(ValueError, match=r"most 1\.5.*cogniload feasible"):
        load_bounds(path)
