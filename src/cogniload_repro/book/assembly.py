"""Assemble the book's sources and build the HTML, completely or not at all."""

import html
import io
import os
import re
import shutil
import sys
import traceback
from collections.abc import Collection, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any

import yaml

from cogniload_repro import __version__
from cogniload_repro.files import write_whole
from cogniload_repro.models import MODELS
from cogniload_repro.paths import DATA

#: What a staged book holds: its folder, where that comes from, and patterns there. Sources and
#: committed data keep their folders, results of a build do not.
_CONTENTS = (
    ("", "sources", "**/*"),
    ("notebooks", "build", "notebooks/*.ipynb"),
    ("_scripts/instruments", "build", "pages/*-data.js"),
    ("figures", "build", "figures/*"),
    ("tables", "build", "tables/*"),
    ("tables", "build", "fidelity.csv"),
    ("data", "data", "published/**/*.csv"),
    ("data", "data", "reconstructed/*.csv"),
    ("data", "data", "outputs/*.jsonl"),
    ("data", "data", "puzzle_ids*.csv"),
)
#: Files and folders that are no part of a book.
_GENERATED = re.compile(r"_build|conf\.py|__pycache__|\..*|.*\.failed\.ipynb")
#: The pages of a staged book, and Sphinx's cache of the sources that it has read.
_HTML = Path("_build", "html")
_DOCTREES = Path("_build", "doctrees")
#: Types of files that Sphinx tracks by page; a change to another file may affect any page.
_FOLLOWED = (".ipynb", ".md", ".svg", ".png", ".csv", ".tex", ".jsonl")
#: A file that Sphinx writes at the end; if it were there before, pages would hold its checksum.
_LATE = shutil.ignore_patterns("mystnb*.css")
#: Report all warnings; a single one (a dead link, an unknown key) fails the build.
_STRICT = ("-W", "-n", "--keep-going")


def stage_book(
    build_dir: str | Path,
    sources: str | Path,
    leave_out: Collection[str] = (),
    notice: str = "",
) -> Path:
    """Copy pages, notebooks, figures and tables into ``BUILD/book``; remove other files.

    Unchanged files are left untouched, so that Sphinx does not read them again. Sphinx's output
    stays, but its cache is deleted if more than the content of pages has changed. ``leave_out`` are
    pages of the table of contents that this book omits; ``notice``, any text, is shown at the top
    of every page.
    """
    folders = {"build": Path(build_dir), "sources": Path(sources), "data": DATA}
    contents = {place: file.read_bytes() for place, file in _find_files(folders)}
    toc = _read_toc(folders["sources"], leave_out)
    config = _configure(contents[Path("_config.yml")].decode(), notice, leave_out)
    contents[Path("_config.yml")] = config.encode()
    contents[Path("_toc.yml")] = yaml.safe_dump(toc, sort_keys=False).encode()
    staged = folders["build"] / "book"
    before = {place: file.read_bytes() for place, file in _files_below(staged, "**/*")}
    gone = before.keys() - contents.keys()
    changed = [place for place in contents if contents[place] != before.get(place)]
    if gone or any(place.suffix not in _FOLLOWED for place in changed):
        shutil.rmtree(staged / _DOCTREES, ignore_errors=True)
    for place in changed:
        write_whole(staged / place, contents[place])
    for place in gone:
        (staged / place).unlink()
    return staged


def _find_files(folders: dict[str, Path]) -> Iterator[tuple[Path, Path]]:
    """Yield the path of every file in the staged book, and the file that it is copied from."""
    for target, origin, pattern in _CONTENTS:
        for place, file in _files_below(folders[origin], pattern):
            yield Path(target, file.name if origin == "build" else place), file


def _files_below(folder: Path, pattern: str) -> Iterator[tuple[Path, Path]]:
    """Yield the files of a folder that are no generated ones, each after its path in it."""
    for file in folder.glob(pattern):
        place = file.relative_to(folder)
        if file.is_file() and not any(map(_GENERATED.fullmatch, place.parts)):
            yield place, file


