"""Tables as CSV, LaTeX and MyST text."""

import html
import io
import re

import pandas as pd
import pytest
from fixtures.provisional import provisional_cells
from hypothesis import given
from hypothesis import strategies as st
from markdown_it.renderer import RendererHTML
from myst_parser.config.main import MdParserConfig
from myst_parser.parsers.mdit import create_md_parser

from cogniload_repro.formats import format_name
from cogniload_repro.presentation import tables
from cogniload_repro.presentation.table_text import caption_text, save_table, to_csv, to_latex, to_myst
from cogniload_repro.presentation.tables import Table
from cogniload_repro.published import load_table

NOTE = "Reconstructed from the paper's tables, not raw outputs"
#: Anybody's text, ordinary letters and markup more often than chance would have it.
NAMES = st.one_of(st.text(min_size=1), st.text("ab \\[]{}()*_`$&%#^~|<>!:-+=.\"'\n\r\t\u2028", min_size=1))
HOSTILE = r"[50%_\input{x}] a&b $m$ #1 ~^ {c} | `d` <script>"

GOLDEN_LATEX = r"""\begin{table}
\caption{Two fits in $\rho$. Reconstructed from the paper's tables, not raw outputs.}
\label{tab:table6}
\begin{tabular}{lrr}
\toprule
Model & $p_{LR}$ & $\mathrm{ECL}_{50}$ \\
\midrule
{}[50\%\_\textbackslash input\{x\}] a\&b \$m\$ \#1 \textasciitilde \textasciicircum \space \{c\} | `d` <script> & \bfseries 0.041 & $-$0.3 \\
QwQ-32B & separation &  \\
\bottomrule
\end{tabular}
\end{table}
"""  # noqa: E501

GOLDEN_MYST = r""":::{table} Two fits in $\rho$\. Reconstructed from the paper's tables, not raw outputs\.
:name: table6

| Model | $p_{LR}$ | $\mathrm{ECL}_{50}$ |
| :-- | --: | --: |
| \[50\%\_\\input\{x\}\] a\&b \$m\$ \#1 \~\^ \{c\} \| \`d\` \<script\> | **0\.041** | \-0\.3 |
| QwQ\-32B | separation |  |
:::"""


def small_table(name=HOSTILE):
    """A table with a name that means harm."""
    rows = [(format_name(name), "0.041", "-0.3"), ("QwQ-32B", "separation", "")]
    frame = pd.DataFrame(rows, columns=["model", "p_lr", "ecl50"], dtype="str")
    bold = pd.DataFrame([[False, True, False], [False] * 3], columns=frame.columns)
    return Table("table6", r"Two fits in $\rho$.", frame, bold)


def all_tables():
    """Every printed table, made from the published numbers."""
    aic = load_table("table6").assign(status="ok")
    interactions = load_table("table3").assign(status="ok")
    glm = load_table("table2").assign(status="ok", **{f"p_{b}": 0.5 for b in ("0", "d", "N", "rho", "rho2")})
    cells = provisional_cells()
    return [
        tables.table1(), tables.table2(glm), tables.table3(interactions), tables.table4(cells),
        tables.table5(cells), tables.table6(aic), tables.token_table(load_table("tokens"), 250),
    ]  # fmt: skip


def rendered_cells(text):
    """Render a MyST table as the book does and return the text of its body cells, row by row."""
    body = "\n".join(text.splitlines()[3:-1])
    parser = create_md_parser(MdParserConfig(enable_extensions={"dollarmath", "colon_fence"}), RendererHTML)
    rows = re.findall(r"<tr>(.*?)</tr>", parser.render(body), flags=re.DOTALL)
    return [[html.unescape(cell) for cell in re.findall(r"<td[^>]*>(.*?)</td>", row)] for row in rows[1:]]


def test_latex_escapes_names_and_keeps_math():
    """A hostile name stays text, symbols stay math, minus signs are set as such, bold as bold."""
    assert to_latex(small_table(), NOTE) == GOLDEN_LATEX


def test_myst_escapes_names_and_keeps_math():
    """The same table for a page of the book."""
    assert to_myst(small_table(), NOTE) == GOLDEN_MYST


@given(NAMES)
def test_any_name_is_shown_as_it_is(name):
    """Whatever a model is called, the page shows that name in one cell, as text."""
    rows = rendered_cells(to_myst(small_table(name)))
    assert rows[0] == [format_name(name), "<strong>0.041</strong>", "-0.3"]
    assert rows[1] == ["QwQ-32B", "separation", ""]


@given(NAMES)
def test_latex_name_cannot_leave_its_cell(name):
    """Every row keeps its columns, and no command of the name survives."""
    row = to_latex(small_table(name)).split("\\midrule\n")[1].split("QwQ-32B &")[0]
    assert len(re.findall(r"(?<!\\)&", row)) == 2
    assert set(re.findall(r"\\[a-z]+", row)) <= {
        r"\textbackslash", r"\textasciitilde", r"\textasciicircum", r"\space", r"\bfseries",
    }  # fmt: skip


@given(NAMES)
def test_csv_round_trip(name):
    """Reading the CSV back as text gives the same table, whatever the name, but for the guard of a formula."""
    table = small_table(name)
    back = pd.read_csv(io.StringIO(to_csv(table)), dtype="str", keep_default_na=False)
    back["model"] = back["model"].str.replace(r"^'(?=\s*[=+@-]|[\t\r\n'])", "", regex=True)
    pd.testing.assert_frame_equal(back, table.frame)


@pytest.mark.parametrize("table", all_tables(), ids=lambda table: table.name)
def test_every_table_in_every_form(table):
    """Each row is there once in CSV, LaTeX and MyST, and the caption ends with the label on provenance."""
    rows = len(table.frame)
    assert to_csv(table).count("\n") == rows + 1
    assert to_latex(table, NOTE).split(r"\midrule")[-1].count(r"\\") == rows + ("longtable" in to_latex(table)) * 0
    assert f"{NOTE}." in to_latex(table, NOTE)
    cells = rendered_cells(to_myst(table, NOTE))
    assert [row[0] for row in cells if "math" not in row[0]] == [
        name for name in table.frame.iloc[:, 0] if "$" not in name
    ]
    assert len(cells) == rows
    assert caption_text(table, NOTE).endswith(f" {NOTE}.")
    assert caption_text(table) == table.caption


def test_captions_need_no_escaping():
    """Outside math, captions hold no character that LaTeX would take for a command."""
    for table in all_tables():
        assert re.findall(r"[%#&_\\^~]", re.sub(r"\$[^$]*\$", "", table.caption)) == [], table.name


def test_save_table(tmp_path):
    """CSV and LaTeX lie side by side under the table's name, the same bytes each time."""
    first = [path.read_bytes() for path in save_table(small_table(), tmp_path, NOTE)]
    second = [path.read_bytes() for path in save_table(small_table(), tmp_path, NOTE)]
    assert first == second
    assert sorted(path.name for path in tmp_path.iterdir()) == ["table6.csv", "table6.tex"]
    assert first[1].decode() == GOLDEN_LATEX


def test_a_table_that_is_offered_holds_no_formula():
    """A spreadsheet that opens it computes nothing: names are guarded, printed numbers stay."""
    frame = pd.DataFrame({"model": ["=cmd|' /C calc'!A0", "+1+1", "@SUM(1)"], "beta_d": ["-0.51***", "--", "0.10"]})
    text = to_csv(Table("table2", "Caption.", frame))
    assert text == "model,beta_d\n'=cmd|' /C calc'!A0,-0.51***\n'+1+1,--\n'@SUM(1),0.10\n"
