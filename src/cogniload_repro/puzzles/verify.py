"""Check sets of puzzles: every puzzle is solved again from its text, and drawn again where it has an id."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import partial
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from cogniload_repro.puzzles.catalog import PuzzleName, find_contradictions, parse_name, puzzle_row
from cogniload_repro.puzzles.editions import EDITIONS, PORT, Edition
from cogniload_repro.puzzles.folders import layout_state
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.origin import find_edition
from cogniload_repro.puzzles.puzzle import INSTRUCTION, Puzzle
from cogniload_repro.puzzles.readers import COLUMNS, Files, Item, Unreadable, find_sets, read_row, read_set
from cogniload_repro.puzzles.release import spent_counters
from cogniload_repro.puzzles.sets import cut, map_batches
from cogniload_repro.puzzles.text import AmbiguousPuzzleError, parse_puzzle
from cogniload_repro.schemas import PUZZLES

VERDICTS = ("right", "mismatch", "ambiguous", "unparsable")

#: What one process checks at a time: so many puzzles, or as many as have so many characters.
_CHUNK = 32
_CHUNK_CHARS = 4_000_000


class Verdict(NamedTuple):
    """What was found about one puzzle.

    Attributes
    ----------
    name : str
        The puzzle's name; in a set, where it stands when it has none.
    verdict : {"right", "mismatch", "ambiguous", "unparsable"}
        mismatch: the text contradicts what is stated about it; ambiguous: it determines no answer.
    detail : str
        One sentence, empty for a puzzle that is right.
    edition : str
        The edition of the generator that draws this text from the puzzle's id; empty where none does or none was tried.
    """

    name: str
    verdict: str
    detail: str
    edition: str = ""


def verify_set(source: str | Path, *, redraw: bool = True, jobs: int = 1) -> Iterator[Verdict]:
    """Verify every puzzle of a set, in its order; see `verify_puzzle`. The same verdicts for any `jobs`.

    A name that comes twice in a table or folder is a mismatch the second time. The edition that fits the first puzzles
    best is tried first on all. Apart from the names, a few puzzles for each process are in memory at a time.

    Parameters
    ----------
    source : path
        A Parquet or JSONL file of puzzles, or a folder with ``puzzles.parquet``, ``puzzles.jsonl`` or puzzles in the
        authors' layout; all of them are verified.

    Raises
    ------
    ValueError
        If nothing of the kind is there, or it is empty.
    """
    for place in find_sets(source):
        seen: set[str] = set()
        batches = cut(read_set(place), _CHUNK, _count_chars, _CHUNK_CHARS)
        first = next(batches, [])
        check = partial(_verify_batch, redraw, _order_editions(first) if redraw else ())
        verdict = None
        for verdict in map_batches(check, chain([first] * bool(first), batches), jobs):
            if verdict.name in seen:
                detail = "; ".join(filter(None, ["a puzzle of this name came before", verdict.detail]))
                verdict = verdict._replace(verdict=verdict.verdict.replace("right", "mismatch"), detail=detail)
            seen.add(verdict.name)
            yield verdict
        if verdict is None:
            raise ValueError(f"{place} holds no puzzle; make or fetch it again")


def verify_puzzle(item: Item, *, redraw: bool = True, editions: Sequence[Edition] = EDITIONS) -> Verdict:
    """Solve a puzzle from its text and compare it with everything that is stated about it.

    Parameters
    ----------
    item : mapping, or Files or Unreadable of `readers`
        Columns of the puzzles table. A text is needed, and ``gold`` or a ``name`` that ends in it; the others
        are compared where they are present, and all have to be where most are, with the name that they give.
    redraw : bool
        Also draw the puzzle again from its name, which a row with a ``name`` needs then, and compare text and
        metadata, which finds any change at all. Turn it off for puzzles of another generator.
    editions : sequence of Edition
        It is drawn under these, one after the other, until one gives the text.
    """
    row = read_row(item)
    if isinstance(row, Unreadable):
        return Verdict(row.name, "unparsable", row.reason)
    name, text = row["name"], row.get("text")
    stated, contradictions = _collect(row)
    if not isinstance(text, str) or "gold" not in stated:
        has = (
            f"it has {', '.join(map(str, item))[:200] or 'nothing'}" if isinstance(item, dict) else "the file is empty"
        )
        lacks = "the gold value" if isinstance(text, str) else f"the text ({', '.join(COLUMNS['text'])})"
        return Verdict(name, "unparsable", f"the row lacks {lacks}; {has}")
    try:
        puzzle = parse_puzzle(text)
    except AmbiguousPuzzleError as error:
        return Verdict(name, "ambiguous", str(error))
    except ValueError as error:
        return Verdict(name, "unparsable", str(error))
    differences = [
        *contradictions,
        *_find_gaps(item, name, redraw),
        *find_contradictions(puzzle, stated),
        *_irregularities(puzzle),
    ]
    edition = ""
    if redraw and not differences and "puzzle_id" in stated:
        edition, differences = _redrawn(puzzle, row, stated["puzzle_id"], editions)
    return Verdict(name, "mismatch" if differences else "right", "; ".join(differences), edition)


def _order_editions(batch: list[tuple[str, Item]]) -> tuple[Edition, ...]:
    """Return all editions, those first that fit some puzzles best."""
    rows = [row for _, item in batch if not isinstance(row := read_row(item), Unreadable)]
    texts = {row["name"]: row["text"] for row in rows if row.get("text")}
    best = [fit.edition for fit in find_edition([row["name"] for row in rows], texts) if fit.fitting]
    return tuple(dict.fromkeys([*best, *EDITIONS]))


def _verify_batch(redraw: bool, editions: Sequence[Edition], batch: list[tuple[str, Item]]) -> list[Verdict]:
    verdicts = [(label, verify_puzzle(item, redraw=redraw, editions=editions)) for label, item in batch]
    return [verdict._replace(name=verdict.name or label) for label, verdict in verdicts]


def _count_chars(labelled: tuple[str, Item]) -> int:
    item = labelled[1]
    if isinstance(item, Files):
        return item.text.stat().st_size
    return sum(len(value) for value in item.values() if isinstance(value, str)) if isinstance(item, dict) else 0


def _collect(row: Mapping) -> tuple[dict, list[str]]:
    """Collect what a row says about its puzzle, the parts of the name first, and where it contradicts itself."""
    parts = parse_name(row["name"])
    stated, contradictions = parts._asdict() if parts else {}, []
    state = row.get("state", {})
    said = {column: row[column] for column in COLUMNS if column in row and column != "text"}
    for column, key in (("poi", "poi"), ("d", "difficulty"), ("N", "num_statements"), ("needles", "needles")):
        if key in state and key not in spent_counters(state):
            said[column] = state[key]
    for column, value in said.items():
        if stated.setdefault(column, value) != value:
            contradictions.append(f"the row says {column} {value!r}, its name {stated[column]!r}")
    return stated, contradictions


def _find_gaps(item: Item, name: str, redraw: bool) -> Iterator[str]:
    """Tell which columns a row of the puzzles table lacks, or that its name is not the puzzle's.

    Rows with fewer than half of the columns are others; their name may come from any column of names.
    """
    if not isinstance(item, dict):
        return
    missing = [column for column in PUZZLES.names if item.get(column) is None]
    if not missing:
        whole = "_".join(str(item[part]) for part in PuzzleName._fields)
        if item["name"] != whole or not parse_name(whole):
            yield f"the row's name is {item['name']!r}, its columns give {whole!r}"
    elif len(missing) < len(PUZZLES.names) / 2:
        yield f"the row lacks {', '.join(missing)}"
    elif redraw and "name" not in missing and not parse_name(name):
        yield f"the row's name is {item['name']!r}, not of the form N_d_needles_puzzleId_gold"


def _irregularities(puzzle: Puzzle) -> Iterator[str]:
    """Tell what a text has that no generated puzzle has."""
    if puzzle.instruction != INSTRUCTION:
        yield "the instruction differs from the benchmark's"
    for number, (statement, states) in enumerate(zip(puzzle.statements, puzzle.states(), strict=False), 1):
        if not any(statement.holds(state) for state in states.values()):
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
            return str(edition), _compare_metadata(drawn, row)
    return "", [failure]


def _compare_metadata(drawn: Puzzle, row: Mapping) -> list[str]:
    """Tell where the metadata of a row differ from those of the puzzle drawn again."""
    own = puzzle_row(drawn)
    keys = [key for key in ("poi", "category", "domain") if row.get(key, own[key]) != own[key]]
    if "state" in row:
        own, state = layout_state(drawn), row["state"]
        keys += [key for key in own if key not in spent_counters(state) and state.get(key) != own[key]]
    return [f"the metadata differ from those drawn from its id, in {', '.join(keys)}"] if keys else []


#: What is said of a text that is right in itself.
ANOTHER_TEXT = "the text differs from the one drawn from its id, under every edition"
