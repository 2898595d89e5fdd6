"""What make calls: a build brought up to date, and a user's choices for it."""

from pathlib import Path

import click

from cogniload_repro.commands.choices import (
    choose_added,
    choose_removed,
    describe_choices,
    keep_choices,
    load_given_options,
    read_choices,
)
from cogniload_repro.commands.options import BUILD, GRID, JOBS, say, takes_source
from cogniload_repro.commands.steps import NAMES, Build, bring_up_to_date, describe_outputs, read_sources
from cogniload_repro.files import locked

#: What follows a step, as a target of make.
_NEXT = {"outputs": "score", "scores": "fit", "regression": "render"}


@click.command()
@click.argument("step", type=click.Choice(NAMES), default=NAMES[-1])
@GRID
@BUILD
@JOBS
def reproduce(step: str, grid: str, build: Path, jobs: int) -> None:
    """Run the pipeline up to STEP, rebuilding what is missing, damaged or outdated."""
    given = load_given_options()
    given.pop("model", None)  # names a model to add or remove
    with locked(build):
        choices = keep_choices(build, given)
        bring_up_to_date(Build(build, grid, jobs, choices), step)
        if step == NAMES[-1]:
            say(f"The book: {build / 'book' / '_build' / 'html' / 'index.html'}")
        say(describe_outputs(build))
        _say_next(_NEXT.get(step), grid)


@click.command()
@click.argument("given", nargs=-1, metavar="[NAME=VALUE]...")
@BUILD
def choose(given: tuple[str, ...], build: Path) -> None:
    """Save build settings for later make runs and list them; an empty value restores the default.

    Names are SOURCE, MAX_REJECTED, SCORER, FORMULA, FAMILY and CELLS, as the Makefile takes them.
    """
    pairs = (choice.partition("=") for choice in given)
    options = load_given_options()
    options.pop("model", None)
    with locked(build):
        choices = keep_choices(build, options | {name.lower(): value for name, _, value in pairs})
    say(describe_choices(choices))


@click.command()
@takes_source("Outputs to add: a folder, a file, an archive or an address.", required=False)
@GRID
@BUILD
@JOBS
def add(source: str | None, grid: str, build: Path, jobs: int) -> None:
    """Add the models of SOURCE to those of the build, for this and later make runs."""
    from cogniload_repro.commands.fetch import fetch_added

    given = load_given_options() | ({"source": source} if source else {})
    with locked(build):
        fetch_added(build, choose_added(read_choices(build), given, model=given.get("model")), grid, jobs)
        say(describe_outputs(build))
        _say_next("render", grid)


@click.command()
@click.argument("model", required=False)
@GRID
@BUILD
@JOBS
def remove(model: str | None, grid: str, build: Path, jobs: int) -> None:
    """Remove a previously added MODEL from the build."""
    from cogniload_repro.commands.fetch import fetch_added

    given = load_given_options() | ({"model": model} if model else {})
    with locked(build):
        held = [one["models"] for one in read_sources(build)]
        fetch_added(build, choose_removed(read_choices(build), given, held), grid, jobs)
        say(describe_outputs(build))
        _say_next("render", grid)


def _say_next(target: str | None, grid: str) -> None:
    """Name the command that comes next, where one does."""
    if target:
        say(f"Next: `make {target}{' GRID=mini' * (grid == 'mini')}`")
