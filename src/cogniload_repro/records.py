"""Files of records that anybody may have written, read one by one in bounded memory; none stops the others."""

import gzip
import io
import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple, cast

import pyarrow as pa

WRONG_TYPE = "wrong type"
NOT_UTF8 = "not UTF-8"
MALFORMED = "malformed row"
UNREADABLE = "unreadable file"

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
    def of(cls, row: int, found: dict | Refusal) -> "Entry":
        """Return an entry of what was found, fields or the refusal."""
        return cls(row, found) if isinstance(found, dict) else cls(row, None, found)


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
        record = parse_json(line) if isinstance(line, bytes) and line.strip() else line
        if not isinstance(record, bytes):
            yield Entry.of(row, record)


def read_lines(path: Path) -> Iterator[bytes | Refusal]:
    """Yield the lines of a file, gzip'd or not; one that is too long is refused, and passed over in bounded memory."""
    with open_stream(path) as file:
        limit = unpacked_limit()
        while line := file.readline(ROW_BYTES):
            if file.tell() > limit and path.suffix == ".gz":
                raise ValueError(over_limit(path.name))
            if len(line) < ROW_BYTES or line.endswith(b"\n"):
                yield line
                continue
            while line and not line.endswith(b"\n"):
                line = file.readline(1 << 20)
            yield MALFORMED, f"longer than {ROW_BYTES:,} bytes"


def parse_json(content: bytes) -> dict | Refusal:
    """Return a JSON object, or why the bytes are none."""
    try:
        return check_record(load_json(content))
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
        raise ValueError(f"the key {next(name for name in names if names.count(name) > 1)[:100]!r} comes twice")
    return fields


def check_record(value: object) -> dict | Refusal:
    """Return a JSON value if it is an object, else why it is no record."""
    return value if isinstance(value, dict) else (WRONG_TYPE, f"a JSON object is needed, not {type(value).__name__}")


def decode_batch(batch: pa.RecordBatch) -> Iterator[dict | Refusal]:
    """Yield the rows of a batch; one whose text is no UTF-8 is refused, and the others are kept."""
    try:
        yield from batch.to_pylist()
        return
    except UnicodeDecodeError:
        pass
    for place in range(batch.num_rows):
        try:
            yield batch.slice(place, 1).to_pylist()[0]
        except UnicodeDecodeError as error:
            yield NOT_UTF8, f"byte {error.start}: {error.reason}"


def unpacked_limit() -> int:
    """Return how many bytes a compressed source may unpack to, by the environment or default (ValueError)."""
    word = os.environ.get(LIMIT_VARIABLE) or str(LIMIT_GB)
    try:
        limit = int(float(word) * 1e9)
    except (ValueError, OverflowError):
        limit = 0
    if limit <= 0:
        raise ValueError(f"{LIMIT_VARIABLE} is {word!r}; it must be a positive number of gigabytes")
    return limit


def over_limit(what: object, does: str = "unpacks to more") -> str:
    """Return the sentence that refuses a source which unpacks to too much."""
    remedy = f"if that is right, set {LIMIT_VARIABLE} to more, or fetch and unpack it yourself"
    return f"{what} {does} than {unpacked_limit() / 1e9:g} GB; {remedy}"


def open_stream(path: Path) -> io.BufferedIOBase:
    """Open a file for reading, decompressed where it ends in ``.gz`` or ``.tgz``."""
    return cast(io.BufferedIOBase, gzip.open(path) if path.suffix in (".gz", ".tgz") else path.open("rb"))
