import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace

import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.grid import Cell, grid_cells
from cogniload_repro.puzzles import sets as puzzle_sets
from cogniload_repro.puzzles.catalog import parse_name
from cogniload_repro.puzzles.editions import resolve_edition
from cogniload_repro.puzzles.generate import draw_grid, draw_puzzle
from cogniload_repro.puzzles.ids import PuzzleSet
from cogniload_repro.puzzles.sets import (
    cut,
    describe_set,
    draw_rows,
    map_batches,
    write_parquet,
    write_set,
)
from cogniload_repro.puzzles.verify import verify_set
from cogniload_repro.schemas import PUZZLES
from cogniload_repro.storage import read_metadata

CELLS = grid_cells("N=5,50 ratio=2.5,60 d=1,4")
FOLDER_CELLS = grid_cells("N=5,30 ratio=2.5,60 d=1,4")


def test_rows_are_the_puzzles_of_the_chain(tmp_path):
    """Rows hold each puzzle's text and numbers; the table has them, and metadata without a date."""
    puzzles, which = list(draw_grid(CELLS, 2, 3)), PuzzleSet(CELLS, 2, 3)
    rows = list(draw_rows(which))
    assert [row["text"] for row in rows] == [puzzle.text for puzzle in puzzles]
    assert [row["ratio_pct"] for row in rows] == [cell.ratio_pct for cell in CELLS for _ in range(2)]
    assert all(row["rho"] == row["needles"] / row["N"] and row["gold"] in row["domain"] for row in rows)
    path, metadata = tmp_path / "puzzles.parquet", describe_set(which, "a command")
    assert write_parquet(path, rows, metadata) == 16
    assert pq.read_schema(path).equals(PUZZLES)
    assert pq.read_table(path).to_pylist() == rows
    assert read_metadata(path) == metadata
    assert (metadata["provenance"], metadata["seed"], metadata["rounding"]) == ("reconstructed", "3", "half-up")


def test_a_chain_that_goes_round_is_told(caplog):
    """The released program would write the same puzzle again and again; so do we, and say so."""
    cells = grid_cells("N=1 ratio=50 d=1")
    names = [row["name"] for row in draw_rows(PuzzleSet(cells, 3000, 42))]
    assert len(set(names)) < 3000
    assert f": {3000 - len(set(names))} puzzles are there again" in caplog.text
    caplog.clear()
    assert len({row["name"] for row in draw_rows(PuzzleSet(cells, 300, 42, scheme="spawn"))}) == 300
    assert not caplog.text


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

left = int(sys.argv[1])

def wait_in_the_middle(write):
    def write_and_wait(*arguments, **options):
        global left
        result = write(*arguments, **options)
        left -= 1
        if left == 0:
            Path(sys.argv[2]).touch()
            time.sleep(60)
        return result
    return write_and_wait

puzzle_sets.puzzle_row = wait_in_the_middle(puzzle_sets.puzzle_row)
puzzle_sets.write_whole = wait_in_the_middle(puzzle_sets.write_whole)
from cogniload_repro.cli import main
main(sys.argv[3:], prog_name="cogniload")
"""


def contents(folder):
    """The bytes of every file of a folder, by path."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


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


@pytest.mark.parametrize(
    ("kind", "scheme", "after", "number"),
    [("jsonl", "chain", 30, signal.SIGINT), ("release", "spawn", 100, signal.SIGKILL)],
)
def test_a_stopped_set_is_completed(tmp_path, monkeypatch, kind, scheme, after, number):
    """The bytes are those of a run that nothing stopped; of the release only the rest is drawn."""
    options = ("--grid", "N=5,30 ratio=2.5,60 d=1,4", "--per-cell", 10, "--seed", 3, "--jobs", 1)
    out, whole = tmp_path / "out", tmp_path / "whole"
    code, errors = stop_in_the_middle(
        number, after, tmp_path / "half", *options, "--id-scheme", scheme, "--format", kind, "--out", out
    )
    assert code == (-signal.SIGKILL if number == signal.SIGKILL else 130)
    assert "Traceback" not in errors
    assert ("the same command goes on from here" in errors) == (number == signal.SIGINT)
    assert not (out / f"puzzles.{kind}").exists()
    write_set(whole, kind, PuzzleSet(FOLDER_CELLS, 10, 3, scheme=scheme))
    drawn = []

    def count_draws(*request, **options):
        drawn.append(request)
        return draw_puzzle(*request, **options)

    monkeypatch.setattr(puzzle_sets, "draw_puzzle", count_draws)
    assert write_set(out, kind, PuzzleSet(FOLDER_CELLS, 10, 3, scheme=scheme)) == 80
    assert contents(out) == contents(whole)
    assert scheme == "chain" or 0 < len(drawn) <= 80 - 20
    assert {verdict.verdict for verdict in verify_set(out)} == {"right"}


