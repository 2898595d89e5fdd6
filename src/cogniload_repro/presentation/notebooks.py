"""Run a notebook: checked parameters, no start-up files of the reader, no trace of when or where it ran."""

import ast
import json
import os
import tempfile
from collections.abc import Mapping
from pathlib import Path

import nbformat
import papermill
from nbformat import NotebookNode
from papermill.exceptions import PapermillExecutionError

from cogniload_repro.files import write_whole
from cogniload_repro.presentation import kernels
from cogniload_repro.presentation.chapters import describe_run

#: Characters of a failing cell's message that are shown.
_MESSAGE_CHARS = 500
_INJECTED = "injected-parameters"


def run_notebook(source: str | Path, target: str | Path, parameters: Mapping[str, object]) -> Path:
    """Execute a copy of a notebook with new values for its ``parameters`` cell; write it without times or paths.

    Two runs with the same inputs write the same bytes. Cells run in this process and in the notebook's own folder, and
    parameters that are ``Path`` objects reach them relative to it: parallel notebooks need one process each. A
    ValueError names notebook, cell, error and remedy; a failed run leaves the target alone and keeps the copy with the
    traceback beside it, as ``<name>.failed.ipynb``.
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
    made_from = describe_run(source, parameters)
    with tempfile.TemporaryDirectory() as folder:
        executed = Path(folder) / "executed.ipynb"
        os.environ["IPYTHONDIR"] = folder
        try:
            papermill.execute_notebook(
                notebook, executed, values, engine_name=kernels.NAME, kernel_name="python3", cwd=source.parent,
                progress_bar=False, request_save_on_cell_execute=False,
            )  # fmt: skip
        except PapermillExecutionError as error:
            write_whole(failed, _tidy(executed, values, made_from))
            defaults = next(place for place, cell in enumerate(notebook.cells) if "parameters" in _tags(cell))
            number = error.cell_index + 1 - (1 if values and error.cell_index > defaults else 0)
            message = f"{error.ename}: {error.evalue}"
            if len(message) > _MESSAGE_CHARS:
                message = message[:_MESSAGE_CHARS] + " ..."
            raise ValueError(
                f"{source.name}, cell {number} of {len(notebook.cells)} failed: {message}; "
                f"correct its input or the notebook and run again (the whole traceback is in {failed})"
            ) from None
        write_whole(target, _tidy(executed, values, made_from))
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


def _tidy(executed: Path, values: Mapping[str, object], made_from: str) -> str:
    """Drop times, durations and random identifiers; show the parameters that were run in the cell of defaults."""
    notebook = nbformat.read(executed, as_version=4)
    notebook.metadata.pop("papermill", None)
    notebook.metadata["cogniload"] = {"parameters": dict(values), "made_from": made_from}
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
