"""What the cells of a chapter show: figures and tables, with badge, caption and downloads."""

import base64
import html
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any

import pandas as pd

from cogniload_repro.book import markdown
from cogniload_repro.book.backend import find_run
from cogniload_repro.book.build import Build
from cogniload_repro.book.evidence import (
    judge_parts,
    rests_on_paper,
    write_badges,
    write_line,
)
from cogniload_repro.book.markdown import Fragment
from cogniload_repro.book.style import PHONE_IN, save_figure
from cogniload_repro.book.tables import Table
from cogniload_repro.files import write_whole
from cogniload_repro.formats import format_frame
from cogniload_repro.safe_text import for_spreadsheet

#: An empty cell, or one that holds only numbers with signs, stars and units, such as an interval
#: or a share.
_NUMBER_CELL = r"(?:[-+−–<>±\d.,e%*/() ]|to|of|no limit|nan)*"
_FILE_KINDS = {".csv": "CSV", ".tex": "LaTeX", ".png": "PNG", ".svg": "SVG"}


class Page:
    """The page of one notebook.

    When the book is built, figures and tables are also written as files. A reader who runs the
    notebook by hand sees them, and no file of the build is touched.

    Captions are MyST Markdown, in which other people's text must be escaped (`markdown.escape`);
    ``name`` is the label for references and the stem of the files.

    ``evidence`` is the kind of evidence behind a figure or table if the chapter shows the paper's
    models on its whole grid: a key of `EVIDENCE`, or a table with the column ``identified``; "" if
    it shows no data of models, as a diagram. A figure whose panels differ has one kind for each
    (`evidence.judge_parts`). The badge depends on the ``cells`` of the chapter, or on those
    given: scored answers are outputs, a part of the grid is one reconstruction, and neither cites a
    table of the paper as its ``source``.
    """

    def __init__(self, data: Build, cells: pd.DataFrame | None = None):
        self.data = data
        self.cells = cells
        self.run = find_run()

    @cached_property
    def output_folder(self) -> Path:
        """The folder for files: the runner's, or a temporary one deleted with the page."""
        if self.run.output is not None:
            return self.run.output
        folder = tempfile.mkdtemp(prefix="cogniload-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    def figure(
        self,
        figure: Any,
        name: str,
        *,
        caption: str,
        alt: str,
        evidence: str | pd.DataFrame | Mapping[str, str],
        title: str = "",
        source: str = "",
        cells: pd.DataFrame | None = None,
        printed: Any = None,
    ) -> Fragment:
        """Return a figure, or seaborn's grid, with badge, caption and downloads as PNG and SVG.

        ``title``, its finding, stands in the picture; ``alt`` describes it to readers who cannot
        see it; ``printed`` is a download as well, the figure in the paper's layout.
        """
        kinds = self._judge(evidence, cells)
        line = write_line(kinds)
        self.run.placed.append(figure.figure)
        stem = self.output_folder / "figures" / name
        png, svg = save_figure(figure.figure, stem, line, title=title)
        if title:
            alt = f"{title}. {alt}"
        caption = _write_caption(kinds, caption, source)
        wide = figure.figure.get_figwidth() > PHONE_IN
        path = f"../figures/{svg.name}"
        image = markdown.picture(path, name, caption=caption, alt=alt, wide=wide)
        texts = [image, _list_downloads(png, svg)]
        if printed is not None:
            files = save_figure(printed, f"{stem}_as_printed", line, ["svg"])
            texts.append(_list_downloads(*files, what="In the paper's layout"))
        address = html.escape(self._find_picture(png, svg))
        picture = f'<img src="{address}" alt="{html.escape(alt)}" width="760">'
        return Fragment("\n\n".join(texts), picture + markdown.paragraph(caption).html)

    def _find_picture(self, png: Path, svg: Path) -> str:
        """Return the address of a picture for Jupyter."""
        if self.run.output is not None:
            return os.path.relpath(self.data.folder / "figures" / svg.name)
        # a browser cannot read the temporary folder
        content = base64.b64encode(png.read_bytes()).decode("ascii")
        return f"data:image/png;base64,{content}"

    def table(
        self,
        frame: pd.DataFrame,
        name: str,
        *,
        caption: str,
        evidence: str | pd.DataFrame,
        source: str = "",
        cells: pd.DataFrame | None = None,
        columns: Mapping[
            str | tuple[str, ...], tuple[str, Callable[..., str] | str | int]
        ]
        | None = None,
        csv: bool = False,
        empty: str = "Nothing to show.",
    ) -> Fragment:
        """Return a frame, without its index, as an escaped table with badge and caption.

        ``columns`` maps a column, or several, to heading and format (`formats.format_frame`);
        without it all are shown, with ``$...$`` in their names as math. ``csv`` offers the whole
        frame, unformatted; ``empty`` is shown if the table has no rows.
        """
        texts = frame if columns is None else format_frame(frame, columns)
        if texts.empty:
            return markdown.sentence(empty, name)
        caption = _write_caption(self._judge(evidence, cells), caption, source)
        right = []
        for place, heading in enumerate(texts.columns):  # headings may repeat
            column = texts.iloc[:, place].astype("str")
            if column.str.fullmatch(_NUMBER_CELL).all():
                right.append(heading)
        fragment = Fragment(
            markdown.table(texts, caption, name=name, right=right),
            markdown.paragraph(caption).html + texts.to_html(index=False),
        )
        return fragment + self.csv(frame, name, "the whole table") if csv else fragment

    def paper_table(
        self, table: Table, *, evidence: str | pd.DataFrame, origin: str = "recomputed"
    ) -> Fragment:
        """Return one of the paper's tables with badge, and downloads as CSV and LaTeX."""
        kinds = self._judge(evidence, None)
        files = table.save(self.output_folder / "tables", write_line(kinds))
        number = re.fullmatch(r"table(\d+)", table.name)
        title = f"Table {number[1]}, {origin}." if number else ""
        caption = _write_caption(kinds, title)
        return Fragment(
            f"{table.to_myst(caption)}\n\n{_list_downloads(*files)}",
            table.frame.to_html(index=False),
        )

    def csv(self, frame: pd.DataFrame, name: str, what: str) -> Fragment:
        """Write a frame to ``tables/NAME.csv``, and return a link to it."""
        text = for_spreadsheet(frame).to_csv(index=False, lineterminator="\n")
        file = write_whole(self.output_folder / "tables" / f"{name}.csv", text)
        return link(
            file
            if self.run.output is None
            else self.data.folder / "tables" / file.name,
            what,
        )

    def _judge(
        self,
        evidence: str | pd.DataFrame | Mapping[str, str],
        cells: pd.DataFrame | None,
    ) -> dict[str, str]:
        """Return the kinds of evidence for the cells given, else for those of the chapter."""
        return judge_parts(evidence, self.cells if cells is None else cells)


def link(file: Path, what: str) -> Fragment:
    """Return a link to a table of the build that the book carries along."""
    text = f"Download {what}: {{download}}`{file.name} <../tables/{file.name}>`"
    return Fragment(text, f"<p>{html.escape(str(file))}</p>")


def _write_caption(kinds: Mapping[str, str], caption: str, source: str = "") -> str:
    """Return a caption with its badges and, if numbers rest on the paper's tables, its source."""
    origin = f"Source: {source}." if source and rests_on_paper(kinds) else ""
    return " ".join(filter(None, [write_badges(kinds), caption, origin]))


def _list_downloads(*files: Path, what: str = "Download") -> str:
    """Return links to files of the build, named by their kind."""
    links = [
        f"{{download}}`{_FILE_KINDS[file.suffix]} <../{file.parent.name}/{file.name}>`"
        for file in files
    ]
    return f":::{{div}} downloads\n{what}: {' · '.join(links)}\n:::"
