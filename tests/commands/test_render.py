"""Which chapters the book of a build has."""

import json
from pathlib import Path

import nbformat
import pytest

from cogniload_repro.book import assembly
from cogniload_repro.book.chapters import list_chapters
from cogniload_repro.commands.outputs import SOURCES
from cogniload_repro.commands.params import Parameters
from cogniload_repro.commands.render import choose_chapters, run_chapters
from cogniload_repro.storage import partition_path

NOTEBOOKS = Path(__file__).parents[2] / "notebooks"


def chapters_of(build, grid, models):
    """Return the names of the chapters of a build on a grid, with outputs of some models."""
    source = {"source": "answers.jsonl", "models": models, "settings": {}}
    (build / SOURCES).write_text(json.dumps([source]))
    (build / "outputs").mkdir()
    for model in models:
        partition_path(build / "outputs", model).touch()
    return {chapter.source.stem for chapter in choose_chapters(NOTEBOOKS, build, grid)}


@pytest.mark.parametrize(
    ("grid", "has_conclusions"), [("paper", True), ("mini", False)]
)
def test_the_papers_conclusions_are_judged_on_its_whole_grid_only(
    tmp_path, grid, has_conclusions
):
    """The book of the mini-grid has the other chapters and not these."""
    names = chapters_of(tmp_path, grid, ["QwQ-32B"])
    assert ("10_conclusions" in names) == has_conclusions
    assert "05_glm" in names


@pytest.mark.parametrize(
    ("models", "has_own"), [(["QwQ-32B"], False), (["QwQ-32B", "mine"], True)]
)
def test_the_chapter_on_your_model_needs_a_model_that_is_not_the_papers(
    tmp_path, models, has_own
):
    """Answers of one of the paper's models do not make it a reader's own."""
    assert ("13_your_model" in chapters_of(tmp_path, "paper", models)) == has_own


#: A setting that pages share, and whether it is as in a new process; the file says so.
_CHANGE = """
import os, pathlib
import pandas as pd
import cogniload_repro as cl
found = [pd.get_option("display.precision"), hasattr(cl, "left"), "LEFT" in os.environ]
pathlib.Path(build, "found-NUMBER").write_text(str(found))
pd.set_option("display.precision", 3)
cl.left = os.environ["LEFT"] = "by another chapter"
"""


def write_nothing(build):
    """Stand in for the data of pages, which need a whole build."""


def test_a_chapter_finds_nothing_that_another_one_has_changed(tmp_path, monkeypatch):
    """On one process too, so that a book does not depend on their number."""
    monkeypatch.setattr(assembly, "write_data", write_nothing)
    folder = tmp_path / "notebooks"
    folder.mkdir()
    for number in "12":
        notebook = nbformat.v4.new_notebook()
        notebook.metadata["kernelspec"] = {"name": "python3", "display_name": "Python"}
        notebook.cells = [nbformat.v4.new_code_cell('build = ""')]
        notebook.cells[0].metadata["tags"] = ["parameters"]
        code = _CHANGE.replace("NUMBER", number)
        notebook.cells.append(nbformat.v4.new_code_cell(code))
        nbformat.write(notebook, folder / f"{number}.ipynb")
    build = tmp_path / "build"
    (build / "inputs").mkdir(parents=True)
    chosen = list_chapters(folder, whole_grid=True)
    run_chapters(chosen, build, Parameters(), jobs=1)
    found = {file.read_text() for file in build.glob("found-*")}
    assert found == {"[6, False, False]"}
