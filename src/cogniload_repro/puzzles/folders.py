"""Sets of puzzles in folders: as a table, or as the authors' release has them; written on after a stop."""

import json
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from pathlib import Path

import pyarrow.parquet as pq

from cogniload_repro.files import write_whole
from cogniload_repro.grid import Cell, check_count
from cogniload_repro.puzzles.catalog import parse_name, rows_table
from cogniload_repro.puzzles.editions import PORT, Edition
from cogniload_repro.puzzles.generate import Request
from cogniload_repro.puzzles.ids import PUZZLES_PER_CELL, SEED, known_ids
from cogniload_repro.puzzles.puzzle import Puzzle
from cogniload_repro.puzzles.sets import cut_rows, describe_set, draw_rows, draw_set, write_jsonl, write_parquet
from cogniload_repro.puzzles.statement import replay
from cogniload_repro.storage import open_parquet, remove_parts, write_table

#: Hidden folder of a set: which set it is, and the parts of a table that is not complete.
_STATE = ".puzzles"

#: The table of each format; the layout is folders.
_TABLES = {"parquet": "puzzles.parquet", "jsonl": "puzzles.jsonl"}
KINDS = (*_TABLES, "layout")

Watch = Callable[[int], object]


def write_set(
    folder: str | Path,
    kind: str,
    cells: Iterable[Cell],
    puzzles_per_cell: int = PUZZLES_PER_CELL,
    seed: int = SEED,
    *,
    scheme: str = "chain",
    edition: Edition = PORT,
    jobs: int = 1,
    watch: Watch = lambda count: None,
) -> int:
    """Write a set into a folder, or go on where an earlier call has stopped; return its number of puzzles.

    The files are the same byte for byte however often the writing stopped, and for any `jobs`. In the layout, texts
    go to ``exp/cogniload/NAME.txt``, states to ``meta/cogniload/NAME_state.json``, and each file is whole at any time;
    a table appears when it is complete.

    Parameters
    ----------
    folder : path
        A folder without puzzles, or with this set; which one it has is told by a hidden file.
    kind : {"parquet", "jsonl", "layout"}
    cells, puzzles_per_cell, seed, scheme, edition, jobs
        As for `draw_rows`.
    watch : function of an int, optional
        Called with the number of puzzles that are there more than before.

    Raises
    ------
    ValueError
        If the folder holds another set, or an argument is out of range.
    """
    folder, cells = Path(folder), tuple(cells)
    if kind not in KINDS:
        raise ValueError(f"kind is {kind!r}; choose one of: {', '.join(KINDS)}")
    _claim(folder, cells, puzzles_per_cell, seed, scheme, edition)
    count = puzzles_per_cell * len(cells)
    if kind == "layout":
        _write_layout(
            folder, partial(draw_set, _layout_files, cells, puzzles_per_cell, seed, scheme, edition, jobs), watch
        )
    elif (folder / _TABLES[kind]).exists():
        watch(count)
    else:
        rows = partial(draw_rows, cells, puzzles_per_cell, seed, scheme=scheme, edition=edition, jobs=jobs)
        _write_table(folder, kind, rows, describe_set(cells, seed, scheme, "cogniload puzzles", edition), watch)
    return count


def layout_state(puzzle: Puzzle) -> dict:
    """Return a puzzle's metadata under the keys of the authors' ``_state.json``, as a program of theirs reads them.

    ``category_defaults`` are the domains, ``statements`` the texts without numbers, newest first. ``history`` holds for
    each person the states one after the other, newest first: one more at each statement that applied. ``needles``
    and ``hays`` are the puzzle's; the released program writes what is left of them at the end, which is 0.
    """
    start = puzzle.initial_states
    history = {person: [state] for person, state in start.items()}
    for states in replay(start, puzzle.statements):
        for person, state in states.items():
            if state is not history[person][-1]:
                history[person].append(state)
    lines = puzzle.text.split("\n\n")[-2].split("\n")[len(puzzle.lines) :]
    return {
        "people": puzzle.people,
        "poi": puzzle.poi,
        "categories": puzzle.categories,
        "category_defaults": puzzle.domains,
        "needles": puzzle.needles,
        "hays": puzzle.hays,
        "difficulty": puzzle.d,
        "num_statements": puzzle.N,
        "statements": [line.partition(". ")[2] for line in reversed(lines)],
        "history": {person: states[::-1] for person, states in history.items()},
    }


