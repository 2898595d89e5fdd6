"""Puzzles read from tables and from the authors' folders."""

import json
import shutil

from samples import release_state, write_release

from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles.catalog import puzzle_row
from cogniload_repro.puzzles.generate import draw_grid, draw_puzzle
from cogniload_repro.puzzles.ids import PuzzleSet
from cogniload_repro.puzzles.readers import find_sets, read_set, release_row
from cogniload_repro.puzzles.sets import write_set

CELLS = grid_cells("N=8 ratio=50 d=2")
PUZZLE = draw_puzzle(20, 3, 5, 4)


def test_every_format_is_found(tmp_path):
    """Tables come before the release, and all have the same puzzles."""
    for kind in ("jsonl", "parquet"):
        write_set(tmp_path, kind, PuzzleSet(CELLS, 3, 7))
    write_release(tmp_path, draw_grid(CELLS, 3, 7))
    places = find_sets(tmp_path)
    assert places == [tmp_path / "puzzles.parquet", tmp_path / "puzzles.jsonl", tmp_path]
    assert find_sets(tmp_path / "puzzles.jsonl") == places[1:2]
    rows = [json.loads(line) for line in places[1].read_text("utf-8").splitlines()]
    assert [[item.row for item in read_set(place)] for place in places[:2]] == [rows] * 2
    found = {item.row["name"]: item.row["text"] for item in read_set(tmp_path)}
    assert found == {row["name"]: row["text"] for row in rows}


def test_the_release_may_do_without_metadata(tmp_path):
    """Where no puzzle has metadata none is missing; where one has, all are expected to."""
    (_, state), *_ = write_release(tmp_path, draw_grid(CELLS, 3, 7))
    state.unlink()
    assert [item.error for item in read_set(tmp_path)].count("it has no _state.json") == 1
    shutil.rmtree(tmp_path / "meta")
    assert [(item.error, set(item.row)) for item in read_set(tmp_path)] == [("", {"name", "text"})] * 3


def test_the_authors_files_give_the_same_row():
    """Text and metadata of a puzzle hold all that its name tells; the released counter of needles ends at 0."""
    for changes in ({}, {"needles": 0}):
        row = release_row(PUZZLE.name, PUZZLE.text + "\n", release_state(PUZZLE, **changes))
        assert row == {**puzzle_row(PUZZLE), "text": PUZZLE.text + "\n"}
