"""The command that runs the chapters of a build, and builds the book."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cogniload_repro.commands import params
from cogniload_repro.commands.options import BUILD, JOBS, say
from cogniload_repro.commands.outputs import SOURCES, read_sources
from cogniload_repro.files import locked

if TYPE_CHECKING:
    from cogniload_repro.book.chapters import Chapter

#: The steps before the book: the file that each writes last, and the name of its
#: parameters.
_RENDER_STEPS = {
    "download-outputs": (SOURCES, "outputs"),
    "score": ("cells.parquet", "scores"),
    "fit": ("fidelity.csv", "scores"),
}
#: What nearly every chapter imports, slowest first.
_LIBRARIES = (
    "cogniload_repro.book.page",
    "seaborn",
    "cogniload_repro.book.notebooks",
)


@click.command()
@BUILD
@JOBS
def render(build: Path, jobs: int) -> None:
    """Run outdated chapters and build the book.

    A chapter is outdated if it is older than one of its inputs. The parameters formula, family
    and models are passed to every chapter that has them. The book is HTML.
    """
    _check_steps(build)
    from cogniload_repro.book import assembly

    parameters = params.read_parameters()
    contents = choose_chapters(Path("notebooks"), build)
    names = {chapter.source.stem for chapter in contents}
    absent = {path.stem for path in Path("notebooks").glob("*.ipynb")} - names
    with locked(build):
        params.write_parameters(build, "notebooks", parameters)
        _run_chapters(contents, build, parameters, jobs)
        assembly.stage_book(
            build,
            "book",
            leave_out=[f"notebooks/{name}" for name in sorted(absent)],
            notice=params.describe_changes(params.read_saved_parameters(build)),
        )
        assembly.build_book(build, jobs)


def choose_chapters(folder: Path, build: Path) -> list["Chapter"]:
    """Return the chapters of a folder whose requirements a build meets."""
    from cogniload_repro.book.chapters import list_chapters
    from cogniload_repro.models import NAMES

    models: set[str] = set()
    for source in read_sources(build):
        models.update(source["models"])
    return list_chapters(
        folder,
        whole_grid=params.read_saved_parameters(build).grid == "paper",
        another_model=not models <= set(NAMES),
    )


def _run_chapters(
    contents: Sequence["Chapter"], build: Path, parameters: params.Parameters, jobs: int
) -> None:
    """Run the outdated chapters; those that read the verdicts of others run last."""
    from cogniload_repro.book import assembly, chapters
    from cogniload_repro.executors import Task, run_in_parallel

    changes = parameters.changes(*params.STEPS["notebooks"])
    file = params.parameters_file(build, "notebooks")
    tasks = []
    script = build / "pages" / "puzzles-data.js"
    results = build / "fidelity.csv"
    if not script.is_file() or script.stat().st_mtime_ns < results.stat().st_mtime_ns:
        tasks.append(Task("data of pages", assembly.write_data, (build,)))
    for reads_verdicts in (False, True):
        for chapter in contents:
            is_next = chapter.reads_verdicts == reads_verdicts
            if is_next and not chapters.is_current(chapter, build, file):
                tasks.append(
                    Task(chapter.source.name, _run_chapter, (chapter, build, changes))
                )
        for name, seconds in run_in_parallel(tasks, jobs, _LIBRARIES):
            say(f"  {name:28} {seconds:5.1f} s")
        chapters.remove_stale_files(contents, build)
        tasks = []


def _run_chapter(
    chapter: "Chapter", build: Path, changes: Mapping[str, object]
) -> None:
    """Run a chapter with the changed parameters that it takes."""
    from cogniload_repro.book.chapters import executed_copy
    from cogniload_repro.book.notebooks import run_notebook

    values = {name: changes[name] for name in changes.keys() & chapter.takes}
    values["build"] = build.resolve()
    run_notebook(chapter.source, executed_copy(chapter, build), values, build)


def _check_steps(build: Path) -> None:
    """Raise ValueError outside a checkout, or if an earlier step is missing or outdated."""
    if not (Path("notebooks").is_dir() and Path("book").is_dir()):
        raise ValueError(
            "notebooks/ and book/ are missing here; run this in a checkout of the repository"
        )
    for step, (name, parameters_of) in _RENDER_STEPS.items():
        product = build / name
        remedy = f"run `cogniload {step} --build {build}` first"
        if not product.exists():
            raise ValueError(f"{product} is missing; {remedy}")
        parameters = params.parameters_file(build, parameters_of)
        if (
            parameters.exists()
            and parameters.stat().st_mtime_ns > product.stat().st_mtime_ns
        ):
            raise ValueError(f"{product} is older than its parameters; {remedy}")
