"""Files of model outputs, read row by row: JSON lines, Parquet, CSV, logs of other programs and single answers.

Every reader yields an `Entry` for each row, its fields as they stand or the reason why there are none: no row
stops the others.
"""

import codecs
import csv
import gzip
import io
import json
import os
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePath
from typing import BinaryIO, NamedTuple

import pyarrow as pa

from cogniload_repro.outputs import inspect_logs
from cogniload_repro.outputs.adapters import adapt_record, find_harness_model
from cogniload_repro.storage import open_parquet

MISSING_FIELD = "missing field"
WRONG_TYPE = "wrong type"
NOT_UTF8 = "not UTF-8"
MALFORMED = "malformed row"
UNREADABLE = "unreadable file"

#: Why a row was refused: a reason from a short list, and what exactly was found.
Refusal = tuple[str, str]

#: Environment variable with the gigabytes that a compressed source may unpack to, and its default.
LIMIT_VARIABLE, LIMIT_GB = "COGNILOAD_MAX_UNPACKED_GB", 50.0
#: Longest row of a text file, bytes: more is no response but damage or malice.
ROW_BYTES = 1 << 28

_WHOLE = re.compile(r"(\d{1,19})(\.0*)?")  # with the point that pandas gives counts where some are unknown
_BATCH_ROWS = 64
_BLOCK_BYTES = 1 << 18
_OTHER_UNICODE = {  # UTF-32 first: its mark begins with that of UTF-16
    codecs.BOM_UTF32_LE: "UTF-32",
    codecs.BOM_UTF32_BE: "UTF-32",
    codecs.BOM_UTF16_LE: "UTF-16",
    codecs.BOM_UTF16_BE: "UTF-16",
}


class Entry(NamedTuple):
    """One row of a source: its number (from 1; 0 is the file as a whole), and its fields or the refusal."""

    row: int
    fields: dict | None
    refusal: Refusal | None = None


def read_table(path: Path, columns: list[str]) -> Iterator[Entry]:
    """Yield the rows of a table file, by the ending of its name.

    Parameters
    ----------
    path : Path
        A file for which `is_table` holds.
    columns : list of str
        The fields that are wanted; others are left out.
    """
    read = _READERS[_kind(path)]
    try:
        yield from read(path, columns)
    except UnicodeError as error:
        yield Entry(0, None, (NOT_UTF8, str(error)))
    except (OSError, EOFError, ValueError, RecursionError, zlib.error) as error:
        yield Entry(0, None, (UNREADABLE, f"{type(error).__name__}: {error}"))


def is_table(path: Path) -> bool:
    """Tell whether the file's ending is that of a table; JSON is one if it is a log."""
    kind = _kind(path)
    return inspect_logs.is_inspect_json(path) if kind == "json" else kind in _READERS


def read_answer(path: Path) -> str | Refusal:
    """Return the text of one answer file, with universal newlines and without a byte order mark."""
    try:
        return path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        return NOT_UTF8, f"byte {error.start}: {error.reason}"
    except OSError as error:
        return UNREADABLE, str(error)


def _kind(path: Path) -> str:
    name = path.name.lower()
    for ending in (".gz", ".zst"):
        name = name.removesuffix(ending)
    return PurePath(name).suffix.removeprefix(".")


def unpacked_limit() -> int:
    """Return how many bytes a compressed source may unpack to.

    Raises
    ------
    ValueError
        If the environment variable `LIMIT_VARIABLE` is set to something that is no positive number.
    """
    word = os.environ.get(LIMIT_VARIABLE) or str(LIMIT_GB)
    try:
        limit = int(float(word) * 1e9)
    except (ValueError, OverflowError):
        limit = 0
    if limit <= 0:
        raise ValueError(f"{LIMIT_VARIABLE} is {word!r}; it must be a positive number of gigabytes")
    return limit


def over_limit(what: object) -> str:
    """Return the sentence that refuses a source which unpacks to too much."""
    return (
        f"{what} unpacks to more than {unpacked_limit() / 1e9:g} GB; if that is right, set {LIMIT_VARIABLE} to more, "
        "or unpack it yourself"
    )


def _open(path: Path) -> io.BufferedIOBase:
    """Open a file for reading, decompressed."""
    if path.suffix.lower() == ".gz":
        return io.BufferedReader(_Bounded(gzip.open(path), path.name), _BLOCK_BYTES)
    if path.suffix.lower() == ".zst":
        return io.BufferedReader(_Bounded(pa.input_stream(str(path), compression="zstd"), path.name), _BLOCK_BYTES)
    return path.open("rb")


class _Bounded(io.RawIOBase):
    """A stream that ends with a ValueError where it goes on beyond what a source may unpack to."""

    def __init__(self, stream: BinaryIO, name: str):
        self._stream, self._name, self._left = stream, name, unpacked_limit()

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:
        block = self._stream.read1(len(buffer))  # what there is before a cut comes without the error
        self._left -= len(block)
        if self._left < 0:
            raise ValueError(over_limit(self._name))
        buffer[: len(block)] = block
        return len(block)

    def close(self) -> None:
        self._stream.close()
        super().close()


