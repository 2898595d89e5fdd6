"""Sets of puzzles read one by one: Parquet, JSONL, or the authors' ``exp/**/NAME.txt``, ``meta/**/NAME_state.json``."""

import json
from collections.abc import Iterator
from pathlib import Path, PurePath
from typing import NamedTuple

import pyarrow as pa

from cogniload_repro.puzzles.catalog import check_row
from cogniload_repro.puzzles.puzzle import read_question
from cogniload_repro.records import decode_batch, read_json_lines
from cogniload_repro.storage import open_parquet

#: How the names of metadata files end, and what they must say.
STATE = "_state.json"
_STATE_KEYS = ("poi", "category_defaults", "needles", "difficulty", "num_statements")
_BATCH_ROWS = 32


class Item(NamedTuple):
    """A puzzle of a set: where it stands, its columns as they were found, or why it cannot be read."""

    where: str
    row: dict
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
    """Yield the puzzles of one place of `find_sets`, those that cannot be read too."""
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


def _read_parquet(path: Path) -> Iterator[Item]:
    with open_parquet(path) as file:
        if "text" not in file.schema_arrow.names:
            raise ValueError(f"{path} has no column text, but {', '.join(file.schema_arrow.names)}")
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
    texts = {path.stem: path for path in sorted((folder / "exp").rglob("*.txt"))}
    for name in [*texts, *sorted(states.keys() - texts.keys())]:
        if name not in texts or (states and name not in states):
            yield Item(name, {}, f"it has no {STATE}" if name in texts else "it has metadata and no text")
            continue
        path = texts[name]
        try:
            row = {"name": name, "text": path.read_text(encoding="utf-8")}
            if states:
                path = states[name]
                row |= _state_columns(row["text"], path.read_text(encoding="utf-8"))
            yield Item(name, row)
        except (OSError, ValueError) as error:
            yield Item(name, {}, f"{path.name}: {error}")


def name_state(path: PurePath) -> str:
    """Return the name of the puzzle that a metadata file is about."""
    return path.name.removesuffix(STATE)


def release_row(name: str, text: str, metadata: str) -> dict:
    """Return a puzzle of the release as a row of the puzzles table."""
    return check_row({"name": name, "text": text, **_state_columns(text, metadata)})


def _state_columns(text: str, metadata: str) -> dict:
    """Return the columns that a puzzle's metadata state."""
    try:
        state = json.loads(metadata)
    except RecursionError as error:
        raise ValueError(f"the metadata are nested too deeply ({error})") from None
    if not isinstance(state, dict):
        raise ValueError("the metadata are not a JSON object")
    if missing := [key for key in _STATE_KEYS if key not in state]:
        raise ValueError(f"the metadata lack {', '.join(missing)}")
    _, category = read_question(text.rstrip().rpartition("\n")[2])
    domains = state["category_defaults"]
    if not isinstance(domains, dict) or not isinstance(domains.get(category), list):
        raise ValueError(f"the metadata lack a list of values of {category}")
    row = {"poi": state["poi"], "N": state["num_statements"], "d": state["difficulty"]}
    # the released program writes how many needles are left at the end, which is none
    needles = {"needles": state["needles"]} if state["needles"] != 0 else {}
    return row | needles | {"category": category, "domain": domains[category]}
