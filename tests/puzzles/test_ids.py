"""Ids of sets of puzzles."""

from itertools import islice

import pytest

from cogniload_repro.grid import PAPER_GRID, Cell
from cogniload_repro.puzzles.draws import EDITIONS, PORT, resolve_edition
from cogniload_repro.puzzles.generate import draw_grid, draw_puzzle
from cogniload_repro.puzzles.ids import (
    PUZZLES_PER_CELL,
    SEED,
    PuzzleSet,
    choose_set,
    read_manifest,
    spawn_ids,
)

ELIXIR = resolve_edition("elixir")


@pytest.mark.parametrize("edition", EDITIONS, ids=str)
def test_committed_ids_begin_as_the_chain_does(edition):
    """The first 400 are drawn along the chain, the others stand for the rest of it."""
    manifest = read_manifest(edition)
    assert tuple(manifest) == PAPER_GRID
    chain = draw_grid(PAPER_GRID, PUZZLES_PER_CELL, SEED, edition=edition)
    ids = [puzzle.puzzle_id for puzzle in islice(chain, 400)]
    committed = [puzzle_id for cell in PAPER_GRID[:4] for puzzle_id in manifest[cell]]
    assert ids == committed


def test_spawned_ids_depend_on_their_own_cell_only():
    """Other cells, their order and the number of puzzles leave an id as it is."""
    first = Cell(20, 5, 1)
    second = Cell(20, 2.5, 1)
    third = Cell(20, 5, 2)
    ids = list(spawn_ids([first, second, third], 3, 9))
    assert list(spawn_ids([first], 2, 9)) == ids[:2]
    assert list(spawn_ids([third, second], 3, 9)) == ids[6:] + ids[3:6]


def test_spawned_sets_stay_as_they_were_drawn():
    """Two ids of an earlier set."""
    ids = list(spawn_ids([Cell(20, 2.5, 1)], 2, 9))
    assert ids == [103_214_185_104_098, 326_574_298_023_698]


def test_the_default_set_has_the_committed_ids():
    """Its first ids are those of the chain."""
    first = PuzzleSet(PAPER_GRID[:1], 3, 42, "default")
    assert list(first.ids()) == [770487, 586907, 682576]


def test_the_file_in_the_authors_readme_is_puzzle_77_of_elixir_1_17():
    """Its id is 102133."""
    assert read_manifest(ELIXIR)[PAPER_GRID[0]][76] == 102_133
    assert draw_puzzle(20, 1, 1, 102_133, edition=ELIXIR).name == "20_1_1_102133_disco"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"puzzles_per_cell": 0}, "puzzles_per_cell is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"scheme": "default", "seed": 1}, "the default set has seed 42"),
        (
            {"scheme": "spawn", "edition": ELIXIR},
            r"elixir-1\.17 has ids up to 999,999 only",
        ),
    ],
)
def test_a_set_that_cannot_be_is_refused(changes, message):
    """Before anything is drawn."""
    with pytest.raises(ValueError, match=message):
        PuzzleSet(PAPER_GRID[:2], **changes)


@pytest.mark.parametrize(
    ("cells", "per_cell", "seed"),
    [
        (PAPER_GRID, 3, 0),
        (PAPER_GRID, 3, 1),
        ([Cell(20, 4, 1)], 3, SEED),
        (PAPER_GRID, 101, SEED),
    ],
)
def test_other_cells_numbers_and_seeds_take_the_other_scheme(cells, per_cell, seed):
    """The default set has none of them."""
    assert choose_set(cells, per_cell, seed, PORT, "spawn").scheme == "spawn"
