"""Whole numbers of correct answers: a lattice that reaches every table, and draws that meet everything printed."""

import numpy as np
import pandas as pd
import pytest
from flint import fmpz_mat

from cogniload_repro.models import BY_NAME
from cogniload_repro.reconstruction.constraints import constrain, expected_accuracy
from cogniload_repro.reconstruction.counts import draw_counts, exchanges, walk
from cogniload_repro.reconstruction.sufficient import predict, printed_windows, recover
from cogniload_repro.statistics.design import GRID, X

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(scope="module")
def problem():
    """The statistics, expected accuracies, constraints and exchanges of a model of ten puzzles a cell."""
    recovered = recover(BY_NAME["gpt-5-nano-2025-08-07"])
    p = expected_accuracy(recovered)
    constraints = constrain(recovered, recovered.T)
    return recovered, p, constraints, *exchanges(constraints, p)


@pytest.fixture(scope="module")
def drawn(problem):
    """One table of the model."""
    return draw_counts(problem[0], np.random.default_rng(1))


def test_exchanges_keep_the_exact_sums(problem):
    """No exchange changes a sum by d, by N, or 500 T_rho; the nine other moves do."""
    _, _, constraints, basis, particular = problem
    assert basis.shape == (131, 140)
    assert particular.shape == (9, 140)
    assert (basis @ constraints.exact.T == 0).all()
    assert np.linalg.matrix_rank(particular @ constraints.exact.T) == 9


def test_exchanges_and_moves_reach_every_table(problem):
    """Together they are a basis of all whole-number changes: their determinant is 1 or -1."""
    *_, basis, particular = problem
    assert abs(int(fmpz_mat(np.vstack([basis, particular]).tolist()).det())) == 1


def test_a_drawn_table_meets_everything_printed(problem, drawn):
    """Inside 0 to n, sums exact, the numbers of Tables 3 and 6 inside their rounding."""
    recovered, _, constraints, *_ = problem
    assert drawn.dtype.kind == "i"
    assert ((drawn >= 0) & (drawn <= recovered.n)).all()
    np.testing.assert_array_equal(constraints.exact @ drawn, constraints.sums)
    T = X.T @ drawn
    np.testing.assert_allclose(T[:4], recovered.T[:4], rtol=1e-12)
    values, widths = printed_windows(recovered.model.name)
    assert np.abs((predict(recovered.n, T)[0] - values) / widths).max() <= 1


def test_the_walk_stays_among_possible_tables(problem, drawn):
    """Every table on the way keeps sums, box and windows, and the walk does move."""
    recovered, p, _, *_ = problem
    constraints = constrain(recovered, np.concatenate([recovered.T[:3], X[:, 3:].T @ drawn]))
    basis, _ = exchanges(constraints, p)
    rng, k, seen = np.random.default_rng(3), drawn, set()
    for _ in range(30):
        k = walk(constraints, basis, k, p, rng, 50)
        assert constraints.met(k)
        np.testing.assert_array_equal(constraints.exact @ k, constraints.sums)
        seen.add(k.tobytes())
    assert len(seen) > 1


def test_a_misfit_moves_the_levels_of_rho(problem):
    """A departure changes what is expected at each ratio, and no sum that the tables fix."""
    recovered, p, constraints, *_ = problem
    departure = np.where(GRID["ratio_pct"].isin([10, 75]), 0.3, -0.1)
    rough = expected_accuracy(recovered, departure)
    np.testing.assert_allclose(
        constraints.exact @ (recovered.n * rough), constraints.sums, rtol=1e-8
    )
    np.testing.assert_allclose(X.T @ (recovered.n * rough), recovered.T, rtol=1e-8)
    by_ratio = pd.Series(rough - p).groupby(GRID["ratio_pct"]).mean()
    assert by_ratio[[10, 75]].min() > 0 > by_ratio[[25, 90]].max()
    smooth = expected_accuracy(recovered, 2.0 * X[:, 3] - X[:, 4])
    np.testing.assert_allclose(smooth, p, atol=1e-6)
