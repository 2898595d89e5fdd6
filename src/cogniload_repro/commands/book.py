"""From a build folder to the book: what a reader has chosen, notebooks run, pages put together."""

import subprocess
import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from cogniload_repro.commands.choices import describe_changes, read_choices
from cogniload_repro.commands.options import BUILD, EXISTING_FILE, FILE, GRID, MADE, REGRESSION, say, takes
from cogniload_repro.commands.steps import Build, read_sources, sum_of, tables_of

if TYPE_CHECKING:
    from cogniload_repro.presentation.chapters import Chapter


@click.command("run-notebook")
@click.argument("source", type=EXISTING_FILE)
@click.argument("target", type=FILE)
@takes(*REGRESSION, BUILD)
def run_notebook(source: Path, target: Path, build: Path, **regression: str | None) -> None:
    """Execute the notebook SOURCE on a build folder and write the result to TARGET.

    Empty options keep the notebook's defaults. A family or a table without a formula applies to the paper's
    specification.
    """
    from cogniload_repro.presentation.notebooks import run_notebook

    start = time.monotonic()
    run_notebook(source, target, {"build": build.resolve()} | _choose_parameters(**regression))
    say(f"  {source.name:28} {time.monotonic() - start:5.1f} s")


@click.command()
@click.option("--all", "again", is_flag=True, help="Run every notebook, changed or not.")
@takes(*MADE)
def render(grid: str, again: bool, build: Path, jobs: int) -> None:
    """Re-execute notebooks whose source, inputs or parameters changed, then rebuild the book.

    What is chosen for the build (see `choose`) reaches the notebooks that have such parameters.
    """
    _check_checkout(build)
    from cogniload_repro.presentation.book import start_builder

    with start_builder() as builder:
        chapters = _list_chapters(grid, build)
        _run_changed(chapters, Build(build, grid, jobs, read_choices(build)), again)
        say("== book")
        _make_book(chapters, build, builder)


@click.command("build-book")
@takes(GRID, BUILD)
def build_book(grid: str, build: Path) -> None:
    """Build the HTML book from pages and executed notebooks, incrementally where possible."""
    _check_checkout(build)
    from cogniload_repro.presentation.book import start_builder

    with start_builder() as builder:
        _make_book(_list_chapters(grid, build), build, builder)


def _check_checkout(build: Path) -> None:
    """Refuse to make a book where there are no pages for it, or where a step before it has not been done."""
    if not (Path("notebooks").is_dir() and Path("book").is_dir()):
        raise ValueError("the book is made from notebooks/ and book/; run this in a checkout of the repository")
    for file, step in {"outputs": "download-outputs", "cells.parquet": "score", "fidelity.parquet": "fit"}.items():
        if not (build / file).exists():
            raise ValueError(f"{build / file} is missing; run `cogniload {step} --build {build}` first")


def _list_chapters(grid: str, build: Path) -> list["Chapter"]:
    from cogniload_repro.models import NAMES
    from cogniload_repro.presentation.chapters import list_chapters

    others = {model for source in read_sources(build) for model in source["models"]} - set(NAMES)
    return list_chapters("notebooks", whole_grid=grid == "paper", another_model=bool(others))


def _make_book(chapters: list["Chapter"], build: Path, builder: subprocess.Popen) -> None:
    from cogniload_repro.presentation import book

    absent = {source.stem for source in Path("notebooks").glob("*.ipynb")} - {one.source.stem for one in chapters}
    pages = [f"notebooks/{name}" for name in sorted(absent)]
    book.stage_book(build, leave_out=pages, notice=describe_changes(read_choices(build)))
    book.build_book(build, builder)


def _run_changed(chapters: list["Chapter"], build: Build, again: bool) -> None:
    from cogniload_repro.presentation.chapters import Run, run_notebooks

    choices, tables = build.choices, tables_of(build)
    chosen = _choose_parameters(choices.formula, choices.family, choices.cells)
    runs, made_from = [], {}
    for chapter in chapters:
        name = f"notebooks/{chapter.source.name}"
        own = {name: chosen[name] for name in chapter.takes if name in chosen}
        parts = {**tables, "notebook": build.digest(chapter.source), "parameters": sum_of(own)}
        if "cells_path" in own:
            parts["data"] = build.digest(choices.cells)
        if again or not build.is_done(name, parts):
            runs.append(Run(chapter.source, build.folder / name, {"build": build.folder.resolve()} | own))
            made_from[name] = parts
    for run, seconds in run_notebooks(runs, build.jobs):
        name = f"notebooks/{run.source.name}"
        build.record(name, made_from[name], name)
        say(f"  {run.source.name:28} {seconds:5.1f} s")


def _choose_parameters(formula: str | None, family: str | None, cells: str | None) -> dict[str, object]:
    """Return parameters of notebooks; a family or a table without a formula applies to the paper's specification."""
    if formula == "" and (family or cells):
        from cogniload_repro.statistics.regression import QUADRATIC  # which takes seconds to import

        formula = QUADRATIC
    given = {"formula": formula, "family": family, "cells_path": Path(cells).resolve() if cells else None}
    return {name: value for name, value in given.items() if value}


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@BUILD
def lab(arguments: tuple[str, ...], build: Path) -> None:
    """Open the chapters in JupyterLab, ready to run; ARGUMENTS go to JupyterLab, such as --no-browser.

    Notebooks are saved as they are committed, without outputs.
    """
    from cogniload_repro.presentation.lab import open_lab

    open_lab(Path("notebooks"), list(arguments))
