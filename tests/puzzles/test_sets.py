"""Sets of puzzles drawn, written and read."""

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pandas as pd
import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles import sets as puzzle_sets
from cogniload_repro.puzzles.draws import resolve_edition
from cogniload_repro.puzzles.generate import draw_grid
from cogniload_repro.puzzles.ids import PuzzleSet
from cogniload_repro.puzzles.sets import (
    cut,
    describe_set,
    draw_rows,
    map_batches,
    read_puzzles,
    write_parquet,
    write_set,
)
from cogniload_repro.storage import PUZZLES, read_metadata

CELLS = grid_cells("N=5,50 ratio=2.5,60 d=1,4")
SMALL_CELLS = grid_cells("N=5,30 ratio=2.5,60 d=1,4")
FEW = PuzzleSet(grid_cells("N=8 ratio=50 d=2"), 3, 7)


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
    metadata = describe_set(puzzles, "a command")
    write_parquet(path, rows, metadata)
    assert pq.read_schema(path).equals(PUZZLES)
    assert pq.read_table(path).to_pylist() == rows
    assert read_metadata(path) == metadata
    assert metadata["seed"] == "3"
    assert metadata["rounding"] == "half-up"


@given(st.lists(st.integers(0, 9)), st.integers(1, 5), st.integers(1, 20))
def test_pieces_are_the_whole_and_no_larger_than_needed(items, most, limit):
    """Nothing is lost, no piece is empty or too long, and none goes on once it is heavy enough."""
    pieces = list(cut(items, most, int, limit))
    assert [item for piece in pieces for item in piece] == items
    for piece in pieces:
        assert 1 <= len(piece) <= most
        assert sum(piece[:-1]) < limit
    for piece in pieces[:-1]:
        assert len(piece) == most or sum(piece) >= limit


def write_numbers(numbers):
    """Return numbers as texts."""
    return list(map(str, numbers))


@pytest.mark.parametrize("jobs", [1, 2])
def test_batches_are_read_as_they_are_needed(monkeypatch, jobs):
    """Results come in order, and reading is ahead by no more than the workers need."""
    taken = []

    def read_batches():
        for number in range(100):
            taken.append(number)
            yield [number]

    monkeypatch.setattr(puzzle_sets, "open_executor", ThreadPoolExecutor)
    results = map_batches(write_numbers, read_batches(), jobs)
    assert [next(results) for _ in range(20)] == write_numbers(range(20))
    assert len(taken) <= 20 + 2 * jobs
    results.close()


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
    "--format=jsonl",
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
    assert not (out / "puzzles.jsonl").exists()
    puzzles = PuzzleSet(SMALL_CELLS, 10, 3)
    assert write_set(out, "jsonl", puzzles) == 80
    write_set(tmp_path / "whole", "jsonl", puzzles)
    assert contents(out) == contents(tmp_path / "whole")


def test_files_are_the_same_for_any_number_of_processes(tmp_path, monkeypatch):
    """A set whose ids are known is drawn by two processes as by one, byte for byte."""
    ids = range(500_000, 500_000 + 4 * len(SMALL_CELLS))
    monkeypatch.setattr(PuzzleSet, "ids", lambda puzzles: iter(ids))
    monkeypatch.setattr(puzzle_sets, "_CHUNK", 5)
    puzzles = PuzzleSet(SMALL_CELLS, 4, 3, edition=resolve_edition("elixir"))
    write_set(tmp_path / "1", "parquet", puzzles, jobs=1)
    write_set(tmp_path / "2", "parquet", puzzles, jobs=2)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")
    metadata = read_metadata(tmp_path / "1" / "puzzles.parquet")
    assert metadata["edition"] == "elixir-1.17"


def read(source, *columns):
    """The columns of a set as rows."""
    puzzles = pd.concat(read_puzzles(source, columns))
    return list(puzzles.itertuples(index=False, name=None))


@pytest.mark.parametrize("kind", ["jsonl", "parquet"])
def test_a_set_is_read_from_its_file_or_folder(tmp_path, kind):
    """In its order, names and texts as they were written."""
    write_set(tmp_path, kind, FEW)
    rows = [(row["name"], row["text"], row["gold"]) for row in draw_rows(FEW)]
    assert read(tmp_path, "name", "text", "gold") == rows
    assert read(tmp_path / f"puzzles.{kind}", "name", "text", "gold") == rows


def test_a_set_is_read_in_batches(tmp_path, monkeypatch):
    """So that memory does not grow with the set."""
    monkeypatch.setattr(puzzle_sets, "_BATCH", 2)
    write_set(tmp_path, "jsonl", FEW)
    sizes = [len(part) for part in read_puzzles(tmp_path, ["name"])]
    assert max(sizes) == 2
    assert sum(sizes) == len(FEW)


def test_a_damaged_or_empty_set_is_refused_by_name(tmp_path):
    """With what to do."""
    write_set(tmp_path, "parquet", FEW)
    path = tmp_path / "puzzles.parquet"
    content = bytearray(path.read_bytes())
    middle = len(content) // 2
    content[4:middle] = bytes(byte ^ 255 for byte in content[4:middle])
    path.write_bytes(content)
    with pytest.raises(ValueError, match=r"puzzles\.parquet is not a table of puzzles"):
        read(path, "name", "text")
    empty = tmp_path / "empty.jsonl"
    empty.write_text("")
    with pytest.raises(ValueError, match=r"empty\.jsonl has no puzzles; create them"):
        read(empty, "name", "text")


def test_a_folder_without_a_set_is_refused(tmp_path):
    """A CSV file is none."""
    (tmp_path / "puzzles.csv").write_text("name,text\n")
    with pytest.raises(ValueError, match=f"{tmp_path}: no puzzles here"):
        read(tmp_path, "name", "text")
