"""Sets of puzzles: drawn in order by several processes, in bounded memory, and written in one of three formats."""

import json
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from functools import partial
from itertools import groupby, tee
from operator import getitem
from pathlib import Path
from typing import TypeVar, cast

import pyarrow as pa
from tqdm import tqdm

from cogniload_repro import __version__
from cogniload_repro.executors import open_executor
from cogniload_repro.files import replacing, write_whole
from cogniload_repro.grid import Cell, check_count
from cogniload_repro.puzzles.catalog import parse_name, puzzle_row
from cogniload_repro.puzzles.editions import Edition
from cogniload_repro.puzzles.generate import Request, draw_grid, draw_puzzle
from cogniload_repro.puzzles.ids import PuzzleSet
from cogniload_repro.puzzles.puzzle import Puzzle
from cogniload_repro.schemas import PUZZLES
from cogniload_repro.storage import remove_parts, table_writer

_LOG = logging.getLogger(__name__)

T = TypeVar("T")

#: How a set may be written, and the file that it is in; the authors' release is folders.
FORMATS = {"parquet": "puzzles.parquet", "jsonl": "puzzles.jsonl", "release": "exp"}

#: File in a folder that says which set it holds.
_NOTE = Path(".puzzles", "set.json")

#: What is in memory, and in a row group, at a time: so many puzzles, or as many as have so many characters.
BATCH = 500
BATCH_CHARS = 50_000_000

#: What one process draws at a time: so many puzzles, or as many as have so many statements.
_CHUNK = 32
_CHUNK_STATEMENTS = 20_000


def write_set(folder: str | Path, kind: str, puzzles: PuzzleSet, jobs: int = 1) -> int:
    """Write a set into a folder without puzzles or with this set; return its number of puzzles.

    The files are the same byte for byte however often the writing stopped, and for any `jobs`. A table appears when it
    is complete; of a release, files that are there are not drawn again.
    """
    folder = Path(folder)
    if kind not in FORMATS:
        raise ValueError(f"format is {kind!r}; choose one of: {', '.join(FORMATS)}")
    _claim(folder, puzzles)
    remove_parts(folder)
    path = folder / FORMATS[kind]
    if kind == "release":
        _write_release(folder, puzzles, jobs)
    elif not path.exists():
        rows = tqdm(draw_rows(puzzles, jobs), "puzzles", len(puzzles), disable=None)
        if kind == "jsonl":
            write_jsonl(path, rows)
        else:
            write_parquet(path, rows, describe_set(puzzles, "cogniload puzzles"))
    return len(puzzles)


def _claim(folder: Path, puzzles: PuzzleSet) -> None:
    """Make sure that a folder holds this set or none, and note which one it is."""
    plan = {
        "cells": [[cell.N, cell.ratio_pct, cell.d] for cell in puzzles.cells],
        "rounding": puzzles.rounding,
        "puzzles_per_cell": puzzles.puzzles_per_cell,
        "seed": puzzles.seed,
        "scheme": puzzles.scheme,
        "edition": str(puzzles.edition),
    }
    note = folder / _NOTE
    if not note.exists():
        for name in (*FORMATS.values(), "meta"):
            if (folder / name).exists():
                raise ValueError(f"{folder} has {name} of a set that nothing describes; choose another folder")
        write_whole(note, json.dumps(plan) + "\n")
    try:
        found = dict(json.loads(note.read_bytes()))
    except (ValueError, TypeError):
        raise ValueError(f"{note} is damaged, so the set in {folder} is unknown; choose another folder") from None
    for key, value in plan.items():
        if found.get(key) != value:
            other = "other cells" if key == "cells" else f"{key} {found.get(key)} instead of {value}"
            raise ValueError(f"{folder} holds another set, with {other}; choose another folder")


def _write_release(folder: Path, puzzles: PuzzleSet, jobs: int) -> None:
    """Write the puzzles of which a file is missing."""
    texts, states = folder / "exp" / "cogniload", folder / "meta" / "cogniload"
    remove_parts(texts)
    remove_parts(states)
    names = (path.stem for path in texts.glob("*.txt") if (states / f"{path.stem}_state.json").exists())
    present = {parts[:4] for parts in map(parse_name, names) if parts}
    drawn = draw_set(_release_files, puzzles, jobs, present.__contains__)
    for _, (name, text, state) in tqdm(drawn, "puzzles", len(puzzles), initial=len(present), disable=None):
        write_whole(states / f"{name}_state.json", state)
        write_whole(texts / f"{name}.txt", text)


def _release_files(puzzle: Puzzle) -> tuple[str, str, str]:
    return puzzle.name, puzzle.text, release_state(puzzle)


