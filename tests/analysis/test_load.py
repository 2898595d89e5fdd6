"""Loads of CogniLoad's cells, and accuracy as a function of load."""

from math import log2

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from cogniload_repro.analysis.load import FALLING, PAPER, cell_loads, compare_curves
from cogniload_repro.grid import grid_cells
from cogniload_repro.puzzles.generate import draw_grid
from cogniload_repro.regression.design import GRID
from cogniload_repro.regression.glm import fit_glm

LOAD = "load, everybody's state"


@pytest.mark.parametrize("d", [1, 3, 10])
def test_a_cells_factors_are_those_of_its_puzzles(d):
    """State bits count people, categories and values; predicates are the mean over statements."""
    puzzles = list(draw_grid(grid_cells(f"N=250 ratio=50 d={d}"), 8, 3))
    cells = pd.DataFrame({"N": [250], "d": [d], "rho": [0.5]})
    (loads,) = cell_loads(cells).to_dict("records")
    if (
        d < 10
    ):  # most categories have ten values, one fewer than the eleven of the paper's Table 1
        puzzle = puzzles[0]
        bits = sum(log2(len(values)) for values in puzzle.domains.values())
        assert loads["state_bits"] == pytest.approx(len(puzzle.people) * bits)
    clauses = []
    for puzzle in puzzles:
        for statement in puzzle.statements:
            clauses.append(len(statement.conditions) + len(statement.updates))
    assert loads["predicates"] == pytest.approx(np.mean(clauses), rel=0.1)
    assert np.exp(loads["log_N"]) == pytest.approx(puzzles[0].N)


def test_other_readings_follow_one_person():
    """The person's state divides the bits by the people; the needles are a share of the steps."""
    cells = pd.DataFrame({"N": [100], "d": [3], "rho": [0.25]})
    (loads,) = np.exp(cell_loads(cells)).to_dict("records")
    factors = 3 * 3 * log2(4) * 4  # people, attributes, bits of a value, predicates
    assert loads["log_SC"] == pytest.approx(factors)
    assert loads["everybody"] == pytest.approx(factors * 100)
    assert loads["person"] == pytest.approx(factors * 100 / 3)
    assert loads["needles"] == pytest.approx(factors * 100 / 3 * 0.25)


def test_counts_that_follow_one_load_prefer_it():
    """The load has a better AIC than the paper's regression, whose AIC is that of its own fit."""
    load = cell_loads(GRID)["everybody"]
    accuracy = expit(-0.8 * (load - np.log(5e3)))
    correct = np.random.default_rng(1).binomial(400, accuracy)
    cells = GRID.assign(model="QwQ-32B", total=400, correct=correct)
    table = compare_curves(cells).set_index("specification")
    assert table.loc[LOAD, "models_better"] == 1
    assert table.loc[LOAD, "aic"] < table.loc[PAPER, "aic"]
    assert table.loc[FALLING, "deviance"] < table.loc[LOAD, "deviance"]
    assert table.loc[PAPER, "aic"] == pytest.approx(fit_glm(cells).aic)
