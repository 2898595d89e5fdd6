"""How much hangs on the reading of Appendix D: verdicts that another reading would move."""

from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from cogniload_repro.scoring.scores import Question, read_questions
from cogniload_repro.scoring.verdict import (
    ANSWER_ONLY,
    BUCKETS,
    CORRECT_BUCKETS,
    PSEUDOCODE,
    READINGS,
    find_reading,
    score_readings,
)
from cogniload_repro.storage import as_place, open_parquet

#: The readings of Appendix D beside the default one; the answer alone is none of them, and another rule.
OTHERS = tuple(name for name, reading in READINGS.items() if reading not in (PSEUDOCODE, ANSWER_ONLY))

_BATCH_ROWS = 256
_READ = ["model", "name", "response", "prompt_tokens", "response_tokens"]
_COLUMNS = ["reading", "model", "bucket", "becomes", "responses"]


def count_moves(
    outputs_dir: str | Path, puzzles_path: str | Path, sample: int | None = None
) -> tuple[pd.DataFrame, pd.Series]:
    """Count the responses that another reading puts into another bucket than the default one.

    Parameters
    ----------
    outputs_dir : path
        Folder of ``<model>.parquet`` files.
    puzzles_path : path
        The puzzles table.
    sample : int, optional
        Read only the first responses of each file, as many as this.

    Returns
    -------
    moves : DataFrame
        One row a reading, model and pair of buckets between which the reading moves responses, in the order of
        `READINGS`, of the files and of `BUCKETS`: reading, model, bucket (of the default reading), becomes,
        responses. What moves nothing has no row.
    read : Series
        Responses read, by model.

    Raises
    ------
    ValueError
        If a response belongs to no known puzzle.
    """
    questions = read_questions(puzzles_path)
    moves: Counter[tuple[str, str, str, str]] = Counter()
    read: Counter[str] = Counter()
    for path in sorted(as_place(outputs_dir).glob("*.parquet")):
        for model, buckets in _read_buckets(path, questions, sample):
            read[model] += 1
            default = buckets[0]
            for name, bucket in zip(OTHERS, buckets[1:], strict=True):
                if bucket != default:
                    moves[name, model, default, bucket] += 1
    orders = (OTHERS, tuple(read), BUCKETS, BUCKETS)
    rows = sorted(moves, key=lambda key: [order.index(word) for order, word in zip(orders, key, strict=True)])
    return pd.DataFrame([(*key, moves[key]) for key in rows], columns=_COLUMNS), pd.Series(read, dtype="int64")


def summarise_moves(moves: pd.DataFrame) -> pd.DataFrame:
    """Add up by reading how many verdicts it moves, and what that does to accuracy.

    Parameters
    ----------
    moves : DataFrame
        As `count_moves` returns it.

    Returns
    -------
    DataFrame
        Indexed by reading, in the order of `OTHERS`, numbers of responses: moved, right_to_wrong, wrong_to_right.
    """
    was, becomes = moves["bucket"].isin(CORRECT_BUCKETS), moves["becomes"].isin(CORRECT_BUCKETS)
    kinds = {"moved": was | ~was, "right_to_wrong": was & ~becomes, "wrong_to_right": ~was & becomes}
    counts = {kind: moves[chosen].groupby("reading")["responses"].sum() for kind, chosen in kinds.items()}
    return pd.DataFrame(counts).reindex(OTHERS).fillna(0).astype("int64").rename_axis("reading")


def place_scores(build: str | Path, name: str, chosen: str = "pseudocode") -> Path:
    """Return the folder for scores and cells under a reading; others than the build's chosen one stand beside its own.

    Raises
    ------
    ValueError
        If there is no such reading.
    """
    return as_place(build) if find_reading(name) == find_reading(chosen) else as_place(build) / "readings" / name


def read_all_ways(response: str, question: Question, **tokens: Any) -> list[str]:
    """Return the bucket of a response under the default reading, then under each of `OTHERS`."""
    readings = PSEUDOCODE, *(READINGS[name] for name in OTHERS)
    return score_readings(response, readings, **question.asked, **tokens)


def _read_buckets(path: Path, questions: Mapping[str, Question], sample: int | None) -> Iterator[tuple[str, list[str]]]:
    """Yield the model of each response of a file and its buckets."""
    left = sample
    with open_parquet(path) as file:
        for batch in file.iter_batches(_BATCH_ROWS, columns=_READ):
            batch = batch if left is None else batch.slice(0, left)
            left = None if left is None else left - batch.num_rows
            for model, name, response, prompt_tokens, response_tokens in zip(
                *(batch.column(column).to_pylist() for column in _READ), strict=True
            ):
                if name not in questions:
                    raise ValueError(f"{model} answers puzzle {name!r}, which the puzzles table lacks; add it")
                tokens = {"prompt_tokens": prompt_tokens, "response_tokens": response_tokens}
                yield model, read_all_ways(response, questions[name], **tokens)
            if left == 0:
                return