def release_state(puzzle: Puzzle) -> str:
    """Return a puzzle's metadata as JSON, under ten of the sixteen keys of the authors' ``_state.json``.

    Statements and everybody's states (one more at each that applied) are newest first. ``needles`` and ``hays`` are the
    puzzle's; the released programs write what is left of them at the end, which is 0.
    """
    pasts = zip(*puzzle.replay(), strict=True)
    history = [[next(equal) for _, equal in groupby(past, key=id)][::-1] for past in pasts]
    lines = puzzle.text.split("\n\n")[-2].split("\n")[len(puzzle.lines) :]
    return json.dumps({
        "people": puzzle.people,
        "poi": puzzle.poi,
        "categories": puzzle.categories,
        "category_defaults": puzzle.domains,
        "needles": puzzle.needles,
        "hays": puzzle.hays,
        "difficulty": puzzle.d,
        "num_statements": puzzle.N,
        "statements": [line.partition(". ")[2] for line in reversed(lines)],
        "history": {
            person: [dict(zip(puzzle.domains, map(getitem, puzzle.domains.values(), one), strict=True)) for one in past]
            for person, past in zip(puzzle.people, history, strict=True)
        },
    })  # fmt: skip


def draw_rows(puzzles: PuzzleSet, jobs: int = 1) -> Iterator[dict]:
    """Draw a set as rows of the puzzles table, cell by cell; the same rows for any `jobs`."""
    return (row | {"ratio_pct": float(cell.ratio_pct)} for cell, row in draw_set(puzzle_row, puzzles, jobs))


def draw_set(
    convert: Callable[[Puzzle], T],
    puzzles: PuzzleSet,
    jobs: int,
    skip: Callable[[Request], bool] = lambda request: False,
) -> Iterator[tuple[Cell, T]]:
    """Draw a set in order; yield each puzzle's cell, and what a function of a module made of it where it was drawn.

    `skip` is asked with each puzzle's (N, d, needles, puzzle_id), and those for which it is true are left out. A chain
    that comes back to an id of its own cell goes round from there, which is logged at its end.
    """
    ids, edition = puzzles.ids(), puzzles.edition
    planned = (cell for cell in puzzles.cells for _ in range(puzzles.puzzles_per_cell))
    if ids is None:
        seen = set()
        chain = draw_grid(puzzles.cells, puzzles.puzzles_per_cell, puzzles.seed, edition=edition)
        for cell, puzzle in zip(planned, chain, strict=True):
            seen.add(request := (cell.N, cell.d, cell.needles, cast("int", puzzle.puzzle_id)))  # drawn: it has one
            if not skip(request):
                yield cell, convert(puzzle)
        if repeats := len(puzzles) - len(seen):
            _LOG.warning(
                "The chain of ids ran into a loop: %d puzzles are there again. Scheme spawn has none.", repeats
            )
        return
    requests = ((cell, (cell.N, cell.d, cell.needles, one)) for cell, one in zip(planned, ids, strict=True))
    wanted, asked = tee(pair for pair in requests if not skip(pair[1]))
    chunks = cut((request for _, request in asked), _CHUNK, lambda request: request[0], _CHUNK_STATEMENTS)
    drawn = map_batches(partial(_draw_chunk, convert, edition), chunks, jobs)
    for (cell, _), puzzle in zip(wanted, drawn, strict=True):
        yield cell, puzzle


def write_parquet(path: str | Path, rows: Iterable[dict], metadata: dict[str, str]) -> int:
    """Write rows of `draw_rows` as a puzzles table, in bounded memory; return their number."""
    count = 0
    with table_writer(path, PUZZLES, metadata) as writer:
        for batch in cut(rows, BATCH, lambda row: len(row["text"]), BATCH_CHARS):
            writer.write_table(pa.Table.from_pylist(batch, schema=writer.schema))
            count += len(batch)
    return count


def write_jsonl(path: str | Path, rows: Iterable[dict]) -> None:
    """Write rows as JSON, one a line. The file appears when it is complete."""
    with replacing(path) as part, open(part, "w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def describe_set(puzzles: PuzzleSet, command: str) -> dict[str, str]:
    """Return the metadata of a drawn set: where its puzzles come from, nothing about the moment."""
    return {
        "provenance": "reconstructed",
        "source": "drawn by cogniload_repro.puzzles.generate",
        "seed": str(puzzles.seed),
        "scheme": puzzles.scheme,
        "edition": str(puzzles.edition),
        "rounding": puzzles.rounding,
        "package_version": __version__,
        "command": command,
    }


def cut(items: Iterable[T], most: int, weigh: Callable[[T], int], limit: int) -> Iterator[list[T]]:
    """Cut a sequence into lists of at most `most` items, ended earlier where their weights reach `limit`."""
    batch: list[T] = []
    weight = 0
    for item in items:
        batch.append(item)
        weight += weigh(item)
        if len(batch) >= most or weight >= limit:
            yield batch
            batch, weight = [], 0
    if batch:
        yield batch


def map_batches(function: Callable[[list], list], batches: Iterable[list], jobs: int) -> Iterator:
    """Apply a function of a module to lists in several processes, twice as many at a time; yield results in order."""
    if check_count("jobs", jobs, 1) == 1:
        for batch in batches:
            yield from function(batch)
        return
    with open_executor(jobs) as executor:
        pending: deque[Future] = deque()
        try:
            for batch in batches:
                pending.append(executor.submit(function, batch))
                if len(pending) > 2 * jobs:
                    yield from pending.popleft().result()
            while pending:
                yield from pending.popleft().result()
        finally:
            for future in pending:
                future.cancel()


def _draw_chunk(convert: Callable[[Puzzle], object], edition: Edition, requests: list[Request]) -> list:
    return [convert(draw_puzzle(*request, edition=edition)) for request in requests]
