"""What each step reads, as small files of digests: the one notion of freshness.

``BUILD/inputs`` has a file for each step and for each chapter, with digests of the code, the data
and the sources that it reads, its parameters, and a digest of the step before it. A file is
replaced only if its content changes. make compares these files with the results, and nothing else.
"""

import hashlib
import json
import os
import shutil
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from cogniload_repro.book.chapters import Chapter, read_chapters
from cogniload_repro.commands.options import BUILD
from cogniload_repro.commands.params import Parameters, check_parameters, takes
from cogniload_repro.files import locked, write_if_changed
from cogniload_repro.paths import DATA

_CODE = Path(__file__).resolve().parents[1]
_BOOK_CODE = _CODE / "book"
#: Committed data; the other folders in ``data`` are builds.
_COMMITTED_DATA = ("*.*", "companions", "outputs", "published", "reconstructed")
#: Files outside the package that chapters read, and those that make the pages.
_READ_BY_CHAPTERS = (
    _BOOK_CODE,
    Path("scripts"),
    Path("codecheck.yml"),
    DATA / "another_paper",
)
_PAGE_SOURCES = (Path("book"), Path("pyproject.toml"), Path("notebooks"))


@dataclass(frozen=True)
class Step:
    """A step: its parameters, the step before it, and its results, the last to be written first."""

    parameters: tuple[str, ...]
    before: str
    results: tuple[str, ...]


STEPS = {
    "outputs": Step(
        ("grid", "source", "add", "max_rejected"),
        "",
        ("sources.json", "puzzles.parquet"),
    ),
    "scores": Step(
        (), "outputs", ("cells.parquet", "tokens.parquet", "baselines.parquet")
    ),
    "fits": Step(
        (),
        "scores",
        (
            "fidelity.csv",
            "fidelity.parquet",
            "glm.parquet",
            "interactions.parquet",
            "aic.parquet",
            "prompts.parquet",
        ),
    ),
    "book": Step(
        ("formula", "family", "models"), "fits", ("book/_build/html/index.html",)
    ),
}


def inputs_file(build: Path, name: str) -> Path:
    """Return the file with the inputs of a step, or of a chapter by its stem."""
    folder = build / "inputs"
    return (
        folder / f"{name}.json"
        if name in STEPS
        else folder / "chapters" / f"{name}.json"
    )


def write_step(build: Path, name: str, parameters: Parameters) -> None:
    """Write the inputs of a step, if they have changed."""
    step = STEPS[name]
    content: dict[str, Any] = {key: getattr(parameters, key) for key in step.parameters}
    if step.before:
        content["before"] = digest(inputs_file(build, step.before))
    if name == "outputs":
        content["code"] = digest(_CODE, without=_BOOK_CODE)
        content["data"] = digest(
            *(path for name in _COMMITTED_DATA for path in DATA.glob(name))
        )
        # outputs of models may be large: their names, sizes and times of change stand for them
        local = [source for source in parameters.sources() if Path(source).exists()]
        content["sources"] = [fingerprint(source) for source in local]
    if name == "book":
        content["pages"] = digest(*_PAGE_SOURCES)
    _write(build, name, content)


def write_chapters(build: Path, parameters: Parameters) -> set[str]:
    """Write the inputs of each chapter, and of the data that the pages' scripts load.

    Returns the names of the chapters whose inputs have changed.
    """
    changed = set()
    before = digest(inputs_file(build, "fits"))
    code = digest(*_READ_BY_CHAPTERS)
    chapters = read_chapters(Path("notebooks"))
    _write(
        build,
        "pages",
        {"before": before, "code": code, "toc": digest(Path("book/_toc.yml"))},
    )
    for chapter in chapters:
        content: dict[str, Any] = {"before": before, "code": code}
        content["notebook"] = digest(chapter.source)
        content["parameters"] = values_for(chapter, parameters)
        if chapter.reads_verdicts:
            content["verdicts"] = digest(build / "verdicts")
        if _write(build, chapter.source.stem, content):
            changed.add(chapter.source.stem)
    names = {chapter.source.stem for chapter in chapters} | {"pages"}
    for file in (build / "inputs" / "chapters").glob("*.json"):
        if file.stem not in names:
            file.unlink()
    return changed


