"""Run a notebook: a fresh kernel, checked parameters, no trace of when or where it ran."""

import ast
import json
import os
import shutil
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import nbformat
import papermill
from nbformat import NotebookNode
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from cogniload_repro.files import write_whole

_PREFIX = "cogniload-notebook-"
_INJECTED = "injected-parameters"


def run_notebook(source: str | Path, target: str | Path, parameters: Mapping[str, object]) -> Path:
    """Execute a copy of a notebook with new values for its ``parameters`` cell; write it without times or paths.

    Two runs with the same inputs write the same bytes. The kernel starts in the notebook's own folder, and parameters
    that are ``Path`` objects reach it relative to that folder. papermill changes the working directory of the process
    while it runs: parallel notebooks need one process each. A ValueError names notebook, cell, error and remedy; a
    failed run leaves the target alone and keeps the copy with the traceback beside it, as ``<name>.failed.ipynb``.
    """
    source, target = Path(source).resolve(), Path(target).resolve()
    notebook = _read(source)
    _check_parameters(source, notebook, parameters)
    values = {
        name: Path(os.path.relpath(value, source.parent)).as_posix() if isinstance(value, Path) else value
        for name, value in parameters.items()
    }
    failed = target.with_suffix(".failed.ipynb")
    target.parent.mkdir(parents=True, exist_ok=True)
    with _private_folder() as folder:
        executed = folder / "executed.ipynb"
        try:
            _execute(notebook, executed, values, source.parent)
        except PapermillExecutionError as error:
            write_whole(failed, _tidy(executed, values))
            defaults = next(place for place, cell in enumerate(notebook.cells) if "parameters" in _tags(cell))
            number = error.cell_index + 1 - (1 if values and error.cell_index > defaults else 0)
            raise ValueError(
                f"{source.name}, cell {number} of {len(notebook.cells)} failed: {error.ename}: {error.evalue}; "
                f"correct its input or the notebook and run again (the whole traceback is in {failed})"
            ) from None
        except RuntimeError as error:  # nbclient's word for a kernel that died
            raise ValueError(f"{source.name}: its kernel ended before the notebook ({error}); run again") from None
        write_whole(target, _tidy(executed, values))
    failed.unlink(missing_ok=True)
    return target


def _read(source: Path) -> NotebookNode:
    try:
        notebook = nbformat.read(source, as_version=4)
    except Exception as error:  # nbformat raises many types, most of them undocumented
        raise ValueError(f"{source} is not a readable notebook ({error}); check the name and the file") from None
    count = sum("parameters" in _tags(cell) for cell in notebook.cells)
    if count != 1:
        raise ValueError(f"{source.name} has {count} cells tagged 'parameters'; tag the one that sets the defaults")
    return notebook


def _check_parameters(source: Path, notebook: NotebookNode, parameters: Mapping[str, object]) -> None:
    known = set(papermill.inspect_notebook(notebook))
    unknown = sorted(set(parameters) - known)
    if unknown:
        raise ValueError(
            f"{source.name} has no parameter {', '.join(unknown)}; "
            f"its 'parameters' cell sets: {', '.join(sorted(known)) or 'nothing'}"
        )


@contextmanager
def _private_folder() -> Iterator[Path]:
    """Give the kernel a folder of its own: no start-up files of the reader, no shared history, no files left behind."""
    _remove_stale()
    before = os.environ.get("IPYTHONDIR")
    with tempfile.TemporaryDirectory(prefix=f"{_PREFIX}{os.getpid()}-") as folder:
        os.environ["IPYTHONDIR"] = folder
        try:
            yield Path(folder)
        finally:
            del os.environ["IPYTHONDIR"]
            if before is not None:
                os.environ["IPYTHONDIR"] = before


def _remove_stale() -> None:
    """Remove folders of runs that were killed."""
    for folder in Path(tempfile.gettempdir()).glob(f"{_PREFIX}*-*"):
        number = folder.name.removeprefix(_PREFIX).partition("-")[0]
        try:
            os.kill(int(number), 0)  # asks only whether there is such a process
        except ProcessLookupError:
            shutil.rmtree(folder, ignore_errors=True)
        except (ValueError, OSError):
            continue  # somebody else's


def _execute(notebook: NotebookNode, executed: Path, values: Mapping[str, object], cwd: Path) -> None:
    # ipykernel 7.3 and later warn about sockets in clear text unless the manager offers encryption
    manager = {"transport_encryption": "auto", "connection_file": str(executed.with_name("kernel.json"))}
    papermill.execute_notebook(
        notebook,
        executed,
        values,
        kernel_name="python3",
        cwd=cwd,
        progress_bar=False,
        iopub_timeout=600,  # the last output of a cell takes more than the usual 4 s where the machine is busy
        config=Config({"KernelManager": manager}),
        shutdown_kernel="immediate",  # a polite end interrupts the idle kernel, which complains on stderr
    )


def _tidy(executed: Path, values: Mapping[str, object]) -> str:
    """Drop times, durations and random identifiers; show the parameters that were run in the cell of defaults."""
    notebook = nbformat.read(executed, as_version=4)
    notebook.metadata.pop("papermill", None)
    notebook.metadata["cogniload"] = {"parameters": dict(values)}
    for number, cell in enumerate(notebook.cells):
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if _INJECTED in _tags(cell):
            cell.id = _INJECTED
            cell.metadata["tags"] = [_INJECTED, "remove-cell"]
        elif "parameters" in _tags(cell):
            cell.source = _set_parameters(cell.source, values)
        elif "papermill-error-cell-tag" in _tags(cell):
            cell.id = f"error-{number}"
    return nbformat.writes(notebook) + "\n"


def _set_parameters(source: str, values: Mapping[str, object]) -> str:
    """Return a cell of defaults with other values in their places, comments and all else as they were."""
    lines = source.splitlines(keepends=True)
    for statement in reversed(ast.parse(source).body):
        if isinstance(statement, ast.Assign) and isinstance(statement.targets[0], ast.Name):
            old, name = statement.value, statement.targets[0].id
            if name in values and name != "build" and old.lineno == old.end_lineno:
                line = lines[old.lineno - 1].encode()
                start, end, value = line[: old.col_offset], line[old.end_col_offset :], values[name]
                text = json.dumps(value, ensure_ascii=False) if isinstance(value, str) else repr(value)
                lines[old.lineno - 1] = (start + text.encode() + end).decode()
    return "".join(lines)


def _tags(cell: NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])
