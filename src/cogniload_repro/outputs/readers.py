"""Tables of model outputs, read row by row: JSON, CSV, Parquet, Arrow and logs of other programs."""

import csv
import io
import lzma
import re
import zlib
from collections.abc import Callable, Iterator
from functools import partial
from itertools import count, repeat
from pathlib import Path, PurePath

import pyarrow as pa
import pyarrow.compute as pc

from cogniload_repro.outputs.adapters import adapt_entries, begins_as_table, find_origin, read_archive, read_json
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
#: Endings of compressed tables.
COMPRESSED = (".gz", ".zst", ".bz2", ".xz")
_WHOLE = re.compile(r"(\d{1,19})(\.0*)?")  # with the point that pandas gives counts where some are unknown
_BATCH_ROWS, _MAX_VALUES, _MAX_ARROW = 16, 20_000_000, 1 << 30
_ARROW_ENDS = (b"ARROW1", b"\xff\xff\xff\xff\0\0\0\0")  # of its file format and its stream format
_FLAT = (pa.null(), pa.string(), pa.large_string(), pa.binary(), pa.large_binary())
_TOO_LONG: Refusal = (MALFORMED, f"longer than {ROW_BYTES:,} bytes")


def read_table(path: Path, columns: list[str]) -> Iterator[Entry]:
    """Yield the rows of a file for which `is_table` holds, with those of their fields that are among the columns."""
    try:
        yield from _READERS[_kind(path)](path, columns)
    except UnicodeError as error:
        yield Entry(0, None, (NOT_UTF8, str(error)))
    except MemoryError:
        yield Entry(0, None, (UNREADABLE, "it takes more memory than a source may"))
    except (OSError, EOFError, ValueError, RecursionError, zlib.error, lzma.LZMAError, pa.ArrowException) as error:
        yield Entry(0, None, (UNREADABLE, f"{type(error).__name__}: {error}"))


def is_table(path: Path) -> bool:
    """Return whether the file's ending is that of a table; JSON is one if it is a log or an array."""
    return _kind(path) in _READERS and (_kind(path) != "json" or begins_as_table(path))


def _kind(path: Path) -> str:
    name = path.name.lower()
    for ending in COMPRESSED:
        name = name.removesuffix(ending)
    return PurePath(name).suffix.removeprefix(".")


def _read_json_lines(path: Path, columns: list[str]) -> Iterator[Entry]:
    return adapt_entries(zip(read_json_lines(path), repeat(find_origin(path))), columns)


def _read_csv(path: Path, columns: list[str], delimiter: str = ",") -> Iterator[Entry]:
    csv.field_size_limit(max(ROW_BYTES, csv.field_size_limit()))  # the whole process's: never lowered
    with open_stream(path) as raw, io.TextIOWrapper(raw, "utf-8-sig", "surrogateescape", newline="") as text:
        check_encoding(raw)
        left = [ROW_BYTES]
        lines = csv.DictReader(_bound_lines(text, left), delimiter=delimiter, strict=True)
        if refusal := _check_header(list(lines.fieldnames or ()), columns):
            yield Entry(0, None, refusal)
            return
        for row in count(1):
            left[0] = ROW_BYTES
            try:
                fields = next(lines)
            except StopIteration:
                return
            except csv.Error as error:
                yield Entry(row, None, (MALFORMED, f"not CSV: {error}"))
                continue
            if None in fields:
                yield Entry(row, None, (MALFORMED, f"{len(fields[None])} fields more than the header has"))
            else:
                yield Entry(row, {name: _parse_count(name, fields[name]) for name in columns if name in fields})


def _check_header(header: list[str], columns: list[str]) -> Refusal | None:
    """Return why a table with these columns cannot be read; one without any has no rows either."""
    if twice := [name for name in columns if header.count(name) > 1]:
        return MALFORMED, f"the header has {', '.join(twice)} twice"
    if header and "response" in columns and not {"name", "response"} <= set(header):
        return MISSING_FIELD, f"the header has {', '.join(header)[:200]}; needed are model, name, response"
    return None


def _bound_lines(text: io.TextIOWrapper, left: list[int]) -> Iterator[str]:
    """Yield lines of so many characters together as are left, in the list's one place; more is no row but damage."""
    while line := text.readline(left[0] + 1):
        if len(line) > left[0]:
            raise ValueError(f"a row is longer than {ROW_BYTES:,} characters")
        left[0] -= len(line)
        yield line


def _parse_count(name: str, word: str | None) -> str | int | None:
    """Return token counts as numbers where they are ones; an empty count is an unknown one."""
    if word is None or not name.endswith("_tokens"):
        return word
    whole = _WHOLE.fullmatch(word)
    return int(whole[1]) if whole else word or None


def _read_parquet(path: Path, columns: list[str]) -> Iterator[Entry]:
    with open_parquet(path) as file:
        present, groups = _find_columns(file.schema_arrow, columns), file.metadata
        for group in map(groups.row_group, range(groups.num_row_groups)):
            for chunk in map(group.column, range(group.num_columns)):
                if chunk.path_in_schema.partition(".")[0] not in present:
                    continue
                if chunk.total_uncompressed_size > ROW_BYTES * (group.num_rows + 1):
                    raise ValueError(f"a row is longer than {ROW_BYTES:,} bytes")
                if "." in chunk.path_in_schema and chunk.num_values > _MAX_VALUES:
                    raise ValueError(f"{chunk.num_values:,} values in lists are more than a source has")
    # a text that stands for many rows stays one, as in the file
    with open_parquet(path, read_dictionary=[name for name in present if name != "domain"]) as file:
        yield from _read_batches(path, file.iter_batches(_BATCH_ROWS, columns=present))


