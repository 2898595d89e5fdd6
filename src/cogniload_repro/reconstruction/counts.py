"""Sufficient statistics -> whole numbers of correct answers per cell.

Tables that keep the exact sums form a lattice; its reduced basis (LLL) consists of short exchanges between cells, most
of which hardly move the printed numbers. In those coordinates the search is easy: go to the lattice point nearest to a
binomial draw (Babai), bring the last cells into the box by integer programming, then walk at random among the tables
that remain possible, weighted by their binomial probability.
"""

import numpy as np
from flint import fmpz_mat
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.stats import binom

from cogniload_repro.reconstruction.constraints import (
    OF_BUCKETS,
    OF_CONDITION,
    Constraints,
    bucket_sums,
    can_allocate,
    constrain,
    expected_accuracy,
    surprise,
)
from cogniload_repro.reconstruction.sufficient import Recovered, predict, printed_windows
from cogniload_repro.statistics.design import GRID, X

# The walk: 20 000 steps, about 75 for every exchange and direction, in strides that end where the errors can be
# spread over their buckets.
_STRIDES, _STEPS = 50, 400

# Standard deviations by which a table may be less likely than others, and how often one is drawn again.
_MOST_SURPRISE, _DRAWS = 3.0, 40

#: One row a ratio: the cells that it has.
_RATIOS = np.array(
    [GRID["ratio_pct"] == ratio for ratio in GRID["ratio_pct"].unique()], dtype=float
)


def draw_counts(recovered: Recovered, rng: np.random.Generator, misfit: float = 0.0) -> np.ndarray:
    """Draw one of the tables of correct answers, shape (140,), that agree with everything printed for a model.

    ``misfit`` is the standard deviation (log-odds) by which each level of rho departs from the most even response.
    Where most cells are all right or all wrong, the search can end at a very unlikely table, which is drawn again.
    """
    for _ in range(_DRAWS):
        departure = rng.normal(0.0, misfit, len(_RATIOS)) @ _RATIOS if misfit else 0.0
        p = expected_accuracy(recovered, departure)
        k = _draw(recovered, p, rng)
        if surprise(recovered.n, p, k) <= _MOST_SURPRISE:
            return k
    raise ValueError(
        f"{_DRAWS} tables of {recovered.model.name} in a row are unlikely; try another seed"
    )


