"""Draw sets of puzzles in several processes, write them as Parquet or JSONL, and read them."""

import json
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import Future
from functools import partial
from pathlib import Path
from typing import TypeVar

import pandas as pd
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
from cogniload_repro.storage import PUZZLES, open_parquet, table_writer

T = TypeVar("T")

#: Most puzzles in memory at a time, and in a row group; a batch ends earlier if its texts reach
#: this many characters.
_BATCH = 500
_BATCH_CHARS = 50_000_000

#: Most puzzles in a task for a process; a task ends earlier if it reaches this many statements.
_CHUNK = 32
_CHUNK_STATEMENTS = 20_000


def write_set(folder: str | Path, kind: str, puzzles: PuzzleSet, jobs: int = 1) -> int:
    """Write a set to puzzles.parquet or puzzles.jsonl in a folder; return its number of puzzles.

    The file is byte for byte the same for any ``jobs``, and appears only when it is complete.
    """
    folder = Path(folder)
    for part in folder.glob(".puzzles.*.part"):  # of a killed run
        part.unlink()
    rows = tqdm(draw_rows(puzzles, jobs), "puzzles", len(puzzles), disable=None)
    if kind == "jsonl":
        write_jsonl(folder / "puzzles.jsonl", rows)
    else:
        metadata = describe_set(puzzles, "cogniload puzzles")
        write_parquet(folder / "puzzles.parquet", rows, metadata)
    return len(puzzles)


def draw_rows(puzzles: PuzzleSet, jobs: int = 1) -> Iterator[dict]:
    """Draw a set as rows of the puzzles table, cell by cell; the same rows for any ``jobs``."""
    ids = puzzles.ids()
    cells = puzzles.cell_of_each()
    if ids is not None:
        requests = zip(cells, ids, strict=True)
        chunks = cut(requests, _CHUNK, lambda request: request[0].N, _CHUNK_STATEMENTS)
        yield from map_batches(partial(_draw_chunk, puzzles.edition), chunks, jobs)
        return
    size = puzzles.puzzles_per_cell
    drawn = draw_grid(puzzles.cells, size, puzzles.seed, edition=puzzles.edition)
    for cell, puzzle in zip(cells, drawn, strict=True):
        yield puzzle_row(puzzle, cell.ratio_pct)


def _draw_chunk(edition: Edition, requests: list[tuple[Cell, int]]) -> list[dict]:
    rows = []
    for cell, puzzle_id in requests:
        puzzle = draw_puzzle(cell.N, cell.d, cell.needles, puzzle_id, edition=edition)
        rows.append(puzzle_row(puzzle, cell.ratio_pct))
    return rows


def write_parquet(
    path: str | Path, rows: Iterable[dict], metadata: dict[str, str]
) -> None:
    """Write rows of `draw_rows` as a puzzles table, in bounded memory."""
    with table_writer(path, PUZZLES, metadata) as writer:
        for batch in cut(rows, _BATCH, lambda row: len(row["text"]), _BATCH_CHARS):
            writer.write_table(pa.Table.from_pylist(batch, schema=writer.schema))


def write_jsonl(path: str | Path, rows: Iterable[dict]) -> None:
    """Write rows as JSON, one per line. The file appears only when it is complete."""
    with (
        replacing(path) as part,
        open(part, "w", encoding="utf-8", newline="\n") as file,
    ):
        for row in rows:
            file.write(json.dumps(row, ensure_ascii=False) + "\n")


def describe_set(puzzles: PuzzleSet, command: str) -> dict[str, str]:
    """Return the metadata of a drawn set: how it was drawn, but not when."""
    return {
        "source": "drawn by cogniload_repro.puzzles.generate",
        "seed": str(puzzles.seed),
        "scheme": puzzles.scheme,
        "edition": str(puzzles.edition),
        "rounding": puzzles.rounding,
        "package_version": __version__,
        "command": command,
    }


def cut(
    items: Iterable[T],
    most: int,
    weigh: Callable[[T], int],
    limit: int,
) -> Iterator[list[T]]:
    """Cut a sequence into lists of at most ``most`` items.

    A list ends earlier if the weights of its items add up to ``limit`` or more.
    """
    batch: list[T] = []
    weight = 0
    for item in items:
        batch.append(item)
        weight += weigh(item)
        if len(batch) >= most or weight >= limit:
            yield batch
            batch = []
            weight = 0
    if batch:
        yield batch


def map_batches(
    function: Callable[[list], list],
    batches: Iterable[list],
    jobs: int,
) -> Iterator:
    """Apply a module-level function to lists in several processes; yield the results in order.

    About twice as many lists as processes are in memory at a time.
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


def read_puzzles(source: str | Path, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
    """Yield the given columns of a set in order, a few hundred puzzles at a time.

    The source is a Parquet or JSONL file, or a folder with puzzles.parquet or puzzles.jsonl.
    ValueError for any other source, a damaged or empty file or a missing column.
    """
    path = _find_set(Path(source))
    remedy = "create them with `cogniload puzzles`"
    is_empty = True
    for puzzles in _read_batches(path, columns):
        is_empty = False
        missing = [name for name in columns if name not in puzzles]
        if missing:
            names = ", ".join(missing)
            raise ValueError(f"{path}: the puzzles have no column {names}; {remedy}")
        yield puzzles[[*columns]]
    if is_empty:
        raise ValueError(f"{path} has no puzzles; {remedy}")


def _read_batches(path: Path, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
    """Yield the puzzles of a file in batches of at most `_BATCH`."""
    try:
        if path.suffix == ".parquet":
            with open_parquet(path) as file:
                for batch in file.iter_batches(_BATCH, columns=[*columns]):
                    yield batch.to_pandas()
        else:
            options = {"lines": True, "chunksize": _BATCH, "dtype": False}
            with pd.read_json(path, **options) as batches:
                yield from batches
    except (ValueError, OSError, pa.ArrowException) as error:
        raise ValueError(
            f"{path} is not a table of puzzles ({error}); create it again"
        ) from None


def _find_set(source: Path) -> Path:
    for path in (source, source / "puzzles.parquet", source / "puzzles.jsonl"):
        if path.is_file() and path.suffix in (".parquet", ".jsonl"):
            return path
    remedy = "give a .parquet or .jsonl file, or a folder with puzzles.parquet or puzzles.jsonl"
    raise ValueError(f"{source}: no puzzles here; {remedy}")
