"""The sources that a reader has chosen -> the outputs and puzzles of a build, from all of them or none."""

import json
import os
import shutil
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from urllib.parse import unquote

import pyarrow as pa
import pyarrow.parquet as pq
from tqdm import tqdm

from cogniload_repro.commands.choices import RECONSTRUCTED, Choices, Source, check_source, write_choices
from cogniload_repro.commands.options import say
from cogniload_repro.commands.steps import SOURCES, STAGE, Build, record_outputs
from cogniload_repro.executors import open_executor
from cogniload_repro.files import write_whole
from cogniload_repro.grid import grid_cells
from cogniload_repro.outputs.imports import Report, import_outputs
from cogniload_repro.outputs.sources import open_source
from cogniload_repro.puzzles.editions import resolve_edition
from cogniload_repro.puzzles.ids import PuzzleSet
from cogniload_repro.puzzles.sets import describe_set, draw_rows, write_parquet
from cogniload_repro.reconstruction.reconstruct import cells_in
from cogniload_repro.reconstruction.stand_ins import write_stand_ins
from cogniload_repro.storage import UNFINISHED, write_table


def fetch_outputs(build: Path, choices: Choices, grid: str, jobs: int) -> None:
    """Make puzzles.parquet, outputs/, rejected.parquet and sources.json of a build from the sources that are chosen.

    They take their places, with the choices, when the last source has been accepted; after a ValueError only
    rejected.parquet has changed. Prompts that do not name their puzzle are looked up in the cells of the grid.
    """
    stage = build / STAGE
    shutil.rmtree(stage, ignore_errors=True)
    held: list[dict] = []
    rejected: list[pa.Table] = []
    try:
        for source in choices.sources:
            before = _models(stage)
            settings: Mapping = {}
            check_source(source)
            if source.address == RECONSTRUCTED:
                _reconstruct(stage, grid, jobs)
            else:
                settings = _import(source, stage, build / "downloads", grid, jobs)
                rejected.append(pq.read_table(stage / "rejected.parquet"))
            held.append({"source": source.label, "models": sorted(_models(stage) - before), "settings": settings})
        if len(rejected) > 1:
            write_table(stage / "rejected.parquet", pa.concat_tables(rejected), {"provenance": "imported"})
        write_whole(stage / SOURCES, json.dumps(held, indent=1) + "\n")
        _take_places(stage, Build(build, grid, jobs, choices))
    except ValueError:
        if (stage / "rejected.parquet").exists():
            os.replace(stage / "rejected.parquet", build / "rejected.parquet")
        raise
    finally:
        shutil.rmtree(stage, ignore_errors=True)


def _reconstruct(stage: Path, grid: str, jobs: int) -> None:
    cells = cells_in(grid_cells(grid))  # refuses those that the paper lacks
    puzzles = PuzzleSet(grid_cells(grid), scheme="default")
    rows = tqdm(draw_rows(puzzles, jobs), "puzzles", total=len(puzzles), disable=None)
    count = write_parquet(stage / "puzzles.parquet", rows, describe_set(puzzles, "cogniload download-outputs"))
    with open_executor(jobs) as executor:
        outputs = write_stand_ins(stage / "puzzles.parquet", cells, stage / "outputs", executor)
    say(f"{count:,} puzzles and {outputs:,} reconstructed responses")


def _import(source: Source, stage: Path, downloads: Path, grid: str, jobs: int) -> Mapping:
    """Import a source, and return how its models were asked."""
    is_given = source.edition or source.key_order
    edition = resolve_edition(source.edition or "elixir", source.key_order) if is_given else None
    local = open_source(source.address, downloads)
    if local.note:
        say(local.note)

    def validate(report: Report) -> None:
        say(report.summary())
        report.check(source.max_rejected)

    report = import_outputs(
        local, stage, model=source.model, leave_out=source.without, validate=validate,
        extra_puzzles=partial(draw_rows, PuzzleSet(grid_cells(grid), scheme="default"), jobs), edition=edition,
    )  # fmt: skip
    return report.settings


def _models(stage: Path) -> set[str]:
    return {unquote(path.stem) for path in (stage / "outputs").glob("*.parquet")}


def _take_places(stage: Path, made: Build) -> None:
    """Put what was made into the build, and remove what it has no more; a mark stays there if that is interrupted."""
    build, mark = made.folder, made.folder / "outputs" / UNFINISHED
    write_whole(mark, made.choices.source.label)
    names = {file.relative_to(stage) for file in stage.rglob("*") if file.is_file()}
    for name in sorted(names):
        os.replace(stage / name, build / name)
    for old in [*(build / "outputs").glob("*.parquet"), build / "rejected.parquet"]:
        if old.relative_to(build) not in names:
            old.unlink(missing_ok=True)
    write_choices(build, made.choices)
    record_outputs(made)
    mark.unlink()
