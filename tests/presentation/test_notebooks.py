"""Notebooks run one by one and side by side, chapters of a build, and the notebooks as they are committed."""

import json
import os
import re
import subprocess
import tempfile
from pathlib import Path

import nbformat
import papermill
import pytest

from cogniload_repro.presentation.chapters import Run, list_chapters, run_notebooks
from cogniload_repro.presentation.notebooks import run_notebook

_SOURCES = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
_KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


#: Tags of cells whose code a page does not show at once.
HIDDEN = {"parameters", "remove-cell", "remove-input", "hide-input", "hide-cell"}


def _write(path, *code, tags=("parameters",)):
    cells = [nbformat.v4.new_code_cell(source, id=f"cell-{number}") for number, source in enumerate(code)]
    cells[0].metadata["tags"] = list(tags)
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=_KERNEL), path)
    return path


def test_parameters_reach_the_kernel_and_the_page(tmp_path):
    """Values replace the defaults, and are shown in their place; paths arrive relative to the notebook's own folder.

    The executed copy tells neither where the files are, nor when a cell ran or how long it took: another run writes the
    same bytes, pictures included.
    """
    defaults = 'n = 1\nbuild = ""\nwords = "ρ + d"  # ρ, or "N"\nrest = None'
    picture = "import matplotlib.pyplot as plt\nfigure = plt.figure()\nfigure.add_subplot().plot([n, 2])\nfigure"
    shown = "import os\nprint(n, build, os.path.isdir('out'), words)"
    source = _write(tmp_path / "page.ipynb", defaults, shown, picture)
    parameters = {"n": 7, "build": tmp_path.parent / "build", "words": 'ρ * "N"'}
    target = run_notebook(source, tmp_path / "out" / "page.ipynb", parameters)
    executed = nbformat.read(target, as_version=4)
    assert executed.cells[2].outputs[0].text == '7 ../build True ρ * "N"\n'
    assert executed.cells[1].metadata["tags"] == ["injected-parameters", "remove-cell"]
    shown = 'n = 7\nbuild = ""\nwords = "ρ * \\"N\\""  # ρ, or "N"\nrest = None'
    assert executed.cells[0].source == shown
    assert [cell.id for cell in executed.cells] == ["cell-0", "injected-parameters", "cell-1", "cell-2"]
    assert not re.search(rf"{tmp_path}|papermill|iopub|start_time|duration", target.read_text(encoding="utf-8"))
    again = run_notebook(source, tmp_path / "again" / "page.ipynb", parameters)
    assert again.read_bytes() == target.read_bytes()
    assert b"image/png" in again.read_bytes()


def test_nothing_stays_in_the_temporary_folder(tmp_path, monkeypatch):
    """Neither this run nor one that was killed leaves folders or connection files there; those of the living stay."""
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "tmp"))
    monkeypatch.setenv("TMPDIR", str(tmp_path / "tmp"))
    ended = subprocess.Popen(["true"])
    ended.wait()
    living, foreign = f"cogniload-notebook-{os.getpid()}-a", "cogniload-notebook-x"
    for name in (f"cogniload-notebook-{ended.pid}-abc/profile", living, foreign):
        (tmp_path / "tmp" / name).mkdir(parents=True)
    shown = "import os\nos.environ['IPYTHONDIR'], os.listdir(os.environ['IPYTHONDIR'])"
    source = _write(tmp_path / "page.ipynb", "n = 1", shown)
    target = run_notebook(source, tmp_path / "out" / "page.ipynb", {})
    assert f"cogniload-notebook-{os.getpid()}-" in target.read_text("utf-8")
    assert "kernel.json" in target.read_text("utf-8")
    assert sorted(path.name for path in (tmp_path / "tmp").iterdir()) == [living, foreign]


