"""Tables that anybody may have written, row by row: JSON lines, CSV and Parquet."""

import csv
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from cogniload_repro.outputs.records import (
    MALFORMED,
    MISSING_WORDS,
    NOT_UTF8,
    ROW_BYTES,
    UNREADABLE,
    Entry,
    check_size,
    read_json_lines,
    read_lines,
)
from cogniload_repro.puzzles.catalog import parse_name
from cogniload_repro.storage import open_parquet

# columns in which a word for a missing value is a text: a model may be called nan, or say so
_WORDS_STAY = ("model", "name", "response")
# the fault of a file that ends within quotes
_UNCLOSED = "not CSV: unexpected end of data"
_ROWS_PER_READ = 16


class _Record(NamedTuple):
    """A record of CSV and its lines; a fault is why it cannot be split into fields."""

    fields: list[str]
    start: int
    end: int
    fault: str = ""


def read_table(path: Path) -> Iterator[Entry]:
    """Yield the rows of a table; what is missing is None, whatever a program wrote for it."""
    readers = {
        "jsonl": read_json_lines,
        "csv": _read_csv_rows,
        "parquet": _read_parquet_rows,
    }
    ending = path.name.removesuffix(".gz").rpartition(".")[2]
    for entry in readers[ending](path):
        fields = {name: _fill(name, value) for name, value in entry.fields.items()}
        yield entry._replace(fields=fields)


def _read_csv_rows(path: Path) -> Iterator[Entry]:
    # a limit of the process, which is never lowered
    csv.field_size_limit(max(ROW_BYTES, csv.field_size_limit()))
    texts = _decode_lines(path)
    head = next(texts, "")
    _check_head(head)
    lines = csv.reader(chain([head], texts), strict=True)
    header = next(lines, [])
    _refuse_repeated(header)
    row = 0
    for record in _split_records(lines):
        count = record.end - record.start + 1
        where = f"lines {record.start} to {record.end}: " if count > 1 else ""
        fault = record.fault or _find_rows(record.fields)
        if record.fault == _UNCLOSED:
            loss = f"{where}a quote is not closed, which loses {count:,} lines"
            yield Entry(0, {}, (UNREADABLE, loss))
        elif fault:
            for _ in range(count):  # each line may have been a row
                row += 1
                yield Entry(row, {}, (MALFORMED, where + fault))
        elif len(record.fields) != len(header):
            row += 1
            fault = f"{len(record.fields)} fields, where the header has {len(header)}"
            yield Entry(row, {}, (MALFORMED, where + fault))
        else:
            row += 1
            yield Entry(row, dict(zip(header, record.fields, strict=True)))


def _decode_lines(path: Path) -> Iterator[str]:
    for number, line in enumerate(read_lines(path), start=1):
        if isinstance(line, tuple):
            raise ValueError(f"line {number} is {line[1]}")
        yield line.decode("utf-8-sig" if number == 1 else "utf-8", "surrogateescape")


def _check_head(head: str) -> None:
    """Raise ValueError if the first line is no header of a table with commas."""
    names = [name.strip(' "\r\n').lower() for name in head.split(",")]
    if head and "name" not in names:
        raise ValueError(
            f"its first line is {head.strip()[:80]!r}; it should hold the names of the columns"
            " with commas between them, such as model,name,response"
        )


def _refuse_repeated(names: list[str]) -> None:
    """Raise ValueError if a column comes twice, since nobody knows which one is meant."""
    repeated = [name for name in names if name and names.count(name) > 1]
    if repeated:
        raise ValueError(f"it has the column {repeated[0]} twice")


def _split_records(lines: Any) -> Iterator[_Record]:
    """Yield the records of a CSV reader, without blank lines."""
    while True:
        start = lines.line_num + 1
        try:
            if fields := next(lines):
                yield _Record(fields, start, lines.line_num)
        except StopIteration:
            return
        except csv.Error as error:
            fault = str(error).partition(" - ")[0]  # without advice to programmers
            yield _Record([], start, lines.line_num, f"not CSV: {fault}")


def _find_rows(fields: list[str]) -> str:
    """Return the fault of fields that hold other rows, which an open quote takes into one field."""
    for field in fields:
        lines = field.splitlines()
        if len(lines) > 1 and any(map(_is_row, lines)):
            return "a quote is not closed in its row: a field holds other rows of this table"
    return ""


def _is_row(line: str) -> bool:
    """Return whether a line has a puzzle's name beside a comma."""
    if "_" not in line or "," not in line:
        return False
    return any(parse_name(word.strip(' "')) for word in line.split(","))


def _fill(name: str, value: object) -> object:
    """Return a value, None if it is missing: NaN, or a word for that."""
    if isinstance(value, str):
        return None if value in MISSING_WORDS and name not in _WORDS_STAY else value
    return value if value == value else None


def _read_parquet_rows(path: Path) -> Iterator[Entry]:
    with open_parquet(path) as file:
        _refuse_repeated(file.schema_arrow.names)
        groups = range(file.metadata.num_row_groups)
        check_size(
            path.name, sum(file.metadata.row_group(n).total_byte_size for n in groups)
        )
        row = 0
        for batch in file.iter_batches(_ROWS_PER_READ):
            for fields in _decode_batch(batch):
                row += 1
                refusal = None if isinstance(fields, dict) else (NOT_UTF8, fields)
                yield Entry(row, fields if isinstance(fields, dict) else {}, refusal)


def _decode_batch(batch: pa.RecordBatch) -> Iterator[dict | str]:
    """Yield the rows of a batch; of a row that is not UTF-8 yield the fault."""
    try:
        rows = batch.to_pylist()
    except UnicodeDecodeError as error:
        if batch.num_rows == 1:
            yield f"byte {error.start}: {error.reason}"
        else:
            for row in range(batch.num_rows):
                yield from _decode_batch(batch.slice(row, 1))
        return
    yield from rows
