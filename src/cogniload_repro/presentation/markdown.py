"""MyST Markdown for the book's pages: tables, pictures, and other people's text, which is shown letter by letter."""

import json
import re
from collections.abc import Collection

import pandas as pd

#: What Markdown may read as markup. Commas, quotes and the like it never does.
_PUNCTUATION = re.compile(r"([!#$%&()*+\-.:<=>\[\\\]^_`{|}~])")
_MATH = re.compile(r"(\$[^$]+\$)")


def escape(text: object, *, math: bool = False) -> str:
    """Return text as one line of Markdown that shows it letter by letter: no markup, link or role is read into it.

    With ``math``, for text of ours, what stands between dollar signs is kept.
    """
    line = " ".join(str(text).split())
    parts = _MATH.split(line) if math else [line]
    parts[::2] = [_PUNCTUATION.sub(r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def _cell(text: object, *, math: bool = False) -> str:
    """Return text as Markdown for one cell of a table, which a bar ends even within math."""
    parts = _MATH.split(escape(text, math=math)) if math else [escape(text)]
    parts[1::2] = [part.replace("|", r"\|") for part in parts[1::2]]
    return "".join(parts)


def unescape(markdown: str) -> str:
    """Return Markdown without the backslashes of `escape`, for a reader of the plain source; math is left alone."""
    escaped_or_math = re.compile(rf"\\{_PUNCTUATION.pattern}|{_MATH.pattern}")
    return escaped_or_math.sub(lambda found: found[1] or found[2], markdown)


def code(text: str) -> str:
    """Return text as code within a sentence."""
    line = " ".join(text.split())
    marks = fence(line, "`", least=1)
    return f"{marks} {line} {marks}" if "`" in line else f"{marks}{line}{marks}"


def fence(text: str, mark: str, least: int = 3) -> str:
    """Return a row of marks that is longer than any in the text and so can enclose it."""
    return mark * max(least, 1 + max((len(run) for run in re.findall(f"{mark}+", text)), default=0))


def picture(path: str, name: str, *, caption: str, alt: str, wide: bool = True) -> str:
    """Return a ``figure`` directive labelled with the name.

    The caption is Markdown, ``alt`` any text; a wide picture scrolls on a phone.
    """
    caption = " ".join(caption.split())
    quoted = json.dumps(" ".join(alt.split()), ensure_ascii=False)
    marks = fence(caption, ":")
    options = [f":name: {name}", f":alt: {quoted}"]
    if wide:
        options.append(":figclass: wide")
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
    """Return a frame, without its index, as a ``table`` directive; column names may hold math, missing cells are empty.

    Columns named in ``right`` are aligned to the right, cells of those in ``math`` may hold math between dollar signs.
    ``bold``, in the shape of the frame, says which cells are bold.
    """
    texts = pd.DataFrame(
        {n: [_cell(cell, math=column in math) for cell in frame.iloc[:, n].astype(object).fillna("")]
         for n, column in enumerate(frame.columns)}
    )  # fmt: skip
    if bold is not None:
        strong = bold.set_axis(texts.columns, axis=1).set_axis(texts.index) & (texts != "")
        texts = texts.mask(strong, "**" + texts + "**")
    head = [_cell(column, math=True) for column in frame.columns]
    rule = ["--:" if column in right else ":--" for column in frame.columns]
    lines = [f"| {' | '.join(cells)} |" for cells in (head, rule, *texts.itertuples(index=False))]
    caption = " ".join(caption.split())
    marks = fence(caption, ":")  # of colons: a fence of backquotes would end at code in the caption
    label = [f":name: {name}"] if name else []
    return "\n".join([f"{marks}{{table}} {caption}", *label, "", *lines, marks])
