"""Sufficient statistics: what sums print, and sums that print what is printed."""

import numpy as np
import pytest

from cogniload_repro.models import BY_NAME
from cogniload_repro.reconstruction.printed import PRINTED, exact_sums, printed_rows
from cogniload_repro.reconstruction.sufficient import (
    OPEN_COLUMNS,
    miss_printed,
    predict,
    recover_sums,
    sum_cells,
)
from cogniload_repro.reconstruction.table2 import row_deviations, row_values
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.regression.design import GRID, QUADRATIC_COLUMNS, X, grid_means
from cogniload_repro.regression.likelihood import maximise

pytestmark = pytest.mark.filterwarnings("error")


def draw_correct(answers, seed):
    """Random counts of the 140 cells around a plausible regression."""
    beta = [6, -0.2, -2.3, -3, 3]
    log_odds = X[:, QUADRATIC_COLUMNS] @ beta
    accuracy = 1 / (1 + np.exp(-log_odds))
    rng = np.random.default_rng(seed)
    return rng.binomial(answers, accuracy)


@pytest.mark.parametrize("per_cell", [10, 100])
def test_derivatives_are_finite_differences(per_cell):
    """Every derivative of every printed number agrees with a central difference."""
    correct = draw_correct(per_cell, seed=per_cell)
    answers = np.full(len(GRID), float(per_cell))
    sums = X.T @ correct
    values, slopes = predict(answers, sums)
    assert values.shape == (len(PRINTED),)
    assert slopes.shape == (len(PRINTED), len(OPEN_COLUMNS))
    largest = np.abs(slopes).max(axis=1)
    for place, column in enumerate(OPEN_COLUMNS):
        step = np.zeros(9)
        step[column] = 1e-7 * abs(sums[column])
        above, _ = predict(answers, sums + step)
        below, _ = predict(answers, sums - step)
        slope = (above - below) / (2 * step[column])
        errors = np.abs(slopes[:, place] - slope)
        assert (errors < 1e-5 * largest).all()


@pytest.mark.parametrize("name", ["o4-mini-2025-04-16", "DeepSeek-R1-Distill-Qwen-32B"])
def test_recovered_sums_print_what_is_printed(name):
    """The sums give Tables 2, 3 and 6, and 500 times the sum of rho is a whole number."""
    model = BY_NAME[name]
    recovered = recover_sums(model)
    misses, _ = miss_printed(recovered)
    assert np.abs(misses).max() <= 1
    _, answers, sums = recovered
    whole = 500 * sums[3]
    assert whole == pytest.approx(round(whole), abs=1e-9)
    np.testing.assert_allclose(sums[:3], exact_sums(name))
    complete = len(GRID) * model.puzzles_per_cell
    assert answers.sum() == complete - len(model.missing)
    quadratic = list(QUADRATIC_COLUMNS)
    beta, _ = maximise(X[:, quadratic], answers, sums[quadratic])
    values = row_values(beta[None], grid_means(GRID))
    deviations = row_deviations(values, printed_rows([name]))
    assert deviations.max() <= 1


def test_sums_of_cells_need_the_whole_grid():
    """A model with fewer cells is refused with its number of cells."""
    cells = load_cells(models="QwQ-32B")
    _, _, sums = sum_cells(cells, "QwQ-32B")
    np.testing.assert_allclose(sums[:3], exact_sums("QwQ-32B"))
    with pytest.raises(ValueError, match="QwQ-32B has 139 of the paper's 140 cells"):
        sum_cells(cells[1:], "QwQ-32B")
