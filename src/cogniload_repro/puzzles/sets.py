"""Sets of puzzles: drawn in order by several processes, in bounded memory, and written as Parquet or JSONL."""

import json
import logging
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from functools import partial
from itertools import tee
from pathlib import Path
from typing import TypeVar, cast

import pyarrow as pa

from cogniload_repro import __version__
from cogniload_repro.executors import open_executor
from cogniload_repro.grid import Cell, check_count
from cogniload_repro.puzzles.catalog import puzzle_row
from cogniload_repro.puzzles.editions import PORT, Edition
from cogniload_repro.puzzles.generate import Request, draw_grid, draw_puzzle
from cogniload_repro.puzzles.ids import PUZZLES_PER_CELL, SEED, known_ids
from cogniload_repro.puzzles.puzzle import Puzzle
from cogniload_repro.schemas import PUZZLES
from cogniload_repro.storage import replacing, table_writer

_LOG = logging.getLogger(__name__)

T = TypeVar("T")

#: What is in memory, and in a row group, at a time: so many puzzles, or as many as have so many characters.
BATCH = 500
BATCH_CHARS = 50_000_000

#: What one process draws at a time: so many puzzles, or as many as have so many statements.
_CHUNK = 32
_CHUNK_STATEMENTS = 20_000


def draw_rows(
    cells: Iterable[Cell],
    puzzles_per_cell: int = PUZZLES_PER_CELL,
    seed: int = SEED,
    *,
    scheme: str = "chain",
    edition: Edition = PORT,
    jobs: int = 1,
    skip: int = 0,
) -> Iterator[dict]:
    """Draw a set as rows of the puzzles table, cell by cell; the same rows for any `jobs`.

    Parameters
    ----------
    cells : iterable of Cell
    puzzles_per_cell, seed : int
        At least 1, and not negative.
    scheme : {"chain", "spawn", "default"}
        Where the ids come from, see `known_ids`.
    edition : Edition
        Which edition of the generator draws.
    jobs : int
        Number of processes. A chain whose ids are not known is drawn by one.
    skip : int
        Leave out so many of the first rows.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    drawn = draw_set(puzzle_row, cells, puzzles_per_cell, seed, scheme, edition, jobs, lambda place, _: place < skip)
    return (row | {"ratio_pct": float(cell.ratio_pct)} for cell, row in drawn)


def draw_set(
    convert: Callable[[Puzzle], T],
    cells: Iterable[Cell],
    puzzles_per_cell: int,
    seed: int,
    scheme: str,
    edition: Edition,
    jobs: int,
    skip: Callable[[int, Request], bool],
) -> Iterator[tuple[Cell, T]]:
    """Draw a set in order; yield each puzzle's cell, and what a function of a module made of it where it was drawn.

    The other arguments are those of `draw_rows`. `skip` is asked with each puzzle's place and its request (N, d,
    needles, puzzle_id), and those for which it is true are left out. A chain that comes back to an id of its own cell
    goes round from there, which is logged at its end.
    """
    cells = tuple(cells)
    ids = known_ids(cells, puzzles_per_cell, seed, scheme, edition)
    planned = (cell for cell in cells for _ in range(puzzles_per_cell))
    if ids is None:
        seen = set()
        chain = draw_grid(cells, puzzles_per_cell, seed, edition=edition)
        for place, (cell, puzzle) in enumerate(zip(planned, chain, strict=True)):
            seen.add(request := (cell.N, cell.d, cell.needles, cast("int", puzzle.puzzle_id)))  # drawn: it has one
            if not skip(place, request):
                yield cell, convert(puzzle)
        if repeats := len(cells) * puzzles_per_cell - len(seen):
            _LOG.warning(
                "The chain of ids ran into a loop: %d puzzles are there again. Scheme spawn has none.", repeats
            )
        return
    requests = ((cell, (cell.N, cell.d, cell.needles, one)) for cell, one in zip(planned, ids, strict=True))
    wanted, asked = tee(pair for place, pair in enumerate(requests) if not skip(place, pair[1]))
    chunks = cut((request for _, request in asked), _CHUNK, lambda request: request[0], _CHUNK_STATEMENTS)
    drawn = map_batches(partial(_draw_chunk, convert, edition), chunks, jobs)
    for (cell, _), puzzle in zip(wanted, drawn, strict=True):
        yield cell, puzzle


def write_parquet(path: str | Path, rows: Iterable[dict], metadata: dict[str, str]) -> int:
    """Write rows of `draw_rows` as a puzzles table, in bounded memory; return their number.

    ``metadata`` are the keys of the file, see `describe_set`; the file appears when it is complete.
    """
    count = 0
    with table_writer(path, PUZZLES, metadata) as writer:
        for batch in cut_rows(rows):
            writer.write_table(pa.Table.from_pylist(batch, schema=writer.schema))
            count += len(batch)
    return count


def write_jsonl(path: str | Path, rows: Iterable[dict]) -> int:
    """Write rows of `draw_rows` as JSON, one a line; return their number. The file appears when complete."""
    count = 0
    with replacing(path) as part, open(part, "w", encoding="utf-8", newline="\n") as file:
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")
            count += 1
    return count


def describe_set(
    cells: Iterable[Cell], seed: int, scheme: str, command: str, edition: Edition = PORT
) -> dict[str, str]:
    """Return the metadata of a drawn set: where its puzzles come from, nothing about the moment."""
    return {
        "provenance": "reconstructed",
        "source": "drawn by cogniload_repro.puzzles.generate",
        "seed": str(seed),
        "scheme": scheme,
        "edition": str(edition),
        "rounding": " ".join(sorted({cell.rounding for cell in cells})),
        "package_version": __version__,
        "command": command,
    }


def cut_rows(rows: Iterable[dict]) -> Iterator[list[dict]]:
    """Cut rows of puzzles into lists that fit into memory."""
    return cut(rows, BATCH, lambda row: len(row["text"]), BATCH_CHARS)


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
    """Apply a function of a module to lists, in several processes when asked; yield its results one by one, in order.

    The lists are read as they are needed: twice as many as there are processes wait at a time.
    """
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
