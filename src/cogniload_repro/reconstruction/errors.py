"""Errors by type: the sums printed in Tables 4 and 5, and allocations of errors with these sums.

Both tables pool the needle ratios, so errors are allocated within the 20 conditions (N, d).
"""

from functools import cache

import numpy as np
import pandas as pd
from scipy.optimize import Bounds, LinearConstraint, OptimizeResult, linprog, milp
from scipy.stats import norm

from cogniload_repro.published import ERRORS, load_table
from cogniload_repro.regression.design import GRID
from cogniload_repro.scoring.reasoning import CONTEXT_TOKENS, RESERVED_TOKENS

#: The 20 conditions (N, d).
CONDITIONS = pd.MultiIndex.from_frame(GRID[["N", "d"]].drop_duplicates())
#: Matrix, shape (20, 140), that sums the cells of each condition.
OF_CONDITION = np.array(
    [(GRID["N"] == N) & (GRID["d"] == d) for N, d in CONDITIONS], dtype=float
)
#: Matrix, shape (20, 100), that sums the types of each condition.
OF_TYPES = np.kron(np.eye(len(CONDITIONS)), np.ones(len(ERRORS)))


@cache
def error_sums(model: str) -> tuple[np.ndarray, np.ndarray]:
    """Return A and b of the equations A x = b that Tables 4 and 5 print for a model's errors.

    x has the errors of 20 conditions times 5 types; A has zeros and ones, shape (45, 100).
    """
    groups = []
    sums = []
    for load, table in (("d", "table4"), ("N", "table5")):
        printed = load_table(table)
        of_model = printed[printed["model"] == model].set_index(load)
        levels = CONDITIONS.get_level_values(load)
        for level, counts in of_model[list(ERRORS)].iterrows():
            is_level = levels == level
            for of_type in np.eye(len(ERRORS)):
                group = np.kron(is_level, of_type)
                groups.append(group)
            sums.extend(counts)
    return np.array(groups, float), np.array(sums, float)


def can_allocate(
    model: str,
    correct: np.ndarray,
    answers: np.ndarray,
) -> bool:
    """Return whether a table's errors can be divided to give the printed sums of the types.

    The linear programme has no objective and allows fractions of errors.
    """
    groups, sums = error_sums(model)
    errors = OF_CONDITION @ (answers - correct)
    no_objective = np.zeros(groups.shape[1])
    programme = linprog(
        no_objective,
        A_eq=np.vstack([groups, OF_TYPES]),
        b_eq=np.concatenate([sums, errors]),
    )
    return programme.status == 0


def allocate_errors(model: str, errors: np.ndarray) -> np.ndarray:
    """Allocate the errors of each condition to the types, meeting the printed sums exactly.

    Returns the integers, shape (20, 5), with the least total absolute distance from the most even
    allocation.
    """
    groups, sums = error_sums(model)
    groups = np.vstack([groups, OF_TYPES])
    sums = np.concatenate([sums, errors])
    even = _allocate_evenly(model, groups, sums)
    constraint = LinearConstraint(groups, sums, sums)
    programme = _find_nearest_whole(even, constraint)
    if programme.x is None:
        raise ValueError(
            f"the errors of {model} cannot be allocated to the types of Tables 4 and 5 "
            f"({programme.message}); try another seed"
        )
    counts = programme.x[: len(even)]
    whole = np.rint(counts).astype(int)
    return whole.reshape(len(CONDITIONS), len(ERRORS))


def _find_nearest_whole(even: np.ndarray, sums: LinearConstraint) -> OptimizeResult:
    """Minimise the total absolute distance of integers with given sums from an even allocation.

    The variables of the integer programme are the integers, then their distances.
    """
    ones = np.ones(len(even))
    zeros = np.zeros(len(even))
    unit = np.eye(len(even))
    groups = np.hstack([sums.A, np.zeros_like(sums.A)])
    above = np.hstack([unit, -unit])  # number - distance <= even
    below = np.hstack([unit, unit])  # number + distance >= even
    constraints = [
        LinearConstraint(groups, sums.lb, sums.ub),
        LinearConstraint(above, -np.inf, even),
        LinearConstraint(below, even, np.inf),
    ]
    total_distance = np.append(zeros, ones)
    is_whole = np.append(ones, zeros)
    return milp(
        total_distance,
        constraints=constraints,
        integrality=is_whole,
        bounds=Bounds(0, np.inf),
    )


def _allocate_evenly(
    model: str,
    groups: np.ndarray,
    sums: np.ndarray,
) -> np.ndarray:
    """Return the allocation with given sums that iterative proportional fitting converges to.

    It starts from equal shares, except for context overflows, which start at `overflow_chance`.
    """
    shares = np.ones((len(CONDITIONS), len(ERRORS)))
    overflow = ERRORS.index("ctx")
    shares[:, overflow] = overflow_chance(model)
    even = shares.ravel()
    for _ in range(500):
        for group, total in zip(groups, sums, strict=True):
            current = group @ even
            if current > 0:
                even *= np.where(group > 0, total / current, 1)
    return even


def overflow_chance(model: str) -> np.ndarray:
    """Return a rough probability of a context overflow per condition, from printed token lengths.

    Output lengths are assumed log-normal, with the printed mean and 90th percentile. A condition
    without legible lengths has the median probability of the others.
    """
    table = load_table("tokens").set_index(["model", "N", "d"])
    of_model = table.loc[model]
    tokens = of_model.reindex(CONDITIONS)
    log_ratio = np.log(tokens["output_p90"] / tokens["output_mean"])
    # mean = exp(mu + sigma^2 / 2) and p90 = exp(mu + z sigma): a quadratic in sigma; the smaller
    # root is the plausible one
    z = norm.ppf(0.9)
    discriminant = z**2 - 2 * log_ratio
    sigma = z - np.sqrt(np.maximum(discriminant, 0))
    mu = np.log(tokens["output_p90"]) - z * sigma
    room = CONTEXT_TOKENS - RESERVED_TOKENS - tokens["prompt_mean"]
    distance = (np.log(room) - mu) / np.maximum(sigma, 0.05)
    chance = pd.Series(norm.sf(distance), CONDITIONS)
    chance = chance.fillna(chance.median())
    chance = chance.fillna(1.0)
    return chance.clip(lower=1e-4).to_numpy()
