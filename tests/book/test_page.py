"""A page's figures, tables and texts.

Evidence in words, in the exported image and in the caption. What is escaped.
"""

import re
from pathlib import Path

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from hypothesis import given
from markup import HOSTILE, render
from matplotlib.figure import Figure

import cogniload_repro as cl
from cogniload_repro.analysis.verdicts import each
from cogniload_repro.book import markdown
from cogniload_repro.book.backend import Run
from cogniload_repro.book.build import Build
from cogniload_repro.book.page import Page
from cogniload_repro.book.verdict_rows import show_verdicts
from cogniload_repro.storage import write_table

CELLS = cl.load_cells(models=["QwQ-32B"]).drop(columns="log10_N")
PLAIN = {"name": "t", "caption": "C.", "evidence": ""}


@pytest.fixture
def build(tmp_path):
    """A function that writes a build's cells and returns its page."""

    def write(cells=CELLS, provenance="reconstructed"):
        if provenance is not None:
            cells = cells.assign(provenance=provenance)
        write_table(tmp_path / "cells.parquet", cells)
        return Page(Build(tmp_path))

    return write


def test_one_partial_own_model_repaints_nothing_of_the_papers(build):
    """A chapter shows the paper's models unless others are named, and its badges are theirs."""
    cells = CELLS[CELLS["N"] == 20].assign(model="mine", provenance="scored")
    page = build(
        pd.concat([CELLS.assign(provenance="reconstructed"), cells]), provenance=None
    )
    frame = pd.DataFrame({"x": [1]})
    page.cells = page.data.cells()
    assert page.cells["model"].unique().tolist() == ["QwQ-32B"]
    fragment = page.table(
        frame, "t", caption="C.", evidence="identified", source="Table 2"
    ).markdown
    assert "`identified`" in fragment
    assert "Source: Table 2." in fragment

    page.cells = page.data.cells(["QwQ-32B", "mine"])
    fragment = page.table(
        frame, "t", caption="C.", evidence="identified", source="Table 2"
    ).markdown
    assert "`reconstructed and scored`" in fragment
    assert "Table 2" not in fragment


def test_a_figure_states_its_evidence_in_the_file(build, tmp_path):
    """The line on the evidence is a strip below the figure."""
    page = build()
    page.run = Run("chapter", tmp_path / "output")
    heights = []
    for evidence in ("", "identified"):
        figure = Figure(figsize=(4, 3), dpi=100)
        page.figure(figure, "f", caption="C.", alt="a", evidence=evidence)
        heights.append(plt.imread(tmp_path / "output" / "figures" / "f.png").shape[0])
    assert heights[1] > heights[0]
    assert any(text.get_gid() == "source" for text in figure.texts)


def test_a_chapter_by_hand_shows_all_and_touches_no_file_of_its_build(build, tmp_path):
    """A figure is in its cell, a table in a file that goes with the page.

    In the book both are links into the build.
    """
    page = build()
    before = {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*")}
    figure = page.figure(Figure(), "f", caption="C.", alt="a", evidence="")
    table = page.csv(pd.DataFrame({"n": [1]}), "t", "it")
    assert '<img src="data:image/png;base64,' in figure.html
    assert "../figures/f.svg" in figure.markdown
    file = Path(re.fullmatch(r"<p>(.*)</p>", table.html)[1])
    assert file.read_text() == "n\n1\n"
    assert {file: file.stat().st_mtime_ns for file in tmp_path.rglob("*")} == before
    del page
    assert not file.exists()


def test_a_table_offers_its_frame_where_it_is_asked_to(build):
    """All columns as CSV, as the page shows a part of them."""
    page = build()
    frame = pd.DataFrame({"n": [1], "more": [2]})
    columns = {"n": ("n", 0)}
    offered = page.table(frame, **PLAIN, columns=columns, csv=True)
    assert "tables/t.csv" in offered.markdown
    assert "t.csv" not in page.table(frame, **PLAIN, columns=columns).markdown


@given(HOSTILE)
def test_shown_text_stays_inside_its_block(text):
    """Text of a puzzle or model ends up in one code block, whole, and in escaped HTML."""
    fragment = markdown.quote(text, "A title")
    *_, block = render(fragment.markdown)
    assert block.type == "fence"
    content = re.sub(r"\r\n?", "\n", text.replace("\0", "\ufffd") + "\n")
    assert block.content.split("\n", 2)[2] == content
    assert "<" not in re.sub(
        r"^<p><strong>A title</strong></p><pre>|</pre>$", "", fragment.html
    )


def test_tables_escape_cells_and_set_numbers_to_the_right():
    """Headers may hold math.

    Numbers have stars, units or are intervals; a column with words stands to the left.
    """
    page = Page(Build("nowhere"))
    frame = pd.DataFrame(
        {
            "$d$ of *": ["a|b", "<b>"],
            "Coefficient": ["-0.012***", "--"],
            "95%": ["-1.0 to 2e-05", "1.0 to no limit"],
            "Share": ["3 of 4", "1%"],
            "Mixed": ["1", "separation"],
            "total": [1, 2],
        }
    )
    head, rule, *rows = page.table(frame, **PLAIN).markdown.splitlines()[3:]
    assert head.startswith("| $d$ of \\* | Coefficient |")
    assert rule == "| :-- | --: | --: | --: | :-- | --: |"
    assert [row.split(" | ")[0] for row in rows[:2]] == ["| a\\|b", "| \\<b\\>"]
    assert (
        "| --: | --: |"
        in page.table(pd.DataFrame([[1, 2]], columns=["p", "p"]), **PLAIN).markdown
    )
    assert (
        page.table(pd.DataFrame(), **PLAIN, empty="none_ here").markdown
        == "(t)=\n\nNone\\_ here"
    )


def test_statements_on_the_paper_need_its_models_on_the_whole_grid(build):
    """A build of the 22 models states.

    Without one cell, or an answer's token counts, it says what it covers, and no verdict word.
    """
    row = {"claim": each([True])}
    cells = cl.load_cells().drop(columns="log10_N")
    whole = build(cells)
    assert whole.data.complete
    assert "supported" in show_verdicts(whole, row).markdown
    assert whole.data.state("All **fall**.").markdown == "All **fall**."
    partial = build(cells.drop(index=0))
    assert not partial.data.complete
    assert "supported" not in show_verdicts(partial, row).markdown
    assert "22 models" in partial.data.state("All fall.").markdown
    assert len(partial.data.paper) == len(cells)
    uncounted = build(cells.assign(ctx=cells["ctx"].where(cells.index > 0)))
    assert not uncounted.data.complete
    assert "token counts" in uncounted.data.state("All fall.").markdown
