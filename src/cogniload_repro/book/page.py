"""One page of the book: what its cells show, with captions, evidence and downloads."""

import base64
import html
import os
import re
import shutil
import tempfile
import weakref
from collections.abc import Callable, Collection, Mapping
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import matplotlib as mpl
import pandas as pd
from myst_nb import glue

from cogniload_repro.analysis.specifications import (
    SPECIFICATIONS,
    fit_specifications,
)
from cogniload_repro.analysis.verdicts import UNKNOWN, Judgement
from cogniload_repro.book import markdown
from cogniload_repro.book.backend import use_backend
from cogniload_repro.book.captions import caption_figure, describe_figure
from cogniload_repro.book.evidence import EVIDENCE, judge_evidence
from cogniload_repro.book.figures import PaperFigure
from cogniload_repro.book.fragment import Fragment, list_downloads, write_caption
from cogniload_repro.book.style import PHONE_IN, STYLE, save_figure
from cogniload_repro.book.tables import Table
from cogniload_repro.files import for_spreadsheet, write_whole
from cogniload_repro.formats import display_names, format_frame
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import BY_NAME, NAMES
from cogniload_repro.published import load_conclusions
from cogniload_repro.regression.cell_tables import coverage, load_cells
from cogniload_repro.regression.reconstructions import from_printed_tables

#: An empty cell, or one that holds only numbers with signs, stars and units, such as an interval
#: or a share.
_NUMBER_CELL = r"(?:[-+−–<>±\d.,e%*/() ]|to|of|no limit|nan)*"
#: Columns of the verdicts of a chapter.
_JUDGED = ["conclusion", "claim", "verdict", "evidence"]


