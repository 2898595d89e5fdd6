"""What two answerers without reasoning score."""

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from samples import table_of

import cogniload_repro as cl
from cogniload_repro.puzzles import rows
from cogniload_repro.puzzles.baselines import find_last_value, write_baselines
from cogniload_repro.puzzles.ontology import CATEGORIES


def last_values(text):
    """The last value that the statements of a text set, by category."""
    values = {}
    for statement in cl.read_puzzle(text).statements:
        values.update(statement.updates)
    return values


@example(30, 12, 7)
@given(st.integers(1, 40), st.integers(1, 12), st.integers(0, 10**6))
def test_the_last_value_is_that_of_the_last_statement_that_sets_it(N, d, puzzle_id):
    """For every category, the value found in the text is the one that the statements say."""
    text = cl.draw_puzzle(N, d, N, puzzle_id).text
    values = last_values(text)
    for category in CATEGORIES:
        assert find_last_value(text, category) == values.get(category)


TEXT = """Ann last read a thriller book and has red colored hair.
Bob last read a novel book and has blue colored hair.
1. The people which most recently read a thriller book move to the bar
2. The people which most recently read a thriller book color their hair to gray"""


def test_initial_lines_and_conditions_set_nothing():
    """Also where their wording ends as that of an update."""
    assert find_last_value(TEXT, "recent_read") is None
    assert find_last_value(TEXT, "hair") == "gray"


@pytest.fixture(scope="module")
def puzzles():
    """Thirty puzzles, easy and difficult, with few and with many needles."""
    requests = []
    for d in (1, 3, 10):
        for number in range(5):
            requests.append((20, d, 1, number))
            requests.append((20, d, 19, number))
    return table_of(*requests)


def test_the_last_clause_scores_where_its_value_is_the_solution(puzzles):
    """In some puzzles, not in all."""
    scores = cl.baselines(puzzles)["last_clause"]
    expected = []
    for row in puzzles.itertuples():
        value = last_values(row.text).get(row.category)
        expected.append(int(value == row.gold))
    assert scores.tolist() == expected
    assert 0 < scores.mean() < 1


def test_a_stored_table_gives_the_same_scores(tmp_path, puzzles, monkeypatch):
    """It is read in batches, so that memory does not grow with the set."""
    monkeypatch.setattr(rows, "_ROWS", 7)
    source = tmp_path / "puzzles.parquet"
    puzzles.to_parquet(source)
    write_baselines(source, tmp_path / "baselines.parquet")
    stored = pd.read_parquet(tmp_path / "baselines.parquet")
    pd.testing.assert_frame_equal(stored, cl.baselines(puzzles))


def test_a_table_without_texts_is_refused(puzzles):
    """The sentence names the columns."""
    with pytest.raises(ValueError, match="the puzzles have no column text, gold"):
        cl.baselines(puzzles.drop(columns=["text", "gold"]))
