"""Assemble the book's sources and build the HTML, completely or not at all."""

import errno
import html
import io
import os
import re
import shutil
import sys
import time
import traceback
from collections.abc import Collection, Iterator
from contextlib import chdir, redirect_stderr, redirect_stdout
from pathlib import Path

import yaml

from cogniload_repro import __version__
from cogniload_repro.files import DATA, write_whole
from cogniload_repro.models import MODELS

#: Files that pages show or offer for download: folder in the book, and patterns in the build.
_RESULTS = {
    "notebooks": ("notebooks/*.ipynb",),
    "_scripts/instruments": ("pages/*-data.js",),
    "figures": ("figures/*.png", "figures/*.svg"),
    "tables": ("tables/*.csv", "tables/*.tex", "fidelity.csv"),
}
#: Committed data that the page Data offers for download.
_COMMITTED = (
    "published/**/*.csv",
    "reconstructed/*.csv",
    "outputs/*.jsonl",
    "puzzle_ids*.csv",
)
#: The pages of a staged book, and Sphinx's cache of the sources that it has read.
_HTML = Path("_build", "html")
_DOCTREES = Path("_build", "doctrees")
#: Types of files that Sphinx tracks by page; a change to another file may affect any page.
_FOLLOWED = (".ipynb", ".md", ".svg", ".png", ".csv", ".tex", ".jsonl")
#: A file that Sphinx writes at the end; if it were there before, pages would hold its checksum.
_IGNORED = shutil.ignore_patterns("mystnb*.css")
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
    of every page. ValueError if a page is missing.
    """
    build = Path(build_dir)
    sources = Path(sources)
    toc = _read_toc(sources, leave_out)
    for page in _pages(toc):
        folder, ending = (
            (build, "ipynb") if page.startswith("notebooks/") else (sources, "md")
        )
        source = folder / f"{page}.{ending}"
        if not source.is_file():
            raise ValueError(
                f"the book's page {page} is missing ({source}); run `make render`, or correct "
                "_toc.yml"
            )
    staged = build / "book"
    contents = {
        place: source.read_bytes() for place, source in _find_files(build, sources)
    }
    config = (sources / "_config.yml").read_text(encoding="utf-8")
    contents[Path("_config.yml")] = _configure(config, notice, leave_out).encode(
        "utf-8"
    )
    contents[Path("_toc.yml")] = yaml.safe_dump(toc, sort_keys=False).encode("utf-8")
    gone = [
        file
        for file in _files_below(staged)
        if file.relative_to(staged) not in contents
    ]
    changed = [
        place
        for place, content in contents.items()
        if not (staged / place).is_file() or (staged / place).read_bytes() != content
    ]
    if gone or any(place.suffix not in _FOLLOWED for place in changed):
        shutil.rmtree(staged / _DOCTREES, ignore_errors=True)
    for place in changed:
        write_whole(staged / place, contents[place])
    for file in gone:
        file.unlink()
    return staged


def _find_files(build: Path, sources: Path) -> Iterator[tuple[Path, Path]]:
    """Yield the path of every file in the staged book, and the file that it is copied from."""
    for file in _files_below(sources):
        if not file.name.startswith("."):
            yield file.relative_to(sources), file
    for folder, patterns in _RESULTS.items():
        for pattern in patterns:
            for file in build.glob(pattern):
                if not file.match("*.failed.ipynb"):
                    yield Path(folder, file.name), file
    for pattern in _COMMITTED:
        for file in DATA.glob(pattern):
            yield Path("data", file.relative_to(DATA)), file


def _files_below(folder: Path) -> Iterator[Path]:
    """Yield the files in a book's folder, except those that were generated."""
    generated = {"_build", "conf.py", "__pycache__"}
    for file in folder.rglob("*"):
        place = file.relative_to(folder)
        if file.is_file() and generated.isdisjoint(place.parts):
            yield file


def write_data(build: Path) -> float:
    """Write the data that scripts of pages load into ``BUILD/pages``; return the seconds."""
    from cogniload_repro.book.compare_data import compare_data
    from cogniload_repro.book.page_data import explorer_data, write_script

    start = time.monotonic()
    data = {
        "models": [[model.name, model.label] for model in MODELS],
        "compare": compare_data(build),
        "puzzles": explorer_data(build),
    }
    for name, content in data.items():
        write_whole(build / "pages" / f"{name}-data.js", write_script(name, content))
    return time.monotonic() - start


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
        shutil.copytree(staged / "_build", new, ignore=_IGNORED)
    code, text = _run_sphinx(staged, new, jobs)
    if code != 0:
        shutil.rmtree(new, ignore_errors=True)
        full = os.strerror(errno.ENOSPC)
        if full in text:
            raise OSError(errno.ENOSPC, full, str(new))
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
    """Return the table of contents without some pages, and without parts left empty by that."""
    toc = yaml.safe_load((sources / "_toc.yml").read_text(encoding="utf-8"))
    for part in toc.get("parts", []):
        part["chapters"] = [
            chapter
            for chapter in part["chapters"]
            if chapter.get("file") not in leave_out
        ]
    if "parts" in toc:
        toc["parts"] = [part for part in toc["parts"] if part["chapters"]]
    return toc


def _pages(toc: dict) -> list[str]:
    """Return the names of all pages of a table of contents."""
    chapters = list(toc.get("chapters", []))
    for part in toc.get("parts", []):
        chapters += part["chapters"]
    pages = [chapter["file"] for chapter in chapters if "file" in chapter]
    return [toc["root"], *pages]


def _complaints(log: str) -> str:
    lines = re.sub(r"\x1b\[[0-9;]*m", "", log).splitlines()
    warnings = [line for line in lines if "WARNING:" in line or "ERROR:" in line]
    return "\n".join(warnings or lines[-20:])
