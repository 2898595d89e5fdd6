"""The book's chapters: which a build has, which have changed, and these run side by side."""

import importlib
import json
import multiprocessing
import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from cogniload_repro.files import describe_error
from cogniload_repro.presentation import kernels

#: Runs one notebook; imported by the processes that do, while the kernels of these import what they need.
_RUNNER = "cogniload_repro.presentation.notebooks"


@dataclass(frozen=True)
class Chapter:
    """A notebook of the book, and what its metadata say under ``cogniload``.

    Attributes
    ----------
    source : Path
    needs : tuple of str
        What a build must have for this chapter: ``whole grid``, ``another model``.
    takes : tuple of str
        Parameters that a reader's choices for the build reach: ``formula``, ``family``, ``cells_path``.
    long : bool
        It runs longest, and so is started before the others.
    """

    source: Path
    needs: tuple[str, ...] = ()
    takes: tuple[str, ...] = ()
    long: bool = False


def list_chapters(folder: str | Path, *, whole_grid: bool, another_model: bool = False) -> list[Chapter]:
    """Return the chapters that a build's book has, largest first: none of the long ones should be left to run alone.

    Raises
    ------
    ValueError
        For a file that is no notebook, or metadata that say something else than `Chapter` knows.
    """
    present = {"whole grid": whole_grid, "another model": another_model}
    sources = sorted(Path(folder).glob("*.ipynb"), key=lambda source: (-source.stat().st_size, source.name))
    chapters = []
    for source in sources:
        says = _read_metadata(source).get("cogniload", {})
        chapter = Chapter(source, tuple(says.get("needs", ())), tuple(says.get("takes", ())), says.get("long", False))
        if set(says) - {"needs", "takes", "long"} or set(chapter.needs) - set(present):
            raise ValueError(f"{source.name}: its metadata say {dict(says)}; see the docstring of Chapter")
        if all(present[need] for need in chapter.needs):
            chapters.append(chapter)
    return sorted(chapters, key=lambda one: not one.long)


@dataclass(frozen=True)
class Run:
    """One notebook to run: see `cogniload_repro.presentation.notebooks.run_notebook`."""

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
        importlib.import_module(_RUNNER)
    context: Any = multiprocessing.get_context("fork" if kernels.AVAILABLE else "spawn")
    waiting = list(reversed(runs))
    running: dict[Any, tuple[Run, Any, float]] = {}
    failures: list[str] = []
    try:
        while running or (waiting and not failures):
            while waiting and len(running) < jobs and not failures:
                run = waiting.pop()
                receiver, sender = context.Pipe(duplex=False)
                process = context.Process(target=_run_and_tell, args=(run, sender))
                process.start()
                sender.close()
                running[receiver] = run, process, time.monotonic()
            ready: list[Any] = wait(list(running))
            for receiver in ready:
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
            importlib.import_module(_RUNNER).run_notebook(run.source, run.target, run.parameters)
    except (ValueError, OSError) as error:
        sender.send(describe_error(error))
    else:
        sender.send(None)


def _receive(receiver: Connection, run: Run) -> str | None:
    with receiver:
        try:
            return receiver.recv()
        except EOFError:
            return f"{run.source.name}: its process ended before the notebook was done; run again"


def portable(value: object, folder: Path) -> object:
    """Return a parameter as it reaches a notebook in a folder: paths are relative to it."""
    return Path(os.path.relpath(value, folder)).as_posix() if isinstance(value, Path) else value


def _read_metadata(notebook: Path) -> dict:
    """Return the metadata of a notebook; nbformat, which would check all the rest, takes a hundred times as long.

    Raises
    ------
    ValueError
        For a file that is no notebook.
    """
    try:
        return dict(json.loads(notebook.read_text(encoding="utf-8"))["metadata"])
    except (OSError, ValueError, TypeError, KeyError) as error:
        raise ValueError(
            f"{notebook.name} is not a readable notebook ({error}); restore it from version control"
        ) from None
