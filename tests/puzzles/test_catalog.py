"""Puzzles by name, and the edition that they come from."""

import pyarrow as pa
import pytest

from cogniload_repro.grid import PAPER_GRID, Cell, grid_cells
from cogniload_repro.puzzles.catalog import (
    Catalog,
    EditionMatch,
    check_row,
    choose_edition,
    describe_fits,
    draw_named,
    find_edition,
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
ELIXIR = resolve_edition("elixir")


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
        "1000001_1_1_7_red",
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
        ("hello", "not of the form"),
        (
            "2501_1_1_5_red",
            "of more than 2,500 statements are not drawn from their names",
        ),
    ],
)
def test_a_name_that_cannot_be_is_refused(name, cause):
    """Impossible numbers, other texts, and puzzles that would take days."""
    with pytest.raises(ValueError, match=cause):
        draw_named(name)


@pytest.fixture(
    params=[
        ("python", (4, 10, 2, 123_456)),
        ("python", (30, 7, 20, 123_457)),
        ("elixir-1.14", (4, 10, 2, 123_456)),
        ("elixir-1.14", (30, 7, 20, 123_457)),
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
        ({"gold": WRONG}, "gold"),
        ({"poi": "Nobody"}, "poi is"),
        ({"text": None}, "lacks text"),
        ({"rho": 0.5}, r"rho is 0\.6 by the text, 0\.5"),
        ({"puzzle_id": 7}, "puzzle_id is .* by its name, 7"),
        ({"d": 3}, "d is 5 by its name, 3"),
        ({"domain": []}, "that has those of the text"),
        ({"domain": 5}, "of another type"),
        ({"domain": [*ROW["domain"], "stranger"]}, "is not a list of values"),
        (
            {"domain": [*ROW["domain"], ROW["gold"]]},
            "the domain has 7 values, .* 6 different",
        ),
        (
            {"domain": ALL_VALUES},
            "values, a puzzle of difficulty 5 has 6 different ones",
        ),
        ({"text": ROW["text"].replace("\n7. ", "\n8. ")}, "statement 8 where 7 is due"),
        ({"ratio_pct": 50.0}, r"ratio_pct 50\.0 does not give 24 needles of 40"),
        ({"ratio_pct": float("nan")}, "ratio_pct nan does not give"),
        (
            {"name": ROW["name"].replace("40_", "41_"), "N": 41},
            "N is 40 by the text, 41",
        ),
    ],
)
def test_a_changed_row_is_refused_by_what_is_changed(change, message):
    """A row that differs from its text or its name in anything is no puzzle."""
    with pytest.raises(ValueError, match=message):
        check_row(ROW | change)


@pytest.fixture
def catalog():
    """A catalog that starts with one puzzle."""
    return Catalog(pa.Table.from_pylist([draw_named(NAME)], PUZZLES))


def test_a_catalog_numbers_its_puzzles_by_their_first_mention(catalog):
    """Known puzzles come first."""
    other = draw_puzzle(20, 3, 5, 4).name
    assert [catalog.place(name) for name in (other, NAME, other)] == [1, 0, 1]
    assert catalog.table().column("name").to_pylist() == [NAME, other]


def test_a_puzzle_of_a_catalog_may_come_twice_but_not_changed(catalog):
    """One of the two would be wrong."""
    row = draw_named(NAME)
    catalog.add(row)
    assert len(catalog) == 1
    with pytest.raises(ValueError, match="another puzzle of this name"):
        catalog.add(row | {"text": "changed"})


def test_a_catalog_is_read_from_its_table(tmp_path, catalog):
    """Puzzles come back from the file."""
    path = write_table(tmp_path / "puzzles.parquet", catalog.table())
    known = read_catalog(path)
    assert known.text(known.place(NAME)) == draw_named(NAME)["text"]


CELLS = grid_cells("N=12,30 ratio=25,75 d=1,3,6")


@pytest.fixture(scope="module", params=EDITIONS, ids=str)
def drawn_texts(request):
    """An edition, and texts that it draws, by name."""
    puzzles = draw_grid(CELLS, 3, 11, edition=request.param)
    return request.param, {puzzle.name: puzzle.text for puzzle in puzzles}


def test_an_edition_is_found_by_the_names_of_its_puzzles(drawn_texts):
    """Their solutions tell it; others fit fewer names, by chance."""
    edition, texts = drawn_texts
    fits = find_edition(texts)
    assert choose_edition(fits) == edition
    assert fits[0].fitting == fits[0].tried == len(texts)
    for fit in fits[1:]:
        assert fit.fitting < len(texts)


def test_names_of_two_editions_are_refused_with_counts():
    """How many names fit each edition, the best first."""
    names = []
    for edition in (PORT, ELIXIR):
        names += [puzzle.name for puzzle in draw_grid(CELLS, 2, 3, edition=edition)]
    fits = find_edition(names)
    assert {fit.edition for fit in fits} == set(EDITIONS)
    assert {fit.edition for fit in fits[:2]} == {PORT, ELIXIR}
    counts = f"no edition fits all names, {fits[0].edition}: {fits[0].fitting} of 48"
    assert describe_fits(fits[:1]) == counts
    with pytest.raises(
        ValueError, match=rf"{counts}; .*: give the edition with --edition"
    ):
        choose_edition(fits)


def test_an_edition_that_alone_fits_half_of_the_names_is_chosen():
    """If two fit half, neither is."""
    half = EditionMatch(ELIXIR, 5, 10)
    assert choose_edition([half, EditionMatch(PORT, 4, 10)]) == ELIXIR
    with pytest.raises(ValueError, match="no edition fits all names"):
        choose_edition([half, EditionMatch(PORT, 5, 10)])


def test_without_a_name_that_can_be_drawn_the_port_is_left():
    """Names of another form, and names that nothing draws, are left out."""
    assert (
        find_edition(["puzzle 7", "", "20_1_1_7_nothing", "20_99_1_770487_red"]) == []
    )
    assert find_edition([NAME, "20_1_1_7_nothing"])[0] == (PORT, 1, 1)
    assert choose_edition([]) == PORT
    assert describe_fits([]) == ""
