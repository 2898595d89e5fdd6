"""Draw integer tables of correct answers with given sufficient statistics.

The integer tables with the exact sums form a coset of a lattice. Lattice reduction (LLL) gives a
basis of short moves, exchanges of answers between a few cells, most of which hardly change the
printed numbers. A draw takes three steps: round a binomial draw to a nearby lattice point (Babai's
nearest plane), bring it within box and windows by integer programming, then take Metropolis steps
along the basis, with the binomial probability restricted to the possible tables as the target.
"""

import numpy as np
from flint import fmpz_mat
from scipy.optimize import Bounds, LinearConstraint, OptimizeResult, milp
from scipy.stats import binom

from cogniload_repro.reconstruction.constraints import (
    Constraints,
    constrain,
    expected_accuracy,
    surprise,
)
from cogniload_repro.reconstruction.errors import (
    OF_CONDITION,
    OF_TYPES,
    can_allocate,
    error_sums,
)
from cogniload_repro.reconstruction.sufficient import ModelSums, miss_printed
from cogniload_repro.regression.design import OF_RATIO, X

# The walk: 20,000 Metropolis steps, about 75 per exchange and direction. A stride of `_STEPS` is
# kept only if the errors of the table at its end can be allocated to the printed types.
_STRIDES = 50
_STEPS = 400

#: Largest accepted `surprise` of a table (standard deviations), and the number of draws after
#: which the search is given up.
_MOST_SURPRISE = 3.0
_DRAWS = 40
#: Number of linearisations of the windows: the first at the recovered sums, then at those of the
#: last table.
_ROUNDS = 3
#: Weight of the distance from the windows' centres relative to that from the binomial draw.
_WINDOW_WEIGHT = 10.0
#: Scale factors that turn the basis into integers for LLL; the larger one penalises moves that
#: change the exact sums.
_CELL_SCALE = 2.0**16
_SUM_SCALE = 2**40


def draw_counts(
    model_sums: ModelSums,
    rng: np.random.Generator,
    misfit: float = 0.0,
) -> np.ndarray:
    """Draw a table of correct answers, shape (140,), that agrees with everything printed.

    ``misfit`` is the standard deviation (log-odds) of the random effects of the levels of rho
    around the maximum-entropy response. If most cells are all correct or all wrong, the search may
    end at a very improbable table; it is then discarded and drawn again.
    """
    for _ in range(_DRAWS):
        departure = 0.0
        if misfit:
            departure = rng.normal(0.0, misfit, len(OF_RATIO)) @ OF_RATIO
        accuracy = expected_accuracy(model_sums, departure)
        correct = _draw(model_sums, accuracy, rng)
        if surprise(model_sums.answers, accuracy, correct) <= _MOST_SURPRISE:
            return correct
    raise ValueError(
        f"the last {_DRAWS} tables drawn for {model_sums.model} were all too improbable; "
        "try another seed"
    )


def _draw(
    model_sums: ModelSums,
    accuracy: np.ndarray,
    rng: np.random.Generator,
) -> np.ndarray:
    """Draw a table from independent binomial counts, given that the constraints hold."""
    model, answers, sums = model_sums
    around = sums
    # a table may meet the linearised windows and still miss a printed number: linearise there
    for _ in range(_ROUNDS):
        constraints = constrain(model_sums, around)
        basis, particular = reduce_lattice(constraints, accuracy)
        draw = rng.binomial(answers.astype(int), accuracy)
        correct = _round_to_lattice(constraints, basis, particular, draw, accuracy)
        if not (constraints.met(correct) and can_allocate(model, correct, answers)):
            correct = _make_feasible(constraints, basis, correct, model)
        for _ in range(_STRIDES):
            ahead = walk(constraints, basis, correct, accuracy, rng, _STEPS)
            if can_allocate(model, ahead, answers):
                correct = ahead
        around = np.concatenate([sums[:3], X[:, 3:].T @ correct])
        misses, _ = miss_printed(model_sums._replace(sums=around))
        if np.abs(misses).max() <= 1:
            return correct
    raise ValueError(
        f"found no table of counts that gives the printed numbers of {model}; try another seed"
    )


