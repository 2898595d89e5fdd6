"""How responses ended and what decided their scores, counted per model."""

import pandas as pd

from cogniload_repro.scoring.cells import BUCKET_COLUMNS
from cogniload_repro.scoring.outcome import (
    CONTEXT_BUCKET,
    CORRECT_BUCKETS,
    OTHER_BUCKET,
)
from cogniload_repro.scoring.reasoning import CUT, STOPS

#: Columns of wrong answers, as in Tables 4 and 5.
WRONG = tuple(
    dict.fromkeys(name for name in BUCKET_COLUMNS.values() if name != "correct")
)


def summarise_answers(scores: pd.DataFrame) -> pd.DataFrame:
    """Count each model's responses by why they ended and by what made them correct or wrong.

    One row per model, in the order of the scores: model, answers, correct;

    - why the model stopped, as its source reports: one column for each of `reasoning.STOPS`;
    - unclosed_trace (ends within the reasoning), full (fills the paper's context), cut (either, or
      stopped by a limit), finished (the others), correct_finished;
    - wrong answers by kind, as in Tables 4 and 5: `WRONG`; wrong; unreadable (those that name no
      single value);
    - correct answers by the window that decided: `outcome.CORRECT_BUCKETS`; leaning (correct by an
      earlier line, while the last sentence after the reasoning is not), alone (the other correct
      ones), hedged (leaning ones whose last sentence says that the answer is not known).
    """
    stopped = scores["stopped"].fillna("unknown")
    bucket = scores["bucket"].astype(str)
    kind = bucket.map(BUCKET_COLUMNS)
    is_full = bucket == CONTEXT_BUCKET
    is_cut = stopped.isin(CUT) | scores["unclosed_trace"] | is_full
    is_correct = scores["correct"].astype(bool)
    is_leaning = is_correct & ~scores["answer_correct"]
    flags = {
        "answers": True,
        "correct": is_correct,
        **{word: stopped == word for word in STOPS},
        "unclosed_trace": scores["unclosed_trace"],
        "full": is_full,
        "cut": is_cut,
        "finished": ~is_cut,
        "correct_finished": is_correct & ~is_cut,
        **{name: kind == name for name in WRONG},
        "wrong": ~is_correct,
        "unreadable": bucket == OTHER_BUCKET,
        **{name: bucket == name for name in CORRECT_BUCKETS},
        "leaning": is_leaning,
        "alone": is_correct & ~is_leaning,
        "hedged": is_leaning & scores["unsure"],
    }
    counts = pd.DataFrame(flags, index=scores.index).astype(int)
    groups = counts.groupby(scores["model"].astype(str), sort=False)
    return groups.sum().rename_axis("model").reset_index()
