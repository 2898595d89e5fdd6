"""How much hangs on the reading of Appendix D: verdicts that another reading would move."""

from collections import Counter
from itertools import islice
from pathlib import Path

import pandas as pd

from cogniload_repro.scoring.scores import find_question, read_batches, read_questions
from cogniload_repro.scoring.verdict import (
    ANSWER_ONLY,
    BUCKETS,
    CORRECT_BUCKETS,
    PSEUDOCODE,
    READINGS,
    Question,
    find_reading,
    judge,
)
from cogniload_repro.storage import as_place

#: The readings of Appendix D beside the default one; the answer alone is none of them, and another rule.
OTHERS = tuple(name for name, reading in READINGS.items() if reading not in (PSEUDOCODE, ANSWER_ONLY))


def count_moves(outputs_dir: str | Path, puzzles_path: str | Path, sample: int | None = None) -> pd.DataFrame:
    """Count responses by the buckets that they fall into under the default reading and under another one.

    One row per reading, model and pair of buckets, also where the two are the same. Of each file of the folder of
    outputs, only the first responses are read if ``sample`` says how many.
    """
    questions = read_questions(puzzles_path)
    moves: Counter[tuple[str, str, str, str]] = Counter()
    for path in sorted(as_place(outputs_dir).glob("*.parquet")):
        rows = (row for batch in read_batches(path) for row in batch.to_pylist())
        for row in islice(rows, sample):
            asked = find_question(questions, row["model"], row["name"])
            tokens = row["prompt_tokens"], row["response_tokens"]
            default, *others = score_all_ways(row["response"], asked.question, *tokens)
            moves.update((name, row["model"], default, bucket) for name, bucket in zip(OTHERS, others, strict=True))
    orders = OTHERS, sorted({model for _, model, *_ in moves}), BUCKETS, BUCKETS
    keys = sorted(moves, key=lambda key: [order.index(word) for order, word in zip(orders, key, strict=True)])
    columns = ["reading", "model", "bucket", "becomes", "responses"]
    return pd.DataFrame([(*key, moves[key]) for key in keys], columns=columns)


def summarise_moves(moves: pd.DataFrame) -> pd.DataFrame:
    """Add up the frame of `count_moves` by reading: responses, moved, right_to_wrong, wrong_to_right."""
    was, becomes = moves["bucket"].isin(CORRECT_BUCKETS), moves["becomes"].isin(CORRECT_BUCKETS)
    kinds = {
        "responses": was | ~was,
        "moved": moves["bucket"] != moves["becomes"],
        "right_to_wrong": was & ~becomes,
        "wrong_to_right": ~was & becomes,
    }
    counts = {kind: moves[which].groupby("reading")["responses"].sum() for kind, which in kinds.items()}
    return pd.DataFrame(counts).reindex(OTHERS).fillna(0).astype("int64").rename_axis("reading")


def place_scores(build: str | Path, name: str, chosen: str = "pseudocode") -> Path:
    """Return the folder for scores and cells under a reading; others than the build's chosen one stand beside its own.

    A ValueError if there is no such reading.
    """
    return as_place(build) if find_reading(name) == find_reading(chosen) else as_place(build) / "readings" / name


def score_all_ways(response: str, question: Question, *tokens: int | None) -> list[str]:
    """Return the bucket of a response under the default reading, then under each of `OTHERS`."""
    readings = [PSEUDOCODE, *(READINGS[name] for name in OTHERS)]
    return [bucket for bucket, _ in judge(response, question, readings, *tokens)]
