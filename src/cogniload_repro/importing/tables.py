"""Read tables record by record: JSON lines, CSV and Parquet."""

import csv
import gzip
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TextIO

import pyarrow as pa
import pyarrow.parquet as pq

from cogniload_repro.importing.rejections import (
    DAMAGED_CELL,
    MALFORMED,
    UNREADABLE,
    RowError,
)

#: Endings of tables, in small or capital letters.
TABLE_ENDINGS = (
    ".jsonl",
    ".ndjson",
    ".jsonl.gz",
    ".ndjson.gz",
    ".csv",
    ".csv.gz",
    ".parquet",
)
#: Spreadsheets cut a cell at this many UTF-16 code units.
CELL_CHARS = 32_767

#: A record's number from 1, and its fields, or why it has none; number 0 is the whole file.
Record = tuple[int, dict | RowError]

_READ_ERRORS = (OSError, EOFError, ValueError, zlib.error, csv.Error, pa.ArrowException)
# a puzzle's name on a later line of a field: a quotation mark was not closed
_OTHER_ROW = re.compile(r"\n[^\n]*\b\d+_\d+_\d+_\d+_\w")

csv.field_size_limit(2**31 - 1)


def read_table(path: Path) -> Iterator[Record]:
    """Yield the records of a table; if it cannot be read to its end, the last one says so."""
    ending = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    readers = {"csv": _read_csv_rows, "parquet": _read_parquet_rows}
    read = readers.get(ending, _read_json_lines)
    try:
        yield from read(path)
    except _READ_ERRORS as error:
        yield 0, RowError(UNREADABLE, str(error) or type(error).__name__)


def read_whole_table(path: Path) -> Iterator[dict]:
    """Yield the records of a table that must be whole; ValueError names the first bad row."""
    for number, record in read_table(path):
        if isinstance(record, RowError):
            raise ValueError(f"{path.name}, row {number}: {record.args[1]}")
        yield record


def _open_text(path: Path) -> TextIO:
    """Open a UTF-8 file, decompressed if it ends in ``.gz``; line ends stay as they are."""
    opener: Any = gzip.open if path.name.lower().endswith(".gz") else open
    return opener(path, "rt", encoding="utf-8-sig", newline="")


def _read_json_lines(path: Path) -> Iterator[Record]:
    """Yield one JSON object per line; blank lines are left out."""
    with _open_text(path) as file:
        for number, line in enumerate(file, start=1):
            if line.strip():
                yield number, _parse_line(line)


def _parse_line(line: str) -> dict | RowError:
    try:
        # a whole number of any length is a float
        record = json.loads(line, parse_int=float)
    except (ValueError, RecursionError) as error:
        return RowError(MALFORMED, f"not JSON: {error}")
    if not isinstance(record, dict):
        return RowError(MALFORMED, "not a JSON object; write one object per line")
    return record


def _read_csv_rows(path: Path) -> Iterator[Record]:
    with _open_text(path) as file:
        lines = csv.reader(file, strict=True)
        header = next(lines, [])
        if header and "name" not in header:
            head = ",".join(header)
            raise ValueError(
                f"its first line is {head:.80}, not as in model,name,response"
            )
        if len(set(header)) < len(header):
            raise ValueError("it has two columns of the same name")
        for number, fields in enumerate(filter(None, lines), start=1):
            fault = _find_fault(fields, len(header))
            yield number, fault or dict(zip(header, fields, strict=True))


def _find_fault(fields: list[str], size: int) -> RowError | None:
    """Return why a CSV row cannot be used, None if it can."""
    if len(fields) != size:
        return RowError(MALFORMED, f"{len(fields)} fields, but the header has {size}")
    for field in fields:
        if _OTHER_ROW.search(field):
            return RowError(MALFORMED, "an open quotation mark: a field has other rows")
        if len(field.encode("utf-16-le", "replace")) == 2 * CELL_CHARS:
            return RowError(
                DAMAGED_CELL, f"cut at {CELL_CHARS:,} characters, as spreadsheets do"
            )
    return None


def _read_parquet_rows(path: Path) -> Iterator[Record]:
    number = 0
    with pq.ParquetFile(path) as file:
        for batch in file.iter_batches(batch_size=100):
            for record in batch.to_pylist():
                number += 1
                yield number, record
