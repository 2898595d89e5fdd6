"""Put the book's sources together and build the HTML, all of it or none."""

import errno
import hashlib
import html
import json
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager, nullcontext, suppress
from pathlib import Path
from subprocess import PIPE, STDOUT
from typing import Any

import yaml

from cogniload_repro import __version__
from cogniload_repro.files import write_whole
from cogniload_repro.models import MODELS

_SOURCES = Path(__file__).resolve().parents[3] / "book"
#: What pages show or offer for download: folder in the book, and where it comes from in the build.
_RESULTS = {
    "notebooks": ("notebooks/*.ipynb",),
    "_scripts/instruments": ("pages/*-data.js",),
    "figures": ("figures/*.png", "figures/*.svg"),
    "tables": ("tables/*.csv", "tables/*.tex", "fidelity.csv"),
}
#: What `write_data` makes: data by the pages whose scripts load them.
_DATA = {
    "notebooks/00_introduction": ("models",),
    "compare": ("compare",),
    "explorer": ("puzzles",),
}

#: Imports what builds a book, then builds it when it is told to: jobs and arguments, as JSON on a line. Its input
#: stays open as long as somebody waits, or it would go on in the next one's folder.
_BUILDER = """
import functools, gc, json, os, sys, threading
gc.disable()
import jupyter_book.cli.main, jupyter_book.sphinx, myst_nb.sphinx_ext, sphinx_book_theme, sphinxcontrib.bibtex
jobs, *sys.argv[1:] = json.loads(sys.stdin.readline() or sys.exit())
threading.Thread(target=lambda: (os.read(0, 1), os._exit(1)), daemon=True).start()
jupyter_book.sphinx.build_sphinx = functools.partial(jupyter_book.sphinx.build_sphinx, jobs=jobs)
jupyter_book.cli.main.main()
"""
#: Stop at nothing, but let one warning (a dead link, an unknown key) fail the build.
_STRICT = ("-W", "-n", "--keep-going")


def stage_book(
    build_dir: str | Path,
    sources: str | Path = _SOURCES,
    leave_out: Collection[str] = (),
    notice: str = "",
) -> Path:
    """Copy pages, executed notebooks, figures and tables into ``BUILD/book``, replacing what was there but the HTML.

    ``leave_out`` are pages of the table of contents that this book does without; ``notice``, any text, stands at the
    top of every page. Missing sources, or a page that has not been made yet, are a ValueError.
    """
    build, sources = Path(build_dir), Path(sources)
    if not (sources / "_toc.yml").is_file():
        raise ValueError(
            f"{sources} holds no book (_toc.yml is missing); run this in a checkout of the project"
        )
    toc, staged = _read_toc(sources, leave_out), build / "book"
    for page in _pages(toc):
        source = (
            build / f"{page}.ipynb" if page.startswith("notebooks/") else sources / f"{page}.md"
        )
        if not source.is_file():
            raise ValueError(
                f"the book's page {page} is missing ({source}); run `make render`, or correct _toc.yml"
            )
    config = (sources / "_config.yml").read_text(encoding="utf-8")
    for old in staged.glob("*"):
        if old.is_dir() and old.name != "_build":
            shutil.rmtree(old)
        elif old.is_file():
            old.unlink()
    shutil.copytree(
        sources,
        staged,
        ignore=shutil.ignore_patterns("_build", "__pycache__", ".*"),
        dirs_exist_ok=True,
    )
    for folder, patterns in _RESULTS.items():
        for file in (file for pattern in patterns for file in build.glob(pattern)):
            if not file.match("*.failed.ipynb"):
                (staged / folder).mkdir(parents=True, exist_ok=True)
                shutil.copy2(
                    file, staged / folder
                )  # with its time: Sphinx reads again what is newer
    write_whole(staged / "_config.yml", _configure(config, notice, leave_out))
    write_whole(staged / "_toc.yml", yaml.safe_dump(toc, sort_keys=False))
    return staged


def write_data(sources: Path, target: Path, parameters: Mapping[str, Any]) -> None:
    """Write the data that the scripts of a book's pages load, as scripts, into a folder."""
    from cogniload_repro.presentation.compare_data import compare_data
    from cogniload_repro.presentation.page_data import explorer_data, write_script

    build = parameters["build"]
    makers: dict[str, Callable[[], Any]] = {
        "models": lambda: [[model.name, model.label] for model in MODELS],
        "compare": lambda: compare_data(build),
        "puzzles": lambda: explorer_data(build),
    }
    for name in sorted(
        {name for page in _pages(_read_toc(sources, ())) for name in _DATA.get(page, ())}
    ):
        write_whole(target / f"{name}-data.js", write_script(name, makers[name]()))


@contextmanager
def open_builder() -> Iterator[Any]:
    """Start a process that gets ready to build a book, and ends with this one."""
    with subprocess.Popen(
        [sys.executable, "-c", _BUILDER], stdin=PIPE, stdout=PIPE, stderr=STDOUT, text=True
    ) as one:
        yield one


