"""Run a notebook: checked parameters, no settings of the reader, no trace of when or where it ran.

A papermill engine runs the cells in this process: no kernel, no sockets, and a fork has what its parent has imported.
"""

import base64
import json
import os
import platform
import tempfile
import time
import traceback
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib as mpl
import nbformat
import papermill
from IPython.core.displayhook import DisplayHook
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.pylabtools import select_figure_formats
from IPython.utils.capture import capture_output
from nbformat import NotebookNode
from nbformat.v4 import new_output
from papermill.engines import Engine, papermill_engines
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from cogniload_repro.files import replacing, write_whole
from cogniload_repro.presentation.chapters import FOLDERS, STAGE
from cogniload_repro.presentation.page import Page

#: Characters of a failing cell's message that are shown.
_MESSAGE_CHARS = 500
_INJECTED = "injected-parameters"
#: The name under which papermill knows the engine.
_ENGINE = "cogniload"
#: What an executed notebook says of its kernel and language.
_KERNEL = {"display_name": "Python 3", "language": "python", "name": "python3"}
_LANGUAGE = {
    "name": "python",
    "version": platform.python_version(),
    "mimetype": "text/x-python",
    "file_extension": ".py",
    "codemirror_mode": {"name": "ipython", "version": 3},
    "pygments_lexer": "ipython3",
    "nbconvert_exporter": "python",
}


def run_notebook(
    source: str | Path,
    target: str | Path,
    parameters: Mapping[str, object],
    files: str | Path | None = None,
) -> Path:
    """Execute a copy of a notebook with new values for its ``parameters`` cell; write it without times or paths.

    Figures and tables of its `Page` go into folders of ``files`` after the run has ended well;
    without it there are none. They and the copy have the time at which the run began: what changes
    while it runs is newer. Two runs with the same inputs write the same bytes.

    Cells run in this process and in the notebook's own folder, and parameters that are ``Path``
    objects reach them relative to it: parallel notebooks need one process each. A ValueError names
    notebook, cell, error and remedy; a failed run leaves all files alone and keeps the copy with
    the traceback beside the target, as ``<name>.failed.ipynb``.
    """
    source = Path(source).resolve()
    target = Path(target).resolve()
    folder = Path(files).resolve() if files else None
    notebook = _read(source)
    _check_parameters(source, notebook, parameters)
    values = {name: _relative(value, source.parent) for name, value in parameters.items()}
    failed = target.with_suffix(".failed.ipynb")
    target.parent.mkdir(parents=True, exist_ok=True)
    began = time.time_ns()
    with tempfile.TemporaryDirectory(prefix=STAGE, dir=folder) as name:
        stage = Path(name)
        executed = stage / "executed.ipynb"
        try:
            _execute(notebook, executed, values, source, stage if folder else None)
        except PapermillExecutionError as error:
            write_whole(failed, _tidy(executed, values))
            raise ValueError(_describe_failure(error, source, notebook, values, failed)) from None
        names = _list_files(stage)
        text = _tidy(executed, values, names)
        if folder:
            _move(stage, folder, names, began)
    with replacing(target) as part:
        part.write_text(text, encoding="utf-8")
        os.utime(part, ns=(began, began))
    failed.unlink(missing_ok=True)
    return target


def _execute(
    notebook: NotebookNode,
    target: Path,
    values: Mapping[str, object],
    source: Path,
    output: Path | None,
) -> None:
    """Execute a notebook in its folder; the target holds what was done, after an error too."""
    os.environ["IPYTHONDIR"] = str(target.parent)
    Page.chapter = source.stem
    Page.output = output
    try:
        papermill.execute_notebook(
            notebook,
            target,
            values,
            engine_name=_ENGINE,
            kernel_name="python3",
            cwd=source.parent,
            progress_bar=False,
            request_save_on_cell_execute=False,
        )
    finally:
        Page.output = None


def _list_files(stage: Path) -> list[str]:
    """Return the files of a run, such as ``tables/table2.csv``."""
    names = []
    for kind in FOLDERS:
        names += [f"{kind}/{path.name}" for path in sorted((stage / kind).glob("*"))]
    return names


def _move(stage: Path, folder: Path, names: Sequence[str], began: int) -> None:
    """Move the files of a run into a folder; they get the time at which it began."""
    for name in names:
        (folder / name).parent.mkdir(exist_ok=True)
        os.utime(stage / name, ns=(began, began))
        os.replace(stage / name, folder / name)


def _relative(value: object, folder: Path) -> object:
    return Path(os.path.relpath(value, folder)).as_posix() if isinstance(value, Path) else value


