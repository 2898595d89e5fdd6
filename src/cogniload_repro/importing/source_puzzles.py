"""The puzzles that a source answers, and the edition that drew them."""

import json
from collections.abc import Iterable
from contextlib import suppress
from itertools import chain, islice, product
from pathlib import Path

from cogniload_repro.importing.layout import STATE, Layout
from cogniload_repro.importing.rejections import RowError
from cogniload_repro.importing.tables import read_whole_table
from cogniload_repro.puzzles.draws import EDITIONS
from cogniload_repro.puzzles.parse import read_question
from cogniload_repro.puzzles.rows import (
    KnownPuzzles,
    check_row,
    draw_named,
    parse_name,
    redraw,
)

#: Most puzzles that are redrawn to find out which edition drew them.
SAMPLE = 300
_OTHER_TEXT = "its text differs from the known or drawn one; add its metadata"


class SourcePuzzles:
    """The puzzles that a source answers: known ones, its own, and those drawn from their names.

    The others are added to the known ones. ``names`` are those in the source, read only if the
    edition must be found; ``origin`` then says what was found.
    """

    def __init__(
        self,
        layout: Layout,
        known: KnownPuzzles,
        edition: str | None,
        names: Iterable[str],
    ):
        self.origin = ""
        self._known = known
        self._edition = edition
        self._names = names
        self._texts = {path.stem: path for path in layout.files["text"]}
        # why puzzles of the source cannot be used, by name
        self._faults: dict[str, str] = {}
        states = map(self._read_state, layout.files["state"])
        tables = map(read_whole_table, layout.files["puzzles"])
        for row in chain(states, *tables):
            try:
                known.add(check_row(row))
            except ValueError as error:
                self._faults[str(row.get("name"))] = str(error)

    def _read_state(self, path: Path) -> dict:
        name = path.name.removesuffix(STATE)
        text = self._read_text(name) or ""
        return read_state(name, text, path.read_text("utf-8-sig"))

    def _read_text(self, name: str) -> str | None:
        return self._texts[name].read_text("utf-8-sig") if name in self._texts else None

    def find(self, name: str) -> None:
        """Add a puzzle to the known ones unless it is there; RowError if it cannot be used."""
        try:
            if name in self._faults:
                raise ValueError(self._faults[name])
            text = self._read_text(name)
            if name not in self._known:
                self._known.add(self._draw(name, text))
            elif text is not None and not self._known.has_text(name, text):
                raise ValueError(_OTHER_TEXT)
        except ValueError as error:
            raise RowError("unknown puzzle", f"{name}: {error}", name) from None

    def _draw(self, name: str, text: str | None) -> dict:
        """Return a redrawn puzzle; ValueError if its text differs from the source's."""
        if self._edition is None:
            self._edition = self._detect_edition()
        puzzle = draw_named(name, self._edition)
        if text is not None and text.strip() != puzzle["text"].strip():
            raise ValueError(_OTHER_TEXT)
        return puzzle

    def _detect_edition(self) -> str:
        """Return the edition that draws most of the source's puzzles from their names.

        A wrong edition draws some names by chance: those of puzzles with the same solution.
        """
        names = (
            name for name in self._names if name not in self._known and parse_name(name)
        )
        sample = set(islice(names, SAMPLE))
        counts = dict.fromkeys(EDITIONS, 0)
        for edition, name in product(EDITIONS, sample):
            with suppress(ValueError):
                redraw(name, edition)
                counts[edition] += 1
        best = max(EDITIONS, key=counts.__getitem__)
        self.origin = f"names fit edition {best}: {counts[best]:,} of {len(sample):,}"
        return best


def read_state(name: str, text: str, metadata: str) -> dict:
    """Return a puzzle of the authors' release as a row of the puzzles table, yet to be checked.

    The row is incomplete if the metadata are.
    """
    try:
        state = json.loads(metadata)
        _, category = read_question(text.rstrip().rpartition("\n")[2])
        return {
            "name": name,
            "text": text,
            "category": category,
            "poi": state["poi"],
            "N": state["num_statements"],
            "d": state["difficulty"],
            # the released program writes the number of needles still to draw, always 0
            "needles": state["needles"] or None,
            "domain": state["category_defaults"][category],
        }
    except (ValueError, LookupError, TypeError, RecursionError):
        return {"name": name}
