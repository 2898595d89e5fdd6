"""Puzzles by name: drawn ones, those that a source brings, those of which only the name is known, and their edition."""

import math
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from functools import lru_cache
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
import pyarrow.parquet as pq

from cogniload_repro.grid import PAPER_GRID, ROUNDINGS, count_needles
from cogniload_repro.puzzles.draws import EDITIONS, PORT, Edition
from cogniload_repro.puzzles.generate import domain_size, draw_puzzle
from cogniload_repro.puzzles.ontology import ontology
from cogniload_repro.puzzles.puzzle import Puzzle, parse_puzzle
from cogniload_repro.schemas import PUZZLES

#: A puzzle of which only the name is known is drawn again up to this length, ten times the paper's longest.
MAX_NAMED_STATEMENTS = 2_500

#: So many puzzles are drawn again under editions that may not be theirs.
SAMPLE = 1_400

# numbers are written in one way only, so that a puzzle has one name; up to a million statements, as in `grid`
_NAME = re.compile(
    r"([1-9]\d{0,5}|1000000)_([1-9]\d?)_([1-9]\d{0,5}|1000000)_(0|[1-9]\d{0,15})_([\w -]+)",
    re.ASCII,
)
_NOMINAL_RATIOS = tuple(dict.fromkeys(cell.ratio_pct for cell in PAPER_GRID))


class PuzzleName(NamedTuple):
    """The parts of a puzzle's name."""

    N: int
    d: int
    needles: int
    puzzle_id: int
    gold: str


def parse_name(name: str) -> PuzzleName | None:
    """Split ``N_d_needles_puzzleId_gold`` into its parts (Algorithm 1); None if it is no such name."""
    match = _NAME.fullmatch(name)
    if not match:
        return None
    N, d, needles, puzzle_id = map(int, match.groups()[:4])
    return PuzzleName(N, d, needles, puzzle_id, match[5])


def split_name(name: str) -> PuzzleName:
    """Return the parts of a name, or raise ValueError if it is none."""
    if (parts := parse_name(name)) is None:
        raise ValueError("the name is not of the form N_d_needles_puzzleId_gold")
    return parts


@lru_cache(4096)
def nominal_ratio(N: int, needles: int) -> float:
    """Return the paper's ratio (%) that gives this many needles, under one of the roundings; or the actual one."""
    for rounding in ROUNDINGS:
        for ratio_pct in _NOMINAL_RATIOS:
            if count_needles(N, ratio_pct, rounding) == needles:
                return float(ratio_pct)
    return 100 * needles / N


def puzzle_row(puzzle: Puzzle, ratio_pct: float | None = None) -> dict:
    """Return a drawn puzzle as a row of the puzzles table; without a ratio, the nominal one that fits."""
    return {
        "name": puzzle.name,
        "N": puzzle.N,
        "d": puzzle.d,
        "ratio_pct": nominal_ratio(puzzle.N, puzzle.needles)
        if ratio_pct is None
        else float(ratio_pct),
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
    """Draw again the puzzle of this name under an edition; a long one only if it has a text that may be as long."""
    parts = split_name(name)
    if parts.N > MAX_NAMED_STATEMENTS and len(text or "") < 20 * parts.N:
        longest = f"puzzles of more than {MAX_NAMED_STATEMENTS:,} statements"
        raise ValueError(f"{longest} are not drawn from their names; add puzzles.jsonl")
    puzzle = draw_puzzle(*parts[:4], edition=edition)
    if puzzle.solution != parts.gold:
        raise ValueError(f"the puzzle drawn from this id has the solution {puzzle.solution!r}")
    return puzzle


def draw_named(name: str, edition: Edition = PORT, text: str | None = None) -> dict:
    """Return the row of the puzzle that `redraw` draws."""
    return puzzle_row(redraw(name, edition, text))


def check_row(row: Mapping) -> dict:
    """Return a puzzle's columns, those filled in that follow from its name, if they agree with it and with the text."""
    parts = split_name(str(row.get("name")))
    named = {
        **parts._asdict(),
        "ratio_pct": nominal_ratio(parts.N, parts.needles),
        "rho": parts.needles / parts.N,
    }
    row = {**named, **{key: value for key, value in row.items() if value is not None}}
    if missing := [name for name in PUZZLES.names if name not in row]:
        raise ValueError(f"the puzzle lacks {', '.join(missing)}")
    try:
        checked = pa.RecordBatch.from_pylist([{name: row[name] for name in PUZZLES.names}], PUZZLES)
    except (pa.ArrowInvalid, pa.ArrowTypeError, UnicodeError) as error:
        raise ValueError(f"the puzzle has a column of another type: {error}") from None
    (puzzle,) = checked.to_pylist()
    if contradictions := list(_find_contradictions(parse_puzzle(puzzle["text"]), puzzle)):
        raise ValueError("; ".join(contradictions))
    return puzzle


def _find_contradictions(puzzle: Puzzle, row: Mapping) -> Iterator[str]:
    """Yield where a whole row differs from its name or from the puzzle read from its text."""
    for key, value in split_name(row["name"])._asdict().items():
        if row[key] != value:
            yield f"the row says {key} {row[key]!r}, its name {value!r}"
    for column in ("gold", "N", "d", "needles", "poi", "category", "rho"):
        value = getattr(puzzle, "solution" if column == "gold" else column)
        if row[column] != value:
            yield f"{column} is {value!r} by the text, {row[column]!r} by the row"
    ratio, N = row["ratio_pct"], puzzle.N
    if not (
        math.isfinite(ratio)
        and puzzle.needles in [count_needles(N, ratio, rounding) for rounding in ROUNDINGS]
    ):
        yield f"ratio_pct {ratio!r} does not give {puzzle.needles} needles of {N} statements"
    domain, found, size = (
        row["domain"],
        puzzle.domains[puzzle.category],
        domain_size(puzzle.category, puzzle.d),
    )
    if not {*found} <= set(domain) <= {*ontology().values[puzzle.category]}:
        yield f"the domain {domain!r:.80} is not a list of values of {puzzle.category} that has those of the text"
    elif len(domain) != max(size, len(found)) or len(set(domain)) < len(domain):
        yield f"the domain has {len(domain)} values, a puzzle of difficulty {puzzle.d} has {size} different ones"


class Catalog:
    """Puzzles by name: those of a table, to which others are added.

    ``draw`` returns the row of a puzzle of which only the name is known. Answers to puzzles that a
    ``closed`` catalog does not have are left out.
    """

    def __init__(self, table: pa.Table | None = None):
        self.draw: Callable[[str], dict] = draw_named
        self.closed = False
        table = PUZZLES.empty_table() if table is None else table
        self._table = table.select(PUZZLES.names).cast(PUZZLES)
        self._places = {
            name: place for place, name in enumerate(self._table.column("name").to_pylist())
        }
        self._added: list[dict] = []
        self._unknown: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._table) + len(self._added)

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def add(self, row: dict) -> None:
        """Add a puzzle; the same one may come twice."""
        known = self._places.setdefault(row["name"], len(self))
        if known == len(self):
            self._added.append(row)
        elif self._row(known) != row:
            raise ValueError(
                "another puzzle of this name is known; one of the two has been changed"
            )

    def place(self, name: str) -> int:
        """Return the number of a puzzle; one that is not known is drawn again from its name."""
        if name in self._unknown:
            raise ValueError(self._unknown[name])
        if name not in self._places:
            try:
                self.add(self.draw(name))
            except ValueError as error:
                self._unknown[name] = str(error)
                raise
        return self._places[name]

    def text(self, place: int) -> str:
        """Return the text of the puzzle of this number."""
        return self._row(place)["text"]

    def table(self) -> pa.Table:
        """Return all puzzles, those of the first table first."""
        return pa.concat_tables([self._table, pa.Table.from_pylist(self._added, PUZZLES)])

    def _row(self, place: int) -> dict:
        if place >= len(self._table):
            return self._added[place - len(self._table)]
        return self._table.slice(place, 1).to_pylist()[0]


