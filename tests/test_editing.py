"""The researcher's tour of book/edit-a-regression.md.

Each edit of chapter 5 renders with one command.
"""

import re
import shlex
from pathlib import Path

import nbformat
import pytest

import cogniload_repro as cl
from cogniload_repro.book.notebooks import run_notebook
from cogniload_repro.formats import format_beta
from cogniload_repro.storage import write_table

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "book" / "edit-a-regression.md").read_text("utf-8")
MODELS = ["QwQ-32B", "Qwen3-32B", "o3-2025-04-16"]
PAPERS = "correct ~ d + log10_N + rho + I(rho**2)"
PRODUCT = "correct ~ d * log10_N + rho + I(rho**2)"


def blocks(language):
    """The page's blocks of code in a language."""
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """A build with the counts of three models."""
    folder = tmp_path_factory.mktemp("build")
    cells = cl.load_cells(models=MODELS).drop(columns="log10_N")
    write_table(folder / "cells.parquet", cells)
    return folder


def render(build, folder, *edits, name="05_glm", **parameters):
    """Edit a chapter's code (old text, new text), run it as `make render` does.

    Return what each cell shows.
    """
    notebook = nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)
    for old, new in edits:
        (cell,) = (
            cell
            for cell in notebook.cells
            if cell.cell_type == "code" and old in cell.source
        )
        cell.source = cell.source.replace(old, new)
    source = folder / "edited.ipynb"
    nbformat.write(notebook, source)
    run_notebook(source, folder / "run.ipynb", {"build": build, **parameters})
    cells = nbformat.read(folder / "run.ipynb", as_version=4).cells
    texts = {}
    for cell in cells:
        data = [output.get("data", {}) for output in cell.get("outputs", ())]
        parts = [
            kinds.get("text/markdown") or kinds.get("text/html", "") for kinds in data
        ]
        texts[cell.id] = "\n".join(parts).replace("\\", "")
    return texts


def beta(formula, model, term):
    """A coefficient as tables print it."""
    fits = cl.fit(cl.load_cells(models=model), formula).set_index("term")
    return format_beta(fits.loc[term, "coef"])


def test_a_changed_formula_reaches_table_figure_and_reason(build, tmp_path):
    """Table 2 and its capacity points are of the formula; the paper's own table stands beside."""
    outputs = render(
        build, tmp_path, (f'formula = "{PAPERS}"', f'formula = "{PRODUCT}"')
    )
    assert f"Binomial GLM {PRODUCT} (logit)" in outputs["table2"]
    assert beta(PRODUCT, "QwQ-32B", "d:log10_N") in outputs["table2"]
    point = cl.capacity_points(cl.load_cells(models="QwQ-32B"), PRODUCT)["ecl50"].item()
    assert f"{point:.1f}" in outputs["table2"]
    assert PRODUCT in outputs["lead-other"]
    assert beta(PAPERS, "QwQ-32B", "rho") in outputs["table2-paper"]
    assert "Table 2, recomputed" in outputs["table2-paper"]
    fit = cl.glm(cl.load_cells(), "QwQ-32B", PRODUCT)
    assert f"{fit.params['d:log10_N']:.4f}" in outputs["glm"]
    check_texts(outputs)


#: Formulas that readers write, the last ones with little to show.
FORMULAS = [
    PRODUCT,
    "correct ~ d + log10_N + bs(rho, df=4)",
    "correct ~ C(d) + log10_N + C(ratio_pct)",
    "correct ~ d + np.sqrt(N) + rho",
    "correct ~ C(N) + d + rho + I(rho**2)",
    "correct ~ d + log10_N * rho + I(rho**2)",
    "correct ~ bs(rho, df=4) + poly(d, 2)",
    "correct ~ d + needles",
    "correct ~ np.log(N) - 1",
    "correct ~ 1",
]


def check_texts(outputs):
    """No caption, alternative text or sentence has a number that is none."""
    for text in outputs.values():
        assert not re.search(r"\bnan\b", text)


@pytest.mark.parametrize("formula", FORMULAS[1:3])
def test_captions_of_other_formulas_have_numbers(build, tmp_path, formula):
    """The figure of chapter 5 describes the points that it shows, or says why there are none."""
    outputs = render(build, tmp_path, formula=formula)
    check_texts(outputs)
    assert formula in outputs["lead-other"]


def test_the_papers_formula_needs_no_remark(build, tmp_path):
    """The lead is of the paper's regression, and so is everything else."""
    assert not render(build, tmp_path)["lead-other"]


@pytest.mark.slow
@pytest.mark.parametrize("formula", FORMULAS)
@pytest.mark.parametrize("name", ["05_glm", "07_aic", "07_alternatives"])
def test_any_formula_renders(build, tmp_path, formula, name):
    """Factors, splines, no covariate at all and no intercept.

    A table or a status, never an error or a text with "nan".
    """
    outputs = render(build, tmp_path, name=name, formula=formula)
    check_texts(outputs)
    if name == "05_glm":
        assert f"Binomial GLM {formula} (logit)" in outputs["table2"]


@pytest.mark.slow
def test_own_terms_fewer_models_a_refit_and_a_column_of_it(build, tmp_path):
    """A list of models reaches every table and figure.

    A cubic probit is shown without stars; statsmodels fits it again.
    """
    formula = "correct ~ d + log10_N + rho + I((rho - 0.5) ** 3)"
    line = "estimates.round(4)"
    robust = 'results.model.fit(cov_type="HC1").bse'
    edit = (line, f"estimates.assign(robust={robust}).round(4)")
    outputs = render(
        build, tmp_path, edit, formula=formula, family="probit", models=MODELS[:2]
    )
    assert f"Binomial GLM {formula} (probit)" in outputs["table2"]
    assert "not identified" in outputs["table2"]
    assert "*" not in re.findall(r"^\| QwQ-32B.*$", outputs["table2"], re.MULTILINE)[0]
    assert all(
        "QwQ" in outputs[cell] and "o3-" not in outputs[cell]
        for cell in ("table2", "intervals-shown")
    )
    plain = cl.glm(cl.load_cells(), "QwQ-32B", formula, "probit")
    robust = plain.model.fit(cov_type="HC1")
    assert f"{robust.bse['Intercept']:.4f}" in outputs["glm"]


def test_the_pages_own_examples_can_be_fitted():
    """Its command and its block of parameters name formulas, families and models that there are."""
    (command,) = (line for line in blocks("sh")[0].splitlines() if "FORMULA" in line)
    variables = dict(word.split("=", 1) for word in shlex.split(command) if "=" in word)
    assert (
        cl.fit(cl.load_cells(models="QwQ-32B"), variables["FORMULA"])["status"]
        .eq("ok")
        .all()
    )
    assert f"formula: {variables['FORMULA']}\n" in blocks("yaml")[0]
    values = {}
    exec(blocks("python")[0], values)  # our own page
    cells = cl.load_cells(models=values["models"])
    assert cl.fit(cells, values["formula"], values["family"])["status"].eq("ok").all()
