"""The puzzles that a source answers."""

import pytest
from samples import release_state

from cogniload_repro.importing.source_puzzles import read_state
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.rows import check_row, puzzle_row

PUZZLE = draw_puzzle(20, 3, 5, 770_487)


@pytest.mark.parametrize("changes", [{}, {"needles": 0}])
def test_the_authors_files_give_the_row_of_the_puzzle(changes):
    """The released program's counter of needles ends at 0, and is passed over then."""
    text = PUZZLE.text + "\n"
    row = check_row(read_state(PUZZLE.name, text, release_state(PUZZLE, **changes)))
    assert row == puzzle_row(PUZZLE) | {"text": text}


@pytest.mark.parametrize(
    ("state", "cause"),
    [
        ("[" * 100_000, "lacks its text"),
        ("[]", "lacks its text"),
        ("{}", "lacks its text"),
        ("[", "lacks its text"),
        (release_state(PUZZLE, category_defaults={}), "lacks its text"),
    ],
)
def test_damaged_metadata_are_refused(state, cause):
    """Cut, of another kind, or of another puzzle."""
    with pytest.raises(ValueError, match=cause):
        check_row(read_state(PUZZLE.name, PUZZLE.text, state))
