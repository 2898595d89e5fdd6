"""Read untrusted files as text, lines and JSON objects, or say why they are refused."""

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
from pathlib import Path
from typing import Any, NamedTuple, cast

import pyarrow as pa

#: Reasons why a row, or with number 0 a whole file, is refused.
WRONG_TYPE = "wrong type"
NOT_UTF8 = "not UTF-8"
MALFORMED = "malformed row"
UNREADABLE = "unreadable file"
MISSING_FIELD = "missing field"

_MISSING = "NaN nan NAN -NaN -nan NaT NA N/A n/a #N/A #NA <NA> NULL null None"
#: Words that programs write for a missing value.
MISSING_WORDS = frozenset(_MISSING.split())

#: Errors raised on reading a file that is damaged or in an unsupported format.
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

#: Why a row is refused: one of a few reasons, and the details.
Refusal = tuple[str, str]

#: Environment variable that limits the unpacked size of a source (GB), and its default.
LIMIT_VARIABLE = "COGNILOAD_MAX_UNPACKED_GB"
LIMIT_GB = 50.0
#: Longest row, text or sample in bytes; parsed from JSON, it may take 30 times as much memory.
ROW_BYTES = 1 << 24
NO_OBJECT: Refusal = (WRONG_TYPE, "it is not a JSON object")
_TOO_LONG: Refusal = (MALFORMED, f"longer than {ROW_BYTES:,} bytes")

# first bytes of files in other formats
_SIGNATURES = {
    b"\x1f\x8b": "it is compressed with gzip; add .gz to its name",
    b"PK\x03\x04": "it is a zip archive or a spreadsheet file; save it as CSV or JSONL",
    b"PAR1": "it is Parquet; rename it to end in .parquet",
    b"\xff\xfe": "it is UTF-16 or UTF-32; save it as UTF-8",
    b"\xfe\xff": "it is UTF-16 or UTF-32; save it as UTF-8",
    b"\x28\xb5\x2f\xfd": "it is compressed with Zstandard; decompress it",
    b"\xfd7zXZ": "it is compressed with xz; decompress it",
    b"BZh": "it is compressed with bzip2; decompress it",
}
_SPREAD_JSON = re.compile(rb"\s*(\[\s*[\[{\n]|\{\s*\n)")
_OLD_MAC = re.compile(rb"[^\n]*\r[^\n]")


class Row(NamedTuple):
    """A row of a file: its number (from 1; 0: the whole file), its fields, and any refusal."""

    number: int
    fields: dict
    refusal: Refusal | None = None


def read_text(path: Path) -> str | Refusal:
    """Return a file's text, with Unix line ends and no byte order mark, or why it is refused."""
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


def read_lines(path: Path) -> Iterator[bytes | Refusal]:
    """Yield the lines of a text file, compressed or not; ValueError if it has another format.

    A line that is too long is refused, and skipped in bounded memory.
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
    """Return why a file that begins with these bytes is not UTF-8 lines; None if it may be."""
    for start, explanation in _SIGNATURES.items():
        if head.startswith(start):
            return explanation
    if b"\0" in head[:4]:
        return "it is UTF-16 or UTF-32; save it as UTF-8"
    if _OLD_MAC.match(head):
        return "its lines end as on an old Mac (CR); save it with Unix or Windows line ends"
    if _SPREAD_JSON.match(head):
        return "it is a JSON array, or an object on several lines; write one JSON object per line"
    return None


def read_json(number: int, content: bytes) -> Row:
    """Return the row of a JSON object; its refusal says why if the content is not one."""
    try:
        text = content.decode("utf-8-sig")
        value = json.loads(
            text, object_pairs_hook=_build_object, parse_constant=_parse_constant
        )
    except UnicodeDecodeError as error:
        return Row(number, {}, (NOT_UTF8, f"byte {error.start}: {error.reason}"))
    except (ValueError, RecursionError) as error:
        return Row(number, {}, (MALFORMED, f"not JSON: {error}"))
    return Row(number, value) if isinstance(value, dict) else Row(number, {}, NO_OBJECT)


def _build_object(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        repeated = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {repeated[:100]!r} occurs twice")
    return fields


def _parse_constant(word: str) -> float | None:
    return None if word == "NaN" else float(word)


def check_size(name: str, size: float) -> None:
    """Raise ValueError if a source's unpacked size in bytes exceeds `LIMIT_VARIABLE`."""
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
            f"{name} has more than {word} GB; if that is intended, increase {LIMIT_VARIABLE}"
        )


def open_stream(path: Path) -> io.BufferedReader:
    """Open a file for reading, decompressed if it ends in ``.gz`` or ``.tgz``."""
    if path.suffix in (".gz", ".tgz"):
        return cast(io.BufferedReader, gzip.open(path))
    return path.open("rb")


def at(value: object, *keys: str) -> Any:
    """Return the value at these keys of nested objects, None if a key is missing."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def first(fields: object, *keys: str) -> Any:
    """Return the value of the first of these keys that is present and not null."""
    values = [at(fields, key) for key in keys]
    return next((value for value in values if value is not None), None)


def listed(value: object) -> list:
    """Return a list unchanged, and an empty list for any other value."""
    return value if isinstance(value, list) else []
