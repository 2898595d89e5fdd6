"""Ids of whole grids: the committed ones of the default set, the chain's, and order-free ones."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from itertools import chain, repeat

import numpy as np

from cogniload_repro.files import DATA
from cogniload_repro.grid import PAPER_GRID, Cell, check_count
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
    """Yield ids that depend on nothing but the seed, the cell and the place in it.

    They are for new experiments: adding cells or puzzles leaves all other ids as they are, which
    the chain does not. Each id is 52 bits from a stream of its own (`numpy.random.SeedSequence`),
    so that equal ids within a cell have a probability below 1e-11 for 100 puzzles, and programs
    that keep numbers as doubles keep them whole.
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
    """The puzzles of a set: so many of each cell, drawn by an edition from ids of a scheme.

    The scheme ``chain`` draws each id from the state that the puzzle before left; ``spawn`` takes
    `spawn_ids`; ``default`` takes the first ids of some cells of the edition's default set, which
    are committed.
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
                f"has ids up to {LAST_ID:,} only, too few for scheme spawn; take chain"
            )
            raise ValueError(f"edition {self.edition} {reason}")
        if self.scheme == "default" and not self.is_default:
            size = f"{PUZZLES_PER_CELL} puzzles per cell and the paper's cells"
            raise ValueError(f"the default set has seed {SEED}, {size}")

    def __len__(self) -> int:
        return len(self.cells) * self.puzzles_per_cell

    @property
    def is_default(self) -> bool:
        """Whether the default set has these cells, and at least as many puzzles of each."""
        has_cells = set(self.cells) <= set(PAPER_GRID)
        has_puzzles = self.puzzles_per_cell <= PUZZLES_PER_CELL
        return has_cells and has_puzzles and self.seed == SEED

    @property
    def rounding(self) -> str:
        """How the needles of the cells are rounded."""
        return " ".join(sorted({cell.rounding for cell in self.cells}))

    def cell_of_each(self) -> Iterator[Cell]:
        """Yield the cell of every puzzle."""
        for cell in self.cells:
            yield from repeat(cell, self.puzzles_per_cell)

    def ids(self) -> Iterator[int] | None:
        """Return the ids, cell by cell; None along the chain, where each follows from a puzzle."""
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
    """Return the first puzzles of these cells of the edition's default set, where it has them.

    Other cells, numbers or seeds take the scheme ``otherwise``. So every way to ask a model about n
    puzzles per cell asks about the same ones.
    """
    puzzles = PuzzleSet(tuple(cells), puzzles_per_cell, seed, "chain", edition)
    scheme = "default" if puzzles.is_default else otherwise
    return replace(puzzles, scheme=scheme)
