"""From a build folder to the book: what a reader has chosen, notebooks run, pages put together."""

import time
from pathlib import Path

import click

from cogniload_repro.commands.choices import RECONSTRUCTED, Choices, read_choices
from cogniload_repro.commands.manifest import Manifest
from cogniload_repro.commands.options import BUILD, DATA, FAMILY, FORMULA, GRID, JOBS, say


@click.command("run-notebook")
@click.argument("source", type=click.Path(path_type=Path, exists=True, dir_okay=False))
@click.argument("target", type=click.Path(path_type=Path, dir_okay=False))
@FORMULA
@FAMILY
@DATA
@BUILD
def run_notebook(
    source: Path, target: Path, formula: str | None, family: str | None, data: str | None, build: Path
) -> None:
    """Execute the notebook SOURCE on a build folder and write the result to TARGET.

    The notebook keeps parameters of its own for what is empty. A family or a table without a formula applies to the
    paper's specification.
    """
    from cogniload_repro.presentation.notebooks import run_notebook

    start = time.monotonic()
    run_notebook(source, target, {"build": build.resolve()} | _chosen_parameters(formula, family, data))
    say(f"  {source.name:28} {time.monotonic() - start:5.1f} s")


@click.command("run-notebooks")
@GRID
@click.option("--all", "again", is_flag=True, help="Run every notebook, changed or not.")
@BUILD
@JOBS
def run_notebooks(grid: str, again: bool, build: Path, jobs: int) -> None:
    """Execute the book's notebooks on a build folder, as far as they have changed.

    A notebook is run when it, what it is made from or its parameters are others than those of its executed copy; what
    a reader has chosen for the build (see `choose`) reaches those that have such parameters.
    """
    from cogniload_repro.commands.steps import Build, tables_of
    from cogniload_repro.presentation.notebooks import Run, list_chapters, run_notebooks

    choices = read_choices(build)
    made = Build(build, grid, jobs, choices)
    chosen, tables = _chosen_parameters(choices.formula, choices.family, choices.data), tables_of(made)
    runs, made_of = [], {}
    for chapter in list_chapters("notebooks", **_kind_of_build(grid, choices)):
        own = {name: chosen[name] for name in chapter.takes if name in chosen}
        name = f"notebooks/{chapter.source.name}"
        made_from = {**tables, "notebook": made.manifest.digest(chapter.source), "parameters": Manifest.sum(own)}
        if "cells_path" in own:
            made_from["data"] = made.manifest.digest(choices.data)
        if again or not made.manifest.is_made_from(name, made_from) or made.manifest.find_damage(name):
            runs.append(Run(chapter.source, build / name, {"build": build.resolve()} | own))
            made_of[name] = made_from
    for run, seconds in run_notebooks(runs, jobs):
        name = f"notebooks/{run.source.name}"
        made.manifest.record(name, made_of[name], [name])
        say(f"  {run.source.name:28} {seconds:5.1f} s")


def _chosen_parameters(formula: str | None, family: str | None, data: str | None) -> dict[str, object]:
    """Return parameters of notebooks; a family or a table without a formula applies to the paper's specification."""
    from cogniload_repro.statistics.regression import QUADRATIC

    if formula == "" and (family or data):
        formula = QUADRATIC
    given = {"formula": formula, "family": family, "cells_path": Path(data).resolve() if data else None}
    return {name: value for name, value in given.items() if value}


def _kind_of_build(grid: str, choices: Choices) -> dict[str, bool]:
    return {"whole_grid": grid == "paper", "papers_outputs": choices.source.address == RECONSTRUCTED}


@click.command("build-book")
@GRID
@BUILD
def build_book(grid: str, build: Path) -> None:
    """Put pages and executed notebooks together and build the HTML book, changed pages only where that will do."""
    from cogniload_repro.presentation import book
    from cogniload_repro.presentation.notebooks import list_chapters

    chapters = list_chapters("notebooks", **_kind_of_build(grid, read_choices(build)))
    absent = {source.stem for source in Path("notebooks").glob("*.ipynb")} - {one.source.stem for one in chapters}
    book.stage_book(build, leave_out=[f"notebooks/{name}" for name in sorted(absent)])
    book.build_book(build)


@click.command(context_settings={"ignore_unknown_options": True})
@click.argument("arguments", nargs=-1, type=click.UNPROCESSED)
@BUILD
def lab(arguments: tuple[str, ...], build: Path) -> None:
    """Open the chapters in JupyterLab, ready to run; ARGUMENTS go to JupyterLab, such as --no-browser.

    Sentences show the values of the last build. Saving writes the notebook as it is committed: with the names of
    these values, and without outputs.
    """
    from cogniload_repro.presentation.lab import open_lab

    open_lab(Path("notebooks"), build, list(arguments))
