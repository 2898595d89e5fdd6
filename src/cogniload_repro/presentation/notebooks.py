"""Run notebooks: a fresh kernel each, checked parameters, no trace of when or where they ran."""

import multiprocessing
import os
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path

import nbformat
import papermill
from nbformat import NotebookNode
from papermill.exceptions import PapermillExecutionError
from traitlets.config import Config

from cogniload_repro.presentation import kernels

#: ipykernel 7.3 and later warn about sockets in clear text unless the manager offers encryption.
_KERNEL = Config({"KernelManager": {"transport_encryption": "auto"}})
_INJECTED = "injected-parameters"


def run_notebook(source: str | Path, target: str | Path, parameters: Mapping[str, object]) -> Path:
    """Execute a copy of a notebook with parameters and write it without times or machine paths.

    Two runs with the same inputs write the same bytes. The kernel starts in the notebook's own folder,
    and parameters that are ``Path`` objects reach it relative to that folder. papermill changes the
    working directory of the process while it runs: parallel notebooks need one process each.

    Parameters
    ----------
    source : path
        A notebook with exactly one cell tagged ``parameters``.
    target : path
        Where the executed copy goes, replaced atomically. A failed run leaves it alone and keeps the
        copy with the traceback beside it, as ``<name>.failed.ipynb``.
    parameters : mapping of str to str, number, bool, None, list, dict or Path
        New values for variables that the ``parameters`` cell sets.

    Returns
    -------
    Path
        The target.

    Raises
    ------
    ValueError
        For a file that is no such notebook, an unknown parameter, or a cell that fails: the text names
        the notebook, the cell, the error and the remedy.
    """
    source, target = Path(source).resolve(), Path(target).resolve()
    notebook = _read(source)
    _check_parameters(source, notebook, parameters)
    values = {name: _portable(value, source.parent) for name, value in parameters.items()}
    failed = target.with_suffix(".failed.ipynb")
    target.parent.mkdir(parents=True, exist_ok=True)
    with _private_folder() as folder:
        executed = folder / "executed.ipynb"
        try:
            _execute(notebook, executed, values, source.parent)
        except PapermillExecutionError as error:
            _write(_tidy(nbformat.read(executed, as_version=4), values), failed)
            raise ValueError(_failure(source, notebook, values, error, failed)) from None
        except RuntimeError as error:  # nbclient's word for a kernel that died
            raise ValueError(f"{source.name}: its kernel ended before the notebook ({error}); run again") from None
        _write(_tidy(nbformat.read(executed, as_version=4), values), target)
    failed.unlink(missing_ok=True)
    return target


@dataclass(frozen=True)
class Chapter:
    """A notebook of the book, and what its metadata say under ``cogniload``.

    Attributes
    ----------
    source : Path
    needs : tuple of str
        What a build must have for this chapter: ``whole grid``, ``paper's outputs``.
    takes : tuple of str
        Parameters that a reader's choices for the build reach: ``formula``, ``family``, ``cells_path``.
    """

    source: Path
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()


def list_chapters(folder: str | Path, *, whole_grid: bool, papers_outputs: bool) -> list[Chapter]:
    """Return the chapters that a build's book has, largest first: none of the long ones should be left to run alone.

    Raises
    ------
    ValueError
        For a file that is no notebook, or metadata that say something else than `Chapter` knows.
    """
    present = {"whole grid": whole_grid, "paper's outputs": papers_outputs}
    sources = sorted(Path(folder).glob("*.ipynb"), key=lambda source: (-source.stat().st_size, source.name))
    chapters = []
    for source in sources:
        says = _read(source).metadata.get("cogniload", {})
        chapter = Chapter(source, tuple(says.get("needs", ())), tuple(says.get("takes", ())))
        if set(says) - {"needs", "takes"} or set(chapter.needs) - set(present):
            raise ValueError(f"{source.name}: its metadata say {dict(says)}; see the docstring of Chapter")
        if all(present[need] for need in chapter.needs):
            chapters.append(chapter)
    return chapters


@dataclass(frozen=True)
class Run:
    """One notebook to run: see `run_notebook`."""

    source: Path
    target: Path
    parameters: Mapping[str, object] = field(default_factory=dict)


def run_notebooks(runs: Sequence[Run], jobs: int = 1) -> Iterator[tuple[Run, float]]:
    """Run notebooks side by side, each in a process and a kernel of its own.

    Parameters
    ----------
    runs : sequence of Run
        Started in this order.
    jobs : int
        How many run at a time.

    Yields
    ------
    (Run, float)
        A notebook that is done, as soon as it is, and the seconds it took.

    Raises
    ------
    ValueError
        If notebooks fail: when those that run beside the first of them have ended, with what each says.
    """
    if kernels.AVAILABLE and len(runs) > 1:
        kernels.import_libraries()
    context = multiprocessing.get_context("fork" if kernels.AVAILABLE else "spawn")
    waiting, running, failures = list(reversed(runs)), {}, []
    try:
        while running or (waiting and not failures):
            while waiting and len(running) < jobs and not failures:
                run = waiting.pop()
                receiver, sender = context.Pipe(duplex=False)
                process = context.Process(target=_run_and_tell, args=(run, sender))
                process.start()
                sender.close()
                running[receiver] = run, process, time.monotonic()
            for receiver in wait(list(running)):
                run, process, start = running.pop(receiver)
                failure = _receive(receiver, run)
                process.join()
                if failure is None:
                    yield run, time.monotonic() - start
                else:
                    failures.append(failure)
    finally:
        for _, process, _ in running.values():
            process.terminate()
    if failures:
        raise ValueError("\n".join(failures))


