"""Fragments of the book's pages."""

import json
import re

import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

from cogniload_repro.grid import MINI_GRID
from cogniload_repro.presentation import fragments as pages
from cogniload_repro.presentation import tables
from cogniload_repro.statistics.cell_tables import load_cells
from cogniload_repro.storage import write_table

#: Text that tries to break out: markup, directives, roles, links, fences, control characters.
_HOSTILE = st.one_of(
    st.text(max_size=60),
    st.text(alphabet="`:{}[]()<>*_#|\\$~!&;=-+.\n\t 1aé", max_size=60),
    st.sampled_from(["<script>alert(1)</script>", "{raw}`x`", ":::\n# x", "```\n# x", "1. a", "[a](b)", "&lt;"]),
)

#: Markdown as the book reads it.
_EXTENSIONS = {"amsmath", "attrs_inline", "colon_fence", "deflist", "dollarmath", "substitution"}
_MYST = create_md_parser(MdParserConfig(enable_extensions=_EXTENSIONS), RendererHTML)


def _cells():
    rows = [
        {"model": model, "N": cell.N, "d": cell.d, "ratio_pct": cell.ratio_pct, "needles": cell.needles,
         "rho": cell.rho, "total": 10, "correct": 10 - cell.d // 2 - cell.N // 20,
         "ctx": 0, "valid_logic": cell.N // 20,
         "poi_logic": 0, "last_logic": 0, "other": cell.d // 2}
        for model in ("QwQ-32B", "Qwen3-8B")
        for cell in MINI_GRID
    ]  # fmt: skip
    return pd.DataFrame(rows)


@pytest.fixture
def build(tmp_path):
    """A build folder with the cells of two models on the mini-grid."""
    write_table(tmp_path / "cells.parquet", _cells(), {"provenance": "reconstructed"})
    return tmp_path


@given(_HOSTILE)
def test_shown_text_stays_inside_its_block(text):
    """Text of a puzzle or model ends up in one code block, whole, and in escaped HTML."""
    fragment = pages.show_text(text, "A title")
    *_, block = _MYST.parse(fragment.markdown)
    assert block.type == "fence"
    shown = re.sub(r"\r\n?", "\n", text.replace("\0", "\ufffd") + "\n")
    assert block.content.split("\n", 2)[2] == shown
    assert "<" not in re.sub(r"^<p><strong>A title</strong></p><pre>|</pre>$", "", fragment.html)


def test_fragment_gives_both_forms_and_no_address():
    """Jupyter gets HTML, the book Markdown, and the plain form does not change from run to run."""
    fragment = pages.Fragment("*a*", "<em>a</em>") + pages.Fragment("b", "b")
    assert fragment._repr_mimebundle_() == {"text/markdown": "*a*\n\nb", "text/html": "<em>a</em>b"}
    assert repr(fragment) == "Fragment"


@pytest.mark.parametrize("word", ["reconstructed", "imported"])
def test_label_says_where_data_come_from(tmp_path, word):
    """The label on a page carries the word of the build's data, and a warning if they are reconstructed."""
    write_table(tmp_path / "cells.parquet", _cells(), {"provenance": word})
    label = pages.show_provenance(tmp_path)
    assert ":class: provenance" in label.markdown
    assert ("not the authors' data" in label.markdown) == (word == "reconstructed")
    assert "Partial grid" in label.markdown


def test_cells_without_provenance_are_refused(tmp_path):
    """A cells table that does not say where it comes from cannot be shown."""
    _cells().to_parquet(tmp_path / "cells.parquet")
    with pytest.raises(ValueError, match=r"cells\.parquet does not say where its data come from"):
        pages.show_provenance(tmp_path)


def test_figure_is_saved_and_described(build):
    """A figure comes as two files, with a description, a caption with its provenance, and both downloads."""
    fragment = pages.show_figure("figure5", load_cells(build), build)
    assert sorted(file.name for file in (build / "figures").iterdir()) == ["figure5.png", "figure5.svg"]
    assert re.search(r":alt: .{40,}", fragment.markdown)
    assert "Reconstructed from the paper's tables" in fragment.markdown.split("\n\n")[1]
    assert {"figure5.png", "figure5.svg"} <= set(re.findall(r"figures/(figure5\.\w+)>", fragment.markdown))


@pytest.mark.parametrize("name", ["#1", "$$", "`x`", ":::", '"', "x #y", "'|\\", "{raw}`html`"])
def test_a_model_of_any_name_has_a_figure(tmp_path, name):
    """Description and caption of a figure are whole, and downloads follow, whatever a model is called."""
    cells = _cells().replace({"model": {"QwQ-32B": name}}).query("model == @name")
    write_table(tmp_path / "cells.parquet", cells, {"provenance": "imported"})
    drawn, *_, downloads, answers = _MYST.parse(pages.show_figure("figure6", cells, tmp_path).markdown)
    assert json.dumps(name)[1:-1] in next(line for line in drawn.content.splitlines() if ":alt:" in line)
    assert "downloads" in downloads.info
    assert answers.info == "{raw} html"
    assert answers.content.count("</script>") == 1


def test_table_is_saved_and_offered(build):
    """A paper's table comes as CSV and LaTeX, both offered below it, and states its provenance."""
    fragment = pages.show_table(tables.table4(load_cells(build)), build)
    assert sorted(file.name for file in (build / "tables").iterdir()) == ["table4.csv", "table4.tex"]
    assert set(re.findall(r"tables/(table4\.\w+)>", fragment.markdown)) == {"table4.csv", "table4.tex"}
    assert "Table 4, recomputed" in fragment.markdown
    assert "Reconstructed" in fragment.markdown


def test_frame_escapes_cells_but_keeps_math_in_headers():
    """A frame's text is shown as it is; headers may hold math."""
    frame = pd.DataFrame({"$d$ of *": ["a|b", "<b>"], "total": [1, 2]})
    markdown = pages.show_frame(frame, caption="Cap").markdown
    assert "| $d$ of \\* | total |" in markdown
    assert "| :-- | --: |" in markdown
    assert "a\\|b" in markdown
    assert "\\<b\\>" in markdown


def test_another_table_of_cells_is_named_and_leaves_the_build_alone(build, tmp_path):
    """A page on a reader's table says whose it is and how sure its origin is; the build keeps its own cells."""
    before = (build / "cells.parquet").read_bytes()
    _cells().iloc[:20].to_csv(tmp_path / "own $x$.csv", index=False)
    shown = pages.show_provenance(tmp_path / "own $x$.csv").html
    assert "Counts of own-x-.csv, whose origin is not recorded. Partial grid" in shown
    assert "does not say where it comes from" in shown
    write_table(tmp_path / "own.parquet", _cells(), {"provenance": "reconstructed"})
    assert "Reconstructed" in pages.show_provenance(tmp_path / "own.parquet").markdown
    assert (build / "cells.parquet").read_bytes() == before


def test_an_empty_frame_is_a_sentence():
    """Where there is nothing to tabulate, the page says why."""
    assert pages.show_frame(pd.DataFrame(), caption="Cap", empty="none_ here").markdown == "None\\_ here"


def test_columns_of_numbers_stand_to_the_right():
    """Numbers as text, with stars, units or as intervals; words do not, nor a column that has some."""
    frame = pd.DataFrame({
        "Model": ["4o", "o3"], "Coefficient": ["-0.012***", "--"], "95%": ["-1.0 to 2e-05", "1.0 to no limit"],
        "Share": ["3 of 4", "1%"], "Mixed": ["1", "separation"], "total": [1, 2],
    })  # fmt: skip
    rule = next(line for line in pages.show_frame(frame, caption="x").markdown.splitlines() if line.startswith("| :--"))
    assert rule == "| :-- | --: | --: | --: | :-- | --: |"
    assert "| --: | --: |" in pages.show_frame(pd.DataFrame([[1, 2]], columns=["p", "p"]), caption="x").markdown


def test_what_is_folded_up_is_there():
    """A fold has its title and all of its content, however many colons this has."""
    inner = pages.show_frame(pd.DataFrame({"a": ["x"]}), caption="A caption.")
    outer = pages.fold(pages.fold(inner, "Inner"), "Outer").markdown
    assert outer.startswith(":::::{dropdown} Outer")
    assert inner.markdown in outer