class Page:
    """The page of one notebook over a build folder (its ``cells.parquet`` and the like).

    When the book is built, figures and tables are also written as files. A reader who runs the
    notebook by hand sees them, and no file of the build is touched.

    A page sets the plot style for the whole notebook, seaborn's figures included. A figure is shown
    by `figure`, by `matplotlib.pyplot.show`, or as the last value of a cell. Captions are MyST
    Markdown, in which other people's text must be escaped (`markdown.escape`); ``name`` is the
    label for references and the stem of the files.

    ``evidence`` is the kind of evidence behind a figure or table if the chapter shows the paper's
    models on its whole grid: a key of `EVIDENCE`, or a table with the column ``identified``; "" if
    it shows no data of models. The badge depends on the cells that the chapter took with `cells`,
    or those given: scored answers are outputs, a part of the grid is one reconstruction, and
    neither cites a table of the paper as its ``source``.
    """

    #: Name of the chapter that is run, and the folder for its files; `notebooks` sets both.
    chapter: ClassVar[str] = ""
    output: ClassVar[Path | None] = None
    #: Figures that a page has shown.
    placed: ClassVar[weakref.WeakSet] = weakref.WeakSet()

    def __init__(self, build: str | Path):
        self.build = Path(build)
        self._cells: pd.DataFrame | None = None
        self._judged: list[dict[str, str]] = []
        use_backend()
        mpl.rcParams.update(STYLE)

    @cached_property
    def _build_cells(self) -> pd.DataFrame:
        return load_cells(self.build)

    def cells(self, models: Collection[str] | str | None = None) -> pd.DataFrame:
        """Return the cells of some models, and base the badges of the page on them.

        Default: the paper's models if the build has any, else all models of the build.
        """
        if models is not None:
            self._cells = load_cells(self.build, models)
        else:
            paper = self._build_cells["model"].isin(NAMES)
            chosen = self._build_cells[paper] if paper.any() else self._build_cells
            self._cells = chosen.reset_index(drop=True)
        return self._cells

    @cached_property
    def labels(self) -> dict[str, str]:
        """Return the label of each model; the paper's have the names of its figures."""
        paper = {name: model.label for name, model in BY_NAME.items()}
        return display_names(self._build_cells["model"]) | paper

    @cached_property
    def complete(self) -> bool:
        """Return whether the build suffices to judge the paper's statements.

        It must have the paper's 22 models on the whole grid, each with a finite fit of the paper's
        regression.
        """
        paper = self._build_cells[self._build_cells["model"].isin(NAMES)]
        if paper["model"].nunique() < len(NAMES):
            return False
        fewest, _ = coverage(paper)
        if fewest < len(PAPER_GRID):
            return False
        fits = fit_specifications(paper, SPECIFICATIONS[:1])
        return bool((fits["status"] == "ok").all())

    @cached_property
    def paper(self) -> pd.DataFrame:
        """Return the cells of the paper's 22 models: the build's, else the committed ones."""
        cells = self._build_cells if self.complete else load_cells()
        return cells[cells["model"].isin(NAMES)].reset_index(drop=True)

    @property
    def covers(self) -> str:
        """Return the sentence that replaces statements on the paper in an incomplete build."""
        cells = self._build_cells
        models = cells["model"].nunique()
        fewest, most = coverage(cells)
        cells_held = f"{most}" if fewest == most else f"{fewest} to {most}"
        return (
            f"This build holds {models:,} model{'s' * (models != 1)} on {cells_held} of the grid's "
            f"{len(PAPER_GRID)} cells; statements on the paper need its {len(NAMES)} models on "
            "all of them, each with a finite fit of the paper's regression."
        )

    def lead(self, text: str, *, any_build: bool = False) -> Fragment:
        """Keep the page's first paragraph for its ``{glue:md}`` directive; show it in Jupyter."""
        return self.state("lead", text, any_build=any_build)

    def verdicts(
        self, judged: Mapping[str, Judgement], findings: Mapping[str, str] | None = None
    ) -> Fragment:
        """Show the chapter's verdicts, and save them for chapter 10 (`read_verdicts`).

        The keys are statements: claims, or names of conclusions (`load_conclusions`). A finding
        replaces the evidence of the verdict; both are Markdown written by us. If the build is not
        complete, no statement is tested, and one sentence says why.
        """
        conclusions = load_conclusions().set_index("name")
        rows = []
        for statement, verdict in judged.items():
            is_conclusion = statement in conclusions.index
            row = {
                "conclusion": statement if is_conclusion else "",
                "claim": conclusions["title"].get(statement, statement),
                "verdict": verdict.word,
                "evidence": (findings or {}).get(statement, verdict.evidence),
            }
            if not self.complete:
                row |= {"verdict": UNKNOWN, "evidence": self.covers}
            rows.append(row)
        self._judged += rows
        frame = pd.DataFrame(self._judged, columns=_JUDGED)
        file = self._output / "verdicts" / f"{self.chapter}.csv"
        write_whole(file, frame.to_csv(index=False, lineterminator="\n"))
        if not self.complete:
            return self.sentence(self.covers)
        lines = ["| Claim | Verdict | Evidence |", "|:--|:--|:--|"]
        for row in rows:
            lines.append(f"| {row['claim']} | {row['verdict']} | {row['evidence']} |")
        return Fragment("\n".join(lines), pd.DataFrame(rows).to_html(index=False))

    def read_verdicts(self) -> pd.DataFrame:
        """Return the verdicts that the chapters of the build wrote in their last runs.

        One row per statement: chapter, conclusion (a name of `load_conclusions`, or ""), claim,
        verdict (a word of `VERDICT_WORDS`) and evidence.
        """
        frames = [pd.DataFrame(columns=["chapter", *_JUDGED])]
        for file in sorted((self.build / "verdicts").glob("*.csv")):
            frame = pd.read_csv(file, dtype=str, keep_default_na=False)
            frames.append(frame.assign(chapter=file.stem))
        return pd.concat(frames, ignore_index=True)

    def state(self, key: str, text: str, *, any_build: bool = False) -> Fragment:
        """Keep Markdown under a key for ``{glue:md}``; show it in Jupyter.

        If the build is not complete, `covers` replaces the text, unless it holds for any build.
        """
        if not any_build and not self.complete:
            text = markdown.escape(self.covers)
        fragment = Fragment(text, f"<p>{html.escape(markdown.unescape(text))}</p>")
        glue(key, fragment, display=False)
        return fragment

    @cached_property
    def checks(self) -> pd.DataFrame:
        """Return the ledger, one row per printed number (`ledger.entries.compare`)."""
        return pd.read_parquet(self.build / "fidelity.parquet")

    @property
    def reconstructed(self) -> bool:
        """Return whether the counts of the paper's models are a reconstruction."""
        return bool(from_printed_tables(self._build_cells).any())

    @cached_property
    def _output(self) -> Path:
        """Return the folder for files: the runner's, or a temporary one deleted with the page."""
        if self.output is not None:
            return self.output
        folder = tempfile.mkdtemp(prefix="cogniload-")
        weakref.finalize(self, shutil.rmtree, folder, ignore_errors=True)
        return Path(folder)

    def _place(self, file: Path) -> Path:
        """Return the final path of a file: in the build, if the runner will move it there."""
        if self.output is None:
            return file
        return self.build / file.relative_to(self.output)

    def figure(
        self,
        figure: Any,
        name: str,
        *,
        caption: str,
        alt: str,
        evidence: str | pd.DataFrame,
        source: str = "",
        cells: pd.DataFrame | None = None,
    ) -> Fragment:
        """Return a figure, or seaborn's grid, with badge, caption and downloads as PNG and SVG.

        ``alt`` describes it to readers who cannot see it.
        """
        kind = self._kind(evidence, cells)
        self.placed.add(figure.figure)
        png, svg = save_figure(
            figure.figure, self._output / "figures" / name, EVIDENCE[kind].line
        )
        caption = write_caption(kind, caption, source)
        wide = figure.figure.get_figwidth() > PHONE_IN
        path = f"../figures/{svg.name}"
        image = markdown.picture(path, name, caption=caption, alt=alt, wide=wide)
        downloads = list_downloads(png, svg)
        if self.output is None:  # a browser cannot read the temporary folder
            content = base64.b64encode(png.read_bytes()).decode("ascii")
            address = f"data:image/png;base64,{content}"
        else:
            address = html.escape(os.path.relpath(self._place(svg)))
        picture = f'<img src="{address}" alt="{html.escape(alt)}" width="760">'
        words = html.escape(markdown.unescape(caption))
        return Fragment(f"{image}\n\n{downloads}", f"{picture}<p>{words}</p>")

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
            return self.sentence(empty, name)
        caption = write_caption(self._kind(evidence, cells), caption, source)
        right = []
        for place, heading in enumerate(texts.columns):  # headings may repeat
            column = texts.iloc[:, place].astype("str")
            if column.str.fullmatch(_NUMBER_CELL).all():
                right.append(heading)
        words = html.escape(markdown.unescape(caption))
        fragment = Fragment(
            markdown.table(texts, caption, name=name, right=right),
            f"<p>{words}</p>{texts.to_html(index=False)}",
        )
        return fragment + self.csv(frame, name, "the whole table") if csv else fragment

    def paper_figure(
        self,
        name: str,
        cells: pd.DataFrame,
        *,
        evidence: str | pd.DataFrame,
    ) -> Fragment:
        """Draw one of the paper's figures (a key of `figures.FIGURES`) from cells."""
        number = name.removeprefix("figure")
        figure = PaperFigure(name, cells)
        fragment = self.figure(
            figure.draw(),
            name,
            caption=f"Figure {number}, recomputed. {caption_figure(figure)}.",
            alt=describe_figure(figure),
            evidence=evidence,
        )
        if len(figure.panels) == 1:
            return fragment
        line = EVIDENCE[self._kind(evidence)].line
        stem = self._output / "figures" / f"{name}_as_printed"
        files = save_figure(figure.draw_as_printed(), stem, line, ["svg"])
        downloads = list_downloads(*files, what="In the paper's layout")
        return fragment + Fragment(downloads, "")

    def paper_table(
        self, table: Table, *, evidence: str | pd.DataFrame, origin: str = "recomputed"
    ) -> Fragment:
        """Return one of the paper's tables with badge, and downloads as CSV and LaTeX."""
        kind = self._kind(evidence)
        files = table.save(self._output / "tables", EVIDENCE[kind].line)
        number = re.fullmatch(r"table(\d+)", table.name)
        title = f"Table {number[1]}, {origin}." if number else ""
        caption = write_caption(kind, title)
        return Fragment(
            f"{table.to_myst(caption)}\n\n{list_downloads(*files)}",
            table.frame.to_html(index=False),
        )

    def csv(self, frame: pd.DataFrame, name: str, what: str) -> Fragment:
        """Write a frame to ``tables/NAME.csv``, and return a link to it."""
        text = for_spreadsheet(frame).to_csv(index=False, lineterminator="\n")
        file = write_whole(self._output / "tables" / f"{name}.csv", text)
        return self.download(self._place(file), what)

    def download(self, file: Path, what: str) -> Fragment:
        """Return a link to a table of the build that the book carries along."""
        link = f"Download {what}: {{download}}`{file.name} <../tables/{file.name}>`"
        return Fragment(link, f"<p>{html.escape(str(file))}</p>")

    def sentence(self, text: str, name: str = "") -> Fragment:
        """Return a plain sentence, escaped, starting with a capital.

        ``name`` is its label if it replaces a figure or table.
        """
        text = text[:1].upper() + text[1:]
        label = f"({name})=\n\n" if name else ""
        return Fragment(label + markdown.escape(text), f"<p>{html.escape(text)}</p>")

    def text(self, text: str, title: str) -> Fragment:
        """Return text from a puzzle or a model as it is: escaped, wrapped, never interpreted."""
        marks = markdown.fence(text, "`")
        block = f"{marks}{{code-block}} text\n:class: untrusted\n\n{text}\n{marks}"
        heading = f"<p><strong>{html.escape(title)}</strong></p>"
        return Fragment(
            f"**{markdown.escape(title)}**\n\n{block}",
            f"{heading}<pre>{html.escape(text)}</pre>",
        )

    def fold(self, fragment: Fragment, title: str) -> Fragment:
        """Return a fragment folded under a title (not escaped) until a reader opens it."""
        marks = markdown.fence(fragment.markdown, ":")
        return Fragment(
            f"{marks}{{dropdown}} {title}\n{fragment.markdown}\n{marks}",
            f"<details><summary>{html.escape(title)}</summary>{fragment.html}</details>",
        )

    def _kind(
        self, evidence: str | pd.DataFrame, cells: pd.DataFrame | None = None
    ) -> str:
        """Return the kind of evidence for the cells given, else for those of the chapter."""
        return judge_evidence(evidence, self._cells if cells is None else cells)
