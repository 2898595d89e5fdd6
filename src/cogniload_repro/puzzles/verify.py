"""Check sets of puzzles: every puzzle is solved again from its text, and drawn again where it has an id."""

from collections.abc import Iterator, Mapping
from functools import partial
from itertools import pairwise
from operator import is_
from pathlib import Path
from typing import NamedTuple

from cogniload_repro.puzzles.catalog import find_contradictions, parse_name, puzzle_row
from cogniload_repro.puzzles.draws import EDITIONS, PORT
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.puzzle import INSTRUCTION, AmbiguousPuzzleError, Puzzle, parse_puzzle
from cogniload_repro.puzzles.readers import Item, find_sets, read_set
from cogniload_repro.puzzles.sets import cut, map_batches

PUZZLE_VERDICTS = ("right", "mismatch", "ambiguous", "unparsable")

#: What is said of a text that is consistent in itself.
ANOTHER_TEXT = "the text differs from the one drawn from its id, under every edition"

#: What one process checks at a time: so many puzzles, or as many as have so many characters.
_CHUNK = 32
_CHUNK_CHARS = 4_000_000


class PuzzleCheck(NamedTuple):
    """What was found about one puzzle: its name, or where it stands, the verdict, and one sentence if it is not right.

    ``edition`` is that which draws this text from the puzzle's id, empty where none does or none was tried.
    """

    name: str
    verdict: str
    detail: str
    edition: str = ""


def verify_set(source: str | Path, *, redraw: bool = True, jobs: int = 1) -> Iterator[PuzzleCheck]:
    """Verify every puzzle of a set (`readers.find_sets`), in its order; the same verdicts for any `jobs`.

    A name that comes twice in a table or folder is a mismatch the second time.
    """
    for place in find_sets(source):
        seen: set[str] = set()
        batches = cut(read_set(place), _CHUNK, lambda item: len(str(item.row.get("text"))), _CHUNK_CHARS)
        found = None
        for found in map_batches(partial(_verify_batch, redraw), batches, jobs):
            if found.name in seen:
                detail = "; ".join(filter(None, ["a puzzle of this name came before", found.detail]))
                found = found._replace(verdict=found.verdict.replace("right", "mismatch"), detail=detail)
            seen.add(found.name)
            yield found
        if found is None:
            raise ValueError(f"{place} holds no puzzle; make or fetch it again")


def verify_puzzle(row: Mapping, *, redraw: bool = True) -> PuzzleCheck:
    """Solve a puzzle from its text and compare it with everything that is stated about it.

    A row has a text, and ``gold`` or a ``name`` that ends in it; other columns of the puzzles table are compared where
    present. With ``redraw`` the puzzle is also drawn again from its name until an edition gives the text, which finds
    any change at all.
    """
    row = {column: value for column, value in row.items() if value is not None}
    name = str(row.get("name", ""))
    parts = parse_name(name)
    if not isinstance(row.get("text"), str) or not (parts or "gold" in row):
        lacks = "the gold value" if isinstance(row.get("text"), str) else "the text"
        return PuzzleCheck(name, "unparsable", f"the row lacks {lacks}; it has {', '.join(map(str, row))[:200]}")
    try:
        puzzle = parse_puzzle(row["text"])
    except AmbiguousPuzzleError as error:
        return PuzzleCheck(name, "ambiguous", str(error))
    except ValueError as error:
        return PuzzleCheck(name, "unparsable", str(error))
    differences = [*find_contradictions(puzzle, row), *_irregularities(puzzle)]
    edition = ""
    if redraw and parts and not differences:
        edition, differences = _redrawn(puzzle, row, parts.puzzle_id)
    elif redraw and not parts:
        differences.append(f"the row's name is {name!r}, not of the form N_d_needles_puzzleId_gold")
    return PuzzleCheck(name, "mismatch" if differences else "right", "; ".join(differences), edition)


def _verify_batch(redraw: bool, batch: list[Item]) -> list[PuzzleCheck]:
    checks = []
    for where, row, error in batch:
        check = None if error else verify_puzzle(row, redraw=redraw)
        checks.append(check._replace(name=check.name or where) if check else PuzzleCheck(where, "unparsable", error))
    return checks


def _irregularities(puzzle: Puzzle) -> Iterator[str]:
    """Yield what a text has that no generated puzzle has."""
    if puzzle.instruction != INSTRUCTION:
        yield "the instruction differs from the benchmark's"
    for number, (before, after) in enumerate(pairwise(puzzle.replay()), 1):
        if all(map(is_, before, after)):
            yield f"statement {number} applies to nobody"
            return


def _redrawn(puzzle: Puzzle, row: Mapping, puzzle_id: int) -> tuple[str, list[str]]:
    """Return the edition that draws a text from the puzzle's id, and compare the columns with those drawn."""
    failure = ANOTHER_TEXT
    for edition in EDITIONS:
        try:
            drawn = puzzle_row(draw_puzzle(puzzle.N, puzzle.d, puzzle.needles, puzzle_id, edition=edition))
        except ValueError as error:
            if edition == PORT:
                failure = f"the puzzle cannot be drawn again: {error}"
            continue
        if drawn["text"] == row["text"]:
            keys = [key for key in ("poi", "category", "domain") if row.get(key, drawn[key]) != drawn[key]]
            differ = f"the row differs from what is drawn from its id, in {', '.join(keys)}"
            return str(edition), [differ] if keys else []
    return "", [failure]
