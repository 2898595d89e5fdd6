"""Puzzles by name."""

import pyarrow as pa
import pytest

from cogniload_repro.grid import PAPER_GRID, Cell, grid_cells
from cogniload_repro.puzzles.catalog import (
    SAMPLE,
    Catalog,
    EditionMatch,
    PuzzleName,
    check_row,
    choose_edition,
    describe_fits,
    draw_named,
    find_edition,
    is_drawn_by,
    nominal_ratio,
    parse_name,
    puzzle_row,
    read_catalog,
)
from cogniload_repro.puzzles.draws import EDITIONS, PORT, resolve_edition
from cogniload_repro.puzzles.generate import draw_grid, draw_puzzle
from cogniload_repro.puzzles.ontology import ontology
from cogniload_repro.schemas import PUZZLES
from cogniload_repro.storage import write_table

NAME = "20_1_1_770487_red"


OTHER = draw_puzzle(20, 3, 5, 4)


@pytest.fixture
def catalog():
    """A catalog that starts with one puzzle."""
    return Catalog(pa.Table.from_pylist([draw_named(NAME)], PUZZLES))


@pytest.mark.parametrize(
    "name",
    ["", "20_1_1_770487", "../20_1_1_770487_red", "20_1_1_7_a/b", "²_1_1_7_a", "020_1_1_7_red", "20_01_1_7_red",
     "20_1_01_7_red", "20_1_1_07_red", "1000001_1_1_7_red"],
)  # fmt: skip
def test_a_name_has_five_parts(name):
    """Gold may have a hyphen or a blank, nothing may be a path; numbers have no leading zeros and are bounded."""
    assert parse_name("250_10_237_123456_non-fiction") == PuzzleName(
        250, 10, 237, 123456, "non-fiction"
    )
    assert parse_name(name) is None


def test_every_cell_is_found_again_from_its_needles():
    """The nominal ratio follows from N and the needles, under both roundings."""
    for cell in (*PAPER_GRID, Cell(50, 5, 1, "half-even"), Cell(250, 25, 1, "half-even")):
        assert nominal_ratio(cell.N, cell.needles) == cell.ratio_pct


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("20_13_1_770487_red", "d is 13"),
        ("hello", "not of the form"),
        ("2501_1_1_5_red", "of more than 2,500 statements are not drawn from their names"),
    ],
)
def test_a_name_that_cannot_be_is_refused(name, reason):
    """Impossible numbers, other names and puzzles that would take days are errors that say so."""
    with pytest.raises(ValueError, match=reason):
        draw_named(name)


@pytest.mark.parametrize("edition", ["python", "elixir-1.14"])
@pytest.mark.parametrize("request_", [(4, 10, 2, 123_456), (30, 7, 20, 123_457)])
def test_the_true_domain_is_accepted_in_any_order(edition, request_):
    """Every edition's own row, drawn from its name too, passes, whether its text has all of the values or not."""
    row = puzzle_row(draw_puzzle(*request_, edition=edition))
    assert check_row(row) == row == draw_named(row["name"], resolve_edition(edition))
    assert list(row) == PUZZLES.names
    assert check_row({**row, "domain": row["domain"][::-1]})["domain"] == row["domain"][::-1]


ROW = puzzle_row(draw_puzzle(40, 5, 24, 123_457))
WRONG = next(value for value in ROW["domain"] if value != ROW["gold"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"gold": WRONG}, "gold"), ({"poi": "Nobody"}, "poi is"), ({"text": None}, "lacks text"),
        ({"rho": 0.5}, r"rho is 0\.6 by the text, 0\.5"), ({"puzzle_id": 7}, "puzzle_id 7, its name"),
        ({"domain": []}, "that has those of the text"), ({"domain": 5}, "of another type"),
        ({"domain": [*ROW["domain"], "stranger"]}, "is not a list of values"), ({"d": 3}, "d 3, its name 5"),
        ({"domain": [*ROW["domain"], ROW["gold"]]}, "the domain has 7 values, .* 6 different"),
        ({"domain": ontology().values[ROW["category"]]}, "values, a puzzle of difficulty 5 has 6 different ones"),
        ({"text": ROW["text"].replace("\n7. ", "\n8. ")}, "statement 8 where 7 is due"),
        ({"ratio_pct": 50.0}, r"ratio_pct 50\.0 does not give 24 needles of 40"),
        ({"ratio_pct": float("nan")}, "ratio_pct nan does not give"),
        ({"name": ROW["name"].replace("40_5_", "41_5_"), "N": 41}, "N is 40 by the text, 41"),
    ],
)  # fmt: skip
def test_a_changed_row_is_refused_by_what_is_changed(change, message):
    """A row that differs from its text or its name in anything is no puzzle."""
    with pytest.raises(ValueError, match=message):
        check_row({**ROW, **change})


