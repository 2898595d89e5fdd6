"""What the steps start from: a source looked into, committed tables made again."""

from pathlib import Path

import click
from tqdm import tqdm

from cogniload_repro.commands.options import (
    BUILD,
    FILE,
    FROM_0,
    FROM_1,
    JOBS,
    READ_AS,
    say,
    takes,
    takes_source,
)


@click.command()
@takes_source("Outputs to look into: a folder, a file, an archive or an address.")
@takes(*READ_AS, BUILD)
def check(source: str, model: str | None, edition: str | None, key_order: str | None, build: Path) -> None:
    """Summarise SOURCE without importing it: coverage, missing puzzles, token counts, truncated responses.

    Exit status 1 if no row is usable.
    """
    from cogniload_repro.outputs.check import check_outputs, print_check
    from cogniload_repro.outputs.sources import open_source
    from cogniload_repro.puzzles.catalog import Catalog, read_catalog
    from cogniload_repro.puzzles.editions import resolve_edition

    chosen = resolve_edition(edition or "elixir", key_order) if edition or key_order else None
    local, known = open_source(source, build / "downloads"), build / "puzzles.parquet"
    catalog = read_catalog(known) if known.exists() else Catalog()
    frame, report = check_outputs(local, catalog, model=model, edition=chosen)
    say(print_check(frame, report))
    if frame.empty:
        raise click.exceptions.Exit(1)


@click.command()
@click.option("--model", "models", multiple=True, help="Only this model (may be repeated); all 22 by default.")
@click.option("--seed", type=FROM_0, help="Sample another table, with this random seed.")
@click.option("--out", type=FILE, help="CSV file to write.")
def reconstruct(models: tuple[str, ...], seed: int | None, out: Path | None) -> None:
    """Make a table of counts per cell that agrees with the paper's printed numbers.

    Without options this writes data/reconstructed/cells.csv: per model the typical one of the committed tables
    (`cogniload feasible`). With --seed another table is sampled (about a minute for all models).
    """
    from cogniload_repro.models import MODELS, find_model
    from cogniload_repro.reconstruction import reconstruct as step

    if out is None and (models or seed is not None):
        raise ValueError("--model and --seed make another table than the committed one; say where with --out")
    chosen = [find_model(name) for name in models] or list(MODELS)
    frames = tqdm(step.reconstruct(chosen, seed), "models", total=len(chosen), disable=None)
    say(f"wrote {step.write_csv(out or step.CELLS, frames)}")


@click.command()
@click.option("--tables", type=FROM_1, help="Tables per model; as committed by default.")
@JOBS
def feasible(tables: int | None, jobs: int) -> None:
    """Draw many tables of counts that agree with the paper, and bound what any of them can say along rho.

    Writes data/reconstructed/reconstructions.csv (a quarter of an hour) and bounds.csv (half a minute); `cogniload
    reconstruct` then makes cells.csv.
    """
    from cogniload_repro.executors import open_executor
    from cogniload_repro.reconstruction import bounds
    from cogniload_repro.reconstruction import feasible as step
    from cogniload_repro.reconstruction.reconstruct import load_counts, write_csv

    with open_executor(jobs) as executor:
        say(f"wrote {step.write_tables(executor, tables=tables or step.COUNT)}")
    say(f"wrote {write_csv(bounds.BOUNDS, bounds.find_bounds(load_counts()))}")
