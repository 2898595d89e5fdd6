"""Import a source of outputs: one table per model, the puzzles, the rejected rows.

How a response gets from its file to its score:

- `import_outputs` finds the files of a source; `read_outputs` reads them one by one
- `rows.read_rows` turns each record of a file (from `rows.read_table`) into rows
- `responses.read_response` turns a row into a response, or says why it is not one
- `import_outputs` writes responses whose puzzle is known to the table of their model
- `scoring.scores.score_group` reads that table, and calls `score_row` for each response
- `scoring.verdict.find_verdict` returns its bucket and the evidence, from its `find_windows`
"""

import shutil
from collections import defaultdict
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path

import pyarrow as pa
from pyarrow.compute import field
from tqdm import tqdm

from cogniload_repro import __version__
from cogniload_repro.outputs.inspect_logs import INVALIDATED, find_finished
from cogniload_repro.outputs.layout import Layout, find_files, name_puzzle
from cogniload_repro.outputs.records import Row, read_text
from cogniload_repro.outputs.report import ANSWERED, Rejected, Report
from cogniload_repro.outputs.responses import (
    FAILED,
    Output,
    RowError,
    name_model,
    read_response,
)
from cogniload_repro.outputs.rows import read_rows
from cogniload_repro.outputs.source_puzzles import SourcePuzzles
from cogniload_repro.outputs.sources import fetch_source
from cogniload_repro.puzzles.catalog import Catalog, read_catalog
from cogniload_repro.puzzles.draws import Edition
from cogniload_repro.puzzles.sets import cut
from cogniload_repro.schemas import OUTPUTS, PUZZLES
from cogniload_repro.storage import (
    open_parquet,
    part_writer,
    partition_path,
    read_metadata,
    write_table,
)

#: The file of each answer, by model and puzzle.
Answers = dict[str, dict[str, str]]

UNKNOWN_PUZZLE = "unknown puzzle"
DUPLICATE = "duplicate"

#: Most characters, and most responses, in memory; full batches are moved to temporary files.
BUFFER_CHARS = 64_000_000
_MOST_ROWS = 64_000
_ASIDE = ".aside"


def import_outputs(
    source: str | Path,
    folder: Path,
    cache: Path | None = None,
    *,
    model: str | None = None,
    edition: Edition | None = None,
    known_only: bool = False,
) -> Report:
    """Write the responses of a source to a folder: outputs/<model>.parquet, puzzles, rejected rows.

    The folder is new or has earlier sources: their puzzles are known, their models must not occur
    again. After a ValueError only its rejected rows are valid. Downloaded and unpacked files are
    kept in the cache. For the other options see `read_outputs`.
    """
    layout = find_files(*fetch_source(source, cache or folder / "downloads"))
    metadata = {
        "source": layout.name,
        "version": __version__,
        "command": "cogniload download-outputs",
    }
    known = folder / "puzzles.parquet"
    catalog = read_catalog(known) if known.exists() else {}
    count = len(catalog)
    report = Report()
    outputs = read_outputs(
        layout, catalog, report, model=model, edition=edition, known_only=known_only
    )
    try:
        _write_tables(outputs, folder / "outputs", metadata)
    finally:
        report.write_rejected(folder, metadata)
    if len(catalog) > count or not known.exists():
        puzzles = pa.Table.from_pylist([*catalog.values()], PUZZLES)
        write_table(known, puzzles, metadata)
    return report


def _write_tables(
    outputs: Iterator[Output], folder: Path, metadata: Mapping[str, str]
) -> None:
    """Write one file per model; until the end, batches of responses wait in temporary files."""
    parts: dict[str, list[Path]] = defaultdict(list)
    folder.mkdir(parents=True, exist_ok=True)
    batches = cut(outputs, _MOST_ROWS, _count_chars, BUFFER_CHARS)
    for number, batch in enumerate(batches):
        rows = [output._asdict() for output in batch]
        table = pa.Table.from_pylist(rows, OUTPUTS)
        for model in table["model"].unique().to_pylist():
            part = partition_path(folder / _ASIDE / str(number), model)
            write_table(part, table.filter(field("model") == model))
            parts[model].append(part)
    for model in sorted(parts):
        path = partition_path(folder, model)
        if path.exists():
            source = read_metadata(path).get("source")
            raise ValueError(
                f"{model} was already imported from {source}; rename it in one of the two sources"
            )
        with part_writer(path, OUTPUTS, metadata) as writer:
            for part in parts[model]:
                with open_parquet(part) as file:
                    writer.write_table(file.read())
    shutil.rmtree(folder / _ASIDE, ignore_errors=True)


