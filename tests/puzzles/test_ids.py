from itertools import islice

import pytest

from cogniload_repro.grid import PAPER_GRID, Cell, grid_cells
from cogniload_repro.puzzles.generate import FIRST_ID, LAST_ID, draw_grid, draw_puzzle
from cogniload_repro.puzzles.ids import MANIFEST, PUZZLES_PER_CELL, SEED, known_ids, read_manifest, spawn_ids


def test_manifest_begins_as_the_chain_does():
    """The first 1,200 committed ids are those of the chain, and single puzzles are drawn from them alike."""
    ids = [one for own in read_manifest().values() for one in own]
    chain = list(islice(draw_grid(PAPER_GRID, PUZZLES_PER_CELL, SEED), 1200))
    assert ids[: len(chain)] == [puzzle.puzzle_id for puzzle in chain]
    for puzzle in chain[::100]:
        assert draw_puzzle(puzzle.N, puzzle.d, puzzle.needles, puzzle.puzzle_id).text == puzzle.text


def test_manifest_holds_the_default_set():
    """100 six-digit ids for each of the paper's cells, in order, in less than 100 kB."""
    manifest = read_manifest()
    assert tuple(manifest) == PAPER_GRID
    assert {len(ids) for ids in manifest.values()} == {PUZZLES_PER_CELL}
    assert all(FIRST_ID <= one <= LAST_ID for ids in manifest.values() for one in ids)
    assert MANIFEST.stat().st_size < 100_000


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("puzzle_ids", "ids", "not a header"),
        ("20,5,1,770487 ", "20,5,1,", "line 2 does not hold 100"),
        ("20,5,1,770487", "20,5,2,770487", "line 2 .* of the cell 20,5,1"),
        ("770487", "7704877", "line 2"),
        ("770487", "77o487", "line 2"),
        ("\n20,5,3,", " 20,5,3,", "140 lines"),
    ],
)
def test_damaged_manifest_is_refused_with_its_line(tmp_path, old, new, message):
    """A manifest that lost or changed an entry stops with the line."""
    text = MANIFEST.read_text(encoding="utf-8")
    path = tmp_path / "ids.csv"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(ValueError, match=message):
        read_manifest(path)


def test_spawned_ids_depend_on_their_own_cell_only():
    """Other cells, their order and the number of puzzles leave an id as it is; seed and cell change it."""
    one, other, third = Cell(20, 5, 1), Cell(20, 2.5, 1), Cell(20, 5, 2)
    ids = list(spawn_ids([one, other, third], 3, 9))
    assert list(spawn_ids([one], 2, 9)) == ids[:2]
    assert list(spawn_ids([third, other], 3, 9)) == ids[6:] + ids[3:6]
    assert len({*ids, *spawn_ids([one, other, third], 3, 10)}) == 18
    assert max(ids) < 2**52


def test_scheme_is_chosen_by_name():
    """Chain and spawn are the two schemes; the default set comes from the manifest; others are refused."""
    assert list(known_ids(PAPER_GRID[:2], 2, 3, "spawn")) == list(spawn_ids(PAPER_GRID[:2], 2, 3))
    assert list(known_ids(PAPER_GRID[:1], 3, 42, "default")) == [770487, 586907, 682576]
    assert list(known_ids(PAPER_GRID, PUZZLES_PER_CELL, SEED))[-1] == read_manifest()[PAPER_GRID[-1]][-1]
    with pytest.raises(ValueError, match="'random'; choose one of: chain, spawn"):
        known_ids(PAPER_GRID, 1, 1, "random")


def test_ids_of_other_chains_are_not_known():
    """Another seed, grid, rounding or number of puzzles is another chain, which has to be drawn."""
    others = (
        (PAPER_GRID, 100, 43),
        (PAPER_GRID, 99, 42),
        (PAPER_GRID[1:], 100, 42),
        (grid_cells("paper", "port"), 100, 42),
    )
    assert [known_ids(*other) for other in others] == [None] * 4
