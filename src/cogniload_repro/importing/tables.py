"""Read tables record by record: JSON lines, CSV and Parquet."""

import csv
import gzip
import json
import re
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from cogniload_repro.importing.rejections import RowError

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
#: Most characters of a line; longer ones are no answers.
MAX_LINE = 2**25
#: Spreadsheets cut a cell at this many UTF-16 code units.
CELL_CHARS = 32_767

#: A record's number from 1, and its fields, or why it has none; number 0 is the whole file.
Record = tuple[int, dict | RowError]

_READ_ERRORS = (OSError, EOFError, ValueError, zlib.error, csv.Error, pa.ArrowException)
# a puzzle's name on a later line of a field: a quotation mark was not closed
_OTHER_ROW = re.compile(r"\n[^\n]*\b\d+_\d+_\d+_\d+_\w")
# bytes that are not UTF-8, as they are decoded
_NO_TEXT = re.compile("[\udc80-\udcff]")

csv.field_size_limit(MAX_LINE)


def read_table(path: Path) -> Iterator[Record]:
    """Yield the records of a table; if it cannot be read to its end, the last one says so."""
    ending = path.name.lower().removesuffix(".gz").rpartition(".")[2]
    readers = {"csv": _read_csv_rows, "parquet": _read_parquet_rows}
    read = readers.get(ending, _read_json_lines)
    try:
        yield from read(path)
    except _READ_ERRORS as error:
        yield 0, RowError("unreadable file", str(error) or type(error).__name__)


def read_whole_table(path: Path) -> Iterator[dict]:
    """Yield the records of a table that must be whole; ValueError names the first bad row."""
    for number, record in read_table(path):
        if isinstance(record, RowError):
            raise ValueError(f"{path.name}, row {number}: {record.args[1]}")
        yield record


def read_lines(path: Path) -> Iterator[str]:
    """Yield the lines of a text file as they end in LF, decompressed if it ends in ``.gz``.

    Bytes that are not UTF-8 become single surrogates. ValueError for a file without an end.
    """
    opener: Any = gzip.open if path.name.lower().endswith(".gz") else open
    form = {"encoding": "utf-8-sig", "errors": "surrogateescape", "newline": "\n"}
    with opener(path, "rt", **form) as file:
        while line := file.readline(MAX_LINE):
            if len(line) == MAX_LINE:
                raise ValueError(f"it has a line of more than {MAX_LINE:,} characters")
            yield line


def _read_json_lines(path: Path) -> Iterator[Record]:
    """Yield one JSON object per line; blank lines are left out."""
    for number, line in enumerate(read_lines(path), start=1):
        if line.strip():
            yield number, _parse_line(line)


def _parse_line(line: str) -> dict | RowError:
    """Return the object of a line; ValueError if the line has several, separated by CR."""
    if _NO_TEXT.search(line):
        return RowError("malformed row", "not UTF-8")
    try:
        # a whole number of any length is a float
        record = json.loads(line, parse_int=float)
    except (ValueError, RecursionError) as error:
        if "\r" in line.strip():
            raise ValueError("its lines end in CR; save it with LF") from None
        return RowError("malformed row", f"not JSON: {error}")
    if not isinstance(record, dict):
        return RowError("malformed row", "not a JSON object; write one object per line")
    return record


def _read_csv_rows(path: Path) -> Iterator[Record]:
    rows = csv.reader(read_lines(path), strict=True)
    header = next(rows, [])
    _check_header(header)
    try:
        for number, fields in enumerate(rows, start=1):
            if fields:
                fault = _find_fault(fields, len(header))
                yield number, fault or dict(zip(header, fields, strict=True))
    except csv.Error as error:
        raise ValueError(
            f"line {rows.line_num}: {error}; put texts in quotation marks, with each quotation mark"
            " within them doubled, and end rows in LF or CRLF"
        ) from None


def _check_header(header: list[str]) -> None:
    """Raise ValueError if no column names the puzzles, or two have one name."""
    if header and not {"name", "custom_id", "key"}.intersection(header):
        raise ValueError(
            f"its columns are {header!s:.80}, and none is name, custom_id or key; columns of a CSV"
            " are separated by commas"
        )
    if len(set(header)) < len(header):
        raise ValueError("it has two columns of the same name")


def _find_fault(fields: list[str], size: int) -> RowError | None:
    """Return why a CSV row cannot be used, None if it can."""
    if len(fields) != size:
        detail = f"{len(fields)} fields, but the header has {size}"
        return RowError("malformed row", detail)
    for field in fields:
        if _NO_TEXT.search(field):
            return RowError("malformed row", "not UTF-8")
        if _OTHER_ROW.search(field):
            detail = "an open quotation mark: a field has other rows"
            return RowError("malformed row", detail)
        if len(field.encode("utf-16-le", "replace")) == 2 * CELL_CHARS:
            detail = f"cut at {CELL_CHARS:,} characters, as spreadsheets do"
            return RowError("damaged cell", detail)
    return None


def _read_parquet_rows(path: Path) -> Iterator[Record]:
    number = 0
    with pq.ParquetFile(path) as file:
        _check_header(file.schema_arrow.names)
        for batch in file.iter_batches(batch_size=100):
            for record in batch.to_pylist():
                number += 1
                yield number, record
