"""The chapter on the generator: its tables of puzzles, against their words and brute force."""

import numpy as np
import pytest
from reading import read_sources

import cogniload_repro as cl
from cogniload_repro.grid import grid_cells

SOURCES = read_sources("02_generation")
#: Cells with few people and with many.
GRID = grid_cells("N=20,50 ratio=5,50,95 d=1,3,10")
PER_CELL = 5
#: The reasons in the order in which the generator checks them.
HAY = "distractor would change the PoI"
NEEDLE = "needle would change everybody"
EQUAL = "somebody would be identical to the PoI"


@pytest.fixture(scope="module")
def chapter():
    """What the cells of the chapter find in some puzzles."""
    imports, _, _ = SOURCES["draw"].partition("\n\ndata = ")
    variables = {"grid": GRID, "per_cell": PER_CELL, "edition": "python", "cl": cl}
    exec(imports, variables)  # our own notebook
    for name in ("drawn", "statements", "failures", "cast"):
        exec(SOURCES[name], variables)
    return variables


def test_a_cast_is_counted_as_the_text_shows_it(chapter):
    """Lines, people, needles, and pairs of people, who all differ everywhere at the start."""
    rows = chapter["cast"].itertuples()
    for (_, puzzle, _, _), row in zip(chapter["drawn"], rows, strict=True):
        _, body, _ = puzzle.text.split("\n\n")
        assert row.lines == len(body.split("\n")) - puzzle.N
        assert row.people == max(puzzle.d, 2)
        assert row.needles == puzzle.needles
        assert row.smallest == min(map(len, puzzle.domains.values()))
        assert row.pairs == row.pairs_apart == row.people * (row.people - 1) / 2


@pytest.mark.parametrize("number", [0, 20, 40, len(GRID) * PER_CELL - 1])
def test_statements_are_counted_as_they_read(chapter, number):
    """Type, conditions, updates and different others are those of the statements in words."""
    _, puzzle, _, _ = chapter["drawn"][number]
    states = list(puzzle.states())
    rows = chapter["statements"].query("puzzle == @number").itertuples()
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


def find_broken_rules(puzzle, states, move):
    """By brute force: the reasons that hold, and how many would equal the person of interest."""
    reference, before, conditions, after, updates = move
    poi = puzzle.people.index(puzzle.poi)
    meets = []
    everybody = []
    for values in states:
        meet = all(values[category] == before[category] for category in conditions)
        changes = {category: after[category] for category in updates} if meet else {}
        meets.append(meet)
        everybody.append(dict(enumerate(values)) | changes)
    alike = everybody.count(everybody[poi]) - 1
    is_needle = reference == poi
    rules = {
        HAY: not is_needle and meets[poi],
        NEEDLE: is_needle and all(meets),
        EQUAL: is_needle and alike > 0,
    }
    return rules, alike


def test_every_rejected_attempt_broke_a_rule(chapter):
    """It reaches whom it must not, or makes somebody equal to the person of interest."""
    failures = chapter["failures"]
    assert set(failures["reason"]) == {HAY, NEEDLE, EQUAL}
    rows = failures.itertuples()
    for _, puzzle, history, rejected in chapter["drawn"]:
        for position, move in rejected:
            row = next(rows)
            rules, alike = find_broken_rules(puzzle, history[position], move)
            assert rules[row.reason]
            assert row.conditions == len(move[2])
            assert row.others == len(puzzle.people) - 1
            if row.reason == EQUAL:
                assert row.alike == alike
    assert next(rows, None) is None
