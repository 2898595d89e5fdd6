"""The puzzles of a source: the authors' files, and the edition that fits names."""

import pytest
from samples import release_state

from cogniload_repro.grid import grid_cells
from cogniload_repro.outputs.source_puzzles import (
    EditionMatch,
    choose_edition,
    describe_fits,
    find_edition,
    release_row,
)
from cogniload_repro.puzzles.catalog import puzzle_row
from cogniload_repro.puzzles.draws import EDITIONS, PORT, resolve_edition
from cogniload_repro.puzzles.generate import draw_grid, draw_puzzle

NAME = "20_1_1_770487_red"
ELIXIR = resolve_edition("elixir")
PUZZLE = draw_puzzle(20, 3, 5, 4)
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


@pytest.mark.parametrize("changes", [{}, {"needles": 0}])
def test_the_authors_files_give_the_row_of_the_puzzle(changes):
    """The released program's counter of needles ends at 0, and is passed over then."""
    text = PUZZLE.text + "\n"
    row = release_row(PUZZLE.name, text, release_state(PUZZLE, **changes))
    assert row == puzzle_row(PUZZLE) | {"text": text}


@pytest.mark.parametrize(
    ("state", "cause"),
    [
        ("[" * 100_000, "nested too deeply"),
        ("[]", "not a JSON object"),
        ("{}", "lack poi, category_defaults, needles, difficulty, num_statements"),
        ("[", "Expecting"),
        (release_state(PUZZLE, poi="Nobody"), "poi is"),
        (release_state(PUZZLE, category_defaults={}), "domain"),
    ],
)
def test_damaged_metadata_are_refused(state, cause):
    """Cut, of another kind, or of another puzzle."""
    with pytest.raises(ValueError, match=cause):
        release_row(PUZZLE.name, PUZZLE.text, state)
