import pytest

from cogniload_repro.puzzles.editions import EDITIONS, NAMES, PORT, resolve_edition
from cogniload_repro.puzzles.generate import draw_puzzle


def test_names_stand_for_editions():
    """`elixir` is the last version; each has its usual order of keys."""
    assert resolve_edition("elixir") == resolve_edition("elixir-1.17") == resolve_edition("elixir", "ontology")
    assert [str(resolve_edition(name)) for name in NAMES] == [*NAMES[:-1], "elixir-1.17"]
    assert str(resolve_edition("elixir-1.17", "alphabetical")) == "elixir-1.17 with key order alphabetical"
    assert resolve_edition(PORT) is PORT
    assert len(set(map(str, EDITIONS))) == len(EDITIONS) == 1 + 3 * 2


@pytest.mark.parametrize(
    ("choice", "message"),
    [
        (("elixir-1.18",), "edition is 'elixir-1.18'; choose one of: python, elixir-1.14"),
        ((None,), "edition is None"),
        (("elixir", "drawn"), "key_order is 'drawn' for edition elixir-1.17; choose one of: alphabetical, ontology"),
        (("python", "ontology"), "for edition python; .*for an Elixir edition only"),
        ((PORT, "ontology"), "for edition python"),
    ],
)
def test_unknown_editions_are_refused(choice, message):
    """Another edition or order, and an order for the port, stop with what there is to choose from."""
    with pytest.raises(ValueError, match=message):
        resolve_edition(*choice)


@pytest.mark.parametrize("puzzle_id", [99_999, 1_000_000, -1, "770487"])
def test_ids_that_elixir_never_drew_are_refused(puzzle_id):
    """The original's ids have six digits; the port draws others too."""
    with pytest.raises(ValueError, match=r"puzzle_id is .*; give a whole number from 100000 to 999,999"):
        draw_puzzle(20, 1, 1, puzzle_id, edition="elixir")
    if puzzle_id in (99_999, 1_000_000):
        assert draw_puzzle(20, 1, 1, puzzle_id).puzzle_id == puzzle_id
