"""The baselines say what two answerers without reasoning score."""

import json

import pandas as pd
from hypothesis import example, given
from hypothesis import strategies as st

import cogniload_repro as cl
from cogniload_repro.puzzles.baselines import find_last_value
from cogniload_repro.puzzles.catalog import puzzle_row
from cogniload_repro.puzzles.ontology import CATEGORIES
from cogniload_repro.puzzles.puzzle import parse_puzzle


def _rows(*requests: tuple[int, int, int, int]) -> pd.DataFrame:
    return pd.DataFrame([puzzle_row(cl.draw_puzzle(*request)) for request in requests])


@example(30, 12, 7)
@given(st.integers(1, 40), st.integers(1, 12), st.integers(0, 10**6))
def test_last_value_is_that_of_the_last_statement_that_sets_the_attribute(
    N: int, d: int, puzzle_id: int
):
    """For every attribute of a puzzle, the value found in the text is the one that its own statements say."""
    puzzle = parse_puzzle(cl.draw_puzzle(N, d, N, puzzle_id).text)
    updates = [dict(statement.updates) for statement in puzzle.statements]
    for category in CATEGORIES:
        values = [update[category] for update in updates if category in update]
        assert find_last_value(puzzle.text, category) == (values[-1] if values else None)


def test_initial_lines_and_conditions_set_nothing():
    """Only updates count, also where the wording of a condition or of an initial line ends as that of an update."""
    lines = [
        "Ann last read a thriller book and has red colored hair.",
        "Bob last read a novel book and has blue ",
    ]
    lines[1] += "colored hair."
    statement = "1. The people which most recently read a thriller book and having red hair color their hair to gray"
    text = "\n".join([*lines, statement])
    assert find_last_value(text, "recent_read") is None
    assert find_last_value(text, "hair") == "gray"
    assert find_last_value(text + " and read a thriller book", "recent_read") == "thriller"


def test_scores_of_both_answerers(tmp_path):
    """The guesser has one of the domain's values, the other scores where the last is gold; the same from files."""
    rows = _rows(
        *[(20, d, needles, place) for d in (1, 3, 10) for needles in (1, 19) for place in range(5)]
    )
    found = cl.baselines(rows)
    puzzles = [parse_puzzle(text) for text in rows["text"]]
    last = [
        [
            value
            for statement in one.statements
            for name, value in statement.updates
            if name == one.category
        ][-1]
        for one in puzzles
    ]
    assert found["last_clause"].tolist() == [
        int(value == puzzle.solution) for value, puzzle in zip(last, puzzles, strict=True)
    ]
    assert 0 < found["last_clause"].mean() < 1
    assert found["guess"].tolist() == [1 / len(domain) for domain in rows["domain"]]
    rows.to_parquet(tmp_path / "puzzles.parquet")
    pd.testing.assert_frame_equal(cl.baselines(tmp_path), found)
    own = tmp_path / "own.jsonl"
    own.write_text(
        "".join(json.dumps(row) + "\n" for row in rows.to_dict("records")), encoding="utf-8"
    )
    pd.testing.assert_frame_equal(cl.baselines(own), found)
