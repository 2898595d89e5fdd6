"""Import a source of answers: one table per model, the puzzles, the rejected rows.

How a response gets from its file to its score:

- `import_source` finds the files of a source; `read_source` reads them row by row
- `tables.read_table` yields the records of a file
- `responses.read_response` turns a record into a response, or says why it is not one, from the
  columns that `programs.take_columns` finds in it
- `write_responses` writes it to the table of its model
- `scoring.scores.score_group` reads that table, and calls `score_row` for each response
- `scoring.verdict.find_verdict` returns its bucket and the evidence, from its `find_windows`
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from itertools import chain
from pathlib import Path

import pyarrow as pa
from tqdm import tqdm

from cogniload_repro import __version__
from cogniload_repro.importing.layout import Layout, find_files
from cogniload_repro.importing.programs import find_unread, take_columns
from cogniload_repro.importing.rejections import (
    ANSWERED,
    DUPLICATE,
    FAILED,
    MALFORMED,
    UNKNOWN_PUZZLE,
    Rejected,
    RowError,
)
from cogniload_repro.importing.report import Report
from cogniload_repro.importing.responses import Response, read_response
from cogniload_repro.importing.source_puzzles import SourcePuzzles
from cogniload_repro.importing.sources import fetch_source
from cogniload_repro.puzzles.catalog import Catalog, read_catalog
from cogniload_repro.puzzles.draws import Edition
from cogniload_repro.schemas import OUTPUTS, PUZZLES
from cogniload_repro.storage import part_writer, partition_path, write_table

#: The file of each answer, by model and puzzle.
Answers = dict[tuple[str, str], str]

#: Responses of a model in memory, and in a row group of its table.
_GROUP = 200


def import_source(
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
    kept in the cache. For the other options see `read_source`.
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
    responses = read_source(
        layout, catalog, report, model=model, edition=edition, known_only=known_only
    )
    try:
        write_responses(responses, folder / "outputs", metadata)
    finally:
        report.write_rejected(folder, metadata)
    if len(catalog) > count or not known.exists():
        puzzles = pa.Table.from_pylist([*catalog.values()], PUZZLES)
        write_table(known, puzzles, metadata)
    return report


def write_responses(
    responses: Iterator[Response], folder: Path, metadata: Mapping[str, str]
) -> None:
    """Write one file per model, in row groups of 200; ValueError if a model has a file already."""
    folder.mkdir(parents=True, exist_ok=True)
    waiting: dict[str, list[dict]] = defaultdict(list)
    writers = {}
    with ExitStack() as files:
        for response in responses:
            model = response.model
            if model not in writers:
                path = partition_path(folder, model)
                if path.exists():
                    remedy = "rename it in one of the two"
                    raise ValueError(f"{model} is in two sources; {remedy}")
                writers[model] = files.enter_context(part_writer(path, OUTPUTS, metadata))
            waiting[model].append(response._asdict())
            if len(waiting[model]) == _GROUP:
                rows = waiting.pop(model)
                writers[model].write_table(pa.Table.from_pylist(rows, writers[model].schema))
        for model, rows in waiting.items():
            writers[model].write_table(pa.Table.from_pylist(rows, writers[model].schema))


def read_source(
    layout: Layout,
    catalog: Catalog,
    report: Report,
    *,
    model: str | None = None,
    edition: Edition | None = None,
    known_only: bool = False,
) -> Iterator[Response]:
    """Yield the responses of a source, one by one, in the order of paths and rows.

    Rejected rows and the number of responses go to the report. The source's own puzzles, and those
    drawn from their names, are added to the catalog; `known_only` omits answers to puzzles that it
    does not have. `model` replaces the model names of the source; `edition` draws puzzles known by
    name alone, by default the one that fits. Failed requests are rejected last, since another row
    may answer their puzzle.
    """
    puzzles = SourcePuzzles(layout, catalog, edition, read_names(layout))
    answers: Answers = {}
    failures: list[Rejected] = []
    rows = chain(puzzles.read(), layout.read_records())
    for path, (number, record) in tqdm(rows, "import", unit=" rows", disable=None):
        file = layout.label(path)
        try:
            response = _take_response(record, model)
            if known_only and response.name not in catalog:
                continue
            _check_answer(response, answers, puzzles)
        except RowError as error:
            rejected = Rejected(file, number, *error.args)
            failed = rejected.reason == FAILED
            (failures if failed else report.rejected).append(rejected)
            continue
        answers[response.model, response.name] = file
        report.count(response)
        report.unread.update(find_unread(record))
        yield response
    report.rejected += [_settle(failure, answers) for failure in failures]
    report.origin = puzzles.origin


def _take_response(record: dict | RowError, model: str | None) -> Response:
    if isinstance(record, RowError):
        raise record
    try:
        return read_response(record, model)
    except RecursionError:
        raise RowError(MALFORMED, "it is nested too deeply") from None


def _check_answer(response: Response, answers: Answers, puzzles: SourcePuzzles) -> None:
    """Raise RowError if the puzzle of a response is unknown, or answered already."""
    key = (response.name, response.model)
    try:
        puzzles.find(response.name)
    except ValueError as error:
        raise RowError(UNKNOWN_PUZZLE, f"{response.name}: {error}", *key) from None
    file = answers.get((response.model, response.name))
    if file is not None:
        detail = f"{response.model} has answered {response.name} already, in {file!r}"
        raise RowError(DUPLICATE, detail, *key)


def _settle(failure: Rejected, answers: Answers) -> Rejected:
    """Return a failed request, marked as answered if the source has its model's answer elsewhere.

    A line of a failed batch may name no model; the source's only model is then assumed.
    """
    models = {failure.model} if failure.model else {model for model, _ in answers}
    if len(models) == 1:
        file = answers.get((models.pop(), failure.name))
        if file is not None:
            detail = f"{failure.name}: it is answered in {file!r}"
            return failure._replace(reason=ANSWERED, detail=detail)
    return failure


def read_names(layout: Layout) -> Iterator[str]:
    """Yield the names of the puzzles that a source answers, as they stand in its rows."""
    for _, (_, record) in layout.read_records():
        if isinstance(record, dict):
            with suppress(RowError):
                row = take_columns(record)
                yield str(row.get("name")).rpartition("/")[2]
