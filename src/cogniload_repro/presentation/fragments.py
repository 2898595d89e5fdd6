"""Pieces of the book's pages: MyST Markdown for the book, HTML for a reader who has the notebook open."""

import html
import os
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pandas as pd
from matplotlib.figure import Figure
from myst_nb import glue

from cogniload_repro.escapes import for_spreadsheet
from cogniload_repro.files import write_whole
from cogniload_repro.presentation import markdown
from cogniload_repro.presentation.figure_text import alt_text, figure_caption
from cogniload_repro.presentation.figures import draw_figure
from cogniload_repro.presentation.fit_text import summarise
from cogniload_repro.presentation.interactive import accuracy_data, answering_figure
from cogniload_repro.presentation.score_text import NOT_AVERAGED
from cogniload_repro.presentation.style import save_figure
from cogniload_repro.presentation.table_text import caption_text, save_table, to_myst
from cogniload_repro.presentation.tables import Table, list_added
from cogniload_repro.published import load_claims
from cogniload_repro.statistics.accuracy import evenly_asked
from cogniload_repro.statistics.cell_tables import describe_cells, load_cells, read_provenance
from cogniload_repro.statistics.fits import compare_each
from cogniload_repro.statistics.provenance import source_note

#: What the label on a page says below its title.
_ORIGINS = {
    "reconstructed": "The models' answers were never published. The counts behind this page agree with what the "
    "paper prints, and other counts would too: they are not the authors' data.",
    "imported": "Scored here from model outputs that were read from files.",
    "": "This page rests on a table of counts that a reader supplied, and that does not say where it comes from.",
}

#: A cell that holds numbers alone, with signs, stars and units, as an interval or a share; or nothing.
_NUMBERS = r"(?:[-+−–<>±\d.,e%*/() ]|to|of|no limit|nan)*"


@dataclass(frozen=True, repr=False)
class Fragment:
    """Something to show at the end of a cell: the book takes the Markdown, Jupyter the HTML."""

    markdown: str
    html: str

    def _repr_mimebundle_(self, include=None, exclude=None) -> dict[str, str]:
        return {"text/markdown": self.markdown, "text/html": self.html}

    def __repr__(self) -> str:
        return "Fragment"

    def __add__(self, other: "Fragment") -> "Fragment":
        return Fragment(f"{self.markdown}\n\n{other.markdown}", self.html + other.html)


def show_provenance(source: str | Path | None) -> Fragment:
    """Return the label that opens every page with results: what its cells are, and how many.

    Parameters
    ----------
    source : path
        The build folder, or for pages that rest on another table of cells alone, that table; None for the committed
        reconstruction.
    """
    cells = load_cells(source)
    word = cells.attrs["provenance"]
    title, text = describe_cells(cells) or f"{word.capitalize()} outputs", _ORIGINS[word]
    body = f"{text} How to read this: {{doc}}`/notebooks/01_identification`."
    return Fragment(
        f":::{{admonition}} {markdown.escape(title)}\n:class: provenance\n{body}\n:::",
        f"<p><strong>{html.escape(title)}.</strong> {html.escape(text)}</p>",
    )


def show_figure(name: str, cells: pd.DataFrame, build: str | Path) -> Fragment:
    """Draw one of the paper's figures, save it as PNG and SVG, and return it with caption and downloads.

    Parameters
    ----------
    name : str
        A key of `figures.FIGURES`; also the name of the files and the label for references.
    cells : DataFrame
        The cells to draw; caption and description are computed from the same.
    build : path
        Where ``figures/`` is, and whose provenance the picture states.
    """
    if evenly_asked(cells).empty:
        why = f"Figure {name.removeprefix('figure')} averages accuracies; here all {NOT_AVERAGED}."
        return show_sentence(why, name)
    word = read_provenance(build)
    caption = f"Figure {name.removeprefix('figure')}, recomputed. {figure_caption(name, cells, word)}"
    figure, alt = draw_figure(name, cells, word), alt_text(name, cells, word)
    answers, note = accuracy_data(name, cells, word), source_note(cells, word)
    return show_picture(figure, name, build, caption=caption, alt=alt, note=note, answers=answers)


def show_picture(
    figure: Figure,
    name: str,
    build: str | Path,
    *,
    caption: str,
    alt: str,
    note: str = "",
    answers: Mapping[str, Any] | None = None,
) -> Fragment:
    """Save a picture as PNG and SVG, and return it with caption, description and downloads.

    Parameters
    ----------
    figure : Figure
    name : str
        Of the files, and the label for references.
    build : path
        The build folder, where ``figures/`` is.
    caption : str
        MyST Markdown, without the last full stop; other people's text in it goes through `markdown.escape`.
    alt : str
        What the picture shows, for readers who do not see it: any text.
    note : str
        Where the data come from (`describe_cells`), any text; closes the caption.
    answers : mapping, optional
        What the picture shows as data (see `interactive`), for the figure that the page draws in its place.
    """
    png, svg = save_figure(figure, Path(build) / "figures" / name)
    caption = ". ".join(filter(None, [caption, markdown.escape(note)])) + "."
    directive = markdown.picture(f"../figures/{svg.name}", name, caption=caption, alt=alt)
    lively = f"\n\n{answering_figure(name, answers)}" if answers else ""
    return Fragment(
        f"{directive}\n\n{list_downloads('figures', png.name, svg.name)}{lively}",
        f'<img src="{html.escape(os.path.relpath(svg))}" alt="{html.escape(alt)}" width="760">'
        f"<p>{html.escape(markdown.unescape(caption))}</p>",
    )


