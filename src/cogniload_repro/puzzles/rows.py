"""Puzzles as rows of a table: redrawn from names, checked against names and texts, kept by name."""

import re
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from cogniload_repro.grid import PAPER_GRID, ROUNDINGS, count_needles
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
        raise ValueError(
            f"{name!r:.100} is no name of a puzzle, such as 20_1_1_770487_red"
        )
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
            f"the puzzle drawn from this id has the solution {puzzle.solution!r}; check the name,"
            " or choose the other edition"
        )
    return puzzle


def draw_named(name: str, edition: str = PORT) -> dict:
    """Return the row of the puzzle that `redraw` draws."""
    return puzzle_row(redraw(name, edition))


def check_row(row: Mapping) -> dict:
    """Return the row of a puzzle from its name, text and domain; ValueError if they contradict.

    Other columns follow from these three and are not read.
    """
    name = str(row.get("name"))
    text = row.get("text")
    domain = row.get("domain")
    parts = split_name(name)
    if not isinstance(text, str) or not isinstance(domain, list):
        raise ValueError("the puzzle lacks its text, or a list of values as domain")
    text.encode("utf-8")  # half an emoji cannot be stored
    puzzle = parse_puzzle(text, parts.puzzle_id)
    if puzzle.name != name:
        raise ValueError(f"the text is that of a puzzle {puzzle.name}")
    _check_domain(domain, puzzle)
    return puzzle_row(puzzle) | {"text": text, "domain": domain}


def _check_domain(domain: list, puzzle: Puzzle) -> None:
    """Compare a domain with the values in the text and in the ontology."""
    category = puzzle.category
    in_text = puzzle.domains[category]
    known = [value for value in ontology().values[category] if value in domain]
    size = max(domain_size(category, puzzle.d), len(in_text))
    if not set(in_text) <= set(known) or not len(known) == len(domain) == size:
        values = f"{size} different values of {category} that include those in the text"
        raise ValueError(f"the domain {domain!r:.80} is not a list of {values}")


def read_batches(
    path: str | Path, columns: Sequence[str] = PUZZLES.names
) -> Iterator[pa.RecordBatch]:
    """Yield the given columns of a puzzles table in order, a few hundred puzzles at a time."""
    with open_parquet(path) as file:
        yield from file.iter_batches(_ROWS, columns=[*columns])


class KnownPuzzles:
    """The puzzles of a build's table, if there is one, and those that a source adds.

    Of each only a hash of its text is kept, and the rows of the added ones: the texts of the
    default set take 250 MB.
    """

    def __init__(self, path: Path | None = None):
        self._path = path
        self._hashes: dict[str, int] = {}
        self.added: dict[str, dict] = {}
        for batch in self._read_table():
            for row in batch.to_pylist():
                self._hashes[row["name"]] = hash(row["text"].strip())

    def _read_table(self) -> Iterator[pa.RecordBatch]:
        if self._path is not None and self._path.exists():
            yield from read_batches(self._path)

    def __contains__(self, name: str) -> bool:
        return name in self._hashes

    def has_text(self, name: str, text: str) -> bool:
        """Return whether a known puzzle has this text, but for white space around it."""
        return self._hashes[name] == hash(text.strip())

    def add(self, row: dict) -> None:
        """Add a puzzle unless it is known; ValueError if a different one has its name."""
        name = row["name"]
        if name not in self._hashes:
            self._hashes[name] = hash(row["text"].strip())
            self.added[name] = row
        elif not self.has_text(name, row["text"]):
            cause = "a different puzzle of this name is known"
            raise ValueError(f"{cause}; one of the two has been changed")

    def write(self, path: Path, metadata: Mapping[str, str]) -> None:
        """Write the build's puzzles, then the added ones, as a table."""
        with table_writer(path, PUZZLES, metadata) as writer:
            for batch in self._read_table():
                writer.write_table(pa.Table.from_batches([batch], PUZZLES))
            added = [*self.added.values()]
            writer.write_table(pa.Table.from_pylist(added, PUZZLES))
