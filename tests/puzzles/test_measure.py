"""Drawn puzzles taken apart, against the literal generator, the replay in words and brute force."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import reference_generator as reference

from cogniload_repro.grid import MINI_GRID
from cogniload_repro.puzzles import measure as checks
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.ids import PuzzleSet

POINTS = st.tuples(st.integers(1, 80), st.integers(1, 12)).flatmap(
    lambda pair: st.tuples(
        st.just(pair[0]), st.just(pair[1]), st.integers(1, pair[0]), st.integers(0, 2**40)
    )
)


CELLS = [cell for cell in MINI_GRID if cell.N == 20 or cell.d == 10]


@pytest.fixture(scope="module")
def measures():
    """What is measured on twelve puzzles of each of some cells."""
    return checks.measure_puzzles(CELLS, 12)


@pytest.fixture(scope="module")
def drawn():
    """The same puzzles."""
    ids = PuzzleSet(tuple(CELLS), 12, scheme="default").ids()
    return [
        draw_puzzle(cell.N, cell.d, cell.needles, next(ids)) for cell in CELLS for _ in range(12)
    ]


class CountingRandom(random.Random):
    """Counts the attempts: each begins with one call of `random`."""

    attempts = 0

    def random(self):
        self.attempts += 1
        return super().random()

    def getrandbits(self, k):  # without it, every other draw would go through `random`
        return super().getrandbits(k)


@settings(max_examples=40, deadline=None)
@given(POINTS)
def test_every_failed_attempt_is_reported_and_broke_a_rule(point):
    """The literal generator makes as many attempts; each that failed moves whom it must not, or makes two equal."""
    N, d, needles, puzzle_id = point
    rng, failed = CountingRandom(), []
    reference.draw(rng, N, d, needles, puzzle_id)
    puzzle = draw_puzzle(N, d, needles, puzzle_id, failed)
    assert puzzle.text == draw_puzzle(N, d, needles, puzzle_id).text
    assert rng.attempts == N + len(failed)
    poi, history = puzzle.people.index(puzzle.poi), list(puzzle.replay())
    for place, move in failed:
        before = history[place]
        number, reason, alike, others = checks._measure_failure(
            puzzle, checks.Failure(place, move), before
        )
        needle = move.reference == poi
        holds = [all(state[at] == move.before[at] for at in move.conditions) for state in before]
        after = [dict(enumerate(state)) for state in before]
        for state in (state for state, met in zip(after, holds, strict=True) if met):
            state.update((at, move.after[at]) for at in move.updates)
        broken = {
            checks.REASONS[0]: not needle and holds[poi],
            checks.REASONS[1]: needle and all(holds),
            checks.REASONS[2]: needle and after.count(after[poi]) > 1,
        }
        assert broken[reason]
        assert alike == (after.count(after[poi]) - 1 if needle else 0)
        assert (number, others) == (len(move.conditions), len(before) - 1)


def test_statements_are_counted_as_they_read(drawn, measures):
    """Type, conditions, updates, different others and the cast are those of the statements in words and of the text."""
    for puzzle, found in zip(drawn, measures.puzzles.itertuples(), strict=True):
        assert found.lines == len(puzzle.text.split("\n\n")[1].split("\n")) - puzzle.N
        assert (found.people, found.needles) == (max(puzzle.d, 2), puzzle.needles)
        assert found.smallest == min(map(len, puzzle.domains.values()))
        assert found.pairs == found.pairs_apart == found.people * (found.people - 1) / 2
    for number in (0, 40, 100, len(drawn) - 1):
        puzzle = drawn[number]
        states, found = (
            list(puzzle.states()),
            measures.statements[measures.statements["puzzle"] == number],
        )
        for row, statement, before, after in zip(
            found.itertuples(), puzzle.statements, states[:-1], states[1:], strict=True
        ):
            others = {
                tuple(state.items()) for person, state in after.items() if person != puzzle.poi
            }
            assert row.needle == (statement.reference == puzzle.poi)
            assert (row.conditions, row.updates) == (
                len(statement.conditions),
                len(statement.updates),
            )
            assert row.distinct == len(others)
            assert row.repeats == pytest.approx(by_the_text(puzzle, statement, before))


def by_the_text(puzzle, statement, states):
    """Return the mean number of repeated values over all draws that section 2.1.3 allows."""
    own, poi = states[statement.reference], states[puzzle.poi]
    needle = statement.reference == puzzle.poi
    free = [
        [value for value in puzzle.domains[name] if needle or value != poi[name]]
        for name, _ in statement.updates
    ]
    same = [
        [value == own[name] for value in values]
        for (name, _), values in zip(statement.updates, free, strict=True)
    ]
    return sum(map(np.mean, same))
