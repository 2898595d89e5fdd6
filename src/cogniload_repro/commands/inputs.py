"""What each step reads, as small files of digests: the one notion of freshness.

``BUILD/inputs`` has a file for the outputs and one for the book: digests of the code, data,
sources and pages that they depend on, and the parameters. A file is replaced only if its content
changes. make compares these files with the results, and nothing else. For each chapter the folder
has what its last run depended on (`render`).
"""

import hashlib
import json
import re
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import click

from cogniload_repro.commands.options import BUILD
from cogniload_repro.commands.params import Parameters, takes
from cogniload_repro.files import locked, write_if_changed
from cogniload_repro.paths import DATA

_CODE = Path(__file__).resolve().parents[1]
_BOOK_CODE = _CODE / "book"
#: Folders in ``data`` that are not committed.
_NOT_COMMITTED = re.compile(r"build.*|local|tokenizers")
#: The parameters that the outputs and the book depend on.
OUTPUTS_PARAMETERS = ("grid", "source", "add", "max_rejected")
BOOK_PARAMETERS = ("formula", "family", "models")
#: The targets of make's rules, each written last by its step.
_TARGETS = (
    "sources.json",
    "cells.parquet",
    "fidelity.csv",
    "book/_build/html/index.html",
)


def describe_outputs(parameters: Parameters) -> dict[str, Any]:
    """Return what the outputs, and all counts and fits from them, depend on.

    Outputs of models may be large: their names, sizes and times of change stand for them.
    """
    code = [path for path in _CODE.iterdir() if path != _BOOK_CODE]
    data = [path for path in DATA.iterdir() if not _NOT_COMMITTED.fullmatch(path.name)]
    sources = [Path(source) for source in parameters.sources()]
    content = {name: getattr(parameters, name) for name in OUTPUTS_PARAMETERS}
    content["code"] = digest(*code, *data)
    content["sources"] = digest(*sources, read=_read_times)
    return content


def describe_chapters(build: Path) -> dict[str, str]:
    """Return what all chapters depend on."""
    return {
        "outputs": digest(build / "inputs" / "outputs.json"),
        "code": digest(_BOOK_CODE, Path("scripts"), Path("codecheck.yml")),
    }


def _write(content: dict[str, Any]) -> str:
    return json.dumps(content, indent=1, ensure_ascii=False) + "\n"


def write_inputs(build: Path, name: str, content: dict[str, Any]) -> None:
    """Note what outputs, book or chapters/NAME depend on, if it has changed."""
    # addresses may hold passwords, so only the owner can read the file
    file = build / "inputs" / f"{name}.json"
    write_if_changed(file, _write(content), mode=0o600)


def is_noted(build: Path, name: str, content: dict[str, Any]) -> bool:
    """Return whether this is what outputs, book or chapters/NAME depended on when last noted."""
    file = build / "inputs" / f"{name}.json"
    return file.is_file() and file.read_text("utf-8") == _write(content)


def read_parameters(build: Path, **values: Any) -> Parameters:
    """Return the parameters with which the outputs of a build were made, and those of a book."""
    file = build / "inputs" / "outputs.json"
    saved = json.loads(file.read_text("utf-8"))
    outputs = {name: saved[name] for name in OUTPUTS_PARAMETERS}
    outputs["add"] = tuple(saved["add"])
    return Parameters(**outputs, **values)


def _read_times(file: Path) -> bytes:
    about = file.stat()
    # a copy can keep the modification time (mtime), but never the change time (ctime)
    return f"{about.st_mtime_ns} {about.st_ctime_ns}".encode()


def digest(*paths: Path, read: Callable[[Path], bytes] = Path.read_bytes) -> str:
    """Return a digest of files and of all files below folders: of their names and contents."""
    total = hashlib.sha256()
    for path in sorted(paths):
        for file in sorted([path, *path.rglob("*")]):
            if file.is_file() and "__pycache__" not in file.parts:
                content = read(file)
                line = f"{file.relative_to(path.parent)} {len(content)}\n"
                total.update(line.encode("utf-8", "surrogateescape"))
                total.update(content)
    return total.hexdigest()[:32]


def _remove_future(build: Path) -> None:
    """Remove inputs and targets with a time to come, as after a clock was set back.

    Their steps are repeated then; the chapters are not run again. Sphinx compares times too, so its
    cache goes.
    """
    targets = [build / name for name in _TARGETS]
    for file in (*build.glob("inputs/*.json"), *targets):
        if file.exists() and file.stat().st_mtime > time.time():
            file.unlink()
            shutil.rmtree(build / "book/_build/doctrees", ignore_errors=True)


@click.command("parameters", hidden=True)
@takes(*vars(Parameters()))
@BUILD
def save_inputs(build: Path, **values: Any) -> None:
    """Save what the steps read (make calls this first)."""
    parameters = Parameters(**values)
    with locked(build):
        _remove_future(build)
        write_inputs(build, "outputs", describe_outputs(parameters))
        content = {name: getattr(parameters, name) for name in BOOK_PARAMETERS}
        content |= describe_chapters(build)
        content["pages"] = digest(*map(Path, ("book", "notebooks", "pyproject.toml")))
        write_inputs(build, "book", content)
