"""Sets of puzzles read one by one, whoever wrote them: Parquet, JSONL, or the folders of the authors' release."""

from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import NamedTuple

import pyarrow as pa

from cogniload_repro.puzzles.catalog import parse_name
from cogniload_repro.puzzles.release import STATE, name_state, parse_state
from cogniload_repro.records import decode_batch, read_json_lines
from cogniload_repro.storage import open_parquet

#: Names under which a set may have the columns of the puzzles table.
COLUMNS = {
    "text": ("text", "puzzle", "puzzle_text", "prompt", "input", "question"),
    "gold": ("gold", "solution", "answer", "target"),
    "N": ("N", "num_statements"),
    "d": ("d", "difficulty"),
    "needles": ("needles", "num_needles"),
    "puzzle_id": ("puzzle_id",),
    "poi": ("poi",),
    "category": ("category",),
    "domain": ("domain",),
    "rho": ("rho",),
    "ratio_pct": ("ratio_pct",),
}
_NAMES = ("name", "puzzle_name", "id", "puzzle_id", "filename", "file_name", "file")
_BATCH_ROWS = 32


class Unreadable(NamedTuple):
    """A puzzle that cannot be read: its name, or where it stands, and the reason."""

    name: str
    reason: str


class Files(NamedTuple):
    """The files of one puzzle of the layout; there may be no metadata."""

    text: Path
    state: Path | None


Item = dict | Unreadable | Files


def find_sets(source: str | Path) -> list[Path]:
    """Return the tables of puzzles of a source, and the folder itself when it has puzzles in the authors' layout.

    Raises
    ------
    ValueError
        If there is nothing of the kind.
    """
    source = Path(source)
    if source.is_file() and source.suffix in (".parquet", ".jsonl"):
        return [source]
    found = [path for name in ("puzzles.parquet", "puzzles.jsonl") if (path := source / name).is_file()]
    if next((source / "exp").rglob("*.txt"), None):
        found.append(source)
    if not found:
        raise ValueError(
            f"{source}: no puzzles here; give a .parquet or .jsonl file of puzzles, or a folder with "
            "puzzles.parquet, puzzles.jsonl or exp/**/NAME.txt"
        )
    return found


def read_set(path: Path) -> Iterator[tuple[str, Item]]:
    """Yield the puzzles of one place of `find_sets`, those that cannot be read too, each after where it stands.

    A row stands in a file and row or line, such as ``puzzles.jsonl, line 3``, files under their name.
    """
    if path.is_dir():
        yield from ((item.text.stem if isinstance(item, Files) else item.name, item) for item in _layout_files(path))
    else:
        yield from (_parquet_rows if path.suffix == ".parquet" else _json_rows)(path)


def count_set(path: Path) -> int | None:
    """Return the number of puzzles at one place of `find_sets`; None where only reading it tells."""
    if path.is_dir():
        return sum(1 for _ in _layout_files(path))
    if path.suffix != ".parquet":
        return None
    with open_parquet(path) as file:
        return file.metadata.num_rows


def read_row(item: Item) -> dict | Unreadable:
    """Return an item's puzzle under the names of the puzzles table: ``name`` and the `COLUMNS` that it has.

    Objects inside a row count as part of it, a name may be that of a file, and numbers may be written as text.
    Files bring their metadata whole, as ``state``.
    """
    if isinstance(item, Unreadable):
        return item
    if isinstance(item, Files):
        return _read_files(item)
    parts = [item, *(value for value in item.values() if isinstance(value, dict))]
    row: dict[str, object] = {"name": _find_name(item)}
    for column, names in COLUMNS.items():
        found = [part[name] for name in names for part in parts if part.get(name) is not None]
        if found:
            row[column] = _as_number(found[0]) if column in ("N", "d", "needles", "puzzle_id") else found[0]
    return row


def _as_number(value: object) -> object:
    if isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20:
        return int(value)
    return value


def _find_name(item: dict) -> str:
    """Return what names a row: a puzzle's name, be it that of a file, before anything else."""
    names = [value for column in _NAMES if isinstance(value := item.get(column), str)]
    stems = [PurePath(name).name.removesuffix(".txt") for name in names]
    return next((stem for stem in stems if parse_name(stem)), names[0] if names else "")


def _parquet_rows(path: Path) -> Iterator[tuple[str, Item]]:
    with open_parquet(path) as file:
        if not set(COLUMNS["text"]) & set(file.schema_arrow.names):
            raise ValueError(
                f"{path} has no column {', '.join(COLUMNS['text'][:-1])} or {COLUMNS['text'][-1]}, but "
                f"{', '.join(file.schema_arrow.names)}; give a table of puzzles, or rename the column of texts"
            )
        first = 0
        for group in range(file.num_row_groups):
            done, rows = 0, file.metadata.row_group(group).num_rows
            try:
                for batch in file.iter_batches(_BATCH_ROWS, [group]):
                    for fields in decode_batch(batch):
                        done += 1
                        label = f"{path.name}, row {first + done}"
                        yield label, fields if isinstance(fields, dict) else Unreadable(label, ": ".join(fields))
            except (pa.ArrowException, OSError) as error:
                for number in range(first + done, first + rows):
                    label = f"{path.name}, row {number + 1}"
                    yield label, Unreadable(label, f"the file is damaged here: {error}")
            first += rows


def _json_rows(path: Path) -> Iterator[tuple[str, Item]]:
    try:
        for row, fields, refusal in read_json_lines(path):
            label = f"{path.name}, line {row}"
            yield label, Unreadable(label, ": ".join(refusal)) if refusal else fields or {}
    except UnicodeError as error:
        yield path.name, Unreadable(path.name, str(error))


def _layout_files(folder: Path) -> Iterator[Files | Unreadable]:
    """Pair texts and metadata by name; where some puzzle has metadata, all need them."""
    states = {name_state(path): path for path in (folder / "meta").rglob(f"*{STATE}")}
    texts = sorted((folder / "exp").rglob("*.txt"))
    for path in texts:
        lacks = states and path.stem not in states
        yield Unreadable(path.stem, f"it has no {STATE}") if lacks else Files(path, states.get(path.stem))
    for name in sorted(states.keys() - {path.stem for path in texts}):
        yield Unreadable(name, "it has metadata and no text")


def _read_files(files: Files) -> dict | Unreadable:
    row: dict = {"name": files.text.stem}
    path = files.text
    try:
        row["text"] = path.read_text(encoding="utf-8")
        if files.state:
            path = files.state
            row["state"] = parse_state(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        return Unreadable(row["name"], f"{path.name}: {error}")
    return row
