"""Puzzles by name."""

import pyarrow as pa
import pytest

from cogniload_repro.grid import PAPER_GRID, Cell
from cogniload_repro.puzzles.catalog import (
    Catalog,
    PuzzleName,
    check_row,
    draw_named,
    nominal_ratio,
    parse_name,
    puzzle_row,
    read_catalog,
)
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.schemas import PUZZLES
from cogniload_repro.storage import write_table

NAME = "20_1_1_770487_red"


def test_a_name_has_five_parts():
    """The gold value may have a hyphen or a blank, nothing may be a path."""
    assert parse_name("250_10_237_123456_non-fiction") == PuzzleName(250, 10, 237, 123456, "non-fiction")


@pytest.mark.parametrize(
    "name",
    ["", "20_1_1_770487", "20_1_1_x_red", "../20_1_1_770487_red", "20_1_1_7_a/b", "²_1_1_7_a"],
)
def test_other_names_are_none(name):
    """Whatever is not of the form is not guessed at."""
    assert parse_name(name) is None


@pytest.mark.parametrize("cell", [*PAPER_GRID, Cell(50, 5, 1, "port"), Cell(250, 25, 1, "port")])
def test_every_cell_is_found_again_from_its_needles(cell):
    """The nominal ratio follows from N and the needles, under both roundings."""
    assert nominal_ratio(cell.N, cell.needles) == cell.ratio_pct


def test_other_needles_have_their_actual_ratio():
    """Outside the paper's grid the ratio is what it is."""
    assert nominal_ratio(50, 7) == 14.0


def test_a_puzzle_is_drawn_again_from_its_name():
    """The row is that of the drawn puzzle, with every column of the table."""
    row = draw_named(NAME)
    assert row == puzzle_row(draw_puzzle(20, 1, 1, 770487), 5)
    assert list(row) == PUZZLES.names
    assert check_row(row) == row


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("20_1_1_770487_blue", "has the solution 'red'"),
        ("20_13_1_770487_red", "d is 13"),
        ("20_1_21_770487_red", "needles is 21"),
        ("hello", "not of the form"),
    ],
)
def test_a_name_that_cannot_be_is_refused(name, reason):
    """Another solution, impossible numbers and other names are errors that say so."""
    with pytest.raises(ValueError, match=reason):
        draw_named(name)


@pytest.mark.parametrize(
    "changes",
    [
        {"gold": "mauve"},
        {"gold": "blue", "name": "20_1_1_770487_blue"},
        {"N": 250},
        {"N": 0, "name": "0_1_1_770487_red"},
        {"N": -5},
        {"d": 99, "name": "20_99_1_770487_red"},
        {"needles": 2, "rho": 0.1, "name": "20_1_2_770487_red"},
        {"rho": 5.0},
        {"rho": float("nan")},
        {"ratio_pct": float("inf")},
        {"ratio_pct": 50.0},
        {"puzzle_id": 1},
        {"category": "bogus"},
        {"poi": "Nobody"},
        {"poi": "Ann\nBob"},
        {"domain": ["red"]},
        {"text": "changed"},
        {"text": draw_puzzle(20, 1, 1, 770488).text},
        {"name": "hello"},
    ],
    ids=str,
)
def test_a_row_that_contradicts_itself_is_refused(changes):
    """Name, columns and the answer that follows from the text must agree."""
    with pytest.raises(ValueError, match=r"by the text|its name another|of the form|text has no|outside the|ratio_pct"):
        check_row(draw_named(NAME) | changes)


def test_a_catalog_numbers_its_puzzles():
    """Known puzzles come first, new ones follow in the order of their first mention."""
    catalog = Catalog(pa.Table.from_pylist([draw_named(NAME)], PUZZLES))
    other = draw_puzzle(20, 3, 5, 4)
    assert [catalog.place(other.name), catalog.place(NAME), catalog.place(other.name)] == [1, 0, 1]
    assert catalog.table().column("name").to_pylist() == [NAME, other.name]


def test_a_catalog_refuses_another_puzzle_of_a_known_name():
    """The same puzzle may come twice, a changed one not."""
    catalog = Catalog(pa.Table.from_pylist([draw_named(NAME)], PUZZLES))
    catalog.add(draw_named(NAME))
    with pytest.raises(ValueError, match="another puzzle of this name"):
        catalog.add({**draw_named(NAME), "text": "changed"})
    assert len(catalog) == 1


def test_an_unknown_name_is_refused_every_time():
    """The second refusal says what the first said."""
    catalog = Catalog()
    for _ in range(2):
        with pytest.raises(ValueError, match="has the solution 'red'"):
            catalog.place("20_1_1_770487_blue")


@pytest.mark.parametrize(
    "name", ["020_1_1_7_red", "20_01_1_7_red", "20_1_01_7_red", "20_1_1_07_red", "1000001_1_1_7_red"]
)
def test_numbers_of_a_name_are_written_in_one_way(name):
    """Leading zeros make no name, nor do more than a million statements."""
    assert parse_name(name) is None


def test_a_name_written_otherwise_is_unknown():
    """A name with leading zeros is refused as any other that is none, and nothing is added under another name."""
    catalog = Catalog()
    with pytest.raises(ValueError, match="not of the form"):
        catalog.place("020_1_1_770487_red")
    assert len(catalog) == 0


def test_a_catalog_is_read_from_its_table(tmp_path):
    """Puzzles come back from the file; another table is refused with its name."""
    label = {"provenance": "imported"}
    write_table(tmp_path / "puzzles.parquet", pa.Table.from_pylist([draw_named(NAME)], PUZZLES), label)
    assert read_catalog(tmp_path / "puzzles.parquet").place(NAME) == 0
    write_table(tmp_path / "cells.parquet", pa.table({"total": [1]}), label)
    with pytest.raises(ValueError, match=r"cells\.parquet is not a puzzles table"):
        read_catalog(tmp_path / "cells.parquet")


def test_a_puzzle_is_found_by_its_text():
    """Blanks around the text do not count, and puzzles that come later are found too."""
    catalog, other = Catalog(pa.Table.from_pylist([draw_named(NAME)], PUZZLES)), draw_puzzle(20, 3, 5, 4)
    assert catalog.find_text(f"  {draw_named(NAME)['text']}\n") == NAME
    assert catalog.find_text(other.text) is None
    catalog.place(other.name)
    assert catalog.find_text(other.text) == other.name


def test_a_table_that_holds_a_puzzle_twice_can_be_added_to():
    """The chain of ids may run into a loop on a grid of another order than the paper's."""
    other = draw_puzzle(20, 3, 5, 4)
    catalog = Catalog(pa.Table.from_pylist([draw_named(NAME)] * 2, PUZZLES))
    assert catalog.place(other.name) == 2
    assert catalog.table().column("name").to_pylist() == [NAME, NAME, other.name]
    with pytest.raises(ValueError, match="another puzzle of this name"):
        catalog.add({**draw_named(NAME), "text": "changed"})
