import json
import os
import signal
import subprocess
import sys
import time

import pytest

from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles import folders as puzzle_folders
from cogniload_repro.puzzles import sets as puzzle_sets
from cogniload_repro.puzzles.editions import resolve_edition
from cogniload_repro.puzzles.folders import layout_state, write_set
from cogniload_repro.puzzles.generate import draw_grid, draw_puzzle
from cogniload_repro.puzzles.verify import verify_set
from cogniload_repro.storage import read_metadata

CELLS = grid_cells("N=5,30 ratio=2.5,60 d=1,4")

#: The command, which waits after so many files until it is killed.
DRAW = """
import sys, time
from pathlib import Path
from cogniload_repro.puzzles import folders as puzzle_folders
from cogniload_repro.puzzles import sets as puzzle_sets

left = int(sys.argv[1])

def wait_in_the_middle(write):
    def write_and_wait(*arguments):
        global left
        write(*arguments)
        left -= 1
        if left == 0:
            Path(sys.argv[2]).touch()
            time.sleep(60)
    return write_and_wait

puzzle_sets.BATCH = 20
puzzle_folders.write_table = wait_in_the_middle(puzzle_folders.write_table)
puzzle_folders.write_whole = wait_in_the_middle(puzzle_folders.write_whole)
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
    [
        ("parquet", "spawn", 4, signal.SIGKILL),
        ("jsonl", "chain", 3, signal.SIGINT),
        ("layout", "spawn", 100, signal.SIGKILL),
        ("layout", "chain", 41, signal.SIGINT),
    ],
)
def test_a_stopped_command_goes_on(tmp_path, monkeypatch, kind, scheme, after, number):
    """The next run draws the rest alone, and the bytes are those of a run that nothing stopped."""
    monkeypatch.setattr(puzzle_sets, "BATCH", 20)
    options = ("--grid", "N=5,30 ratio=2.5,60 d=1,4", "--per-cell", 10, "--seed", 3, "--jobs", 2)
    out, whole = tmp_path / "out", tmp_path / "whole"
    code, errors = stop_in_the_middle(
        number, after, tmp_path / "half", *options, "--scheme", scheme, "--format", kind, "--out", out
    )
    assert code == (-signal.SIGKILL if number == signal.SIGKILL else 130)
    assert "Traceback" not in errors
    assert ("the same command goes on from here" in errors) == (number == signal.SIGINT)
    assert not (out / f"puzzles.{kind}").exists()
    write_set(whole, kind, CELLS, 10, 3, scheme=scheme)
    steps, drawn = [], []

    def count_draws(*request, **options):
        drawn.append(request)
        return draw_puzzle(*request, **options)

    monkeypatch.setattr(puzzle_sets, "draw_puzzle", count_draws)
    assert write_set(out, kind, CELLS, 10, 3, scheme=scheme, watch=steps.append) == 80 == sum(steps)
    assert contents(out) == contents(whole)
    assert scheme == "chain" or 0 < len(drawn) <= 80 - 40
    assert {verdict.verdict for verdict in verify_set(out)} == {"right"}


def test_elixirs_set_is_the_same_for_any_number_of_processes(tmp_path, monkeypatch):
    """A set whose ids are known is drawn by two processes as by one, and written on where it stopped."""
    elixir = resolve_edition("elixir")
    known = {cell: [500_000 + 7 * at + cell.d for at in range(4)] for cell in CELLS}
    ids = [one for cell in CELLS for one in known[cell]]
    for module in (puzzle_sets, puzzle_folders):
        monkeypatch.setattr(module, "known_ids", lambda *_: iter(ids))
    for jobs in (1, 2):
        write_set(tmp_path / f"{jobs}", "parquet", CELLS, 4, 3, edition=elixir, jobs=jobs)
    assert contents(tmp_path / "1") == contents(tmp_path / "2")
    assert read_metadata(tmp_path / "1" / "puzzles.parquet")["edition"] == "elixir-1.17"
    write_set(tmp_path / "3", "layout", CELLS, 4, 3, edition=elixir)
    whole = contents(tmp_path / "3")
    for path in list((tmp_path / "3" / "exp").rglob("*.txt"))[::2]:
        path.unlink()
    write_set(tmp_path / "3", "layout", CELLS, 4, 3, edition=elixir)
    assert contents(tmp_path / "3") == whole


def test_a_folder_of_another_edition_is_refused(tmp_path):
    """A folder's edition is part of its set; a note from before there were editions stands for the port."""
    write_set(tmp_path, "jsonl", CELLS, 1, 3)
    for name, order in (("elixir", None), ("elixir", "term")):
        edition = resolve_edition(name, order)
        with pytest.raises(ValueError, match=f"another set, with edition port instead of {edition}; choose another"):
            write_set(tmp_path, "jsonl", CELLS, 1, 3, edition=edition)
    note = tmp_path / ".puzzles" / "set.json"
    plan = json.loads(note.read_text(encoding="utf-8"))
    assert plan.pop("edition") == "port"
    note.write_text(json.dumps(plan), encoding="utf-8")
    assert write_set(tmp_path, "jsonl", CELLS, 1, 3) == len(CELLS)


