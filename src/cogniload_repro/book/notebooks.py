"""Run a notebook with checked parameters, isolated from the reader's own settings.

The executed copy does not show when or where it ran.
"""

import filecmp
import json
import os
import tempfile
import time
from collections.abc import Mapping, Sequence
from pathlib import Path

import nbformat
import papermill
from nbformat import NotebookNode
from papermill.exceptions import PapermillExecutionError

from cogniload_repro.book.cells import ENGINE
from cogniload_repro.book.chapters import FOLDERS, STAGE
from cogniload_repro.book.page import Page
from cogniload_repro.files import replacing, write_whole

#: Characters to which the message of a failing cell is truncated.
_MESSAGE_CHARS = 500
_INJECTED = "injected-parameters"
# the kernel metadata of a Python notebook; no kernel is started
_KERNEL = {"name": "python3", "display_name": "Python 3", "language": "python"}


def run_notebook(
    source: str | Path,
    target: str | Path,
    parameters: Mapping[str, object],
    files: str | Path | None = None,
) -> Path:
    """Execute a copy of a notebook with new parameters; the copy has no times or paths.

    Figures and tables of its `Page` are moved into folders of ``files`` after a successful run;
    without ``files``, none are kept. They and the copy carry the time at which the run began, so
    that whatever changed during the run is newer. Runs with the same inputs write the same bytes.

    Cells run in this process and in the notebook's own folder, so parallel notebooks need one
    process each; ``Path`` parameters are passed relative to that folder. If a cell fails, a
    ValueError names notebook, cell, error and remedy, all files are left alone, and the copy with
    the traceback is kept beside the target, as ``<name>.failed.ipynb``.
    """
    source = Path(source).resolve()
    target = Path(target).resolve()
    folder = Path(files).resolve() if files else None
    notebook = _read(source)
    values = {name: _place(value, source) for name, value in parameters.items()}
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
            raise ValueError(
                _describe_failure(error, source, notebook, values, failed)
            ) from None
        names = sorted(
            file.relative_to(stage).as_posix()
            for kind in FOLDERS
            for file in (stage / kind).glob("*")
        )
        text = _tidy(executed, values, names)
        if folder:
            _move_files(stage, folder, names, began)
    with replacing(target) as part:
        part.write_text(text, encoding="utf-8")
        os.utime(part, ns=(began, began))
    failed.unlink(missing_ok=True)
    return target


def _place(value: object, source: Path) -> object:
    """Return a parameter's value for a notebook: a path becomes relative to its folder."""
    if not isinstance(value, Path):
        return value
    return Path(os.path.relpath(value, source.parent)).as_posix()


def _execute(
    notebook: NotebookNode,
    target: Path,
    values: Mapping[str, object],
    source: Path,
    output: Path | None,
) -> None:
    """Execute a notebook in its folder, and write the copy to the target even after an error."""
    os.environ["IPYTHONDIR"] = str(target.parent)
    Page.chapter = source.stem
    Page.output = output
    try:
        papermill.execute_notebook(
            notebook,
            target,
            values,
            engine_name=ENGINE,
            kernel_name="python3",
            cwd=source.parent,
            progress_bar=False,
            request_save_on_cell_execute=False,
        )
    finally:
        Page.output = None


def _move_files(stage: Path, folder: Path, names: Sequence[str], began: int) -> None:
    """Move the files of a run into a folder, and set their times to the start of the run.

    An identical file is not replaced, as that would change the time of the folder, which chapters
    that read it compare.
    """
    for name in names:
        file = folder / name
        file.parent.mkdir(exist_ok=True)
        if not file.is_file() or not filecmp.cmp(stage / name, file, shallow=False):
            os.replace(stage / name, file)
        os.utime(file, ns=(began, began))


def _read(source: Path) -> NotebookNode:
    """Read a Python notebook, check that it has one parameters cell, and give cells stable ids."""
    try:
        content = json.loads(source.read_text(encoding="utf-8"))
        kernel = content["metadata"].get("kernelspec", {})
        language = kernel.get("language", "python")
        if language != "python":
            raise ValueError(f"it is for {language}; chapters are in Python")
        content["metadata"]["kernelspec"] = _KERNEL
        _name_cells(content)
        notebook = nbformat.from_dict(content)
        nbformat.validate(notebook)
        notebook = nbformat.convert(notebook, 4)
    except Exception as error:  # nbformat raises many types, most of them undocumented
        raise ValueError(
            f"{source} is not a readable notebook ({error}); check the name and the file"
        ) from None
    # drop the cell that papermill inserted in an earlier run
    notebook.cells = [cell for cell in notebook.cells if _INJECTED not in _tags(cell)]
    count = sum("parameters" in _tags(cell) for cell in notebook.cells)
    if count != 1:
        raise ValueError(
            f"{source.name} has {count} cells tagged 'parameters'; "
            "tag the one that sets the defaults"
        )
    return notebook


def _name_cells(content: dict) -> None:
    """Give all cells numbers as ids if some lack one or share one; nbformat draws random ones."""
    cells = content.get("cells", [])
    names = {cell.get("id") for cell in cells}
    if None in names or len(names) < len(cells):
        for number, cell in enumerate(cells):
            cell["id"] = f"cell-{number}"
        content["nbformat_minor"] = 5


def _describe_failure(
    error: PapermillExecutionError,
    source: Path,
    notebook: NotebookNode,
    values: Mapping[str, object],
    failed: Path,
) -> str:
    """Return a sentence with the failing cell's number, its error and the remedy."""
    are_defaults = ["parameters" in _tags(cell) for cell in notebook.cells]
    injected = 1 if values and error.cell_index > are_defaults.index(True) else 0
    message = f"{error.ename}: {error.evalue}"
    if len(message) > _MESSAGE_CHARS:
        message = message[:_MESSAGE_CHARS] + " ..."
    return (
        f"{source.name}, cell {error.cell_index + 1 - injected} of {len(notebook.cells)} failed: "
        f"{message}; correct its input or the notebook and run again (the whole traceback is in "
        f"{failed})"
    )


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
    for number, cell in enumerate(notebook.cells):
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if _INJECTED in _tags(cell):
            cell.id = _INJECTED
            visibility = "hide-input" if values.keys() > {"build"} else "remove-cell"
            cell.metadata["tags"] = [_INJECTED, visibility]
        elif "papermill-error-cell-tag" in _tags(cell):
            cell.id = f"error-{number}"
    return nbformat.writes(notebook) + "\n"


def _tags(cell: NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])