def test_failing_cell_is_named_and_nothing_replaced(tmp_path):
    """A failing cell raises with notebook, cell number and error, and leaves the earlier result alone."""
    source = _write(tmp_path / "page.ipynb", "n = 1", "m = 2", "n / 0")
    target = tmp_path / "out" / "page.ipynb"
    target.parent.mkdir()
    target.write_text("earlier", encoding="utf-8")
    with pytest.raises(ValueError, match=r"page\.ipynb, cell 3 of 3 failed: ZeroDivisionError: division by zero"):
        run_notebook(source, target, {"n": 5})
    assert target.read_text(encoding="utf-8") == "earlier"
    failed = target.with_suffix(".failed.ipynb")
    assert "ZeroDivisionError" in failed.read_text(encoding="utf-8")
    run_notebook(_write(source, "n = 1"), target, {"n": 5})
    assert not failed.exists()
    assert sorted(target.parent.iterdir()) == [target]


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (None, "page.ipynb is not a readable notebook"),
        ("{", "not a readable notebook"),
        (json.dumps({"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}), "has 0 cells tagged"),
        ("a notebook", r"page\.ipynb has no parameter formulae; its .* sets: formula"),
    ],
    ids=["absent", "not JSON", "no parameters cell", "misspelt parameter"],
)
def test_what_cannot_be_run_is_refused(tmp_path, content, complaint):
    """No notebook, or a parameter that it does not have, is refused in one sentence before any cell has run."""
    source = tmp_path / "page.ipynb"
    if content == "a notebook":
        _write(source, "formula = ''", f"open({str(tmp_path / 'ran')!r}, 'w')")
    elif content is not None:
        source.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=complaint):
        run_notebook(source, tmp_path / "out.ipynb", {"formulae": "correct ~ d"})
    assert not (tmp_path / "ran").exists()


# ---- chapters: those that a build has, and several run at once -------------------------------------------------------
def test_notebooks_beside_one_another_are_those_run_alone(tmp_path):
    """Kernels that share a process's imports write the bytes that a kernel of its own writes."""
    code = "import os, pandas\nframe = pandas.DataFrame({'n': [n, os.getcwd() == folder]})\nframe"
    runs = []
    for number in range(2):
        source = _write(tmp_path / f"page{number}.ipynb", "n = 1\nfolder = ''", code)
        runs.append(Run(source, tmp_path / "many" / source.name, {"n": number, "folder": str(tmp_path)}))
    assert {run.source.name for run, _ in run_notebooks(runs, 2)} == {"page0.ipynb", "page1.ipynb"}
    for run in runs:
        alone = run_notebook(run.source, tmp_path / "alone" / run.source.name, run.parameters)
        assert run.target.read_bytes() == alone.read_bytes()
        assert "True" in run.target.read_text("utf-8")


def test_one_that_fails_stops_the_rest_and_is_named(tmp_path):
    """After a failure none is started, those that run end, and what is done stays."""
    sources = [_write(tmp_path / f"page{n}.ipynb", "n = 1", code) for n, code in enumerate(["n / 0", "2", "3"])]
    runs = [Run(source, tmp_path / "out" / source.name) for source in sources]
    with pytest.raises(ValueError, match=r"page0\.ipynb, cell 2 of 2 failed: ZeroDivisionError"):
        list(run_notebooks(runs, 1))
    assert not runs[1].target.exists()


def test_a_kernel_that_dies_is_one_sentence(tmp_path):
    """A kernel that is killed ends the run with the notebook's name, and without a traceback."""
    source = _write(tmp_path / "page.ipynb", "n = 1", "import os, signal\nos.kill(os.getpid(), signal.SIGKILL)")
    with pytest.raises(ValueError, match=r"page\.ipynb: its kernel ended"):
        list(run_notebooks([Run(source, tmp_path / "out.ipynb")]))
    assert not (tmp_path / "out.ipynb").exists()


def test_a_book_has_the_chapters_that_its_build_can_fill():
    """Chapters about the whole grid, or about another model, are left out of books that have none."""
    folder, kinds = _SOURCES[0].parent, ((True, True), (False, True), (True, False))
    full, part, alone = (
        {one.source.stem for one in list_chapters(folder, whole_grid=grid, another_model=another)}
        for grid, another in kinds
    )
    assert full == {source.stem for source in _SOURCES}
    assert full - alone == {"15_your_model"}
    assert full - part == {"10_conclusions", "11_alternatives"}


