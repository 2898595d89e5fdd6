"""What a table of counts has to meet, and what is expected of one."""

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.models import BY_NAME
from cogniload_repro.reconstruction.constraints import (
    constrain,
    expected_accuracy,
    level_sums,
    surprise,
)
from cogniload_repro.reconstruction.sufficient import recover_sums, sum_cells
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.regression.design import GRID, X

pytestmark = pytest.mark.filterwarnings("error")
NAME = "gpt-5-nano-2025-08-07"


@pytest.fixture(scope="module")
def model_sums():
    """The sums of a model with ten puzzles per cell."""
    return recover_sums(BY_NAME[NAME])


def committed(model):
    """A model's committed correct answers."""
    cells = load_cells()
    return cells.loc[cells["model"] == model, "correct"].to_numpy()


def test_levels_have_their_correct_answers():
    """Sums over each d and over each N but the last, as the committed counts have them."""
    levels, counts = level_sums(NAME)
    assert levels.shape == (8, 140)
    np.testing.assert_array_equal(levels @ committed(NAME), counts)


def test_committed_counts_meet_the_constraints():
    """They do not with one answer moved between cells of one condition."""
    correct = committed(NAME)
    sums = sum_cells(load_cells(), NAME)
    constraints = constrain(sums, sums.sums)
    assert constraints.met(correct)
    np.testing.assert_array_equal(constraints.exact @ correct, constraints.sums)
    moved = correct.copy()
    moved[0] += 1
    moved[1] -= 1
    assert (constraints.exact @ moved != constraints.sums).any()
    assert not constraints.met(np.full(140, -1))


def test_a_departure_changes_the_levels_of_rho_and_no_printed_sum(model_sums):
    """Each ratio goes its own way; sums by d, by N and of the covariates stay."""
    _, answers, sums = model_sums
    constraints = constrain(model_sums, sums)
    smooth = expected_accuracy(model_sums)
    is_raised = GRID["ratio_pct"].isin([10, 75])
    rough = expected_accuracy(model_sums, np.where(is_raised, 0.3, -0.1))
    correct = answers * rough
    np.testing.assert_allclose(constraints.exact @ correct, constraints.sums, rtol=1e-8)
    np.testing.assert_allclose(X.T @ correct, sums, rtol=1e-8)
    change = pd.Series(rough - smooth)
    by_ratio = change.groupby(GRID["ratio_pct"]).mean()
    assert by_ratio[[10, 75]].min() > 0
    assert by_ratio[[25, 90]].max() < 0


def test_a_departure_that_the_sums_fix_changes_nothing(model_sums):
    """A straight line and a parabola along rho are fixed by the sums of rho and its square."""
    smooth = expected_accuracy(model_sums)
    departure = 2.0 * X[:, 3] - X[:, 4]
    np.testing.assert_allclose(
        expected_accuracy(model_sums, departure), smooth, atol=1e-6
    )


def test_surprise_is_a_standard_score_of_the_log_likelihood():
    """Over drawn tables its mean is 0 and its standard deviation 1; unlikely tables are above."""
    rng = np.random.default_rng(1)
    answers = np.full(140, 20.0)
    accuracy = rng.uniform(0.1, 0.9, 140)
    tables = rng.binomial(20, accuracy, (2000, 140))
    scores = [surprise(answers, accuracy, table) for table in tables]
    assert np.mean(scores) == pytest.approx(0, abs=0.1)
    assert np.std(scores) == pytest.approx(1, abs=0.1)
    unlikely = np.where(accuracy > 0.5, 0, 20)
    assert surprise(answers, accuracy, unlikely) > 10
