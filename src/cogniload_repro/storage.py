"""Parquet files whose metadata say how they were made."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from cogniload_repro.files import replacing


def remove_parts(folder: str | Path) -> None:
    """Delete half-written files of killed runs in a folder; no process may be writing there."""
    for part in Path(folder).glob(".*.part"):
        part.unlink(missing_ok=True)


@contextmanager
def table_writer(
    path: str | Path,
    schema: pa.Schema,
    metadata: Mapping[str, str],
) -> Iterator[pq.ParquetWriter]:
    """Open a writer for a table that appears at ``path`` only when it is complete."""
    with replacing(path) as part, part_writer(part, schema, metadata) as writer:
        yield writer


@contextmanager
def part_writer(
    part: Path,
    schema: pa.Schema,
    metadata: Mapping[str, str],
) -> Iterator[pq.ParquetWriter]:
    """Open a writer for a table with these metadata, which replace those of the schema."""
    schema = schema.with_metadata({key: str(metadata[key]) for key in sorted(metadata)})
    with (
        part.open("wb") as file,
        pq.ParquetWriter(file, schema, compression="zstd") as writer,
    ):
        yield writer


def write_table(
    path: str | Path,
    table: pa.Table | pd.DataFrame,
    metadata: Mapping[str, str] | None = None,
) -> Path:
    """Write a table to a Parquet file, and return its path; see `table_writer`."""
    if isinstance(table, pd.DataFrame):
        table = pa.Table.from_pandas(table, preserve_index=False)
    with table_writer(path, table.schema, metadata or {}) as writer:
        writer.write_table(table.replace_schema_metadata(writer.schema.metadata))
    return Path(path)


def read_metadata(path: str | Path) -> dict[str, str]:
    """Return the metadata of a Parquet file, without pyarrow's own."""
    with open_parquet(path) as file:
        metadata = dict(file.metadata.metadata or {})
    metadata.pop(b"ARROW:schema", None)
    return {key.decode(): text.decode() for key, text in metadata.items()}


@contextmanager
def open_parquet(path: str | Path) -> Iterator[pq.ParquetFile]:
    """Open a Parquet file for reading in bounded memory; ValueError if it is not a complete one."""
    with Path(path).open("rb") as stream:
        try:
            file = pq.ParquetFile(stream, pre_buffer=False)
        except (pa.ArrowException, OSError) as error:
            remedy = "delete it; the next `make` recreates it, or download it again"
            raise ValueError(
                f"{path} is not a whole Parquet file ({error}); {remedy}"
            ) from None
        with file:
            yield file


def read_texts(path: str | Path) -> Iterator[str]:
    """Yield the texts of a puzzles table, at most 500 in memory at a time."""
    with open_parquet(path) as file:
        for batch in file.iter_batches(500, columns=["text"]):
            yield from batch["text"].to_pylist()


def partition_path(folder: str | Path, model: str) -> Path:
    """Return the path of a model's file: its name, with unsafe characters escaped."""
    return Path(folder) / f"{quote(model, safe=' +()')}.parquet"