def _check_encoding(file: io.BufferedIOBase) -> None:
    """Raise UnicodeError if a file begins with the mark of another encoding."""
    start = file.peek(4)[:4]
    for mark, name in _OTHER_UNICODE.items():
        if start.startswith(mark):
            raise UnicodeError(f"the file is {name}; save it as UTF-8")


def _lines(file: io.BufferedIOBase) -> Iterator[bytes | Refusal]:
    """Yield the lines of a file; one that is too long is refused, and passed over in bounded memory."""
    while line := file.readline(ROW_BYTES):
        if len(line) < ROW_BYTES or line.endswith(b"\n"):
            yield line
            continue
        while line and not line.endswith(b"\n"):
            line = file.readline(1 << 20)
        yield MALFORMED, f"longer than {ROW_BYTES:,} bytes"


def _read_json_lines(path: Path, columns: list[str]) -> Iterator[Entry]:
    model, filters = find_harness_model(path), set()
    with _open(path) as file:
        _check_encoding(file)
        for row, line in enumerate(_lines(file), start=1):
            if isinstance(line, bytes) and not line.strip():
                continue
            record = _parse_json(line) if isinstance(line, bytes) else line
            if isinstance(record, dict) and "filtered_resps" in record:
                filters = filters or {record.get("filter")}
                if record.get("filter") not in filters:
                    continue  # the same response once more, as another filter has cut it
            yield from _entries(row, record, model, columns)


def _entries(row: int, record: dict | Refusal, model: str | None, columns: list[str]) -> Iterator[Entry]:
    """Yield what a JSON record holds: the wanted fields, and the text by which a puzzle can be found."""
    for fields in adapt_record(record, model) if isinstance(record, dict) else (record,):
        if isinstance(fields, dict):
            yield Entry(row, {name: fields[name] for name in (*columns, "text") if name in fields})
        else:
            yield Entry(row, None, fields)


def _parse_json(line: bytes) -> dict | Refusal:
    try:
        record = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return NOT_UTF8, f"byte {error.start}: {error.reason}"
    except (ValueError, RecursionError) as error:
        return MALFORMED, f"not JSON: {error}"
    return record if isinstance(record, dict) else (WRONG_TYPE, f"a JSON object is needed, not {type(record).__name__}")


def _read_inspect(path: Path, columns: list[str]) -> Iterator[Entry]:
    samples = inspect_logs.read_archive(path) if _kind(path) == "eval" else inspect_logs.read_json(path)
    for row, sample in enumerate(samples, start=1):
        if isinstance(sample, Exception):
            yield Entry(row, None, (UNREADABLE, str(sample)))
        else:
            yield from _entries(row, _parse_json(sample.content), sample.model, columns)


def _read_csv(path: Path, columns: list[str]) -> Iterator[Entry]:
    csv.field_size_limit(ROW_BYTES)
    with _open(path) as raw, io.TextIOWrapper(raw, "utf-8-sig", "surrogateescape", newline="") as text:
        _check_encoding(raw)
        lines = csv.DictReader(text, strict=True)
        row = 0
        while True:
            row += 1
            try:
                fields = next(lines)
            except StopIteration:
                return
            except csv.Error as error:
                yield Entry(row, None, (MALFORMED, f"not CSV: {error}"))
                continue
            if "response" in columns and not {"name", "response"} <= set(lines.fieldnames):
                header = ", ".join(lines.fieldnames)[:200]
                yield Entry(0, None, (MISSING_FIELD, f"the header has {header}; needed are model, name, response"))
                return
            if None in fields:
                yield Entry(row, None, (MALFORMED, f"{len(fields[None])} fields more than the header has"))
            else:
                yield Entry(row, {name: _parse_csv(name, fields[name]) for name in columns if name in fields})


def _parse_csv(name: str, word: str | None) -> str | int | None:
    """Return token counts as numbers where they are ones; an empty count is an unknown one."""
    if word is None or not name.endswith("_tokens"):
        return word
    whole = _WHOLE.fullmatch(word)
    return int(whole[1]) if whole else word or None


def _read_parquet(path: Path, columns: list[str]) -> Iterator[Entry]:
    row = 0
    with open_parquet(path) as file:
        present = [name for name in columns if name in file.schema_arrow.names]
        for batch in file.iter_batches(_BATCH_ROWS, columns=present):
            for fields in _batch_rows(batch):
                row += 1
                yield Entry(row, fields) if isinstance(fields, dict) else Entry(row, None, fields)


def _batch_rows(batch: pa.RecordBatch) -> Iterator[dict | Refusal]:
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


_READERS: dict[str, Callable[[Path, list[str]], Iterator[Entry]]] = {
    "jsonl": _read_json_lines,
    "ndjson": _read_json_lines,
    "csv": _read_csv,
    "parquet": _read_parquet,
    "eval": _read_inspect,
    "json": _read_inspect,
}
