"""Read files of outputs as rows with the same columns, whatever program wrote them.

A file is a log of Inspect or a table: JSON lines, CSV or Parquet. A record of a table is a line of
a batch's results, a sample of lm-evaluation-harness, or a row with a model, a puzzle's name and a
response. Each becomes a `Row` for `responses.read_response`: its fields are the columns, with the
texts in ``message`` and the program's word for why the model stopped in ``stopped``.
"""

import csv
from collections.abc import Iterator, Mapping
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from cogniload_repro.outputs.batches import is_batch_line, read_batch_line
from cogniload_repro.outputs.harness import SampleReader, is_sample
from cogniload_repro.outputs.inspect_logs import is_log, read_log
from cogniload_repro.outputs.records import (
    DAMAGE,
    MALFORMED,
    MISSING_FIELD,
    MISSING_WORDS,
    NOT_UTF8,
    ROW_BYTES,
    UNREADABLE,
    WRONG_TYPE,
    Row,
    check_size,
    read_json,
    read_lines,
)
from cogniload_repro.outputs.responses import REASONING, SETTINGS, is_unknown_place
from cogniload_repro.puzzles.catalog import parse_name
from cogniload_repro.schemas import OUTPUTS, PUZZLES
from cogniload_repro.storage import open_parquet

#: Columns under which a table may say why a model stopped; the first that is not empty counts.
STOP_COLUMNS = ("stopped", "finish_reason", "stop_reason")

# columns whose loss would change a result (perturbation: how the prompt was changed)
_NEEDED = {*OUTPUTS.names, *STOP_COLUMNS, *REASONING, "perturbation"}
# columns in which words for a missing value are text: a model may be called nan, or answer it
_WORDS_STAY = ("model", "name", "response")
# faults of CSV: an unclosed quotation mark makes all later lines, or other rows, one field
_UNCLOSED = "not CSV: unexpected end of data"
_SWALLOWED = "a quotation mark is not closed: a field contains other rows"
_ROWS_PER_READ = 16


def read_rows(path: Path, finished: Mapping[str, str] = {}) -> Iterator[Row]:
    """Yield the rows of a file; one that is not a response has a refusal.

    For `finished` see `inspect_logs.read_log`.
    """
    rows = read_log(path, finished) if is_log(path) else _read_table_rows(path)
    return end_at_damage(rows)


def end_at_damage(rows: Iterator[Row]) -> Iterator[Row]:
    """Yield rows; if the file is damaged, the last one says so."""
    try:
        yield from rows
    except MemoryError:
        yield Row(0, {}, (UNREADABLE, "it needs more memory than is available"))
    except DAMAGE as error:
        yield Row(0, {}, (UNREADABLE, str(error) or type(error).__name__))


def _read_table_rows(path: Path) -> Iterator[Row]:
    """Yield the rows of a table's records: batch lines, samples of the harness, plain rows."""
    samples = SampleReader(path)
    for record in read_table(path):
        try:
            if record.refusal:
                yield record
            elif is_batch_line(record.fields):
                yield from read_batch_line(record)
            elif is_sample(record.fields):
                yield from samples.read(record)
            else:
                yield _read_row(record)
        except RecursionError:
            yield Row(record.number, {}, (MALFORMED, "it is nested too deeply"))


def _read_row(record: Row) -> Row:
    """Return a row of a table, with its text columns as the keys of a chat message."""
    columns = record.fields
    names = [name for name in columns if name in _NEEDED or name in SETTINGS]
    fields = {name: columns[name] for name in names}
    response = fields.get("response")
    if not isinstance(response, str | None):
        fault = f"response is {type(response).__name__}, not text"
        return Row(record.number, fields, (WRONG_TYPE, fault))
    message = {name: fields[name] for name in REASONING if name in fields}
    if "response" in fields:
        message["content"] = response
    for name in [name for name in columns if name not in fields]:
        column = name.strip().lower()
        if column in _NEEDED and column not in columns:
            fault = f"{column}: the column is called {name!r}; rename it"
            return Row(record.number, fields, (MISSING_FIELD, fault))
        if name not in PUZZLES.names and is_unknown_place(name):
            message[f"column {name}"] = columns[name]
    stops = [fields[name] for name in STOP_COLUMNS if fields.get(name)]
    fields |= {"message": message, "stopped": stops[0] if stops else None}
    refusal = None if message else (MISSING_FIELD, "response")
    return Row(record.number, fields, refusal)


class _Record(NamedTuple):
    """A CSV record, its first and last line number, and why its fields cannot be used, or ""."""

    fields: list[str]
    start: int
    end: int
    fault: str = ""


