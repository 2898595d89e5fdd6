"""The book's chapters: which a build has, which are older than what they are made from, and works side by side."""

import ast
import gc
import importlib
import json
import multiprocessing
import os
import shutil
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection, wait
from pathlib import Path
from typing import Any

from cogniload_repro.executors import CAN_FORK, follow_parent
from cogniload_repro.files import describe_error

#: What nearly every chapter imports, slowest first.
_LIBRARIES = (
    "cogniload_repro.presentation.page",
    "seaborn",
    "cogniload_repro.presentation.notebooks",
)
#: Folders of a build for the files that chapters write.
FOLDERS = ("figures", "tables")
#: How the folder begins in which these are until a run has ended well.
STAGE = ".chapter-"


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
    """Return the chapters of a build's book, longest first: none should be left to run alone.

    A file that is no notebook, or metadata that say something else than `Chapter` knows, raise a
    ValueError.
    """
    present = {"whole grid": whole_grid, "another model": another_model}
    chapters = []
    for source in Path(folder).glob("*.ipynb"):
        chapter = _read_chapter(source)
        unknown = set(chapter.needs) - set(present)
        if unknown:
            missing = ", ".join(sorted(unknown))
            raise ValueError(f"{source.name}: its metadata need {missing}, which no build has")
        if all(present[need] for need in chapter.needs):
            chapters.append(chapter)
    return sorted(chapters, key=_turn)


def _turn(chapter: Chapter) -> tuple[bool, int, str]:
    return not chapter.long, -chapter.source.stat().st_size, chapter.source.name


def _read_chapter(source: Path) -> Chapter:
    try:  # nbformat, which would check all the rest, takes a hundred times as long
        notebook = json.loads(source.read_text(encoding="utf-8"))
        options = dict(notebook["metadata"].get("cogniload", {}))
        if "needs" in options:
            options["needs"] = tuple(options["needs"])
        return Chapter(source, _read_names(notebook), **options)
    except (ValueError, TypeError, KeyError, SyntaxError) as error:
        raise ValueError(
            f"{source.name} is no notebook as `Chapter` describes it: {error}"
        ) from None


def _read_names(notebook: dict) -> frozenset[str]:
    """Return the names that the cell of parameters sets."""
    names = set()
    for cell in notebook["cells"]:
        if "parameters" not in cell["metadata"].get("tags", ()):
            continue
        for statement in ast.parse("".join(cell["source"])).body:
            targets = statement.targets if isinstance(statement, ast.Assign) else []
            names |= {target.id for target in targets if isinstance(target, ast.Name)}
    return frozenset(names)


def _executed_copy(chapter: Chapter, build: Path) -> Path:
    return build / "notebooks" / chapter.source.name


def _list_files(copy: Path) -> list[str]:
    """Return the files that a chapter has written in its last run, such as ``tables/table2.csv``."""
    return json.loads(copy.read_text(encoding="utf-8"))["metadata"]["cogniload"]["files"]


def is_current(chapter: Chapter, build: Path, parameters: Path) -> bool:
    """Return whether a chapter need not be run again.

    Its executed copy is newer than the notebook, the data that it reads and, if it takes any, the
    file of its parameters. Figures and tables carry the time of the run that wrote them, which is
    the copy's: a file of another time comes from elsewhere.
    """
    copy = _executed_copy(chapter, build)
    inputs = [chapter.source, build / "fidelity.csv"]
    if chapter.takes - {"build"}:
        inputs.append(parameters)
    try:
        run = copy.stat().st_mtime_ns
        files = [build / name for name in _list_files(copy)]
        are_older = all(file.stat().st_mtime_ns <= run for file in inputs)
        return are_older and all(file.stat().st_mtime_ns == run for file in files)
    except (OSError, ValueError, KeyError, TypeError):
        return False


def remove_others(chapters: Sequence[Chapter], build: Path) -> None:
    """Remove figures, tables and executed copies of a build that no chapter has written.

    What a killed run has left goes too. A ValueError names two chapters that write the same file.
    """
    copies = [_executed_copy(chapter, build) for chapter in chapters]
    writers: dict[str, str] = {}
    for copy in copies:
        for name in _list_files(copy):
            if name in writers:
                raise ValueError(f"{writers[name]} and {copy.name} both write {name}; rename one")
            writers[name] = copy.name
    for folder in FOLDERS:
        for file in (build / folder).glob("*"):
            if f"{folder}/{file.name}" not in writers and file.is_file():
                file.unlink()
    for copy in (build / "notebooks").glob("*.ipynb"):
        if copy not in copies and not copy.match("*.failed.ipynb"):
            copy.unlink()
    for stage in build.glob(f"{STAGE}*"):
        shutil.rmtree(stage)


@dataclass(frozen=True)
class Work:
    """Something to be done in a process of its own."""

    name: str
    function: Callable[..., object]
    arguments: tuple = ()


def work_on(chapter: Chapter, build: Path, parameters: Mapping[str, object]) -> Work:
    """Return the run of a chapter, with those parameters that it takes."""
    values: dict[str, object] = {"build": build.resolve()}
    for name in parameters.keys() & chapter.takes:
        values[name] = parameters[name]
    arguments = chapter.source, _executed_copy(chapter, build), values, build
    return Work(chapter.source.name, _run_chapter, arguments)


def _run_chapter(*arguments: Any) -> None:
    from cogniload_repro.presentation.notebooks import run_notebook

    run_notebook(*arguments)


def do_side_by_side(works: Sequence[Work], jobs: int = 1) -> Iterator[tuple[str, float]]:
    """Do works side by side, so many at a time, each in a process of its own.

    Yields the name of each as soon as it is done, with the seconds it took. After a failure none is
    started; when those that run beside it have ended, a ValueError has what each says.
    """
    if CAN_FORK and len(works) > 1:
        for library in _LIBRARIES:
            importlib.import_module(library)
        gc.freeze()  # forks need not go through what they share
    waiting = list(reversed(works))
    running: dict[Any, _Running] = {}
    failures: list[str] = []
    while running or (waiting and not failures):
        while waiting and len(running) < jobs and not failures:
            process = _Running(waiting.pop())
            running[process.receiver] = process
        for receiver in wait(list(running)):
            process = running.pop(receiver)
            failure = process.end()
            if failure:
                failures.append(failure)
            else:
                yield process.name, time.monotonic() - process.start
    if failures:
        raise ValueError("\n".join(failures))


class _Running:
    """A work that is being done."""

    def __init__(self, work: Work):
        context: Any = multiprocessing.get_context("fork" if CAN_FORK else "spawn")
        self.name = work.name
        self.start = time.monotonic()
        self.receiver, sender = context.Pipe(duplex=False)
        self.process = context.Process(target=_do, args=(work, sender))
        self.process.start()
        sender.close()

    def end(self) -> str:
        """Wait for the end; return what went wrong, or nothing."""
        try:
            failure = self.receiver.recv()
        except EOFError:
            failure = f"{self.name}: its process ended before it was done; run again"
        self.process.join()
        return failure


def _do(work: Work, sender: Connection) -> None:
    """Do a work in this process, and say what went wrong; nothing if all went well."""
    follow_parent()
    failure = ""
    try:
        work.function(*work.arguments)
    except (ValueError, OSError, MemoryError) as error:
        text = describe_error(error)
        failure = text if work.name in text else f"{work.name}: {text}"
    sender.send(failure)
    os._exit(0)  # threads that a chapter has started would keep the process
