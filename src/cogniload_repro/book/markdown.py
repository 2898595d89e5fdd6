"""MyST Markdown for the book's pages: tables, pictures, and other people's text, shown as it is."""

import json
import re
from collections.abc import Collection

import pandas as pd

#: Characters that Markdown may read as markup (never commas, quotes and the like).
_PUNCTUATION = re.compile(r"([!#$%&()*+\-.:<=>\[\\\]^_`{|}~])")
_MATH = re.compile(r"(\$[^$]+\$)")


def escape(text: object, *, math: bool = False) -> str:
    """Return text as one line of Markdown that shows it literally, without markup or links.

    With ``math``, for our own text only, formulas between dollar signs are kept.
    """
    line = " ".join(str(text).split())
    parts = _MATH.split(line) if math else [line]
    parts[::2] = [_PUNCTUATION.sub(r"\\\1", part) for part in parts[::2]]
    return "".join(parts)


def _cell(text: object, *, math: bool = False) -> str:
    """Return text as Markdown for a table cell; bars are escaped, as they end it even in math."""
    parts = _MATH.split(escape(text, math=math)) if math else [escape(text)]
    parts[1::2] = [part.replace("|", r"\|") for part in parts[1::2]]
    return "".join(parts)


def unescape(markdown: str) -> str:
    """Return Markdown without the backslashes of `escape`, as plain text; math is left alone."""
    escaped_or_math = re.compile(rf"\\{_PUNCTUATION.pattern}|{_MATH.pattern}")
    return escaped_or_math.sub(lambda match: match[1] or match[2], markdown)


def code(text: str) -> str:
    """Return text as code within a sentence."""
    line = " ".join(text.split())
    marks = fence(line, "`", least=1)
    return f"{marks} {line} {marks}" if "`" in line else f"{marks}{line}{marks}"


def fence(text: str, mark: str, least: int = 3) -> str:
    """Return a row of marks that is longer than any in the text and so can enclose it."""
    runs = re.findall(f"{mark}+", text)
    longest = max(map(len, runs), default=0)
    return mark * max(least, longest + 1)


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
    """Return a frame, without its index, as a ``table`` directive; missing cells are empty.

    Column names may hold math between dollar signs, and so may the cells of columns in ``math``.
    Columns in ``right`` are aligned to the right; ``bold``, in the shape of the frame, says which
    cells are bold.
    """
    columns = []
    for place, heading in enumerate(frame.columns):  # names may repeat
        values = frame.iloc[:, place].astype(object).fillna("")
        texts = [_cell(value, math=heading in math) for value in values]
        if bold is not None:
            marks = bold.iloc[:, place].map({True: "**", False: ""})
            texts = [
                mark + text + mark for mark, text in zip(marks, texts, strict=True)
            ]
        columns.append(texts)
    head = [_cell(name, math=True) for name in frame.columns]
    rule = ["--:" if name in right else ":--" for name in frame.columns]
    rows = [head, rule, *zip(*columns, strict=True)]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    caption = " ".join(caption.split())
    marks = fence(
        caption, ":"
    )  # of colons: a fence of backquotes would end at code in the caption
    label = [f":name: {name}"] if name else []
    return "\n".join([f"{marks}{{table}} {caption}", *label, "", *lines, marks])
