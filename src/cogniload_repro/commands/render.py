"""The command that runs the chapters of a build, and builds the book."""

import time
from collections.abc import Mapping
from concurrent.futures import as_completed
from pathlib import Path
from typing import Any

import click

from cogniload_repro.book import assembly, chapters
from cogniload_repro.book.chapters import Chapter
from cogniload_repro.commands.inputs import (
    read_saved,
    values_for,
    write_chapters,
    write_step,
)
from cogniload_repro.commands.options import BUILD, JOBS, say
from cogniload_repro.commands.outputs import read_sources
from cogniload_repro.commands.params import Parameters, takes
from cogniload_repro.executors import open_executor
from cogniload_repro.files import locked

#: The task that writes the data of the pages' scripts, beside the chapters.
_PAGES_DATA = "pages"
#: What nearly every chapter imports.
_LIBRARIES = ("seaborn", "cogniload_repro.book.notebooks")


@click.command()
@click.argument("changed", nargs=-1)
@takes("formula", "family", "models")
@BUILD
@JOBS
def render(changed: tuple[str, ...], build: Path, jobs: int, **values: Any) -> None:
    """Run chapters and build the book.

    CHANGED are names of steps and chapters whose inputs are newer than the book, as make lists
    them. These chapters are run, and those of which the build lacks a file; default: all. The
    parameters formula, family and models are passed to every chapter that has them.
    """
    parameters = Parameters(**values)
    if not (build / "fidelity.csv").exists():
        remedy = f"run `cogniload fit --build {build}` first"
        raise ValueError(f"{build / 'fidelity.csv'} is missing; {remedy}")
    if not (Path("notebooks").is_dir() and Path("book").is_dir()):
        raise ValueError(
            "notebooks/ and book/ are missing; run this in a checkout of the repository"
        )
    with locked(build):
        write_step(build, "book", parameters)
        write_chapters(build, parameters)
        contents = choose_chapters(Path("notebooks"), build)
        names = set(changed) or None
        _run_chapters(contents, build, parameters, jobs, names)
        chosen = {chapter.source.stem for chapter in contents}
        absent = {path.stem for path in Path("notebooks").glob("*.ipynb")} - chosen
        assembly.stage_book(
            build,
            "book",
            leave_out=[f"notebooks/{name}" for name in sorted(absent)],
            notice=read_saved(build).notice(),
        )
        assembly.build_book(build, jobs)


def choose_chapters(folder: Path, build: Path) -> list[Chapter]:
    """Return the chapters of a folder whose requirements a build meets."""
    from cogniload_repro.models import NAMES

    models: set[str] = set()
    for source in read_sources(build):
        models.update(source["models"])
    return chapters.list_chapters(
        folder,
        whole_grid=read_saved(build).grid == "paper",
        another_model=not models <= set(NAMES),
    )


def _run_chapters(
    contents: list[Chapter],
    build: Path,
    parameters: Parameters,
    jobs: int,
    names: set[str] | None,
) -> None:
    """Run the named chapters (default: all); those that read the verdicts of others run last."""
    if names is None:
        names = {chapter.source.stem for chapter in contents} | {_PAGES_DATA}
    for reads_verdicts in (False, True):
        tasks: dict[str, tuple] = {}
        if not reads_verdicts and _PAGES_DATA in names:
            tasks["data of pages"] = (assembly.write_data, build)
        for chapter in contents:
            is_next = chapter.reads_verdicts == reads_verdicts
            is_outdated = chapter.source.stem in names or not chapters.is_whole(
                chapter, build
            )
            if is_next and is_outdated:
                values = values_for(chapter, parameters)
                tasks[chapter.source.name] = (
                    run_chapter,
                    chapter,
                    build.resolve(),
                    values,
                )
        _run_tasks(tasks, jobs)
        chapters.remove_stale_files(contents, build)
        names |= write_chapters(
            build, parameters
        )  # other verdicts change their readers' inputs


def _run_tasks(tasks: dict[str, tuple], jobs: int) -> None:
    """Run functions in parallel, and print the seconds that each returns."""
    if not tasks:
        return
    with open_executor(jobs, libraries=_LIBRARIES) as executor:
        names = {executor.submit(*task): name for name, task in tasks.items()}
        for future in as_completed(names):
            say(f"  {names[future]:28} {future.result():5.1f} s")


def run_chapter(chapter: Chapter, build: Path, values: Mapping[str, Any]) -> float:
    """Run a chapter; return the seconds that it took."""
    from cogniload_repro.book.notebooks import run_notebook

    start = time.monotonic()
    copy = chapters.executed_copy(chapter, build)
    run_notebook(chapter.source, copy, {**values, "build": build}, build)
    return time.monotonic() - start
