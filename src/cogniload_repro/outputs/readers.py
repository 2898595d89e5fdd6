"""Tables of model outputs, read row by row: JSON lines, Parquet, CSV and logs of other programs."""

import csv
import io
import re
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path, PurePath

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
    read_json_lines,
)
from cogniload_repro.storage import open_parquet

MISSING_FIELD = "missing field"
_WHOLE = re.compile(r"(\d{1,19})(\.0*)?")  # with the point that pandas gives counts where some are unknown
_BATCH_ROWS = 64


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


def _entries(row: int, record: dict | Refusal, model: str | None, columns: list[str]) -> Iterator[Entry]:
    """Yield what a JSON record holds: the wanted fields, and the text by which a puzzle can be found."""
    for fields in adapt_record(record, model) if isinstance(record, dict) else (record,):
        if isinstance(fields, dict):
            yield Entry(row, {name: fields[name] for name in (*columns, "text") if name in fields})
        else:
            yield Entry(row, None, fields)


def _read_inspect(path: Path, columns: list[str]) -> Iterator[Entry]:
    samples = inspect_logs.read_archive(path) if _kind(path) == "eval" else inspect_logs.read_json(path)
    for row, sample in enumerate(samples, start=1):
        if isinstance(sample, Exception):
            yield Entry(row, None, (UNREADABLE, str(sample)))
        else:
            yield from _entries(row, sample.record, sample.model, columns)


def _read_csv(path: Path, columns: list[str]) -> Iterator[Entry]:
    csv.field_size_limit(ROW_BYTES)
    with open_stream(path) as raw, io.TextIOWrapper(raw, "utf-8-sig", "surrogateescape", newline="") as text:
        check_encoding(raw)
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
            if "response" in columns and not {"name", "response"} <= set(lines.fieldnames or ()):
                header = ", ".join(lines.fieldnames or ())[:200]
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
            for fields in decode_batch(batch):
                row += 1
                yield Entry(row, fields) if isinstance(fields, dict) else Entry(row, None, fields)


_READERS: dict[str, Callable[[Path, list[str]], Iterator[Entry]]] = {
    "jsonl": _read_records,
    "ndjson": _read_records,
    "csv": _read_csv,
    "parquet": _read_parquet,
    "eval": _read_inspect,
    "json": _read_inspect,
}
