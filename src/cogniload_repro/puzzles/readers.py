"""Sets of puzzles read one by one, whoever wrote them: Parquet, JSONL, or the folders of the authors' release."""

import json
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import NamedTuple

import pyarrow as pa

from cogniload_repro.puzzles.catalog import parse_name
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
_STATE = "_state.json"
_STATE_KEYS = ("poi", "category_defaults", "needles", "difficulty", "num_statements")
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
    row = {"name": _find_name(item)}
    for column, names in COLUMNS.items():
        found = [part[name] for name in names for part in parts if part.get(name) is not None]
        if found:
            row[column] = _as_number(found[0]) if column in ("N", "d", "needles", "puzzle_id") else found[0]
    return row


def _as_number(value: object) -> object:
    is_number = isinstance(value, str) and value.isascii() and value.isdigit() and len(value) < 20
    return int(value) if is_number else value


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
                    for place in range(batch.num_rows):
                        done += 1
                        label = f"{path.name}, row {first + done}"
                        yield label, _decode(batch.slice(place, 1), label)
            except (pa.ArrowException, OSError) as error:
                for number in range(first + done, first + rows):
                    label = f"{path.name}, row {number + 1}"
                    yield label, Unreadable(label, f"the file is damaged here: {error}")
            first += rows


def _decode(row: pa.RecordBatch, label: str) -> Item:
    try:
        return row.to_pylist()[0]
    except UnicodeDecodeError as error:
        return Unreadable(label, f"not UTF-8: {error}")


def _json_rows(path: Path) -> Iterator[tuple[str, Item]]:
    with open(path, "rb") as file:
        for number, line in enumerate(file, 1):
            if line.strip():
                label = f"{path.name}, line {number}"
                yield label, _parse(line, label)


def _parse(line: bytes, label: str) -> Item:
    try:
        row = json.loads(line.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        return Unreadable(label, f"not UTF-8: {error}")
    except (ValueError, RecursionError) as error:
        return Unreadable(label, f"not JSON: {error}")
    return row if isinstance(row, dict) else Unreadable(label, "not a JSON object")


def _layout_files(folder: Path) -> Iterator[Item]:
    """Pair texts and metadata by name; where some puzzle has metadata, all need them."""
    states = {path.name.removesuffix(_STATE): path for path in (folder / "meta").rglob(f"*{_STATE}")}
    texts = sorted((folder / "exp").rglob("*.txt"))
    for path in texts:
        lacks = states and path.stem not in states
        yield Unreadable(path.stem, f"it has no {_STATE}") if lacks else Files(path, states.get(path.stem))
    for name in sorted(states.keys() - {path.stem for path in texts}):
        yield Unreadable(name, "it has metadata and no text")


def _read_files(files: Files) -> dict | Unreadable:
    row: dict = {"name": files.text.stem}
    path = files.text
    try:
        row["text"] = path.read_text(encoding="utf-8")
        if files.state:
            path = files.state
            row["state"] = _parse_state(path.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        return Unreadable(row["name"], f"{path.name}: {error}")
    return row


def _parse_state(text: str) -> dict:
    state = json.loads(text)
    if not isinstance(state, dict):
        raise ValueError("not a JSON object")
    if missing := [key for key in _STATE_KEYS if key not in state]:
        raise ValueError(f"the metadata lack {', '.join(missing)}")
    return state