def _count_chars(output: Output) -> int:
    return len(output.response)


def read_outputs(
    layout: Layout,
    catalog: Catalog,
    report: Report,
    *,
    model: str | None = None,
    edition: Edition | None = None,
    known_only: bool = False,
) -> Iterator[Output]:
    """Yield the responses of a source, one by one, in the order of paths and rows.

    Rejected rows and the number of responses go to the report. The source's own puzzles, and those
    drawn from their names, are added to the catalog; `known_only` omits answers to puzzles that it
    does not have. `model` replaces the model names of the source; `edition` draws puzzles known by
    name alone, by default the one that fits. Failed requests and invalidated samples are rejected
    last, since a later row may answer their puzzle.
    """
    puzzles = SourcePuzzles(layout, catalog, edition, report)
    answers: Answers = defaultdict(dict)
    failures: list[tuple[Rejected, dict]] = []
    rows = chain(puzzles.read(), _read_files(layout))
    for file, row in tqdm(rows, "import", unit=" rows", disable=None):
        if model:
            row.fields["model"] = model
        try:
            output = read_response(row)
            if known_only and output.name not in catalog:
                continue
            _check_answer(output, answers, puzzles)
            answers[output.model][output.name] = file
        except RowError as error:
            rejected = Rejected(file, row.number, *error.args)
            if rejected.reason in (FAILED, INVALIDATED):
                failures.append((rejected, row.fields))
            else:
                report.rejected.append(rejected)
        else:
            report.count(output)
            yield output
    report.rejected += [_settle(row, fields, answers) for row, fields in failures]


def _check_answer(output: Output, answers: Answers, puzzles: SourcePuzzles) -> None:
    """Raise RowError if the puzzle of a response is unknown, or answered already."""
    try:
        puzzles.find(output.name)
    except ValueError as error:
        detail = f"{output.name}: {error}"
        raise RowError(UNKNOWN_PUZZLE, detail, output.model) from None
    file = answers[output.model].get(output.name)
    if file is not None:
        detail = f"{output.model} has answered {output.name} already, in {file!r}"
        raise RowError(DUPLICATE, detail, output.model)


def _settle(failure: Rejected, fields: Mapping, answers: Answers) -> Rejected:
    """Return a failed row, marked as answered if the source has its model's answer elsewhere.

    A line of a failed batch may name no model; the source's only model is then assumed.
    """
    name = fields.get("name")
    models = list(answers)
    if fields.get("model"):
        try:
            models = [name_model(str(fields["model"]), fields.get("perturbation"))]
        except RowError:
            return failure
    if len(models) != 1 or not isinstance(name, str):
        return failure
    file = answers.get(models[0], {}).get(name)
    if file is None:
        return failure
    detail = f"{name}: it is answered in {file!r}"
    return failure._replace(reason=ANSWERED, detail=detail)


def _read_files(layout: Layout) -> Iterator[tuple[str, Row]]:
    """Yield the rows of all files, each with the name of its file."""
    labels = {path: layout.label(path) for path in layout.tables}
    finished = find_finished(labels)
    samples: set[str] = set()
    for path, label in labels.items():
        for row in read_rows(path, finished):
            sample = row.fields.get("uuid")
            if isinstance(sample, str) and not row.refusal:
                if sample in samples:
                    continue  # the retry of a log copies its finished samples
                samples.add(sample)
            yield label, row
    for model, path in layout.answers:
        text = read_text(path)
        about = {"model": model, "name": name_puzzle(path), "is_release": True}
        message = {"message": {"content": text}}
        refusal = None if isinstance(text, str) else text
        yield layout.label(path), Row(1, about | message, refusal)
    for path, refusal in layout.lost:
        yield layout.label(path), Row(0, {}, refusal)
