import csv
from itertools import islice
from pathlib import Path

import pytest

from cogniload_repro.grid import PAPER_GRID, Cell
from cogniload_repro.puzzles.draws import EDITIONS, PORT, resolve_edition
from cogniload_repro.puzzles.generate import draw_grid, draw_puzzle
from cogniload_repro.puzzles.ids import (
    PUZZLES_PER_CELL,
    SEED,
    PuzzleSet,
    choose_set,
    find_manifest,
    read_manifest,
    spawn_ids,
)

VECTORS = Path(__file__).parents[1] / "vectors"


@pytest.mark.parametrize("edition", EDITIONS, ids=str)
def test_manifest_begins_as_the_chain_does(edition):
    """The first 400 committed ids are those of the chain, and single puzzles are drawn from them alike."""
    manifest = read_manifest(find_manifest(edition))
    assert tuple(manifest) == PAPER_GRID
    assert find_manifest(edition).stat().st_size < 100_000
    ids = [one for own in manifest.values() for one in own]
    chain = list(islice(draw_grid(PAPER_GRID, PUZZLES_PER_CELL, SEED, edition=edition), 400))
    assert ids[: len(chain)] == [puzzle.puzzle_id for puzzle in chain]
    for puzzle in chain[::100]:
        again = draw_puzzle(puzzle.N, puzzle.d, puzzle.needles, puzzle.puzzle_id, edition=edition)
        assert again.text == puzzle.text


@pytest.mark.parametrize(("version", "per_cell"), [("1.14", 1), ("1.17", 3)])
def test_chain_of_elixir_is_that_of_its_golden_puzzles(version, per_cell):
    """The chain from seed 42 over the whole grid gives the golden puzzles, in their order."""
    with open(VECTORS / "elixir.csv", encoding="utf-8", newline="") as file:
        golden = [int(row["puzzle_id"]) for row in csv.DictReader(file) if row["elixir"] == version]
    drawn = draw_grid(PAPER_GRID, per_cell, SEED, edition=f"elixir-{version}")
    assert [puzzle.puzzle_id for puzzle in drawn] == golden


def test_spawned_ids_depend_on_their_own_cell_only():
    """Other cells, their order and the number of puzzles leave an id as it is; seed and cell change it."""
    one, other, third = Cell(20, 5, 1), Cell(20, 2.5, 1), Cell(20, 5, 2)
    ids = list(spawn_ids([one, other, third], 3, 9))
    assert list(spawn_ids([one], 2, 9)) == ids[:2]
    assert list(spawn_ids([third, other], 3, 9)) == ids[6:] + ids[3:6]
    assert len({*ids, *spawn_ids([one, other, third], 3, 10)}) == 18
    assert max(ids) < 2**52
    assert ids[3:5] == [
        103_214_185_104_098,
        326_574_298_023_698,
    ]  # sets that were drawn stay as they are


def test_scheme_is_chosen_by_name():
    """Chain and spawn are the two schemes; the default set comes from the manifest; others are refused."""
    assert list(PuzzleSet(PAPER_GRID[:2], 2, 3, "spawn").ids()) == list(
        spawn_ids(PAPER_GRID[:2], 2, 3)
    )
    assert list(PuzzleSet(PAPER_GRID[:1], 3, 42, "default").ids()) == [770487, 586907, 682576]
    # the authors' README names a file with this id: puzzle 77 of the first cell in the chain of Elixir 1.17
    assert read_manifest(find_manifest(resolve_edition("elixir")))[PAPER_GRID[0]][76] == 102_133
    assert draw_puzzle(20, 1, 1, 102_133, edition="elixir").name == "20_1_1_102133_disco"
    assert list(PuzzleSet(PAPER_GRID).ids())[-1] == read_manifest()[PAPER_GRID[-1]][-1]


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"puzzles_per_cell": 0}, "puzzles_per_cell is 0"),
        ({"seed": -1}, "seed is -1"),
        ({"scheme": "default", "seed": 1}, "the default set has seed 42"),
        (
            {"scheme": "spawn", "edition": resolve_edition("elixir")},
            r"elixir-1\.17 has ids up to 999,999 only",
        ),
    ],
)
def test_a_set_that_cannot_be_is_refused(changes, message):
    """Before anything is drawn."""
    with pytest.raises(ValueError, match=message):
        PuzzleSet(PAPER_GRID[:2], **changes)


def test_few_puzzles_per_cell_are_the_first_of_the_papers_set():
    """Every route asks about the same ones; other cells and seeds follow the scheme that the route has for them."""
    few = choose_set(PAPER_GRID[:2], 3, SEED, PORT, "spawn")
    assert list(few.ids()) == [one for cell in PAPER_GRID[:2] for one in read_manifest()[cell][:3]]
    for cells, per_cell, seed in (
        (PAPER_GRID, 3, 1),
        ([Cell(20, 4, 1)], 3, SEED),
        (PAPER_GRID, 101, SEED),
    ):
        assert choose_set(cells, per_cell, seed, PORT, "spawn").scheme == "spawn"
