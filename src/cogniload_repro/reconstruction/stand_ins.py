"""Counts per cell -> worded responses that the real scorer puts into the reconstructed buckets.

The paper's raw outputs are not public. A stand-in response has the bucket of the reconstruction, in one of several
wordings, and token counts whose mean and 90th percentile are those of Tables 7 to 10. Nothing else about it is
meant: which puzzle of a cell went wrong, and the wording, are drawn at random.
"""

import random
from collections.abc import Iterator, Sequence
from concurrent.futures import Executor, as_completed
from functools import lru_cache
from itertools import chain
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from tqdm import tqdm

from cogniload_repro import __version__
from cogniload_repro.models import BY_NAME
from cogniload_repro.published import ERRORS
from cogniload_repro.puzzles.ontology import PHRASES
from cogniload_repro.reconstruction.reconstruct import DRAW_SEED
from cogniload_repro.reconstruction.token_draws import draw_tokens
from cogniload_repro.schemas import OUTPUTS
from cogniload_repro.scoring.cells import BUCKET_COLUMNS
from cogniload_repro.scoring.verdict import score_response
from cogniload_repro.storage import partition_path, remove_parts, write_table

#: Bucket of the scorer for each error column of the cells table.
_WRONG = {column: bucket for bucket, column in BUCKET_COLUMNS.items() if column in ERRORS}
#: Shares of the three kinds of correct answers; the paper does not print them.
CORRECT_SHARES = {"correct_valid": 0.96, "correct_poi": 0.02, "correct_last_sentence": 0.02}

_KEYS = ["N", "ratio_pct", "d"]
_CELL = len(_KEYS)
_FACTS = ("poi", "gold", "domain", "category", "prompt_tokens", "response_tokens")
_PUZZLE_COLUMNS = [*_KEYS, "name", "poi", "category", "gold", "domain"]

_OPENINGS = (
    "I go through the statements one after the other.\n\n",
    "<think>\nEvery statement is applied in order, and only its matching people change.\n</think>\n\n",
    "",
    "Working through all statements in sequence gives the final state.\n",
)
# {s}: a sentence with person, property and value; {v}: the value; {c}: property and value; {p}: the person
_WORDINGS = {
    "valid": (
        "{s}",
        "**{s}**",
        '"{s}"',
        "So, at the end: {s}",
        "{s}\n(This is the state after the last statement.)",
        "Final answer:\n\n- {s}",
        "{boxed}",
        "In the end {p} is the one {c}.",
    ),
    "poi": ("{p}: {v}", "{p} -> **{v}**", "Our result for {p}: {v}", "{p}: \\boxed{{{v}}}"),
    "last": ("Answer: {v}", "**{v}**", "\\boxed{{{v}}}", "The final value is {v}", "{v}"),
    "other": (
        "This puzzle has no unique solution.",
        "The question about {p} cannot be settled.",
        "I do not know.",
        "Not enough facts are given.",
        "?",
    ),
    "overflow": ("Next statement. The people who match it change. Next statement. The people", "Wait, once more:"),
}
_KINDS = {
    "correct_valid": "valid",
    "correct_poi": "poi",
    "correct_last_sentence": "last",
    "wrong_logic": "valid",
    "wrong_logic_poi": "poi",
    "wrong_logic_last_sentence": "last",
    "wrong_other": "other",
}


def stand_in_outputs(model: str, cells: pd.DataFrame, puzzles: pd.DataFrame, seed: int = DRAW_SEED) -> pd.DataFrame:
    """Return stand-in responses of one model, which has its own random stream: the outputs' columns but stopped.

    ``cells`` are the model's; ``puzzles`` the puzzles table, with the length of each text in `characters`. A model
    answers the first puzzles of each cell, as many as its total.
    """
    rng = np.random.default_rng([seed, list(BY_NAME).index(model)])
    rows = _answered(cells, puzzles)
    rows["bucket"] = _assign_buckets(cells, rows, rng)
    rows = rows.assign(model=model, **draw_tokens(model, rows, rng))
    rows["response"] = _word_all(rows, random.Random(int(rng.integers(2**63))))
    return rows[["model", "name", "response", "prompt_tokens", "response_tokens"]]


def write_stand_ins(puzzles_path: str | Path, cells: pd.DataFrame, outputs_dir: str | Path, executor: Executor) -> int:
    """Write stand-in responses of all models as outputs, one partition a model; return their number.

    Partitions of other models are removed in the end. The bytes do not depend on where models are worded.
    """
    puzzles_path, outputs_dir = Path(puzzles_path), Path(outputs_dir)
    remove_parts(outputs_dir)
    paths = {model: partition_path(outputs_dir, model) for model in cells["model"].unique()}
    tasks = [executor.submit(_write_model, m, cells[cells["model"] == m], puzzles_path, paths[m]) for m in paths]
    finished = tqdm(as_completed(tasks), "responses", total=len(tasks), unit=" models", disable=None)
    count = sum(task.result() for task in finished)
    for stale in set(outputs_dir.glob("*.parquet")) - set(paths.values()):
        stale.unlink()
    return count