def _find_columns(schema: pa.Schema, columns: list[str]) -> list[str]:
    """Return which columns there are; but for a puzzle's domain they are flat, and so are measured by their texts."""
    present = [name for name in columns if name in schema.names]
    for name in present:
        if schema.names.count(name) > 1:
            raise ValueError(f"the file has the column {name} twice")
        kind = schema.field(name).type
        is_domain = name == "domain" and pa.types.is_list(kind)
        flat = kind.value_type if is_domain or pa.types.is_dictionary(kind) else kind
        if not (flat in _FLAT or pa.types.is_primitive(flat) or pa.types.is_decimal(flat)):
            raise ValueError(f"the column {name} is {kind}; write it as text, or leave it out")
    return present


def _read_batches(path: Path, batches: Iterator[pa.RecordBatch]) -> Iterator[Entry]:
    """Yield rows; few at a time, and one by one where they are long, as a text may stand for many of them."""
    row, left = 0, unpacked_limit()
    for batch in batches:
        for start in range(0, len(batch), _BATCH_ROWS):
            part = batch.slice(start, _BATCH_ROWS)
            sizes = _measure_rows(part)
            left -= sum(sizes)
            if left < 0:
                raise ValueError(over_limit(path.name))
            one_by_one = ((size, part.slice(place, 1)) for place, size in enumerate(sizes))
            for size, rows in one_by_one if sum(sizes) > ROW_BYTES else [(0, part)]:
                for found in [_TOO_LONG] if size > ROW_BYTES else decode_batch(_unfold(rows)):
                    row += 1
                    yield Entry.of(row, found)


def _unfold(batch: pa.RecordBatch) -> pa.RecordBatch:
    columns = [column.dictionary_decode() if pa.types.is_dictionary(column.type) else column for column in batch]
    return pa.RecordBatch.from_arrays(columns, batch.schema.names)


def _measure_rows(batch: pa.RecordBatch) -> list[int]:
    """Return the bytes of the texts of each row, those of shared texts too."""
    sizes = [1] * len(batch)
    for column in batch.columns:
        texts = column.dictionary if pa.types.is_dictionary(column.type) else column
        if texts.type in _FLAT[1:]:
            lengths = pc.binary_length(texts)
            lengths = lengths if texts is column else lengths.take(column.indices)
            sizes = [size + (more or 0) for size, more in zip(sizes, lengths.to_pylist(), strict=True)]
    return sizes


def _read_arrow(path: Path, columns: list[str]) -> Iterator[Entry]:
    """Read Arrow's file format (.feather too), which holds a stream, and its stream format."""
    with path.open("rb") as file:
        file.seek(-8, io.SEEK_END)
        if path.suffix.lower() not in COMPRESSED and not file.read().endswith(_ARROW_ENDS):
            raise ValueError("the file is cut short")
    for is_measured in (False, True):
        with open_stream(path) as stream:
            if stream.peek(6)[:6] == b"ARROW1":
                stream.read(8)
            if not is_measured:  # before any of its batches is unpacked
                _check_messages(pa.ipc.MessageReader.open_stream(stream))
                continue
            with pa.ipc.open_stream(stream) as batches:
                present = _find_columns(batches.schema, columns)
                yield from _read_batches(path, map(_validate, (batch.select(present) for batch in batches)))


def _validate(batch: pa.RecordBatch) -> pa.RecordBatch:
    batch.validate(full=True)  # offsets that lead elsewhere would be followed
    return batch


def _check_messages(messages: Iterator[pa.ipc.Message]) -> None:
    """Refuse an Arrow stream of which a batch, or all dictionaries together, unpack to more than memory should hold."""
    dictionaries = 0
    for message in messages:
        size = _unpacked_size(message)
        dictionaries += size * (message.type == "dictionary")
        if max(size, dictionaries) > _MAX_ARROW:
            raise ValueError(f"a batch takes more than {_MAX_ARROW:,} bytes; write it as Parquet")


def _unpacked_size(message: pa.ipc.Message) -> int:
    """Return the bytes of a batch; of a compressed one (as its flatbuffer says) each buffer begins with its size."""
    meta, body = message.metadata.to_pybytes(), message.body or b""

    def number(at: int, width: int = 4, *, signed: bool = False) -> int:
        return int.from_bytes(meta[at : at + width], "little", signed=signed)

    def find(table: int, field: int) -> int:
        """Return where a field of a table points to; 0 if it is absent."""
        index = table - number(table, signed=True)
        offset = number(index + 4 + 2 * field, 2) if 4 + 2 * field < number(index, 2) else 0
        return offset and table + offset + number(table + offset)

    batch = find(number(0), 2)
    batch = find(batch, 1) if message.type == "dictionary" else batch
    if message.type == "schema" or not find(batch, 3):
        return len(body)
    buffers = find(batch, 2)
    starts = (number(buffers + 4 + 16 * place, 8) for place in range(number(buffers)))
    return len(body) + sum(int.from_bytes(bytes(body[start : start + 8]), "little", signed=True) for start in starts)


_READERS: dict[str, Callable[[Path, list[str]], Iterator[Entry]]] = {
    "jsonl": _read_json_lines,
    "ndjson": _read_json_lines,
    "csv": _read_csv,
    "tsv": partial(_read_csv, delimiter="\t"),
    "parquet": _read_parquet,
    "arrow": _read_arrow,
    "feather": _read_arrow,
    "eval": lambda path, columns: adapt_entries(read_archive(path), columns),
    "json": lambda path, columns: adapt_entries(read_json(path), columns),
}
