"""Puzzles as rows of a table: redrawn from names, checked against names and texts, kept by name."""

import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from cogniload_repro.grid import CELL, PAPER_GRID, ROUNDINGS, count_needles
from cogniload_repro.puzzles.draws import PORT
from cogniload_repro.puzzles.generate import domain_size, draw_puzzle
from cogniload_repro.puzzles.ontology import ontology
from cogniload_repro.puzzles.parse import parse_puzzle
from cogniload_repro.puzzles.puzzle import Puzzle
from cogniload_repro.storage import PUZZLES

#: Numbers have no leading zeros, so that a puzzle has only one name.
_NAME = re.compile(
    r"([1-9]\d{0,3})_([1-9]\d?)_([1-9]\d{0,3})_(0|[1-9]\d{0,15})_([\w -]+)", re.ASCII
)
# columns that a row must have besides its name
_STATED = ("text", "poi", "category", "domain")
_NOMINAL_RATIOS = sorted({cell.ratio_pct for cell in PAPER_GRID})


class PuzzleName(NamedTuple):
    """The parts of a puzzle's name."""

    N: int
    d: int
    needles: int
    puzzle_id: int
    gold: str


def parse_name(name: str) -> PuzzleName | None:
    """Split ``N_d_needles_puzzleId_gold`` into its parts (Algorithm 1); None for any other text."""
    match = _NAME.fullmatch(name)
    if not match:
        return None
    *numbers, gold = match.groups()
    N, d, needles, puzzle_id = map(int, numbers)
    return PuzzleName(N, d, needles, puzzle_id, gold)


def split_name(name: str) -> PuzzleName:
    """Return the parts of a puzzle's name; ValueError if it has another form."""
    parts = parse_name(name)
    if parts is None:
        raise ValueError("the name is not of the form N_d_needles_puzzleId_gold")
    return parts


@lru_cache(4096)
def nominal_ratio(N: int, needles: int) -> float:
    """Return the paper's ratio (%) that gives this many needles, or else the actual ratio (%).

    Both rules for rounding the number of needles are tried.
    """
    for rounding in ROUNDINGS:
        for ratio_pct in _NOMINAL_RATIOS:
            if count_needles(N, ratio_pct, rounding) == needles:
                return float(ratio_pct)
    return 100 * needles / N


def puzzle_row(puzzle: Puzzle, ratio_pct: float | None = None) -> dict:
    """Return a drawn puzzle as a row of the puzzles table.

    Without a ratio (%), the row has the `nominal_ratio`.
    """
    if ratio_pct is None:
        ratio_pct = nominal_ratio(puzzle.N, puzzle.needles)
    return {
        "name": puzzle.name,
        "N": puzzle.N,
        "d": puzzle.d,
        "ratio_pct": float(ratio_pct),
        "needles": puzzle.needles,
        "rho": puzzle.rho,
        "puzzle_id": puzzle.puzzle_id,
        "text": puzzle.text,
        "poi": puzzle.poi,
        "category": puzzle.category,
        "gold": puzzle.solution,
        "domain": puzzle.domains[puzzle.category],
    }


def redraw(name: str, edition: str = PORT) -> Puzzle:
    """Redraw the puzzle of this name with an edition; ValueError if its solution is another."""
    N, d, needles, puzzle_id, gold = split_name(name)
    puzzle = draw_puzzle(N, d, needles, puzzle_id, edition=edition)
    if puzzle.solution != gold:
        raise ValueError(
            f"the puzzle drawn from this id has the solution {puzzle.solution!r}"
        )
    return puzzle


def draw_named(name: str, edition: str = PORT) -> dict:
    """Return the row of the puzzle that `redraw` draws."""
    return puzzle_row(redraw(name, edition))