def test_metadata_that_nobody_reads_are_refused(tmp_path):
    """A misspelt need stops the list, with the notebook's name."""
    notebook = nbformat.read(_write(tmp_path / "page.ipynb", "n = 1"), as_version=4)
    notebook.metadata["cogniload"] = {"needs": ["hole grid"]}
    nbformat.write(notebook, tmp_path / "page.ipynb")
    with pytest.raises(ValueError, match=r"page\.ipynb: its metadata need hole grid"):
        list_chapters(tmp_path, whole_grid=True)


# ---- as they are committed ------------------------------------------------------------------------------------------
@pytest.mark.parametrize("source", _SOURCES, ids=lambda source: source.stem)
def test_committed_notebook_is_clean_and_thin(source):
    """No outputs, one parameters cell with a build, stable ids; short visible cells; no classes, few functions."""
    assert len(_SOURCES) > 15
    notebook = nbformat.read(source, as_version=4)
    nbformat.validate(notebook)
    code = [cell for cell in notebook.cells if cell.cell_type == "code"]
    assert not any(cell.outputs or cell.execution_count for cell in code)
    (defaults,) = (cell for cell in code if "parameters" in cell.metadata.get("tags", ()))
    assert re.search(r'^build = "\.\./data/build"$', defaults.source, re.M)
    assert all(re.fullmatch(r"[a-z][a-z0-9-]*", cell.id) for cell in notebook.cells)
    assert len({cell.id for cell in notebook.cells}) == len(notebook.cells)
    shown = [cell for cell in code if not HIDDEN & set(cell.metadata.get("tags", ()))]
    assert max((len(cell.source.splitlines()) for cell in shown), default=0) <= 18
    assert max(len(cell.source.splitlines()) for cell in code) <= 40
    assert not any(re.search(r"^\s*(def|class)\b", cell.source, re.M) for cell in shown)


@pytest.mark.parametrize("source", _SOURCES, ids=lambda source: source.stem)
def test_committed_prose_types_no_result(source):
    """Sentences take their numbers from the computation: no decimal, count or large number is typed."""
    cells = nbformat.read(source, as_version=4).cells
    prose = "\n".join(cell.source for cell in cells if cell.cell_type == "markdown")
    prose = re.sub(r"\{\w+(?::\w+)?\}`[^`]*`|`[^`]*`|\$[^$]*\$", "", prose)
    prose = re.sub(r"[Ss]ections? \d(\.\d+)*|Gemini 2\.5|p (of|below) 0\.0\d( or more)?|falls below 0\.05", "", prose)
    prose = re.sub(r"N = (20|50|100|250)|100? puzzles per cell|[\w.]+-[\w.-]+|Algorithms 1 to 3", "", prose)
    # names, levels of significance, settings
    prose = re.sub(r"(Tables?|Figure|columns)( \d+( to| and)?)+ of|(ECL|ID|NT)50|\(00[34]\)|arXiv:\S+", "", prose)
    prose = re.sub(
        r"(Claude|Gemini) 3\.\d|p [<>≥] 0\.\d+|multiple of 1/500|140 whole numbers|[Pp]er 100 statements", "", prose
    )
    prose = re.sub(r"little larger \(36,864\)|2,500 statements", "", prose)
    assert not re.search(r"(?<![\w.])\d+\.\d|\d+ of\b|\d{3,}", prose)


@pytest.mark.parametrize("name", ["05_glm", "06_interactions", "11_alternatives"])
def test_regression_notebooks_take_a_formula(name):
    """The regression notebooks can be given a formula, a family, models and another table of cells."""
    (source,) = (source for source in _SOURCES if source.stem == name)
    assert set(papermill.inspect_notebook(source)) == {"build", "models", "cells_path", "formula", "family"}
