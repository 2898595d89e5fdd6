"""The edits that book/edit-a-regression.md walks through, done as it says, on a copy of the mini-grid's build."""

import html
import os
import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pandas as pd
import pytest

import cogniload_repro as cl
from cogniload_repro.formats import format_coefficient
from cogniload_repro.presentation.notebooks import run_notebook

ROOT = Path(__file__).parents[1]
PAGE = (ROOT / "book" / "edit-a-regression.md").read_text("utf-8")
pytestmark = pytest.mark.slow


def blocks(language: str, text: str = PAGE) -> list[str]:
    """The page's blocks of code in a language."""
    return re.findall(rf"```{language}\n(.*?)```", text, re.DOTALL)


def read_words(page: Path) -> str:
    """What a browser shows of a page, without its markup."""
    return html.unescape(re.sub(r"<[^>]+>", "", page.read_text("utf-8")))


def make(folder: Path, *arguments: str) -> str:
    """Run make on the mini-grid with this Python; return what it says."""
    outer = {"MAKEFLAGS", "MAKELEVEL", "MFLAGS", "SOURCE", "FORMULA", "FAMILY", "CELLS", "DATA"}
    done = subprocess.run(
        ["make", *arguments, "VENV=", f"PYTHON={sys.executable}", "GRID=mini"],
        cwd=folder, env={name: value for name, value in os.environ.items() if name not in outer},
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


@pytest.fixture(scope="module")
def checkout(tmp_path_factory) -> Path:
    """A checkout with the mini-grid built; what `make smoke` has built is taken over."""
    folder = tmp_path_factory.mktemp("checkout")
    names = ("src", "notebooks", "book", "Makefile")
    data = ("published", "companions", "reconstructed", "puzzle_ids.csv", "tokenizers.json")
    (folder / "data").mkdir()
    for name in (*names, *(f"data/{name}" for name in data)):
        (folder / name).symlink_to(ROOT / name)
    if (ROOT / "data" / "build-mini").exists():
        shutil.copytree(ROOT / "data" / "build-mini", folder / "data" / "build-mini")
    make(folder, "reproduce", "SOURCE=", "FORMULA=", "FAMILY=", "CELLS=")
    return folder


def test_one_change_goes_from_edit_to_page(checkout):
    """The documented commands print the comparison, keep the choice and put formula and coefficients into the book."""
    build, walk = checkout / "data" / "build-mini", PAGE.partition("## One change")[2]
    first, second = blocks("sh", walk)[0].splitlines()
    formula = dict(word.split("=", 1) for word in shlex.split(first) if "=" in word)["FORMULA"]
    page = build / "book" / "_build" / "html" / "notebooks" / "05_glm.html"
    assert formula not in read_words(page)
    said = make(checkout, *shlex.split(first)[1:])
    assert f"yours: {formula}, logit" in said
    assert "over reconstructions" in said  # a part of the grid identifies no fit
    make(checkout, *shlex.split(second)[1:])
    words = read_words(page)
    assert f"{formula} (logit)" in words
    assert f'formula = "{formula}"' in words  # the parameters that the page was made with
    assert f"Fitted here is {formula} (logit)" in words
    fits = pd.read_csv(build / "regression.csv").query("status == 'ok'")
    assert set(fits["formula"]) == {formula}
    added = fits[fits["term"] == "log10_N:rho"]
    assert len(added)
    for coef in added["coef"]:
        assert format_coefficient(coef) in words
    assert "Nothing" not in make(checkout, *shlex.split(second)[1:])
    back = blocks("sh", walk)[1].strip()
    make(checkout, "render", *shlex.split(back)[2:])
    assert not (build / "regression.csv").exists()
    assert formula not in (build / "notebooks" / "05_glm.ipynb").read_text("utf-8")


def test_a_notebook_takes_the_documented_parameters(checkout, tmp_path):
    """The block of the page, pasted over the parameters of a copy, gives its formula, family and models."""
    (block,) = blocks("python")
    copy = checkout / "notebooks-of-mine" / "05_glm.ipynb"
    copy.parent.mkdir()
    notebook = nbformat.read(ROOT / "notebooks" / "05_glm.ipynb", as_version=4)
    (cell,) = (cell for cell in notebook.cells if "parameters" in cell.metadata.get("tags", ()))
    kept = [line for line in cell.source.splitlines() if line.startswith("build = ")]
    cell.source = "\n".join([*kept, block])
    nbformat.write(notebook, copy)
    run_notebook(copy, tmp_path / "05_glm.ipynb", {"build": checkout / "data" / "build-mini"})
    values: dict[str, object] = {}
    exec(block, values)  # our own page
    cells = {cell.id: cell for cell in nbformat.read(tmp_path / "05_glm.ipynb", as_version=4).cells}
    *facts, table = (output["data"] for output in cells["other-table"].outputs)
    assert {next(iter(fact.values())).strip("'") for fact in facts} >= {values["formula"], values["family"]}
    rows = re.findall(r"^\| (?!Model|:--)(\S+)", table["text/markdown"], re.MULTILINE)
    assert {row.replace("\\", "") for row in rows} == set(values["models"])


def test_an_edited_line_of_code_changes_what_is_shown(checkout, tmp_path):
    """A chapter computes what it shows: change one line of its code, run all, and tables and sentences are others."""
    shown, papers = [], '(cells, "correct ~ d + log10_N + rho + I(rho**2)")'
    for line in (papers, '(cells, "correct ~ d + rho")'):
        notebook = nbformat.read(ROOT / "notebooks" / "05_glm.ipynb", as_version=4)
        (cell,) = (cell for cell in notebook.cells if papers in cell.source)
        cell.source = cell.source.replace(papers, line)
        copy = checkout / "notebooks-edited" / str(len(shown)) / "05_glm.ipynb"
        copy.parent.mkdir(parents=True)
        nbformat.write(notebook, copy)
        run_notebook(copy, tmp_path / "05_glm.ipynb", {"build": checkout / "data" / "build-mini"})
        cells = [cell for cell in nbformat.read(tmp_path / "05_glm.ipynb", as_version=4).cells if "outputs" in cell]
        shown.append({cell.id: str([output.get("data") for output in cell.outputs]) for cell in cells})
    before, after = shown
    fits = cl.fit(cl.load_cells(checkout / "data" / "build-mini"), "correct ~ d + rho")
    columns = ["model", "term", "coef", "se", "p", "identified"]
    assert repr(str(fits[columns].head().round(4)))[1:-1] in after["fit"]
    assert {"fit", "glue"} <= {cell for cell in before if before[cell] != after[cell]}


@pytest.mark.parametrize("sure", [False, True])
@pytest.mark.parametrize("name", ["11_alternatives", "12_comparison"])
def test_pages_on_one_model_of_ones_own(checkout, tmp_path, name, sure):
    """Alternatives and comparisons are pages for one model on part of the grid too, even one that is always right."""
    cells = pd.read_csv(ROOT / "data" / "reconstructed" / "cells.csv").query("model == 'QwQ-32B' and N <= 50")
    if sure:
        cells = cells.assign(correct=cells["total"], ctx=0, valid_logic=0, poi_logic=0, last_logic=0, other=0)
    cells.assign(model="me/mine").to_csv(tmp_path / "mine.csv", index=False)
    parameters = {"build": checkout / "data" / "build-mini", "cells_path": tmp_path / "mine.csv"}
    run_notebook(ROOT / "notebooks" / f"{name}.ipynb", tmp_path / f"{name}.ipynb", parameters)
    cells = nbformat.read(tmp_path / f"{name}.ipynb", as_version=4).cells
    outputs = [output for cell in cells for output in cell.get("outputs", ())]
    assert not [output for output in outputs if output["output_type"] == "stream"]
    shown = "\n".join(output["data"].get("text/markdown", "") for output in outputs if "data" in output)
    assert "Counts of mine.csv, whose origin is not recorded" in shown.replace("\\", "")
    assert ("This needs two models with cells in common" in shown) == (name == "12_comparison")
