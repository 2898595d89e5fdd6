"""The commands that import outputs, and that check them."""

import json
import shutil
from collections import Counter
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import click

from cogniload_repro.commands.inputs import (
    OUTPUTS_PARAMETERS,
    describe_outputs,
    write_inputs,
)
from cogniload_repro.commands.options import BUILD, EDITION, JOBS, MODEL, say
from cogniload_repro.commands.params import (
    RECONSTRUCTED_SOURCE,
    Parameters,
    label_of,
    takes,
)
from cogniload_repro.files import locked, write_whole
from cogniload_repro.paths import ANSWERS

#: Temporary folder of a build, in which outputs are prepared before they replace the old ones.
_STAGE = ".outputs-"
#: The imported sources of a build, in order: a list of ``{"source": ..., "models": [...],
#: "settings": [...]}``, each setting with its model and value. Written last: without this file
#: the outputs count as incomplete.
SOURCES = "sources.json"
#: The reconstructed counts of the paper's models, in a build without their answers.
COUNTS_FILE = "counts.parquet"


@click.command("download-outputs")
@takes(*OUTPUTS_PARAMETERS)
@MODEL
@EDITION
@BUILD
@JOBS
def download_outputs(build: Path, jobs: int, **options: Any) -> None:
    """Import the models' outputs into a build.

    Writes puzzles.parquet, outputs/ (real answers) and counts.parquet (the reconstructed counts of
    models without answers). By default nothing is downloaded.
    """
    parameters = Parameters(**{name: options.pop(name) for name in OUTPUTS_PARAMETERS})
    inputs = describe_outputs(parameters)  # as they are before they are read
    with locked(build), TemporaryDirectory(prefix=_STAGE, dir=build) as name:
        stage = Path(name)
        (stage / "outputs").mkdir()
        imported = []
        if parameters.source == RECONSTRUCTED_SOURCE:
            imported.append(_write_counts(stage, parameters.grid, jobs))
            for answers in sorted(ANSWERS.glob("*.jsonl")):
                imported.append(_import(stage, str(answers), 0, build, known_only=True))
        for address in parameters.sources():
            imported.append(
                _import(stage, address, parameters.max_rejected, build, **options)
            )
        _refuse_repeated_models(imported)
        write_inputs(build, "outputs", inputs)
        _replace_outputs(stage, build)
        write_whole(build / SOURCES, json.dumps(imported, indent=1) + "\n")


def read_sources(build: Path) -> list[dict]:
    """Return the imported sources of a build (see `SOURCES`); ValueError if one is missing."""
    from cogniload_repro.storage import partition_path

    path = build / SOURCES
    try:
        sources = json.loads(path.read_text("utf-8"))
        for source in sources:
            for model in source["models"]:
                is_counted = source["source"] == RECONSTRUCTED_SOURCE
                file = COUNTS_FILE if is_counted else partition_path("outputs", model)
                (build / file).stat()
        return sources
    except (OSError, ValueError) as error:
        raise ValueError(
            f"{build} lacks outputs, as after an interrupted import ({error}); remove {path} and "
            "run `make download-outputs` (outside a checkout: `cogniload download-outputs`)"
        ) from None


def _write_counts(stage: Path, grid: str, jobs: int) -> dict:
    """Write the committed counts and the default set's puzzles; return them as a source."""
    from cogniload_repro.grid import grid_cells
    from cogniload_repro.puzzles.sets import PuzzleSet, write_set
    from cogniload_repro.regression.cell_tables import reconstructed_cells
    from cogniload_repro.storage import write_table

    cells = grid_cells(grid)
    counts = reconstructed_cells(cells)  # refuses cells that the paper lacks
    write_set(stage, PuzzleSet(cells), jobs)
    write_table(stage / COUNTS_FILE, counts)
    return {
        "source": RECONSTRUCTED_SOURCE,
        "models": list(counts["model"].unique()),
        "settings": [],
    }


def _import(
    stage: Path, address: str, max_rejected: int, build: Path, **options: Any
) -> dict:
    """Import a source into a folder; return its name, models and settings (see `SOURCES`)."""
    from cogniload_repro.importing.imports import import_source

    report = import_source(address, stage, build / "downloads", **options)
    say(f"{label_of(address)}: {report.summary()}")
    report.write_rejected(stage / "rejected.csv")
    if report.rejected:
        say(f"Rejected rows: {build / 'rejected.csv'}")
        shutil.copy(stage / "rejected.csv", build)
    # on a part of the grid there may be no puzzle that the committed answers belong to
    if "known_only" not in options:
        report.check(max_rejected)
    return {
        "source": label_of(address),
        "models": sorted(report.responses),
        "settings": sorted(report.settings),
    }


def _refuse_repeated_models(imported: list[dict]) -> None:
    """Raise ValueError if a model is in two sources, or has counts and answers."""
    models = Counter(model for source in imported for model in source["models"])
    [(model, count)] = models.most_common(1)
    if count > 1:
        raise ValueError(
            f"{model} is in two sources; change its column model in one of them, or give its "
            "answers as the source (SOURCE=...) in place of reconstructed counts"
        )


def _replace_outputs(stage: Path, build: Path) -> None:
    """Replace the outputs of a build; they count as incomplete until sources.json is there."""
    for name in (SOURCES, COUNTS_FILE):
        (build / name).unlink(missing_ok=True)
    for folder in (build / "outputs", *build.glob(f"{_STAGE}*")):
        if folder.name != stage.name:  # since Python 3.12 one path is absolute
            shutil.rmtree(folder, ignore_errors=True)
    for new in stage.iterdir():
        new.replace(build / new.name)


@click.command()
@click.argument("source")
@MODEL
@EDITION
@BUILD
def check(source: str, build: Path, **options: Any) -> None:
    """Summarise SOURCE without importing it.

    Prints its puzzles, token counts and truncated responses. SOURCE is a folder, a file, an archive
    or an address. The exit status is 1 if no row is usable.
    """
    from cogniload_repro.importing.check import EXPLANATION, summarise_responses
    from cogniload_repro.importing.imports import import_source

    with TemporaryDirectory() as folder:
        report = import_source(source, Path(folder), build / "downloads", **options)
    if report.responses:
        say(summarise_responses(report).round(1).to_string(line_width=100))
        say(EXPLANATION)
    say(report.summary())
    raise click.exceptions.Exit(not report.responses)
