"""Long responses for trials of size and speed: stand-ins with reasoning-like text in front, in the same buckets."""

import random
from concurrent.futures import Executor
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa
from tqdm import tqdm

from cogniload_repro.parquet import open_parquet, read_metadata, remove_parts, table_writer
from cogniload_repro.places import as_place
from cogniload_repro.schemas import OUTPUTS
from cogniload_repro.scoring import explain_response

_BATCH_ROWS = 256
_REMARKS = (
    "So the next statement changes only those who match it, and nobody else.",
    "Wait, let me check that once more before going on → yes, it still holds.",
    "{}: checked, nothing new here.",
    "Does this concern {}? Not as far as I see, so everything stays.",
    "",
)


class _Question(NamedTuple):
    """What a response is padded with, and scored by."""

    text: str
    poi: str
    gold: str
    domain: list[str]
    category: str


def pad_outputs(
    outputs_dir: str | Path,
    puzzles_path: str | Path,
    target_dir: str | Path,
    chars: int,
    executor: Executor | None = None,
) -> int:
    """Write outputs again with longer responses; return their number.

    In front of every response that is not empty comes text made of its puzzle's statements. Bucket, window and
    answer stay what they were: each is compared.

    Parameters
    ----------
    outputs_dir, target_dir : path
        Folders of ``<model>.parquet`` files.
    puzzles_path : path
        The puzzles table.
    chars : int
        Characters to put in front of each response, as good as whole lines allow.
    executor : concurrent.futures.Executor, optional
        Where partitions are written; in this process by default. The bytes do not depend on it.

    Raises
    ------
    ValueError
        If there are no outputs, they would be overwritten, or a row names no known puzzle.
    """
    outputs_dir, target_dir = as_place(outputs_dir), as_place(target_dir)
    sources = sorted(outputs_dir.glob("*.parquet"))
    if not sources or outputs_dir == target_dir:
        raise ValueError(f"{outputs_dir} holds no outputs or is the target itself; give another folder")
    remove_parts(target_dir)
    tasks = [(source, puzzles_path, target_dir / source.name, chars) for source in sources]
    if executor is None:
        counts = (_pad_partition(*task) for task in tasks)
    else:
        counts = executor.map(_pad_partition, *zip(*tasks, strict=True))
    return sum(tqdm(counts, "pad", total=len(tasks), unit=" models", disable=None))


def pad_response(response: str, question: _Question, chars: int, rng: random.Random, **tokens: int | None) -> str:
    """Return a response with about this many characters in front, whose verdict is the same."""
    asked = {name: getattr(question, name) for name in ("poi", "gold", "domain", "category")} | tokens
    verdict = explain_response(response, **asked)
    lines = [line for line in question.text.splitlines() if line and not line.startswith("Solve ")][:-1]
    lines += [remark.format(question.poi) for remark in _REMARKS]
    for usable in (lines, [line for line in lines if question.poi.lower() not in line.lower()]):
        padded = f"{_write(usable, chars, rng)}\n{response}"
        if response and explain_response(padded, **asked) == verdict:
            return padded
    return response  # an empty one is a verdict of its own


def _write(lines: list[str], chars: int, rng: random.Random) -> str:
    mean = sum(map(len, lines)) / len(lines) + 1
    return "\n".join(rng.choices(lines, k=round(chars / mean)))


def _pad_partition(source: Path, puzzles_path: str | Path, target: Path, chars: int) -> int:
    with open_parquet(puzzles_path) as file:
        puzzles = file.read(columns=["name", *_Question._fields])
    places = {name: place for place, name in enumerate(puzzles.column("name").to_pylist())}
    metadata = {**read_metadata(source), "padding": f"{chars} characters a response"}
    rows = 0
    with open_parquet(source) as file, table_writer(target, OUTPUTS, metadata) as writer:
        for batch in file.iter_batches(_BATCH_ROWS, columns=OUTPUTS.names):
            padded = [_pad_row(row, puzzles, places, chars) for row in batch.to_pylist()]
            writer.write_table(pa.Table.from_pylist(padded, writer.schema))
            rows += len(padded)
    return rows


def _pad_row(row: dict, puzzles: pa.Table, places: dict[str, int], chars: int) -> dict:
    if row["name"] not in places:
        raise ValueError(f"{row['model']} answers puzzle {row['name']!r}, which the puzzles table lacks; add it")
    (fields,) = puzzles.slice(places[row["name"]], 1).select(_Question._fields).to_pylist()
    tokens = {name: row[name] for name in ("prompt_tokens", "response_tokens")}
    rng = random.Random(f"{row['model']} {row['name']}")
    return row | {"response": pad_response(row["response"], _Question(**fields), chars, rng, **tokens)}
