"""MyST Markdown for the book's pages: fragments, captions, tables, and text shown as it is."""

import html
import json
import re
from collections.abc import Collection
from dataclasses import dataclass

import pandas as pd

#: Characters that Markdown may read as markup (never commas, quotes and the like).
_PUNCTUATION = re.compile(r"([!#$%&()*+\-.:<=>\[\\\]^_`{|}~])")
_MATH = re.compile(r"(\$[^$]+\$)")
#: A role of MyST, such as a link to a chapter, and the text that it shows.
_ROLE = re.compile(r"\{\w+\}`([^`<]*[^`< ])[^`]*`")


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


# ---- fragments of text ----
def paragraph(text: str) -> Fragment:
    """Return our own Markdown as a paragraph."""
    plain = _ROLE.sub(r"\1", unescape(text))
    return Fragment(text, f"<p>{html.escape(plain)}</p>")


def sentence(text: str, name: str = "") -> Fragment:
    """Return a plain sentence, escaped, starting with a capital.

    ``name`` is its label if it replaces a figure or table.
    """
    shown = paragraph(escape(text[:1].upper() + text[1:]))
    return Fragment(f"({name})=\n\n{shown.markdown}", shown.html) if name else shown


def quote(text: str, title: str) -> Fragment:
    """Return text from a puzzle or a model as it is: escaped, wrapped, never interpreted."""
    marks = fence(text, "`")
    block = f"{marks}{{code-block}} text\n:class: untrusted\n\n{text}\n{marks}"
    heading = f"<p><strong>{html.escape(title)}</strong></p>"
    return Fragment(
        f"**{escape(title)}**\n\n{block}", f"{heading}<pre>{html.escape(text)}</pre>"
    )


def fold(fragment: Fragment, title: str) -> Fragment:
    """Return a fragment folded under a title (not escaped) until a reader opens it."""
    marks = fence(fragment.markdown, ":")
    summary = f"<summary>{html.escape(title)}</summary>"
    return Fragment(
        f"{marks}{{dropdown}} {title}\n{fragment.markdown}\n{marks}",
        f"<details>{summary}{fragment.html}</details>",
    )


# ---- Markdown ----
def escape(text: object, *, math: bool = False) -> str:
    """Return text as one line of Markdown that shows it literally, without markup or links.

    With ``math``, for our own text only, formulas between dollar signs are kept.
    """
    line = " ".join(str(text).split())
    parts = _MATH.split(line) if math else [line]
    parts[::2] = [_PUNCTUATION.sub(r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def unescape(markdown: str) -> str:
    """Return Markdown without the backslashes of `escape`, as plain text; math is left alone."""
    escaped_or_math = re.compile(rf"\\{_PUNCTUATION.pattern}|{_MATH.pattern}")
    return escaped_or_math.sub(lambda match: match[1] or match[2], markdown)


def fence(text: str, mark: str) -> str:
    """Return a row of marks that is longer than any in the text and so can enclose it."""
    runs = re.findall(f"{mark}+", text)
    return mark * max(3, *(len(run) + 1 for run in runs), 0)


def picture(path: str, name: str, *, caption: str, alt: str, wide: bool = True) -> str:
    """Return a ``figure`` directive labelled with the name.

    The caption is Markdown, ``alt`` any text; a wide picture scrolls on a phone.
    """
    quoted = json.dumps(" ".join(alt.split()), ensure_ascii=False)
    options = [f":name: {name}", f":alt: {quoted}"]
    if wide:
        options.append(":figclass: wide")
    caption = " ".join(caption.split())
    marks = fence(caption, ":")
    return "\n".join([f"{marks}{{figure}} {path}", *options, "", caption, marks])


def table(
    frame: pd.DataFrame,
    caption: str,
    *,
    name: str = "",
    right: Collection[str] = (),
    math: Collection[str] = (),
    bold: pd.DataFrame | None = None,
) -> str:
    """Return a frame, without its index, as a ``table`` directive; missing cells are empty.

    Column names may hold math between dollar signs, and so may the cells of columns in ``math``.
    Columns in ``right`` are aligned to the right; ``bold``, in the shape of the frame, says which
    cells are bold.
    """
    columns = []
    for place, heading in enumerate(frame.columns):  # names may repeat
        values = frame.iloc[:, place].astype(object).fillna("")
        texts = values.map(lambda value, math=heading in math: _cell(value, math))
        if bold is not None:
            marks = bold.iloc[:, place].map({True: "**", False: ""})
            texts = marks + texts + marks
        columns.append(texts)
    head = [_cell(heading, math=True) for heading in frame.columns]
    rule = ["--:" if heading in right else ":--" for heading in frame.columns]
    rows = [head, rule, *zip(*columns, strict=True)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    caption = " ".join(caption.split())
    marks = fence(
        caption, ":"
    )  # a fence of backquotes would end at code in the caption
    label = [f":name: {name}"] if name else []
    return "\n".join([f"{marks}{{table}} {caption}", *label, "", *lines, marks])


def _cell(text: object, math: bool) -> str:
    """Return text as Markdown for a table cell; bars are escaped, as they end it even in math."""
    parts = _MATH.split(escape(text, math=math)) if math else [escape(text)]
    parts[1::2] = [part.replace("|", r"\|") for part in parts[1::2]]
    return "".join(parts)
