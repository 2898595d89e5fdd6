"""Ids of whole grids: the committed ones of the default set, the chain's, and order-free ones."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from pathlib import Path

import numpy as np

from cogniload_repro.files import DATA
from cogniload_repro.grid import PAPER_GRID, Cell, check_count
from cogniload_repro.puzzles.draws import PORT, Edition
from cogniload_repro.puzzles.generate import LAST_ID

#: The default set: the paper's grid along the chain, halves rounded up.
SEED = 42
PUZZLES_PER_CELL = 100

#: Its 14,000 ids, one line per cell: N, ratio_pct, d, and the ids in the order of the chain.
MANIFEST = DATA / "puzzle_ids.csv"

#: Keeps these streams apart from other uses of the same seed.
_STREAM = 1


def find_manifest(edition: Edition) -> Path:
    """Return the path of the ids of an edition's default set."""
    return MANIFEST if edition == PORT else DATA / f"puzzle_ids_{edition}.csv"


def read_manifest(path: str | Path = MANIFEST) -> dict[Cell, list[int]]:
    """Read the ids of the default set by cell, in the order of the chain."""
    lines = (
        line.rpartition(",")[2].split()
        for line in Path(path).read_text(encoding="utf-8").splitlines()[1:]
    )
    return {cell: [int(one) for one in ids] for cell, ids in zip(PAPER_GRID, lines, strict=True)}


def spawn_ids(cells: Iterable[Cell], puzzles_per_cell: int, seed: int) -> Iterator[int]:
    """Yield ids that depend on nothing but the seed, the cell and the place in it.

    For new experiments: adding cells or puzzles leaves all other ids as they are, which the chain does not.
    Each id is 52 bits from a stream of its own (`numpy.random.SeedSequence`), so equal ids within a cell have
    a probability below 1e-11 for 100 puzzles, and programs that keep numbers as doubles keep them whole.
    """
    for cell in cells:
        ratio = Fraction(str(cell.ratio_pct))
        for place in range(puzzles_per_cell):
            key = (_STREAM, cell.N, ratio.numerator, ratio.denominator, cell.d, place)
            high, low = np.random.SeedSequence(seed, spawn_key=key).generate_state(2)
            yield (int(high) << 20) | (int(low) >> 12)


@dataclass(frozen=True)
class PuzzleSet:
    """The puzzles of a set: so many of each cell, drawn by an edition from ids that come from a scheme.

    The scheme ``chain`` draws each id from the state that the puzzle before left; ``spawn`` takes `spawn_ids`;
    ``default`` the first ids of some cells of the edition's default set, which are committed.
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
            reason = f"has ids up to {LAST_ID:,} only, too few for scheme spawn; take chain"
            raise ValueError(f"edition {self.edition} {reason}")
        if self.scheme == "default" and not self.is_default:
            raise ValueError(
                f"the default set has seed {SEED}, {PUZZLES_PER_CELL} puzzles per cell and the paper's cells"
            )

    def __len__(self) -> int:
        return len(self.cells) * self.puzzles_per_cell

    @property
    def is_default(self) -> bool:
        """Whether these are cells, and at most as many puzzles of each, as the default set has."""
        return (
            self.seed == SEED
            and self.puzzles_per_cell <= PUZZLES_PER_CELL
            and set(self.cells) <= set(PAPER_GRID)
        )

    @property
    def rounding(self) -> str:
        """How the needles of the cells are rounded."""
        return " ".join(sorted({cell.rounding for cell in self.cells}))

    def ids(self) -> Iterator[int] | None:
        """Return the ids, cell by cell; None where they are only found by drawing along the edition's chain."""
        if self.scheme == "spawn":
            return spawn_ids(self.cells, self.puzzles_per_cell, self.seed)
        whole = (self.cells, self.puzzles_per_cell, self.seed) == (
            PAPER_GRID,
            PUZZLES_PER_CELL,
            SEED,
        )
        if self.scheme == "chain" and not whole:
            return None
        known = read_manifest(find_manifest(self.edition))
        return (one for cell in self.cells for one in known[cell][: self.puzzles_per_cell])


def choose_set(
    cells: Iterable[Cell], puzzles_per_cell: int, seed: int, edition: Edition, otherwise: str
) -> PuzzleSet:
    """Return the first puzzles of these cells of the paper's set; with other cells, numbers or seeds another scheme's.

    So every way to ask a model about ``n`` puzzles per cell asks about the same ones.
    """
    chosen = PuzzleSet(tuple(cells), puzzles_per_cell, seed, "chain", edition)
    return replace(chosen, scheme="default" if chosen.is_default else otherwise)
