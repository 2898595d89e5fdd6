import pytest

from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles.catalog import parse_name
from cogniload_repro.puzzles.editions import EDITIONS, PORT, resolve_edition
from cogniload_repro.puzzles.generate import draw_grid, draw_puzzle
from cogniload_repro.puzzles.origin import SAMPLE, choose_edition, describe_fits, find_edition, is_drawn_by

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
        assert fit.fitting <= next(one.fitting for one in by_name if one.edition == fit.edition) < len(texts)
        assert fit.fitting == sum(is_drawn_by(fit.edition, parse_name(name), texts[name]) for name in texts)


def test_ports_puzzles_are_drawn_once():
    """Where the port fits everything, no other edition is tried."""
    names = [puzzle.name for puzzle in draw_grid(CELLS, 1, 3)]
    assert [(fit.edition, fit.fitting, fit.tried) for fit in find_edition(names)] == [(PORT, 12, 12)]


def test_names_of_several_editions_are_refused_with_counts():
    """A mixture fits no edition; the refusal tells how many names fit each."""
    elixir = resolve_edition("elixir")
    names = [puzzle.name for edition in (PORT, elixir) for puzzle in draw_grid(CELLS, 2, 3, edition=edition)]
    fits = find_edition(names)
    assert {fit.edition for fit in fits} == set(EDITIONS)
    assert {fit.edition for fit in fits[:2]} == {PORT, elixir}
    with pytest.raises(ValueError, match=r"no edition fits all names, .* of 48: tell the edition with --edition"):
        choose_edition(fits)
    assert describe_fits(fits[:1]) == f"no edition fits all names, {fits[0].edition}: {fits[0].fitting} of 48"
    assert describe_fits([]) == ""


def test_what_cannot_be_drawn_fits_nothing():
    """Names of another form, and names that nothing draws, are left out; without any other, the port is left."""
    assert find_edition(["puzzle 7", "", "20_1_1_7_nothing", "20_99_1_770487_red"]) == []
    assert find_edition(["20_1_1_770487_red", "20_1_1_7_nothing"])[0] == (PORT, 1, 1)
    assert choose_edition([]) == PORT
    assert not is_drawn_by(resolve_edition("elixir"), parse_name("20_13_1_770487_red"))


def test_of_many_names_a_part_is_tried():
    """Of more names than the sample a part spread over all of them is drawn again."""
    names = [draw_puzzle(1, 1, 1, 100_000 + number).name for number in range(2 * SAMPLE)]
    (fit,) = find_edition(names)
    assert fit == (PORT, SAMPLE, SAMPLE)