def read_table(path: Path) -> Iterator[Row]:
    """Yield the rows of a table; missing values are None, whatever word is written for them."""
    readers = {
        "jsonl": _read_json_lines,
        "csv": _read_csv_rows,
        "parquet": _read_parquet_rows,
    }
    ending = path.name.removesuffix(".gz").rpartition(".")[2]
    for record in readers[ending](path):
        for name, value in record.fields.items():
            is_word = isinstance(value, str) and value in MISSING_WORDS
            is_nan = value != value
            if is_nan or (is_word and name not in _WORDS_STAY):
                record.fields[name] = None
        yield record


def _read_csv_rows(path: Path) -> Iterator[Row]:
    # the limit applies to the whole process, so it is only ever raised
    csv.field_size_limit(max(ROW_BYTES, csv.field_size_limit()))
    texts = _decode_lines(path)
    head = next(texts, "")
    _check_head(head)
    lines = csv.reader(chain([head], texts), strict=True)
    header = next(lines, [])
    _refuse_repeated(header)
    number = 0
    for record in _split_records(lines):
        count = record.end - record.start + 1
        where = f"lines {record.start} to {record.end}: " if count > 1 else ""
        fault = record.fault
        if fault == _UNCLOSED:
            loss = f"{where}an unclosed quotation mark makes {count:,} lines unreadable"
            yield Row(0, {}, (UNREADABLE, loss))
        elif fault:
            for _ in range(count):  # each line may have been a row
                number += 1
                yield Row(number, {}, (MALFORMED, where + fault))
        elif len(record.fields) != len(header):
            number += 1
            fault = f"{len(record.fields)} fields, but the header has {len(header)}"
            yield Row(number, {}, (MALFORMED, where + fault))
        else:
            number += 1
            yield Row(number, dict(zip(header, record.fields, strict=True)))


def _decode_lines(path: Path) -> Iterator[str]:
    for number, line in enumerate(read_lines(path), start=1):
        if isinstance(line, tuple):
            raise ValueError(f"line {number} is {line[1]}")
        yield line.decode("utf-8-sig" if number == 1 else "utf-8", "surrogateescape")


def _check_head(head: str) -> None:
    """Raise ValueError unless the first line has comma-separated column names."""
    names = [name.strip(' "\r\n').lower() for name in head.split(",")]
    if head and "name" not in names:
        raise ValueError(
            f"its first line is {head.strip()[:80]!r}; it must be a header with column names"
            " separated by commas, such as model,name,response"
        )


def _refuse_repeated(names: list[str]) -> None:
    """Raise ValueError if a column occurs twice, since it is unclear which one counts."""
    repeated = [name for name in names if name and names.count(name) > 1]
    if repeated:
        raise ValueError(f"it has the column {repeated[0]} twice; remove one")


def _split_records(lines: Any) -> Iterator[_Record]:
    """Yield the records of a CSV reader, without blank lines."""
    while True:
        start = lines.line_num + 1
        try:
            fields = next(lines)
            fault = _SWALLOWED if any(map(_holds_rows, fields)) else ""
            if fields:
                yield _Record(fields, start, lines.line_num, fault)
        except StopIteration:
            return
        except csv.Error as error:
            cause = str(error).partition(" - ")[0]  # drop advice to programmers
            yield _Record([], start, lines.line_num, f"not CSV: {cause}")


def _holds_rows(field: str) -> bool:
    """Return whether a field has several lines, and a puzzle's name next to a comma in one."""
    lines = field.splitlines()
    for line in lines if len(lines) > 1 else ():
        words = line.split(",")
        if len(words) > 1 and any(parse_name(word.strip(' "')) for word in words):
            return True
    return False


def _read_parquet_rows(path: Path) -> Iterator[Row]:
    with open_parquet(path) as file:
        _refuse_repeated(file.schema_arrow.names)
        groups = range(file.metadata.num_row_groups)
        check_size(
            path.name, sum(file.metadata.row_group(n).total_byte_size for n in groups)
        )
        number = 0
        for batch in file.iter_batches(_ROWS_PER_READ):
            for fields in _decode_batch(batch):
                number += 1
                if isinstance(fields, dict):
                    yield Row(number, fields)
                else:
                    yield Row(number, {}, (NOT_UTF8, fields))


def _decode_batch(batch: pa.RecordBatch) -> list[dict | str]:
    """Return the rows of a batch; a row that is not UTF-8 is replaced by the error."""
    try:
        return batch.to_pylist()
    except UnicodeDecodeError as error:
        if batch.num_rows == 1:
            return [f"byte {error.start}: {error.reason}"]
    return [_decode_batch(batch.slice(row, 1))[0] for row in range(batch.num_rows)]


def _read_json_lines(path: Path) -> Iterator[Row]:
    """Yield the records of a file with one JSON object per line; blank lines count as rows."""
    for number, line in enumerate(read_lines(path), start=1):
        if isinstance(line, tuple):
            yield Row(number, {}, line)
        elif line.strip():
            yield read_json(number, line)