def check_row(row: Mapping) -> dict:
    """Return a puzzle's complete row; ValueError lists where it contradicts its name or text.

    Columns that follow from these two may be absent from ``row``, and are filled in.
    """
    parts = split_name(str(row.get("name")))
    columns = {name: row.get(name) for name in PUZZLES.names}
    missing = [name for name in _STATED if columns[name] is None]
    if missing:
        raise ValueError(f"the puzzle lacks {', '.join(missing)}")
    try:
        (typed_row,) = pa.RecordBatch.from_pylist([columns], PUZZLES).to_pylist()
    except (pa.ArrowException, OverflowError, UnicodeError) as error:
        raise ValueError(f"a column of the puzzle has a wrong type: {error}") from None
    puzzle = parse_puzzle(typed_row["text"], parts.puzzle_id)
    expected = puzzle_row(puzzle, typed_row["ratio_pct"])
    expected |= {"text": typed_row["text"], "domain": typed_row["domain"]}
    contradictions = []
    for name, value in expected.items():
        if typed_row[name] not in (None, value):
            contradiction = (
                f"{name} is {value!r} in name or text, {typed_row[name]!r} in the row"
            )
            contradictions.append(contradiction)
    contradictions += [
        *_compare_ratio(expected["ratio_pct"], puzzle),
        *_compare_domain(expected["domain"], puzzle),
    ]
    if contradictions:
        raise ValueError("; ".join(contradictions))
    return expected


def _compare_ratio(ratio: float, puzzle: Puzzle) -> Iterator[str]:
    needles: list[int] = []
    if math.isfinite(ratio):
        needles = [count_needles(puzzle.N, ratio, rounding) for rounding in ROUNDINGS]
    if puzzle.needles not in needles:
        yield f"ratio_pct {ratio!r} does not give {puzzle.needles} needles in {puzzle.N} statements"


def _compare_domain(domain: list[str], puzzle: Puzzle) -> Iterator[str]:
    """Compare the row's domain with the values in the text and in the ontology."""
    category = puzzle.category
    in_text = set(puzzle.domains[category])
    size = max(domain_size(category, puzzle.d), len(in_text))
    has_values = in_text <= set(domain) <= set(ontology().values[category])
    if not has_values or not len(domain) == len(set(domain)) == size:
        expected = (
            f"{size} different values of {category} that include those in the text"
        )
        yield f"the domain {domain!r:.80} is not a list of {expected}"


class KnownPuzzles:
    """The puzzles of a build and those that a source adds, by name.

    Those of the build stay a table of columns, which takes a fifth of the memory of rows.
    """

    def __init__(self, table: pa.Table | None = None):
        self.table = PUZZLES.empty_table() if table is None else table
        names = self.table["name"].to_pylist()
        self._places = {name: place for place, name in enumerate(names)}
        self.added: dict[str, dict] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._places or name in self.added

    def find(self, name: str) -> dict | None:
        """Return the row of a puzzle, None if it is unknown."""
        if name not in self._places:
            return self.added.get(name)
        (row,) = self.table.slice(self._places[name], 1).to_pylist()
        return row

    def add(self, row: dict) -> None:
        """Add a puzzle unless it is known; ValueError if a different one has its name."""
        known = self.find(row["name"])
        if known is None:
            self.added[row["name"]] = row
        elif known != row:
            cause = "a different puzzle of this name is known"
            raise ValueError(f"{cause}; one of the two has been changed")

    def to_table(self) -> pa.Table:
        """Return the puzzles as a table: those of the build, then the added ones."""
        added = pa.Table.from_pylist([*self.added.values()], PUZZLES)
        return pa.concat_tables([self.table, added])

    def cells(self) -> pd.DataFrame:
        """Return the configuration of each puzzle: columns N, d and ratio_pct, by name."""
        columns = self.to_table().select(["name", *CELL])
        return columns.to_pandas().set_index("name")


def read_known(path: str | Path) -> KnownPuzzles:
    """Read the puzzles of a build, if there are any; ValueError if the file is no such table."""
    if not Path(path).exists():
        return KnownPuzzles()
    try:
        table = pq.read_table(path).select(PUZZLES.names).cast(PUZZLES)
    except (pa.ArrowException, OSError, KeyError) as error:
        remedy = "run `make download-outputs` again"
        raise ValueError(f"{path} is not a puzzles table ({error}); {remedy}") from None
    return KnownPuzzles(table)
