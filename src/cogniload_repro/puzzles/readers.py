"""Sets of puzzles read one by one: Parquet, JSONL, or the authors' ``exp/**/NAME.txt``, ``meta/**/NAME_state.json``."""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path, PurePath
from typing import NamedTuple

import pyarrow as pa

from cogniload_repro.puzzles.catalog import check_row, parse_name, split_name
from cogniload_repro.puzzles.puzzle import read_question
from cogniload_repro.records import decode_batch, read_json_lines
from cogniload_repro.storage import open_parquet

#: Names under which a set may have the columns of the puzzles table.
COLUMNS = {
    "text": ("text", "puzzle", "puzzle_text", "prompt", "input", "question"),
    "gold": ("gold", "solution", "answer", "target"),
    "N": ("N", "num_statements"),
    "d": ("d", "difficulty"),
    "needles": ("needles", "num_needles"),
    **{name: (name,) for name in ("puzzle_id", "poi", "category", "domain", "rho", "ratio_pct")},
}
_NAMES = ("name", "puzzle_name", "id", "puzzle_id", "filename", "file_name", "file")
_BATCH_ROWS = 32

#: How the names of metadata files end, and what they must say.
STATE = "_state.json"
_STATE_KEYS = ("poi", "category_defaults", "needles", "difficulty", "num_statements")


class Item(NamedTuple):
    """A puzzle of a set: where it stands, its fields as they were found, or why it cannot be read."""

    where: str
    fields: dict
    error: str = ""


def find_sets(source: str | Path) -> list[Path]:
    """Return the tables of puzzles of a source, and the folder itself when it has puzzles in the authors' layout."""
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


def read_set(path: Path) -> Iterator[Item]:
    """Yield the puzzles of one place of `find_sets`, those that cannot be read too.

    Texts of the authors' release bring ``name``, ``text``, and their metadata whole, as ``state``.
    """
    if path.is_dir():
        yield from _read_release(path)
    elif path.suffix == ".parquet":
        yield from _read_parquet(path)
    else:
        try:
            for row, fields, refusal in read_json_lines(path):
                yield Item(f"{path.name}, line {row}", fields or {}, ": ".join(refusal or ()))
        except UnicodeError as error:
            yield Item(path.name, {}, str(error))


def read_row(fields: Mapping) -> dict:
    """Return an item's fields under the names of the puzzles table: ``name`` and the `COLUMNS` that it has.

    Objects inside a row count as part of it, a name may be that of a file, and numbers may be written as text.
    """
    if "state" in fields:
        return dict(fields)
    parts = [fields, *(value for value in fields.values() if isinstance(value, dict))]
    names = [value for column in _NAMES if isinstance(value := fields.get(column), str)]
    stems = (PurePath(name).name.removesuffix(".txt") for name in names)
    row: dict[str, object] = {"name": next(filter(parse_name, stems), names[0] if names else "")}
    for column, others in COLUMNS.items():
        found = [part[name] for name in others for part in parts if part.get(name) is not None]
        if found:
            is_number = column in ("N", "d", "needles", "puzzle_id") and re.fullmatch(r"[0-9]{1,19}", str(found[0]))
            row[column] = int(found[0]) if is_number else found[0]
    return row


def _read_parquet(path: Path) -> Iterator[Item]:
    with open_parquet(path) as file:
        if not set(COLUMNS["text"]) & set(file.schema_arrow.names):
            raise ValueError(
                f"{path} has no column {', '.join(COLUMNS['text'][:-1])} or {COLUMNS['text'][-1]}, but "
                f"{', '.join(file.schema_arrow.names)}; give a table of puzzles, or rename the column of texts"
            )
        first = 1
        for group in range(file.num_row_groups):
            done, rows = 0, file.metadata.row_group(group).num_rows
            try:
                for batch in file.iter_batches(_BATCH_ROWS, [group]):
                    for fields in decode_batch(batch):
                        where = f"{path.name}, row {first + done}"
                        yield Item(where, fields) if isinstance(fields, dict) else Item(where, {}, ": ".join(fields))
                        done += 1
            except (pa.ArrowException, OSError) as error:
                for row in range(first + done, first + rows):
                    yield Item(f"{path.name}, row {row}", {}, f"the file is damaged here: {error}")
            first += rows


def _read_release(folder: Path) -> Iterator[Item]:
    """Pair texts and metadata by name; where some puzzle has metadata, all need them."""
    states = {name_state(path): path for path in (folder / "meta").rglob(f"*{STATE}")}
    texts = sorted((folder / "exp").rglob("*.txt"))
    for path in texts:
        name = path.stem
        if states and name not in states:
            yield Item(name, {}, f"it has no {STATE}")
            continue
        try:
            text = path.read_text(encoding="utf-8")
            path = states.get(name, path)
            state = _parse_state(path.read_text(encoding="utf-8")) if states else {}
            yield Item(name, {"name": name, "text": text, "state": state})
        except (OSError, ValueError) as error:
            yield Item(name, {}, f"{path.name}: {error}")
    for name in sorted(states.keys() - {path.stem for path in texts}):
        yield Item(name, {}, "it has metadata and no text")


def name_state(path: PurePath) -> str:
    """Return the name of the puzzle that a metadata file is about."""
    return path.name.removesuffix(STATE)


def _parse_state(metadata: str) -> dict:
    try:
        state = json.loads(metadata)
    except RecursionError as error:
        raise ValueError(f"the metadata are nested too deeply ({error})") from None
    if not isinstance(state, dict):
        raise ValueError("the metadata are not a JSON object")
    if missing := [key for key in _STATE_KEYS if key not in state]:
        raise ValueError(f"the metadata lack {', '.join(missing)}")
    return state


def spent_counters(state: Mapping) -> set[str]:
    """Return which of needles and hays say nothing: the released program writes what is left of them at the end, 0."""
    return {key for key in ("needles", "hays") if state.get(key) == 0}


def release_row(name: str, text: str, metadata: str) -> dict:
    """Return a puzzle of the release as a row of the puzzles table."""
    parts = split_name(name)
    state = _parse_state(metadata)
    said = state["num_statements"], state["difficulty"], state["needles"]
    named = parts.N, parts.d, 0 if "needles" in spent_counters(state) else parts.needles
    if said != named:
        raise ValueError(f"the metadata say N, d, needles = {said}, the name {tuple(parts[:3])}")
    _, category = read_question(text.rstrip().rpartition("\n")[2])
    domains = state["category_defaults"]
    domain = domains.get(category) if isinstance(domains, dict) else None
    if not isinstance(domain, list):
        raise ValueError(f"the metadata lack a list of values of {category}")
    return check_row({"name": name, "text": text, "poi": state["poi"], "category": category, "domain": domain})
