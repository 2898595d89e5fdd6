"""Staging the book's sources and building the HTML."""

import hashlib
import re
import shutil
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
import yaml

from cogniload_repro.book.assembly import build_book, stage_book

_ROOT = Path(__file__).parents[2]
_BOOK = _ROOT / "book"
_CONFIG = (
    "title: Small\nexecute: {execute_notebooks: 'off'}\nonly_build_toc_files: true\n"
)


@pytest.fixture
def sources(tmp_path):
    """A book of two pages, one of them a notebook."""
    folder = tmp_path / "sources"
    folder.mkdir()
    (folder / "_config.yml").write_text(_CONFIG, encoding="utf-8")
    (folder / "_toc.yml").write_text(
        "format: jb-book\nroot: intro\nparts:\n- chapters:\n  - file: notebooks/01_page\n",
        encoding="utf-8",
    )
    (folder / "intro.md").write_text(
        "# Small\n\n{download}`CSV <tables/t.csv>`\n", encoding="utf-8"
    )
    return folder


@pytest.fixture
def build(tmp_path):
    """A build folder with one executed notebook, one table and one figure."""
    folder = tmp_path / "build"
    for name in ("notebooks", "tables", "figures"):
        (folder / name).mkdir(parents=True)
    notebook = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_markdown_cell("# Page", id="title")]
    )
    nbformat.write(notebook, folder / "notebooks" / "01_page.ipynb")
    (folder / "tables" / "t.csv").write_text("a\n1\n", encoding="utf-8")
    (folder / "figures" / "f.svg").write_text("<svg/>", encoding="utf-8")
    (folder / "fidelity.csv").write_text("table\n", encoding="utf-8")
    return folder


def test_the_staged_book_has_what_there_is_and_nothing_that_has_gone(sources, build):
    """Pages and what they show, but no copy of a failed notebook.

    The built HTML stays until it is replaced.
    """
    (build / "notebooks" / "01_page.failed.ipynb").write_text("{}", encoding="utf-8")
    (build / "book" / "_build").mkdir(parents=True)
    (build / "book" / "old.md").write_text("# Old", encoding="utf-8")
    pages = {"_config.yml", "_toc.yml", "intro.md", "notebooks/01_page.ipynb"}
    results = {"figures/f.svg", "tables/t.csv", "tables/fidelity.csv"}
    for gone in ("", "tables/t.csv"):
        if gone:
            (build / gone).unlink()
        staged = stage_book(build, sources)
        files = {
            file.relative_to(staged).as_posix()
            for file in staged.rglob("*")
            if file.is_file()
        }
        committed = {name for name in files if name.startswith("data/")}
        assert files - committed == (pages | results) - {gone}
        assert {"data/reconstructed/cells.csv", "data/puzzle_ids.csv"} <= committed
    assert (staged / "_build").is_dir()


def test_a_notice_is_shown_letter_by_letter(sources, build):
    """The notice at the top of every page is text, and goes when there is none."""
    staged = stage_book(build, sources, notice="<script>alert(1)</script> & more")
    config = yaml.safe_load((staged / "_config.yml").read_text(encoding="utf-8"))
    assert (
        config["html"]["announcement"]
        == "&lt;script&gt;alert(1)&lt;/script&gt; &amp; more"
    )
    assert config["title"] == "Small"
    stage_book(build, sources)
    assert (staged / "_config.yml").read_text(encoding="utf-8") == _CONFIG


@pytest.mark.slow
def test_a_page_that_nobody_made_is_named(sources, build):
    """Sphinx warns of it, and a warning stops the build."""
    (build / "notebooks" / "01_page.ipynb").unlink()
    stage_book(build, sources)
    with pytest.raises(ValueError, match="notebooks/01_page"):
        build_book(build)


def test_a_warning_stops_the_build(sources, build):
    """A dead link fails the build, names its page and leaves the old book alone."""
    index = build / "book" / "_build" / "html" / "index.html"
    index.parent.mkdir(parents=True)
    index.write_text("the old book", encoding="utf-8")
    (sources / "intro.md").write_text(
        "# Small\n\n[gone](nowhere.md)\n", encoding="utf-8"
    )
    stage_book(build, sources)
    with pytest.raises(ValueError, match=r"intro\.md:3: WARNING: .*nowhere"):
        build_book(build)
    assert _read_html(build) == {"index.html": b"the old book"}
    assert not (build / "book-next").exists()


def _read_html(build):
    html = build / "book" / "_build" / "html"
    return {
        file.relative_to(html).as_posix(): file.read_bytes()
        for file in html.rglob("*")
        if file.is_file()
    }


def _write_page(build, title, word):
    """Write an executed notebook with a title, a sentence, a picture and a link."""
    text = f"The {word} words.\n\n![A picture](../figures/f.svg)\n\n{{doc}}`/intro`"
    cells = [
        nbformat.v4.new_markdown_cell(f"# {title}", id="title"),
        nbformat.v4.new_markdown_cell(text, id="text"),
    ]
    nbformat.write(
        nbformat.v4.new_notebook(cells=cells), build / "notebooks" / "01_page.ipynb"
    )
    picture = f"<svg><title>{word}</title></svg>"
    (build / "figures" / "f.svg").write_text(picture, encoding="utf-8")


def _build_apart(build):
    """Build in a process of its own: Jupyter Book's settings grow with every book in one."""
    script = f"from cogniload_repro.book.assembly import build_book; build_book({str(build)!r})"
    subprocess.run([sys.executable, "-c", script], check=True)


