"""Check sets of puzzles: every puzzle is solved again from its text, and drawn again where it has an id."""

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain, pairwise
from operator import is_
from pathlib import Path
from typing import NamedTuple

from cogniload_repro.puzzles.catalog import PuzzleName, find_contradictions, find_edition, parse_name, puzzle_row
from cogniload_repro.puzzles.editions import EDITIONS, PORT, Edition
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.puzzle import INSTRUCTION, AmbiguousPuzzleError, Puzzle, parse_puzzle
from cogniload_repro.puzzles.readers import COLUMNS, Item, find_sets, read_row, read_set, spent_counters
from cogniload_repro.puzzles.sets import cut, map_batches, release_state
from cogniload_repro.schemas import PUZZLES

PUZZLE_VERDICTS = ("right", "mismatch", "ambiguous", "unparsable")

#: Keys of the authors' metadata that say what a column does.
_STATE_KEYS = {"poi": "poi", "d": "difficulty", "N": "num_statements", "needles": "needles"}

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

    A name that comes twice in a table or folder is a mismatch the second time. The edition that fits the first puzzles
    best is tried first on all.
    """
    for place in find_sets(source):
        seen: set[str] = set()
        batches = cut(read_set(place), _CHUNK, lambda item: len(str(item.fields.get("text"))), _CHUNK_CHARS)
        first = next(batches, [])
        check = partial(_verify_batch, redraw, _order_editions(first) if redraw else ())
        found = None
        for found in map_batches(check, chain([first] * bool(first), batches), jobs):
            if found.name in seen:
                detail = "; ".join(filter(None, ["a puzzle of this name came before", found.detail]))
                found = found._replace(verdict=found.verdict.replace("right", "mismatch"), detail=detail)
            seen.add(found.name)
            yield found
        if found is None:
            raise ValueError(f"{place} holds no puzzle; make or fetch it again")


def verify_puzzle(fields: Mapping, *, redraw: bool = True, editions: Sequence[Edition] = EDITIONS) -> PuzzleCheck:
    """Solve a puzzle from its text and compare it with everything that is stated about it.

    ``fields`` (`readers.read_set`) hold a text, and ``gold`` or a ``name`` that ends in it; other columns of the
    puzzles table are compared where present, and all have to be where most are. With ``redraw`` the puzzle is also
    drawn again from its name until an edition gives the text, which finds any change at all.
    """
    row = read_row(fields)
    name, text, state = row["name"], row.get("text"), row.get("state", {})
    parts, spent = parse_name(name), spent_counters(state)
    said = {column: row[column] for column in COLUMNS if column in row and column != "text"}
    said |= {column: state[key] for column, key in _STATE_KEYS.items() if key in state and key not in spent}
    stated = said | (parts._asdict() if parts else {})
    if not isinstance(text, str) or "gold" not in stated:
        lacks = "the gold value" if isinstance(text, str) else f"the text ({', '.join(COLUMNS['text'])})"
        has = ", ".join(map(str, fields))[:200] or "nothing"
        return PuzzleCheck(name, "unparsable", f"the row lacks {lacks}; it has {has}")
    try:
        puzzle = parse_puzzle(text)
    except AmbiguousPuzzleError as error:
        return PuzzleCheck(name, "ambiguous", str(error))
    except ValueError as error:
        return PuzzleCheck(name, "unparsable", str(error))
    differences = [
        *(
            f"the row says {key} {value!r}, its name {stated[key]!r}"
            for key, value in said.items()
            if value != stated[key]
        ),
        *([] if "state" in row else _find_gaps(fields, name, redraw)),
        *find_contradictions(puzzle, stated),
        *_irregularities(puzzle),
    ]
    edition = ""
    if redraw and not differences and "puzzle_id" in stated:
        edition, differences = _redrawn(puzzle, row, stated["puzzle_id"], editions)
    return PuzzleCheck(name, "mismatch" if differences else "right", "; ".join(differences), edition)


def _order_editions(batch: list[Item]) -> tuple[Edition, ...]:
    """Return all editions, those first that fit some puzzles best."""
    rows = [read_row(item.fields) for item in batch if not item.error]
    texts = {row["name"]: row["text"] for row in rows if row.get("text")}
    best = [fit.edition for fit in find_edition([row["name"] for row in rows], texts) if fit.fitting]
    return tuple(dict.fromkeys([*best, *EDITIONS]))


def _verify_batch(redraw: bool, editions: Sequence[Edition], batch: list[Item]) -> list[PuzzleCheck]:
    checks = []
    for where, fields, error in batch:
        check = None if error else verify_puzzle(fields, redraw=redraw, editions=editions)
        checks.append(check._replace(name=check.name or where) if check else PuzzleCheck(where, "unparsable", error))
    return checks


def _find_gaps(fields: Mapping, name: str, redraw: bool) -> Iterator[str]:
    """Yield which columns a row with most of the puzzles table's lacks, or that its name is not the puzzle's."""
    missing = [column for column in PUZZLES.names if fields.get(column) is None]
    if not missing:
        whole = "_".join(str(fields[part]) for part in PuzzleName._fields)
        if fields["name"] != whole or not parse_name(whole):
            yield f"the row's name is {fields['name']!r}, its columns give {whole!r}"
    elif len(missing) < len(PUZZLES.names) / 2:
        yield f"the row lacks {', '.join(missing)}"
    elif redraw and "name" not in missing and not parse_name(name):
        yield f"the row's name is {fields['name']!r}, not of the form N_d_needles_puzzleId_gold"


def _irregularities(puzzle: Puzzle) -> Iterator[str]:
    """Yield what a text has that no generated puzzle has."""
    if puzzle.instruction != INSTRUCTION:
        yield "the instruction differs from the benchmark's"
    for number, (before, after) in enumerate(pairwise(puzzle.replay()), 1):
        if all(map(is_, before, after)):
            yield f"statement {number} applies to nobody"
            return


def _redrawn(puzzle: Puzzle, row: Mapping, puzzle_id: int, editions: Iterable[Edition]) -> tuple[str, list[str]]:
    """Return the edition that draws a text from the puzzle's id, and compare the metadata with those drawn."""
    failure = ANOTHER_TEXT
    for edition in editions:
        try:
            drawn = draw_puzzle(puzzle.N, puzzle.d, puzzle.needles, puzzle_id, edition=edition)
        except ValueError as error:
            if edition == PORT:
                failure = f"the puzzle cannot be drawn again: {error}"
            continue
        if drawn.text == row["text"]:
            expected = puzzle_row(drawn)
            keys = [key for key in ("poi", "category", "domain") if row.get(key, expected[key]) != expected[key]]
            if state := row.get("state"):
                expected, spent = json.loads(release_state(drawn)), spent_counters(state)
                keys += [key for key in expected if key not in spent and state.get(key) != expected[key]]
            differ = f"the metadata differ from those drawn from its id, in {', '.join(keys)}"
            return str(edition), [differ] if keys else []
    return "", [failure]