def reduce_lattice(
    constraints: Constraints, accuracy: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return an LLL-reduced basis, shape (131, 140), of the integer moves that keep the exact sums.

    Lengths are measured in standard deviations of the counts and half-widths of the windows. The
    second array has the nine other vectors of the basis, which change the sums: with them, the
    moves span all integer tables.
    """
    spread = _standard_deviations(constraints.answers, accuracy)
    costs = np.hstack([np.diag(1 / spread), constraints.windows.T])
    costs = np.rint(costs * _CELL_SCALE).astype(int).tolist()
    sums = constraints.exact.T.tolist()
    rows = []
    for cost, column in zip(costs, sums, strict=True):
        scaled_sums = [count * _SUM_SCALE for count in column]
        rows.append([*cost, *scaled_sums])
    reduced = fmpz_mat(rows).lll().tolist()
    scaled = np.array([row[: len(spread)] for row in reduced], dtype=float)
    moves = np.rint(scaled * spread / _CELL_SCALE).astype(int)
    keeps_sums = (moves @ constraints.exact.T == 0).all(axis=1)
    return moves[keeps_sums], moves[~keeps_sums]


def walk(
    constraints: Constraints,
    basis: np.ndarray,
    correct: np.ndarray,
    accuracy: np.ndarray,
    rng: np.random.Generator,
    steps: int,
) -> np.ndarray:
    """Return the table after a number of Metropolis steps from a possible table.

    A step proposes a basis vector of either sign, all with the same probability. It is rejected
    outside box or windows, else accepted with probability min(1, likelihood ratio), for binomials.
    """
    answers = constraints.answers
    counts = np.arange(int(answers.max()) + 1)
    logs = binom.logpmf(counts, answers[:, None], accuracy[:, None])
    moves = np.vstack([basis, -basis])
    shifts = moves @ constraints.windows.T
    touched = [np.flatnonzero(move) for move in moves]
    offset = constraints.windows @ correct - constraints.centre
    correct = correct.copy()
    for move in rng.integers(len(moves), size=steps):
        cells = touched[move]
        moved = correct[cells] + moves[move, cells]
        if (moved < 0).any() or (moved > answers[cells]).any():
            continue
        moved_offset = offset + shifts[move]
        if (np.abs(moved_offset) > 1).any():
            continue
        loglik = logs[cells, correct[cells]].sum()
        gain = logs[cells, moved].sum() - loglik
        if np.log(rng.random()) < gain:
            correct[cells] = moved
            offset = moved_offset
    return correct


def _standard_deviations(answers: np.ndarray, accuracy: np.ndarray) -> np.ndarray:
    """Return the binomial standard deviation of each count, at least 0.05."""
    variance = answers * accuracy * (1 - accuracy)
    return np.maximum(np.sqrt(variance), 0.05)


def _round_to_lattice(
    constraints: Constraints,
    basis: np.ndarray,
    particular: np.ndarray,
    draw: np.ndarray,
    accuracy: np.ndarray,
) -> np.ndarray:
    """Return a table with the exact sums near a draw, by Babai's nearest-plane algorithm.

    Distances from the draw are in standard deviations; those from the windows' centres count too.
    """
    images = particular @ constraints.exact.T
    gap = constraints.sums - constraints.exact @ draw
    steps = np.linalg.solve(images.T.astype(float), gap)
    correct = draw + np.rint(steps).astype(int) @ particular

    spread = _standard_deviations(constraints.answers, accuracy)
    from_draw = (correct - draw) / spread
    from_centre = constraints.windows @ correct - constraints.centre
    target = np.concatenate([from_draw, _WINDOW_WEIGHT * from_centre])
    lattice = np.hstack(
        [basis / spread, _WINDOW_WEIGHT * basis @ constraints.windows.T]
    )
    orthogonal, triangle = np.linalg.qr(lattice.T)
    coordinates = orthogonal.T @ target
    steps = np.zeros(len(basis), dtype=int)
    for place in reversed(range(len(basis))):
        steps[place] = np.rint(coordinates[place] / triangle[place, place])
        coordinates[: place + 1] -= steps[place] * triangle[: place + 1, place]
    return correct - steps @ basis


def _make_feasible(
    constraints: Constraints,
    basis: np.ndarray,
    correct: np.ndarray,
    model: str,
) -> np.ndarray:
    """Move a table with the exact sums to one that meets the box, the windows and the errors.

    The variables of the mixed-integer programme are the multiple of each basis vector (integer) and
    the errors by condition and type (continuous).
    """
    answers = constraints.answers
    groups, sums = error_sums(model)
    offset = (constraints.windows @ correct - constraints.centre).round(6)
    shifts = (constraints.windows @ basis.T).round(6)
    errors = OF_CONDITION @ (answers - correct)
    moves = len(basis)
    types = groups.shape[1]
    matrix = np.block(
        [
            [basis.T, np.zeros((len(correct), types))],  # box
            [shifts, np.zeros((len(offset), types))],  # windows
            [np.zeros((len(sums), moves)), groups],  # sums of types
            [OF_CONDITION @ basis.T, OF_TYPES],  # errors of conditions
        ]
    )
    low = np.concatenate([-correct, -0.999 - offset, sums, errors])
    high = np.concatenate([answers - correct, 0.999 - offset, sums, errors])
    constraint = LinearConstraint(matrix, low, high)
    for reach in (1, 2, 4, 20):  # nearby tables first: they stay close to the draw
        programme = _solve_lattice(constraint, moves, types, reach)
        if programme.x is not None:
            return correct + np.rint(programme.x[:moves]).astype(int) @ basis
    raise ValueError(
        f"no table of counts near the draw meets the printed numbers of {model} "
        f"({programme.message}); try another seed"
    )


def _solve_lattice(
    constraint: LinearConstraint,
    moves: int,
    types: int,
    reach: int,
) -> OptimizeResult:
    """Find a feasible solution in which no multiple of a basis vector exceeds the reach."""
    is_move = np.arange(moves + types) < moves
    least = np.where(is_move, -reach, 0)
    most = np.where(is_move, reach, np.inf)
    return milp(
        np.zeros(len(is_move)),
        constraints=constraint,
        integrality=is_move.astype(float),
        bounds=Bounds(least, most),
        options={"node_limit": 20_000},
    )