def _read(source: Path) -> NotebookNode:
    try:
        tree = json.loads(source.read_text(encoding="utf-8"))
        tree["metadata"]["kernelspec"] = _KERNEL
        _name_cells(tree)
        notebook = nbformat.reads(json.dumps(tree), as_version=4)
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


def _name_cells(tree: dict) -> None:
    """Give numbers to cells without names of their own; nbformat would draw names at random."""
    names = [cell.get("id") for cell in tree["cells"]]
    if None in names or len(set(names)) < len(names):
        tree["nbformat_minor"] = 5
        for number, cell in enumerate(tree["cells"]):
            cell["id"] = f"cell-{number}"


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


def _describe_failure(
    error: PapermillExecutionError,
    source: Path,
    notebook: NotebookNode,
    values: Mapping[str, object],
    failed: Path,
) -> str:
    """Return the failing cell by its number in the source, its error and the remedy as one sentence."""
    (defaults,) = (
        place for place, cell in enumerate(notebook.cells) if "parameters" in _tags(cell)
    )
    injected = 1 if values and error.cell_index > defaults else 0
    message = f"{error.ename}: {error.evalue}"
    if len(message) > _MESSAGE_CHARS:
        message = message[:_MESSAGE_CHARS] + " ..."
    return (
        f"{source.name}, cell {error.cell_index + 1 - injected} of {len(notebook.cells)} failed: "
        f"{message}; correct its input or the notebook and run again (the whole traceback is in "
        f"{failed})"
    )


def _tidy(executed: Path, values: Mapping[str, object], files: Sequence[str] = ()) -> str:
    """Drop times, durations and random identifiers; show the injected parameters if they are more than the build."""
    notebook = nbformat.read(executed, as_version=4)
    notebook.metadata.pop("papermill", None)
    notebook.metadata["cogniload"] = {"parameters": dict(values), "files": list(files)}
    for number, cell in enumerate(notebook.cells):
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if _INJECTED in _tags(cell):
            cell.id = _INJECTED
            shown = "hide-input" if values.keys() > {"build"} else "remove-cell"
            cell.metadata["tags"] = [_INJECTED, shown]
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

    def finish_displayhook(self) -> None:
        pass

    def write_format_data(self, format_dict, md_dict=None) -> None:
        self.shell.display_pub.publish(format_dict, md_dict)


class _Shell(InteractiveShell):
    """Prints no traceback: the engine puts the error into the notebook. Figures need no window."""

    def enable_gui(self, gui=None) -> None:
        pass

    def showtraceback(self, *_arguments, **_options) -> None:
        pass

    def showsyntaxerror(self, *_arguments, **_options) -> None:
        pass


class _Here(Engine):
    """Runs a notebook's cells one by one, until one fails."""

    @classmethod
    def execute_managed_notebook(cls, nb_man, kernel_name, **options) -> None:
        nb_man.nb.metadata["language_info"] = _LANGUAGE
        settings = Config(HistoryManager={"enabled": False})
        shell = _Shell.instance(displayhook_class=_Hook, config=settings)
        mpl.rcdefaults()  # whatever a matplotlibrc says
        shell.enable_matplotlib("inline")
        select_figure_formats(shell, {"png"})
        try:
            for place, cell in enumerate(nb_man.nb.cells):
                if cell.cell_type != "code" or not cell.source.strip():
                    continue
                nb_man.cell_start(cell, place)
                error = _run_cell(shell, cell)
                nb_man.cell_complete(cell, place)
                if error is not None:
                    nb_man.cell_exception(cell, place)
                    return
        finally:
            _Shell.clear_instance()


def _run_cell(shell: InteractiveShell, cell: NotebookNode) -> BaseException | None:
    """Run a cell; put what it shows into its outputs, and its error, which is returned too."""
    with capture_output() as captured:
        result = shell.run_cell(cell.source, store_history=True)
    cell.execution_count = result.execution_count
    for name in ("stdout", "stderr"):
        text = getattr(captured, name)
        if text:
            cell.outputs.append(new_output("stream", name=name, text=text))
    for output in captured.outputs:
        data = {kind: _encode(content) for kind, content in output.data.items()}
        metadata = output.metadata or {}
        cell.outputs.append(new_output("display_data", data=data, metadata=metadata))
    error = result.error_before_exec or result.error_in_exec
    if error is not None:
        name = type(error).__name__
        lines = traceback.format_exception(error)
        cell.outputs.append(new_output("error", ename=name, evalue=str(error), traceback=lines))
    return error


def _encode(content: Any) -> Any:
    """Return what a notebook holds of a picture's bytes, or other content as it is."""
    return base64.b64encode(content).decode("ascii") if isinstance(content, bytes) else content


papermill_engines.register(_ENGINE, _Here)
