"""The paper's tables in printed form, and as CSV, LaTeX and MyST."""

import html
import io
import re

import numpy as np
import pandas as pd
import pytest
from fixtures.provisional import provisional_cells
from hypothesis import given
from hypothesis import strategies as st
from markup import PARSER

from cogniload_repro.book import tables
from cogniload_repro.book.tables import Table
from cogniload_repro.formats import format_name
from cogniload_repro.models import NAMES
from cogniload_repro.published import ERRORS, load_printed, load_table
from cogniload_repro.regression.capacity import capacity_points
from cogniload_repro.regression.fits import fit
from cogniload_repro.regression.formulas import QUADRATIC, SYMBOLS
from cogniload_repro.safe_text import for_spreadsheet
from cogniload_repro.scoring.cells import token_stats

CELLS = provisional_cells()
BETAS = ["beta_0", "beta_d", "beta_N", "beta_rho", "beta_rho2"]
P_OF = {"***": 0.0001, "**": 0.005, "*": 0.03, "": 0.6}


def published_glm():
    """Turn the printed Table 2 into a glm frame with some p-value for each number of stars."""
    glm = load_table("table2").assign(status="ok")
    return glm.assign(
        **{f"p_{beta[5:]}": glm[f"{beta}_stars"].map(P_OF) for beta in BETAS}
    )


GLM = published_glm()
INTERACTIONS = load_table("table3").assign(status="ok")
AIC = load_table("table6").assign(status="ok")


def as_fits(wide):
    """The printed Table 2 as fits and capacity points."""
    symbols = {symbol: term for term, symbol in SYMBOLS.items()}
    rows = [
        (
            row["model"],
            symbols[beta.removeprefix("beta_")],
            row[beta],
            np.nan,
            row[beta.replace("beta", "p")],
            row["status"],
        )
        for row in wide.to_dict("records")
        for beta in BETAS
    ]
    fits = pd.DataFrame(rows, columns=["model", "term", "coef", "se", "p", "status"])
    return fits.assign(formula=QUADRATIC, family="logit"), wide


ALL = [
    tables.table1(),
    tables.table2(*as_fits(GLM)),
    tables.table3(INTERACTIONS),
    tables.table4(CELLS),
    tables.table5(CELLS),
    tables.table6(AIC),
    tables.token_table(load_table("tokens"), 250),
]


def test_table2_is_a_fixed_point():
    """The printed Table 2 is printed as it stands.

    Its order and short names are kept.
    """
    printed = load_printed("table2")
    frame = tables.table2(*as_fits(GLM)).frame
    for beta in BETAS:
        assert (
            frame[beta].tolist() == (printed[beta] + printed[f"{beta}_stars"]).tolist()
        )
    for point in ("ecl50", "nt50", "id50"):
        assert frame[point].tolist() == printed[point].replace("", "--").tolist()
    assert frame["model"].tolist()[8:13] == [
        "DS-R1-0528",
        "DS-Llama-70B",
        "DS-Qwen-32B",
        "DS-Qwen-7B",
        "DS-Qwen-1.5B",
    ]
    assert frame["model"].tolist()[15] == "Phi-4-mini-reasoning"


def test_table2_prints_other_models_and_formulas():
    """Models that the order does not name follow.

    Other terms get a column each, absent capacity points a dash.
    """
    mine = CELLS[CELLS["model"] == "QwQ-32B"].assign(model="own")
    cells = pd.concat([mine, CELLS[CELLS["model"] == "o3-2025-04-16"]])
    formula = "correct ~ d + np.sqrt(N)"
    table = tables.table2(fit(cells, formula), capacity_points(cells, formula))
    assert list(table.frame) == [
        "model",
        "beta_0",
        "beta_d",
        "np.sqrt(N)",
        "ecl50",
        "nt50",
        "id50",
    ]
    assert table.frame["model"].tolist() == ["o3-2025-04-16", "own"]
    assert "--" not in table.frame["ecl50"].tolist()
    assert table.frame["nt50"].tolist() == ["--", "--"]  # the formula lacks rho
    assert "***" in table.frame["np.sqrt(N)"].iloc[1]
    assert table.name == "your_table2"
    assert "correct ~ d + np.sqrt(N) (logit)" in table.caption
    paper = tables.table2(fit(cells), capacity_points(cells))
    assert "The paper's regression" in paper.to_latex()
    assert QUADRATIC in paper.to_csv().splitlines()[1]


@pytest.mark.parametrize(
    "formula",
    [
        *("correct ~ d * log10_N", "correct ~ d + log10_N * rho + I(rho**2)"),
        *("correct ~ C(d) + log10_N + rho", "correct ~ d + C(ratio_pct)"),
        *("correct ~ bs(d, df=3) + log10_N", "correct ~ cr(rho, df=3) + d"),
        *("correct ~ np.sqrt(N) + d", "correct ~ C(N) + C(d) + C(ratio_pct)"),
        *("correct ~ rho + I(rho**2)", "correct ~ 1"),
    ],
)
def test_no_table_of_a_readers_formula_prints_a_missing_number(formula):
    """Neither as text nor in a file: a point that does not exist is a dash, and empty as CSV."""
    cells = CELLS[CELLS["model"].isin(["QwQ-32B", "Phi-4-mini-reasoning"])]
    table = tables.table2(fit(cells, formula), capacity_points(cells, formula))
    for text in (table.to_csv(), table.to_latex(), table.to_myst()):
        assert not re.search(r"\b(nan|NaN|inf)\b", text)


