"""From a build folder to the book: notebooks run, pages put together."""

from pathlib import Path
from typing import Any

import click

from cogniload_repro.commands import params
from cogniload_repro.commands.outputs import read_sources
from cogniload_repro.commands.params import BUILD, JOBS, say, takes
from cogniload_repro.files import locked


@click.command()
@click.option("--all", "again", is_flag=True, help="Run every notebook, changed or not.")
@takes(BUILD, JOBS)
def render(again: bool, build: Path, jobs: int) -> None:
    """Run the notebooks whose code or parameters have changed, and build the HTML book.

    Of the other notebooks, the text that has changed is taken over. The parameters formula, family and models reach
    every notebook that has them.
    """
    from cogniload_repro.presentation import book
    from cogniload_repro.presentation.chapters import Run, run_notebooks, take_text

    chapters, parameters = _list_chapters(build), params.read_parameters()
    folder, data, runs = build / "notebooks", build / "pages", []
    with locked(build), book.open_builder() as builder:
        params.write_parameters(build, "notebooks", parameters)
        given = {name: list(value) if isinstance(value, tuple) else value
                 for name, value in parameters.changes(*params.STEPS["notebooks"]).items()}  # fmt: skip
        for chapter in chapters:
            own = {name: value for name, value in given.items() if name in chapter.takes}
            run = Run(
                chapter.source, folder / chapter.source.name, {"build": build.resolve(), **own}
            )
            if again or not take_text(run):
                runs.append(run)
        if again or not data.is_dir():
            runs.insert(
                0,
                Run(
                    Path("book"),
                    data,
                    {"build": build},
                    by="cogniload_repro.presentation.book:write_data",
                ),
            )
        for run, seconds in run_notebooks(runs, jobs):
            say(f"  {run.source.name:28} {seconds:5.1f} s")
        (folder / ".made").touch()  # make compares times
        absent = {*Path("notebooks").glob("*.ipynb")} - {chapter.source for chapter in chapters}
        pages = [f"notebooks/{source.stem}" for source in sorted(absent)]
        book.stage_book(
            build, "book", leave_out=pages, notice=params.describe_changes(params.made_with(build))
        )
        book.build_book(build, jobs, builder)


def _list_chapters(build: Path) -> list[Any]:
    """Return the chapters of a build; refuse a build that lacks a step, and a folder without pages."""
    if not (Path("notebooks").is_dir() and Path("book").is_dir()):
        raise ValueError(
            "the book is made from notebooks/ and book/; run this in a checkout of the repository"
        )
    for file, step in {
        "outputs": "download-outputs",
        "cells.parquet": "score",
        "fidelity.csv": "fit",
    }.items():
        if not (build / file).exists():
            raise ValueError(
                f"{build / file} is missing; run `cogniload {step} --build {build}` first"
            )
    from cogniload_repro.models import NAMES
    from cogniload_repro.presentation.chapters import list_chapters

    others = {model for source in read_sources(build) for model in source["models"]} - set(NAMES)
    return list_chapters(
        "notebooks", whole_grid=params.made_with(build).grid == "paper", another_model=bool(others)
    )