def _draw(recovered: Recovered, p: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    T, name = recovered.T, recovered.model.name
    values, widths = printed_windows(name)
    for _ in range(
        3
    ):  # the windows are linear around T: start anew from the table found if they were not enough
        constraints = constrain(recovered, T)
        basis, particular = exchanges(constraints, p)
        draw = rng.binomial(recovered.n.astype(int), p)
        k = _nearest(constraints, basis, particular, draw, p)
        if not (constraints.met(k) and can_allocate(name, k, recovered.n)):
            k = _repair(constraints, basis, k, name)
        for _ in range(_STRIDES):
            ahead = walk(constraints, basis, k, p, rng, _STEPS)
            if can_allocate(name, ahead, recovered.n):
                k = ahead
        T = np.concatenate([recovered.T[:3], X[:, 3:].T @ k])
        if np.abs((predict(recovered.n, T)[0] - values) / widths).max() <= 1:
            return k
    raise ValueError(f"no table of counts prints the numbers of {name}; try another seed")


def exchanges(constraints: Constraints, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return a reduced basis, shape (131, 140), of the exchanges between cells that keep the exact sums.

    A cell that hardly varies is costly to move. The other nine moves do change the sums, and so reach every table.
    """
    scale = 2.0**16
    coordinates = np.hstack([np.diag(1 / _spread(constraints.n, p)), constraints.windows.T])
    rows = [
        [int(value) for value in np.rint(cell * scale)] + [int(value) * 2**40 for value in exact]
        for cell, exact in zip(coordinates, constraints.exact.T, strict=True)
    ]
    reduced = fmpz_mat(rows).lll().tolist()
    cells = np.array([[int(v) for v in row[:140]] for row in reduced], float)
    moves = np.rint(cells * _spread(constraints.n, p) / scale).astype(int)
    keeps = (moves @ constraints.exact.T == 0).all(axis=1)
    return moves[keeps], moves[~keeps]


def walk(
    constraints: Constraints,
    basis: np.ndarray,
    k: np.ndarray,
    p: np.ndarray,
    rng: np.random.Generator,
    steps: int,
) -> np.ndarray:
    """Walk at random from a possible table to others; in the long run each is visited by its binomial probability."""
    grid = np.arange(int(constraints.n.max()) + 1)
    logpmf = binom.logpmf(grid, constraints.n[:, None], p[:, None])
    moves = np.vstack([basis, -basis])
    shifts = moves @ constraints.windows.T
    offset, k = constraints.windows @ k - constraints.centre, k.copy()
    touched = [np.flatnonzero(move) for move in moves]
    for move in rng.integers(len(moves), size=steps):
        cells = touched[move]
        moved = k[cells] + moves[move, cells]
        if (
            (moved < 0).any()
            or (moved > constraints.n[cells]).any()
            or (np.abs(offset + shifts[move]) > 1).any()
        ):
            continue
        gain = logpmf[cells, moved].sum() - logpmf[cells, k[cells]].sum()
        if np.log(rng.random()) < gain:
            k[cells], offset = moved, offset + shifts[move]
    return k


def _spread(n: np.ndarray, p: np.ndarray) -> np.ndarray:
    return np.maximum(np.sqrt(n * p * (1 - p)), 0.05)


def _nearest(
    constraints: Constraints,
    basis: np.ndarray,
    particular: np.ndarray,
    draw: np.ndarray,
    p: np.ndarray,
) -> np.ndarray:
    """Return the table with the exact sums that lies nearest to a draw (Babai's nearest plane)."""
    images = particular @ constraints.exact.T
    gap = constraints.sums - constraints.exact @ draw
    k = draw + np.rint(np.linalg.solve(images.T.astype(float), gap)).astype(int) @ particular
    spread, weight = _spread(constraints.n, p), 10.0
    lattice = np.hstack([basis / spread, weight * basis @ constraints.windows.T])
    target = np.concatenate(
        [(k - draw) / spread, weight * (constraints.windows @ k - constraints.centre)]
    )
    q, r = np.linalg.qr(lattice.T)
    y, steps = q.T @ target, np.zeros(len(basis), dtype=int)
    for i in reversed(range(len(basis))):
        steps[i] = np.rint(y[i] / r[i, i])
        y[: i + 1] -= steps[i] * r[: i + 1, i]
    return k - steps @ basis


def _repair(constraints: Constraints, basis: np.ndarray, k: np.ndarray, model: str) -> np.ndarray:
    """Bring a table that keeps the exact sums into box and windows, its errors into buckets: integer programming."""
    offset = (constraints.windows @ k - constraints.centre).round(6)
    groups, sums = bucket_sums(model)
    moves, buckets = len(basis), groups.shape[1]

    left = OF_CONDITION @ (constraints.n - k)
    shifts = (constraints.windows @ basis.T).round(6)
    matrix = np.block(
        [
            [basis.T, np.zeros((len(k), buckets))],
            [shifts, np.zeros((len(offset), buckets))],
            [np.zeros((len(sums), moves)), groups],
            [OF_CONDITION @ basis.T, OF_BUCKETS],
        ]
    )
    low = np.concatenate([-k, -0.999 - offset, sums, left])
    high = np.concatenate([constraints.n - k, 0.999 - offset, sums, left])
    for reach in (1, 2, 4, 20):  # near tables first: they keep the draw's shape
        programme = milp(
            np.zeros(moves + buckets),
            constraints=LinearConstraint(matrix, low, high),
            integrality=np.append(np.ones(moves), np.zeros(buckets)),
            bounds=Bounds(
                np.repeat([-reach, 0], [moves, buckets]),
                np.repeat([reach, np.inf], [moves, buckets]),
            ),
            options={"node_limit": 20_000},
        )
        if programme.x is not None:
            return k + np.rint(programme.x[:moves]).astype(int) @ basis
    raise ValueError(
        f"no table of counts meets the printed numbers of {model} ({programme.message})"
    )
