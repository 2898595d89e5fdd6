"""Parquet files: whole or absent, the same bytes for the same content, with their provenance inside."""

from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from uuid import uuid4

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from cogniload_repro.places import as_place, move
from cogniload_repro.schemas import PROVENANCE

#: Name of the file that stands in a folder while a set of tables takes its place there.
UNFINISHED = ".unfinished"


@contextmanager
def replacing(path: str | Path) -> Iterator[Path]:
    """Give a temporary path beside `path`, which takes its place when the block ends without an error."""
    path = as_place(path)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{uuid4().hex}.part")
    try:
        yield part
        move(part, path)
    finally:
        part.unlink(missing_ok=True)


def remove_parts(folder: str | Path) -> None:
    """Remove what killed runs have left in a folder; to be called while nothing is written there."""
    for part in as_place(folder).glob(".*.part"):
        part.unlink(missing_ok=True)


@contextmanager
def table_writer(path: str | Path, schema: pa.Schema, metadata: Mapping[str, str]) -> Iterator[pq.ParquetWriter]:
    """Open a writer for a table that appears at `path` only when it is complete; see `part_writer`."""
    with replacing(path) as part, part_writer(part, schema, metadata) as writer:
        yield writer


@contextmanager
def part_writer(part: Path, schema: pa.Schema, metadata: Mapping[str, str]) -> Iterator[pq.ParquetWriter]:
    """Open a writer for a table.

    Parameters
    ----------
    part : path
        The file to write.
    schema : pyarrow.Schema
        Columns; their own metadata are dropped.
    metadata : mapping of str to str
        Keys of the file, `provenance` among them.

    Raises
    ------
    ValueError
        If the provenance is not one of reconstructed, imported and evaluated.
    """
    if metadata.get("provenance") not in PROVENANCE:
        raise ValueError(f"{part}: provenance {metadata.get('provenance')!r} is not one of: {', '.join(PROVENANCE)}")
    schema = schema.with_metadata({key: str(metadata[key]) for key in sorted(metadata)})
    with part.open("wb") as file, pq.ParquetWriter(file, schema, compression="zstd") as writer:
        yield writer


def write_table(path: str | Path, table: pa.Table | pd.DataFrame, metadata: Mapping[str, str]) -> Path:
    """Write a whole table at once; see `table_writer`."""
    if isinstance(table, pd.DataFrame):
        table = pa.Table.from_pandas(table, preserve_index=False)
    with table_writer(path, table.schema, metadata) as writer:
        writer.write_table(table.replace_schema_metadata(writer.schema.metadata))
    return as_place(path)


def read_metadata(path: str | Path) -> dict[str, str]:
    """Return the keys that a table carries, without pyarrow's own.

    Raises
    ------
    ValueError
        If the file is not Parquet.
    """
    with open_parquet(path) as file:
        metadata = file.schema_arrow.metadata or {}
    return {key.decode(): text.decode() for key, text in metadata.items() if key != b"ARROW:schema"}


@contextmanager
def open_parquet(path: str | Path) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file for reading in bounded memory.

    Raises
    ------
    ValueError
        If the file is not Parquet, or cut short.
    """
    with as_place(path).open("rb") as stream:
        try:
            file = pq.ParquetFile(stream, pre_buffer=False)
        except (pa.ArrowException, OSError) as error:
            raise ValueError(f"{path} is not a whole Parquet file ({error}); make or fetch it again") from None
        with file:
            yield file


def weakest_provenance(words: Iterable[str]) -> str:
    """Return the word that a table made from several sources carries: reconstructed, as soon as one is.

    Raises
    ------
    ValueError
        If there is no source or one with another word.
    """
    present = set(words)
    if not present or not present.issubset(PROVENANCE):
        raise ValueError(
            f"tables of provenance {sorted(present)} cannot be joined; each must be {' or '.join(PROVENANCE)}"
        )
    return next(word for word in PROVENANCE if word in present)
