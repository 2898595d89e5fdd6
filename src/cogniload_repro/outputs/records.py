"""Files that anybody may have written, record by record: JSON lines, CSV and Parquet."""

import csv
import gzip
import io
import json
import os
import re
import tarfile
import zipfile
import zlib
from collections.abc import Iterator
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple, cast

import pyarrow as pa

from cogniload_repro.puzzles.catalog import parse_name
from cogniload_repro.storage import open_parquet

#: Reasons why a record, or with row 0 a whole file, is refused.
WRONG_TYPE = "wrong type"
NOT_UTF8 = "not UTF-8"
MALFORMED = "malformed row"
UNREADABLE = "unreadable file"
MISSING_FIELD = "missing field"

_MISSING = "NaN nan NAN -NaN -nan NaT NA N/A n/a #N/A #NA <NA> NULL null None"
#: What programs write for a value that is missing.
MISSING_WORDS = frozenset(_MISSING.split())

#: Errors of a file that is damaged, or of no kind that is read.
DAMAGE = (
    OSError,
    EOFError,
    ValueError,
    RuntimeError,
    OverflowError,
    csv.Error,
    tarfile.TarError,
    zipfile.BadZipFile,
    zlib.error,
    pa.ArrowException,
)

#: Why a record is refused: a reason of a short list, and what exactly is wrong.
Refusal = tuple[str, str]

#: Environment variable with the gigabytes that a compressed source may unpack to, and its default.
LIMIT_VARIABLE = "COGNILOAD_MAX_UNPACKED_GB"
LIMIT_GB = 50.0
#: Longest row, text or sample in bytes; as JSON it may take 30 times as much memory.
ROW_BYTES = 1 << 24
NO_OBJECT: Refusal = (WRONG_TYPE, "it is no JSON object")
_TOO_LONG: Refusal = (MALFORMED, f"longer than {ROW_BYTES:,} bytes")

# how files of other kinds begin
_SIGNATURES = {
    b"\x1f\x8b": "it is compressed by gzip; add .gz to its name",
    b"PK\x03\x04": "it is a zip archive or a workbook of a spreadsheet; save it as CSV or JSONL",
    b"PAR1": "it is Parquet; let its name end in .parquet",
    b"\xff\xfe": "it is UTF-16 or UTF-32; save it as UTF-8",
    b"\xfe\xff": "it is UTF-16 or UTF-32; save it as UTF-8",
    b"\x28\xb5\x2f\xfd": "it is compressed by Zstandard; decompress it",
    b"\xfd7zXZ": "it is compressed by xz; decompress it",
    b"BZh": "it is compressed by bzip2; decompress it",
}
# columns in which a word for a missing value is a text: a model may be called nan, or say so
_WORDS_STAY = ("model", "name", "response")
# the fault of a file that ends within quotes
_UNCLOSED = "not CSV: unexpected end of data"
_ROWS_PER_READ = 16
_SPREAD_JSON = re.compile(rb"\s*(\[\s*[\[{\n]|\{\s*\n)")
_OLD_MAC = re.compile(rb"[^\n]*\r[^\n]")


class Entry(NamedTuple):
    """A record of a file: its row (from 1, 0 for the whole file), its fields, why it is refused."""

    row: int
    fields: dict
    refusal: Refusal | None = None


class _Record(NamedTuple):
    """A record of CSV and its lines; a fault is why it cannot be split into fields."""

    fields: list[str]
    start: int
    end: int
    fault: str = ""


