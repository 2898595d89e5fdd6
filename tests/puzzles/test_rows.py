"""Puzzles as rows: by name, drawn again, compared with their texts."""

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from cogniload_repro.grid import PAPER_GRID, Cell
from cogniload_repro.puzzles.draws import resolve_edition
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.ontology import ontology
from cogniload_repro.puzzles.rows import (
    KnownPuzzles,
    check_row,
    draw_named,
    nominal_ratio,
    parse_name,
    puzzle_row,
)
from cogniload_repro.storage import PUZZLES, write_table

NAME = "20_1_1_770487_red"


@pytest.mark.parametrize(
    "name",
    [
        "",
        "20_1_1_770487",
        "../20_1_1_770487_red",
        "20_1_1_7_a/b",
        "²_1_1_7_a",
        "020_1_1_7_red",
        "20_01_1_7_red",
        "20_1_01_7_red",
        "20_1_1_07_red",
        "10000_1_1_7_red",
    ],
)
def test_other_texts_are_no_names(name):
    """Nothing may be a path; numbers have no leading zeros and are bounded."""
    assert parse_name(name) is None


HALVES = (Cell(50, 5, 1, "half-even"), Cell(250, 25, 1, "half-even"))


def test_a_cell_is_found_again_from_its_needles():
    """The nominal ratio follows from N and the needles, under both roundings."""
    for cell in PAPER_GRID + HALVES:
        assert nominal_ratio(cell.N, cell.needles) == cell.ratio_pct


@pytest.mark.parametrize(
    ("name", "cause"),
    [
        ("20_13_1_770487_red", "d is 13"),
        ("hello", "no name of a puzzle"),
        ("2501_1_1_5_red", "N is 2501; give a whole number from 1 to 2,500"),
    ],
)
def test_a_name_that_cannot_be_is_refused(name, cause):
    """Impossible numbers and other texts."""
    with pytest.raises(ValueError, match=cause):
        draw_named(name)


@pytest.fixture(
    params=[
        ("python", (4, 10, 2, 123_456)),
        ("python", (30, 7, 20, 123_457)),
        ("elixir", (4, 10, 2, 123_456)),
        ("elixir", (30, 7, 20, 123_457)),
    ],
    ids=str,
)
def drawn(request):
    """An edition, and the row of a puzzle whose text may lack some of the domain's values."""
    edition, parts = request.param
    return resolve_edition(edition), puzzle_row(draw_puzzle(*parts, edition=edition))


def test_a_drawn_row_agrees_with_its_name_and_text(drawn):
    """It is drawn again from its name."""
    edition, row = drawn
    assert check_row(row) == row
    assert draw_named(row["name"], edition) == row
    assert list(row) == PUZZLES.names


ROW = puzzle_row(draw_puzzle(40, 5, 24, 123_457))
WRONG = next(value for value in ROW["domain"] if value != ROW["gold"])
ALL_VALUES = ontology().values[ROW["category"]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"text": None}, "lacks its text"),
        ({"text": ROW["text"].replace("Solve", "\ud83d")}, "surrogates not allowed"),
        ({"domain": []}, "that include those in the text"),
        ({"domain": 5}, "a list of values as domain"),
        ({"domain": [*ROW["domain"][1:], [1]]}, "is not a list of 6"),
        ({"domain": [*ROW["domain"], "stranger"]}, "is not a list of 6"),
        ({"domain": [*ROW["domain"], ROW["gold"]]}, "is not a list of 6 different"),
        ({"domain": list(ALL_VALUES)}, "is not a list of 6 different values"),
        ({"text": ROW["text"].replace("\n7. ", "\n8. ")}, "statement 8, expected 7"),
        ({"name": ROW["name"].replace("40_", "41_")}, "that of a puzzle 40_5_24_"),
        ({"name": ROW["name"].replace(ROW["gold"], WRONG)}, "that of a puzzle 40_5"),
    ],
)
def test_a_changed_row_is_refused_by_what_is_changed(change, message):
    """Name, text and domain must be those of one puzzle."""
    with pytest.raises(ValueError, match=message):
        check_row(ROW | change)


def test_puzzles_are_read_from_their_table(tmp_path):
    """Those that a source adds follow; the same one may come again."""
    rows = [draw_named(NAME), puzzle_row(draw_puzzle(20, 3, 5, 4))]
    table = pa.Table.from_pylist(rows[:1], PUZZLES)
    path = tmp_path / "puzzles.parquet"
    write_table(path, table)
    known = KnownPuzzles(path)
    known.add(rows[0])
    known.add(rows[1])
    known.write(path, {})
    assert pq.read_table(path).to_pylist() == rows
    assert [row["name"] in known for row in rows] == [True, True]
    assert "hello" not in known
    assert known.has_text(NAME, rows[0]["text"] + "\n")
    assert not known.has_text(NAME, rows[1]["text"])
    with pytest.raises(ValueError, match="a different puzzle of this name"):
        known.add(rows[0] | {"text": "changed"})
