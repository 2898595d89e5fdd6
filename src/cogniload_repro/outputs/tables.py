"""Tables that anybody may have written, row by row: JSON lines, CSV and Parquet."""

import csv
import re
from collections.abc import Callable, Iterator
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
_DELIMITERS = {";": "semicolons", "\t": "tabs", "|": "vertical bars", " ": "blanks"}
# the sign behind one of these names
_DELIMITER = re.compile(r'\b(?:model|name)\b"?(?: +(?=\W))?(.)', re.IGNORECASE)
# the fault of a file that ends within quotes
_UNCLOSED = "not CSV: unexpected end of data"
_ROWS_PER_READ = 16


class _Record(NamedTuple):
    """A record of CSV and its lines; a fault is why it cannot be split into fields."""

    fields: list[str]
    start: int
    end: int
    fault: str = ""


def read_table(path: Path, is_wanted: Callable[[str], bool]) -> Iterator[Entry]:
    """Yield the rows of a table, of CSV and Parquet the columns whose names are wanted.

    What is missing is None, whatever a program has written for it.
    """
    ending = path.name.removesuffix(".gz").rpartition(".")[2]
    if ending == "jsonl":
        entries = read_json_lines(path)
    else:
        entries = (_read_csv_rows if ending == "csv" else _read_parquet_rows)(
            path, is_wanted
        )
    for entry in entries:
        fields = {name: _fill(name, value) for name, value in entry.fields.items()}
        yield entry._replace(fields=fields)


def _read_csv_rows(path: Path, is_wanted: Callable[[str], bool]) -> Iterator[Entry]:
    csv.field_size_limit(
        max(ROW_BYTES, csv.field_size_limit())
    )  # of the process: never lowered
    texts = _decode_lines(path)
    head = next(texts, "")
    _check_head(head)
    lines = csv.reader(chain([head], texts), strict=True)
    header = next(lines, [])
    _refuse_repeated(header, is_wanted)
    row = 0
    for record in _split_records(lines):
        count = record.end - record.start + 1
        where = f"lines {record.start} to {record.end}: " if count > 1 else ""
        if record.fault == _UNCLOSED:
            fault = f"{where}a quote is not closed, which loses {count:,} lines"
            yield Entry(0, {}, (UNREADABLE, fault))
        elif fault := record.fault or _find_rows(record.fields):
            for _ in range(count):  # each line may have been a row
                row += 1
                yield Entry(row, {}, (MALFORMED, where + fault))
        elif len(record.fields) != len(header):
            row += 1
            fault = f"{len(record.fields)} fields, where the header has {len(header)}"
            yield Entry(row, {}, (MALFORMED, where + fault))
        else:
            row += 1
            cells = zip(header, record.fields, strict=True)
            yield Entry(row, {name: cell for name, cell in cells if is_wanted(name)})


def _decode_lines(path: Path) -> Iterator[str]:
    for number, line in enumerate(read_lines(path), start=1):
        if isinstance(line, tuple):
            raise ValueError(f"line {number} is {line[1]}")
        yield line.decode("utf-8-sig" if number == 1 else "utf-8", "surrogateescape")


def _check_head(head: str) -> None:
    """Raise ValueError if the first line is no header of a table with commas."""
    names = [name.strip(' "\r\n') for name in head.split(",")]
    if not head or not {"model", "name"}.isdisjoint(map(str.lower, names)):
        return
    delimiter = _DELIMITER.search(head)
    if head.strip('"').lower().startswith("sep="):
        fault = "its first line (sep=) is meant for Excel alone; delete it"
    elif head.startswith("{"):
        fault = "it has one JSON object per line; let its name end in .jsonl"
    elif any(map(parse_name, names)):
        fault = "its first line is a row; write the names of the columns above it"
    elif delimiter:
        word = _DELIMITERS.get(delimiter[1], repr(delimiter[1]))
        fault = f"its columns are separated by {word}; save it with commas"
    else:
        line = head.strip()[:40]
        fault = f"its first line is {line!r}; it should hold the names of columns, name among them"
    raise ValueError(fault)


def _refuse_repeated(names: list[str], is_wanted: Callable[[str], bool]) -> None:
    """Raise ValueError if a column comes twice, since nobody knows which one is meant."""
    wanted = [name for name in names if name and is_wanted(name)]
    repeated = [name for name in wanted if names.count(name) > 1]
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


def _read_parquet_rows(path: Path, is_wanted: Callable[[str], bool]) -> Iterator[Entry]:
    with open_parquet(path) as file:
        names = file.schema_arrow.names
        _refuse_repeated(names, is_wanted)
        groups = range(file.metadata.num_row_groups)
        check_size(
            path.name, sum(file.metadata.row_group(n).total_byte_size for n in groups)
        )
        columns = [name for name in names if is_wanted(name)]
        row = 0
        for batch in file.iter_batches(_ROWS_PER_READ, columns=columns):
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
