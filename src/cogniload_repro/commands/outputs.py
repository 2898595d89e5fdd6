"""The sources of a build -> its outputs and puzzles, from all of them or none; committed tables made again."""

import json
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from itertools import chain
from pathlib import Path
from typing import Any
from urllib.parse import unquote

import click
from tqdm import tqdm

from cogniload_repro.commands import params
from cogniload_repro.commands.params import (
    BUILD,
    FILE,
    FROM_0,
    FROM_1,
    JOBS,
    READ_AS,
    RECONSTRUCTED,
    say,
    takes,
)
from cogniload_repro.files import locked, write_whole

#: Folder of a build in which outputs are made before they take their places.
_STAGE = ".outputs-next"
#: Folder of a build that keeps what the main source gave: it is not made again when another source is added.
_MAIN = "main"
#: What the sources of a build have brought, in their order: ``{"source": ..., "models": [...], "settings": {...}}``
#: each, the settings as an import's report has them.
_SOURCES = "sources.json"


@click.command("download-outputs")
@click.option(
    "--source",
    help="`reconstructed`, or real outputs: a folder, a file, an archive, an https:// or hf:// address, "
    "with #sha256=... where the sum is known. By default what params.yaml says, or reconstructed.",
)
@click.option(
    "--add",
    multiple=True,
    help="Another source, whose models stand beside those (may be repeated).",
)
@click.option(
    "--grid",
    help="Cells to reconstruct: paper, mini, or 'N=20,50 ratio=5 d=1,3'; else that of params.yaml.",
)
@click.option("--max-rejected", type=FROM_0, help="Maximum number of rejected rows of a source.")
@click.option("--only-added", is_flag=True, help="Keep the main source's outputs as they are.")
@takes(*READ_AS, BUILD, JOBS)
def download_outputs(
    source: str | None, add: tuple[str, ...], grid: str | None, max_rejected: int | None, only_added: bool,
    build: Path, jobs: int, **read_as: Any,
) -> None:  # fmt: skip
    """Fetch or reconstruct the models' outputs: puzzles.parquet and outputs/ in the build folder."""
    from cogniload_repro.formats import display_names

    parameters = params.read_parameters(
        source=source, add=add or None, max_rejected=max_rejected, grid=grid
    )
    main = build / _MAIN
    with locked(build):
        if not (only_added and params.is_made_with(main, "outputs", parameters)):
            with _staged(build) as stage:
                _gather(stage, [parameters.source], parameters, build, jobs, **read_as)
                params.write_parameters(stage, "outputs", parameters)
                shutil.rmtree(main, ignore_errors=True)
                stage.rename(main)
        with _staged(build) as stage:
            shutil.copytree(main, stage, copy_function=os.link, dirs_exist_ok=True)
            _gather(stage, parameters.add, parameters, build, jobs)
            params.write_parameters(stage, "added", parameters)
            _take_places(stage, build)
        (build / "outputs" / ".made").touch()
    brought = {one["source"]: one["models"] for one in read_sources(build)}
    names = display_names(chain.from_iterable(brought.values()))
    counted = []
    for source, models in brought.items():
        listed = ", ".join(names[model] for model in models)
        counted.append(f"{source} ({len(models):,} models)" if len(models) > 5 else listed)
    say(f"Outputs: {' + '.join(counted)}")


