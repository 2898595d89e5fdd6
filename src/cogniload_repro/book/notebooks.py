"""Run a chapter with parameters by papermill; the executed copy has no times and no paths."""

import os
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

import nbformat
import papermill
from papermill.engines import papermill_engines
from papermill.exceptions import PapermillExecutionError

from cogniload_repro.book.backend import Run
from cogniload_repro.book.chapters import FOLDERS, STAGE
from cogniload_repro.book.engine import ChapterEngine
from cogniload_repro.files import write_whole

_ENGINE = "cogniload"
_INJECTED = "injected-parameters"
#: Characters to which the message of a failing cell is truncated.
_MESSAGE_CHARS = 500


def run_notebook(
    source: Path,
    target: Path,
    parameters: Mapping[str, object],
    files: Path | None = None,
) -> Path:
    """Execute a copy of a notebook with new parameters, in the notebook's own folder.

    Figures and tables of its `Page` are moved into folders of ``files`` after a successful run;
    without ``files``, none are kept. Runs with the same inputs write the same bytes. If a cell
    fails, a ValueError names notebook, cell, error and remedy, all files are left alone, and the
    copy with the traceback is kept beside the target, as ``<name>.failed.ipynb``.
    """
    source = Path(source).resolve()
    target = Path(target).resolve()
    folder = Path(files).resolve() if files else None
    failed = target.with_suffix(".failed.ipynb")
    values = {name: _relative(value, source) for name, value in parameters.items()}
    papermill_engines.register(_ENGINE, ChapterEngine)
    with tempfile.TemporaryDirectory(prefix=STAGE, dir=folder) as name:
        stage = Path(name)
        executed = stage / "executed.ipynb"
        try:
            papermill.execute_notebook(
                source,
                executed,
                values,
                engine_name=_ENGINE,
                run=Run(source.stem, stage if folder else None),
                kernel_name="python3",
                language="python",
                cwd=source.parent,
                progress_bar=False,
                request_save_on_cell_execute=False,
            )
        except PapermillExecutionError as error:
            write_whole(failed, _tidy(executed, values))
            raise ValueError(_describe_failure(error, source, failed)) from None
        names = _move_files(stage, folder) if folder else []
        write_whole(target, _tidy(executed, values, names))
    failed.unlink(missing_ok=True)
    return target


def _relative(value: object, source: Path) -> object:
    """Return a parameter for a notebook: a path relative to its folder, a list for papermill."""
    if not isinstance(value, Path):
        return list(value) if isinstance(value, tuple) else value
    return Path(os.path.relpath(value, source.parent)).as_posix()


def _move_files(stage: Path, folder: Path) -> list[str]:
    """Move the files of a run into the folders of a build; return their names."""
    names = []
    for kind in FOLDERS:
        for file in sorted((stage / kind).glob("*")):
            (folder / kind).mkdir(exist_ok=True)
            os.replace(file, folder / kind / file.name)
            names.append(f"{kind}/{file.name}")
    return names


def _describe_failure(
    error: PapermillExecutionError, source: Path, failed: Path
) -> str:
    """Return a sentence with the failing cell's number, its error and the remedy."""
    message = f"{error.ename}: {error.evalue[:_MESSAGE_CHARS]}".removesuffix(": ")
    remedy = f"correct its input or the notebook and run again (the traceback is in {failed})"
    return f"{source.name}, cell [{error.exec_count}] failed: {message}; {remedy}"


def _tidy(
    executed: Path, values: Mapping[str, object], files: Sequence[str] = ()
) -> str:
    """Return an executed notebook as text, without times, durations and random ids.

    The injected parameters are shown if there are others than the build.
    """
    notebook = nbformat.read(executed, as_version=4)
    notebook.metadata.pop("papermill", None)
    notebook.metadata["cogniload_run"] = {
        "parameters": dict(values),
        "files": list(files),
    }
    for cell in notebook.cells:
        cell.metadata.pop("papermill", None)
        tags = cell.metadata.get("tags", [])
        if _INJECTED in tags:
            cell.id = _INJECTED
            visibility = "hide-input" if values.keys() > {"build"} else "remove-cell"
            cell.metadata["tags"] = [_INJECTED, visibility]
    return nbformat.writes(notebook) + "\n"