def _write_model(model: str, cells: pd.DataFrame, puzzles_path: Path, path: Path) -> int:
    outputs = stand_in_outputs(model, cells, _read_puzzles(puzzles_path)).assign(
        stopped=None
    )  # the paper does not tell
    metadata = {
        "provenance": "reconstructed",
        "source": "worded from data/reconstructed/cells.csv",
        "seed": str(DRAW_SEED),
        "version": __version__,
        "command": "cogniload download-outputs",
    }
    write_table(path, pa.Table.from_pandas(outputs, OUTPUTS, preserve_index=False), metadata)
    return len(outputs)


@lru_cache(maxsize=1)
def _read_puzzles(path: Path) -> pd.DataFrame:
    """Read the puzzles once a process, and of their texts, the largest thing here, the lengths."""
    table = pq.read_table(path, columns=[*_PUZZLE_COLUMNS, "text"])
    characters = pc.utf8_length(table["text"])
    return table.drop_columns("text").append_column("characters", characters).to_pandas()


def _answered(cells: pd.DataFrame, puzzles: pd.DataFrame) -> pd.DataFrame:
    """Return the puzzles a model answers: the first n of each of its cells."""
    place = puzzles.groupby(_KEYS, sort=False).cumcount()
    n = puzzles[_KEYS].merge(cells[[*_KEYS, "total"]], on=_KEYS, how="left")["total"].fillna(0).to_numpy()
    rows = puzzles.loc[place.to_numpy() < n, [*_PUZZLE_COLUMNS, "characters"]].reset_index(drop=True)
    rows["domain"] = rows["domain"].map(list)
    if len(rows) != cells["total"].sum():
        raise ValueError(
            f"the puzzles table holds {len(rows)} of the {cells['total'].sum()} puzzles of these cells; "
            "draw it again with `cogniload puzzles`"
        )
    return rows


def _assign_buckets(cells: pd.DataFrame, rows: pd.DataFrame, rng: np.random.Generator) -> np.ndarray:
    """Deal each cell's buckets out to its puzzles."""
    buckets, members = np.empty(len(rows), dtype=object), rows.groupby(_KEYS, sort=False).indices
    for cell in cells[cells["total"] > 0].to_dict("records"):
        split = rng.multinomial(cell["correct"], list(CORRECT_SHARES.values()))
        dealt = np.repeat([*CORRECT_SHARES, *_WRONG.values()], [*split, *(cell[column] for column in _WRONG)])
        buckets[members[tuple(cell[key] for key in _KEYS)]] = rng.permutation(dealt)
    return buckets


def _word_all(rows: pd.DataFrame, rng: random.Random) -> list[str]:
    """Word all responses; puzzles on which a bucket cannot be had swap it with another puzzle of their cell.

    With Fred as the person and red as the right value, for instance, the scorer finds the right value in every
    sentence about him and never calls one wrong (Algorithm 3).
    """
    rows = list(rows.itertuples(index=False))
    responses = [_word(row, row.bucket, rng) for row in rows]
    for stuck in [place for place, response in enumerate(responses) if response is None]:
        cell = rows[stuck][:_CELL]
        for other, row in enumerate(rows):
            if row[:_CELL] == cell and responses[other] is not None and row.bucket != "wrong_max_context":
                swapped = _word(rows[stuck], row.bucket, rng), _word(row, rows[stuck].bucket, rng)
                if None not in swapped:
                    responses[stuck], responses[other] = swapped
                    rows[other] = row._replace(bucket=rows[stuck].bucket)
                    rows[stuck] = rows[stuck]._replace(bucket=row.bucket)
                    break
        else:
            raise ValueError(f"no puzzle of the cell of {rows[stuck].name} can be worded as {rows[stuck].bucket}")
    return responses  # type: ignore[return-value]  # none is stuck any more


def _word(row, bucket: str, rng: random.Random) -> str | None:
    """Word a response that the scorer puts into a bucket, or return None where there is no such wording.

    Any correct bucket will do for a correct answer.
    """
    facts = {name: getattr(row, name) for name in _FACTS}
    for wanted in dict.fromkeys((bucket, "correct_valid" if bucket.startswith("correct") else bucket)):
        for response in _proposals(row, wanted, rng):
            if score_response(response, **facts) == wanted:
                return response
    return None


def _proposals(row, bucket: str, rng: random.Random) -> Iterator[str]:
    """Propose responses: all values and wordings, from a random one on."""
    if bucket == "wrong_max_context":
        yield rng.choice(_WORDINGS["overflow"]) if row.overflows else ""
        return
    values = [row.gold] if bucket.startswith("correct") else [v for v in row.domain if v != row.gold]
    opening = rng.choice(_OPENINGS)
    for value in _from_anywhere(values, rng):
        for wording in _from_anywhere(_WORDINGS[_KINDS[bucket]], rng):
            yield opening + _fill(wording, row, value)


def _fill(wording: str, row, value: str) -> str:
    phrases, boxed = PHRASES[row.category], f"\\boxed{{{value}}}"
    sentence, in_box = (f"{row.poi} {phrases.initial.format(said)}." for said in (value, boxed))
    return wording.format(s=sentence, boxed=in_box, c=phrases.condition.format(value), p=row.poi, v=value)


def _from_anywhere(items: Sequence, rng: random.Random) -> Iterator:
    start = rng.randrange(len(items))
    return chain(items[start:], items[:start])
