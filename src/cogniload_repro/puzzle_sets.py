"""Sets of puzzles as files: Parquet, JSONL, or the folders of the authors' release."""

import json
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path

import pyarrow as pa

from cogniload_repro import __version__
from cogniload_repro.catalog import puzzle_row
from cogniload_repro.files import write_whole
from cogniload_repro.generate import draw_puzzles
from cogniload_repro.grid import Cell, check_count
from cogniload_repro.parquet import replacing, table_writer
from cogniload_repro.puzzle import Puzzle
from cogniload_repro.puzzle_ids import PUZZLES_PER_CELL, SEED, grid_ids
from cogniload_repro.schemas import PUZZLES

#: Puzzles that are held in memory at a time while a set is written.
BATCH = 500


def draw_rows(
    cells: Iterable[Cell],
    puzzles_per_cell: int = PUZZLES_PER_CELL,
    seed: int = SEED,
    *,
    scheme: str = "chain",
    jobs: int = 1,
) -> Iterator[dict]:
    """Draw a set as rows of the puzzles table, cell by cell; the same rows for any `jobs`.

    Parameters
    ----------
    cells : iterable of Cell
    puzzles_per_cell, seed : int
        At least 1, and not negative.
    scheme : {"chain", "spawn"}
        Where the ids come from, see `puzzle_ids`.
    jobs : int
        Number of processes.

    Raises
    ------
    ValueError
        If an argument is out of range.
    """
    yield from _draw(puzzle_row, cells, puzzles_per_cell, seed, scheme, jobs)


def write_parquet(path: str | Path, rows: Iterable[dict], metadata: dict[str, str]) -> int:
    """Write rows of `draw_rows` as a puzzles table, in bounded memory; return their number.

    ``metadata`` are the keys of the file, see `describe_set`; the file appears when it is complete.
    """
    rows = iter(rows)
    count = 0
    with table_writer(path, PUZZLES, metadata) as writer:
        while batch := list(islice(rows, BATCH)):
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


def write_layout(
    folder: str | Path,
    cells: Iterable[Cell],
    puzzles_per_cell: int = PUZZLES_PER_CELL,
    seed: int = SEED,
    *,
    scheme: str = "chain",
    jobs: int = 1,
) -> int:
    """Write a set in the folders of the authors' release; return the number of puzzles.

    Texts go to ``exp/cogniload/NAME.txt``, states to ``meta/cogniload/NAME_state.json``. Every file is whole
    at any time, a puzzle's text comes after its states, and a second run writes the same bytes.
    """
    folder = Path(folder)
    count = 0
    for name, text, state in _draw(_layout_files, cells, puzzles_per_cell, seed, scheme, jobs):
        write_whole(folder / "meta" / "cogniload" / f"{name}_state.json", state)
        write_whole(folder / "exp" / "cogniload" / f"{name}.txt", text)
        count += 1
    return count


def describe_set(cells: Iterable[Cell], seed: int, scheme: str, command: str) -> dict[str, str]:
    """Return the metadata of a drawn set: where its puzzles come from, nothing about the moment."""
    return {
        "provenance": "reconstructed",
        "source": "drawn by cogniload_repro.generate",
        "seed": str(seed),
        "scheme": scheme,
        "rounding": " ".join(sorted({cell.rounding for cell in cells})),
        "package_version": __version__,
        "command": command,
    }


def layout_state(puzzle: Puzzle) -> dict:
    """Return a puzzle's metadata under the keys of the authors' ``_state.json``.

    ``category_defaults`` are the domains; ``history`` holds everybody's state after each statement and at the
    start, newest first.
    """
    return {
        "people": puzzle.people,
        "poi": puzzle.poi,
        "categories": puzzle.categories,
        "category_defaults": puzzle.domains,
        "needles": puzzle.needles,
        "hays": puzzle.hays,
        "difficulty": puzzle.d,
        "num_statements": puzzle.N,
        "statements": [
            {
                "conditions": dict(statement.conditions),
                "updates": dict(statement.updates),
                "reference": statement.reference,
            }
            for statement in puzzle.statements
        ],
        "history": list(puzzle.states())[::-1],
    }


def _draw(
    convert: Callable[[Puzzle], object],
    cells: Iterable[Cell],
    puzzles_per_cell: int,
    seed: int,
    scheme: str,
    jobs: int,
) -> Iterator:
    cells = tuple(cells)
    puzzles_per_cell = check_count("puzzles_per_cell", puzzles_per_cell, 1)
    ids = grid_ids(cells, puzzles_per_cell, seed, scheme)
    planned = [cell for cell in cells for _ in range(puzzles_per_cell)]
    requests = ((cell.N, cell.d, cell.needles, one) for cell, one in zip(planned, ids, strict=True))
    for cell, drawn in zip(planned, draw_puzzles(requests, jobs, convert), strict=True):
        yield drawn | {"ratio_pct": float(cell.ratio_pct)} if isinstance(drawn, dict) else drawn


def _layout_files(puzzle: Puzzle) -> tuple[str, str, str]:
    return puzzle.name, puzzle.text, json.dumps(layout_state(puzzle))
