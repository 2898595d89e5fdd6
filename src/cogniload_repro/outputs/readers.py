"""Tables of model outputs, read row by row: JSON lines, Parquet, CSV and logs of other programs."""

import csv
import io
import re
import zlib
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path, PurePath

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from cogniload_repro.outputs import inspect_logs
from cogniload_repro.outputs.adapters import adapt_record, find_harness_model
from cogniload_repro.records import (
    MALFORMED,
    NOT_UTF8,
    ROW_BYTES,
    UNREADABLE,
    Entry,
    Refusal,
    check_encoding,
    decode_batch,
    open_stream,
    over_limit,
    read_json_lines,
    unpacked_limit,
)
from cogniload_repro.storage import open_parquet

MISSING_FIELD = "missing field"
_WHOLE = re.compile(r"(\d{1,19})(\.0*)?")  # with the point that pandas gives counts where some are unknown
_BATCH_ROWS, _BATCH_BYTES, _MOST_VALUES = 16, 1 << 26, 20_000_000
_TOO_LONG: Refusal = (MALFORMED, f"longer than {ROW_BYTES:,} bytes")


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
    except MemoryError:
        yield Entry(0, None, (UNREADABLE, "it takes more memory than a source may"))
    except (OSError, EOFError, ValueError, RecursionError, zlib.error) as error:
        yield Entry(0, None, (UNREADABLE, f"{type(error).__name__}: {error}"))


def is_table(path: Path) -> bool:
    """Tell whether the file's ending is that of a table; JSON is one if it is a log."""
    kind = _kind(path)
    return inspect_logs.is_inspect_json(path) if kind == "json" else kind in _READERS


def _kind(path: Path) -> str:
    name = path.name.lower()
    for ending in (".gz", ".zst"):
        name = name.removesuffix(ending)
    return PurePath(name).suffix.removeprefix(".")


def _read_records(path: Path, columns: list[str]) -> Iterator[Entry]:
    model, filters = find_harness_model(path), set[object]()
    for entry in read_json_lines(path):
        record = entry.fields or {}
        if "filtered_resps" in record:
            filters = filters or {record.get("filter")}
            if record.get("filter") not in filters:
                continue  # the same response once more, as another filter has cut it
        yield from _entries(entry.row, entry.refusal or record, model, columns)


def _entries(
    row: int, record: dict | Refusal, model: str | None, columns: list[str], asked: Mapping[str, object] | None = None
) -> Iterator[Entry]:
    """Yield what a JSON record holds: the wanted fields, and the text by which a puzzle can be found."""
    for fields in adapt_record(record, model, asked) if isinstance(record, dict) else (record,):
        if isinstance(fields, dict):
            yield Entry(row, {name: fields[name] for name in (*columns, "text") if name in fields})
        else:
            yield Entry(row, None, fields)


def _read_inspect(path: Path, columns: list[str]) -> Iterator[Entry]:
    samples = inspect_logs.read_archive(path) if _kind(path) == "eval" else inspect_logs.read_json(path)
    for row, sample in enumerate(samples, start=1):
        if isinstance(sample, Exception):
            yield Entry(row, None, (UNREADABLE, str(sample)))
        elif not isinstance(sample, inspect_logs.Sample):
            yield Entry(0, None, sample)
        else:
            yield from _entries(row, sample.record, sample.model, columns, sample.asked)


def _read_csv(path: Path, columns: list[str]) -> Iterator[Entry]:
    csv.field_size_limit(max(ROW_BYTES, csv.field_size_limit()))  # the whole process's: never lowered
    with open_stream(path) as raw, io.TextIOWrapper(raw, "utf-8-sig", "surrogateescape", newline="") as text:
        check_encoding(raw)
        bounded = _BoundedLines(text)
        lines = csv.DictReader(bounded, strict=True)
        row = 0
        while True:
            row += 1
            bounded.left = ROW_BYTES
            try:
                fields = next(lines)
            except StopIteration:
                return
            except csv.Error as error:
                yield Entry(row, None, (MALFORMED, f"not CSV: {error}"))
                continue
            if "response" in columns and not {"name", "response"} <= set(lines.fieldnames or ()):
                header = ", ".join(lines.fieldnames or ())[:200]
                yield Entry(0, None, (MISSING_FIELD, f"the header has {header}; needed are model, name, response"))
                return
            named = list(lines.fieldnames or ())
            if twice := [name for name in columns if named.count(name) > 1]:
                yield Entry(0, None, (MALFORMED, f"the header has {', '.join(twice)} twice"))
                return
            if None in fields:
                yield Entry(row, None, (MALFORMED, f"{len(fields[None])} fields more than the header has"))
            else:
                yield Entry(row, {name: _parse_csv(name, fields[name]) for name in columns if name in fields})


