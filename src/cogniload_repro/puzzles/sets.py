"""Sets of puzzles: their ids, drawn in several processes, and written as a table."""

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from fractions import Fraction
from itertools import islice
from pathlib import Path

import numpy as np
import pyarrow as pa
from tqdm import tqdm

from cogniload_repro import __version__
from cogniload_repro.executors import open_executor
from cogniload_repro.grid import PAPER_GRID, Cell, check_count
from cogniload_repro.paths import DATA
from cogniload_repro.puzzles.draws import PORT
from cogniload_repro.puzzles.generate import (
    UsedIds,
    draw_grid,
    draw_puzzle,
    find_unused,
)
from cogniload_repro.puzzles.rows import puzzle_row
from cogniload_repro.storage import PUZZLES, table_writer

#: The default set: the paper's grid along the chain, halves rounded up.
SEED = 42
PUZZLES_PER_CELL = 100

#: Keeps the streams of spawned ids apart from other uses of the same seed.
_STREAM = 1

#: A puzzle to be drawn.
Request = tuple[Cell, int]

#: Puzzles in a row group.
_BATCH = 500
#: Puzzles that a process draws at a time.
_REQUESTS = 32


@dataclass(frozen=True)
class PuzzleSet:
    """A set of different puzzles: cells, a number of puzzles per cell, a seed and an edition.

    Seed 42 and cells of the paper select the first puzzles of the edition's default set, whose ids
    are committed, so that every way of asking a model n puzzles per cell uses the same ones. The
    ids of other sets come by a scheme: ``chain`` draws each from the random state that the previous
    puzzle left, as the authors' programs do; ``spawn`` is `spawn_ids`.
    """

    cells: tuple[Cell, ...]
    puzzles_per_cell: int = PUZZLES_PER_CELL
    seed: int = SEED
    scheme: str = "chain"
    edition: str = PORT

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", tuple(self.cells))
        check_count("puzzles_per_cell", self.puzzles_per_cell, 1)
        check_count("seed", self.seed, 0)

    def __len__(self) -> int:
        return len(self.cells) * self.puzzles_per_cell

    @property
    def is_default(self) -> bool:
        """Whether the default set contains these puzzles: its seed, its cells, no more per cell."""
        distinct = set(self.cells)
        has_cells = distinct <= set(PAPER_GRID) and len(distinct) == len(self.cells)
        has_puzzles = self.puzzles_per_cell <= PUZZLES_PER_CELL
        return has_cells and has_puzzles and self.seed == SEED

    def requests(self) -> Iterator[Request]:
        """Yield the cell and id of every puzzle; not for a chain, whose ids must be drawn."""
        if not self.is_default:
            yield from spawn_ids(self.cells, self.puzzles_per_cell, self.seed)
            return
        ids = read_default_ids(self.edition)
        for cell in self.cells:
            for puzzle_id in ids[cell][: self.puzzles_per_cell]:
                yield cell, puzzle_id

    def describe(self, command: str) -> dict[str, str]:
        """Return the metadata of the set: how it was drawn, but not when."""
        roundings = {cell.rounding for cell in self.cells}
        return {
            "source": "drawn by cogniload_repro.puzzles.generate",
            "seed": str(self.seed),
            "scheme": "default" if self.is_default else self.scheme,
            "edition": self.edition,
            "rounding": " ".join(sorted(roundings)),
            "package_version": __version__,
            "command": command,
        }


def read_default_ids(edition: str = PORT) -> dict[Cell, list[int]]:
    """Read the committed ids of an edition's default set by cell, in the order of the chain.

    The file has one line per cell: N, ratio_pct, d, and the ids.
    """
    name = "puzzle_ids.csv" if edition == PORT else f"puzzle_ids_{edition}.csv"
    _, *lines = (DATA / name).read_text(encoding="utf-8").splitlines()
    ids = {}
    for cell, line in zip(PAPER_GRID, lines, strict=True):
        _, _, numbers = line.rpartition(",")
        ids[cell] = [int(number) for number in numbers.split()]
    return ids