def values_for(chapter: Chapter, parameters: Parameters) -> dict[str, Any]:
    """Return the parameters of a chapter that differ from the paper's."""
    changed = parameters.changes()
    chosen = sorted(changed.keys() & chapter.takes & set(STEPS["book"].parameters))
    return {name: changed[name] for name in chosen}


def _write(build: Path, name: str, content: dict) -> bool:
    text = json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    # addresses may hold passwords, so only the owner can read the file
    return write_if_changed(inputs_file(build, name), text, mode=0o600)


def digest(*paths: Path, without: Path | None = None) -> str:
    """Return a digest of files and of all files below folders: of their names and contents."""
    total = hashlib.sha256()
    for path in sorted(paths):
        for file in sorted([path, *path.rglob("*")]):
            is_left_out = "__pycache__" in file.parts or without in file.parents
            if file.is_file() and not is_left_out:
                content = hashlib.sha256(file.read_bytes()).hexdigest()
                total.update(f"{file.relative_to(path.parent)} {content}\n".encode())
    return total.hexdigest()[:32]


def fingerprint(path: str | Path) -> str:
    """Return a digest of the names, sizes and times of a file, or of all files of a folder."""
    lines = []
    for file in (Path(path), *sorted(Path(path).rglob("*"))):
        about = file.stat() if file.exists() else file.lstat()
        # a copy can keep the modification time (mtime), but never the change time (ctime)
        lines.append(f"{file} {about.st_size} {about.st_mtime_ns} {about.st_ctime_ns}")
    text = "\n".join(lines)
    return hashlib.sha256(text.encode("utf-8", "surrogateescape")).hexdigest()[:32]


def read_saved(build: Path) -> Parameters:
    """Return the parameters with which a build was made, the paper's for steps not yet done."""
    values: dict[str, Any] = {}
    for name, step in STEPS.items():
        file = inputs_file(build, name)
        if file.is_file():
            content = json.loads(file.read_text(encoding="utf-8"))
            for key in step.parameters:
                value = content[key]
                values[key] = tuple(value) if isinstance(value, list) else value
    return Parameters(**values)


def _remove_incomplete(build: Path) -> None:
    """Remove the last result of each step that has lost another one, so that make repeats it."""
    for step in STEPS.values():
        last, *others = [build / name for name in step.results]
        if not all(file.exists() for file in others):
            last.unlink(missing_ok=True)


def _settle_times(build: Path) -> None:
    """Move the times of a build back if one is in the future, as after a clock was set back.

    Their order stays. Sphinx's cache goes, since Sphinx compares times too.
    """
    results = [build / name for step in STEPS.values() for name in step.results]
    files = [
        file for file in (*results, *build.glob("inputs/**/*.json")) if file.exists()
    ]
    times = {file: file.stat().st_mtime_ns for file in files}
    ahead = max(times.values(), default=0) - time.time_ns()
    if ahead <= 0:
        return
    for file, written in times.items():
        earlier = written - ahead - 1_000_000_000
        os.utime(file, ns=(earlier, earlier))
    shutil.rmtree(build / "book" / "_build" / "doctrees", ignore_errors=True)


@click.command("parameters", hidden=True)
@takes(*vars(Parameters()))
@BUILD
def save_inputs(build: Path, **values: Any) -> None:
    """Check the parameters, and save what each step reads (make calls this first)."""
    parameters = Parameters(**values)
    check_parameters(parameters)
    with locked(build):
        _settle_times(build)
        _remove_incomplete(build)
        for name in STEPS:
            write_step(build, name, parameters)
        write_chapters(build, parameters)
