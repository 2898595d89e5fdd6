"""Puzzles as rows of a table, by name: redrawn from names, checked against names and texts."""

import math
import re
from collections.abc import Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from cogniload_repro.grid import PAPER_GRID, ROUNDINGS, count_needles
from cogniload_repro.puzzles.draws import PORT, Edition
from cogniload_repro.puzzles.generate import domain_size, draw_puzzle
from cogniload_repro.puzzles.ontology import ontology
from cogniload_repro.puzzles.parse import parse_puzzle
from cogniload_repro.puzzles.puzzle import Puzzle
from cogniload_repro.storage import PUZZLES

#: Longest puzzle (statements) that is redrawn from its name alone: ten times the paper's longest.
MAX_NAMED_STATEMENTS = 2_500

#: Rows of puzzles by name, in the order of the table.
Catalog = dict[str, dict]

#: Numbers have no leading zeros, so that a puzzle has only one name; up to a million statements, as
#: in `grid`.
_NAME = re.compile(
    r"([1-9]\d{0,5}|1000000)_([1-9]\d?)_([1-9]\d{0,5}|1000000)_(0|[1-9]\d{0,15})_([\w -]+)",
    re.ASCII,
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


def redraw(name: str, edition: Edition = PORT, text: str | None = None) -> Puzzle:
    """Redraw the puzzle of this name with an edition; ValueError if its solution is another.

    A puzzle of more than `MAX_NAMED_STATEMENTS` is drawn only if ``text`` is long enough for it.
    """
    parts = split_name(name)
    if parts.N > MAX_NAMED_STATEMENTS and len(text or "") < 20 * parts.N:
        longest = f"puzzles of more than {MAX_NAMED_STATEMENTS:,} statements"
        raise ValueError(f"{longest} are not drawn from their names; add puzzles.jsonl")
    puzzle = draw_puzzle(*parts[:4], edition=edition)
    if puzzle.solution != parts.gold:
        raise ValueError(
            f"the puzzle drawn from this id has the solution {puzzle.solution!r}"
        )
    return puzzle


def draw_named(name: str, edition: Edition = PORT, text: str | None = None) -> dict:
    """Return the row of the puzzle that `redraw` draws."""
    return puzzle_row(redraw(name, edition, text))


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


def add_puzzle(catalog: Catalog, row: dict) -> None:
    """Add a puzzle unless it is there already; ValueError if a different one has its name."""
    if catalog.setdefault(row["name"], row) != row:
        cause = "a different puzzle of this name is known"
        raise ValueError(f"{cause}; one of the two has been changed")


def read_catalog(path: str | Path) -> Catalog:
    """Read a catalog from a puzzles table (Parquet); ValueError if it is not one."""
    try:
        table = pq.read_table(path).select(PUZZLES.names).cast(PUZZLES)
    except (pa.ArrowException, OSError, KeyError) as error:
        remedy = "run `make download-outputs` again"
        raise ValueError(f"{path} is not a puzzles table ({error}); {remedy}") from None
    return {row["name"]: row for row in table.to_pylist()}