def spawn_ids(
    cells: Iterable[Cell], puzzles_per_cell: int, seed: int
) -> Iterator[Request]:
    """Yield ids that depend only on the seed, the cell and the puzzle's index in the cell.

    Unlike in the chain, adding cells or puzzles changes no other id. Each has 52 bits from a
    stream of its own (`numpy.random.SeedSequence`), so that a double holds it exactly. The
    probability that two of 100 puzzles in a cell draw the same one is below 1e-11; the second would
    be replaced.
    """
    used: UsedIds = defaultdict(set)
    for cell in cells:
        ratio = Fraction(str(cell.ratio_pct))
        for place in range(puzzles_per_cell):
            key = (_STREAM, cell.N, ratio.numerator, ratio.denominator, cell.d, place)
            stream = np.random.SeedSequence(seed, spawn_key=key)
            high, low = stream.generate_state(2)
            drawn = (int(high) << 20) | (int(low) >> 12)
            yield cell, find_unused(drawn, cell, used)


def write_set(folder: Path, puzzles: PuzzleSet, jobs: int = 1) -> Path:
    """Write a set to puzzles.parquet in a folder, and return the file's path.

    It is byte for byte the same for any ``jobs``, and appears only when it is complete.
    """
    for part in folder.glob(".puzzles.*.part"):  # of a killed run
        part.unlink()
    rows = tqdm(draw_rows(puzzles, jobs), "puzzles", len(puzzles), disable=None)
    path = folder / "puzzles.parquet"
    write_parquet(path, rows, puzzles.describe("cogniload puzzles"))
    return path


def draw_rows(puzzles: PuzzleSet, jobs: int = 1) -> Iterator[dict]:
    """Draw a set as rows of the puzzles table, cell by cell; the same rows for any ``jobs``."""
    if puzzles.scheme == "spawn" or puzzles.is_default:
        yield from _draw_requests(puzzles, jobs)
        return
    size = puzzles.puzzles_per_cell
    drawn = draw_grid(puzzles.cells, size, puzzles.seed, edition=puzzles.edition)
    for cell in puzzles.cells:
        for puzzle in islice(drawn, size):
            yield puzzle_row(puzzle, cell.ratio_pct)


def _draw_requests(puzzles: PuzzleSet, jobs: int) -> Iterator[dict]:
    """Draw a set whose ids are known, in several processes.

    About twice as many tasks as processes are in memory at a time.
    """
    tasks = _batches(puzzles.requests(), _REQUESTS)
    if jobs == 1:
        for requests in tasks:
            yield from _draw_task(puzzles.edition, requests)
        return
    with open_executor(jobs) as executor:
        pending: deque[Future] = deque()
        for requests in tasks:
            pending.append(executor.submit(_draw_task, puzzles.edition, requests))
            if len(pending) > 2 * jobs:
                yield from pending.popleft().result()
        while pending:
            yield from pending.popleft().result()


def _draw_task(edition: str, requests: list[Request]) -> list[dict]:
    rows = []
    for cell, puzzle_id in requests:
        puzzle = draw_puzzle(cell.N, cell.d, cell.needles, puzzle_id, edition=edition)
        rows.append(puzzle_row(puzzle, cell.ratio_pct))
    return rows


def _batches(items: Iterable, size: int) -> Iterator[list]:
    """Divide a sequence into lists of this size; the last may be shorter."""
    rest = iter(items)
    while batch := list(islice(rest, size)):
        yield batch


def write_parquet(
    path: str | Path, rows: Iterable[dict], metadata: dict[str, str]
) -> None:
    """Write rows of `draw_rows` as a puzzles table, in bounded memory."""
    with table_writer(path, PUZZLES, metadata) as writer:
        for batch in _batches(rows, _BATCH):
            writer.write_table(pa.Table.from_pylist(batch, schema=writer.schema))
