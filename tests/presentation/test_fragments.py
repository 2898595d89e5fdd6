"""Fragments of the book's pages."""

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


def test_frame_escapes_cells_but_keeps_math_in_headers():
    """A frame's text is shown as it is; headers may hold math."""
    frame = pd.DataFrame({"$d$ of *": ["a|b", "<b>"], "total": [1, 2]})
    markdown = pages.show_frame(frame, caption="Cap").markdown
    assert "| $d$ of \\* | total |" in markdown
    assert "| :-- | --: |" in markdown
    assert "a\\|b" in markdown
    assert "\\<b\\>" in markdown


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
