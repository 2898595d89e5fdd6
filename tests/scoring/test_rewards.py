"""Rewards and traces of puzzles."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.puzzle import parse_puzzle
from cogniload_repro.scoring.rewards import reward, trace, trace_credit

PUZZLES = st.builds(
    draw_puzzle, st.integers(2, 30), st.integers(1, 10), st.just(1), st.integers(100_000, 999_999)
)  # fmt: skip


@given(PUZZLES)
def test_a_trace_can_be_checked_against_the_text_alone(puzzle):
    """Drawn or read from its text, a puzzle has the same trace: it ends in the answer, each step changes somebody."""
    steps = trace(puzzle)
    assert steps == trace(parse_puzzle(puzzle.text))
    assert len(steps) == puzzle.N
    assert steps[-1][puzzle.poi][puzzle.category] == puzzle.solution
    start = {person: puzzle.initial_states[person] for person in steps[0]}
    assert all(before != after for before, after in zip([start, *steps], steps, strict=False))


@given(PUZZLES, st.data())
def test_credit_counts_the_steps_before_the_first_error(puzzle, data):
    """A trace that came through JSON is right throughout; one wrong value ends the credit there, whatever follows."""
    claimed = json.loads(json.dumps(trace(puzzle)))
    assert trace_credit(puzzle, claimed) == 1.0
    place = data.draw(st.integers(0, puzzle.N - 1))
    claimed[place][puzzle.poi][puzzle.category] = "nothing"
    assert trace_credit(puzzle, claimed) == place / puzzle.N


@given(PUZZLES, st.lists(st.none() | st.integers() | st.text() | st.dictionaries(st.text(), st.text())))
def test_whatever_a_model_claims_is_judged(puzzle, claimed):
    """Steps that are no states are wrong, and copying the start earns nothing."""
    assert trace_credit(puzzle, claimed) == 0.0
    assert trace_credit(puzzle, [puzzle.initial_states] * puzzle.N) == 0.0
    right = trace(puzzle)
    assert trace_credit(puzzle, [*right, *claimed]) == 1.0


def test_a_reward_is_the_scorers_verdict():
    """Right, wrong, unreadable and beyond the budget."""
    puzzle = draw_puzzle(20, 3, 5, 1)
    right = f"Therefore {puzzle.poi}: {puzzle.solution}."
    wrong = next(value for value in puzzle.domains[puzzle.category] if value != puzzle.solution)
    assert reward(puzzle, right) == 1.0
    assert reward(puzzle, f"Therefore {puzzle.poi}: {wrong}.") == 0.0
    assert reward(puzzle, "") == 0.0
    assert reward(puzzle, right, prompt_tokens=30_000, response_tokens=5_000) == 0.0
    with pytest.raises(ValueError, match="must be text"):
        reward(puzzle, None)
