import pyarrow.parquet as pq
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles.generate import draw_grid
from cogniload_repro.puzzles.ids import spawn_ids
from cogniload_repro.puzzles.sets import cut, describe_set, draw_rows, map_batches, write_jsonl, write_parquet
from cogniload_repro.schemas import PUZZLES
from cogniload_repro.storage import read_metadata

CELLS = grid_cells("N=5,50 ratio=2.5,60 d=1,4")


@pytest.fixture(scope="module")
def puzzles():
    """The set as puzzles, drawn along the chain."""
    return list(draw_grid(CELLS, 2, 3))


def test_rows_are_the_puzzles_of_the_chain(puzzles):
    """Rows hold each puzzle's text and numbers, with the nominal ratio of its own cell."""
    rows = list(draw_rows(CELLS, 2, 3))
    assert [row["text"] for row in rows] == [puzzle.text for puzzle in puzzles]
    assert [row["ratio_pct"] for row in rows] == [cell.ratio_pct for cell in CELLS for _ in range(2)]
    assert all(row.keys() == set(PUZZLES.names) for row in rows)
    assert all(row["rho"] == row["needles"] / row["N"] and row["gold"] in row["domain"] for row in rows)


def test_parquet_keeps_rows_and_origin(tmp_path):
    """The table has the contract's columns, the rows drawn, and metadata without a date."""
    path = tmp_path / "puzzles.parquet"
    metadata = describe_set(CELLS, 3, "chain", "a command")
    assert write_parquet(path, draw_rows(CELLS, 2, 3), metadata) == 16
    assert pq.read_schema(path).equals(PUZZLES)
    assert pq.read_table(path).to_pylist() == list(draw_rows(CELLS, 2, 3))
    assert read_metadata(path) == metadata
    assert (metadata["provenance"], metadata["seed"], metadata["rounding"]) == ("reconstructed", "3", "paper")


def test_files_are_the_same_for_any_number_of_processes(tmp_path):
    """Parquet and JSONL written by one process and by two are equal byte for byte."""
    for jobs in (1, 2):
        rows = list(draw_rows(CELLS, 20, 3, scheme="spawn", jobs=jobs))
        write_parquet(tmp_path / f"{jobs}.parquet", rows, describe_set(CELLS, 3, "spawn", ""))
        write_jsonl(tmp_path / f"{jobs}.jsonl", rows)
    assert (tmp_path / "1.parquet").read_bytes() == (tmp_path / "2.parquet").read_bytes()
    assert (tmp_path / "1.jsonl").read_bytes() == (tmp_path / "2.jsonl").read_bytes()


def test_interrupted_writing_leaves_nothing(tmp_path):
    """A set that fails half-way leaves neither a table nor a part of one."""

    def rows():
        yield from draw_rows(CELLS, 1, 3)
        raise ValueError("stop")

    for write in (
        lambda path: write_jsonl(path, rows()),
        lambda path: write_parquet(path, rows(), describe_set(CELLS, 3, "chain", "")),
    ):
        with pytest.raises(ValueError, match="stop"):
            write(tmp_path / "puzzles")
    assert list(tmp_path.iterdir()) == []


def test_spawned_set_uses_its_own_ids():
    """The native scheme draws the puzzles of the spawned ids."""
    assert [row["puzzle_id"] for row in draw_rows(CELLS, 2, 3, scheme="spawn")] == list(spawn_ids(CELLS, 2, 3))


@pytest.mark.parametrize("scheme", ["chain", "spawn"])
def test_first_rows_can_be_left_out(scheme):
    """What is left are the same puzzles, wherever the ids come from."""
    rows = list(draw_rows(CELLS, 2, 3, scheme=scheme))
    for skip in (0, 1, 5, 16, 99):
        assert list(draw_rows(CELLS, 2, 3, scheme=scheme, skip=skip)) == rows[skip:]


def test_a_chain_that_goes_round_is_told(caplog):
    """The released program would write the same puzzle again and again; so do we, and say so."""
    cells = grid_cells("N=1 ratio=50 d=1")
    names = [row["name"] for row in draw_rows(cells, 3000, 42)]
    assert len(set(names)) < 3000
    assert f": {3000 - len(set(names))} puzzles are there again" in caplog.text
    caplog.clear()
    assert len({row["name"] for row in draw_rows(cells, 3000, 42, scheme="spawn")}) == 3000
    assert not caplog.text


@given(st.lists(st.integers(0, 9)), st.integers(1, 5), st.integers(1, 20))
def test_pieces_are_the_whole_and_no_larger_than_needed(items, most, limit):
    """Nothing is lost, no piece is empty or too long, and none goes on once it is heavy enough."""
    pieces = list(cut(items, most, int, limit))
    assert [item for piece in pieces for item in piece] == items
    assert all(1 <= len(piece) <= most and sum(piece[:-1]) < limit for piece in pieces)
    assert all(len(piece) == most or sum(piece) >= limit for piece in pieces[:-1])


@pytest.mark.parametrize("jobs", [1, 2])
def test_pieces_are_read_as_they_are_needed(jobs):
    """Results come in order, and reading is ahead by no more than the processes need."""
    taken = []
    batches = ([number] for number in range(100) if not taken.append(number))
    results = map_batches(str_all, batches, jobs)
    assert [next(results) for _ in range(20)] == [str(number) for number in range(20)]
    assert len(taken) <= 20 + 2 * jobs
    results.close()


def str_all(numbers):
    """A function of a module, which other processes can find."""
    return [str(number) for number in numbers]
