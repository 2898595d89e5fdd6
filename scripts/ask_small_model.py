"""Ask a small model on this machine, and print the path of its answers, for `make reproduce ADD=`.

The model is served while the script runs, with one thread per job. Puzzles that it has answered
before are not asked again.
"""

import importlib.util
import shlex
import sys
from functools import partial
from pathlib import Path

import click

from cogniload_repro.commands.options import FILE, FOLDER, FROM_1, JOBS, say


@click.command()
@click.option(
    "--grid", default="mini", help="paper, mini, or 'N=20,50 ratio=5,50 d=1,3'."
)
@click.option("--per-cell", type=FROM_1, default=1, help="Puzzles per cell.")
@click.option("--model", type=FILE, help="GGUF file; default: SmolLM2-135M-Instruct.")
@click.option(
    "--out", type=FOLDER, default=Path("data/local"), help="Folder for the answers."
)
@JOBS
def main(grid: str, per_cell: int, model: Path | None, out: Path, jobs: int) -> None:
    """Ask a model the puzzles of a grid that it has not answered."""
    if importlib.util.find_spec("inspect_ai") is None:
        sys.exit("Inspect is not installed; `make evaluate-local` installs it")
    from cogniload_repro.asking.local import evaluate

    answers = evaluate(model, grid, per_cell, out, jobs, say=partial(say, err=True))
    say(shlex.quote(str(answers)))


if __name__ == "__main__":
    main()
