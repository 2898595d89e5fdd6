"""The post's loads, and loads of CogniLoad's cells."""

from math import log, log2

import pandas as pd
import pytest

from cogniload_repro.companions.load import (
    cell_load,
    cell_loads,
    checkers_load,
    compare_puzzles,
    hanoi_load,
    river_load,
)
from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles.generate import draw_grid


def test_the_posts_worked_numbers():
    """River Crossing has a load of 100 for two pairs and 924 for three, from 5 and 11 searched moves."""
    assert river_load(2) == (5, 4, 5)
    assert (river_load(2).load, river_load(3).load) == (100, 924)
    assert checkers_load(2).load == 16 * 2**3 + 32 * 2**2
    assert hanoi_load(7).load == pytest.approx(4.74 * 7**2, rel=0.005)


def test_a_river_nobody_crosses_has_no_load():
    """Six pairs are refused."""
    with pytest.raises(ValueError, match="6 pairs cannot cross"):
        river_load(6)


def test_the_comparison_covers_the_sizes_asked_for():
    """Hanoi to 10 disks, checkers to 6 a colour, rivers to 5 pairs; wherever the post states moves they are found."""
    table = compare_puzzles()
    assert table.groupby("puzzle")["total"].max().to_dict() == {
        "Tower of Hanoi": 10, "Checker Jumping": 6, "River Crossing": 5,
    }  # fmt: skip
    stated = table.dropna(subset="moves_stated")
    assert (stated["moves"] == stated["moves_stated"]).all()
    assert (table["reachable"] <= table["arrangements"]).all()


@pytest.mark.parametrize("d", [1, 3, 10])
def test_a_cells_factors_are_those_of_its_puzzles(d):
    """State bits count people, categories and values of drawn puzzles; predicates are the mean over many statements."""
    puzzles = list(draw_grid(grid_cells(f"N=250 ratio=50 d={d}"), 8, 3))
    puzzle, own = puzzles[0], cell_load(250, d)
    sizes = [len(values) for values in puzzle.domains.values()]
    if d < 10:  # most categories have ten values, one fewer than the eleven of the paper's Table 1
        assert own.state_bits == pytest.approx(len(puzzle.people) * sum(map(log2, sizes)))
    clauses = [len(s.conditions) + len(s.updates) for puzzle in puzzles for s in puzzle.statements]
    assert own.predicates == pytest.approx(sum(clauses) / len(clauses), rel=0.1)
    assert own.steps == puzzle.N


def test_a_following_of_one_person_takes_only_needles():
    """The second reading divides the state by the people and counts needles as steps."""
    loads = cell_loads(pd.DataFrame({"N": [100], "d": [3], "rho": [0.25]}))
    whole = cell_load(100, 3).load
    assert loads["everybody"][0] == pytest.approx(log(whole))
    assert loads["poi_only"][0] == pytest.approx(log(whole / 3 * 0.25))