def _layout_files(puzzle: Puzzle) -> tuple[str, str, str]:
    return puzzle.name, puzzle.text, json.dumps(layout_state(puzzle))


def _claim(
    folder: Path, cells: tuple[Cell, ...], puzzles_per_cell: int, seed: int, scheme: str, edition: Edition
) -> None:
    """Make sure that a folder holds this set or none, and note which one it is."""
    plan = {
        "cells": [[cell.N, cell.ratio_pct, cell.d] for cell in cells],
        "rounding": " ".join(sorted({cell.rounding for cell in cells})),
        "puzzles_per_cell": check_count("puzzles_per_cell", puzzles_per_cell, 1),
        "seed": check_count("seed", seed, 0),
        "scheme": scheme,
        "edition": str(edition),
    }
    known_ids(cells, puzzles_per_cell, seed, scheme, edition)
    note = folder / _STATE / "set.json"
    if not note.exists():
        for name in (*_TABLES.values(), "exp", "meta"):
            if (folder / name).exists():
                raise ValueError(f"{folder} has {name} of a set that nothing describes; choose another folder")
        write_whole(note, json.dumps(plan) + "\n")
        return
    try:
        # folders from before there were editions hold the port's puzzles
        found = {"edition": str(PORT), **json.loads(note.read_bytes())}
    except (ValueError, TypeError):
        raise ValueError(f"{note} is damaged, so the set in {folder} is unknown; choose another folder") from None
    for key, value in plan.items():
        if found.get(key) != value:
            other = "other cells" if key == "cells" else f"{key} {found.get(key)} instead of {value}"
            raise ValueError(f"{folder} holds another set, with {other}; choose another folder")


def _write_layout(folder: Path, draw: Callable[..., Iterator], watch: Watch) -> None:
    """Write the puzzles of which a file is missing."""
    texts, states = folder / "exp" / "cogniload", folder / "meta" / "cogniload"
    remove_parts(texts)
    remove_parts(states)
    names = (path.stem for path in texts.glob("*.txt") if (states / f"{path.stem}_state.json").exists())
    present = {parts[:4] for parts in map(parse_name, names) if parts}

    def skip(_: int, request: Request) -> bool:
        watch(request in present)
        return request in present

    for _, (name, text, state) in draw(skip):
        write_whole(states / f"{name}_state.json", state)
        write_whole(texts / f"{name}.txt", text)
        watch(1)


def _write_table(
    folder: Path, kind: str, draw: Callable[..., Iterator[dict]], metadata: dict[str, str], watch: Watch
) -> None:
    """Write the parts that are missing, and the table from its parts."""
    parts = folder / _STATE
    remove_parts(folder)
    remove_parts(parts)
    whole = sorted(parts.glob("*.parquet"))
    done = sum(map(_count_rows, whole))
    watch(done)
    for number, batch in enumerate(cut_rows(draw(skip=done)), len(whole)):
        write_table(parts / f"{number:06}.parquet", rows_table(batch), metadata)
        watch(len(batch))
    whole = sorted(parts.glob("*.parquet"))
    rows = (row for part in whole for row in pq.read_table(part).to_pylist())
    if kind == "jsonl":
        write_jsonl(folder / _TABLES[kind], rows)
    else:
        write_parquet(folder / _TABLES[kind], rows, metadata)
    for part in whole:
        part.unlink()


def _count_rows(path: Path) -> int:
    with open_parquet(path) as file:
        return file.metadata.num_rows
