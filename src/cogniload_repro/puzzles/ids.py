"""Ids of whole grids: the committed ones of the default set, the chain's, and order-free ones."""

from collections.abc import Iterable, Iterator
from fractions import Fraction
from pathlib import Path

import numpy as np

from cogniload_repro.grid import PAPER_GRID, Cell, check_count
from cogniload_repro.puzzles.editions import PORT, Edition
from cogniload_repro.puzzles.generate import FIRST_ID, LAST_ID
from cogniload_repro.storage import DATA

#: The default set: the paper's grid along the chain, halves rounded up.
SEED = 42
PUZZLES_PER_CELL = 100

#: Its 14,000 ids, one line per cell: N, ratio_pct, d, and the ids in the order of the chain.
MANIFEST = DATA / "puzzle_ids.csv"


def find_manifest(edition: Edition) -> Path:
    """Return the path of the ids of an edition's default set, a file that only the usual orders of keys have."""
    return MANIFEST if edition == PORT else DATA / f"puzzle_ids_{edition}.csv".replace(" ", "_")


SCHEMES = ("chain", "spawn", "default")

_HEADER = "N,ratio_pct,d,puzzle_ids"

#: Keeps these streams apart from other uses of the same seed.
_STREAM = 1


def read_manifest(path: str | Path = MANIFEST) -> dict[Cell, list[int]]:
    """Read the ids of the default set by cell, in the order of the chain."""
    header, *lines = Path(path).read_text(encoding="utf-8").splitlines() or [""]
    if header != _HEADER or len(lines) != len(PAPER_GRID):
        raise ValueError(f"{path}: not a header {_HEADER} and {len(PAPER_GRID)} lines; restore the committed file")
    ids = {}
    for number, (cell, line) in enumerate(zip(PAPER_GRID, lines, strict=True), 2):
        key, _, words = line.rpartition(",")
        numbers = [int(word) if word.isascii() and word.isdigit() else 0 for word in words.split(" ")]
        whole = len(numbers) == PUZZLES_PER_CELL and all(FIRST_ID <= one <= LAST_ID for one in numbers)
        if key != f"{cell.N},{cell.ratio_pct},{cell.d}" or not whole:
            raise ValueError(
                f"{path}: line {number} does not hold {PUZZLES_PER_CELL} six-digit ids of the cell "
                f"{cell.N},{cell.ratio_pct},{cell.d}; restore the committed file"
            )
        ids[cell] = numbers
    return ids


def spawn_ids(cells: Iterable[Cell], puzzles_per_cell: int, seed: int) -> Iterator[int]:
    """Return ids that depend on nothing but the seed, the cell and the place in it.

    For new experiments: adding cells or puzzles leaves all other ids as they are, which the chain does not.
    Each id is 52 bits from a stream of its own (`numpy.random.SeedSequence`), so equal ids within a cell have
    a probability below 1e-11 for 100 puzzles, and programs that keep numbers as doubles keep them whole.
    """
    puzzles_per_cell = check_count("puzzles_per_cell", puzzles_per_cell, 1)
    seed = check_count("seed", seed, 0)
    return (_spawn_id(cell, place, seed) for cell in cells for place in range(puzzles_per_cell))


def _spawn_id(cell: Cell, place: int, seed: int) -> int:
    ratio = Fraction(str(cell.ratio_pct))
    key = (_STREAM, cell.N, ratio.numerator, ratio.denominator, cell.d, place)
    high, low = np.random.SeedSequence(seed, spawn_key=key).generate_state(2)
    return (int(high) << 20) | (int(low) >> 12)


def known_ids(
    cells: Iterable[Cell], puzzles_per_cell: int, seed: int, scheme: str = "chain", edition: Edition = PORT
) -> Iterator[int] | None:
    """Return the ids of a set, cell by cell; None where they are only found by drawing along the edition's chain.

    The chains of the default sets are committed. The scheme ``default`` takes a part of that set: the first ids of some
    of its cells. A chain of its own through a few cells would give other puzzles, and may run into a loop.
    """
    cells, manifest = tuple(cells), find_manifest(edition)
    if scheme == "spawn":
        if edition != PORT:
            raise ValueError(f"edition {edition} has ids up to {LAST_ID:,} only, too few for scheme spawn; take chain")
        return spawn_ids(cells, puzzles_per_cell, seed)
    if scheme == "default":
        known = read_manifest(manifest)
        if seed != SEED or puzzles_per_cell > PUZZLES_PER_CELL or not set(cells) <= set(known):
            raise ValueError(
                f"the default set has seed {SEED}, {PUZZLES_PER_CELL} puzzles per cell and the paper's cells"
            )
        return (one for cell in cells for one in known[cell][:puzzles_per_cell])
    if scheme != "chain":
        raise ValueError(f"scheme is {scheme!r}; choose one of: {', '.join(SCHEMES)}")
    if (cells, puzzles_per_cell, seed) == (PAPER_GRID, PUZZLES_PER_CELL, SEED) and manifest.exists():
        return (one for ids in read_manifest(manifest).values() for one in ids)
    return None
