"""The commands that import outputs, and that regenerate the committed tables."""

import json
import os
import shutil
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from textwrap import shorten
from typing import Any

import click
from tqdm import tqdm

from cogniload_repro.commands import params
from cogniload_repro.commands.options import (
    BUILD,
    EDITION,
    FILE,
    FROM_0,
    JOBS,
    MODEL,
    say,
)
from cogniload_repro.commands.params import RECONSTRUCTED_SOURCE
from cogniload_repro.files import ANSWERS, locked, write_whole

#: Temporary folder of a build, in which outputs are prepared before they replace the old ones.
_STAGE = ".outputs-next"
#: The imported sources of a build, in order: a list of ``{"source": ..., "models": [...],
#: "settings": {...}}``, with the settings of the import's report. Written last: make compares its
#: time, and without this file the outputs count as incomplete.
SOURCES = "sources.json"
_OUTPUTS_REMEDY = (
    "run `make download-outputs` (outside a checkout: `cogniload download-outputs`)"
)
#: The reconstructed counts of the paper's models, in a build without their answers.
COUNTS_FILE = "counts.parquet"


@click.command("download-outputs")
@click.option(
    "--source",
    help="`reconstructed`: the paper's models as counts, and the committed answers of a "
    "real model. Or real outputs alone: a folder, a file, an archive, or an https:// or "
    "hf:// address, followed by #sha256=... if the checksum is known. Default: the source "
    "in params.yaml, else reconstructed.",
)
@click.option(
    "--add",
    multiple=True,
    help="Another source, whose models are added (may be repeated).",
)
@click.option(
    "--grid",
    help="Grid of the counts: paper, mini, or 'N=20,50 ratio=5 d=1,3'; default: as in params.yaml.",
)
@click.option(
    "--max-rejected", type=FROM_0, help="Maximum number of rejected rows per source."
)
@MODEL
@EDITION
@BUILD
@JOBS
def download_outputs(
    source: str | None,
    add: tuple[str, ...],
    grid: str | None,
    max_rejected: int | None,
    build: Path,
    jobs: int,
    **read_as: Any,
) -> None:
    """Import the models' outputs into a build.

    Writes puzzles.parquet, outputs/ (real answers) and counts.parquet (the reconstructed counts of
    models without answers). By default nothing is downloaded.
    """
    parameters = params.read_parameters(
        source=source, add=add or None, max_rejected=max_rejected, grid=grid
    )
    addresses = parameters.sources()
    if read_as["model"] and len(addresses) > 1:
        raise ValueError(
            f"--model names the model of one source, and there are {len(addresses)}; name the "
            "model in a column of each source"
        )
    limit = parameters.max_rejected
    with locked(build), _staged(build) as stage:
        brought = []
        if parameters.source == RECONSTRUCTED_SOURCE:
            brought.append(_write_counts(stage, parameters.grid, jobs))
            for answers in sorted(ANSWERS.glob("*.jsonl")):
                brought.append(_import(stage, str(answers), 0, build, known_only=True))
        for address in addresses:
            brought.append(_import(stage, address, limit, build, **read_as))
        _refuse_two_kinds(brought)
        params.write_parameters(build, "outputs", parameters)
        _replace_outputs(stage, build)
        write_whole(build / SOURCES, json.dumps(brought, indent=1) + "\n")
    for part in brought:
        line = f"{part['source']}: {', '.join(part['models'])}"
        say(shorten(line, 300, placeholder=" ..."))


def read_sources(build: Path) -> list[dict]:
    """Return the imported sources of a build (see `SOURCES`); ValueError if there are none."""
    path = build / SOURCES
    if not path.exists():
        raise ValueError(
            f"{build} has no outputs, or those of an interrupted import; {_OUTPUTS_REMEDY}"
        )
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ValueError(
            f"{path} is damaged ({error}); remove it and {_OUTPUTS_REMEDY}"
        ) from None


def check_outputs_whole(build: Path) -> None:
    """Raise ValueError if the outputs of an imported model are missing from a build."""
    from cogniload_repro.storage import partition_path

    for source in read_sources(build):
        if source["source"] == RECONSTRUCTED_SOURCE:
            continue
        for model in source["models"]:
            path = partition_path(build / "outputs", model)
            if not path.exists():
                raise ValueError(f"{path} is missing; {_OUTPUTS_REMEDY}")


