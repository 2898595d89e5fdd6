"""The chapter on scoring: consequences, and what other readings would move."""

import re

import pandas as pd
import pytest

from cogniload_repro.presentation.scoring_pages import EXAMPLES, MEANINGS, show_ambiguous, show_consequences, show_moves
from cogniload_repro.scoring.readings import OTHERS

MOVES = pd.DataFrame(
    [
        ("prose", "a<b>", "correct_valid", "wrong_other", 3),
        ("prose", "c", "wrong_logic", "correct_poi", 2),
        ("last_mention", "c", "wrong_logic", "wrong_other", 1),
    ],
    columns=["reading", "model", "bucket", "becomes", "responses"],
)
READ = pd.Series({"a<b>": 10, "c": 10})


def rows(markdown):
    """Return the rows of all tables as lists of cells, without escapes."""
    lines = [line for line in markdown.splitlines() if line.startswith("|")]
    return [[cell.replace("\\", "").strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]] for line in lines]


def test_every_consequence_is_what_the_scorer_does():
    """The sentence of each example agrees with the bucket that its response falls into."""
    assert [example.bucket() for example in EXAMPLES] == [
        "correct_valid",
        "wrong_other",
        "wrong_other",
        "wrong_logic",
        "correct_valid",
        "correct_valid",
        "correct_valid",
        "correct_valid",
        "wrong_other",
        "correct_valid",
        "correct_last_sentence",
        "wrong_other",
        "wrong_max_context",
        "wrong_max_context",
    ]
    shown = rows(show_consequences().markdown)[2:]
    assert [row[0] for row in shown] == [example.bucket() for example in EXAMPLES]


@pytest.mark.parametrize(
    ("consequence", "response", "bucket"),
    [
        ("letter by letter", "Sue has blue hair.", "wrong_logic"),
        ("lie inside words", "The colour of hair is red.", "correct_last_sentence"),
        ("backquote", "Sue's hair: red", "correct_valid"),
        ("reasoning", "Hard to say.", "wrong_other"),
        ("leave an empty", "Sue has red hair.", "correct_valid"),
    ],
)
def test_examples_would_fall_elsewhere_without_what_they_show(consequence, response, bucket):
    """Taking out of a response what its sentence is about changes the bucket."""
    example = next(example for example in EXAMPLES if consequence in example.consequence)
    assert example._replace(response=response).bucket() == bucket != example.bucket()


def test_moves_are_shown_by_reading_buckets_and_model():
    """Every reading has a row, with what it does to accuracy; models are escaped."""
    shown = show_moves(MOVES, READ, "imported")
    table = rows(shown.markdown)
    assert table[2] == ["prose", "5", "3", "2", "25.00%", MEANINGS["prose"]]
    assert table[3] == ["late_drop", "0", "0", "0", "0.00%", MEANINGS["late_drop"]]
    assert table[5][:4] == ["last_mention", "1", "0", "0"]
    assert ["prose", "wrong_logic", "correct_poi", "2"] in table
    assert ["c", "2", "0", "0", "1", "10"] in table
    assert "a\\<b\\>" in shown.markdown
    assert "<b>" not in shown.html
    assert "stand-ins" not in shown.markdown


def test_stand_ins_come_with_a_warning():
    """Where the responses are reconstructed, the page says that the counts tell nothing about real outputs."""
    shown = show_moves(MOVES.iloc[:0], READ, "reconstructed")
    assert "tells nothing about what the models wrote" in shown.markdown
    assert [row[1] for row in rows(shown.markdown)[2:]] == ["0"] * len(OTHERS)


def test_made_up_endings_tell_the_readings_apart():
    """Each reading moves some of them, and is called made up."""
    shown = show_ambiguous().markdown
    table = rows(shown)
    assert [row[0] for row in table[2 : 2 + len(OTHERS)]] == list(OTHERS)
    assert all(int(row[1]) > 0 for row in table[2 : 2 + len(OTHERS)])
    assert shown.count("made") >= 2
    assert ["correct_valid", "Sue's hair is red, no longer blue.", "wrong_other (prose, last_mention)"] in table
    assert set(MEANINGS) == set(OTHERS)
