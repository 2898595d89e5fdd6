"""The puzzles that a source answers, and the edition that drew them."""

import json
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from itertools import islice
from pathlib import Path

from cogniload_repro.importing.layout import Layout
from cogniload_repro.importing.rejections import BAD_PUZZLE, RowError
from cogniload_repro.importing.tables import Record, read_table
from cogniload_repro.puzzles.catalog import (
    Catalog,
    add_puzzle,
    check_row,
    draw_named,
    parse_name,
    redraw,
)
from cogniload_repro.puzzles.draws import EDITIONS, Edition
from cogniload_repro.puzzles.parse import read_question

#: What the authors' metadata of a puzzle state.
_STATE_KEYS = ("poi", "category_defaults", "needles", "difficulty", "num_statements")
#: Most puzzles that are redrawn to find out which edition drew them.
SAMPLE = 300


class SourcePuzzles:
    """The puzzles that a source answers: known ones, its own, and those drawn from their names.

    The catalog has the known ones; the others are added to it. ``names`` are those in the source,
    read only if the edition must be found.
    """

    def __init__(
        self, layout: Layout, catalog: Catalog, edition: Edition | None, names: Iterable[str]
    ):
        self._layout = layout
        self._catalog = catalog
        self._edition = edition
        self._names = names
        self._faults: dict[str, str] = {}

    @property
    def origin(self) -> str:
        """Which edition drew the puzzles, and the evidence; empty if none was looked for."""
        return self._detected[1] if "_detected" in vars(self) else ""

    def read(self) -> Iterator[tuple[Path, Record]]:
        """Add the source's own puzzles to the catalog; yield only those that cannot be used."""
        for name, path in self._layout.states.items():
            try:
                add_puzzle(self._catalog, self._read_release(name, path))
            except (OSError, ValueError, RecursionError) as error:
                yield path, (0, RowError(BAD_PUZZLE, f"{name}: {error}"))
        for path in self._layout.puzzle_tables:
            for number, record in read_table(path):
                try:
                    if isinstance(record, RowError):
                        raise record
                    add_puzzle(self._catalog, check_row(record))
                except RowError as error:
                    yield path, (number, error)
                except ValueError as error:
                    yield path, (number, RowError(BAD_PUZZLE, f"{record.get('name')}: {error}"))

    def _read_release(self, name: str, state: Path) -> dict:
        text = self._read_text(name) or ""
        return release_row(name, text, state.read_text("utf-8-sig"))

    def _read_text(self, name: str) -> str | None:
        path = self._layout.texts.get(name)
        return path and path.read_text("utf-8-sig")

    def find(self, name: str) -> None:
        """Add a puzzle to the catalog unless it is there; ValueError if it cannot be used."""
        if name not in self._faults:
            try:
                self._catalog[name] = self._check_text(name)
                self._faults[name] = ""
            except (OSError, ValueError) as error:
                self._faults[name] = str(error)
        if self._faults[name]:
            raise ValueError(self._faults[name])

    def _check_text(self, name: str) -> dict:
        """Return a known or redrawn puzzle; ValueError if its text differs from the source's."""
        text = self._read_text(name)
        puzzle = self._catalog.get(name)
        origin = "that of the known puzzle of this name"
        if puzzle is None:
            edition = self._edition or self._detected[0]
            if edition is None:
                raise ValueError(f"{self.origin}; give the edition with --edition")
            puzzle = draw_named(name, edition, text)
            origin = f"the one that edition {edition} draws; add its metadata"
        if text is not None and text.strip() != puzzle["text"].strip():
            raise ValueError(f"its text differs from {origin}")
        return puzzle

    @cached_property
    def _detected(self) -> tuple[Edition | None, str]:
        unknown = (name for name in self._names if name not in self._catalog and parse_name(name))
        texts = {name: self._read_text(name) for name in islice(unknown, SAMPLE)}
        return detect_edition(texts)


def detect_edition(texts: Mapping[str, str | None]) -> tuple[Edition | None, str]:
    """Return the edition that drew these puzzles, None if it is not clear, and the evidence.

    It draws all puzzles, or is the only one that draws at least half of them; names that no edition
    draws do not count. The drawn text must be the one given; by name alone, some fit by chance.
    """
    drawn: dict[Edition, set[str]] = {}
    for edition in EDITIONS:
        fitting = {name for name in texts if is_drawn_by(edition, name, texts[name])}
        drawn[edition] = fitting
        if len(fitting) == len(texts):
            break
    tried = len(set().union(*drawn.values()))
    best = max(drawn, key=lambda edition: len(drawn[edition]))
    likely = [edition for edition, names in drawn.items() if 2 * len(names) >= tried]
    counts = "; ".join(f"{edition}: {len(drawn[edition]):,} of {tried:,}" for edition in drawn)
    if len(drawn[best]) < tried and likely != [best]:
        return None, f"no edition fits all names, {counts}"
    return best, f"names fit edition {best}: {len(drawn[best]):,} of {tried:,}"


def is_drawn_by(edition: Edition, name: str, text: str | None) -> bool:
    """Return whether an edition draws the puzzle of this name, and this text if one is given."""
    try:
        puzzle = redraw(name, edition, text)
    except ValueError:
        return False
    return text is None or puzzle.text.strip() == text.strip()


def release_row(name: str, text: str, metadata: str) -> dict:
    """Return a puzzle of the authors' release as a row of the puzzles table.

    ValueError if its metadata are incomplete or contradict its name or text.
    """
    state = json.loads(metadata)
    if not isinstance(state, dict):
        raise ValueError("the metadata are not a JSON object")
    missing = [key for key in _STATE_KEYS if key not in state]
    if missing:
        raise ValueError(f"the metadata lack {', '.join(missing)}")
    _, category = read_question(text.rstrip().rpartition("\n")[2])
    row = {
        "name": name,
        "text": text,
        "poi": state["poi"],
        "N": state["num_statements"],
        "d": state["difficulty"],
        "category": category,
        "domain": dict(state["category_defaults"]).get(category),
    }
    # the released program writes the number of needles still to draw, always 0
    if state["needles"] != 0:
        row["needles"] = state["needles"]
    return check_row(row)