@contextmanager
def _staged(build: Path) -> Iterator[Path]:
    """Yield a temporary folder for outputs; after an error keep only the rejected rows."""
    stage = build / _STAGE
    shutil.rmtree(stage, ignore_errors=True)
    (stage / "outputs").mkdir(parents=True)
    try:
        yield stage
    except ValueError:
        for path in stage.glob("rejected.*"):
            os.replace(path, build / path.name)
        raise
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _write_counts(stage: Path, grid: str, jobs: int) -> dict:
    """Write the committed counts and the default set's puzzles; return them as a source."""
    from cogniload_repro.grid import grid_cells
    from cogniload_repro.puzzles.ids import PuzzleSet
    from cogniload_repro.puzzles.sets import describe_set, draw_rows, write_parquet
    from cogniload_repro.regression.cell_tables import reconstructed_cells
    from cogniload_repro.storage import write_table

    cells = grid_cells(grid)
    counts = reconstructed_cells(cells)  # refuses cells that the paper lacks
    puzzles = PuzzleSet(cells, scheme="default")
    rows = tqdm(draw_rows(puzzles, jobs), "puzzles", total=len(puzzles), disable=None)
    write_parquet(
        stage / "puzzles.parquet",
        rows,
        describe_set(puzzles, "cogniload download-outputs"),
    )
    write_table(stage / COUNTS_FILE, counts)
    return {
        "source": RECONSTRUCTED_SOURCE,
        "models": list(counts["model"].unique()),
        "settings": {},
    }


def _import(
    stage: Path, address: str, max_rejected: int, build: Path, **read_as: Any
) -> dict:
    """Import a source into a folder; return its name, models and settings (see `SOURCES`)."""
    from cogniload_repro.outputs.imports import import_outputs

    report = import_outputs(address, stage, build / "downloads", **read_as)
    say(report.summary())
    if report.rejected:
        say(f"Rejected rows: {build / 'rejected.csv'}")
    # on a part of the grid there may be no puzzle that the committed answers belong to
    if report.responses or not read_as.get("known_only"):
        report.check(max_rejected)
    return {
        "source": params.label_of(address),
        "models": sorted(report.responses),
        "settings": report.settings,
    }


def _refuse_two_kinds(brought: list[dict]) -> None:
    """Raise ValueError if a model has both answers and reconstructed counts in a build."""
    models = Counter(model for source in brought for model in source["models"])
    for model, count in models.items():
        if count > 1:  # two sources of answers were rejected before
            raise ValueError(
                f"{model} has reconstructed counts in this build; give its outputs as the source "
                "(SOURCE=...), or rename the model in them"
            )


def _replace_outputs(stage: Path, build: Path) -> None:
    """Move the outputs of a folder into a build, replacing the old ones.

    They count as incomplete until sources.json is written again.
    """
    (build / SOURCES).unlink(missing_ok=True)
    (build / "outputs").mkdir(exist_ok=True)
    names = {file.relative_to(stage) for file in stage.rglob("*") if file.is_file()}
    for name in sorted(names):
        os.replace(stage / name, build / name)
    optional = [*build.glob("rejected.*"), build / COUNTS_FILE]
    for old in [*(build / "outputs").glob("*.parquet"), *optional]:
        if old.relative_to(build) not in names:
            old.unlink(missing_ok=True)


@click.command()
@click.argument("source")
@MODEL
@EDITION
@BUILD
def check(source: str, build: Path, **read_as: Any) -> None:
    """Summarise SOURCE without importing it.

    Prints its puzzles, token counts and truncated responses. SOURCE is a folder, a file, an archive
    or an address. The exit status is 1 if no row is usable.
    """
    from cogniload_repro.outputs.check import check_outputs, format_check
    from cogniload_repro.puzzles.catalog import read_catalog

    puzzles = build / "puzzles.parquet"
    catalog = read_catalog(puzzles) if puzzles.exists() else {}
    cache = build / "downloads"
    summary, report = check_outputs(source, catalog, cache, **read_as)
    say(format_check(summary, report))
    if summary.empty:
        raise click.exceptions.Exit(1)


@click.command("reconstruct")
@click.option(
    "--out", type=FILE, help="CSV file to write instead of the committed one."
)
def reconstruct_command(out: Path | None) -> None:
    """Regenerate data/reconstructed/cells.csv.

    For each model it holds the typical one of the committed tables of counts, which agree with the
    paper's printed numbers (see `cogniload feasible`).
    """
    from cogniload_repro.counts.reconstruct import reconstruct, write_csv
    from cogniload_repro.models import MODELS
    from cogniload_repro.regression.reconstructions import CELLS_FILE

    frames = tqdm(reconstruct(), "models", total=len(MODELS), disable=None)
    say(f"wrote {write_csv(out or CELLS_FILE, frames)}")


@click.command()
@JOBS
def feasible(jobs: int) -> None:
    """Sample counts that agree with the paper.

    Writes two files to data/reconstructed: reconstructions.csv, the sampled tables of counts (a
    quarter of an hour), and bounds.csv, bounds on accuracy at each rho (half a minute). `cogniload
    reconstruct` then regenerates cells.csv, scripts/search_divisions.py divisions.csv.
    """
    from cogniload_repro.counts.bounds import BOUNDS, find_bounds
    from cogniload_repro.counts.feasible import write_tables
    from cogniload_repro.counts.reconstruct import write_csv
    from cogniload_repro.executors import open_executor
    from cogniload_repro.regression.cell_tables import load_cells

    with open_executor(jobs) as executor:
        say(f"wrote {write_tables(executor)}")
    say(f"wrote {write_csv(BOUNDS, find_bounds(load_cells()))}")
