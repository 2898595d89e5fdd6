"""How a model's answers ended, and what decided their scores."""

import pandas as pd

from cogniload_repro.scoring.answers import summarise_answers

SCORES = pd.DataFrame(
    [
        ("mine", "correct_valid", True, "stop", False, True, False),
        ("mine", "correct_valid", True, "stop", False, False, True),
        ("mine", "correct_poi", True, "length", True, False, False),
        ("mine", "wrong_logic", False, None, False, False, True),
        ("mine", "wrong_max_context", False, "context", False, False, False),
        ("mine", "wrong_other", False, "shrug", True, False, False),
        ("cut", "wrong_other", False, "length", False, False, False),
    ],
    columns=[
        "model",
        "bucket",
        "correct",
        "stopped",
        "unclosed_trace",
        "answer_correct",
        "unsure",
    ],
)


def test_finished_answers_met_no_limit_no_open_trace_and_no_full_context():
    """A limit, open reasoning or a full context cuts an answer off.

    Why it ended is counted once.
    """
    row, cut = summarise_answers(SCORES).to_dict("records")
    assert (row["model"], row["answers"], row["correct"]) == ("mine", 6, 3)
    stops = ("stop", "length", "context", "unknown")
    assert [row[kind] for kind in stops] == [2, 1, 1, 1]
    ends = ("unclosed_trace", "full", "cut", "finished", "correct_finished")
    assert [row[kind] for kind in ends] == [2, 1, 3, 3, 2]
    assert (cut["answers"], cut["cut"], cut["finished"]) == (1, 1, 0)


def test_every_wrong_answer_has_one_kind_and_every_correct_one_a_window():
    """Leaning answers are correct by an earlier line only, hedged ones also end unsure."""
    row = summarise_answers(SCORES).iloc[0]
    wrong = (
        "ctx",
        "valid_logic",
        "poi_logic",
        "last_logic",
        "other",
        "wrong",
        "unreadable",
    )
    assert [row[kind] for kind in wrong] == [1, 1, 0, 0, 1, 3, 1]
    right = (
        "correct_valid",
        "correct_poi",
        "correct_last_sentence",
        "alone",
        "leaning",
        "hedged",
    )
    assert [row[kind] for kind in right] == [2, 1, 0, 1, 2, 1]
