"""Puzzles as rows of a table: redrawn from names, checked against names and texts, kept by name."""

import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pandas as pd
import pyarrow as pa

from cogniload_repro.grid import CELL, PAPER_GRID, ROUNDINGS, count_needles
from cogniload_repro.puzzles.draws import PORT
from cogniload_repro.puzzles.generate import domain_size, draw_puzzle
from cogniload_repro.puzzles.ontology import ontology
from cogniload_repro.puzzles.parse import parse_puzzle
from cogniload_repro.puzzles.puzzle import Puzzle
from cogniload_repro.storage import PUZZLES, open_parquet, table_writer

#: Numbers have no leading zeros, so that a puzzle has only one name.
_NAME = re.compile(
    r"([1-9]\d{0,3})_([1-9]\d?)_([1-9]\d{0,3})_(0|[1-9]\d{0,15})_([\w -]+)", re.ASCII
)
#: Puzzles read at a time.
_ROWS = 500
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


class _Facts(NamedTuple):
    """The configuration of a puzzle, and hashes of its text and of its whole row."""

    N: int
    d: int
    ratio_pct: float
    text: int
    row: int


class KnownPuzzles:
    """The puzzles of a build's table, if there is one, and those that a source adds.

    Of each only the facts are kept, and the rows of the added ones: the texts of the default set
    take 250 MB. ValueError if the file is not a table of puzzles.
    """

    def __init__(self, path: Path | None = None):
        self._path = path
        self._facts: dict[str, _Facts] = {}
        self.added: dict[str, dict] = {}
        for batch in self._read_table():
            for row in batch.to_pylist():
                self._facts[row["name"]] = _find_facts(row)

    def _read_table(self) -> Iterator[pa.RecordBatch]:
        if self._path is None or not self._path.exists():
            return
        with open_parquet(self._path) as file:
            missing = set(PUZZLES.names) - set(file.schema_arrow.names)
            if missing:
                remedy = "run `make download-outputs` again"
                raise ValueError(f"{self._path} is not a puzzles table; {remedy}")
            yield from file.iter_batches(_ROWS, columns=PUZZLES.names)

    def __contains__(self, name: str) -> bool:
        return name in self._facts

    def has_text(self, name: str, text: str) -> bool:
        """Return whether a known puzzle has this text, but for white space around it."""
        return self._facts[name].text == hash(text.strip())

    def add(self, row: dict) -> None:
        """Add a puzzle unless it is known; ValueError if a different one has its name."""
        name = row["name"]
        facts = _find_facts(row)
        if name not in self._facts:
            self._facts[name] = facts
            self.added[name] = row
        elif self._facts[name] != facts:
            cause = "a different puzzle of this name is known"
            raise ValueError(f"{cause}; one of the two has been changed")

    def write(self, path: Path, metadata: Mapping[str, str]) -> None:
        """Write the build's puzzles, then the added ones, as a table."""
        with table_writer(path, PUZZLES, metadata) as writer:
            for batch in self._read_table():
                writer.write_table(pa.Table.from_batches([batch], PUZZLES))
            added = [*self.added.values()]
            writer.write_table(pa.Table.from_pylist(added, PUZZLES))

    def cells(self) -> pd.DataFrame:
        """Return the configuration of each puzzle: columns N, d and ratio_pct, by name."""
        facts = pd.DataFrame.from_dict(self._facts, "index", columns=_Facts._fields)
        return facts[CELL]


def _find_facts(row: Mapping) -> _Facts:
    text = row.get("text") or ""
    cell = (row["N"], row["d"], row["ratio_pct"])
    return _Facts(*cell, text=hash(text.strip()), row=hash(repr(row)))
