"""Puzzles as the authors' release has them."""

import json

import pytest

from cogniload_repro.puzzles.catalog import puzzle_row
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.release import release_row


def state_of(puzzle, **changes):
    """The authors' metadata of a puzzle, as JSON."""
    keys = {
        "poi": puzzle.poi,
        "category_defaults": puzzle.domains,
        "needles": puzzle.needles,
        "difficulty": puzzle.d,
        "num_statements": puzzle.N,
    }
    return json.dumps({key: value for key, value in {**keys, **changes}.items() if value is not None})


def test_the_authors_files_give_the_same_row():
    """Text and metadata of a puzzle hold all that its name tells."""
    puzzle = draw_puzzle(20, 3, 5, 4)
    assert release_row(puzzle.name, puzzle.text + "\n", state_of(puzzle)) == {
        **puzzle_row(puzzle),
        "text": puzzle.text + "\n",
    }


def test_the_released_counter_of_needles_is_no_contradiction():
    """The released program's metadata hold the needles that are left at the end, which are none."""
    puzzle = draw_puzzle(20, 3, 5, 4)
    assert release_row(puzzle.name, puzzle.text, state_of(puzzle, needles=0))["needles"] == 5


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"poi": None}, "lack poi"),
        ({"poi": 3}, "another type"),
        ({"poi": ""}, "poi is 'Janet' by the text"),
        ({"needles": 6}, r"N, d, needles = \(20, 3, 6\)"),
        ({"category_defaults": {}}, "lack"),
        ({"category_defaults": []}, "lack a list of values"),
    ],
)
def test_metadata_that_contradict_the_name_are_refused(changes, reason):
    """A lost or changed key is an error that names it."""
    puzzle = draw_puzzle(20, 3, 5, 4)
    with pytest.raises(ValueError, match=reason):
        release_row(puzzle.name, puzzle.text, state_of(puzzle, **changes))


def test_metadata_that_are_no_json_are_refused():
    """A broken file is an error like any other."""
    puzzle = draw_puzzle(20, 3, 5, 4)
    with pytest.raises(ValueError, match="Expecting"):
        release_row(puzzle.name, puzzle.text, "{")
