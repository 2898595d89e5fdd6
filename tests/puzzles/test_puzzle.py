"""A drawn puzzle in words."""

import pytest

from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.parse import parse_puzzle

PUZZLE = draw_puzzle(20, 3, 5, 4)


def test_the_last_state_has_the_solution():
    """The answer is the person of interest's value of the asked category after all statements."""
    *_, last = PUZZLE.states()
    assert last[PUZZLE.poi][PUZZLE.category] == PUZZLE.solution


def test_a_statement_changes_those_who_meet_its_conditions_and_nobody_else():
    """States in words follow from statements in words."""
    states = list(PUZZLE.states())
    for statement, before, after in zip(
        PUZZLE.statements, states, states[1:], strict=False
    ):
        for person, state in before.items():
            meets = state.items() >= set(statement.conditions)
            expected = state | dict(statement.updates) if meets else state
            assert after[person] == expected


def test_a_puzzle_read_from_a_text_has_no_name():
    """Its id is not in the text; take the name from its source."""
    puzzle = parse_puzzle(PUZZLE.text)
    with pytest.raises(ValueError, match="no id and so no name"):
        puzzle.name  # noqa: B018
