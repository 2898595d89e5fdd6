"""The committed cells: whole, and made again."""

from pathlib import Path
from runpy import run_path

import pandas as pd
import pytest

from cogniload_repro.models import BY_NAME, MODELS, NAMES
from cogniload_repro.published import ERRORS
from cogniload_repro.reconstruction.reconstruct import write_csv
from cogniload_repro.regression.design import GRID
from cogniload_repro.regression.reconstructions import CELLS_FILE

SCRIPT = run_path(str(Path(__file__).parents[2] / "scripts/reconstruct.py"))
pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(scope="module")
def cells():
    """The committed table."""
    return pd.read_csv(CELLS_FILE)


def test_missing_puzzles_are_missing_where_the_tables_say(cells):
    """Only cells of the conditions with missing puzzles are short, by as many as are missing."""
    assert len(cells) == 22 * 140
    assert cells["total"].sum() == 194_594
    for model in MODELS:
        of_model = cells[cells["model"] == model.name]
        missing = model.puzzles_per_cell - of_model["total"]
        short = of_model.loc[of_model.index.repeat(missing)]
        conditions = zip(short["d"], short["N"], strict=True)
        assert sorted(conditions) == sorted(model.missing), model.name


def test_cells_are_made_again(cells):
    """The default seed gives a model's committed rows, whichever other models are asked for."""
    name = "o3-2025-04-16"
    (again,) = SCRIPT["reconstruct"]([BY_NAME[name]])
    committed = cells[cells["model"] == name].reset_index(drop=True)
    pd.testing.assert_frame_equal(again.reset_index(drop=True), committed)


@pytest.mark.slow
def test_the_whole_table_is_made_again(tmp_path):
    """All 22 models give the committed file, byte for byte, on the machine that made it.

    Last digits decide which solution the integer programme of `counts` returns; processors that
    round otherwise may find another.
    """
    path = write_csv(tmp_path / "cells.csv", SCRIPT["reconstruct"]())
    assert path.read_bytes() == CELLS_FILE.read_bytes()


def test_the_committed_table_is_whole(cells):
    """The models in printed order, each with the grid; correct answers and errors add up."""
    grids = [GRID.assign(model=name) for name in NAMES]
    expected = pd.concat(grids, ignore_index=True)
    keys = ["model", "N", "d", "ratio_pct", "needles"]
    pd.testing.assert_frame_equal(cells[keys], expected[keys], check_dtype=False)
    answers = cells[["correct", *ERRORS]].sum(axis=1)
    assert (answers == cells["total"]).all()


def test_the_committed_table_is_written_plainly(cells):
    """Read and written again, it has the same bytes."""
    text = cells.to_csv(index=False, lineterminator="\n")
    assert text.encode() == CELLS_FILE.read_bytes()
