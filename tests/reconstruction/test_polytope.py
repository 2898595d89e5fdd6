"""How many tables agree with the paper, and how far their sums reach."""

from itertools import product

import numpy as np
import pytest

from cogniload_repro.reconstruction.constraints import Constraints
from cogniload_repro.reconstruction.polytope import constraints_around, estimate_log10_tables, possible_range
from cogniload_repro.reconstruction.reconstruct import load_counts


def small_problem(seed):
    """Return nine cells in a square with up to 14 answers each, their margins, two windows, and all tables that fit."""
    rng = np.random.default_rng(seed)
    square = np.arange(9).reshape(3, 3)
    margins = [*(np.isin(range(9), row) for row in square), *(np.isin(range(9), column) for column in square.T[:2])]
    exact, middle = np.array(margins, dtype=int), rng.integers(4, 11, 9)
    weights = rng.normal(size=(2, 9)) / 3
    constraints = Constraints(exact, exact @ middle, weights, weights @ middle, np.full(9, 14.0))
    k = np.zeros((15**4, 9), dtype=int)
    k[:, [0, 1, 3, 4]] = list(product(range(15), repeat=4))
    k[:, [2, 5]] = constraints.sums[:2] - k.reshape(-1, 3, 3).sum(axis=2)[:, :2]
    k[:, [6, 7]] = constraints.sums[3:] - k.reshape(-1, 3, 3).sum(axis=1)[:, :2]
    k[:, 8] = constraints.sums[2] - k[:, 6:8].sum(axis=1)
    return constraints, np.array([table for table in k if constraints.met(table)])


def count_exactly(weights, most, total, centre):
    """Count the tables with this total and these two weighted sums, cell by cell."""
    cells = weights.shape[1]
    ways = np.zeros((cells * most + 1, 2 * cells * most + 1, 2 * cells * most + 1))
    ways[0, cells * most, cells * most] = 1
    for first, second in weights.T:
        ways = sum(np.roll(ways, (k, k * first, k * second), axis=(0, 1, 2)) for k in range(most + 1))
    a, b = centre + cells * most
    return ways[total, a, b]


@pytest.mark.parametrize("total", [6, 20, 36, 63])
def test_estimate_is_near_the_count(total):
    """Where the tables can be counted, few answers right or most, the estimate is within a tenth of a power of ten."""
    rng, cells, most = np.random.default_rng(total), 24, 3
    weights = rng.integers(-1, 2, (2, cells))
    centre = np.rint(weights.sum(axis=1) * total / cells).astype(int)
    exact, n = np.ones((1, cells), dtype=int), np.full(cells, float(most))
    constraints = Constraints(exact, np.array([total]), 2 * weights, 2 * centre, n)
    tables = count_exactly(weights, most, total, centre)
    assert estimate_log10_tables(constraints) == pytest.approx(np.log10(tables), abs=0.1)


@pytest.mark.parametrize("seed", range(3))
def test_no_table_lies_outside_the_range(seed):
    """The range of a group's share holds every table, and is not much wider than they are."""
    constraints, tables = small_problem(seed)
    members = np.isin(range(9), [0, 4])
    low, high = possible_range(constraints, members)
    shares = tables[:, members].sum(axis=1) / 28
    assert low - 1e-9 <= shares.min() <= low + 0.15
    assert high - 0.15 <= shares.max() <= high + 1e-9


@pytest.mark.parametrize("name", ["gpt-5-2025-08-07", "QwQ-32B", "o3-2025-04-16"])
def test_committed_counts_meet_their_constraints(name):
    """The committed table is one of those that are estimated, among at least a million."""
    cells = load_counts()
    constraints = constraints_around(cells, name)
    own = cells[cells["model"] == name]
    assert constraints.met(own["correct"].to_numpy())
    assert (constraints.exact @ own["correct"].to_numpy() == constraints.sums).all()
    assert estimate_log10_tables(constraints) > 6
    d = own["d"].to_numpy() == 3
    assert possible_range(constraints, d) == pytest.approx([own["correct"][d].sum() / own["total"][d].sum()] * 2)


def test_partial_cells_are_refused():
    """Constraints need the whole grid, and the message says how much there is."""
    with pytest.raises(ValueError, match="QwQ-32B has 35 of the paper's 140 cells"):
        constraints_around(load_counts().query("N == 20"), "QwQ-32B")
