"""What make calls: a build brought up to date, and a reader's choices for it."""

from pathlib import Path

import click

from cogniload_repro.commands.choices import (
    choose_added,
    choose_removed,
    describe_choices,
    keep_choices,
    read_choices,
    take_given,
)  # fmt: skip
from cogniload_repro.commands.options import BUILD, GRID, JOBS, say
from cogniload_repro.commands.steps import NAMES, Build, bring_up_to_date, describe_outputs, read_sources
from cogniload_repro.files import locked


@click.command()
@click.argument("until", type=click.Choice(NAMES), default=NAMES[-1])
@GRID
@BUILD
@JOBS
def reproduce(until: str, grid: str, build: Path, jobs: int) -> None:
    """Bring a build up to date, up to the step UNTIL: make what is missing or damaged, or made from something else."""
    with locked(build):
        choices = keep_choices(build, _given())
        bring_up_to_date(Build(build, grid, jobs, choices), until)
        if until == NAMES[-1]:
            say(f"The book: {build / 'book' / '_build' / 'html' / 'index.html'}")
        say(describe_outputs(build))


@click.command()
@click.argument("given", nargs=-1, metavar="[NAME=VALUE]...")
@BUILD
def choose(given: tuple[str, ...], build: Path) -> None:
    """Keep choices for later calls of make, after checking them, and show all; an empty value goes back to the default.

    Names are SOURCE, MAX_REJECTED, READING, FORMULA, FAMILY and DATA, as the Makefile takes them.
    """
    pairs = (choice.partition("=") for choice in given)
    with locked(build):
        choices = keep_choices(build, _given() | {name.lower(): value for name, _, value in pairs})
    say(describe_choices(choices))


@click.command()
@click.argument("source", required=False)
@GRID
@BUILD
@JOBS
def add(source: str | None, grid: str, build: Path, jobs: int) -> None:
    """Put the models of SOURCE beside those of the build, for this and later calls of make."""
    from cogniload_repro.commands.fetch import fetch_added

    given = take_given() | ({"source": source} if source else {})
    with locked(build):
        fetch_added(build, choose_added(read_choices(build), given, model=given.get("model")), grid, jobs)
        say(describe_outputs(build))


@click.command()
@click.argument("model", required=False)
@GRID
@BUILD
@JOBS
def remove(model: str | None, grid: str, build: Path, jobs: int) -> None:
    """Take a MODEL out of the build that was added to it."""
    from cogniload_repro.commands.fetch import fetch_added

    given = take_given() | ({"model": model} if model else {})
    with locked(build):
        held = [one["models"] for one in read_sources(build)]
        fetch_added(build, choose_removed(read_choices(build), given, held), grid, jobs)
        say(describe_outputs(build))


def _given() -> dict[str, str]:
    """Return the choices that make hands on; a model is none of them."""
    given = take_given()
    given.pop("model", None)
    return given
