"""Sets of puzzles: drawn in order by several processes, in bounded memory, and written as Parquet or JSONL."""

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import TypeVar

import pyarrow as pa
from tqdm import tqdm

from cogniload_repro import __version__
from cogniload_repro.executors import open_executor
from cogniload_repro.files import replacing
from cogniload_repro.grid import Cell, check_count
from cogniload_repro.puzzles.catalog import puzzle_row
from cogniload_repro.puzzles.draws import Edition
from cogniload_repro.puzzles.generate import draw_grid, draw_puzzle
from cogniload_repro.puzzles.ids import PuzzleSet
from cogniload_repro.schemas import PUZZLES
from cogniload_repro.storage import remove_parts, table_writer

T = TypeVar("T")

#: What is in memory, and in a row group, at a time: so many puzzles, or as many as have so many characters.
BATCH = 500
BATCH_CHARS = 50_000_000

#: What one process draws at a time: so many puzzles, or as many as have so many statements.
_CHUNK = 32
_CHUNK_STATEMENTS = 20_000


def write_set(folder: str | Path, kind: str, puzzles: PuzzleSet, jobs: int = 1) -> int:
    """Write a set as puzzles.parquet or puzzles.jsonl of a folder; return its number of puzzles.

    The file is the same byte for byte for any `jobs`, and appears when it is complete.
    """
    remove_parts(Path(folder))
    rows = tqdm(draw_rows(puzzles, jobs), "puzzles", len(puzzles), disable=None)
    if kind == "jsonl":
        write_jsonl(Path(folder) / "puzzles.jsonl", rows)
    else:
        write_parquet(
            Path(folder) / "puzzles.parquet", rows, describe_set(puzzles, "cogniload puzzles")
        )
    return len(puzzles)


def draw_rows(puzzles: PuzzleSet, jobs: int = 1) -> Iterator[dict]:
    """Draw a set as rows of the puzzles table, cell by cell; the same rows for any `jobs`."""
    ids, edition = puzzles.ids(), puzzles.edition
    planned = (cell for cell in puzzles.cells for _ in range(puzzles.puzzles_per_cell))
    if ids is not None:
        requests = zip(planned, ids, strict=True)
        chunks = cut(requests, _CHUNK, lambda request: request[0].N, _CHUNK_STATEMENTS)
        yield from map_batches(partial(_draw_chunk, edition), chunks, jobs)
        return
    drawn = draw_grid(puzzles.cells, puzzles.puzzles_per_cell, puzzles.seed, edition=edition)
    for cell, puzzle in zip(planned, drawn, strict=True):
        yield puzzle_row(puzzle, cell.ratio_pct)


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
    """Return the metadata of a drawn set: how its puzzles were drawn, nothing about the moment."""
    return {
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


def _draw_chunk(edition: Edition, requests: list[tuple[Cell, int]]) -> list[dict]:
    return [
        puzzle_row(
            draw_puzzle(cell.N, cell.d, cell.needles, puzzle_id, edition=edition), cell.ratio_pct
        )
        for cell, puzzle_id in requests
    ]
