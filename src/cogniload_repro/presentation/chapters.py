"""The book's chapters: which a build has, which have changed, and these run side by side."""

import importlib
import json
import multiprocessing
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from cogniload_repro.executors import CAN_FORK
from cogniload_repro.files import describe_error
from cogniload_repro.presentation import kernels

#: Runs one notebook; imported by the processes that do, while the kernels of these import what they need.
_RUNNER = "cogniload_repro.presentation.notebooks"


@dataclass(frozen=True)
class Chapter:
    """A notebook of the book, and what its metadata say under ``cogniload``."""

    source: Path
    needs: tuple[str, ...] = ()  # what a build must have for it: "whole grid", "another model"
    takes: tuple[str, ...] = ()  # parameters that a reader's choices reach: "formula", "family", "cells_path"
    long: bool = False  # it runs longest, and so is started before the others


def list_chapters(folder: str | Path, *, whole_grid: bool, another_model: bool = False) -> list[Chapter]:
    """Return the chapters that a build's book has, largest first: none of the long ones should be left to run alone.

    A file that is no notebook, or metadata that say something else than `Chapter` knows, raise a ValueError.
    """
    present = {"whole grid": whole_grid, "another model": another_model}
    chapters = []
    for source in sorted(Path(folder).glob("*.ipynb"), key=lambda one: (-one.stat().st_size, one.name)):
        try:  # nbformat, which would check all the rest, takes a hundred times as long
            says = json.loads(source.read_text(encoding="utf-8"))["metadata"].get("cogniload", {})
            options: dict[str, Any] = {name: tuple(one) if name != "long" else one for name, one in says.items()}
            chapter = Chapter(source, **options)
        except (ValueError, TypeError, KeyError) as error:
            raise ValueError(f"{source.name} is no notebook as `Chapter` describes it: {error}") from None
        if unknown := set(chapter.needs) - set(present):
            raise ValueError(f"{source.name}: its metadata need {', '.join(unknown)}, which no build has")
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
    """Run notebooks side by side, so many at a time, each in a process and a kernel of its own.

    Yields each as soon as it is done, with the seconds it took. After a failure none is started; when those that run
    beside it have ended, a ValueError has what each says.
    """
    if CAN_FORK and len(runs) > 1:
        kernels.import_libraries()
        importlib.import_module(_RUNNER)
    context: Any = multiprocessing.get_context("fork" if CAN_FORK else "spawn")
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
        with kernels.forked_kernel() if CAN_FORK else nullcontext():
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
