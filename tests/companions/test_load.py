"""The post's loads and puzzles, loads of CogniLoad's cells, and accuracy as a function of load."""

from math import comb, log, log2

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from cogniload_repro.companions import load
from cogniload_repro.companions.load import (
    FALLING,
    SPECIFICATIONS,
    cell_load,
    cell_loads,
    compare_curves,
)
from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles.generate import draw_grid
from cogniload_repro.statistics.design import GRID
from cogniload_repro.statistics.regression import fit_glm

PAPER, LOAD, _, _, FREE = SPECIFICATIONS


def test_the_posts_worked_numbers():
    """River Crossing has a load of 100 for two pairs and 924 for three; Checkers and Hanoi have the closed forms."""
    assert load.river_load(2) == (5, 4, 5)
    assert (load.river_load(2).load, load.river_load(3).load) == (100, 924)
    assert load.checkers_load(2).load == 16 * 2**3 + 32 * 2**2
    assert load.hanoi_load(7).load == pytest.approx(4.74 * 7**2, rel=0.005)


def test_searches_find_the_known_minimum():
    """Hanoi reaches all 3^n arrangements, checkers not all from n = 2 on; jealous couples cross in 5, 11, 9 and 11."""
    assert [load.search_hanoi(n) for n in range(1, 7)] == [(2**n - 1, 3**n) for n in range(1, 7)]
    checkers = {n: load.search_checkers(n) for n in range(1, 6)}
    assert [moves for moves, _ in checkers.values()] == [(n + 1) ** 2 - 1 for n in checkers]
    assert [n for n, (_, states) in checkers.items() if states == (2 * n + 1) * comb(2 * n, n)] == [
        1
    ]
    assert [load.search_river(n)[0] for n in range(2, 6)] == [5, 11, 9, 11]
    assert load.search_river(4, capacity=2)[0] is None  # four pairs in a boat for two never arrive
    with pytest.raises(ValueError, match="6 pairs cannot cross"):
        load.river_load(6)


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


def test_other_readings_follow_one_person():
    """The person's state divides the bits by the people; its needles are a share rho of the steps."""
    loads = cell_loads(pd.DataFrame({"N": [100], "d": [3], "rho": [0.25]})).loc[0]
    whole = cell_load(100, 3).load
    expected = {
        "everybody": whole,
        "person": whole / 3,
        "needles": whole / 3 * 0.25,
        "log_SC": whole / 100,
        "log_N": 100,
    }
    assert loads.to_dict() == pytest.approx({name: log(value) for name, value in expected.items()})


def _draw(log_odds: np.ndarray, n: int = 400) -> pd.DataFrame:
    return GRID.assign(
        model="QwQ-32B", total=n, correct=np.random.default_rng(1).binomial(n, expit(log_odds))
    )


def test_counts_of_one_load_prefer_it():
    """Where load is all there is, it beats the paper's regression by AIC."""
    cells = _draw(-0.8 * (cell_loads(GRID)["everybody"].to_numpy() - np.log(5e3)))
    table = compare_curves(cells).set_index("specification")
    assert table.loc[LOAD, "models_better"] == 1
    assert table.loc[LOAD, "aic"] < table.loc[PAPER, "aic"]
    assert table.loc[FALLING, "deviance"] < table.loc[LOAD, "deviance"]
    assert table.loc[PAPER, "aic"] == pytest.approx(
        fit_glm(cells).aic
    )  # as the paper's own pipeline gives it
