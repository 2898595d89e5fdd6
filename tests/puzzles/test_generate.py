import csv
import hashlib
import json
import random
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from samples import reference_generator as reference

from cogniload_repro.grid import Cell, grid_cells
from cogniload_repro.puzzles import draws
from cogniload_repro.puzzles.generate import draw_grid, draw_puzzle

HERE = Path(__file__).parents[1]
VECTORS = HERE / "vectors"


CELLS = st.tuples(st.integers(1, 400), st.integers(1, 12)).flatmap(
    lambda pair: st.tuples(
        st.just(pair[0]), st.just(pair[1]), st.integers(1, pair[0]), st.integers(0, 2**52)
    )
)


def sha256(text):
    """Hash a text as the vectors do."""
    return hashlib.sha256(text.encode("utf-8")).hexdigest()


def test_chain_gives_the_golden_grid():
    """The chain from seed 42 gives the 420 puzzles of the released code, byte for byte."""
    with open(VECTORS / "port_seed42_p3.csv", encoding="utf-8", newline="") as file:
        golden = [tuple(row.values()) for row in csv.DictReader(file)]
    cells = grid_cells("paper", "half-even")
    drawn = zip([cell for cell in cells for _ in range(3)], draw_grid(cells, 3, 42), strict=True)
    found = [
        (
            cell.N,
            cell.ratio_pct,
            cell.d,
            puzzle.needles,
            puzzle.puzzle_id,
            puzzle.solution,
            sha256(puzzle.text),
        )
        for cell, puzzle in drawn
    ]
    assert golden == [tuple(map(str, row)) for row in found]


def test_single_puzzles_are_the_golden_examples():
    """A puzzle is drawn from its id alone, with all its parts."""
    for line in (VECTORS / "port_examples.jsonl").read_text(encoding="utf-8").splitlines():
        example = json.loads(line)
        puzzle = draw_puzzle(example["N"], example["d"], example["needles"], example["puzzle_id"])
        for part in (
            "N",
            "d",
            "needles",
            "puzzle_id",
            "solution",
            "poi",
            "category",
            "categories",
            "people",
        ):
            assert getattr(puzzle, part) == example[part]
        assert puzzle.domains == example["domains"]
        assert list(puzzle.domains) == example["categories"]
        assert puzzle.text == example["text"]


@settings(max_examples=60, deadline=None)
@given(CELLS)
def test_fast_generator_equals_the_literal_one(cell):
    """Over random cells and ids, the text and every reference person are those of the literal generator."""
    N, d, needles, puzzle_id = cell
    literal = reference.draw(random.Random(), N, d, needles, puzzle_id)
    puzzle = draw_puzzle(*cell)
    assert puzzle.text == literal.text
    assert puzzle.name == literal.name
    references = [one.reference for one in puzzle.statements]
    assert references == [one.reference for one in literal.statements]
    assert references.count(puzzle.poi) == puzzle.needles


@settings(max_examples=15, deadline=None)
@given(
    st.lists(
        st.tuples(st.integers(1, 60), st.integers(0, 100), st.integers(1, 12)),
        min_size=1,
        max_size=4,
    ),
    st.integers(1, 3),
    st.integers(0, 2**70),
    st.sampled_from(["half-up", "half-even"]),
)
def test_chain_equals_the_literal_one(points, puzzles_per_cell, seed, rounding):
    """Over random grids and seeds, the chain gives the puzzles of the literal generator."""
    cells = [Cell(*point, rounding) for point in points]
    literal = [puzzle.text for puzzle in reference.draw_grid(cells, puzzles_per_cell, seed)]
    assert [puzzle.text for puzzle in draw_grid(cells, puzzles_per_cell, seed)] == literal


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
def test_impossible_puzzle_is_refused(monkeypatch, arguments, message):
    """Arguments out of range are named, those of a grid at the call; so is a puzzle that cannot be finished."""
    with pytest.raises(ValueError, match=message):
        draw_puzzle(*arguments)
    for grid in [([(0, 5, 1)], 1, 1), ([(20, 5, 1)], 0, 1), ([(20, 5, 1)], 1, -1)]:
        with pytest.raises(ValueError, match="give a whole number"):
            draw_grid(*grid)
    monkeypatch.setattr(draws, "MAX_FAILURES", 0)
    with pytest.raises(
        ValueError, match=r"puzzle_id=1: statement \d+ was not allowed in .*another"
    ):
        draw_puzzle(100, 1, 50, 1)
