"""The puzzles that a source answers: known ones, its own, and those drawn from their names."""

from contextlib import suppress

from cogniload_repro.importing.layout import Layout
from cogniload_repro.importing.rejections import RowError
from cogniload_repro.importing.tables import read_whole_table
from cogniload_repro.puzzles.draws import EDITIONS
from cogniload_repro.puzzles.rows import KnownPuzzles, check_row, draw_named

_OTHER_TEXT = (
    "its text is not that of the known or drawn puzzle; add it to puzzles.jsonl"
)


class SourcePuzzles:
    """The puzzles that a source answers; those of its own and the drawn ones become known.

    ``edition`` draws the puzzles of which the source has only the name.
    """

    def __init__(self, layout: Layout, known: KnownPuzzles, edition: str):
        self._known = known
        self._edition = edition
        self._texts = {path.stem: path for path in layout.files["text"]}
        # why puzzles of the source cannot be used, by name
        self._faults: dict[str, str] = {}
        for path in layout.files["puzzles"]:
            for row in read_whole_table(path):
                try:
                    known.add(check_row(row))
                except ValueError as error:
                    self._faults[str(row.get("name"))] = str(error)

    def find(self, name: str) -> None:
        """Add a puzzle to the known ones unless it is there; RowError if it cannot be used."""
        try:
            if name in self._faults:
                raise ValueError(self._faults[name])
            path = self._texts.get(name)
            text = path.read_text("utf-8-sig") if path else None
            if name not in self._known:
                self._known.add(self._draw(name, text))
            elif text is not None and not self._known.has_text(name, text):
                raise ValueError(_OTHER_TEXT)
        except ValueError as error:
            raise RowError("unknown puzzle", f"{name}: {error}", name) from None

    def _draw(self, name: str, text: str | None) -> dict:
        """Return the puzzle of a name; of a text as well, that of the edition that draws it."""
        if text is None:
            return draw_named(name, self._edition)
        for edition in EDITIONS:
            with suppress(ValueError):
                puzzle = draw_named(name, edition)
                if puzzle["text"].strip() == text.strip():
                    return puzzle
        raise ValueError(_OTHER_TEXT)
