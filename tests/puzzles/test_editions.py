import pytest

from cogniload_repro.puzzles.editions import EDITIONS, NAMES, PORT, resolve_edition
from cogniload_repro.puzzles.generate import draw_puzzle


def test_names_stand_for_editions():
    """`elixir` is the last version; others are refused with what there is to choose from."""
    assert [str(resolve_edition(name)) for name in NAMES] == [*map(str, EDITIONS), "elixir-1.17"]
    assert resolve_edition(PORT) is PORT
    for name in ("elixir-1.18", None):
        with pytest.raises(ValueError, match=f"edition is {name!r}; choose one of: python, elixir-1.17"):
            resolve_edition(name)


@pytest.mark.parametrize("puzzle_id", [99_999, 1_000_000, -1, "770487"])
def test_ids_that_elixir_never_drew_are_refused(puzzle_id):
    """The original's ids have six digits; the port draws others too."""
    with pytest.raises(ValueError, match=r"puzzle_id is .*; give a whole number from 100000 to 999,999"):
        draw_puzzle(20, 1, 1, puzzle_id, edition="elixir")
    if puzzle_id in (99_999, 1_000_000):
        assert draw_puzzle(20, 1, 1, puzzle_id).puzzle_id == puzzle_id
