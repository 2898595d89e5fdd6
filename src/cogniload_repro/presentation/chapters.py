"""The book's chapters: which a build has, which have changed, and these run side by side."""

import ast
import gc
import hashlib
import importlib
import json
import multiprocessing
import time
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from cogniload_repro.executors import CAN_FORK
from cogniload_repro.files import describe_error, write_whole

#: Runs one notebook.
_RUNNER = "cogniload_repro.presentation.notebooks"
#: What nearly every chapter imports, slowest first.
_LIBRARIES = ("cogniload_repro.presentation.page", "seaborn", _RUNNER)


@dataclass(frozen=True)
class Chapter:
    """A notebook of the book, and what its metadata say under ``cogniload``."""

    source: Path
    takes: frozenset[str] = frozenset()  # the names that its cell of parameters sets
    needs: tuple[str, ...] = ()  # what a build must have for it: "whole grid", "another model"
    long: bool = False  # it runs longest, and so is started before the others


def list_chapters(
    folder: str | Path, *, whole_grid: bool, another_model: bool = False
) -> list[Chapter]:
    """Return the chapters that a build's book has, largest first: none of the long ones should be left to run alone.

    A file that is no notebook, or metadata that say something else than `Chapter` knows, raise a ValueError.
    """
    present = {"whole grid": whole_grid, "another model": another_model}
    chapters = []
    for source in sorted(
        Path(folder).glob("*.ipynb"), key=lambda one: (-one.stat().st_size, one.name)
    ):
        try:  # nbformat, which would check all the rest, takes a hundred times as long
            notebook = json.loads(source.read_text(encoding="utf-8"))
            says = notebook["metadata"].get("cogniload", {})
            options: dict[str, Any] = {
                name: tuple(one) if name != "long" else one for name, one in says.items()
            }
            chapter = Chapter(source, _read_names(notebook), **options)
        except (ValueError, TypeError, KeyError, SyntaxError) as error:
            raise ValueError(
                f"{source.name} is no notebook as `Chapter` describes it: {error}"
            ) from None
        if unknown := set(chapter.needs) - set(present):
            raise ValueError(
                f"{source.name}: its metadata need {', '.join(unknown)}, which no build has"
            )
        if all(present[need] for need in chapter.needs):
            chapters.append(chapter)
    return sorted(chapters, key=lambda one: not one.long)


def _read_names(notebook: dict) -> frozenset[str]:
    """Return the names that the cell of parameters sets."""
    cells = [cell for cell in notebook["cells"] if "parameters" in cell["metadata"].get("tags", ())]
    statements = [one for cell in cells for one in ast.parse("".join(cell["source"])).body]
    targets = [
        target for one in statements if isinstance(one, ast.Assign) for target in one.targets
    ]
    return frozenset(target.id for target in targets if isinstance(target, ast.Name))


def describe_run(source: Path, parameters: Mapping[str, object]) -> str:
    """Return a digest of all in a notebook that a run depends on: its cells of code with their metadata, parameters."""
    cells = json.loads(source.read_text(encoding="utf-8"))["cells"]
    code = [
        [cell["metadata"], "".join(cell["source"])] for cell in cells if cell["cell_type"] == "code"
    ]
    values = {name: value for name, value in parameters.items() if not isinstance(value, Path)}
    return hashlib.sha256(json.dumps([code, values], sort_keys=True).encode()).hexdigest()[:32]


@dataclass(frozen=True)
class Run:
    """One notebook to run, or another work beside it: what a function of this package makes of a source."""

    source: Path
    target: Path
    parameters: Mapping[str, object] = field(default_factory=dict)
    by: str = f"{_RUNNER}:run_notebook"


def take_text(run: Run) -> bool:
    """Take the text of a notebook over into its executed copy; False if it has to be run, as its code is another."""
    try:
        done = json.loads(run.target.read_text(encoding="utf-8"))
        if done["metadata"]["cogniload"]["made_from"] != describe_run(run.source, run.parameters):
            return False
    except (OSError, ValueError, KeyError, TypeError):
        return False
    code, cells = iter([cell for cell in done["cells"] if cell["cell_type"] == "code"]), []
    for cell in json.loads(run.source.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] == "code":
            cells.append(next(code))
            if "parameters" in cell["metadata"].get("tags", ()) and run.parameters:
                cells.append(next(code))  # those that were given
        else:
            text = "".join(cell["source"]).splitlines(keepends=True)
            cells.append(cell | {"metadata": {"tags": [], **cell["metadata"]}, "source": text})
    new = json.dumps(done | {"cells": cells}, ensure_ascii=False, indent=1, sort_keys=True) + "\n"
    if new != run.target.read_text(encoding="utf-8"):
        write_whole(run.target, new)
    run.target.with_suffix(".failed.ipynb").unlink(missing_ok=True)
    return True


def run_notebooks(runs: Sequence[Run], jobs: int = 1) -> Iterator[tuple[Run, float]]:  # noqa: PLR0915
    """Run notebooks side by side, so many at a time, each in a process of its own.

    Yields each as soon as it is done, with the seconds it took. After a failure none is started; when those that run
    beside it have ended, a ValueError has what each says.
    """
    if CAN_FORK and len(runs) > 1:
        for name in _LIBRARIES:
            importlib.import_module(name)
        gc.freeze()  # forks need not go through what they share
    context: Any = multiprocessing.get_context("fork" if CAN_FORK else "spawn")
    waiting, failures = list(reversed(runs)), list[str]()
    running: dict[Any, tuple[Run, Any, float]] = {}
    try:
        while running or (waiting and not failures):
            while waiting and len(running) < jobs and not failures:
                receiver, sender = context.Pipe(duplex=False)
                process = context.Process(target=_run_and_tell, args=(run := waiting.pop(), sender))
                process.start()
                sender.close()
                running[receiver] = run, process, time.monotonic()
            ready: list[Any] = wait(list(running))
            for receiver in ready:
                run, process, start = running.pop(receiver)
                try:
                    failure = receiver.recv()
                except EOFError:
                    failure = f"{run.source.name}: its process ended before the notebook was done; run again"
                process.join()
                if failure:
                    failures.append(failure)
                else:
                    yield run, time.monotonic() - start
    finally:
        for _, process, _ in running.values():
            process.terminate()
    if failures:
        raise ValueError("\n".join(failures))


def _run_and_tell(run: Run, sender: Connection) -> None:
    """Do one work in this process, and say what went wrong; nothing if all went well."""
    module, _, function = run.by.partition(":")
    try:
        getattr(importlib.import_module(module), function)(run.source, run.target, run.parameters)
    except (ValueError, OSError) as error:
        sender.send(describe_error(error))
    else:
        sender.send("")
