"""What make calls: a build brought up to date, a user's choices for it, and its sources."""

from pathlib import Path

import click

from cogniload_repro.commands import choices as chosen
from cogniload_repro.commands.options import BUILD, FROM_0, JOBS, MADE, READ_AS, say, takes, takes_source
from cogniload_repro.commands.steps import NAMES, Build, bring_up_to_date, describe_outputs, read_grid, read_sources
from cogniload_repro.files import locked

#: What follows a step, as a target of make.
_NEXT = {"outputs": "score", "scores": "fit", "regression": "render"}


@click.command()
@click.argument("step", type=click.Choice(NAMES), default=NAMES[-1])
@takes(*MADE)
def reproduce(step: str, grid: str, build: Path, jobs: int) -> None:
    """Run the pipeline up to STEP, rebuilding what is missing, damaged or outdated."""
    given = chosen.load_given_options()
    with locked(build):
        bring_up_to_date(Build(build, grid, jobs, chosen.keep_choices(build, given)), step)
        if step == NAMES[-1]:
            say(f"The book: {build / 'book' / '_build' / 'html' / 'index.html'}")
        _say_outputs(build, grid, _NEXT.get(step))


@click.command()
@click.argument("given", nargs=-1, metavar="[NAME=VALUE]...")
@BUILD
def choose(given: tuple[str, ...], build: Path) -> None:
    """Save build settings for later make runs and list them; an empty value restores the default.

    Names are SOURCE, MAX_REJECTED, SCORER, FORMULA, FAMILY and CELLS, as the Makefile takes them.
    """
    options = chosen.load_given_options()
    pairs = (choice.partition("=") for choice in given)
    with locked(build):
        choices = chosen.keep_choices(build, options | {name.lower(): value for name, _, value in pairs})
    say(chosen.describe_choices(choices))


@click.command("download-outputs")
@takes_source(
    "`reconstructed`, or real outputs: a folder, a file, an archive, an https:// or hf:// address, "
    "with #sha256=... where the sum is known. It is kept as a choice; by default the kept one, or reconstructed.",
    required=False,
)
@click.option("--grid", help="Cells to reconstruct: paper, mini, or 'N=20,50 ratio=5 d=1,3'; by default as before.")
@click.option("--max-rejected", type=FROM_0, help="Maximum number of rejected rows.")
@click.option("--add", is_flag=True, help="Add the models of this source to those of the build.")
@takes(*READ_AS, BUILD, JOBS)
def download_outputs(
    source: str | None, grid: str | None, max_rejected: int | None, add: bool, build: Path, jobs: int, **read_as: str
) -> None:
    """Fetch or reconstruct the models' outputs: puzzles.parquet and outputs/ in the build folder."""
    from cogniload_repro.commands.fetch import fetch_outputs

    options = {"source": source, "max_rejected": max_rejected}
    given = {name: str(value) for name, value in options.items() if value is not None}
    with locked(build):
        grid = grid or read_grid(build)
        if add:
            choices = chosen.choose_added(chosen.read_choices(build), given, **read_as)
        else:
            choices = chosen.keep_choices(build, given, **read_as)
        fetch_outputs(build, choices, grid, jobs)


@click.command()
@takes_source("Outputs to add: a folder, a file, an archive or an address.", required=False)
@takes(*MADE)
def add(source: str | None, grid: str, build: Path, jobs: int) -> None:
    """Add the models of SOURCE to those of the build, for this and later make runs."""
    from cogniload_repro.commands.fetch import fetch_outputs

    given = chosen.load_given_options("model") | ({"source": source} if source else {})
    with locked(build):
        choices = chosen.choose_added(chosen.read_choices(build), given, model=given.get("model"))
        fetch_outputs(build, choices, grid, jobs)
        _say_outputs(build, grid, "render")


@click.command()
@click.argument("model", required=False)
@takes(*MADE)
def remove(model: str | None, grid: str, build: Path, jobs: int) -> None:
    """Remove a previously added MODEL from the build."""
    from cogniload_repro.commands.fetch import fetch_outputs

    given = chosen.load_given_options("model") | ({"model": model} if model else {})
    with locked(build):
        held = [one["models"] for one in read_sources(build)]
        fetch_outputs(build, chosen.choose_removed(chosen.read_choices(build), given, held), grid, jobs)
        _say_outputs(build, grid, "render")


def _say_outputs(build: Path, grid: str, target: str | None) -> None:
    """Say which outputs a build holds, and what comes next."""
    say(describe_outputs(build))
    if target:
        say(f"Next: `make {target}{' GRID=mini' * (grid == 'mini')}`")