def write_data(build: Path) -> None:
    """Write the data that scripts of pages load into ``BUILD/pages``."""
    from cogniload_repro.book.compare_rows import compare_data
    from cogniload_repro.book.explorer import explorer_data, read_puzzles
    from cogniload_repro.book.page_data import write_script

    puzzles = read_puzzles(build)
    data: dict[str, Any] = {
        "models": [[model.name, model.label] for model in MODELS],
        "compare": compare_data(build),
        "puzzles": explorer_data(build, puzzles),
    }
    for number, drawn in enumerate(puzzles.values()):
        data[f"puzzles{number}"] = drawn  # a script of its own, loaded if it is chosen
    shutil.rmtree(build / "pages", ignore_errors=True)  # of other configurations
    for name, value in data.items():
        write_whole(build / "pages" / f"{name}-data.js", write_script(name, value))


def build_book(build_dir: str | Path, jobs: int = 1) -> Path:
    """Build the HTML of the book that `stage_book` has staged and return its ``index.html``.

    Sphinx works on a copy of the existing book, and reads and writes only what has changed. If a
    page cannot be built without warnings, a ValueError quotes them all, and the existing book is
    left untouched.
    """
    staged = Path(build_dir).resolve() / "book"
    new = staged.with_name("book-next")
    shutil.rmtree(new, ignore_errors=True)
    if (staged / _DOCTREES).is_dir():
        shutil.copytree(staged / "_build", new, ignore=_LATE)
    code, text = _run_sphinx(staged, new, jobs)
    if code != 0:
        shutil.rmtree(new, ignore_errors=True)
        raise ValueError(
            f"the book in {staged} does not build; correct these pages:\n{_complaints(text)}"
        )
    shutil.rmtree(staged / "_build", ignore_errors=True)
    new.rename(staged / "_build")
    index = staged / _HTML / "index.html"
    os.utime(index)  # Sphinx keeps a page that has not changed; make compares this time
    return index


def _run_sphinx(staged: Path, new: Path, jobs: int) -> tuple[int, str]:
    """Write Sphinx's configuration and run it; return its exit status and its messages."""
    from jupyter_book.cli.main import main as jupyter_book
    from sphinx.cmd.build import main as sphinx

    places = ["-d", str(new / "doctrees"), ".", str(new / "html")]
    log = io.StringIO()
    sys.path.insert(0, str(staged / "_ext"))
    with chdir(staged), redirect_stdout(log), redirect_stderr(log):
        try:
            jupyter_book(["config", "sphinx", "."], standalone_mode=False)
            code = sphinx(["-b", "html", "-j", str(jobs), *_STRICT, *places])
        except Exception:
            traceback.print_exc()
            code = 1
    sys.path.remove(str(staged / "_ext"))
    return code, log.getvalue()


def _configure(config: str, notice: str, left_out: Collection[str]) -> str:
    """Return the configuration with the version, omitted chapters and notice filled in."""
    names = ", ".join(Path(page).name for page in left_out)
    config = config.replace("{version}", __version__).replace("{left_out}", names)
    if not notice:
        return config
    settings = yaml.safe_load(config)
    settings.setdefault("html", {})["announcement"] = html.escape(notice)
    return yaml.safe_dump(settings, sort_keys=False, allow_unicode=True)


def _read_toc(sources: Path, leave_out: Collection[str]) -> dict:
    """Return the table of contents without some pages."""
    toc = yaml.safe_load((sources / "_toc.yml").read_text(encoding="utf-8"))
    _drop_pages(toc.get("parts", []), leave_out)
    return toc


def _drop_pages(entries: list[dict], pages: Collection[str]) -> None:
    entries[:] = [entry for entry in entries if entry.get("file") not in pages]
    for entry in entries:
        _drop_pages(entry.get("chapters", entry.get("sections", [])), pages)
        if not entry.get("sections"):
            entry.pop("sections", None)  # Sphinx refuses an empty list


def _complaints(log: str) -> str:
    lines = re.sub(r"\x1b\[[0-9;]*m", "", log).splitlines()
    warnings = [line for line in lines if "WARNING:" in line or "ERROR:" in line]
    return "\n".join(warnings or lines[-20:])
