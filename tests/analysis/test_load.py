"""Loads of CogniLoad's cells."""

from math import log2

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.analysis.load import cell_loads
from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles.generate import draw_grid


@pytest.mark.parametrize("d", [1, 3])
def test_a_cells_factors_are_those_of_its_puzzles(d):
    """State bits count people, categories and values; predicates are the mean over statements."""
    puzzles = list(draw_grid(grid_cells(f"N=250 ratio=50 d={d}"), 8, 3))
    puzzle = puzzles[0]
    values = puzzle.domains.values()
    state_bits = len(puzzle.people) * sum(log2(len(domain)) for domain in values)
    clauses = []
    for puzzle in puzzles:
        for statement in puzzle.statements:
            clauses.append(len(statement.conditions) + len(statement.updates))
    cells = pd.DataFrame({"N": [250], "d": [d], "rho": [0.5]})
    (loads,) = np.exp(cell_loads(cells)).to_dict("records")
    assert loads["log_SC"] == pytest.approx(state_bits * np.mean(clauses), rel=0.1)
    assert loads["log_N"] == pytest.approx(puzzle.N)


def test_other_readings_follow_one_person():
    """The person's state divides the bits by the people; the needles are a share of the steps."""
    cells = pd.DataFrame({"N": [100], "d": [3], "rho": [0.25]})
    (loads,) = np.exp(cell_loads(cells)).to_dict("records")
    factors = 3 * 3 * log2(4) * 4  # people, attributes, bits of a value, predicates
    assert loads["log_SC"] == pytest.approx(factors)
    assert loads["everybody"] == pytest.approx(factors * 100)
    assert loads["person"] == pytest.approx(factors * 100 / 3)
    assert loads["needles"] == pytest.approx(factors * 100 / 3 * 0.25)
