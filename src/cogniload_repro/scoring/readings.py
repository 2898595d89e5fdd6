"""How much hangs on the reading of Appendix D: verdicts that another reading would move."""

from collections import Counter
from itertools import islice
from pathlib import Path

import numpy as np
import pandas as pd

from cogniload_repro.scoring.scores import find_question, read_batches, read_questions
from cogniload_repro.scoring.verdict import (
    ANSWER_ONLY,
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
    """Count by reading the responses whose bucket another reading would change.

    Index reading; columns responses, moved, right_to_wrong, wrong_to_right. Of each file of the folder of outputs, only
    the first responses are read if ``sample`` says how many.
    """
    questions = read_questions(puzzles_path)
    names = ["responses", "moved", "right_to_wrong", "wrong_to_right"]
    moves = pd.DataFrame(0, pd.Index(OTHERS, name="reading"), names)
    for path in sorted(as_place(outputs_dir).glob("*.parquet")):
        rows = (row for batch in read_batches(path) for row in batch.to_pylist())
        buckets: Counter[tuple[str, ...]] = Counter()
        for row in islice(rows, sample):
            asked = find_question(questions, row["model"], row["name"]).question
            buckets[tuple(score_all_ways(row["response"], asked, row["prompt_tokens"], row["response_tokens"]))] += 1
        for (default, *others), count in buckets.items():
            for name, bucket in zip(OTHERS, others, strict=True):
                was, becomes = default in CORRECT_BUCKETS, bucket in CORRECT_BUCKETS
                moves.loc[name] += count * np.array([1, bucket != default, was > becomes, was < becomes])
    return moves


def place_scores(build: str | Path, name: str, chosen: str = "pseudocode") -> Path:
    """Return the folder for scores and cells under a reading; others than the build's chosen one lie beside its."""
    return as_place(build) if find_reading(name) == find_reading(chosen) else as_place(build) / "readings" / name


def score_all_ways(response: str, question: Question, *tokens: int | None) -> list[str]:
    """Return the bucket of a response under the default reading, then under each of `OTHERS`."""
    return [judge(response, question, READINGS[name], *tokens)[0] for name in ("pseudocode", *OTHERS)]