class _BoundedLines:
    """The lines of a text, up to so many characters as are `left`; one more is no row any more but damage."""

    def __init__(self, text: io.TextIOWrapper):
        self._text, self.left = text, ROW_BYTES

    def __iter__(self) -> Iterator[str]:
        return self

    def __next__(self) -> str:
        line = self._text.readline(self.left + 1)
        if not line:
            raise StopIteration
        if len(line) > self.left:
            raise ValueError(f"a row is longer than {ROW_BYTES:,} characters")
        self.left -= len(line)
        return line


def _parse_csv(name: str, word: str | None) -> str | int | None:
    """Return token counts as numbers where they are ones; an empty count is an unknown one."""
    if word is None or not name.endswith("_tokens"):
        return word
    whole = _WHOLE.fullmatch(word)
    return int(whole[1]) if whole else word or None


def _read_parquet(path: Path, columns: list[str]) -> Iterator[Entry]:
    row, left = 0, unpacked_limit()
    with open_parquet(path) as file:
        present = [name for name in columns if name in file.schema_arrow.names]
        for batch in _read_batches(path, file, present):
            left -= batch.nbytes
            if left < 0:
                raise ValueError(over_limit(path.name))
            for place in range(batch.num_rows) if batch.nbytes > ROW_BYTES else (None,):
                part = batch if place is None else batch.slice(place, 1)
                is_long = place is not None and _measure(part) > ROW_BYTES
                for fields in [_TOO_LONG] if is_long else decode_batch(part):
                    row += 1
                    yield Entry(row, fields) if isinstance(fields, dict) else Entry(row, None, fields)


def _read_batches(path: Path, file: pq.ParquetFile, columns: list[str]) -> Iterator[pa.RecordBatch]:
    """Yield so few rows at a time that they fit into memory, though a value may stand for many rows."""
    for number in range(file.num_row_groups):
        group = file.metadata.row_group(number)
        chunks = [group.column(n) for n in range(group.num_columns)]
        flat = {chunk.path_in_schema: chunk for chunk in chunks if chunk.path_in_schema in columns}
        values = sum(chunk.num_values for chunk in chunks if "." in chunk.path_in_schema
                     and chunk.path_in_schema.partition(".")[0] in columns)  # fmt: skip
        if values > _MOST_VALUES:
            raise ValueError(f"{values:,} values in lists are more than a source has")
        average = sum(chunk.total_uncompressed_size for chunk in flat.values()) // max(group.num_rows, 1)
        shared = [name for name, chunk in flat.items() if chunk.has_dictionary_page
                  and pa.types.is_string(file.schema_arrow.field(name).type)]  # fmt: skip
        largest = max(average, _measure_shared(path, number, shared))
        if largest > ROW_BYTES:
            raise ValueError(f"a row is longer than {ROW_BYTES:,} bytes")
        rows = min(_BATCH_ROWS, max(1, _BATCH_BYTES // max(largest, 1)))
        yield from file.iter_batches(rows, row_groups=[number], columns=columns)


def _measure(row: pa.RecordBatch) -> int:
    """Return the bytes of the texts of one row."""
    texts = [
        column for column in row.columns if pa.types.is_string(column.type) or pa.types.is_large_string(column.type)
    ]
    return sum(pc.binary_length(text)[0].as_py() or 0 for text in texts)


def _measure_shared(path: Path, group: int, columns: list[str]) -> int:
    """Return the bytes of the largest value that a row group keeps once for all of its rows; 0 if there is none."""
    if not columns:
        return 0
    with open_parquet(path, read_dictionary=columns) as file:
        first = next(file.iter_batches(1, row_groups=[group], columns=columns), None)
    lengths = [pc.max(pc.binary_length(column.dictionary)).as_py() or 0 for column in first or ()]
    return sum(lengths)


_READERS: dict[str, Callable[[Path, list[str]], Iterator[Entry]]] = {
    "jsonl": _read_records,
    "ndjson": _read_records,
    "csv": _read_csv,
    "parquet": _read_parquet,
    "eval": _read_inspect,
    "json": _read_inspect,
}
