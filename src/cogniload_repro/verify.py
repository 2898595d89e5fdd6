"""Check sets of puzzles: every puzzle is solved again from its text, and drawn again where it has an id."""

import json
from collections.abc import Iterator, Mapping
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from cogniload_repro.catalog import parse_name
from cogniload_repro.generate import draw_puzzle
from cogniload_repro.parquet import open_parquet
from cogniload_repro.puzzle import INSTRUCTION, AmbiguousPuzzleError, Puzzle, parse_puzzle

VERDICTS = ("right", "mismatch", "ambiguous", "unparsable")


class Verdict(NamedTuple):
    """What was found about one puzzle.

    Attributes
    ----------
    name : str
        The puzzle's name, or where it stands when it has none.
    verdict : {"right", "mismatch", "ambiguous", "unparsable"}
        mismatch: the text contradicts what is stated about it; ambiguous: it determines no answer.
    detail : str
        One sentence, empty for a puzzle that is right.
    """

    name: str
    verdict: str
    detail: str


def verify_puzzle(row: Mapping, *, redraw: bool = True) -> Verdict:
    """Solve a puzzle from its text and compare it with everything that its row states.

    Parameters
    ----------
    row : mapping
        Columns of the puzzles table. ``text`` is needed, and ``gold`` or a ``name`` that ends in it; the others
        are compared where they are present.
    redraw : bool
        Also draw the puzzle again from its name and compare the texts, which finds any change at all. Turn it
        off for puzzles of another generator.
    """
    name = str(row.get("name") or "")
    stated = _stated(row, name)
    text, gold = row.get("text"), stated.get("gold")
    if not isinstance(text, str) or gold is None:
        return Verdict(name, "unparsable", "the row lacks the text or the gold value")
    try:
        puzzle = parse_puzzle(text)
    except AmbiguousPuzzleError as error:
        return Verdict(name, "ambiguous", str(error))
    except ValueError as error:
        return Verdict(name, "unparsable", str(error))
    differences = [*_differences(puzzle, stated), *_irregularities(puzzle)]
    if redraw and not differences and stated.get("puzzle_id") is not None:
        differences += _redrawn(text, stated)
    return Verdict(name, "mismatch" if differences else "right", "; ".join(differences))


def verify_set(source: str | Path, *, redraw: bool = True) -> Iterator[Verdict]:
    """Verify every puzzle of a set, in its order; see `verify_puzzle`.

    Parameters
    ----------
    source : path
        A Parquet or JSONL file of puzzles, a folder with ``puzzles.parquet`` or ``puzzles.jsonl``, or a
        folder in the authors' layout.

    Raises
    ------
    ValueError
        If nothing of the kind is there.
    """
    for row in read_set(source):
        yield verify_puzzle(row, redraw=redraw)


def read_set(source: str | Path) -> Iterator[dict]:
    """Yield the rows of a set of puzzles; what cannot be read becomes a row without a text.

    Raises
    ------
    ValueError
        If there is no such file, or a folder holds no puzzles.
    """
    source = Path(source)
    files = [source] if source.is_file() else [source / "puzzles.parquet", source / "puzzles.jsonl"]
    found = [file for file in files if file.is_file()]
    texts = sorted((source / "exp").rglob("*.txt")) if not found and source.is_dir() else []
    if not found and not texts:
        raise ValueError(
            f"{source}: no puzzles here; give a .parquet or .jsonl file of puzzles, or a folder with "
            "puzzles.parquet, puzzles.jsonl or exp/**/NAME.txt"
        )
    for file in found[:1]:
        yield from _parquet_rows(file) if file.suffix == ".parquet" else _json_rows(file)
    for path in texts:
        yield _layout_row(source, path)


def _stated(row: Mapping, name: str) -> dict:
    """Collect what a row says about its puzzle, the parts of the name first."""
    parts = parse_name(name)
    stated = parts._asdict() if parts else {}
    for column in ("N", "d", "needles", "puzzle_id", "gold", "poi", "category", "domain"):
        if row.get(column) is not None:
            if column == "domain" and not isinstance(row[column], list):
                stated["contradiction"] = f"the row's domain is {row[column]!r}, not a list"
                continue
            stated.setdefault(column, row[column])
            if stated[column] != row[column]:
                stated["contradiction"] = f"the row says {column} {row[column]!r}, its name {stated[column]!r}"
    return stated


def _differences(puzzle: Puzzle, stated: Mapping) -> Iterator[str]:
    """Tell where a puzzle read from its text differs from what is stated."""
    if "contradiction" in stated:
        yield stated["contradiction"]
    read = {
        "gold": puzzle.solution,
        "N": puzzle.N,
        "d": puzzle.d,
        "needles": puzzle.needles,
        "poi": puzzle.poi,
        "category": puzzle.category,
    }
    for column, value in read.items():
        if column in stated and stated[column] != value:
            yield f"{column} is {value!r} by the text, {stated[column]!r} by the row"
    domain = stated.get("domain")
    strangers = [value for value in puzzle.domains[puzzle.category] if domain is not None and value not in domain]
    if strangers:
        yield f"the text has {', '.join(strangers)} outside the domain"


def _irregularities(puzzle: Puzzle) -> Iterator[str]:
    """Tell what a text has that no generated puzzle has."""
    if puzzle.instruction != INSTRUCTION:
        yield "the instruction differs from the benchmark's"
    for number, (statement, states) in enumerate(zip(puzzle.statements, puzzle.states(), strict=False), 1):
        if not any(statement.holds(state) for state in states.values()):
            yield f"statement {number} applies to nobody"
            return


def _redrawn(text: str, stated: Mapping) -> list[str]:
    """Compare the text with the one drawn from the puzzle's numbers."""
    try:
        drawn = draw_puzzle(stated["N"], stated["d"], stated["needles"], stated["puzzle_id"]).text
    except (KeyError, ValueError) as error:
        return [f"the puzzle cannot be drawn again: {error}"]
    return [] if drawn == text.replace("\r\n", "\n").strip() else ["the text differs from the one drawn from its id"]


def _parquet_rows(path: Path) -> Iterator[dict]:
    with open_parquet(path) as file:
        for batch in file.iter_batches(batch_size=200):
            yield from batch.to_pylist()


def _json_rows(path: Path) -> Iterator[dict]:
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            try:
                row = json.loads(line)
            except (ValueError, RecursionError):
                row = None
            yield row if isinstance(row, dict) else {"name": f"line {number}"}


def _layout_row(folder: Path, path: Path) -> dict:
    """Build the row of a puzzle in the authors' layout from its text and, where present, its state file."""
    row: dict = {"name": path.stem}
    states = list(islice((folder / "meta").rglob(f"{path.stem}_state.json"), 1))
    try:
        row["text"] = path.read_text(encoding="utf-8")
        state = json.loads(states[0].read_text(encoding="utf-8")) if states else {}
        row |= {
            column: state[key]
            for column, key in (("poi", "poi"), ("needles", "needles"), ("d", "difficulty"), ("N", "num_statements"))
            if key in state
        }
    except (OSError, ValueError, TypeError, RecursionError):
        row.pop("text", None)
    return row