def test_tables_3_and_6_are_fixed_points():
    """Coefficients, AICs, p-values and stars print as they stand.

    Bold where the paper's p is below 0.05: 18 models.
    """
    printed = load_printed("table3")
    frame = tables.table3(INTERACTIONS).frame
    for term in ("dN", "drho", "Nrho", "dNrho"):
        assert frame[f"beta_{term}"].tolist() == printed[f"beta_{term}"].tolist()
        assert (
            frame[f"p_{term}"].tolist()
            == (printed[f"p_{term}"] + printed[f"p_{term}_stars"]).tolist()
        )
    table = tables.table6(AIC)
    pd.testing.assert_frame_equal(
        table.frame, load_printed("table6"), check_dtype=False
    )
    assert table.bold.sum().to_dict() == {
        "model": 0,
        "p_lr": 18,
        "aic_linear": 0,
        "aic_quadratic": 18,
    }
    assert (table.bold["p_lr"] == table.bold["aic_quadratic"]).all()


@pytest.mark.parametrize(
    ("name", "other", "make"),
    [("table4", "N", tables.table4), ("table5", "d", tables.table5)],
)
def test_error_tables_are_fixed_points(name, other, make):
    """Cells with the printed counts give Tables 4 and 5 string by string, rows in printed order."""
    table = load_table(name).sample(frac=1, random_state=3)
    correct = table["samples"] - table[list(ERRORS)].sum(axis=1)
    cells = table.assign(total=table["samples"], correct=correct, **{other: 5}).drop(
        columns=["samples", "acc_pct"]
    )
    pd.testing.assert_frame_equal(
        make(cells).frame, load_printed(name), check_dtype=False
    )


@pytest.mark.parametrize(
    ("make", "good"),
    [
        (lambda glm: tables.table2(*as_fits(glm)), GLM),
        (tables.table3, INTERACTIONS),
        (tables.table6, AIC),
    ],
)
def test_failed_fits_print_their_status(make, good):
    """A model whose fit failed shows why and not one digit."""
    bad = good.assign(status=good["status"].where(good.index != 2, "separation"))
    after = make(bad)
    before = make(good)
    (place,) = after.frame.index[after.frame.iloc[:, 1] == "separation"]
    assert set(after.frame.iloc[place, 1:]) == {"separation", ""}
    assert after.bold is None or not after.bold.iloc[place].any()
    pd.testing.assert_frame_equal(
        after.frame.drop(index=place), before.frame.drop(index=place)
    )


def test_token_tables_are_fixed_points():
    """Tables 7 to 10 from their published numbers.

    Legible cells as printed, models in printed order.
    """
    published = load_table("tokens")
    clean = published[
        ~published["flag"].str.contains("repaired|doubtful|missing")
    ].set_index(["model", "d"])
    for N, name in ((20, "table7"), (50, "table8"), (100, "table9"), (250, "table10")):
        table = tables.token_table(published, N)
        assert (table.name, table.frame["model"].tolist()) == (name, list(NAMES))
        frame = table.frame.set_index("model")
        printed = clean.loc[clean["N"] == N, "raw"]
        texts = [frame.loc[model, f"d={d}"] for model, d in printed.index]
        assert texts == printed.tolist()
    stranger = published[published["model"] == "QwQ-32B"].assign(model="Aya")
    assert (
        tables.token_table(pd.concat([stranger, published]), 20).frame["model"].iloc[-1]
        == "Aya"
    )


def test_unknown_token_counts_are_question_marks():
    """Means and linear 90th percentiles over all ratios, of the counts that are known."""
    scores = pd.DataFrame(
        {
            "model": "m",
            "N": [20] * 11 + [50],
            "d": 1,
            "prompt_tokens": [*range(11), 7],
            "response_tokens": [np.nan, *range(100, 1100, 100), np.nan],
        }
    )
    stats = token_stats(scores)
    texts = [tables.token_table(stats, N).frame["d=1"][0] for N in (20, 50)]
    assert texts == ["P5[9]—O550[910]", "P7[7]—O?[?]"]


def test_error_tables_say_where_the_context_limit_was_not_tested():
    """Where overflows are not known, the table has no number and the caption says so."""
    is_model = CELLS["model"] == "o3-2025-04-16"
    partly = tables.table4(CELLS.assign(ctx=CELLS["ctx"].mask(is_model)))
    untested = "the context limit was not tested there."
    assert untested not in tables.table4(CELLS).caption
    assert f"{CELLS.loc[is_model, 'total'].sum():,} answers" in partly.caption
    assert partly.caption.endswith(untested)
    assert (partly.frame.loc[partly.frame["model"] == "o3", "ctx"] == "--").all()
    assert (partly.frame["ctx"] == "--").sum() == 5