def read_catalog(path: str | Path) -> Catalog:
    """Read the puzzles of a table."""
    try:
        return Catalog(pq.read_table(path))
    except (pa.ArrowInvalid, KeyError) as error:
        raise ValueError(
            f"{path} is not a puzzles table ({error}); run `make download-outputs` again"
        ) from None


class EditionMatch(NamedTuple):
    """How well an edition fits: of so many puzzles that some edition draws, it draws so many."""

    edition: Edition
    fitting: int
    tried: int

    def __str__(self) -> str:
        return f"{self.edition}: {self.fitting:,} of {self.tried:,}"


def find_edition(
    names: Iterable[str], texts: Mapping[str, str] | None = None
) -> list[EditionMatch]:
    """Draw puzzles again under one edition after the other, until one fits all; return the fits, the best first.

    Names that no edition draws are left out, and of more than 1,400 an even part is drawn. A puzzle whose text, or the
    prompt around it, is in ``texts`` fits only if the drawn text is in it; by name alone, some fit by chance.
    """
    names, texts = [name for name in sorted(set(names)) if parse_name(name)], texts or {}
    names = names[:: max(1, -(-len(names) // SAMPLE))]
    drawn: dict[Edition, set[str]] = {}
    for edition in EDITIONS:
        drawn[edition] = {name for name in names if is_drawn_by(edition, name, texts.get(name))}
        if len(drawn[edition]) == len(names):
            break
    tried = len(set().union(*drawn.values()))
    fits = [EditionMatch(edition, len(own), tried) for edition, own in drawn.items()]
    return sorted(fits, key=lambda fit: -fit.fitting) if tried else []


def is_drawn_by(edition: Edition, name: str, text: str | None = None) -> bool:
    """Return whether an edition draws this puzzle from its name: its solution, and its text if one is given."""
    try:
        puzzle = redraw(name, edition, text)
    except ValueError:
        return False
    return text is None or puzzle.text.strip() in text


def describe_fits(fits: list[EditionMatch]) -> str:
    """Return in one line how well editions fit, the best first; nothing where nothing was tried."""
    if not fits:
        return ""
    start = (
        "names fit edition" if fits[0].fitting == fits[0].tried else "no edition fits all names,"
    )
    return f"{start} {'; '.join(map(str, fits))}"


def choose_edition(fits: list[EditionMatch]) -> Edition:
    """Return the edition that fits everything, or else the only one that fits most; without any name the port."""
    if not fits:
        return PORT
    most = sum(2 * fit.fitting >= fit.tried for fit in fits)
    if fits[0].fitting < fits[0].tried and most != 1:
        raise ValueError(f"{describe_fits(fits)}: give the edition with --edition")
    return fits[0].edition
