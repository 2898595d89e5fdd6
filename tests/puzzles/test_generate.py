"""Puzzles drawn, against the released programs and a literal generator."""

import hashlib
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import draw_requests, golden_puzzles
from samples import reference_generator as reference

from cogniload_repro.grid import Cell, grid_cells
from cogniload_repro.puzzles.generate import draw_grid, draw_puzzle

REQUESTS = draw_requests(2**52)


def sha256(text):
    """Hash a text as the vectors do."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def draw_again(row):
    """Draw the puzzle of a golden row."""
    request = [int(row[part]) for part in ("N", "d", "needles", "puzzle_id")]
    edition = f"elixir-{row['elixir']}" if "elixir" in row else "python"
    return draw_puzzle(*request, edition=edition)


def test_the_chain_gives_the_golden_grid():
    """The chain from seed 42 gives the 420 puzzles of the released code, byte for byte."""
    golden = golden_puzzles("port_seed42_p3.csv")
    cells = grid_cells("paper", "half-even")
    puzzles = draw_grid(cells, 3, 42)
    for number, (row, puzzle) in enumerate(zip(golden, puzzles, strict=True)):
        cell = cells[number // 3]
        levels = (cell.N, cell.ratio_pct, cell.d)
        drawn = (puzzle.needles, puzzle.puzzle_id, puzzle.solution, sha256(puzzle.text))
        assert list(row.values()) == [str(part) for part in levels + drawn]


def test_elixir_draws_its_golden_puzzles():
    """Puzzles that the original generator drew, byte for byte."""
    golden = golden_puzzles("elixir.csv")
    assert len(golden) == 420
    for row in golden:
        puzzle = draw_again(row)
        assert puzzle.solution == row["solution"], row
        assert sha256(puzzle.text) == row["sha256"], row


@pytest.mark.parametrize("example", golden_puzzles("port_examples.jsonl"))
def test_golden_examples_of_the_port_are_drawn_from_their_ids(example):
    """A puzzle is drawn from its id alone, with all its parts."""
    puzzle = draw_again(example)
    for part in ("name", "poi", "category", "categories", "people", "solution", "text"):
        expected = example.get(part)
        assert expected is None or getattr(puzzle, part) == expected
    assert puzzle.domains == example["domains"]
    assert list(puzzle.domains) == example["categories"]


@settings(max_examples=60, deadline=None)
@given(REQUESTS)
def test_the_fast_generator_equals_the_literal_one(request):
    """Text, name and every reference person are those of the literal generator."""
    literal = reference.draw(random.Random(), *request)
    puzzle = draw_puzzle(*request)
    assert puzzle.text == literal.text
    assert puzzle.name == literal.name
    references = [statement.reference for statement in puzzle.statements]
    assert references == [statement.reference for statement in literal.statements]


class CountingRandom(random.Random):
    """Counts the attempts at statements: each begins with one call of `random`."""

    attempts = 0

    def random(self):
        self.attempts += 1
        return super().random()

    def getrandbits(self, k):  # without it, every other draw would go through `random`
        return super().getrandbits(k)


@settings(max_examples=40, deadline=None)
@given(REQUESTS)
def test_every_rejected_attempt_is_reported(request):
    """The literal generator makes as many attempts; reporting changes nothing."""
    literal = CountingRandom()
    reference.draw(literal, *request)
    failed = []
    puzzle = draw_puzzle(*request, failed)
    assert literal.attempts == puzzle.N + len(failed)
    assert puzzle.text == draw_puzzle(*request).text


@settings(max_examples=15, deadline=None)
@given(
    points=st.lists(
        st.tuples(st.integers(1, 60), st.integers(0, 100), st.integers(1, 12)),
        min_size=1,
        max_size=4,
    ),
    puzzles_per_cell=st.integers(1, 3),
    seed=st.integers(0, 2**70),
    rounding=st.sampled_from(["half-up", "half-even"]),
)
def test_the_chain_equals_the_literal_one(points, puzzles_per_cell, seed, rounding):
    """Over random grids and seeds."""
    cells = [Cell(*point, rounding) for point in points]
    literal = [
        puzzle.text for puzzle in reference.draw_grid(cells, puzzles_per_cell, seed)
    ]
    texts = [puzzle.text for puzzle in draw_grid(cells, puzzles_per_cell, seed)]
    assert texts == literal


def test_a_chain_that_comes_back_goes_on_with_an_unused_id():
    """Up to its first repeat it is the literal one; then all puzzles differ."""
    cell = Cell(20, 5, 1)
    literal = [puzzle.name for puzzle in reference.draw_grid([cell], 250, 2)]
    different = len(set(literal))
    assert different == 210
    names = [puzzle.name for puzzle in draw_grid([cell], 250, 2)]
    assert names[:different] == literal[:different]
    assert len(set(names)) == 250


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((0, 1, 1, 5), "N is 0"),
        ((20, 13, 1, 5), "d is 13; give a whole number from 1 to 12"),
        ((20, 1, 21, 5), "needles is 21; give a whole number from 1 to 20"),
        ((20, 1, 1, -5), "puzzle_id is -5"),
        ((20, 1, 1, "5"), "puzzle_id is '5'"),
    ],
)
def test_an_impossible_puzzle_is_refused_by_its_argument(arguments, message):
    """The sentence has the range."""
    with pytest.raises(ValueError, match=message):
        draw_puzzle(*arguments)


@pytest.mark.parametrize("puzzle_id", [99_999, 1_000_000, -1, "770487"])
def test_ids_of_elixir_have_six_digits(puzzle_id):
    """Others were never drawn."""
    message = "puzzle_id is .*; give a whole number from 100000 to 999,999"
    with pytest.raises(ValueError, match=message):
        draw_puzzle(20, 1, 1, puzzle_id, edition="elixir")
