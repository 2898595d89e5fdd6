"""MyST Markdown: escaped text, tables and pictures, read back as the book reads them."""

import pandas as pd
from docutils import nodes
from docutils.core import publish_doctree
from hypothesis import example, given
from markup import HOSTILE
from myst_parser.docutils_ import Parser

from cogniload_repro.book import markdown

_SETTINGS = {
    "myst_enable_extensions": ["dollarmath", "colon_fence", "attrs_inline"],
    "report_level": 5,
}


def read(text):
    """Return the document that the Markdown stands for; a warning of the parser fails the test."""
    document = publish_doctree(text, parser=Parser(), settings_overrides=_SETTINGS)
    assert not list(document.findall(nodes.system_message))
    return document


def line(text):
    """Return hostile text as a reader of one line sees it."""
    return " ".join(text.split()).replace("\0", "\ufffd")


@given(HOSTILE)
def test_escaped_text_is_only_text(text):
    """Whatever is escaped comes back letter by letter, without markup.

    It can be unescaped.
    """
    (paragraph,) = read(f"x{markdown.escape(text)}x").children
    assert {type(node) for node in paragraph.children} == {nodes.Text}
    assert paragraph.astext() == f"x{line(text)}x"
    assert markdown.unescape(markdown.escape(text)) == " ".join(text.split())


@given(HOSTILE)
def test_a_picture_is_one_figure_whatever_it_is_called(text):
    """Description and caption come back letter by letter from the one figure that there is."""
    source = markdown.picture(
        "p.svg", "name", caption=f"Of {markdown.escape(text)}", alt=f"{text} drawn"
    )
    (figure,) = read(source).children
    image, caption = figure.children
    assert image["alt"] == " ".join(f"{text} drawn".split())
    assert image["names"] == ["name"]
    assert caption.astext() == f"Of {line(text)}".strip()


@given(HOSTILE, HOSTILE)
@example("", "$|$")
@example("$|x$", "a$b|c$|")
def test_a_table_keeps_its_rows_and_columns(first, second):
    """Cells come back letter by letter from a table of the frame's shape."""
    frame = pd.DataFrame(
        {"$d$ of *": [first, "b"], "total": [1, 2], f"x{second}": ["", "c"]}
    )
    marked = markdown.table(frame, f"Of {markdown.escape(second)}", right=["total"])
    table = next(read(marked).findall(nodes.table))
    title, group = table.children
    assert title.astext() == f"Of {line(second)}".strip()
    rows = []
    for row in group.findall(nodes.row):
        rows.append([entry.astext() for entry in row.findall(nodes.entry)])
    assert [row[:2] for row in rows] == [
        ["d of *", "total"],
        [line(first), "1"],
        ["b", "2"],
    ]
    assert [len(row) for row in rows] == [3, 3, 3]


def test_math_is_kept_where_it_is_meant():
    """Headers may hold math, cells only in columns that say so; bold cells are bold."""
    frame = pd.DataFrame({"a": ["$x$"], "b": ["$x$"], "c": ["3"]})
    bold = pd.DataFrame({"a": [False], "b": [False], "c": [True]})
    table = read(markdown.table(frame, "Cap", math=["b"], bold=bold, name="t"))
    entries = list(table.findall(nodes.entry))[3:]
    assert [bool(list(entry.findall(nodes.math))) for entry in entries] == [
        False,
        True,
        False,
    ]
    assert entries[0].astext() == "$x$"
    assert list(entries[2].findall(nodes.strong))
