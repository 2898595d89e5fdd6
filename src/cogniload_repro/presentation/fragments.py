"""Pieces of the book's pages: MyST Markdown for the book, HTML for a reader who has the notebook open."""

import html
import os
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from myst_nb import glue

from cogniload_repro.presentation import markdown
from cogniload_repro.published import load_claims

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


def glue_facts(**facts: object) -> None:
    """Keep values, formatted by the caller, for ``{glue:text}`` in the page's own sentences."""
    for key, value in facts.items():
        glue(key, str(value), display=False)


def glue_claims() -> None:
    """Keep every number that the paper's prose states, under its id in ``claims.csv``, for ``{glue:text}``."""
    glue_facts(**load_claims().set_index("id")["value"])


def show_image(svg: Path, caption: str, alt: str) -> str:
    """Return a saved figure as HTML, for a reader who has the notebook open."""
    text = html.escape(markdown.unescape(caption))
    return f'<img src="{html.escape(os.path.relpath(svg))}" alt="{html.escape(alt)}" width="760"><p>{text}</p>'


def list_downloads(folder: str, *names: str) -> str:
    """Return links to files of the build, named by their kind."""
    kinds = {"csv": "CSV", "tex": "LaTeX", "png": "PNG", "svg": "SVG"}
    links = [f"{{download}}`{kinds[name.rsplit('.', 1)[1]]} <../{folder}/{name}>`" for name in names]
    return f":::{{div}} downloads\nDownload: {' · '.join(links)}\n:::"
