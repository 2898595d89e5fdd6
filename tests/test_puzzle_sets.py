import json

import pyarrow.parquet as pq
import pytest

from cogniload_repro.generate import draw_grid, draw_puzzle
from cogniload_repro.grid import grid_cells
from cogniload_repro.parquet import read_metadata
from cogniload_repro.puzzle_ids import spawn_ids
from cogniload_repro.puzzle_sets import describe_set, draw_rows, layout_state, write_jsonl, write_layout, write_parquet
from cogniload_repro.schemas import PUZZLES

CELLS = grid_cells("N=5,50 ratio=2.5,60 d=1,4")


@pytest.fixture(scope="module")
def puzzles():
    """The set as puzzles, drawn along the chain."""
    return list(draw_grid(CELLS, 2, 3))


def test_rows_are_the_puzzles_of_the_chain(puzzles):
    """Rows hold each puzzle's text and numbers, with the nominal ratio of its own cell."""
    rows = list(draw_rows(CELLS, 2, 3))
    assert [row["text"] for row in rows] == [puzzle.text for puzzle in puzzles]
    assert [row["ratio_pct"] for row in rows] == [cell.ratio_pct for cell in CELLS for _ in range(2)]
    assert all(row.keys() == set(PUZZLES.names) for row in rows)
    assert all(row["rho"] == row["needles"] / row["N"] and row["gold"] in row["domain"] for row in rows)


def test_parquet_keeps_rows_and_origin(tmp_path):
    """The table has the contract's columns, the rows drawn, and metadata without a date."""
    path = tmp_path / "puzzles.parquet"
    metadata = describe_set(CELLS, 3, "chain", "a command")
    assert write_parquet(path, draw_rows(CELLS, 2, 3), metadata) == 16
    assert pq.read_schema(path).equals(PUZZLES)
    assert pq.read_table(path).to_pylist() == list(draw_rows(CELLS, 2, 3))
    assert read_metadata(path) == metadata
    assert (metadata["provenance"], metadata["seed"], metadata["rounding"]) == ("reconstructed", "3", "paper")


def test_files_are_the_same_for_any_number_of_processes(tmp_path):
    """Parquet and JSONL written by one process and by two are equal byte for byte."""
    for jobs in (1, 2):
        write_parquet(
            tmp_path / f"{jobs}.parquet", draw_rows(CELLS, 6, 3, jobs=jobs), describe_set(CELLS, 3, "chain", "")
        )
        write_jsonl(tmp_path / f"{jobs}.jsonl", draw_rows(CELLS, 6, 3, jobs=jobs))
    assert (tmp_path / "1.parquet").read_bytes() == (tmp_path / "2.parquet").read_bytes()
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()


def test_interrupted_writing_leaves_nothing(tmp_path):
    """A set that fails half-way leaves neither a table nor a part of one."""

    def rows():
        yield from draw_rows(CELLS, 1, 3)
        raise ValueError("stop")

    for write in (
        lambda path: write_jsonl(path, rows()),
        lambda path: write_parquet(path, rows(), describe_set(CELLS, 3, "chain", "")),
    ):
        with pytest.raises(ValueError, match="stop"):
            write(tmp_path / "puzzles")
    assert list(tmp_path.iterdir()) == []


def test_spawned_set_uses_its_own_ids():
    """The native scheme draws the puzzles of the spawned ids."""
    assert [row["puzzle_id"] for row in draw_rows(CELLS, 2, 3, scheme="spawn")] == spawn_ids(CELLS, 2, 3)


def test_layout_has_the_released_names_and_keys(tmp_path, puzzles):
    """Texts and states lie where the authors' release has them, whole, and equal on a second run."""
    assert write_layout(tmp_path, CELLS, 2, 3) == len(puzzles)
    for puzzle in puzzles:
        text = (tmp_path / "exp" / "cogniload" / f"{puzzle.name}.txt").read_bytes()
        state = json.loads((tmp_path / "meta" / "cogniload" / f"{puzzle.name}_state.json").read_text("utf-8"))
        assert text.decode() == puzzle.text
        assert state == json.loads(json.dumps(layout_state(puzzle)))
    assert len(list(tmp_path.rglob("*.*"))) == 2 * len(puzzles)


def test_layout_history_is_newest_first():
    """History ends with the initial states and begins with the solution."""
    puzzle = draw_puzzle(30, 5, 12, 7)
    state = layout_state(puzzle)
    assert set(state) == {
        *("people", "poi", "categories", "category_defaults", "needles", "hays", "difficulty"),
        *("num_statements", "statements", "history"),
    }
    assert (state["needles"], state["hays"], state["num_statements"], len(state["history"])) == (12, 18, 30, 31)
    assert state["history"][0][puzzle.poi][puzzle.category] == puzzle.solution
    assert state["history"][-1] == puzzle.initial_states
