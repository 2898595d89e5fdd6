"""From a build folder to the book: chapters run, pages put together."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from cogniload_repro.commands import params
from cogniload_repro.commands.options import BUILD, JOBS, say, takes
from cogniload_repro.commands.outputs import SOURCES, read_sources
from cogniload_repro.files import locked

#: The steps before the book: the file that each makes, and the one with its parameters.
_STEPS = {
    "download-outputs": (SOURCES, "outputs"),
    "score": ("cells.parquet", "scores"),
    "fit": ("fidelity.csv", "scores"),
}


@click.command()
@click.option("--all", "again", is_flag=True, help="Run every chapter, changed or not.")
@takes(BUILD, JOBS)
def render(again: bool, build: Path, jobs: int) -> None:
    """Run the chapters that are older than what they are made from, and build the HTML book.

    The parameters formula, family and models reach every chapter that has them.
    """
    _check_steps(build)
    from cogniload_repro.models import NAMES
    from cogniload_repro.presentation import book, chapters

    parameters = params.read_parameters()
    models = {model for source in read_sources(build) for model in source["models"]}
    contents = chapters.list_chapters(
        "notebooks",
        whole_grid=params.made_with(build).grid == "paper",
        another_model=bool(models - set(NAMES)),
    )
    given = _values(parameters.changes(*params.STEPS["notebooks"]))
    with locked(build):
        params.write_parameters(build, "notebooks", parameters)
        kept = params.parameters_file(build, "notebooks")
        works = [
            chapters.work_on(chapter, build, given)
            for chapter in contents
            if again or not chapters.is_current(chapter, build, kept)
        ]
        if again or not book.has_data(build, "book"):
            works.insert(0, chapters.Work("data of pages", book.write_data, ("book", build)))
        for name, seconds in chapters.do_side_by_side(works, jobs):
            say(f"  {name:28} {seconds:5.1f} s")
        chapters.remove_others(contents, build)
        names = {chapter.source for chapter in contents}
        absent = [
            source.stem for source in Path("notebooks").glob("*.ipynb") if source not in names
        ]
        book.stage_book(
            build,
            "book",
            leave_out=[f"notebooks/{name}" for name in sorted(absent)],
            notice=params.describe_changes(params.made_with(build)),
        )
        book.build_book(build, jobs)


def _check_steps(build: Path) -> None:
    """Refuse a folder without pages, and a build in which a step has not been done."""
    if not (Path("notebooks").is_dir() and Path("book").is_dir()):
        raise ValueError(
            "the book is made from notebooks/ and book/; run this in a checkout of the repository"
        )
    for step, (name, kept) in _STEPS.items():
        made = build / name
        remedy = f"run `cogniload {step} --build {build}` first"
        if not made.exists():
            raise ValueError(f"{made} is missing; {remedy}")
        parameters = params.parameters_file(build, kept)
        if parameters.exists() and parameters.stat().st_mtime_ns > made.stat().st_mtime_ns:
            raise ValueError(f"{made} is older than its parameters; {remedy}")


def _values(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Return parameters as a notebook takes them."""
    return {
        name: list(value) if isinstance(value, tuple) else value for name, value in changes.items()
    }
