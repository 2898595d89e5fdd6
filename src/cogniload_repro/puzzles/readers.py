"""Puzzles from files: tables as `cogniload puzzles` writes them, and the metadata of the authors' release."""

import json
from collections.abc import Iterator, Sequence
from pathlib import Path, PurePath

import pandas as pd

from cogniload_repro.puzzles.catalog import check_row
from cogniload_repro.puzzles.puzzle import read_question
from cogniload_repro.storage import open_parquet

#: How the names of metadata files end, and what they must say.
STATE = "_state.json"
_STATE_KEYS = ("poi", "category_defaults", "needles", "difficulty", "num_statements")
_BATCH_ROWS = 500


def read_puzzles(source: str | Path, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
    """Yield some columns of a set, in its order, few puzzles in memory at a time.

    The source is a Parquet or JSONL file, or a folder with puzzles.parquet or puzzles.jsonl. ValueError for others,
    damaged ones, and for columns that are not there.
    """
    places = [
        Path(source),
        *(Path(source) / f"puzzles{ending}" for ending in (".parquet", ".jsonl")),
    ]
    path = next(
        (one for one in places if one.is_file() and one.suffix in (".parquet", ".jsonl")), None
    )
    if path is None:
        raise ValueError(
            f"{source}: no puzzles here; give a .parquet or .jsonl file of puzzles, or a folder with one"
        )
    for part in _read_parquet(path, columns) if path.suffix == ".parquet" else _read_jsonl(path):
        if missing := [name for name in columns if name not in part]:
            raise ValueError(
                f"{path}: the puzzles lack {', '.join(missing)}; write them with `cogniload puzzles`"
            )
        yield part[[*columns]]


def _read_parquet(path: Path, columns: Sequence[str]) -> Iterator[pd.DataFrame]:
    with open_parquet(path) as file:
        yield from (
            batch.to_pandas() for batch in file.iter_batches(_BATCH_ROWS, columns=[*columns])
        )


def _read_jsonl(path: Path) -> Iterator[pd.DataFrame]:
    try:
        with pd.read_json(path, lines=True, chunksize=_BATCH_ROWS, dtype=False) as parts:
            yield from parts
    except ValueError as error:
        raise ValueError(f"{path} is no table of puzzles ({error}); make it again") from None


def name_state(path: PurePath) -> str:
    """Return the name of the puzzle that a metadata file is about."""
    return path.name.removesuffix(STATE)


def release_row(name: str, text: str, metadata: str) -> dict:
    """Return a puzzle of the release, its text and what its metadata state, as a row of the puzzles table."""
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
    row = {
        "name": name,
        "text": text,
        "poi": state["poi"],
        "N": state["num_statements"],
        "d": state["difficulty"],
    }
    # the released program writes the number of needles that are left at the end, always 0
    needles = {"needles": state["needles"]} if state["needles"] != 0 else {}
    return check_row(row | needles | {"category": category, "domain": domains[category]})