def show_table(table: Table, build: str | Path, *, results: bool = True) -> Fragment:
    """Save one of the paper's tables as CSV and LaTeX, and return it with caption and downloads.

    The caption states the build's provenance, unless the table holds no results of models.
    """
    note = _note(build) if results else ""
    files = save_table(table, Path(build) / "tables", note)
    numbered = replace(table, caption=f"Table {table.name.removeprefix('table')}, recomputed. {table.caption}")
    return Fragment(
        f"{to_myst(numbered, note)}\n\n{list_downloads('tables', *(file.name for file in files))}",
        f"<p>{html.escape(caption_text(numbered, note))}</p>{table.frame.to_html(index=False)}",
    )


def show_sentence(text: str, name: str = "") -> Fragment:
    """Return a plain sentence, its first letter a capital: escaped, no markup in it is read.

    Where it stands in place of a picture or table, ``name`` is the label that references to that lead to.
    """
    text = text[:1].upper() + text[1:]
    label = f"({name})=\n\n" if name else ""
    return Fragment(label + markdown.escape(text), f"<p>{html.escape(text)}</p>")


def show_frame(frame: pd.DataFrame, *, caption: str, empty: str = "Nothing to show.", name: str = "") -> Fragment:
    """Return a frame of the book's own as a table.

    Parameters
    ----------
    frame : DataFrame
        Shown without its index; text is escaped, and so are the column names except for ``$...$``.
    caption : str
        MyST Markdown.
    empty : str
        The sentence that takes the table's place if it has no rows.
    name : str
        Label for references.
    """
    if frame.empty:
        return show_sentence(empty, name)
    columns = [frame.iloc[:, place].astype("str").str for place in range(frame.shape[1])]  # names may repeat
    numbers = [name for name, own in zip(frame.columns, columns, strict=True) if own.fullmatch(_NUMBERS).all()]
    return Fragment(
        markdown.table(frame, caption, name=name, right=numbers),
        f"<p>{html.escape(markdown.unescape(caption))}</p>{frame.to_html(index=False)}",
    )


def show_fits(fits: pd.DataFrame, compared: pd.DataFrame, cells: pd.DataFrame, name: str = "") -> Fragment:
    """Return a reader's regression: a summary, and the terms that it adds to the paper's."""
    caption = f"Terms that {markdown.code(fits.attrs['formula'])} adds, and its AIC relative to the paper's."
    return show_sentence(summarise(compare_each(cells, fits))) + show_frame(
        list_added(fits, compared), caption=caption, name=name
    )


def fold(fragment: Fragment, title: str) -> Fragment:
    """Return a fragment that shows only its title, our text, until it is opened."""
    marks = markdown.fence(fragment.markdown, ":")
    return Fragment(
        f"{marks}{{dropdown}} {title}\n{fragment.markdown}\n{marks}",
        f"<details><summary>{html.escape(title)}</summary>{fragment.html}</details>",
    )


def show_text(text: str, title: str) -> Fragment:
    """Return text from a puzzle or a model as it is: escaped, wrapped, never interpreted."""
    marks = markdown.fence(text, "`")
    block = f"**{markdown.escape(title)}**\n\n{marks}{{code-block}} text\n:class: untrusted\n\n{text}\n{marks}"
    return Fragment(block, f"<p><strong>{html.escape(title)}</strong></p><pre>{html.escape(text)}</pre>")


def show_download(file: str | Path, what: str) -> Fragment:
    """Return a link to a file of the build that the book carries along."""
    name = Path(file).name
    return Fragment(f"Download {what}: {{download}}`{name} <../tables/{name}>`", f"<p>{html.escape(str(file))}</p>")


def offer_csv(frame: pd.DataFrame, name: str, build: str | Path, what: str) -> Fragment:
    """Save a frame as ``tables/NAME.csv`` of the build, and return a link to it."""
    text = for_spreadsheet(frame).to_csv(index=False, lineterminator="\n")
    return show_download(write_whole(Path(build) / "tables" / f"{name}.csv", text), what)


def glue_facts(**facts: object) -> None:
    """Keep values, formatted by the caller, for ``{glue:text}`` in the page's own sentences."""
    for key, value in facts.items():
        glue(key, str(value), display=False)


def glue_claims() -> None:
    """Keep every number that the paper's prose states, under its id in ``claims.csv``, for ``{glue:text}``."""
    glue_facts(**load_claims().set_index("id")["value"])


def _note(build: str | Path) -> str:
    return describe_cells(load_cells(build))


def show_image(svg: Path, caption: str, alt: str) -> str:
    """Return a saved figure as HTML, for a reader who has the notebook open."""
    text = html.escape(markdown.unescape(caption))
    return f'<img src="{html.escape(os.path.relpath(svg))}" alt="{html.escape(alt)}" width="760"><p>{text}</p>'


def list_downloads(folder: str, *names: str) -> str:
    """Return links to files of the build, named by their kind."""
    kinds = {"csv": "CSV", "tex": "LaTeX", "png": "PNG", "svg": "SVG"}
    links = [f"{{download}}`{kinds[name.rsplit('.', 1)[1]]} <../{folder}/{name}>`" for name in names]
    return f":::{{div}} downloads\nDownload: {' · '.join(links)}\n:::"