def read_table(path: Path) -> Iterator[Entry]:
    """Yield the rows of a table; what is missing is None, whatever a program wrote for it."""
    readers = {
        "jsonl": _read_json_lines,
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
                if isinstance(fields, dict):
                    yield Entry(row, fields)
                else:
                    yield Entry(row, {}, (NOT_UTF8, fields))


def _decode_batch(batch: pa.RecordBatch) -> list[dict | str]:
    """Return the rows of a batch; in place of one that is not UTF-8 its fault."""
    try:
        return batch.to_pylist()
    except UnicodeDecodeError as error:
        if batch.num_rows == 1:
            return [f"byte {error.start}: {error.reason}"]
    return [_decode_batch(batch.slice(row, 1))[0] for row in range(batch.num_rows)]


def read_text(path: Path) -> str | Refusal:
    """Return the text of a file, with Unix line ends and without a byte order mark."""
    try:
        with path.open("rb") as file:
            content = file.read(ROW_BYTES + 1)
    except OSError as error:
        return UNREADABLE, str(error)
    if len(content) > ROW_BYTES:
        return _TOO_LONG
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        return NOT_UTF8, explain_bytes(content) or f"byte {error.start}: {error.reason}"
    return text.replace("\r\n", "\n").replace("\r", "\n")


def _read_json_lines(path: Path) -> Iterator[Entry]:
    """Yield the records of a file with one JSON object per line; blank lines count as rows."""
    for row, line in enumerate(read_lines(path), start=1):
        if isinstance(line, tuple):
            yield Entry(row, {}, line)
        elif line.strip():
            yield read_json(row, line)


def read_lines(path: Path) -> Iterator[bytes | Refusal]:
    """Yield the lines of a file, compressed or not; ValueError if it is of another kind.

    A line that is too long is refused, and passed over in bounded memory.
    """
    with open_stream(path) as file:
        if kind := explain_bytes(file.peek(1)):
            raise ValueError(kind)
        number = 0
        while line := file.readline(ROW_BYTES):
            if path.suffix == ".gz" and number % 1024 == 0:
                check_size(path.name, file.tell())
            number += 1
            if len(line) < ROW_BYTES or line.endswith(b"\n"):
                yield line
                continue
            while line and not line.endswith(b"\n"):
                line = file.readline(1 << 20)
            yield _TOO_LONG


def explain_bytes(head: bytes) -> str | None:
    """Return why the first bytes of a file are no lines of UTF-8, None if they may be."""
    for start, explanation in _SIGNATURES.items():
        if head.startswith(start):
            return explanation
    if b"\0" in head[:4]:
        return "it is UTF-16 or UTF-32; save it as UTF-8"
    if _OLD_MAC.match(head):
        return "its lines end as on an old Mac (CR); save it with line ends of Unix or Windows"
    if _SPREAD_JSON.match(head):
        return "it is an array, or an object over several lines; write one JSON object per line"
    return None


def read_json(row: int, content: bytes) -> Entry:
    """Return the record that JSON holds, or the entry of JSON that holds none."""
    try:
        text = content.decode("utf-8-sig")
        value = json.loads(
            text, object_pairs_hook=_build_object, parse_constant=_parse_constant
        )
    except UnicodeDecodeError as error:
        return Entry(row, {}, (NOT_UTF8, f"byte {error.start}: {error.reason}"))
    except (ValueError, RecursionError) as error:
        return Entry(row, {}, (MALFORMED, f"not JSON: {error}"))
    return Entry(row, value) if isinstance(value, dict) else Entry(row, {}, NO_OBJECT)


def _build_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {repeated[:100]!r} comes twice")
    return fields


def _parse_constant(word: str) -> float | None:
    return None if word == "NaN" else float(word)


def check_size(name: str, size: float) -> None:
    """Raise ValueError if a source takes more bytes, unpacked, than the environment allows."""
    word = os.environ.get(LIMIT_VARIABLE) or str(LIMIT_GB)
    try:
        limit = float(word)
    except ValueError:
        limit = 0
    if not 0 < limit < float("inf"):
        raise ValueError(
            f"{LIMIT_VARIABLE} is {word!r}, not a positive number of gigabytes"
        )
    if size > limit * 1e9:
        raise ValueError(
            f"{name} has more than {word} GB; if that is right, set {LIMIT_VARIABLE} to more"
        )


def open_stream(path: Path) -> io.BufferedReader:
    """Open a file for reading, decompressed where it ends in ``.gz`` or ``.tgz``."""
    if path.suffix in (".gz", ".tgz"):
        return cast(io.BufferedReader, gzip.open(path))
    return path.open("rb")


def at(value: object, *keys: str) -> Any:
    """Return what stands below these keys of nested objects, None if one of them is not there."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def first(fields: object, *keys: str) -> Any:
    """Return the value of the first of these keys that has one."""
    values = [at(fields, key) for key in keys]
    return next((value for value in values if value is not None), None)


def listed(value: object) -> list:
    """Return a list as it is, and an empty one for everything else."""
    return value if isinstance(value, list) else []
