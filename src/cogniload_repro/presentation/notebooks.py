"""Run a notebook: checked parameters, no start-up files of the reader, no trace of when or where it ran.

A papermill engine runs the cells in this process: no kernel, no sockets, and a fork has what its parent has imported.
"""

import os
import platform
import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import nbformat
import papermill
from IPython.core.displayhook import DisplayHook
from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output
from nbformat import NotebookNode
from nbformat.v4 import new_output
from papermill.engines import Engine, papermill_engines
from papermill.exceptions import PapermillExecutionError
from traitlets import List
from traitlets.config import Config

from cogniload_repro.files import write_whole
from cogniload_repro.presentation.chapters import describe_run

#: Characters of a failing cell's message that are shown.
_MESSAGE_CHARS = 500
_INJECTED = "injected-parameters"
#: The name under which papermill knows the engine.
_ENGINE = "cogniload"
#: What an executed notebook says of its language.
_LANGUAGE = {
    "name": "python", "version": platform.python_version(), "mimetype": "text/x-python", "file_extension": ".py",
    "codemirror_mode": {"name": "ipython", "version": 3}, "pygments_lexer": "ipython3", "nbconvert_exporter": "python",
}  # fmt: skip


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
        name: Path(os.path.relpath(value, source.parent)).as_posix()
        if isinstance(value, Path)
        else value
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
                notebook, executed, values, engine_name=_ENGINE, kernel_name="python3", cwd=source.parent,
                progress_bar=False, request_save_on_cell_execute=False,
            )  # fmt: skip
        except PapermillExecutionError as error:
            write_whole(failed, _tidy(executed, values, made_from))
            defaults = next(
                place for place, cell in enumerate(notebook.cells) if "parameters" in _tags(cell)
            )
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
        raise ValueError(
            f"{source} is not a readable notebook ({error}); check the name and the file"
        ) from None
    count = sum("parameters" in _tags(cell) for cell in notebook.cells)
    if count != 1:
        raise ValueError(
            f"{source.name} has {count} cells tagged 'parameters'; tag the one that sets the defaults"
        )
    return notebook


def _check_parameters(
    source: Path, notebook: NotebookNode, parameters: Mapping[str, object]
) -> None:
    known = set(papermill.inspect_notebook(notebook))
    unknown = sorted(set(parameters) - known)
    if unknown:
        raise ValueError(
            f"{source.name} has no parameter {', '.join(unknown)}; "
            f"its 'parameters' cell sets: {', '.join(sorted(known)) or 'nothing'}"
        )


def _tidy(executed: Path, values: Mapping[str, object], made_from: str) -> str:
    """Drop times, durations and random identifiers; show the injected parameters if they are more than the build."""
    notebook = nbformat.read(executed, as_version=4)
    notebook.metadata.pop("papermill", None)
    notebook.metadata["cogniload"] = {"parameters": dict(values), "made_from": made_from}
    for number, cell in enumerate(notebook.cells):
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if _INJECTED in _tags(cell):
            cell.id = _INJECTED
            cell.metadata["tags"] = [
                _INJECTED,
                "hide-input" if values.keys() > {"build"} else "remove-cell",
            ]
        elif "papermill-error-cell-tag" in _tags(cell):
            cell.id = f"error-{number}"
    return nbformat.writes(notebook) + "\n"


def _tags(cell: NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])


class _Hook(DisplayHook):
    """Puts the value at the end of a cell among what the cell displays."""

    shell: Any

    def write_output_prompt(self) -> None:
        pass

    finish_displayhook = write_output_prompt

    def write_format_data(self, format_dict, md_dict=None) -> None:
        self.shell.display_pub.publish(format_dict, md_dict)


class _Shell(InteractiveShell):
    """Keeps the error that ends a notebook."""

    errors: Any = List()

    def _showtraceback(self, etype, evalue, stb) -> None:
        self.errors.append(
            new_output("error", ename=etype.__name__, evalue=str(evalue), traceback=stb)
        )


class _Here(Engine):
    """Runs a notebook's cells one by one, until one fails."""

    @classmethod
    def execute_managed_notebook(cls, nb_man, kernel_name, **options) -> None:
        nb_man.nb.metadata["language_info"] = _LANGUAGE
        shell = _Shell.instance(
            displayhook_class=_Hook, config=Config(HistoryManager={"enabled": False})
        )
        try:
            for place, cell in enumerate(nb_man.nb.cells):
                if cell.cell_type == "code" and cell.source.strip():
                    nb_man.cell_start(cell, place)
                    with capture_output() as said:
                        cell.execution_count = shell.run_cell(
                            cell.source, store_history=True
                        ).execution_count
                    for name in ("stdout", "stderr"):
                        if text := getattr(said, name):
                            cell.outputs.append(new_output("stream", name=name, text=text))
                    for one in said.outputs:
                        cell.outputs.append(
                            new_output("display_data", data=one.data, metadata=one.metadata or {})
                        )
                    cell.outputs += shell.errors
                    nb_man.cell_complete(cell, place)
                    if shell.errors:
                        nb_man.cell_exception(cell, place)
                        return
        finally:
            _Shell.clear_instance()


papermill_engines.register(_ENGINE, _Here)
