"""The command that runs the chapters of a build, and builds the book."""

from collections.abc import Callable
from concurrent.futures import as_completed
from pathlib import Path
from typing import Any, NamedTuple

import click

from cogniload_repro.book import assembly, chapters
from cogniload_repro.book.chapters import Chapter
from cogniload_repro.commands.inputs import (
    BOOK_PARAMETERS,
    describe_chapters,
    digest,
    is_noted,
    read_parameters,
    write_inputs,
)
from cogniload_repro.commands.options import BUILD, JOBS, say
from cogniload_repro.commands.outputs import read_sources
from cogniload_repro.commands.params import Parameters, takes
from cogniload_repro.executors import open_executor
from cogniload_repro.files import locked
from cogniload_repro.models import NAMES

_NOTEBOOKS = Path("notebooks")
#: What nearly every chapter imports.
_LIBRARIES = (
    "seaborn",
    "cogniload_repro.book.build",
    "cogniload_repro.book.figures",
    "cogniload_repro.book.notebooks",
)


@click.command()
@takes(*BOOK_PARAMETERS)
@BUILD
@JOBS
def render(build: Path, jobs: int, **values: Any) -> None:
    """Run the chapters that are not up to date, and build the book.

    The parameters formula, family and models are passed to every chapter that has them.
    """
    if not (build / "fidelity.csv").exists():
        raise ValueError(
            f"{build / 'fidelity.csv'} is missing; run `cogniload fit --build {build}` first"
        )
    if not _NOTEBOOKS.is_dir():
        raise ValueError("notebooks/ is missing; run this in a checkout of the package")
    with locked(build):
        parameters = read_parameters(build, **values)
        check_regression(build, parameters)
        chosen = choose_chapters(_NOTEBOOKS, build, parameters.grid)
        run_chapters(chosen, build, parameters, jobs)
        absent = set(_NOTEBOOKS.glob("*.ipynb"))
        absent.difference_update(chapter.source for chapter in chosen)
        leave_out = [f"notebooks/{path.stem}" for path in sorted(absent)]
        assembly.stage_book(build, "book", leave_out, parameters.notice())
        assembly.build_book(build, jobs)


def check_regression(build: Path, parameters: Parameters) -> None:
    """Raise ValueError if the chapters cannot fit a regression to these models of a build."""
    from cogniload_repro.regression import cell_tables, formulas, glm

    cells = cell_tables.load_cells(build, parameters.models or None)
    formulas.build_design(cells, parameters.formula)
    glm.check_family(parameters.family)


def choose_chapters(folder: Path, build: Path, grid: str) -> list[Chapter]:
    """Return the chapters of a folder whose requirements a build meets."""
    sources = read_sources(build)
    models = {model for source in sources for model in source["models"]}
    return chapters.list_chapters(
        folder,
        whole_grid=grid == "paper",
        another_model=not models <= set(NAMES),
    )


def run_chapters(
    chosen: list[Chapter], build: Path, parameters: Parameters, jobs: int
) -> None:
    """Run the chapters that are outdated; those that read the verdicts of others run last."""
    common = describe_chapters(build)
    tasks = [Task("pages", common, assembly.write_data, (build,))]
    for reads_verdicts in (False, True):
        for chapter in chosen:
            if chapter.reads_verdicts == reads_verdicts:
                tasks.append(_plan_chapter(chapter, build, parameters, common))
        _run_outdated(tasks, build, jobs)
        chapters.remove_stale_files(chosen, build)
        tasks = []
    chapters.update_texts(chosen, build)


class Task(NamedTuple):
    """Something to make again if it was last made from other inputs, or has lost a file."""

    name: str
    inputs: dict[str, Any]
    function: Callable
    arguments: tuple
    is_whole: bool = True


def _plan_chapter(
    chapter: Chapter, build: Path, parameters: Parameters, common: dict[str, str]
) -> Task:
    changed = parameters.changes()
    taken = chapter.takes & changed.keys()
    values = {name: changed[name] for name in BOOK_PARAMETERS if name in taken}
    inputs = {
        **common,
        "notebook": chapter.code,
        "parameters": values,
        "verdicts": digest(build / "verdicts") if chapter.reads_verdicts else "",
    }
    copy = chapters.executed_copy(chapter, build)
    arguments = (chapter.source, copy, {**values, "build": build.resolve()}, build)
    return Task(
        chapter.source.stem,
        inputs,
        _run_notebook,
        arguments,
        chapters.is_whole(chapter, build),
    )


def _run_notebook(*arguments: Any) -> None:
    """Run a chapter in a process of its own, since it may change settings and modules."""
    from cogniload_repro.book.notebooks import run_notebook

    with open_executor(1) as executor:
        executor.submit(run_notebook, *arguments).result()


def _run_outdated(tasks: list[Task], build: Path, jobs: int) -> None:
    """Run what is outdated, and note its inputs as they were before.

    So a change in between, or a chapter that has failed, is seen by the next call.
    """
    outdated = [
        task
        for task in tasks
        if not (task.is_whole and is_noted(build, f"chapters/{task.name}", task.inputs))
    ]
    if not outdated:
        return
    with open_executor(jobs, libraries=_LIBRARIES) as executor:
        running = {}
        for task in outdated:
            running[executor.submit(task.function, *task.arguments)] = task
        for future in as_completed(running):
            future.result()
            task = running[future]
            write_inputs(build, f"chapters/{task.name}", task.inputs)
            say(f"  {task.name}")
