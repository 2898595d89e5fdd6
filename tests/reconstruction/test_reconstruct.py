"""The committed reconstruction: made again from the printed tables, and whole in itself."""

import pandas as pd
import pytest

from cogniload_repro.models import BY_NAME, MODELS
from cogniload_repro.reconstruction.reconstruct import CELLS, load_counts, reconstruct, write_csv

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
        found = [(row.d, row.N) for row in short.itertuples() for _ in range(model.puzzles_per_cell - row.total)]
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


def test_written_cells_are_read_back(tmp_path, cells):
    """Writing and loading gives the same numbers, and the committed bytes."""
    path = write_csv(tmp_path / "new" / "cells.csv", [cells])
    pd.testing.assert_frame_equal(load_counts(path), cells)
    assert path.read_bytes() == CELLS.read_bytes()


@pytest.mark.parametrize(
    ("change", "complaint"),
    [
        (lambda lines: [f"{line},0" for line in lines], "has the unknown column 0"),
        (lambda lines: lines[:-1], "has 3079 rows instead of 3080"),
        (lambda lines: [lines[0], lines[2], lines[1], *lines[3:]], r"row 1 .* is not the cell of the grid"),
        (lambda lines: [*lines[:4], lines[4].replace(",0.05,", ",0.06,"), *lines[5:]], "row 4 .* is not the cell"),
        (lambda lines: [*lines[:4], lines[4][:-1] + "1", *lines[5:]], "row 4 .* does not add up to its total"),
        (None, "is missing"),
    ],
)
def test_a_damaged_table_is_refused(tmp_path, change, complaint):
    """The complaint names the file and the remedy, in one line."""
    path = tmp_path / "cells.csv"
    if change:
        path.write_text("\n".join(change(CELLS.read_text(encoding="utf-8").splitlines())), encoding="utf-8")
    with pytest.raises(ValueError, match=complaint) as refusal:
        load_counts(path)
    assert str(path) in str(refusal.value)
    assert "cogniload reconstruct" in str(refusal.value)
    assert "\n" not in str(refusal.value)
