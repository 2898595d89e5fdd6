"""Files of records that anybody may have written, read one by one in bounded memory; none stops the others."""

import gzip
import io
import json
import os
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple, cast

import pyarrow as pa

WRONG_TYPE, NOT_UTF8, MALFORMED, UNREADABLE = (
    "wrong type",
    "not UTF-8",
    "malformed row",
    "unreadable file",
)

#: Why a row was refused: a reason from a short list, and what exactly was found.
Refusal = tuple[str, str]

#: Environment variable with the gigabytes that a compressed source may unpack to, and its default.
LIMIT_VARIABLE, LIMIT_GB = "COGNILOAD_MAX_UNPACKED_GB", 50.0
#: Longest row, text or sample, bytes: more is no response but damage or malice. As JSON it may take 30 times as much.
ROW_BYTES = 1 << 24


class Entry(NamedTuple):
    """One row of a source: its number (from 1; 0 is the file as a whole), and its fields or the refusal."""

    row: int
    fields: dict | None
    refusal: Refusal | None = None

    @classmethod
    def of(cls, row: int, found: object) -> "Entry":
        """Return an entry of what was found: fields, a refusal, or a JSON value that is no record."""
        if isinstance(found, dict):
            return cls(row, found)
        is_refusal = isinstance(found, tuple)
        return cls(row, None, found if is_refusal else (WRONG_TYPE, "it is no JSON object"))  # type: ignore[arg-type]


def read_text(path: Path) -> str | Refusal:
    """Return the text of a file, with universal newlines and without a byte order mark."""
    try:
        with path.open("rb") as file:
            content = file.read(ROW_BYTES + 1)
        if len(content) > ROW_BYTES:
            return MALFORMED, f"longer than {ROW_BYTES:,} bytes"
        return content.decode("utf-8-sig").replace("\r\n", "\n").replace("\r", "\n")
    except UnicodeDecodeError as error:
        return NOT_UTF8, f"byte {error.start}: {error.reason}"
    except OSError as error:
        return UNREADABLE, str(error)


def read_json_lines(path: Path) -> Iterator[Entry]:
    """Yield the records of a file with one JSON object per line; blank lines count, and damage raises an error."""
    for row, line in enumerate(read_lines(path), start=1):
        if not isinstance(line, bytes):
            yield Entry(row, None, line)
        elif line.strip():
            yield Entry.of(row, parse_json(line))


def read_lines(path: Path) -> Iterator[bytes | Refusal]:
    """Yield the lines of a file, gzip'd or not; one that is too long is refused, and passed over in bounded memory."""
    with open_stream(path) as file:
        for number, line in enumerate(iter(partial(file.readline, ROW_BYTES), b"")):
            if path.suffix == ".gz" and number % 1024 == 0:
                check_size(path.name, file.tell())
            if len(line) < ROW_BYTES or line.endswith(b"\n"):
                yield line
                continue
            while line and not line.endswith(b"\n"):
                line = file.readline(1 << 20)
            yield MALFORMED, f"longer than {ROW_BYTES:,} bytes"


def parse_json(content: bytes) -> object:
    """Return a JSON value, or the refusal of bytes that are none."""
    try:
        return load_json(content)
    except UnicodeDecodeError as error:
        return NOT_UTF8, f"byte {error.start}: {error.reason}"
    except (ValueError, RecursionError) as error:
        return MALFORMED, f"not JSON: {error}"


def load_json(content: bytes) -> object:
    """Return a JSON value; one with a key that comes twice is refused, as nobody knows which is meant (ValueError)."""
    return json.loads(content.decode("utf-8-sig"), object_pairs_hook=_unique)


def _unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
    fields = dict(pairs)
    if len(fields) < len(pairs):
        names = [name for name, _ in pairs]
        raise ValueError(
            f"the key {next(name for name in names if names.count(name) > 1)[:100]!r} comes twice"
        )
    return fields


def decode_batch(batch: pa.RecordBatch) -> Iterator[dict | Refusal]:
    """Yield the rows of a batch; one whose text is no UTF-8 is refused, and the others are kept."""
    try:
        yield from batch.to_pylist()
    except UnicodeDecodeError as error:
        if batch.num_rows == 1:
            yield NOT_UTF8, f"byte {error.start}: {error.reason}"
        else:
            for row in range(batch.num_rows):
                yield from decode_batch(batch.slice(row, 1))


def check_size(name: str, size: float) -> None:
    """Raise ValueError if a source takes more bytes, unpacked, than the environment or the default allows."""
    word = os.environ.get(LIMIT_VARIABLE) or str(LIMIT_GB)
    try:
        limit = float(word)
    except ValueError:
        limit = 0
    if not 0 < limit < float("inf"):
        raise ValueError(f"{LIMIT_VARIABLE} is {word!r}; it must be a positive number of gigabytes")
    if size > limit * 1e9:
        raise ValueError(
            f"{name} has more than {word} GB; if that is right, set {LIMIT_VARIABLE} to more"
        )


def open_stream(path: Path) -> io.BufferedIOBase:
    """Open a file for reading, decompressed where it ends in ``.gz`` or ``.tgz``."""
    return cast(
        io.BufferedIOBase, gzip.open(path) if path.suffix in (".gz", ".tgz") else path.open("rb")
    )
