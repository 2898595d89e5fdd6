"""The sources of a build -> its outputs and puzzles, from all of them or none."""

import json
import os
import shutil
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import unquote

import click

from cogniload_repro.commands.options import BUILD, FROM_0, JOBS, READ_AS, say, takes, takes_source
from cogniload_repro.commands.params import (
    RECONSTRUCTED,
    Parameters,
    check_source,
    label_of,
    made_with,
    read_parameters,
    refusing,
    write_parameters,
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
@takes_source(
    "`reconstructed`, or real outputs: a folder, a file, an archive, an https:// or hf:// address, "
    "with #sha256=... where the sum is known. By default what params.yaml says, or reconstructed.",
    required=False,
)
@click.option("--add", multiple=True, help="Another source, whose models stand beside those (may be repeated).")
@click.option("--grid", help="Cells to reconstruct: paper, mini, or 'N=20,50 ratio=5 d=1,3'; by default as before.")
@click.option("--max-rejected", type=FROM_0, help="Maximum number of rejected rows of a source.")
@click.option("--only-added", is_flag=True, help="Keep the main source's outputs as they are.")
@takes(*READ_AS, BUILD, JOBS)
def download_outputs(
    source: str | None, add: tuple[str, ...], grid: str | None, max_rejected: int | None, only_added: bool,
    build: Path, jobs: int, **read_as: str | None,
) -> None:  # fmt: skip
    """Fetch or reconstruct the models' outputs: puzzles.parquet and outputs/ in the build folder."""
    if (build / "params").is_dir():
        before = made_with(build)
        grid, source = grid or before.grid, source or (before.source if only_added else None)
    parameters = read_parameters(source=source, add=add or None, max_rejected=max_rejected, grid=grid)
    with locked(build), refusing(build):
        if again := not (only_added and (build / _MAIN / _SOURCES).is_file()):
            _make_main(build, parameters, jobs, read_as)
        try:
            _put_together(build, parameters, jobs, {} if again else read_as)
        except ValueError:
            if again:
                shutil.rmtree(build / _MAIN)  # it is not that of the outputs, which stay
            raise
        for step in ("outputs", "added"):
            write_parameters(build, step, parameters)
        (build / "outputs" / ".made").touch()
    names = [f"{_list(one['models'])} ({one['source']})" if place else one["source"]
             for place, one in enumerate(read_sources(build))]  # fmt: skip
    say(f"Outputs: {' + '.join(names)}")


def _list(models: list[str]) -> str:
    return ", ".join(models) if len(models) <= 5 else f"{len(models):,} models"


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


def _make_main(build: Path, parameters: Parameters, jobs: int, read_as: Mapping[str, str | None]) -> None:
    """Make what the main source gives, and put it into its folder when it has been accepted."""
    main = build / _MAIN
    with _staged(build) as stage:
        if parameters.source == RECONSTRUCTED:
            _reconstruct(stage, parameters.grid, jobs)
            settings: Mapping = {}
        else:
            settings = _import(parameters.source, stage, build, parameters, jobs, read_as)
        held = {"source": label_of(parameters.source), "models": sorted(_models(stage)), "settings": settings}
        write_whole(stage / _SOURCES, json.dumps([held], indent=1) + "\n")
        shutil.rmtree(main, ignore_errors=True)
        stage.rename(main)


def _put_together(build: Path, parameters: Parameters, jobs: int, read_as: Mapping[str, str | None]) -> None:
    """Add the other sources to the main one's outputs; all take their places when the last has been accepted."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from cogniload_repro.storage import write_table

    with _staged(build) as stage:
        shutil.copytree(build / _MAIN, stage, copy_function=_link, dirs_exist_ok=True)
        held, rejected = read_sources(build / _MAIN), list((build / _MAIN).glob("rejected.parquet"))
        tables = [pq.read_table(path) for path in rejected]
        for source in parameters.add:
            before = _models(stage)
            settings = _import(source, stage, build, parameters, jobs, read_as)
            tables.append(pq.read_table(stage / "rejected.parquet"))
            held.append({"source": label_of(source), "models": sorted(_models(stage) - before), "settings": settings})
        if len(tables) > 1:
            write_table(stage / "rejected.parquet", pa.concat_tables(tables), {"provenance": "imported"})
        write_whole(stage / _SOURCES, json.dumps(held, indent=1) + "\n")
        _take_places(stage, build)


def _link(source: str, target: str) -> None:
    try:
        os.link(source, target)
    except OSError:  # another file system
        shutil.copy2(source, target)


def _reconstruct(stage: Path, grid: str, jobs: int) -> None:
    from tqdm import tqdm

    from cogniload_repro.executors import open_executor
    from cogniload_repro.grid import grid_cells
    from cogniload_repro.puzzles.ids import PuzzleSet
    from cogniload_repro.puzzles.sets import describe_set, draw_rows, write_parquet
    from cogniload_repro.reconstruction.reconstruct import cells_in
    from cogniload_repro.reconstruction.stand_ins import write_stand_ins

    cells = cells_in(grid_cells(grid))  # refuses those that the paper lacks
    puzzles = PuzzleSet(grid_cells(grid), scheme="default")
    rows = tqdm(draw_rows(puzzles, jobs), "puzzles", total=len(puzzles), disable=None)
    count = write_parquet(stage / "puzzles.parquet", rows, describe_set(puzzles, "cogniload download-outputs"))
    with open_executor(jobs) as executor:
        outputs = write_stand_ins(stage / "puzzles.parquet", cells, stage / "outputs", executor)
    say(f"{count:,} puzzles and {outputs:,} reconstructed responses")


def _import(
    source: str, stage: Path, build: Path, parameters: Parameters, jobs: int, read_as: Mapping[str, str | None]
) -> Mapping:
    """Import a source, and return how its models were asked."""
    from cogniload_repro.outputs.imports import Report, import_outputs
    from cogniload_repro.outputs.sources import open_source
    from cogniload_repro.puzzles.editions import resolve_edition

    check_source(source)
    edition, order = read_as.get("edition"), read_as.get("key_order")
    local = open_source(source, build / "downloads")

    def validate(report: Report) -> None:
        say(report.summary())
        report.check(parameters.max_rejected)

    return import_outputs(
        local, stage, model=read_as.get("model"), validate=validate,
        edition=resolve_edition(edition or "elixir", order) if edition or order else None,
    ).settings  # fmt: skip


def _models(stage: Path) -> set[str]:
    return {unquote(path.stem) for path in (stage / "outputs").glob("*.parquet")}


def _take_places(stage: Path, build: Path) -> None:
    """Put what was made into the build, and remove what it has no more; a mark stays there if that is interrupted."""
    from cogniload_repro.storage import UNFINISHED

    mark = build / "outputs" / UNFINISHED
    write_whole(mark, "")
    names = {file.relative_to(stage) for file in stage.rglob("*") if file.is_file()}
    for name in sorted(names):
        os.replace(stage / name, build / name)
    for old in [*(build / "outputs").glob("*.parquet"), build / "rejected.parquet"]:
        if old.relative_to(build) not in names:
            old.unlink(missing_ok=True)
    mark.unlink()