def build_book(build_dir: str | Path, jobs: int = 1, builder: Any = None) -> Path:
    """Build the HTML of the book that `stage_book` has staged and return its ``index.html``.

    A builder of `open_builder` can have got ready before. Where a page cannot be built without a warning, a ValueError
    quotes each, and the old book is left alone.
    """
    staged = Path(build_dir) / "book"
    if not (staged / "_config.yml").is_file():
        raise ValueError(f"{staged} holds no staged book; run `make render`")
    new, frame = staged.with_name("book-next"), _read_frame(staged)
    shutil.rmtree(new, ignore_errors=True)
    note = staged / "_build" / "frame.json"
    if note.is_file() and note.read_text(encoding="utf-8") == frame:
        changed = sum(
            page.stat().st_mtime > note.stat().st_mtime for page in staged.glob("notebooks/*.ipynb")
        )
        jobs = jobs if changed > 2 else 1  # another process would cost more than it saves
        shutil.copytree(staged / "_build", new / "_build")
        for style in (new / "_build" / "html" / "_static").glob("mystnb.*.css"):
            style.unlink()  # written last, so that links to one that is there already would be others
    order = json.dumps([jobs, "build", str(staged), "--path-output", str(new), *_STRICT])
    with nullcontext(builder) if builder else open_builder() as process:
        with suppress(BrokenPipeError):  # it has ended, and said why
            process.stdin.write(f"{order}\n")
            process.stdin.flush()
        log, code = "".join(process.stdout), process.wait()
    if code != 0 or not (new / "_build" / "html" / "index.html").is_file():
        shutil.rmtree(new, ignore_errors=True)
        if (full := os.strerror(errno.ENOSPC)) in log:
            raise OSError(errno.ENOSPC, full, str(new))
        raise ValueError(
            f"the book in {staged} does not build; correct these pages:\n{_complaints(log)}"
        )
    for cache in (".jupyter_cache", "jupyter_execute"):
        shutil.rmtree(new / "_build" / cache, ignore_errors=True)
    write_whole(new / "_build" / "frame.json", frame)
    shutil.rmtree(staged / "_build", ignore_errors=True)
    (new / "_build").rename(staged / "_build")
    new.rmdir()
    index = staged / "_build" / "html" / "index.html"
    os.utime(index)  # it may not have been written again, and make compares times
    return index


def _read_frame(staged: Path) -> str:
    """Return what pages share, as text: while it stays, Sphinx has only changed pages to read and write again.

    Whatever shows on other pages than its own counts: every file beside the notebooks, and the notebooks' headings,
    which are in the table of contents and in links.
    """
    frame: dict[str, object] = {"python": sys.version}
    for file in sorted(staged.rglob("*")):
        place = file.relative_to(staged)
        if not file.is_file() or place.parts[0] in ("_build", "figures", "tables"):
            continue
        if file.suffix == ".ipynb":
            cells = json.loads(file.read_text(encoding="utf-8"))["cells"]
            text = "".join(
                "".join(cell["source"]) + "\n" for cell in cells if cell["cell_type"] == "markdown"
            )
            frame[place.as_posix()] = re.findall(r"^#+ .*|^\(.*\)=$", text, re.M)
        else:
            frame[place.as_posix()] = hashlib.sha256(file.read_bytes()).hexdigest()
    return json.dumps(frame, indent=1)


def _configure(config: str, notice: str, left_out: Collection[str]) -> str:
    """Return the configuration with this version, the chapters left out, and a notice for the top of every page."""
    names = ", ".join(Path(page).name for page in left_out)
    config = config.replace("{version}", __version__).replace("{left_out}", names)
    if not notice:
        return config
    settings = yaml.safe_load(config)
    settings.setdefault("html", {})["announcement"] = html.escape(notice)
    return yaml.safe_dump(settings, sort_keys=False, allow_unicode=True)


def _read_toc(sources: Path, leave_out: Collection[str]) -> dict:
    """Return the table of contents without some pages, and without parts that are empty then."""
    toc = yaml.safe_load((sources / "_toc.yml").read_text(encoding="utf-8"))
    if "parts" in toc:
        for part in toc["parts"]:
            part["chapters"] = [
                chapter for chapter in part["chapters"] if chapter.get("file") not in leave_out
            ]
        toc["parts"] = [part for part in toc["parts"] if part["chapters"]]
    return toc


def _pages(toc: dict) -> list[str]:
    """Return the names of all pages of a table of contents."""
    lists = [toc.get("chapters", []), *(part["chapters"] for part in toc.get("parts", []))]
    return [
        toc["root"],
        *(chapter["file"] for chapters in lists for chapter in chapters if "file" in chapter),
    ]


def _complaints(log: str) -> str:
    lines = re.sub(r"\x1b\[[0-9;]*m", "", log).splitlines()
    return "\n".join(
        [line for line in lines if "WARNING:" in line or "ERROR:" in line] or lines[-20:]
    )
