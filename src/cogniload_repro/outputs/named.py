"""Puzzles that a source only names: drawn again, under the edition of the generator that its names fit."""

from collections.abc import Iterator

from cogniload_repro.outputs.layout import Layout, answer_name
from cogniload_repro.outputs.readers import read_table
from cogniload_repro.puzzles.catalog import Catalog, draw_named, parse_name
from cogniload_repro.puzzles.editions import Edition
from cogniload_repro.puzzles.origin import Fit, choose_edition, find_edition
from cogniload_repro.records import read_text


class NamedPuzzles:
    """Draws the puzzles of which a source gives the name, and perhaps the text, but no metadata.

    The source is read for its names when the first such puzzle is asked for.

    Parameters
    ----------
    layout : Layout
        The files of the source.
    catalog : Catalog
        Puzzles that are known otherwise and need no drawing; it draws the others with this from now on.
    edition : Edition, optional
        Draw under this one, whatever the names fit.

    Attributes
    ----------
    fits : list of Fit
        How well the editions fit, the best first; empty as long as no puzzle had to be drawn, or with a given edition.
    """

    def __init__(self, layout: Layout, catalog: Catalog, edition: Edition | None = None):
        self.fits: list[Fit] = []
        self._layout, self._catalog, self._edition = layout, catalog, edition
        catalog.draw = self.draw

    def draw(self, name: str) -> dict:
        """Return the row of a puzzle.

        Raises
        ------
        ValueError
            If it is no puzzle's name, the names of the source fit no edition, or the drawn puzzle has another solution
            or another text than the source says.
        """
        if self._edition is None and parse_name(name) is not None:
            if not self.fits:
                texts = dict(self._read_names())
                self.fits = find_edition(texts, {one: text for one, text in texts.items() if text is not None})
            self._edition = choose_edition(self.fits)
        row = draw_named(name, self._edition) if self._edition else draw_named(name)
        text = self._read_text(name)
        if text is not None and text.strip() != row["text"].strip():
            raise ValueError(f"its text is not the one that edition {self._edition} draws; add its metadata")
        return row

    def _read_names(self) -> Iterator[tuple[str, str | None]]:
        """Yield the names that the source gives and the catalog lacks, with their texts."""
        for path in self._layout.tables:
            for entry in read_table(path, ["name", "text"]):
                name, said = map((entry.fields or {}).get, ("name", "text"))
                if isinstance(name, str) and name not in self._catalog:
                    yield name, said if isinstance(said, str) else self._read_text(name)
        for _, path in self._layout.answers:
            if (name := answer_name(path)) not in self._catalog:
                yield name, self._read_text(name)

    def _read_text(self, name: str) -> str | None:
        path = self._layout.texts.get(name)
        text = read_text(path) if path else None
        return text if isinstance(text, str) else None