def test_a_catalog_numbers_its_puzzles(catalog):
    """Known puzzles come first, new ones follow in the order of their first mention; a changed one is refused."""
    assert [catalog.place(OTHER.name), catalog.place(NAME), catalog.place(OTHER.name)] == [1, 0, 1]
    catalog.add(draw_named(NAME))
    with pytest.raises(ValueError, match="another puzzle of this name"):
        catalog.add({**draw_named(NAME), "text": "changed"})
    for _ in range(2):
        with pytest.raises(ValueError, match="has the solution 'red'"):
            catalog.place("20_1_1_770487_blue")
    assert len(catalog) == 2
    assert catalog.table().column("name").to_pylist() == [NAME, OTHER.name]
    twice = Catalog(
        pa.concat_tables([catalog.table()] * 2)
    )  # as a chain of ids that runs into a loop has it
    assert (twice.place("20_1_1_586907_purple"), len(twice.table())) == (4, 5)


def test_a_catalog_is_read_from_its_table(tmp_path, catalog):
    """Puzzles come back from the file; another table is refused with its name."""
    write_table(tmp_path / "puzzles.parquet", catalog.table())
    known = read_catalog(tmp_path / "puzzles.parquet")
    assert known.text(known.place(NAME)) == draw_named(NAME)["text"]
    write_table(tmp_path / "cells.parquet", pa.table({"total": [1]}))
    with pytest.raises(ValueError, match=r"cells\.parquet is not a puzzles table"):
        read_catalog(tmp_path / "cells.parquet")


CELLS = grid_cells("N=12,30 ratio=25,75 d=1,3,6")


@pytest.fixture(scope="module", params=EDITIONS, ids=str)
def drawn(request):
    """Return an edition, and texts that it draws, by name."""
    puzzles = draw_grid(CELLS, 3, 11, edition=request.param)
    return request.param, {puzzle.name: puzzle.text for puzzle in puzzles}


def test_edition_is_found_by_names_and_by_texts(drawn):
    """Solutions alone tell the edition that drew a set; texts leave no other that fits by chance."""
    edition, texts = drawn
    by_name, by_text = find_edition(texts), find_edition(texts, texts)
    assert choose_edition(by_name) == choose_edition(by_text) == edition
    assert by_name[0][1:] == by_text[0][1:] == (len(texts), len(texts))
    for fit in by_text[1:]:
        assert (
            fit.fitting
            <= next(one.fitting for one in by_name if one.edition == fit.edition)
            < len(texts)
        )
        assert fit.fitting == sum(is_drawn_by(fit.edition, name, texts[name]) for name in texts)


def test_names_of_several_editions_are_refused_with_counts():
    """A mixture fits no edition; the refusal tells how many names fit each."""
    elixir = resolve_edition("elixir")
    names = [
        puzzle.name
        for edition in (PORT, elixir)
        for puzzle in draw_grid(CELLS, 2, 3, edition=edition)
    ]
    fits = find_edition(names)
    assert {fit.edition for fit in fits} == set(EDITIONS)
    assert {fit.edition for fit in fits[:2]} == {PORT, elixir}
    with pytest.raises(
        ValueError, match=r"no edition fits all names, .* of 48: give the edition with --edition"
    ):
        choose_edition(fits)
    assert (
        describe_fits(fits[:1])
        == f"no edition fits all names, {fits[0].edition}: {fits[0].fitting} of 48"
    )
    assert describe_fits([]) == ""
    assert choose_edition([EditionMatch(elixir, 5, 10), EditionMatch(PORT, 4, 10)]) == elixir
    with pytest.raises(ValueError, match="no edition fits all names"):
        choose_edition([EditionMatch(elixir, 5, 10), EditionMatch(PORT, 5, 10)])


def test_what_cannot_be_drawn_fits_nothing():
    """Names of another form, and names that nothing draws, are left out; without any other, the port is left."""
    assert find_edition(["puzzle 7", "", "20_1_1_7_nothing", "20_99_1_770487_red"]) == []
    assert find_edition(["20_1_1_770487_red", "20_1_1_7_nothing"])[0] == (PORT, 1, 1)
    assert choose_edition([]) == PORT
    names = [draw_puzzle(1, 1, 1, 100_000 + number).name for number in range(2 * SAMPLE)]
    assert find_edition(names) == [
        (PORT, SAMPLE, SAMPLE)
    ]  # an even part, by the port alone if it fits
    assert not is_drawn_by(resolve_edition("elixir"), "20_13_1_770487_red")
