"""How a model's answers ended and what decided their scores, counted by model."""

import pandas as pd

from cogniload_repro.endings import CUT, STOPS
from cogniload_repro.scoring.cells import BUCKET_COLUMNS
from cogniload_repro.scoring.verdict import (
    CONTEXT_BUCKET,
    CORRECT_BUCKETS,
    OTHER_BUCKET,
)

#: Columns of wrong answers, as in Tables 4 and 5.
WRONG = tuple(
    dict.fromkeys(name for name in BUCKET_COLUMNS.values() if name != "correct")
)


def summarise_answers(scores: pd.DataFrame) -> pd.DataFrame:
    """Count a model's answers by why they ended and by what made them correct or wrong.

    One row per model, in the order of the scores: model, answers, correct;

    - why the model stopped, as its source says: a column for each of `endings.STOPS`;
    - unclosed_trace (ends within the reasoning), full (fills the paper's context), cut (either, or
      stopped by a limit), finished (the others), correct_finished;
    - wrong answers by kind, as in Tables 4 and 5: `WRONG`; wrong; unreadable (those that name no
      single value);
    - correct answers by the window that decided: `verdict.CORRECT_BUCKETS`; leaning (correct by an
      earlier line, while the last sentence after the reasoning is not), alone (the others), hedged
      (leaning ones that say that they are not sure).
    """
    stopped = scores["stopped"].fillna("unknown")
    full = scores["bucket"] == CONTEXT_BUCKET
    cut = stopped.isin(CUT) | scores["unclosed_trace"] | full
    correct = scores["correct"].astype(bool)
    leaning = correct & ~scores["answer_correct"]
    bucket = scores["bucket"].astype(str)
    kind = bucket.map(BUCKET_COLUMNS)
    flags = {
        "answers": True,
        "correct": correct,
        **{word: stopped == word for word in STOPS},
        "unclosed_trace": scores["unclosed_trace"],
        "full": full,
        "cut": cut,
        "finished": ~cut,
        "correct_finished": correct & ~cut,
        **{name: kind == name for name in WRONG},
        "wrong": ~correct,
        "unreadable": bucket == OTHER_BUCKET,
        **{name: bucket == name for name in CORRECT_BUCKETS},
        "leaning": leaning,
        "alone": correct & ~leaning,
        "hedged": leaning & scores["unsure"],
    }
    counts = pd.DataFrame(flags, index=scores.index).astype(int)
    groups = counts.groupby(scores["model"].astype(str), sort=False)
    return groups.sum().rename_axis("model").reset_index()
