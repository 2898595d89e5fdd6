"""Import a source of answers: one table per model, the puzzles, the rejected rows.

How a response gets from its file to its score:

- `import_source` finds the files of a source; `read_source` takes their records one by one
- `read_records` goes through the files; `tables.read_table` yields the records of a table
- `responses.read_response` turns a record into a response, or says why it is not one
- `write_responses` writes it to the table of its model
- `scoring.scores.score_group` reads that table, and calls `score_row` for each response
- `scoring.outcome.find_outcome` returns its bucket and the evidence, from its `find_windows`
"""

from collections import defaultdict
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pyarrow as pa
from pyarrow.parquet import ParquetWriter
from tqdm import tqdm

from cogniload_repro.importing.layout import (
    Layout,
    describe_unread,
    find_files,
    name_puzzle,
)
from cogniload_repro.importing.rejections import Rejected, RowError
from cogniload_repro.importing.report import Report
from cogniload_repro.importing.responses import (
    Response,
    clean_text,
    find_unread,
    read_response,
    take_columns,
)
from cogniload_repro.importing.source_puzzles import SourcePuzzles
from cogniload_repro.importing.sources import fetch_source
from cogniload_repro.importing.tables import Record, read_table, read_whole_table
from cogniload_repro.puzzles.rows import KnownPuzzles
from cogniload_repro.storage import (
    OUTPUTS,
    partition_path,
    table_writer,
)

#: The file of each answer, by model and puzzle.
Answers = dict[tuple[str, str], str]

#: Responses of a model in memory, and in a row group of its table.
_GROUP = 200


class Bar(tqdm):
    """A progress bar on a terminal, without the library's thread that looks after bars."""

    monitor_interval = 0


def import_source(
    source: str | Path, folder: Path, cache: Path, **options: Any
) -> Report:
    """Write the responses of a source to a folder: outputs/<model>.parquet, puzzles, rejected rows.

    The folder is new or has earlier sources: their puzzles are known, their models must not occur
    again. After a ValueError only its rejected rows are valid. Downloaded and unpacked files are
    kept in the cache. The options are those of `read_source`.
    """
    layout = find_files(*fetch_source(source, cache))
    metadata = {"source": layout.name}
    path = folder / "puzzles.parquet"
    known = KnownPuzzles(path)
    report = Report()
    responses = read_source(layout, known, report, **options)
    try:
        write_responses(responses, folder / "outputs", metadata)
    finally:
        report.write_rejected(folder / "rejected.csv")
    if known.added:
        known.write(path, metadata)
    return report


def write_responses(
    responses: Iterator[Response], folder: Path, metadata: Mapping[str, str]
) -> None:
    """Write one file per model, in groups of rows; ValueError if a model has a file already."""
    folder.mkdir(parents=True, exist_ok=True)
    groups: dict[str, list[dict]] = defaultdict(list)
    writers: dict[str, ParquetWriter] = {}
    with ExitStack() as files:
        for response in responses:
            model = response.model
            if model not in writers:
                path = partition_path(folder, model)
                if path.exists():
                    remedy = "rename it in one of them"
                    raise ValueError(f"{model} is in two sources; {remedy}")
                writer = table_writer(path, OUTPUTS, metadata)
                writers[model] = files.enter_context(writer)
            groups[model].append(response._asdict())
            if len(groups[model]) == _GROUP:
                group = pa.Table.from_pylist(groups.pop(model), OUTPUTS)
                writers[model].write_table(group)
        for model, rows in groups.items():
            writers[model].write_table(pa.Table.from_pylist(rows, OUTPUTS))


def read_source(
    layout: Layout,
    known: KnownPuzzles,
    report: Report,
    *,
    model: str | None = None,
    edition: str | None = None,
    known_only: bool = False,
) -> Iterator[Response]:
    """Yield the responses of a source, one by one, in the order of paths and rows.

    Rejected rows and the number of responses go to the report. The source's own puzzles, and those
    drawn from their names, are added to the known ones; `known_only` omits answers to others.
    `model` replaces the model names of the source; `edition` draws puzzles known by name
    alone, by default the one that fits.
    """
    puzzles = SourcePuzzles(layout, known, edition, read_names(layout))
    answers: Answers = {}
    for path, number, record in Bar(read_records(layout), "import", disable=None):
        file = clean_text(path.relative_to(layout.root).as_posix())
        try:
            response = read_response(record, model)
            if known_only and response.name not in known:
                continue
            puzzles.find(response.name)
            key = (response.model, response.name)
            if key in answers:
                detail = f"{' has answered '.join(key)} already, in {answers[key]!r}"
                raise RowError("duplicate", detail, response.name, response.model)
        except RowError as error:
            reason, detail, *place = error.args
            detail = clean_text(detail)[:1000]
            report.rejected.append(Rejected(file, number, reason, detail, *place))
            continue
        answers[key] = file
        report.count(response)
        report.unread |= find_unread(record)
        yield response
    report.rejected = [_settle(row, answers) for row in report.rejected]
    report.origin = puzzles.origin


def _settle(row: Rejected, answers: Answers) -> Rejected:
    """Return a rejected row; of a failed request, say if its puzzle is answered by another row.

    A line of a failed batch may name no model; the source's only model is then assumed.
    """
    models = {row.model} if row.model else {model for model, _ in answers}
    files = [answers.get((model, str(row.name))) for model in models]
    if row.reason != "failed request" or len(files) != 1 or files == [None]:
        return row
    detail = f"{row.name}: it is answered in {files[0]!r}"
    return row._replace(reason="answered elsewhere", detail=detail)


def read_records(layout: Layout) -> Iterator[tuple[Path, int, dict | RowError]]:
    """Yield the records of a source, each with its file and number; then files not read."""
    tokens = {}
    for path in layout.files["tokens"]:
        for row in read_whole_table(path):
            tokens[row.get("model"), row.get("name")] = row
    for path in layout.files["table"]:
        for number, record in _name_samples(path):
            yield path, number, record
    for path in layout.files["answer"]:
        key = (path.parent.name, name_puzzle(path))
        yield path, 1, tokens.get(key, {}) | _read_answer(path)
    for path in layout.files["not read"]:
        yield path, 0, RowError("not read", describe_unread(path))


def _name_samples(path: Path) -> Iterator[Record]:
    """Yield the records of a table; samples of lm-evaluation-harness have their folder's model.

    Of several filters of the same response the first is read.
    """
    first = None
    for number, record in read_table(path):
        if isinstance(record, dict) and "resps" in record:
            first = first or record.get("filter")
            is_first = record.get("filter") == first
            record = {"model": path.parent.name} | record
            if not is_first:
                record = RowError("not read", "the response under another filter")
        yield number, record


def _read_answer(path: Path) -> dict:
    """Return an answer of the authors' release as a row; an empty file is an empty answer."""
    text = path.read_text("utf-8-sig", errors="replace")
    row = {"model": path.parent.name, "name": name_puzzle(path), "response": text}
    return row if text.strip() else row | {"finish_reason": "stop"}


def read_names(layout: Layout) -> Iterator[str]:
    """Yield the names of the puzzles that a source answers, as they stand in its rows."""
    for _, _, record in read_records(layout):
        with suppress(RowError):
            yield str(take_columns(record).get("name")).rpartition("/")[2]
