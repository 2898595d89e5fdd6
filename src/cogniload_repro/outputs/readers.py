"""Tables of model outputs, read row by row: JSON lines, CSV, Parquet, and logs of other programs."""

import csv
import re
import zlib
from collections.abc import Callable, Iterator
from itertools import chain, repeat
from pathlib import Path

import pyarrow as pa

from cogniload_repro.outputs.adapters import adapt_entries, find_origin, read_archive, read_json
from cogniload_repro.puzzles.catalog import parse_name
from cogniload_repro.records import (
    MALFORMED,
    ROW_BYTES,
    UNREADABLE,
    Entry,
    Refusal,
    decode_batch,
    over_limit,
    read_json_lines,
    read_lines,
    unpacked_limit,
)
from cogniload_repro.storage import open_parquet

MISSING_FIELD = "missing field"
_WHOLE = re.compile(r"(\d{1,19})(\.0*)?")  # with the point that pandas gives counts where some are unknown
_BATCH_ROWS = 16


def read_table(path: Path, columns: list[str]) -> Iterator[Entry]:
    """Yield the rows of a file with one of `layout.TABLES`' endings, with those fields that are among the columns."""
    try:
        yield from _READERS[path.name.removesuffix(".gz").rpartition(".")[2]](path, columns)
    except MemoryError:
        yield Entry(0, None, (UNREADABLE, "it takes more memory than there is"))
    except (OSError, EOFError, ValueError, RecursionError, zlib.error, pa.ArrowException) as error:
        yield Entry(0, None, (UNREADABLE, f"{type(error).__name__}: {error}"))


def _read_csv(path: Path, columns: list[str]) -> Iterator[Entry]:
    csv.field_size_limit(max(ROW_BYTES, csv.field_size_limit()))  # the whole process's: never lowered
    lines = csv.reader(_decode_lines(path), strict=True)
    header = next(lines, [])
    if foreign := _check_header(header, columns):
        yield Entry(0, None, foreign)
        return
    row, end = 0, lines.line_num
    while True:
        row, first = row + 1, end + 1
        refusal: str | None = None
        try:
            fields = next(lines)
            while not fields:  # a blank line
                fields = next(lines)
            refusal = _check_fields(fields, header)
        except StopIteration:
            return
        except csv.Error as error:
            refusal = f"not CSV: {error}"
        end = lines.line_num
        if refusal:
            yield Entry(row, None, (MALFORMED, f"lines {first} to {end}: {refusal}" if end > first else refusal))
        else:
            named = zip(header, fields, strict=True)
            yield Entry(row, {name: _parse_count(name, word) for name, word in named if name in columns})


def _decode_lines(path: Path) -> Iterator[str]:
    for number, line in enumerate(read_lines(path)):
        if not isinstance(line, bytes):
            raise ValueError(f"line {number + 1} is {line[1]}")
        yield line.decode("utf-8-sig" if number == 0 else "utf-8", "surrogateescape")


def _check_header(header: list[str], columns: list[str]) -> Refusal | None:
    """Return why a table with these columns cannot be read; one without any has no rows either."""
    if twice := [name for name in columns if header.count(name) > 1]:
        return MALFORMED, f"the header has {', '.join(twice)} twice"
    if header and "response" in columns and not {"name", "response"} <= set(header):
        return MISSING_FIELD, f"the header has {', '.join(header)[:200]}; needed are model, name, response"
    return None


def _check_fields(fields: list[str], header: list[str]) -> str | None:
    """Return why the fields of a row cannot be right; an open quote takes the rows behind it into one field."""
    if len(fields) != len(header):
        return f"{len(fields)} fields, where the header has {len(header)}"
    place = header.index("name") if "name" in header else -1
    for line in (line for field in fields for line in field.splitlines()[1:]):
        inner = next(csv.reader([line]), [])
        if 1 <= place < len(inner) <= len(header) and parse_name(inner[place]):
            return "a quote is not closed: a field holds other rows of this table"
        if place == 0 and 2 <= len(inner) <= len(header) and parse_name(inner[0]):
            return "a quote is not closed: a field holds other rows of this table"
    return None


def _parse_count(name: str, word: str) -> str | int | None:
    """Return token counts as numbers where they are ones; an empty count is an unknown one."""
    if not name.endswith("_tokens"):
        return word
    whole = _WHOLE.fullmatch(word)
    return int(whole[1]) if whole else word or None


def _read_parquet(path: Path, columns: list[str]) -> Iterator[Entry]:
    with open_parquet(path) as file:
        about, names = file.metadata, file.schema_arrow.names
        if twice := [name for name in columns if names.count(name) > 1]:
            raise ValueError(f"the file has the column {twice[0]} twice")
        if sum(about.row_group(group).total_byte_size for group in range(about.num_row_groups)) > unpacked_limit():
            raise ValueError(over_limit(path.name))
        batches = file.iter_batches(_BATCH_ROWS, columns=[name for name in columns if name in names])
        for row, found in enumerate(chain.from_iterable(map(decode_batch, batches)), start=1):
            yield Entry.of(row, found)


_READERS: dict[str, Callable[[Path, list[str]], Iterator[Entry]]] = {
    "jsonl": lambda path, columns: adapt_entries(zip(read_json_lines(path), repeat(find_origin(path))), columns),
    "csv": _read_csv,
    "parquet": _read_parquet,
    "eval": lambda path, columns: adapt_entries(read_archive(path), columns),
    "json": lambda path, columns: adapt_entries(read_json(path), columns),
}
