"""Chapters: those that a build has, those that have changed, and several run at once."""

from pathlib import Path

import nbformat
import pytest

from cogniload_repro.presentation.chapters import Run, list_chapters, run_notebooks
from cogniload_repro.presentation.notebooks import run_notebook

_SOURCES = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))
_KERNEL = {"kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"}}


def _write(path, *code):
    cells = [nbformat.v4.new_code_cell(source, id=f"cell-{number}") for number, source in enumerate(code)]
    cells[0].metadata["tags"] = ["parameters"]
    nbformat.write(nbformat.v4.new_notebook(cells=cells, metadata=_KERNEL), path)
    return path


def test_notebooks_beside_one_another_are_those_run_alone(tmp_path):
    """Kernels that share a process's imports write the bytes that a kernel of its own writes, pictures included."""
    code = "import os, matplotlib.pyplot as plt\nprint(os.getcwd() == folder)\nfigure = plt.figure()\n"
    code += "figure.add_subplot().plot([n, 2])\nfigure"
    runs = []
    for number in range(2):
        source = _write(tmp_path / f"page{number}.ipynb", "n = 1\nfolder = ''", code)
        runs.append(Run(source, tmp_path / "many" / source.name, {"n": number, "folder": str(tmp_path)}))
    assert {run.source.name for run, _ in run_notebooks(runs, 2)} == {"page0.ipynb", "page1.ipynb"}
    for run in runs:
        alone = run_notebook(run.source, tmp_path / "alone" / run.source.name, run.parameters)
        assert run.target.read_bytes() == alone.read_bytes()
        assert all(word in run.target.read_text("utf-8") for word in ("True", "image/png"))


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