# ---- as text ----
NOTE = "Reconstructed from the paper's tables, not raw outputs"
#: Anybody's text, ordinary letters and markup more often than chance would have it.
ANY_NAME = st.one_of(
    st.text(min_size=1),
    st.text("ab \\[]{}()*_`$&%#^~|<>!:-+=.\"'\n\r\t\u2028", min_size=1),
)
HOSTILE = r"[50%_\input{x}] a&b $m$ #1 ~^ {c} | `d` <script>"

#: The hostile name of a model in LaTeX.
LATEX_NAME = (
    r"{}[50\%\_\textbackslash input\{x\}] a\&b \$m\$ \#1 \textasciitilde "
    r"\textasciicircum \space \{c\} | `d` <script>"
)
GOLDEN_LATEX = r"""\begin{table}
\caption{Two fits in $\rho$. Reconstructed from the paper's tables, not raw outputs.}
\label{tab:table6}
\begin{tabular}{lrr}
\toprule
Model & $p_{LR}$ & $\mathrm{ECL}_{50}$ \\
\midrule
NAME & \bfseries 0.041 & $-$0.3 \\
QwQ-32B & separation &  \\
\bottomrule
\end{tabular}
\end{table}
""".replace("NAME", LATEX_NAME)

GOLDEN_MYST = r""":::{table} Two fits in $\rho$\.
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


def rendered_cells(text):
    """Render a MyST table as the book does and return the text of its body cells, row by row."""
    page = PARSER.render("\n".join(text.splitlines()[3:-1]))
    _, *rows = re.findall(r"<tr>(.*?)</tr>", page, flags=re.DOTALL)
    cells = [re.findall(r"<td[^>]*>(.*?)</td>", row) for row in rows]
    return [list(map(html.unescape, row)) for row in cells]


def test_names_are_escaped_and_math_is_kept(tmp_path):
    """A hostile name stays text, symbols stay math, minus signs are set as such, bold as bold.

    Files have the same.
    """
    table = small_table()
    assert table.to_myst() == GOLDEN_MYST
    files = {file.name: file.read_text("utf-8") for file in table.save(tmp_path, NOTE)}
    assert files == {"table6.csv": table.to_csv(), "table6.tex": GOLDEN_LATEX}


@given(ANY_NAME)
def test_any_name_is_shown_as_it_is(name):
    """Whatever a model is called, page, LaTeX and CSV have that name in one cell, as text.

    A formula is guarded.
    """
    table = small_table(name)
    rows = rendered_cells(table.to_myst())
    assert rows == [
        [format_name(name), "<strong>0.041</strong>", "-0.3"],
        ["QwQ-32B", "separation", ""],
    ]
    row = table.to_latex().split("\\midrule\n")[1].split("QwQ-32B &")[0]
    assert len(re.findall(r"(?<!\\)&", row)) == 2
    commands = {
        r"\textbackslash",
        r"\textasciitilde",
        r"\textasciicircum",
        r"\space",
        r"\bfseries",
    }
    assert set(re.findall(r"\\[a-z]+", row)) <= commands
    back = pd.read_csv(io.StringIO(table.to_csv()), dtype="str", keep_default_na=False)
    pd.testing.assert_frame_equal(back, for_spreadsheet(table.frame))


@pytest.mark.parametrize("table", ALL, ids=lambda table: table.name)
def test_every_table_in_every_form(table):
    """Text without missing values.

    Each row once in CSV, LaTeX and MyST; captions need no escaping outside math.
    """
    frame = table.frame
    rows = len(table.frame)
    assert frame.map(lambda cell: isinstance(cell, str)).to_numpy().all()
    numbers = pd.read_csv(io.StringIO(table.to_csv()))
    assert len(numbers) == rows * (5 if table.caption.startswith("Tokens") else 1)
    words = {"model", "status", "symbol", "name", "levels", "definition", "load"}
    words |= {"formula", "family"}
    texts = {
        name
        for name in numbers.select_dtypes(exclude="number")
        if not name.endswith("_stars")
    }
    assert texts <= words
    assert (
        table.to_latex(NOTE).split(r"\midrule")[-1].count(r"\\")
        == rows
        == len(rendered_cells(table.to_myst()))
    )
    assert f"{table.caption} {NOTE}." in table.to_latex(NOTE)
    assert re.findall(r"[%#&_\\^~]", re.sub(r"\$[^$]*\$", "", table.caption)) == []


def test_table_6_has_no_p_value_where_the_fit_is_not_identified():
    """As in Table 3, dashes stand in its place."""
    row = AIC.head(1).assign(p_lr=np.nan)
    assert tables.table6(row).frame["p_lr"].tolist() == ["--"]
