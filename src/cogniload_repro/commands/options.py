"""Options that several commands share, and the function with which all commands print."""

import os
from pathlib import Path

import click

from cogniload_repro.safe_text import for_terminal

FOLDER = click.Path(path_type=Path, file_okay=False)
FROM_0 = click.IntRange(min=0)
FROM_1 = click.IntRange(min=1)

BUILD = click.option(
    "--build",
    type=FOLDER,
    default=Path("data/build"),
    show_default=True,
    help="Build folder.",
)
JOBS = click.option(
    "--jobs",
    type=FROM_1,
    default=os.cpu_count() or 1,
    show_default="all cores",
    help="Number of worker processes; does not affect results.",
)
MODEL = click.option(
    "--model", help="Name of the model, in place of the one in the source."
)


EDITION = click.option(
    "--edition",
    default="python",
    show_default=True,
    type=click.Choice(["python", "elixir"]),
    help="The authors' program that draws the puzzles: python, the released port, or elixir, the "
    "original as run by Elixir 1.17 and later.",
)


def say(text: object, *, err: bool = False) -> None:
    """Print text with control characters escaped, so that it cannot drive the terminal."""
    click.echo(for_terminal(str(text)), err=err)
