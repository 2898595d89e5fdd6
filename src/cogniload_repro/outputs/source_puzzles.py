"""The puzzles that a source answers, and the edition that drew them."""

import json
import math
from collections.abc import Iterable, Iterator, Mapping
from functools import cached_property
from typing import NamedTuple

from cogniload_repro.outputs.layout import Layout, name_puzzle
from cogniload_repro.outputs.records import Refusal, Row, at, read_text
from cogniload_repro.outputs.report import Report
from cogniload_repro.outputs.rows import end_at_damage, read_rows, read_table
from cogniload_repro.puzzles.catalog import (
    Catalog,
    add_puzzle,
    check_row,
    draw_named,
    parse_name,
    redraw,
    split_name,
)
from cogniload_repro.puzzles.draws import EDITIONS, PORT, Edition
from cogniload_repro.puzzles.parse import read_question

BAD_PUZZLE = "bad puzzle"
#: What the authors' metadata of a puzzle state.
_STATE_KEYS = ("poi", "category_defaults", "needles", "difficulty", "num_statements")
#: Most puzzles that are redrawn to find out which edition drew them.
SAMPLE = 1_400


class SourcePuzzles:
    """The puzzles that a source answers: known ones, its own, and those drawn from their names.

    The catalog has the known ones; the others are added to it.
    """

    def __init__(
        self, layout: Layout, catalog: Catalog, edition: Edition | None, report: Report
    ):
        self._layout = layout
        self._catalog = catalog
        self._edition = edition
        self._report = report
        # why puzzles cannot be used, by name; empty for those that can
        self._faults: dict[str, str] = {}

    def read(self) -> Iterator[tuple[str, Row]]:
        """Add the source's own puzzles to the catalog; yield unusable ones with their file."""
        for name, path in self._layout.states.items():
            try:
                text = ""
                if name in self._layout.texts:
                    text = self._layout.texts[name].read_text("utf-8-sig")
                row = release_row(name, text, path.read_text("utf-8-sig"))
                add_puzzle(self._catalog, row)
            except (OSError, ValueError) as error:
                fault = (BAD_PUZZLE, f"{name}: {error}")
                yield self._layout.label(path), Row(0, {}, fault)
        for path in self._layout.puzzle_tables:
            for record in end_at_damage(read_table(path)):
                refusal = record.refusal or self._add_row(record.fields)
                if refusal:
                    yield self._layout.label(path), Row(record.number, {}, refusal)

    def _add_row(self, row: Mapping) -> Refusal | None:
        """Add a puzzle of a table, or return why it cannot be used."""
        try:
            add_puzzle(self._catalog, check_row(row))
        except ValueError as error:
            return BAD_PUZZLE, f"{row.get('name')}: {error}"
        return None

    def find(self, name: str) -> None:
        """Add a puzzle to the catalog if it is not there; ValueError says why it cannot be used."""
        if name not in self._faults:
            try:
                self._catalog[name] = self._check_text(name)
                self._faults[name] = ""
            except ValueError as error:
                self._faults[name] = str(error)
        if self._faults[name]:
            raise ValueError(self._faults[name])

    def _check_text(self, name: str) -> dict:
        """Return a known or redrawn puzzle; ValueError if its text differs from the source's."""
        text = self._read_text(name) if name in self._layout.texts else None
        row = self._catalog.get(name)
        origin = "that of the known puzzle of this name"
        if row is None:
            split_name(name)
            edition = self._edition or choose_edition(self._fits)
            origin = f"the one that edition {edition} draws; add its metadata"
            row = draw_named(name, edition, text)
        if text is not None and text.strip() != row["text"].strip():
            raise ValueError(f"its text differs from {origin}")
        return row

    @cached_property
    def _fits(self) -> list["EditionMatch"]:
        """How well each edition fits the puzzles that the source names and the catalog lacks."""
        names = {name_puzzle(path) for _, path in self._layout.answers}
        for path in self._layout.tables:
            names |= {str(row.fields.get("name")) for row in read_rows(path)}
        unknown = names - self._catalog.keys()
        texts = {
            name: self._read_text(name) for name in unknown & self._layout.texts.keys()
        }
        fits = find_edition(unknown, texts)
        self._report.origin = describe_fits(fits)
        return fits

    def _read_text(self, name: str) -> str:
        return str(read_text(self._layout.texts[name]))


def release_row(name: str, text: str, metadata: str) -> dict:
    """Return a puzzle of the authors' release as a row of the puzzles table.

    ValueError if its metadata are incomplete or contradict its name or text.
    """
    try:
        state = json.loads(metadata)
    except RecursionError as error:
        raise ValueError(f"the metadata are nested too deeply ({error})") from None
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
        "domain": at(state, "category_defaults", category),
    }
    # the released program writes the number of needles still to draw, always 0
    if state["needles"] != 0:
        row["needles"] = state["needles"]
    return check_row(row)


class EditionMatch(NamedTuple):
    """An edition that draws ``fitting`` of the ``tried`` puzzles (those that any edition draws)."""

    edition: Edition
    fitting: int
    tried: int

    def __str__(self) -> str:
        return f"{self.edition}: {self.fitting:,} of {self.tried:,}"


def find_edition(
    names: Iterable[str],
    texts: Mapping[str, str] | None = None,
) -> list[EditionMatch]:
    """Return how well each edition reproduces puzzles from their names, the best first.

    Editions are tried in turn until one draws all puzzles. Names that no edition draws are not
    counted; of more than 1,400 names every k-th is drawn. If ``texts`` has the puzzle's text, or
    the prompt around it, the drawn text must occur in it; by name alone, some fit by chance.
    """
    texts = texts or {}
    well_formed = [name for name in sorted(set(names)) if parse_name(name)]
    step = max(1, math.ceil(len(well_formed) / SAMPLE))
    sample = well_formed[::step]
    drawn: dict[Edition, set[str]] = {}
    for edition in EDITIONS:
        drawn[edition] = {
            name for name in sample if is_drawn_by(edition, name, texts.get(name))
        }
        if len(drawn[edition]) == len(sample):
            break
    tried = set().union(*drawn.values())
    if not tried:
        return []
    fits = [
        EditionMatch(edition, len(fitting), len(tried))
        for edition, fitting in drawn.items()
    ]
    return sorted(fits, key=lambda fit: -fit.fitting)


def is_drawn_by(edition: Edition, name: str, text: str | None) -> bool:
    """Return whether an edition draws the puzzle of this name, and this text if one is given."""
    try:
        puzzle = redraw(name, edition, text)
    except ValueError:
        return False
    return text is None or puzzle.text.strip() in text


def describe_fits(fits: list[EditionMatch]) -> str:
    """Return one line on how well editions fit, the best first; empty if nothing was tried."""
    if not fits:
        return ""
    fits_all = fits[0].fitting == fits[0].tried
    start = "names fit edition" if fits_all else "no edition fits all names,"
    return f"{start} {'; '.join(map(str, fits))}"


def choose_edition(fits: list[EditionMatch]) -> Edition:
    """Return the edition that fits all puzzles, or else the only one that fits at least half.

    Without puzzles it is the Python port; ValueError if no edition or several fit half of them.
    """
    if not fits:
        return PORT
    best = fits[0]
    most = [fit for fit in fits if 2 * fit.fitting >= fit.tried]
    if best.fitting < best.tried and len(most) != 1:
        raise ValueError(f"{describe_fits(fits)}: give the edition with --edition")
    return best.edition