def read_sources(build: Path) -> list[dict]:
    """Return what the sources of a build have brought; nothing where there are no outputs yet."""
    try:
        return json.loads((build / _SOURCES).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return []


@contextmanager
def _staged(build: Path) -> Iterator[Path]:
    """Give a folder to make outputs in, which goes in the end; of a refused source only rejected.parquet stays."""
    stage = build / _STAGE
    shutil.rmtree(stage, ignore_errors=True)
    stage.mkdir(parents=True)
    try:
        yield stage
    except ValueError:
        if (stage / "rejected.parquet").exists():
            os.replace(stage / "rejected.parquet", build / "rejected.parquet")
        raise
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _gather(
    stage: Path,
    sources: Sequence[str],
    parameters: params.Parameters,
    build: Path,
    jobs: int,
    **read_as: Any,
) -> None:
    """Add what sources give to the outputs in a folder, and which models each has brought."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from cogniload_repro.outputs.imports import Report, import_outputs
    from cogniload_repro.outputs.sources import open_source
    from cogniload_repro.storage import write_table

    def accept(report: Report) -> None:
        say(report.summary())
        report.check(parameters.max_rejected)

    held, tables = (
        read_sources(stage),
        [pq.read_table(path) for path in stage.glob("rejected.parquet")],
    )
    for source in sources:
        before, settings = _models(stage), dict[str, Any]()
        if source == RECONSTRUCTED and not held:
            _reconstruct(stage, parameters.grid, jobs)
        else:
            params.check_source(source)
            local = open_source(source, build / "downloads")
            settings |= import_outputs(local, stage, validate=accept, **read_as).settings
            tables.append(pq.read_table(stage / "rejected.parquet"))
        held.append(
            {
                "source": params.label_of(source),
                "models": sorted(_models(stage) - before),
                "settings": settings,
            }
        )
    if len(tables) > 1:
        write_table(
            stage / "rejected.parquet", pa.concat_tables(tables), {"provenance": "imported"}
        )
    write_whole(stage / _SOURCES, json.dumps(held, indent=1) + "\n")


def _reconstruct(stage: Path, grid: str, jobs: int) -> None:
    from cogniload_repro.executors import open_executor
    from cogniload_repro.grid import grid_cells
    from cogniload_repro.puzzles.ids import PuzzleSet
    from cogniload_repro.puzzles.sets import describe_set, draw_rows, write_parquet
    from cogniload_repro.reconstruction.stand_ins import cells_in, write_stand_ins

    cells = cells_in(grid_cells(grid))  # refuses those that the paper lacks
    puzzles = PuzzleSet(grid_cells(grid), scheme="default")
    rows = tqdm(draw_rows(puzzles, jobs), "puzzles", total=len(puzzles), disable=None)
    count = write_parquet(
        stage / "puzzles.parquet", rows, describe_set(puzzles, "cogniload download-outputs")
    )
    with open_executor(jobs) as executor:
        outputs = write_stand_ins(stage / "puzzles.parquet", cells, stage / "outputs", executor)
    say(f"{count:,} puzzles and {outputs:,} reconstructed responses")


def _models(stage: Path) -> set[str]:
    return {unquote(path.stem) for path in (stage / "outputs").glob("*.parquet")}


def _take_places(stage: Path, build: Path) -> None:
    """Put what was made into the build, and remove what it has no more; a mark stays there if that is interrupted."""
    from cogniload_repro.storage import UNFINISHED

    mark = build / "outputs" / UNFINISHED
    write_whole(mark, "")
    (build / "outputs" / ".made").unlink(missing_ok=True)
    names = {file.relative_to(stage) for file in stage.rglob("*") if file.is_file()}
    (build / "params").mkdir(exist_ok=True)
    for name in sorted(names):
        os.replace(stage / name, build / name)
    for old in [*(build / "outputs").glob("*.parquet"), build / "rejected.parquet"]:
        if old.relative_to(build) not in names:
            old.unlink(missing_ok=True)
    mark.unlink()


@click.command()
@click.argument("source")
@takes(*READ_AS, BUILD)
def check(source: str, build: Path, **read_as: Any) -> None:
    """Summarise SOURCE without importing it: coverage, missing puzzles, token counts, truncated responses.

    SOURCE is a folder, a file, an archive or an address. Exit status 1 if no row is usable.
    """
    from cogniload_repro.outputs.check import check_outputs, print_check
    from cogniload_repro.outputs.sources import open_source
    from cogniload_repro.puzzles.catalog import Catalog, read_catalog

    local, known = open_source(source, build / "downloads"), build / "puzzles.parquet"
    catalog = read_catalog(known) if known.exists() else Catalog()
    frame, report = check_outputs(local, catalog, **read_as)
    say(print_check(frame, report))
    if frame.empty:
        raise click.exceptions.Exit(1)


@click.command()
@click.option(
    "--model", "models", multiple=True, help="Only this model (may be repeated); all 22 by default."
)
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
        raise ValueError(
            "--model and --seed make another table than the committed one; say where with --out"
        )
    chosen = [find_model(name) for name in models] or list(MODELS)
    frames = tqdm(step.reconstruct(chosen, seed), "models", total=len(chosen), disable=None)
    say(f"wrote {step.write_csv(out or step.CELLS, frames)}")


@click.command()
@click.option("--tables", type=FROM_1, help="Tables per model; as committed by default.")
@JOBS
def feasible(tables: int | None, jobs: int) -> None:
    """Draw many tables of counts that agree with the paper, and bound what any of them can say along rho.

    Writes data/reconstructed/reconstructions.csv (a quarter of an hour), bounds.csv (half a minute) and divisions.csv
    (three minutes), of answers that did not run out of context; `cogniload reconstruct` then makes cells.csv.
    """
    from cogniload_repro.executors import open_executor
    from cogniload_repro.reconstruction import feasible as step
    from cogniload_repro.reconstruction.reconstruct import load_counts, write_csv
    from cogniload_repro.robustness.overflows import DIVISIONS, search_divisions
    from cogniload_repro.statistics.cell_tables import load_cells

    with open_executor(jobs) as executor:
        say(f"wrote {step.write_tables(executor, tables=tables or step.COUNT)}")
        models = [own for _, own in load_cells().groupby("model", sort=False)]
        say(f"wrote {write_csv(DIVISIONS, executor.map(search_divisions, models))}")
    say(f"wrote {write_csv(step.BOUNDS, step.find_bounds(load_counts()))}")
