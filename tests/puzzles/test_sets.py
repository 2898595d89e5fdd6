import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

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
    write_parquet,
    write_set,
)
from cogniload_repro.schemas import PUZZLES
from cogniload_repro.storage import read_metadata

CELLS = grid_cells("N=5,50 ratio=2.5,60 d=1,4")
FOLDER_CELLS = grid_cells("N=5,30 ratio=2.5,60 d=1,4")


def test_rows_are_the_puzzles_of_the_chain(tmp_path):
    """Rows hold each puzzle's text and numbers; the table has them, and metadata without a date."""
    puzzles, which = list(draw_grid(CELLS, 2, 3)), PuzzleSet(CELLS, 2, 3)
    rows = list(draw_rows(which))
    assert [row["text"] for row in rows] == [puzzle.text for puzzle in puzzles]
    assert [row["ratio_pct"] for row in rows] == [
        cell.ratio_pct for cell in CELLS for _ in range(2)
    ]
    assert all(
        row["rho"] == row["needles"] / row["N"] and row["gold"] in row["domain"] for row in rows
    )
    path, metadata = tmp_path / "puzzles.parquet", describe_set(which, "a command")
    assert write_parquet(path, rows, metadata) == 16
    assert pq.read_schema(path).equals(PUZZLES)
    assert pq.read_table(path).to_pylist() == rows
    assert read_metadata(path) == metadata
    assert (metadata["seed"], metadata["rounding"]) == ("3", "half-up")


@given(st.lists(st.integers(0, 9)), st.integers(1, 5), st.integers(1, 20))
def test_pieces_are_the_whole_and_no_larger_than_needed(items, most, limit):
    """Nothing is lost, no piece is empty or too long, and none goes on once it is heavy enough."""
    pieces = list(cut(items, most, int, limit))
    assert [item for piece in pieces for item in piece] == items
    assert all(1 <= len(piece) <= most and sum(piece[:-1]) < limit for piece in pieces)
    assert all(len(piece) == most or sum(piece) >= limit for piece in pieces[:-1])


@pytest.mark.parametrize("jobs", [1, 2])
def test_pieces_are_read_as_they_are_needed(monkeypatch, jobs):
    """Results come in order, and reading is ahead by no more than the workers need."""
    taken = []
    batches = ([number] for number in range(100) if not taken.append(number))
    monkeypatch.setattr(puzzle_sets, "open_executor", ThreadPoolExecutor)
    results = map_batches(lambda numbers: list(map(str, numbers)), batches, jobs)
    assert [next(results) for _ in range(20)] == [str(number) for number in range(20)]
    assert len(taken) <= 20 + 2 * jobs
    results.close()


#: The command, which waits after so many files until it is killed.
DRAW = """
import sys, time
from pathlib import Path
from cogniload_repro.puzzles import sets as puzzle_sets

write, done = puzzle_sets.puzzle_row, []

def write_and_wait(*arguments):
    done.append(write(*arguments))
    if len(done) == int(sys.argv[1]):
        Path(sys.argv[2]).touch()
        time.sleep(60)
    return done[-1]

puzzle_sets.puzzle_row = write_and_wait
from cogniload_repro.cli import main
main(sys.argv[3:], prog_name="cogniload")
"""


def contents(folder):
    """The bytes of every file of a folder, by path."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in folder.rglob("*")
        if path.is_file()
    }


def stop_in_the_middle(number, after, half, *arguments):
    """Run the command until it has written so many files, then send it and its children a signal."""
    command = [sys.executable, "-c", DRAW, str(after), str(half), "puzzles", *map(str, arguments)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, start_new_session=True)
    end = time.monotonic() + 120
    while not half.exists() and process.poll() is None and time.monotonic() < end:
        time.sleep(0.01)
    os.killpg(process.pid, number)
    _, errors = process.communicate(timeout=120)
    return process.returncode, errors


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGKILL])
def test_a_stopped_set_leaves_nothing_of_its_own(tmp_path, number):
    """No file appears before it is complete, and the next run makes it as if nothing had been."""
    options = (
        "--grid",
        "N=5,30 ratio=2.5,60 d=1,4",
        "--per-cell",
        10,
        "--seed",
        3,
        "--jobs",
        1,
        "--format",
        "jsonl",
    )
    out, whole = tmp_path / "out", tmp_path / "whole"
    code, errors = stop_in_the_middle(number, 30, tmp_path / "half", *options, "--out", out)
    assert code == (-signal.SIGKILL if number == signal.SIGKILL else 130)
    assert "Traceback" not in errors
    assert not (out / "puzzles.jsonl").exists()
    for folder in (whole, out):
        assert write_set(folder, "jsonl", PuzzleSet(FOLDER_CELLS, 10, 3)) == 80
    assert contents(out) == contents(whole)


def test_files_are_the_same_for_any_number_of_processes(tmp_path, monkeypatch):
    """A set whose ids are known is drawn by two processes as by one, byte for byte."""
    monkeypatch.setattr(
        PuzzleSet, "ids", lambda _: iter(range(500_000, 500_000 + 4 * len(FOLDER_CELLS)))
    )
    monkeypatch.setattr(puzzle_sets, "_CHUNK", 5)
    which = PuzzleSet(FOLDER_CELLS, 4, 3, edition=resolve_edition("elixir"))
    for jobs in (1, 2):
        write_set(tmp_path / f"{jobs}", "parquet", which, jobs)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")
    assert read_metadata(tmp_path / "1" / "puzzles.parquet")["edition"] == str(which.edition)
