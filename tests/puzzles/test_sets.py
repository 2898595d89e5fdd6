"""Sets of puzzles drawn, written and read."""

import os
import signal
import subprocess
import sys
import time
from itertools import islice

import pyarrow.parquet as pq
import pytest
from harness import read_metadata

from cogniload_repro.grid import PAPER_GRID, Cell, grid_cells
from cogniload_repro.puzzles import sets as puzzle_sets
from cogniload_repro.puzzles.draws import EDITIONS, ELIXIR
from cogniload_repro.puzzles.generate import draw_grid, draw_puzzle
from cogniload_repro.puzzles.sets import (
    PUZZLES_PER_CELL,
    SEED,
    PuzzleSet,
    draw_rows,
    read_default_ids,
    spawn_ids,
    write_parquet,
    write_set,
)
from cogniload_repro.storage import PUZZLES

CELLS = grid_cells("N=5,50 ratio=2.5,60 d=1,4")
SMALL_CELLS = grid_cells("N=5,30 ratio=2.5,60 d=1,4")


def test_rows_are_the_puzzles_of_the_chain():
    """Each with its text and its nominal ratio."""
    puzzles = list(draw_grid(CELLS, 2, 3))
    rows = list(draw_rows(PuzzleSet(CELLS, 2, 3)))
    assert [row["text"] for row in rows] == [puzzle.text for puzzle in puzzles]
    assert [row["ratio_pct"] for row in rows[::2]] == [cell.ratio_pct for cell in CELLS]
    for row in rows:
        assert row["rho"] == row["needles"] / row["N"]
        assert row["gold"] in row["domain"]


def test_a_written_table_has_the_rows_and_what_they_are(tmp_path):
    """Its metadata have the seed and the rounding, and no date."""
    puzzles = PuzzleSet(CELLS, 2, 3)
    rows = list(draw_rows(puzzles))
    path = tmp_path / "puzzles.parquet"
    metadata = puzzles.describe("a command")
    write_parquet(path, rows, metadata)
    assert pq.read_schema(path).equals(PUZZLES)
    assert pq.read_table(path).to_pylist() == rows
    assert read_metadata(path) == metadata
    assert metadata["seed"] == "3"
    assert metadata["rounding"] == "half-up"


@pytest.mark.parametrize("edition", EDITIONS, ids=str)
def test_committed_ids_begin_as_the_chain_does(edition):
    """The first 400 are drawn along the chain, the others stand for the rest of it."""
    manifest = read_default_ids(edition)
    assert tuple(manifest) == PAPER_GRID
    chain = draw_grid(PAPER_GRID, PUZZLES_PER_CELL, SEED, edition=edition)
    ids = [puzzle.puzzle_id for puzzle in islice(chain, 400)]
    committed = [puzzle_id for cell in PAPER_GRID[:4] for puzzle_id in manifest[cell]]
    assert ids == committed


def test_spawned_ids_depend_on_their_own_cell_only():
    """Other cells, their order and the number of puzzles leave an id as it is."""
    first = Cell(20, 5, 1)
    second = Cell(20, 2.5, 1)
    third = Cell(20, 5, 2)
    ids = list(spawn_ids([first, second, third], 3, 9))
    assert list(spawn_ids([first], 2, 9)) == ids[:2]
    assert list(spawn_ids([third, second], 3, 9)) == ids[6:] + ids[3:6]


def test_spawned_sets_stay_as_they_were_drawn():
    """Two ids of an earlier set."""
    ids = [puzzle_id for _, puzzle_id in spawn_ids([Cell(20, 2.5, 1)], 2, 9)]
    assert ids == [103_214_185_104_098, 326_574_298_023_698]


def test_the_default_set_has_the_committed_ids():
    """Its first ids are those of the chain."""
    requests = PuzzleSet(PAPER_GRID[:1], 3).requests()
    assert [puzzle_id for _, puzzle_id in requests] == [770487, 586907, 682576]


def test_the_file_in_the_authors_readme_is_puzzle_77_of_elixir_1_17():
    """Its id is 102133."""
    assert read_default_ids(ELIXIR)[PAPER_GRID[0]][76] == 102_133
    assert draw_puzzle(20, 1, 1, 102_133, edition=ELIXIR).name == "20_1_1_102133_disco"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"puzzles_per_cell": 0}, "puzzles_per_cell is 0"),
        ({"seed": -1}, "seed is -1"),
    ],
)
def test_a_set_that_cannot_be_is_refused(changes, message):
    """Before anything is drawn."""
    with pytest.raises(ValueError, match=message):
        PuzzleSet(PAPER_GRID[:2], **changes)


def test_spawned_ids_are_too_large_for_elixir():
    """Its ids have six digits."""
    puzzles = PuzzleSet(PAPER_GRID[:2], 1, 1, "spawn", ELIXIR)
    with pytest.raises(ValueError, match="from 100000 to 999,999"):
        next(draw_rows(puzzles))


