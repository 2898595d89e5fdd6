"""The committed reconstruction: made again from the printed tables, and whole in itself."""

import pandas as pd
import pytest

from cogniload_repro.models import BY_NAME, MODELS, NAMES
from cogniload_repro.published import ERRORS
from cogniload_repro.reconstruction.reconstruct import CELLS, load_counts, reconstruct, write_csv
from cogniload_repro.statistics.design import GRID

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(scope="module")
def cells():
    """The committed table."""
    return load_counts()


def test_missing_puzzles_are_missing_where_the_tables_say(cells):
    """Only cells of the conditions with missing puzzles are short, by as many as are missing."""
    assert len(cells) == 22 * 140
    assert cells["total"].sum() == 194_594
    for model in MODELS:
        own = cells[cells["model"] == model.name]
        assert own["total"].max() == model.puzzles_per_cell
        short = own[own["total"] < model.puzzles_per_cell]
        found = [
            (row.d, row.N)
            for row in short.itertuples()
            for _ in range(model.puzzles_per_cell - row.total)
        ]
        assert sorted(found) == sorted(model.missing), model.name


def test_cells_are_made_again(cells):
    """The default seed gives a model's committed rows, whichever other models are asked for."""
    (made,) = reconstruct([BY_NAME["o3-2025-04-16"]])
    committed = cells[cells["model"] == "o3-2025-04-16"].reset_index(drop=True)
    pd.testing.assert_frame_equal(made.reset_index(drop=True), committed)


@pytest.mark.slow
def test_the_whole_table_is_made_again(tmp_path):
    """All 22 models give the committed file, byte for byte, where linear algebra rounds as on the machine that made it.

    Last digits decide which solution the integer programme of `counts` returns; other processors may find another.
    """
    assert write_csv(tmp_path / "cells.csv", reconstruct()).read_bytes() == CELLS.read_bytes()


def test_the_committed_table_is_whole(cells):
    """The models in printed order, each with the grid; errors add up; written again, it has the same bytes."""
    own = pd.concat([GRID.assign(model=name) for name in NAMES], ignore_index=True)
    keys = ["model", "N", "d", "ratio_pct", "needles"]
    pd.testing.assert_frame_equal(cells[keys], own[keys], check_dtype=False)
    assert (cells[["correct", *ERRORS]].sum(axis=1) == cells["total"]).all()
    assert cells.to_csv(index=False, lineterminator="\n").encode() == CELLS.read_bytes()