@pytest.mark.slow
def test_a_changed_page_gives_the_same_book_as_a_build_from_nothing(sources, build):
    """Sphinx reads changed pages alone.

    Pictures, search words, titles on other pages, entries are all new.
    """
    shutil.copytree(
        _BOOK / "_ext", sources / "_ext", ignore=shutil.ignore_patterns("__pycache__")
    )
    config = _CONFIG + "sphinx: {local_extensions: {offline: _ext}}\n"
    (sources / "_config.yml").write_text(config, encoding="utf-8")
    notes = "# Notes\n\n```{index} an entry of a page that stays\n```\n"
    (sources / "notes.md").write_text(notes, encoding="utf-8")
    with (sources / "_toc.yml").open("a", encoding="utf-8") as toc:
        toc.write("  - file: notes\n")
    for title, word in (("Page", "first"), ("Renamed", "second"), ("Renamed", "third")):
        _write_page(build, title, word)
        stage_book(build, sources)
        _build_apart(build)
    changed = _read_html(build)
    for file in ("notebooks/01_page.html", "searchindex.js"):
        assert b"third" in changed[file]
        assert b"second" not in changed[file]
    assert b"Renamed" in changed["intro.html"]
    intro = build / "book" / "_build" / "html" / "intro.html"
    assert intro.stat().st_mtime_ns < intro.with_name("search.html").stat().st_mtime_ns
    shutil.rmtree(build / "book")
    stage_book(build, sources)
    _build_apart(build)
    assert changed == _read_html(build)


def test_a_table_of_contents_may_have_chapters_without_parts_and_addresses(
    sources, build
):
    """Pages are those with a file."""
    toc = "format: jb-book\nroot: intro\nchapters:\n  - url: https://example.org\n"
    (sources / "_toc.yml").write_text(toc, encoding="utf-8")
    assert (stage_book(build, sources) / "intro.md").is_file()


def test_pages_below_a_chapter_are_left_out_with_their_list(sources, build):
    """A part of the grid has none of some sections; Sphinx refuses an empty list of them."""
    chapter = {"file": "notebooks/01_page", "sections": [{"file": "a"}, {"file": "b"}]}
    toc = {"format": "jb-book", "root": "intro", "parts": [{"chapters": [chapter]}]}
    (sources / "_toc.yml").write_text(yaml.safe_dump(toc), encoding="utf-8")
    for left_out, kept in ((["a"], [{"file": "b"}]), (["a", "b"], None)):
        staged = stage_book(build, sources, left_out)
        contents = yaml.safe_load((staged / "_toc.yml").read_text(encoding="utf-8"))
        (shown,) = contents["parts"][0]["chapters"]
        assert shown.get("sections") == kept


def test_sphinx_reads_no_page_again_that_is_as_before(sources, build):
    """An equal page keeps its time in the staged book, whatever the time of its source.

    Another one is newer.
    """
    stage_book(build, sources)
    page = build / "book" / "intro.md"
    before = page.stat().st_mtime_ns
    (sources / "intro.md").touch()
    stage_book(build, sources)
    assert page.stat().st_mtime_ns == before
    (sources / "intro.md").write_text("# Smaller\n", encoding="utf-8")
    stage_book(build, sources)
    assert page.stat().st_mtime_ns > before


def test_what_sphinx_has_read_stays_until_more_than_a_page_changes(sources, build):
    """An extension that Python has compiled is no change; a new one is."""
    read_pages = stage_book(build, sources) / "_build" / "doctrees"
    compiled = build / "book" / "_ext" / "__pycache__" / "offline.pyc"
    for folder in (read_pages, compiled.parent):
        folder.mkdir(parents=True)
    compiled.write_bytes(b"")
    stage_book(build, sources)
    assert read_pages.is_dir()
    (sources / "offline.py").write_text("", encoding="utf-8")
    stage_book(build, sources)
    assert not read_pages.exists()


def _toc_pages():
    toc = yaml.safe_load((_BOOK / "_toc.yml").read_text(encoding="utf-8"))
    return [
        toc["root"],
        *(
            entry["file"]
            for part in toc["parts"]
            for chapter in part["chapters"]
            for entry in (chapter, *chapter.get("sections", ()))
        ),
    ]


def test_table_of_contents_and_sources_agree():
    """Every page in the table of contents has a source, and every notebook and page is in it."""
    notebooks = {
        f"notebooks/{source.stem}" for source in (_ROOT / "notebooks").glob("*.ipynb")
    }
    assert set(_toc_pages()) == notebooks | {page.stem for page in _BOOK.glob("*.md")}


def test_vendored_files_are_the_recorded_ones():
    """MathJax is the very files whose sums the README beside them gives, with licences."""
    folder = _BOOK / "_vendor" / "mathjax"
    sums = dict(
        re.findall(
            r"\| (\S+) \| ([0-9a-f]{64}) \|",
            (folder / "README.md").read_text(encoding="utf-8"),
        )
    )
    assert set(sums) == {file.name for file in folder.iterdir()} - {"README.md"}
    assert any(name.startswith("LICENSE") for name in sums)
    for name, recorded in sums.items():
        assert hashlib.sha256((folder / name).read_bytes()).hexdigest() == recorded


def test_prose_pages_type_no_result():
    """Prose that is not computed states no result.

    No decimal fraction, no count of models or answers.
    """
    for page in _BOOK.glob("*.md"):
        text = re.sub(
            r"```.*?```|`[^`]*`", "", page.read_text(encoding="utf-8"), flags=re.S
        )
        settings = r"CC BY \d\.\d|Apache \d\.\d|[Ss]ections? \d(\.\d)*"
        limits = r"32,76[78] (tokens|characters)"
        text = re.sub(f"{settings}|{limits}", "", text)
        assert not re.search(
            r"\d\.\d|\d+ (models|of \d+|puzzles|answers)|\d,\d{3}", text
        ), page.name