@pytest.mark.parametrize("kind", ["parquet", "jsonl", "layout"])
def test_a_finished_set_is_left_as_it_is(tmp_path, monkeypatch, kind):
    """The second run writes nothing, and takes away what a killed one has left."""
    write_set(tmp_path, kind, CELLS, 2, 3)
    before = contents(tmp_path)
    (tmp_path / "exp/cogniload/.a.txt.1.part" if kind == "layout" else tmp_path / ".puzzles/.000000.x.part").touch()
    for name in ("write_table", "write_whole", "write_jsonl", "write_parquet"):
        monkeypatch.setattr(puzzle_folders, name, None)
    assert write_set(tmp_path, kind, CELLS, 2, 3) == 16
    assert {name: content for name, content in contents(tmp_path).items() if ".puzzles/." not in name} == before


def test_a_lost_file_of_the_layout_is_written_again(tmp_path):
    """A text or metadata file that is not there any more comes back as it was."""
    write_set(tmp_path, "layout", CELLS, 2, 3)
    before = contents(tmp_path)
    next((tmp_path / "exp/cogniload").iterdir()).unlink()
    sorted((tmp_path / "meta/cogniload").iterdir())[-1].unlink()
    write_set(tmp_path, "layout", CELLS, 2, 3)
    assert contents(tmp_path) == before


@pytest.mark.parametrize(
    ("cells", "per_cell", "seed", "scheme", "words"),
    [
        (CELLS[1:], 2, 3, "chain", "other cells"),
        (grid_cells("N=5,30 ratio=2.5,60 d=1,4", "port"), 2, 3, "chain", "rounding paper instead of port"),
        (CELLS, 3, 3, "chain", "puzzles_per_cell 2 instead of 3"),
        (CELLS, 2, 4, "chain", "seed 3 instead of 4"),
        (CELLS, 2, 3, "spawn", "scheme chain instead of spawn"),
    ],
)
@pytest.mark.parametrize("kind", ["parquet", "layout"])
def test_another_set_is_refused(tmp_path, kind, cells, per_cell, seed, scheme, words):
    """A folder is never mixed nor overwritten, and the sentence says in what the sets differ."""
    write_set(tmp_path, "layout", CELLS, 2, 3)
    before = contents(tmp_path)
    with pytest.raises(ValueError, match=f"holds another set, with {words};"):
        write_set(tmp_path, kind, cells, per_cell, seed, scheme=scheme)
    assert contents(tmp_path) == before


def test_a_folder_that_nothing_describes_is_refused(tmp_path):
    """Puzzles of unknown origin are not overwritten, nor is a set whose note is damaged."""
    (tmp_path / "puzzles.jsonl").touch()
    with pytest.raises(ValueError, match=r"has puzzles\.jsonl of a set that nothing describes"):
        write_set(tmp_path, "parquet", CELLS, 2, 3)
    write_set(tmp_path / "set", "jsonl", CELLS, 2, 3)
    (tmp_path / "set/.puzzles/set.json").write_text("{", "utf-8")
    with pytest.raises(ValueError, match=r"set\.json is damaged"):
        write_set(tmp_path / "set", "jsonl", CELLS, 2, 3)


def test_impossible_arguments_leave_nothing_behind(tmp_path):
    """They are refused before the folder is made."""
    for changes in ({"kind": "csv"}, {"puzzles_per_cell": 0}, {"seed": -1}, {"scheme": "random"}):
        with pytest.raises(ValueError, match=r"give a|choose one of"):
            write_set(**{"folder": tmp_path / "set", "kind": "jsonl", "cells": CELLS, **changes})
    assert not any(tmp_path.iterdir())


def test_a_set_may_be_had_in_every_format(tmp_path):
    """The same set fits into one folder as table and as layout; the table tells where it comes from."""
    for kind in ("parquet", "jsonl", "layout"):
        write_set(tmp_path, kind, CELLS, 2, 3)
    assert [verdict.verdict for verdict in verify_set(tmp_path)] == ["right"] * 48
    metadata = read_metadata(tmp_path / "puzzles.parquet")
    assert (metadata["provenance"], metadata["seed"], metadata["scheme"]) == ("reconstructed", "3", "chain")


def test_layout_has_the_released_names_and_keys(tmp_path):
    """Texts and states lie where the authors' release has them."""
    puzzles = list(draw_grid(CELLS, 2, 3))
    assert write_set(tmp_path, "layout", CELLS, 2, 3) == len(puzzles)
    for puzzle in puzzles:
        text = (tmp_path / "exp" / "cogniload" / f"{puzzle.name}.txt").read_bytes()
        state = json.loads((tmp_path / "meta" / "cogniload" / f"{puzzle.name}_state.json").read_text("utf-8"))
        assert text.decode() == puzzle.text
        assert state == layout_state(puzzle)
    assert len(list(tmp_path.glob("*/cogniload/*"))) == 2 * len(puzzles)


def test_layout_history_is_newest_first():
    """Each person's states begin with the last and end with the first; one more for each statement that applied."""
    puzzle = draw_puzzle(30, 5, 12, 7)
    state = layout_state(puzzle)
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
