"""Puzzle ids of whole grids: committed, drawn along the chain, or independent of order."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, repeat

import numpy as np

from cogniload_repro.grid import PAPER_GRID, Cell, check_count
from cogniload_repro.paths import DATA
from cogniload_repro.puzzles.draws import PORT, Edition
from cogniload_repro.puzzles.generate import LAST_ID

#: The default set: the paper's grid along the chain, halves rounded up.
SEED = 42
PUZZLES_PER_CELL = 100

#: Keeps these streams apart from other uses of the same seed.
_STREAM = 1


def read_manifest(edition: Edition = PORT) -> dict[Cell, list[int]]:
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


def spawn_ids(cells: Iterable[Cell], puzzles_per_cell: int, seed: int) -> Iterator[int]:
    """Yield ids that depend only on the seed, the cell and the puzzle's index in the cell.

    They suit new experiments: unlike in the chain, adding cells or puzzles changes no other id.
    Each id has 52 bits from a stream of its own (`numpy.random.SeedSequence`). The probability
    that two of 100 puzzles in a cell share an id is below 1e-11, and a double holds an id exactly.
    """
    for cell in cells:
        ratio = Fraction(str(cell.ratio_pct))
        for place in range(puzzles_per_cell):
            key = (_STREAM, cell.N, ratio.numerator, ratio.denominator, cell.d, place)
            stream = np.random.SeedSequence(seed, spawn_key=key)
            high, low = stream.generate_state(2)
            yield (int(high) << 20) | (int(low) >> 12)


@dataclass(frozen=True)
class PuzzleSet:
    """A set of puzzles: a number of puzzles per cell, the scheme of their ids, and an edition.

    The scheme ``chain`` draws each id from the random state that the previous puzzle left;
    ``spawn`` uses `spawn_ids`; ``default`` uses the first ids of each cell in the edition's
    default set, which are committed.
    """

    cells: tuple[Cell, ...]
    puzzles_per_cell: int = PUZZLES_PER_CELL
    seed: int = SEED
    scheme: str = "chain"
    edition: Edition = PORT

    def __post_init__(self) -> None:
        object.__setattr__(self, "cells", tuple(self.cells))
        check_count("puzzles_per_cell", self.puzzles_per_cell, 1)
        check_count("seed", self.seed, 0)
        if self.scheme == "spawn" and self.edition != PORT:
            reason = (
                f"has ids up to {LAST_ID:,} only, too few for scheme spawn; use chain"
            )
            raise ValueError(f"edition {self.edition} {reason}")
        if self.scheme == "default" and not self.is_default:
            size = f"up to {PUZZLES_PER_CELL} puzzles per cell and the paper's cells"
            remedy = "use scheme chain or spawn for other sets"
            raise ValueError(f"the default set has seed {SEED}, {size}; {remedy}")

    def __len__(self) -> int:
        return len(self.cells) * self.puzzles_per_cell

    @property
    def is_default(self) -> bool:
        """Whether the default set contains these puzzles: its seed, its cells, no more per cell."""
        has_cells = set(self.cells) <= set(PAPER_GRID)
        has_puzzles = self.puzzles_per_cell <= PUZZLES_PER_CELL
        return has_cells and has_puzzles and self.seed == SEED

    @property
    def rounding(self) -> str:
        """The rounding rules of the cells, separated by spaces."""
        return " ".join(sorted({cell.rounding for cell in self.cells}))

    def cell_of_each(self) -> Iterator[Cell]:
        """Yield the cell of every puzzle."""
        for cell in self.cells:
            yield from repeat(cell, self.puzzles_per_cell)

    def ids(self) -> Iterator[int] | None:
        """Return the ids, cell by cell; None if they must be drawn along the edition's chain."""
        if self.scheme == "spawn":
            return spawn_ids(self.cells, self.puzzles_per_cell, self.seed)
        if self.scheme == "chain":
            return None
        manifest = read_manifest(self.edition)
        first_ids = (manifest[cell][: self.puzzles_per_cell] for cell in self.cells)
        return chain.from_iterable(first_ids)


def choose_set(
    cells: Iterable[Cell],
    puzzles_per_cell: int,
    seed: int,
    edition: Edition,
    otherwise: str,
) -> PuzzleSet:
    """Return a set with the ids of the edition's default set, if that contains all its puzzles.

    Any other set has the scheme ``otherwise``. Every way of asking a model n puzzles per cell thus
    uses the same puzzles.
    """
    puzzles = PuzzleSet(tuple(cells), puzzles_per_cell, seed, "chain", edition)
    scheme = "default" if puzzles.is_default else otherwise
    return replace(puzzles, scheme=scheme)
