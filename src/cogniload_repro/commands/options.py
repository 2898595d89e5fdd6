"""Options that several commands share, and the function with which all commands print."""

import os
from pathlib import Path
from typing import Any

import click

from cogniload_repro.safe_text import for_terminal

FILE = click.Path(path_type=Path, dir_okay=False)
EXISTING_FILE = click.Path(path_type=Path, exists=True, dir_okay=False)
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


def _resolve(_context: object, _option: object, edition: str | None) -> Any:
    from cogniload_repro.puzzles.draws import resolve_edition

    return resolve_edition(edition) if edition else None


MODEL = click.option(
    "--model", help="Name of the model, in place of the one in the source."
)
EDITION = click.option(
    "--edition",
    callback=_resolve,
    help="Generator edition of puzzles known only by name; default: detected.",
)


def say(text: object, *, err: bool = False) -> None:
    """Print text with control characters escaped, so that it cannot drive the terminal."""
    click.echo(for_terminal(str(text)), err=err)
