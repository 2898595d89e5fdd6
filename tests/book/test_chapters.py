"""Chapters of a build: which there are, which have to be run again, and their files."""

from pathlib import Path

import nbformat
import pytest

from cogniload_repro.book.chapters import (
    Chapter,
    is_whole,
    list_chapters,
    remove_stale_files,
    update_texts,
)
from cogniload_repro.book.notebooks import run_notebook

_SOURCES = sorted((Path(__file__).parents[2] / "notebooks").glob("*.ipynb"))


def test_a_book_has_the_chapters_that_its_build_can_fill():
    """Chapters on the whole grid or on another model need a build that has it."""
    folder = _SOURCES[0].parent

    def names(whole_grid, another_model):
        chapters = list_chapters(
            folder, whole_grid=whole_grid, another_model=another_model
        )
        return {chapter.source.stem for chapter in chapters}

    full = names(True, True)
    part = names(False, True)
    alone = names(True, False)
    assert full == {source.stem for source in _SOURCES}
    assert full - alone == {"13_your_model"}
    assert full - part == {"10_conclusions", "07_alternatives", "related"}


def test_a_changed_text_needs_no_run(tmp_path):
    """The executed copy is then the same as after a run."""
    source = tmp_path / "a.ipynb"
    copy = tmp_path / "notebooks/a.ipynb"
    copy.parent.mkdir()
    v4 = nbformat.v4
    parameters = v4.new_code_cell('build = ""', metadata={"tags": ["parameters"]})
    cells = [v4.new_markdown_cell("One line"), parameters, v4.new_code_cell("1 + 1")]
    for cell in cells:
        cell.id = cell.cell_type
    cells[1].id = "parameters"
    codes = set()
    copies = set()
    for text in ("One line", "Two\nlines, ä", ""):
        cells[0].source = text
        nbformat.write(v4.new_notebook(cells=cells), source)
        chapters = list_chapters(tmp_path, whole_grid=True)
        codes.add(chapters[0].code)
        if copies:
            update_texts(chapters, tmp_path)
            updated = copy.read_bytes()
        run_notebook(source, copy, {"build": tmp_path})
        copies.add(copy.read_bytes())
    assert updated == copy.read_bytes()
    assert (len(codes), len(copies)) == (1, 3)


@pytest.fixture
def build(tmp_path):
    """A build with two chapters that have been run: one takes a formula and writes a table."""
    for folder in ("notebooks", "tables", "figures", "sources"):
        (tmp_path / folder).mkdir()
    for name in (
        "fidelity.csv",
        "parameters.json",
        "sources/a.ipynb",
        "sources/b.ipynb",
    ):
        (tmp_path / name).write_text("")
    (tmp_path / "tables/a.csv").write_text("n\n")
    write_copy(tmp_path, "a", ["tables/a.csv"])
    write_copy(tmp_path, "b", [])
    return tmp_path


def write_copy(build, name, files):
    """Write the executed copy of a chapter, which names its files."""
    copy = build / "notebooks" / f"{name}.ipynb"
    notebook = nbformat.v4.new_notebook(metadata={"cogniload_run": {"files": files}})
    nbformat.write(notebook, copy)


def chapters_of(build):
    """Its chapters."""
    first = Chapter(build / "sources/a.ipynb", frozenset({"build", "formula"}))
    return [first, Chapter(build / "sources/b.ipynb", frozenset({"build"}))]


def whole(build):
    """The chapters of which the build has all files."""
    return [c.source.stem for c in chapters_of(build) if is_whole(c, build)]


@pytest.mark.parametrize("lost", ["tables/a.csv", "notebooks/a.ipynb"])
def test_a_chapter_is_run_again_if_a_file_of_it_is_gone(build, lost):
    """Or if its copy cannot be read."""
    (build / lost).unlink()
    assert whole(build) == ["b"]
    (build / "notebooks/b.ipynb").write_text("{")
    assert whole(build) == []


def test_a_build_holds_the_files_of_its_chapters_alone(build):
    """Others go, with copies of chapters that the book has no more.

    A failed copy stays to be read.
    """
    (build / "verdicts").mkdir()
    others = (
        "tables/other.csv",
        "figures/other.svg",
        "verdicts/other.csv",
        "notebooks/c.ipynb",
    )
    for name in others:
        (build / name).write_text("")
    (build / "notebooks/a.failed.ipynb").write_text("")
    (build / ".chapter-killed/tables").mkdir(parents=True)
    remove_stale_files(chapters_of(build), build)
    assert [path.name for path in (build / "tables").iterdir()] == ["a.csv"]
    assert not any((build / name).exists() for name in others)
    copies = sorted(path.name for path in (build / "notebooks").iterdir())
    assert copies == ["a.failed.ipynb", "a.ipynb", "b.ipynb"]
    assert not (build / ".chapter-killed").exists()


def test_chapters_do_not_share_a_file(build):
    """Two that write the same one are named; one that has not been run yet has none."""
    (build / "notebooks/b.ipynb").unlink()
    remove_stale_files(chapters_of(build), build)
    write_copy(build, "b", ["tables/a.csv"])
    with pytest.raises(
        ValueError, match=r"a\.ipynb and b\.ipynb both write tables/a\.csv"
    ):
        remove_stale_files(chapters_of(build), build)
