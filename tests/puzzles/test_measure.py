"""Drawn puzzles taken apart, against the literal generator, the replay in words and brute force."""

import importlib.util
import random
from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import table_of

from cogniload_repro.puzzles import measure as checks
from cogniload_repro.puzzles.catalog import puzzle_row
from cogniload_repro.puzzles.generate import draw_puzzle

_spec = importlib.util.spec_from_file_location(
    "reference_generator", Path(__file__).parents[2] / "benchmarks" / "reference_generator.py"
)
reference = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(reference)

POINTS = st.tuples(st.integers(1, 80), st.integers(1, 12)).flatmap(
    lambda pair: st.tuples(st.just(pair[0]), st.just(pair[1]), st.integers(1, pair[0]), st.integers(0, 2**40))
)


@pytest.fixture(scope="module")
def table():
    """Twelve puzzles a cell of a small grid."""
    cells = product((20, 60), (1, 3, 10), (10, 50, 90), range(12))
    return table_of(*[(N, d, N * ratio // 100, number) for number, (N, d, ratio, _) in enumerate(cells)])


@pytest.fixture(scope="module")
def measures(table):
    """What is measured on them."""
    return checks.measure_puzzles(table, 12)


class CountingRandom(random.Random):
    """Counts the attempts: each begins with one call of `random`."""

    attempts = 0

    def random(self):
        self.attempts += 1
        return super().random()

    def getrandbits(self, k):  # without it, every other draw would go through `random`
        return super().getrandbits(k)


@pytest.mark.parametrize("edition", ["python", "elixir-1.14", "elixir-1.17"])
def test_puzzles_of_every_edition_are_measured(edition):
    """The edition that fits is found, and nothing of its puzzles is left out."""
    cells = product((20, 40), (1, 4), (10, 90), range(100_001, 100_004))
    rows = [puzzle_row(draw_puzzle(N, d, N * ratio // 100, one, edition=edition)) for N, d, ratio, one in cells]
    found = checks.measure_puzzles(pd.DataFrame(rows), 3)
    assert str(found.edition) == edition
    assert len(found.puzzles) == found.asked == len(rows)
    assert (found.puzzles["needles"] == found.statements.groupby("puzzle")["needle"].sum()).all()


@settings(max_examples=40, deadline=None)
@given(POINTS)
def test_every_failed_attempt_is_reported_and_broke_a_rule(point):
    """The literal generator makes as many attempts; each that failed moves whom it must not, or makes two equal."""
    N, d, needles, puzzle_id = point
    rng, failed = CountingRandom(), []
    reference.draw(rng, N, d, needles, puzzle_id)
    puzzle = draw_puzzle(N, d, needles, puzzle_id, failed)
    assert rng.attempts == N + len(failed)
    poi, history = puzzle.people.index(puzzle.poi), list(puzzle.replay())
    for place, move in failed:
        before = history[place]
        after = [checks._follow(move, state) for state in before]
        needle, number, many, reason, alike, others = checks._measure_failure(
            puzzle, checks.Failure(place, move), before
        )[1:]
        holds = [all(state[at] == move.before[at] for at in move.conditions) for state in before]
        broken = {
            checks.REASONS[0]: not needle and holds[poi],
            checks.REASONS[1]: needle and all(holds),
            checks.REASONS[2]: needle and sum(state == after[poi] for state in after) > 1,
        }
        assert broken[reason]
        assert (number, many, others) == (len(move.conditions), len(move.updates), len(before) - 1)
        assert 0 <= alike <= others


@settings(max_examples=30, deadline=None)
@given(POINTS)
def test_replay_in_places_is_the_replay_in_words(point):
    """At every step everybody's places in the domains are the values of the replay in words."""
    puzzle = draw_puzzle(*point)
    values = list(puzzle.domains.values())
    for places, states in zip(puzzle.replay(), puzzle.states(), strict=True):
        for state, own in zip(places, states.values(), strict=True):
            assert [values[at][value] for at, value in enumerate(state)] == list(own.values())


def test_statements_are_counted_as_they_read(table, measures):
    """Type, conditions, updates, people reached and different others are those of the statements in words."""
    assert (len(measures.puzzles), measures.asked) == (len(table), len(table))
    for number in (0, 40, 100, 215):
        row = table.iloc[number]
        puzzle = draw_puzzle(row["N"], row["d"], row["needles"], row["puzzle_id"])
        states, own = list(puzzle.states()), measures.statements[measures.statements["puzzle"] == number]
        for found, statement, before, after in zip(
            own.itertuples(), puzzle.statements, states[:-1], states[1:], strict=True
        ):
            others = {tuple(state.items()) for person, state in after.items() if person != puzzle.poi}
            assert found.needle == (statement.reference == puzzle.poi)
            assert (found.conditions, found.updates) == (len(statement.conditions), len(statement.updates))
            assert found.affected == sum(map(statement.holds, before.values()))
            assert found.distinct == len(others)
            assert (found.repeats, found.idle) == pytest.approx(by_the_text(puzzle, statement, before))


def by_the_text(puzzle, statement, states):
    """Return mean number of repeated values and share of idle draws over all draws that section 2.1.3 allows."""
    own, poi = states[statement.reference], states[puzzle.poi]
    needle = statement.reference == puzzle.poi
    free = [[value for value in puzzle.domains[name] if needle or value != poi[name]] for name, _ in statement.updates]
    same = [[value == own[name] for value in values] for (name, _), values in zip(statement.updates, free, strict=True)]
    return sum(map(np.mean, same)), np.prod([np.mean(row) for row in same])


def test_cast_is_that_of_the_text(table, measures):
    """People with a line, needles and the space of states are the puzzle's own."""
    for row, found in zip(table.itertuples(), measures.puzzles.itertuples(), strict=True):
        lines = row.text.split("\n\n")[1].split("\n")
        assert found.lines == len(lines) - row.N
        assert found.people == max(row.d, 2)
        assert found.needles == row.needles
        assert found.smallest**row.d <= found.space <= found.largest**row.d
        assert found.pairs == found.people * (found.people - 1) / 2
        assert found.poi_states <= min(found.states, row.needles + 1)


def test_puzzles_of_another_origin_are_left_out(table):
    """A text that is not the one drawn from its id, or an id that cannot be drawn, is counted and not measured."""
    changed = table.head(4).copy()
    changed.loc[1, "text"] += " "
    changed.loc[2, "needles"] = 21
    measures = checks.measure_puzzles(changed, 10)
    assert (len(measures.puzzles), measures.asked) == (2, 4)
    assert set(measures.statements["puzzle"]) == {0, 1}


def test_only_the_first_of_each_cell_are_measured(table, measures):
    """With fewer a cell, the puzzles are the first ones of each, and their measures the same."""
    few = checks.measure_puzzles(table, 2)
    assert few.asked == 2 * len(table) / 12
    first = table.reset_index().groupby(checks.CELL, sort=False).head(2)["index"]
    expected = measures.puzzles.loc[first].reset_index(drop=True)
    pd.testing.assert_frame_equal(few.puzzles, expected)


@given(st.integers(1, 7).flatmap(lambda N: st.tuples(st.just(N), st.integers(1, N))))
def test_printed_chance_of_a_needle(point):
    """The chances are those of all sequences weighed by the formula, they sum to the needles, the last is a hay's."""
    N, needles = point
    chances = np.zeros(N)
    for sequence in product((0, 1), repeat=N):
        weight, left = 1.0, needles
        for t, needle in enumerate(sequence, 1):
            chance = 1.0 if left >= N - t + 1 else min(left / (N - t), 1.0) if t < N else 0.0
            weight *= chance if needle else 1 - chance
            left -= needle
        chances += weight * np.array(sequence)
    found = checks.needle_chances(N, needles)
    assert found == pytest.approx(chances)
    assert found.sum() == pytest.approx(needles)
    assert found[-1] == pytest.approx(float(needles == N))


def test_draws_pass_and_biased_ones_do_not(measures):
    """The tests see nothing in what is drawn, and see what is not: a favourite place, too few conditions, all hays."""
    assert (checks.check_draws(measures)["p"] > 0.001).all()
    biased = measures._replace(
        puzzles=measures.puzzles.assign(
            poi_place=0, asked_place=0, categories=[("location",) * d for d in measures.puzzles["d"]]
        ),
        statements=measures.statements.assign(conditions=1, updates=1),
    )
    found = checks.check_draws(biased).set_index("draw")["p"]
    assert (found.drop("needle or hay, of an attempt") < 1e-6).all()
    late = measures.statements.sort_values(["puzzle", "needle"])["needle"].to_numpy()
    found = checks.check_draws(measures._replace(statements=measures.statements.assign(needle=late)))
    assert found.set_index("draw")["p"]["needle or hay, of an attempt"] < 1e-6


def test_failures_are_counted_once(measures):
    """Attempts by difficulty add up, whatever the reasons; at d = 1 only needles fail, and by becoming equal."""
    counts = checks.count_failures(measures, "d")
    assert counts["statements"].sum() + counts["failed"].sum() == len(checks.attempts(measures))
    assert (counts[list(checks.REASONS)].sum(axis=1) == counts["failed"]).all()
    first = counts.set_index("d").loc[1]
    assert first["failed"] == first[checks.REASONS[2]] > 0
    assert counts["rate"].is_monotonic_decreasing


def test_places_add_up_to_needles(measures):
    """Over the tenths of all puzzles, drawn, even and literal needles are the same number."""
    profile = checks.profile_places(measures)
    total = measures.puzzles["needles"].sum()
    assert set(profile["tenth"]) == set(range(1, 11))
    assert profile[["needles", "even", "literal"]].sum().to_numpy() == pytest.approx(total)


def test_merging_is_for_good():
    """Others who are in one state after a statement are in one state after all that follow."""
    for number in range(20):
        puzzle = draw_puzzle(40, 3, 10, number)
        poi = puzzle.people.index(puzzle.poi)
        one, other = (person for person in range(3) if person != poi)
        merged = [states[one] == states[other] for states in puzzle.replay()]
        assert checks.merged_after(puzzle) == (merged.index(True) if True in merged else None)
        assert merged == sorted(merged)