def test_files_are_the_same_for_any_number_of_processes(tmp_path, monkeypatch):
    """A set whose ids are known is drawn by two processes as by one, byte for byte."""
    monkeypatch.setattr(PuzzleSet, "ids", lambda _: iter(range(500_000, 500_000 + 4 * len(FOLDER_CELLS))))
    monkeypatch.setattr(puzzle_sets, "_CHUNK", 5)
    which = PuzzleSet(FOLDER_CELLS, 4, 3, edition=resolve_edition("elixir"))
    for jobs in (1, 2):
        write_set(tmp_path / f"{jobs}", "parquet", which, jobs)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")
    assert read_metadata(tmp_path / "1" / "puzzles.parquet")["edition"] == str(which.edition)


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "release"])
def test_a_finished_set_is_left_as_it_is(tmp_path, monkeypatch, kind):
    """What is lost comes back as it was; else a second run writes nothing, and takes away what a killed one left."""
    write_set(tmp_path, kind, PuzzleSet(FOLDER_CELLS, 2, 3))
    before = contents(tmp_path)
    lost = sorted(path for path in tmp_path.rglob("*.*") if path.is_file() and ".puzzles" not in path.parts)
    lost[0].unlink()
    lost[-1].unlink(missing_ok=True)
    write_set(tmp_path, kind, PuzzleSet(FOLDER_CELLS, 2, 3))
    assert contents(tmp_path) == before
    (tmp_path / "exp/cogniload/.a.txt.1.part" if kind == "release" else tmp_path / ".puzzles.x.part").touch()
    for name in ("write_whole", "write_jsonl", "write_parquet"):
        monkeypatch.setattr(puzzle_sets, name, None)
    assert write_set(tmp_path, kind, PuzzleSet(FOLDER_CELLS, 2, 3)) == 16
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"cells": FOLDER_CELLS[1:]}, "other cells"),
        ({"cells": grid_cells("N=5,30 ratio=2.5,60 d=1,4", "half-even")}, "rounding half-up instead of half-even"),
        ({"puzzles_per_cell": 3}, "puzzles_per_cell 1 instead of 3"),
        ({"seed": 4}, "seed 3 instead of 4"),
        ({"scheme": "spawn"}, "scheme chain instead of spawn"),
        ({"edition": resolve_edition("elixir", "alphabetical")}, "edition python instead of .* alphabetical"),
    ],
)
def test_another_set_is_refused(tmp_path, changes, words):
    """A folder is never mixed nor overwritten, and the sentence says in what the sets differ."""
    mine = PuzzleSet(FOLDER_CELLS, 1, 3)
    write_set(tmp_path, "release", mine)
    before = contents(tmp_path)
    for kind in ("parquet", "release"):
        with pytest.raises(ValueError, match=f"holds another set, with {words};"):
            write_set(tmp_path, kind, replace(mine, **changes))
    with pytest.raises(ValueError, match="choose one of"):
        write_set(tmp_path, "csv", mine)
    assert contents(tmp_path) == before


def test_a_folder_that_nothing_describes_is_refused(tmp_path):
    """Puzzles of unknown origin are not overwritten, nor is a set whose note is damaged."""
    (tmp_path / "puzzles.jsonl").touch()
    with pytest.raises(ValueError, match=r"has puzzles\.jsonl of a set that nothing describes"):
        write_set(tmp_path, "parquet", PuzzleSet(FOLDER_CELLS, 2, 3))
    write_set(tmp_path / "set", "jsonl", PuzzleSet(FOLDER_CELLS, 2, 3))
    (tmp_path / "set/.puzzles/set.json").write_text("{", "utf-8")
    with pytest.raises(ValueError, match=r"set\.json is damaged"):
        write_set(tmp_path / "set", "jsonl", PuzzleSet(FOLDER_CELLS, 2, 3))


def test_release_history_is_newest_first(tmp_path):
    """Each person's states begin with the last and end with the first; one more for each statement that applied."""
    write_set(tmp_path, "release", PuzzleSet([Cell(30, 40, 5)], 1))
    (path,) = (tmp_path / "exp" / "cogniload").iterdir()
    puzzle = draw_puzzle(*parse_name(path.stem)[:4])
    assert path.read_bytes().decode() == puzzle.text
    state = json.loads((tmp_path / "meta" / "cogniload" / f"{puzzle.name}_state.json").read_bytes())
    assert list(state) == [
        *("people", "poi", "categories", "category_defaults", "needles", "hays", "difficulty"),
        *("num_statements", "statements", "history"),
    ]
    assert (state["needles"], state["hays"], state["num_statements"], len(state["statements"])) == (12, 18, 30, 30)
    assert f"\n1. {state['statements'][-1]}\n" in puzzle.text
    assert f"\n30. {state['statements'][0]}\n\n" in puzzle.text
    assert state["history"][puzzle.poi][0][puzzle.category] == puzzle.solution
    assert {person: states[-1] for person, states in state["history"].items()} == puzzle.initial_states
    applied = dict.fromkeys(puzzle.people, 0)
    for statement, states in zip(puzzle.statements, puzzle.states(), strict=False):
        for person in puzzle.people:
            applied[person] += statement.holds(states[person])
    assert {person: len(states) - 1 for person, states in state["history"].items()} == applied
    assert applied[puzzle.poi] == 12
