"""From a build folder to the book: what a reader has chosen, notebooks run, pages put together."""

import time
from pathlib import Path

import click

from cogniload_repro.commands.options import BUILD, DATA, FAMILY, FORMULA


@click.command()
@click.argument("given", nargs=-1, metavar="[NAME=VALUE]...")
@BUILD
def choose(given: tuple[str, ...], build: Path) -> None:
    """Keep choices for later calls of make, after checking them, and show all; an empty value goes back to the default.

    Names are SOURCE, FORMULA, FAMILY and DATA, as the Makefile takes them.
    """
    from cogniload_repro.commands.choices import describe_choices, keep_choices

    pairs = (choice.partition("=") for choice in given)
    click.echo(describe_choices(keep_choices(build, {name.lower(): value for name, _, value in pairs})))


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
    from cogniload_repro.statistics.regression import QUADRATIC

    start = time.monotonic()
    if formula == "" and (family or data):
        formula = QUADRATIC
    given = {"formula": formula, "family": family, "cells_path": Path(data).resolve() if data else None}
    given = {name: value for name, value in given.items() if value}
    run_notebook(source, target, {"build": build.resolve()} | given)
    click.echo(f"  {source.name:28} {time.monotonic() - start:5.1f} s")


@click.command("build-book")
@click.option("--leave-out", multiple=True, help="Page to do without, such as notebooks/10_alternatives (repeatable).")
@BUILD
def build_book(leave_out: tuple[str, ...], build: Path) -> None:
    """Put pages and executed notebooks together and build the HTML book."""
    from cogniload_repro.presentation import book

    book.stage_book(build, leave_out=leave_out)
    book.build_book(build)
