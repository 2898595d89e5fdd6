"""The command that draws sets of puzzles, and writes the prompts for a model."""

from pathlib import Path

import click

from cogniload_repro.commands.options import (
    EDITION,
    FOLDER,
    FROM_0,
    FROM_1,
    JOBS,
    say,
)


@click.command()
@click.option(
    "--grid",
    default="paper",
    show_default=True,
    help="paper, mini, or a grid such as 'N=20,50 ratio=5,50 d=1,3'.",
)
@click.option(
    "--per-cell", type=FROM_1, default=100, show_default=True, help="Puzzles per cell."
)
@click.option(
    "--seed", type=FROM_0, default=42, show_default=True, help="Seed of the whole set."
)
@EDITION
@click.option(
    "--perturb",
    help="Perturb every prompt, to make it harder to read; the names are the keys of "
    "`cogniload_repro.PERTURBATIONS`.",
)
@click.option("--out", type=FOLDER, required=True, help="Folder to write into.")
@JOBS
def puzzles(
    grid: str,
    per_cell: int,
    seed: int,
    edition: str,
    perturb: str | None,
    out: Path,
    jobs: int,
) -> None:
    """Draw a set of puzzles: puzzles.parquet, and prompts.jsonl for any program that asks models.

    The puzzles equal those of the authors' released generators, byte for byte, but none is drawn
    twice. The default seed gives the first puzzles of each cell of the paper's set. A grid lists
    lengths N (statements), nominal needle ratios in percent, and difficulties d from 1 to 12.

    \b
    Examples:
      cogniload puzzles --out sets/paper
      cogniload puzzles --grid N=20,50,ratio=5,50,d=1,3 --per-cell 10 --out sets/small
      cogniload puzzles --per-cell 10 --perturb rail_fence --out sets/rails
    """
    from cogniload_repro.asking.perturbations import find_perturbation
    from cogniload_repro.asking.protocol import BASELINE, list_queries, write_prompts
    from cogniload_repro.grid import grid_cells
    from cogniload_repro.puzzles.draws import resolve_edition
    from cogniload_repro.puzzles.sets import PuzzleSet, write_set

    if perturb not in (None, BASELINE):
        find_perturbation(perturb)  # an unknown name is refused before any drawing
    drawn = PuzzleSet(
        grid_cells(grid), per_cell, seed, edition=resolve_edition(edition)
    )
    path = write_set(out, drawn, jobs)
    prompts = write_prompts(out, list_queries(path, perturb))
    say(f"{len(drawn):,} puzzles in {path}, their prompts in {prompts}")
