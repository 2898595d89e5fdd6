"""Drawn puzzles measured, against the literal generator, the states in words and brute force."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import reference_generator as reference

from cogniload_repro.grid import MINI_GRID
from cogniload_repro.puzzles import measure
from cogniload_repro.puzzles.draws import Failure
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.ids import PuzzleSet

SIZES = st.tuples(st.integers(1, 80), st.integers(1, 12))
#: N, d, needles and puzzle_id.
REQUESTS = SIZES.flatmap(
    lambda size: st.tuples(
        st.just(size[0]),
        st.just(size[1]),
        st.integers(1, size[0]),
        st.integers(0, 2**40),
    )
)
CELLS = tuple(cell for cell in MINI_GRID if cell.N == 20 or cell.d == 10)
PER_CELL = 12


@pytest.fixture(scope="module")
def measures():
    """What is measured on twelve puzzles of each of some cells."""
    return measure.measure_puzzles(CELLS, PER_CELL)


@pytest.fixture(scope="module")
def puzzles():
    """The same puzzles."""
    planned = PuzzleSet(CELLS, PER_CELL, scheme="default")
    requests = zip(planned.cell_of_each(), planned.ids(), strict=True)
    return [draw_puzzle(cell.N, cell.d, cell.needles, number) for cell, number in requests]


class CountingRandom(random.Random):
    """Counts the attempts: each begins with one call of `random`."""

    attempts = 0

    def random(self):
        self.attempts += 1
        return super().random()

    def getrandbits(self, k):  # without it, every other draw would go through `random`
        return super().getrandbits(k)


@settings(max_examples=40, deadline=None)
@given(REQUESTS)
def test_every_failed_attempt_is_reported(request):
    """The literal generator makes as many attempts; reporting changes nothing."""
    literal = CountingRandom()
    reference.draw(literal, *request)
    failed = []
    puzzle = draw_puzzle(*request, failed)
    assert literal.attempts == puzzle.N + len(failed)
    assert puzzle.text == draw_puzzle(*request).text


def break_rules(puzzle, failure):
    """By brute force: the reasons that hold, and how many would equal the person of interest."""
    position, (reference, before, conditions, after, updates) = failure
    poi = puzzle.people.index(puzzle.poi)
    meets = []
    everybody = []
    for values in list(puzzle.replay())[position]:
        meet = all(values[at] == before[at] for at in conditions)
        changes = {at: after[at] for at in updates} if meet else {}
        meets.append(meet)
        everybody.append(dict(enumerate(values)) | changes)
    is_needle = reference == poi
    alike = everybody.count(everybody[poi]) - 1
    hay_reaches, needle_reaches, equals = measure.REASONS
    rules = {
        hay_reaches: not is_needle and meets[poi],
        needle_reaches: is_needle and all(meets),
        equals: is_needle and alike > 0,
    }
    return rules, alike if is_needle else 0


@settings(max_examples=40, deadline=None)
@given(REQUESTS)
def test_every_failed_attempt_broke_a_rule(request):
    """It moves whom it must not, or makes somebody equal to the person of interest."""
    failed = []
    puzzle = draw_puzzle(*request, failed)
    history = list(puzzle.replay())
    for failure in failed:
        row = measure._measure_failure(0, Failure(*failure), puzzle, history)
        rules, alike = break_rules(puzzle, failure)
        assert rules[row.reason]
        assert row.alike == alike
        assert row.conditions == len(failure.move[2])
        assert row.others == len(puzzle.people) - 1


def test_a_cast_is_counted_as_the_text_shows_it(puzzles, measures):
    """Lines, people, needles, and pairs of people, who all differ everywhere at the start."""
    rows = measures.puzzles.itertuples()
    for puzzle, row in zip(puzzles, rows, strict=True):
        _, body, _ = puzzle.text.split("\n\n")
        assert row.lines == len(body.split("\n")) - puzzle.N
        assert row.people == max(puzzle.d, 2)
        assert row.needles == puzzle.needles
        assert row.smallest == min(map(len, puzzle.domains.values()))
        assert row.pairs == row.pairs_apart == row.people * (row.people - 1) / 2


@pytest.mark.parametrize("number", [0, 40, 100, PER_CELL * len(CELLS) - 1])
def test_statements_are_counted_as_they_read(puzzles, measures, number):
    """Type, conditions, updates and different others are those of the statements in words."""
    puzzle = puzzles[number]
    states = list(puzzle.states())
    rows = measures.statements.query("puzzle == @number").itertuples()
    for row, statement in zip(rows, puzzle.statements, strict=True):
        before = states[row.position]
        others = states[row.position + 1].copy()
        del others[puzzle.poi]
        different = {tuple(state.items()) for state in others.values()}
        assert row.needle == (statement.reference == puzzle.poi)
        assert row.conditions == len(statement.conditions)
        assert row.updates == len(statement.updates)
        assert row.distinct == len(different)
        assert row.repeats == pytest.approx(expect_repeats(puzzle, statement, before))


def expect_repeats(puzzle, statement, states):
    """Return the mean number of repeated values over all draws that section 2.1.3 allows."""
    reference = states[statement.reference]
    poi = states[puzzle.poi]
    repeats = 0
    for category, _ in statement.updates:
        values = puzzle.domains[category]
        if statement.reference != puzzle.poi:
            values = [value for value in values if value != poi[category]]
        repeats += np.mean([value == reference[category] for value in values])
    return repeats
