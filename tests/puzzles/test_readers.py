"""Puzzles read from tables and from the authors' folders."""

import json

import pyarrow.parquet as pq
import pytest
from samples import release_state

from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles.catalog import puzzle_row
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.ids import PuzzleSet
from cogniload_repro.puzzles.readers import read_puzzles, release_row
from cogniload_repro.puzzles.sets import write_set

SET = PuzzleSet(grid_cells("N=8 ratio=50 d=2"), 3, 7)
PUZZLE = draw_puzzle(20, 3, 5, 4)


def read(source, *columns):
    """The columns of a set as rows."""
    return [
        row
        for part in read_puzzles(source, columns)
        for row in part.itertuples(index=False, name=None)
    ]


def test_both_kinds_of_tables_are_read(tmp_path):
    """A file or its folder gives the puzzles in their order, names and texts as they were written."""
    for kind in ("jsonl", "parquet"):
        write_set(tmp_path / kind, kind, SET)
    path = tmp_path / "jsonl" / "puzzles.jsonl"
    rows = [json.loads(line) for line in path.read_text("utf-8").splitlines()]
    wanted = [(row["name"], row["text"], row["gold"]) for row in rows]
    for source in (
        path,
        path.parent,
        tmp_path / "parquet",
        tmp_path / "parquet" / "puzzles.parquet",
    ):
        assert read(source, "name", "text", "gold") == wanted


@pytest.mark.parametrize("damage", ["cut", "no texts", "no JSON", "absent"])
def test_a_table_that_cannot_be_read_is_refused(tmp_path, damage):
    """The sentence names the file and what is wrong."""
    write_set(tmp_path, "parquet", SET)
    path = tmp_path / "puzzles.parquet"
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:-100])
    elif damage == "no texts":
        pq.write_table(pq.read_table(path).drop_columns("text"), path)
    else:
        path.unlink()
        (tmp_path / ("puzzles.jsonl" if damage == "no JSON" else "puzzles.csv")).write_text(
            '{"text": \n'
        )
    with pytest.raises(
        ValueError, match=r"is not a whole|lack text|no table of puzzles|no puzzles here"
    ) as refusal:
        read(tmp_path, "name", "text")
    assert str(tmp_path) in str(refusal.value)


def test_the_authors_files_give_the_same_row():
    """Text and metadata of a puzzle hold all that its name tells; the released counter of needles ends at 0."""
    for changes in ({}, {"needles": 0}):
        row = release_row(PUZZLE.name, PUZZLE.text + "\n", release_state(PUZZLE, **changes))
        assert row == {**puzzle_row(PUZZLE), "text": PUZZLE.text + "\n"}


@pytest.mark.parametrize(
    ("state", "why"),
    [
        ("[" * 100_000, "nested too deeply"), ("[]", "not a JSON object"), ("{}", "lack poi"), ("[", "Expecting"),
        (release_state(PUZZLE, poi="Nobody"), "poi is"), (release_state(PUZZLE, category_defaults={}), "list of val"),
    ],
)  # fmt: skip
def test_damaged_metadata_are_refused(state, why):
    """Metadata that are cut, of another kind or of another puzzle raise an error that says so."""
    with pytest.raises(ValueError, match=why):
        release_row(PUZZLE.name, PUZZLE.text, state)
