"""How much hangs on the reading of Appendix D: verdicts that another reading would move."""

from collections import Counter
from pathlib import Path

import pandas as pd

from cogniload_repro.parquet import open_parquet
from cogniload_repro.places import as_place
from cogniload_repro.schemas import OUTPUTS
from cogniload_repro.scores import read_questions
from cogniload_repro.scoring import BUCKETS, PSEUDOCODE, READINGS, score_response

_BATCH_ROWS = 256


def count_moves(outputs_dir: str | Path, puzzles_path: str | Path) -> pd.DataFrame:
    """Count the responses that another reading puts into another bucket than the default one.

    Parameters
    ----------
    outputs_dir : path
        Folder of ``<model>.parquet`` files.
    puzzles_path : path
        The puzzles table.

    Returns
    -------
    DataFrame
        One row a pair of buckets between which a reading moves responses, in the order of `READINGS` and
        `BUCKETS`: reading, bucket (of the default reading), becomes, responses, share (of all responses). A
        reading that moves nothing has no row.

    Raises
    ------
    ValueError
        If a response belongs to no known puzzle.
    """
    questions = read_questions(puzzles_path)
    moves: Counter[tuple[str, str, str]] = Counter()
    total = 0
    for path in sorted(as_place(outputs_dir).glob("*.parquet")):
        with open_parquet(path) as file:
            for batch in file.iter_batches(_BATCH_ROWS, columns=OUTPUTS.names):
                for row in batch.to_pylist():
                    moves.update(_moves(row, questions))
                total += batch.num_rows
    order = {word: place for place, word in enumerate((*READINGS, *BUCKETS))}
    rows = sorted(moves.items(), key=lambda item: [order[word] for word in item[0]])
    frame = pd.DataFrame(
        [(*pair, count) for pair, count in rows], columns=["reading", "bucket", "becomes", "responses"]
    )
    return frame.assign(share=frame["responses"] / total)


def _moves(row: dict, questions: dict) -> list[tuple[str, str, str]]:
    """Return the readings that decide otherwise on one response, each with the two buckets."""
    if row["name"] not in questions:
        raise ValueError(f"{row['model']} answers puzzle {row['name']!r}, which the puzzles table lacks; add it")
    question = questions[row["name"]]
    asked = {name: getattr(question, name) for name in ("poi", "gold", "domain", "category")}
    asked |= {name: row[name] for name in ("prompt_tokens", "response_tokens")}
    buckets = {name: score_response(row["response"], reading=reading, **asked) for name, reading in READINGS.items()}
    default = next(buckets[name] for name, reading in READINGS.items() if reading == PSEUDOCODE)
    return [(name, default, bucket) for name, bucket in buckets.items() if bucket != default]
