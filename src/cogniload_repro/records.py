"""Files of records that anybody may have written, read one by one in bounded memory; none stops the others."""

import bz2
import codecs
import gzip
import io
import json
import lzma
import os
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

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

_BLOCK_BYTES = 1 << 18
_XZ_MEMORY = 1 << 27  # the highest preset takes half of it
_ZIP_END_BYTES, _ZIP_LIST_BYTES = 70_000, 100_000_000
_OTHER_UNICODE = (codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE, codecs.BOM_UTF32_BE)  # BOM_UTF32_LE begins as the first


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
    with open_stream(path) as file:
        check_encoding(file)
        for row, line in enumerate(_lines(file), start=1):
            record = parse_json(line) if isinstance(line, bytes) and line.strip() else line
            if not isinstance(record, bytes):
                yield Entry.of(row, record)


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


def open_stream(path: Path) -> io.BufferedReader:
    """Open a file for reading, decompressed where its ending says so, up to `unpacked_limit` and then a ValueError."""
    opener = _OPENERS.get(path.suffix.lower())
    return io.BufferedReader(_Bounded(opener(path), path.name), _BLOCK_BYTES) if opener else path.open("rb")


class _Bounded(io.RawIOBase):
    """A stream that ends with a ValueError where it goes on beyond what a source may unpack to."""

    def __init__(self, stream: io.BufferedIOBase, name: str):
        self._stream, self._name, self._left = stream, name, unpacked_limit()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        block = self._stream.read1(len(buffer))  # what there is before a cut comes without the error
        self._left -= len(block)
        if self._left < 0:
            raise ValueError(over_limit(self._name))
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        self._stream.close()
        super().close()


class _Unxz(io.BufferedIOBase):
    """The content of an .xz file; unlike `lzma.open`, it does not let the file say how much memory that takes."""

    def __init__(self, path: Path):
        self._file, self._unpack = path.open("rb"), lzma.LZMADecompressor(memlimit=_XZ_MEMORY)

    def read1(self, size: int = -1, /) -> bytes:
        block = b""
        while not block:
            packed = b""
            if self._unpack.eof:  # perhaps there is another stream behind the first, after padding
                packed = (self._unpack.unused_data or self._file.read(_BLOCK_BYTES)).lstrip(b"\0")
                if not packed:
                    return b""
                self._unpack = lzma.LZMADecompressor(memlimit=_XZ_MEMORY)
            elif self._unpack.needs_input and not (packed := self._file.read(_BLOCK_BYTES)):
                raise EOFError("the file is cut short")
            block = self._unpack.decompress(packed, size)
        return block

    def close(self) -> None:
        self._file.close()
        super().close()


_OPENERS: dict[str, Callable[[Path], io.BufferedIOBase]] = {
    ".gz": gzip.open,
    ".tgz": gzip.open,
    ".bz2": bz2.open,
    ".xz": _Unxz,
    ".zst": lambda path: pa.input_stream(str(path), compression="zstd"),
}


def open_zip(path: Path) -> zipfile.ZipFile:
    """Open a zip archive; BadZipFile if its list of members is longer than memory allows, or LZMA compresses one."""
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _ZIP_END_BYTES))
        end = file.read(_ZIP_END_BYTES)
    marks = ((b"PK\5\6", 12, 16), (b"PK\6\6", 40, 48))  # of the list's size, and of that beyond 4 GB
    sizes = {
        int.from_bytes(end[found.start() + first : found.start() + last], "little")
        for mark, first, last in marks
        for found in re.finditer(re.escape(mark), end)
    }
    if any(_ZIP_LIST_BYTES < size != 0xFFFFFFFF for size in sizes):
        raise zipfile.BadZipFile(f"its list of members has more than {_ZIP_LIST_BYTES:,} bytes")
    archive = zipfile.ZipFile(path)
    if lzma := [info for info in archive.infolist() if info.compress_type == zipfile.ZIP_LZMA]:
        archive.close()
        raise zipfile.BadZipFile(f"{lzma[0].filename[:100]!r} is compressed as LZMA; use deflation")
    return archive


def check_encoding(file: io.BufferedReader) -> None:
    """Raise UnicodeError if a file begins with the mark of another encoding."""
    if file.peek(4).startswith(_OTHER_UNICODE):
        raise UnicodeError("the file is UTF-16 or UTF-32; save it as UTF-8")


def _lines(file: io.BufferedReader) -> Iterator[bytes | Refusal]:
    """Yield the lines of a file; one that is too long is refused, and passed over in bounded memory."""
    while line := file.readline(ROW_BYTES):
        if len(line) < ROW_BYTES or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(1 << 20)
        yield MALFORMED, f"longer than {ROW_BYTES:,} bytes"
