"""A page's figures and tables: evidence in words, in the exported image and in the caption."""

import matplotlib.pyplot as plt
import pandas as pd
import pytest
from matplotlib.figure import Figure

import cogniload_repro as cl
from cogniload_repro.presentation.page import MAX_COLUMNS, Page
from cogniload_repro.presentation.style import find_text_faults
from cogniload_repro.storage import write_table

CELLS = cl.load_cells(models=["QwQ-32B"]).drop(columns="log10_N")


@pytest.fixture
def build(tmp_path):
    """A function that writes a build's cells and returns its page."""

    def write(cells, provenance):
        write_table(tmp_path / "cells.parquet", cells, {"provenance": provenance})
        return Page(tmp_path)

    return write


@pytest.mark.parametrize(
    ("cells", "provenance", "evidence", "badge"),
    [
        (CELLS, "reconstructed", "identified", "identified"),
        (CELLS, "reconstructed", "not identified", "not identified"),
        (CELLS[CELLS["N"] == 20], "reconstructed", "identified", "one reconstruction, partial grid"),
        (CELLS, "imported", "identified", "scored outputs"),
        (CELLS, "imported", "published", "published"),
        (CELLS, "reconstructed", "", None),
    ],
)
def test_evidence_is_what_the_build_has(build, cells, provenance, evidence, badge):
    """Scored outputs identify nothing, a partial grid less than the whole; what holds no data has no badge."""
    page = build(cells, provenance)
    shown = page.table(pd.DataFrame({"x": [1]}), "t", caption="C.", evidence=evidence).markdown
    assert (f"`{badge}`" in shown) if badge else "bdg" not in shown


def test_another_table_of_counts_is_named(build, tmp_path):
    """What replaces the build's cells on a page is not said to be theirs."""
    page = build(CELLS, "reconstructed")
    CELLS.to_csv(tmp_path / "mine_1.csv", index=False)
    page.cells = cl.load_cells(tmp_path / "mine_1.csv")
    assert "`another table` Counts of mine\\_1\\.csv, whose origin is not recorded" in page.badge("identified")
    assert "mine" not in page.badge("published")


def test_an_unknown_kind_of_evidence_is_refused(build):
    """A misspelt word does not pass as no evidence."""
    with pytest.raises(KeyError):
        build(CELLS, "reconstructed").badge("identifed")


def test_the_exported_image_states_the_evidence(build):
    """The line is a strip below the figure: the same picture is taller, and the file says so."""
    page = build(CELLS, "reconstructed")
    heights = []
    for evidence in ("", "identified"):
        figure = Figure(figsize=(4, 3), dpi=100)
        figure.subplots().plot([0, 1])
        page.figure(figure, "f", caption="C.", alt="a", evidence=evidence)
        heights.append(plt.imread(page.build / "figures" / "f.png").shape[0])
    assert heights[1] > heights[0]
    assert any(text.get_gid() == "source" for text in figure.texts)


def test_texts_that_are_cut_or_overprinted_are_found():
    """A label beyond the edge and two at one place are named; a plain figure has no fault."""
    figure = Figure(figsize=(4, 3))
    axes = figure.subplots()
    assert find_text_faults(figure) == []
    axes.text(0.5, 0.5, "one"), axes.text(0.52, 0.5, "two")
    axes.text(1.5, 0.5, "outside of the figure")
    faults = find_text_faults(figure)
    assert "overlap: one / two" in faults
    assert any(fault.startswith("cut off: outside") for fault in faults)


def test_wide_tables_go_into_the_csv(build):
    """More columns than a page shows are refused; csv=True offers the whole frame."""
    page = build(CELLS, "reconstructed")
    wide = pd.DataFrame([range(MAX_COLUMNS + 1)], columns=[f"c{n}" for n in range(MAX_COLUMNS + 1)])
    with pytest.raises(ValueError, match="offer csv=True"):
        page.table(wide, "wide", caption="C.", evidence="")
    shown = page.table(wide, "wide", caption="C.", evidence="", columns={"c0": ("First", 0)}, csv=True)
    assert "tables/wide.csv" in shown.markdown
    assert pd.read_csv(page.build / "tables" / "wide.csv").shape == wide.shape
