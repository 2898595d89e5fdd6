"""Import a source of answers: one table per model, the puzzles, the rejected rows.

How a response gets from its file to its score:

- `import_source` finds the files of a source; `read_source` takes their records one by one
- `read_records` goes through the files; `tables.read_table` yields the records of a table
- `responses.read_response` turns a record into a response, or says why it is not one
- `write_responses` writes it to the table of its model
- `scoring.scores.score_file` reads that table, and calls `score_row` for each response
- `scoring.outcome.find_outcome` returns its bucket and the evidence, from its `find_windows`
"""

from collections.abc import Iterator, Mapping
from contextlib import ExitStack
from itertools import islice
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
from pyarrow.parquet import ParquetWriter
from tqdm import tqdm

from cogniload_repro.importing.layout import Layout, find_files, name_puzzle
from cogniload_repro.importing.rejections import NOT_READ, RowError
from cogniload_repro.importing.report import Report
from cogniload_repro.importing.responses import (
    Response,
    clean_text,
    load_programs,
    read_response,
)
from cogniload_repro.importing.source_puzzles import SourcePuzzles
from cogniload_repro.importing.sources import fetch_source
from cogniload_repro.importing.tables import read_table, read_whole_table
from cogniload_repro.puzzles.draws import PORT
from cogniload_repro.puzzles.rows import KnownPuzzles
from cogniload_repro.storage import OUTPUTS, partition_path, table_writer

#: Rows of a source, each with its file and number, or why there is none.
Records = Iterator[tuple[Path, int, dict | RowError]]
#: Responses in memory, and most in a row group of a table.
_GROUP = 500


def import_source(
    source: str | Path, folder: Path, cache: Path, **options: Any
) -> Report:
    """Write the responses of a source to a folder: outputs/<model>.parquet and puzzles.parquet.

    The folder is new or has earlier sources, whose puzzles are known. Downloaded and unpacked files
    are kept in the cache. The options are those of `read_source`.
    """
    layout = find_files(*fetch_source(source, cache))
    metadata = {"source": layout.name}
    path = folder / "puzzles.parquet"
    known = KnownPuzzles(path)
    report = Report()
    responses = read_source(layout, known, report, **options)
    write_responses(responses, folder / "outputs", metadata)
    if known.added:
        known.write(path, metadata)
    return report


def write_responses(
    responses: Iterator[Response], folder: Path, metadata: Mapping[str, str]
) -> None:
    """Write one file per model, in groups of rows."""
    writers: dict[str, ParquetWriter] = {}
    with ExitStack() as files:
        while group := [*islice(responses, _GROUP)]:
            rows = [response._asdict() for response in group]
            table = pa.Table.from_pylist(rows, OUTPUTS)
            for model in table["model"].unique().to_pylist():
                if model not in writers:
                    path = partition_path(folder, model)
                    writer = table_writer(path, OUTPUTS, metadata)
                    writers[model] = files.enter_context(writer)
                writers[model].write_table(table.filter(pc.field("model") == model))


def read_source(
    layout: Layout,
    known: KnownPuzzles,
    report: Report,
    *,
    model: str | None = None,
    edition: str = PORT,
    known_only: bool = False,
) -> Iterator[Response]:
    """Yield the responses of a source, one by one, in the order of paths and rows.

    Rejected rows and the number of responses go to the report. The source's own puzzles, and those
    drawn from their names, are added to the known ones; `known_only` omits answers to others.
    `model` replaces the model names of the source; `edition` draws puzzles known by name alone.
    """
    puzzles = SourcePuzzles(layout, known, edition)
    columns = set().union(*load_programs()["table"].values())
    # the file of each answer, by model and puzzle
    answers: dict[tuple[str, str], str] = {}
    for path, number, record in tqdm(read_records(layout), "import", disable=None):
        file = clean_text(path.relative_to(layout.root).as_posix())
        try:
            response = read_response(record, model)
            if known_only and response.name not in known:
                continue
            puzzles.find(response.name)
            key = (response.model, response.name)
            if key in answers:
                # lm-evaluation-harness repeats a response for each of its filters
                is_filter = "resps" in record and answers[key] == file
                reason = "not read" if is_filter else "duplicate"
                detail = f"{' has answered '.join(key)} already, in {answers[key]!r}"
                raise RowError(reason, detail, response.name, response.model)
        except RowError as error:
            report.reject(file, number, error)
            continue
        answers[key] = file
        report.count(response)
        if "name" in record:
            report.unread |= record.keys() - columns
        yield response
    report.settle(answers)


def read_records(layout: Layout) -> Records:
    """Yield the records of a source, each with its file and number; then files not read."""
    for path in layout.files["table"]:
        for number, record in read_table(path):
            if isinstance(record, dict) and "resps" in record:
                # samples of lm-evaluation-harness lie in a folder of the model
                record = {"model": path.parent.name} | record
            yield path, number, record
    yield from _read_release(layout)
    for path in layout.files["not read"]:
        yield path, 0, RowError("not read", NOT_READ)


def _read_release(layout: Layout) -> Records:
    """Yield the answers of the authors' release as rows; an empty file is an empty answer.

    Rows of tokens that belong to no answer follow.
    """
    tokens = {}
    for path in layout.files["tokens"]:
        for number, row in enumerate(read_whole_table(path), start=1):
            answer = f"{row.get('model')} to {row.get('name')}"
            if answer in tokens:
                yield path, number, RowError("duplicate", f"tokens of {answer}")
            tokens[answer] = path, number, row
    for path in layout.files["answer"]:
        model = path.parent.name
        name = name_puzzle(path)
        *_, counts = tokens.pop(f"{model} to {name}", [{}])
        row = {"model": model, "name": name} | counts
        row["response"] = path.read_text("utf-8-sig", errors="replace")
        if not row["response"].strip():
            row["finish_reason"] = row.get("finish_reason") or "stop"
        yield path, 1, row
    for answer, (path, number, _) in tokens.items():
        yield path, number, RowError("not read", f"there is no answer of {answer}")