@pytest.mark.parametrize(
    ("cells", "per_cell", "seed"),
    [
        (PAPER_GRID, 3, 0),
        (PAPER_GRID, 3, 1),
        ([Cell(20, 4, 1)], 3, SEED),
        (PAPER_GRID, 101, SEED),
    ],
)
def test_other_cells_numbers_and_seeds_have_spawned_ids(cells, per_cell, seed):
    """The default set has none of them."""
    spawned = PuzzleSet(cells, per_cell, seed, "spawn")
    assert list(spawned.requests()) == list(spawn_ids(cells, per_cell, seed))
    assert spawned.describe("")["scheme"] == "spawn"


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("seed", [2, 5])
def test_a_set_has_as_many_different_puzzles_as_it_says(seed, edition):
    """Also where the chain comes back: that of seed 2 has 210 ids, of Elixir 5 462."""
    cells = grid_cells("N=20 ratio=5 d=1")
    rows = list(draw_rows(PuzzleSet(cells, 1_000, seed, edition=edition)))
    assert len({row["name"] for row in rows}) == 1_000
    assert len({row["text"] for row in rows}) == 1_000


def test_cells_with_as_many_needles_share_no_puzzle():
    """Ratios of 4 and 5% give one needle in 20 statements, and one name."""
    cells = grid_cells("N=20 ratio=4,5 d=1")
    names = [row["name"] for row in draw_rows(PuzzleSet(cells, 300, 2))]
    assert len(set(names)) == 600


def test_a_set_larger_than_there_are_puzzles_is_refused():
    """Ids have six digits."""
    cells = grid_cells("N=20 ratio=4,5 d=1")
    with pytest.raises(ValueError, match=r"900,002 puzzles .* only 900,000 exist"):
        next(draw_rows(PuzzleSet(cells, 450_001, 2)))


#: The command, which waits after so many puzzles until it is killed.
DRAW = """
import sys, time
from pathlib import Path
from cogniload_repro.cli import main
from cogniload_repro.puzzles import sets

count, half, *arguments = sys.argv[1:]
puzzle_row = sets.puzzle_row
rows = []

def wait_at_half(*parts):
    rows.append(puzzle_row(*parts))
    if len(rows) == int(count):
        Path(half).touch()
        time.sleep(60)
    return rows[-1]

sets.puzzle_row = wait_at_half
main(arguments, prog_name="cogniload")
"""
OPTIONS = [
    "--grid=N=5,30 ratio=2.5,60 d=1,4",
    "--per-cell=10",
    "--seed=3",
    "--jobs=1",
]


def contents(folder):
    """The bytes of every file of a folder, by path."""
    files = [path for path in folder.rglob("*") if path.is_file()]
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def stop_in_the_middle(number, out, half):
    """Run the command until it has drawn 30 puzzles, then send it and its children a signal."""
    command = [
        sys.executable,
        "-c",
        DRAW,
        "30",
        str(half),
        "puzzles",
        *OPTIONS,
        f"--out={out}",
    ]
    process = subprocess.Popen(
        command, stderr=subprocess.PIPE, text=True, start_new_session=True
    )
    end = time.monotonic() + 120
    while not half.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    os.killpg(process.pid, number)
    _, errors = process.communicate(timeout=120)
    return process.returncode, errors


@pytest.mark.parametrize(
    ("number", "code"), [(signal.SIGINT, 130), (signal.SIGKILL, -9)]
)
def test_a_stopped_set_leaves_nothing_of_its_own(tmp_path, number, code):
    """No file appears before it is complete, and the next run makes it as if nothing had been."""
    out = tmp_path / "out"
    returned, errors = stop_in_the_middle(number, out, tmp_path / "half")
    assert returned == code
    assert "Traceback" not in errors
    assert not (out / "puzzles.parquet").exists()
    puzzles = PuzzleSet(SMALL_CELLS, 10, 3)
    assert write_set(out, puzzles) == out / "puzzles.parquet"
    write_set(tmp_path / "whole", puzzles)
    assert contents(out) == contents(tmp_path / "whole")


def test_files_are_the_same_for_any_number_of_processes(tmp_path, monkeypatch):
    """A set whose ids are known is drawn by two processes as by one, byte for byte."""
    monkeypatch.setattr(puzzle_sets, "_REQUESTS", 5)
    puzzles = PuzzleSet(PAPER_GRID[:8], 4, edition="elixir-1.17")
    write_set(tmp_path / "1", puzzles, jobs=1)
    write_set(tmp_path / "2", puzzles, jobs=2)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")
    metadata = read_metadata(tmp_path / "1" / "puzzles.parquet")
    assert metadata["edition"] == "elixir-1.17"