def _run_and_tell(run: Run, sender: Connection) -> None:
    """Run a notebook in this process, and say how it ended: None, or what went wrong."""
    try:
        with kernels.forked_kernel() if kernels.AVAILABLE else nullcontext():
            run_notebook(run.source, run.target, run.parameters)
    except (ValueError, OSError) as error:
        sender.send(str(error))
    else:
        sender.send(None)


def _receive(receiver: Connection, run: Run) -> str | None:
    with receiver:
        try:
            return receiver.recv()
        except EOFError:
            return f"{run.source.name}: its process ended before the notebook was done; run again"


def _read(source: Path) -> NotebookNode:
    if not source.is_file():
        raise ValueError(f"there is no notebook {source.name} in {source.parent}; check the name")
    try:
        notebook = nbformat.read(source, as_version=4)
    except Exception as error:  # nbformat raises many types, most of them undocumented
        raise ValueError(
            f"{source.name} is not a readable notebook ({error}); restore it from version control"
        ) from None
    count = sum("parameters" in _tags(cell) for cell in notebook.cells)
    if count != 1:
        raise ValueError(
            f"{source.name} has {count} cells tagged 'parameters' where one is needed; "
            "tag the one cell that sets the defaults"
        )
    return notebook


def _check_parameters(source: Path, notebook: NotebookNode, parameters: Mapping[str, object]) -> None:
    known = set(papermill.inspect_notebook(notebook))
    unknown = sorted(set(parameters) - known)
    if unknown:
        raise ValueError(
            f"{source.name} has no parameter {', '.join(unknown)}; "
            f"its 'parameters' cell sets: {', '.join(sorted(known)) or 'nothing'}"
        )


def _portable(value: object, folder: Path) -> object:
    return Path(os.path.relpath(value, folder)).as_posix() if isinstance(value, Path) else value


@contextmanager
def _private_folder() -> Iterator[Path]:
    """Give the kernel an IPython folder of its own: no start-up files of the reader, no shared history."""
    before = os.environ.get("IPYTHONDIR")
    with tempfile.TemporaryDirectory(prefix="cogniload-notebook-") as folder:
        os.environ["IPYTHONDIR"] = folder
        try:
            yield Path(folder)
        finally:
            del os.environ["IPYTHONDIR"]
            if before is not None:
                os.environ["IPYTHONDIR"] = before


def _execute(notebook: NotebookNode, executed: Path, values: Mapping[str, object], cwd: Path) -> None:
    papermill.execute_notebook(
        notebook,
        executed,
        values,
        kernel_name="python3",
        cwd=cwd,
        progress_bar=False,
        config=_KERNEL,
        shutdown_kernel="immediate",  # a polite end interrupts the idle kernel, which complains on stderr
    )


def _tidy(notebook: NotebookNode, values: Mapping[str, object]) -> NotebookNode:
    """Drop times, durations and random identifiers; keep the parameters.

    The injected cell is part of the page where the parameters are, and more than the build folder was given.
    """
    notebook.metadata.pop("papermill", None)
    notebook.metadata["cogniload"] = {"parameters": dict(values)}
    shown = [cell for cell in notebook.cells if "parameters" in _tags(cell) and "remove-cell" not in _tags(cell)]
    hidden = [] if shown and set(values) - {"build"} else ["remove-cell"]
    for number, cell in enumerate(notebook.cells):
        cell.metadata.pop("papermill", None)
        cell.metadata.pop("execution", None)
        if _INJECTED in _tags(cell):
            cell.id = _INJECTED
            cell.metadata["tags"] = [_INJECTED, *hidden]
        elif "papermill-error-cell-tag" in _tags(cell):
            cell.id = f"error-{number}"
    return notebook


def _write(notebook: NotebookNode, target: Path) -> None:
    part = target.with_name(f".{target.name}.part")
    part.write_text(nbformat.writes(notebook) + "\n", encoding="utf-8")
    os.replace(part, target)


def _failure(
    source: Path,
    notebook: NotebookNode,
    values: Mapping[str, object],
    error: PapermillExecutionError,
    failed: Path,
) -> str:
    defaults = next(i for i, cell in enumerate(notebook.cells) if "parameters" in _tags(cell))
    number = error.cell_index + 1 - (1 if values and error.cell_index > defaults else 0)
    return (
        f"{source.name}, cell {number} of {len(notebook.cells)} failed: {error.ename}: {error.evalue}; "
        f"correct its input or the notebook and run again (the whole traceback is in {failed})"
    )


def _tags(cell: NotebookNode) -> list[str]:
    return cell.metadata.get("tags", [])
