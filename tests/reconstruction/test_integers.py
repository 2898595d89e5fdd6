"""Whole numbers of correct answers: a lattice that reaches every table, and draws from it."""

import numpy as np
import pytest
from flint import fmpz_mat

from cogniload_repro.models import BY_NAME
from cogniload_repro.reconstruction.constraints import constrain, expected_accuracy
from cogniload_repro.reconstruction.integers import draw_counts, reduce_lattice, walk
from cogniload_repro.reconstruction.sufficient import miss_printed, recover_sums
from cogniload_repro.regression.design import X

pytestmark = pytest.mark.filterwarnings("error")


@pytest.fixture(scope="module")
def model_sums():
    """The sums of a model with ten puzzles per cell."""
    return recover_sums(BY_NAME["gpt-5-nano-2025-08-07"])


@pytest.fixture(scope="module")
def constraints(model_sums):
    """The constraints on the model's counts."""
    return constrain(model_sums, model_sums.sums)


@pytest.fixture(scope="module")
def accuracy(model_sums):
    """The model's expected accuracies."""
    return expected_accuracy(model_sums)


@pytest.fixture(scope="module")
def moves(constraints, accuracy):
    """Exchanges that keep the exact sums, and moves that do not."""
    return reduce_lattice(constraints, accuracy)


@pytest.fixture(scope="module")
def correct(model_sums):
    """One table of the model."""
    return draw_counts(model_sums, np.random.default_rng(1))


def test_exchanges_keep_the_exact_sums(constraints, moves):
    """No exchange changes a sum by d, by N, or that of 500 rho; the nine other moves do."""
    basis, particular = moves
    assert basis.shape == (131, 140)
    assert particular.shape == (9, 140)
    assert (basis @ constraints.exact.T == 0).all()
    assert np.linalg.matrix_rank(particular @ constraints.exact.T) == 9


def test_exchanges_and_moves_reach_every_table(moves):
    """Together they are a basis of all whole-number changes: their determinant is 1 or -1."""
    matrix = fmpz_mat(np.vstack(moves).tolist())
    assert abs(int(matrix.det())) == 1


def test_a_drawn_table_meets_everything_printed(model_sums, constraints, correct):
    """Between 0 and all answers, with exact sums, and the numbers of Tables 3 and 6 as printed."""
    _, answers, sums = model_sums
    assert correct.dtype.kind == "i"
    assert ((correct >= 0) & (correct <= answers)).all()
    np.testing.assert_array_equal(constraints.exact @ correct, constraints.sums)
    drawn_sums = X.T @ correct
    np.testing.assert_allclose(drawn_sums[:4], sums[:4], rtol=1e-12)
    drawn = model_sums._replace(sums=drawn_sums)
    misses, _ = miss_printed(drawn)
    assert np.abs(misses).max() <= 1


def test_the_walk_stays_among_possible_tables(model_sums, accuracy, correct):
    """Every table on the way keeps sums, box and windows, and the walk does move."""
    constraints = constrain(model_sums, X.T @ correct)
    basis, _ = reduce_lattice(constraints, accuracy)
    rng = np.random.default_rng(3)
    tables = [correct]
    for _ in range(30):
        table = walk(constraints, basis, tables[-1], accuracy, rng, 50)
        assert constraints.met(table)
        np.testing.assert_array_equal(constraints.exact @ table, constraints.sums)
        tables.append(table)
    visited = np.unique(tables[1:], axis=0)
    assert len(visited) > 1
