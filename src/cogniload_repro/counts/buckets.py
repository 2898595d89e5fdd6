"""Errors and their buckets: the sums of Tables 4 and 5, and an allocation of errors that has them.

Tables 4 and 5 print each bucket by d and by N, so what they sum over are the 20 conditions (N, d).
"""

from functools import cache

import numpy as np
import pandas as pd
from scipy.optimize import Bounds, LinearConstraint, OptimizeResult, linprog, milp
from scipy.stats import norm

from cogniload_repro.endings import CONTEXT_TOKENS, RESERVED_TOKENS
from cogniload_repro.published import ERRORS, load_table
from cogniload_repro.regression.design import GRID

#: The 20 conditions (N, d).
CONDITIONS = pd.MultiIndex.from_frame(GRID[["N", "d"]].drop_duplicates())
#: Matrix, shape (20, 140), that sums the cells of each condition.
OF_CONDITION = np.array(
    [(GRID["N"] == N) & (GRID["d"] == d) for N, d in CONDITIONS], dtype=float
)
#: Matrix, shape (20, 100), that sums the buckets of each condition.
OF_BUCKETS = np.kron(np.eye(len(CONDITIONS)), np.ones(len(ERRORS)))


@cache
def bucket_sums(model: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the printed sums of errors (Tables 4 and 5), and which errors each of them adds up.

    The errors are those of 20 conditions times 5 buckets: the matrix has the shape (45, 100).
    """
    groups = []
    sums = []
    for load, table in (("d", "table4"), ("N", "table5")):
        printed = load_table(table)
        of_model = printed[printed["model"] == model].set_index(load)
        levels = CONDITIONS.get_level_values(load)
        for level, counts in of_model[list(ERRORS)].iterrows():
            for bucket in np.eye(len(ERRORS)):
                groups.append(np.kron(levels == level, bucket))
            sums.extend(counts)
    return np.array(groups, float), np.array(sums, float)


def can_allocate(model: str, correct: np.ndarray, answers: np.ndarray) -> bool:
    """Return whether the errors of a table of counts can have the printed sums by bucket."""
    groups, sums = bucket_sums(model)
    errors = OF_CONDITION @ (answers - correct)
    programme = linprog(
        np.zeros(groups.shape[1]),
        A_eq=np.vstack([groups, OF_BUCKETS]),
        b_eq=np.concatenate([sums, errors]),
    )
    return programme.status == 0


def allocate_errors(model: str, errors: np.ndarray) -> np.ndarray:
    """Allocate the errors of each condition over the buckets, with the printed sums exact.

    These are the whole numbers, shape (20, 5), nearest to the most even allocation.
    """
    groups, sums = bucket_sums(model)
    groups = np.vstack([groups, OF_BUCKETS])
    sums = np.concatenate([sums, errors])
    even = _allocate_evenly(model, groups, sums)
    programme = _find_nearest_whole(even, LinearConstraint(groups, sums, sums))
    if programme.x is None:
        raise ValueError(
            f"the errors of {model} cannot be allocated to the buckets of Tables 4 and 5 "
            f"({programme.message}); try another seed"
        )
    whole = np.rint(programme.x[: len(even)]).astype(int)
    return whole.reshape(len(CONDITIONS), len(ERRORS))


def _find_nearest_whole(even: np.ndarray, sums: LinearConstraint) -> OptimizeResult:
    """Find the whole numbers with given sums that are nearest to even ones.

    The programme's variables are the numbers, then their distances.
    """
    ones = np.ones(len(even))
    zeros = np.zeros(len(even))
    unit = np.eye(len(even))
    groups = np.hstack([sums.A, np.zeros_like(sums.A)])
    above = np.hstack([unit, -unit])  # number - distance <= even
    below = np.hstack([unit, unit])  # number + distance >= even
    return milp(
        np.append(zeros, ones),
        constraints=[
            LinearConstraint(groups, sums.lb, sums.ub),
            LinearConstraint(above, -np.inf, even),
            LinearConstraint(below, even, np.inf),
        ],
        integrality=np.append(ones, zeros),
        bounds=Bounds(0, np.inf),
    )


def _allocate_evenly(model: str, groups: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Return the most even allocation with given sums of groups: iterative proportional fitting.

    Context overflows start as token lengths suggest.
    """
    shares = np.ones((len(CONDITIONS), len(ERRORS)))
    shares[:, ERRORS.index("ctx")] = overflow_chance(model)
    even = shares.ravel()
    for _ in range(500):
        for group, total in zip(groups, sums, strict=True):
            current = group @ even
            if current > 0:
                even *= np.where(group > 0, total / current, 1)
    return even


def overflow_chance(model: str) -> np.ndarray:
    """Return a rough chance of a context overflow per condition, from printed token lengths.

    Output lengths are taken as log-normal. Where they are not legible, the median of the other
    chances stands in.
    """
    table = load_table("tokens").set_index(["model", "N", "d"])
    tokens = table.loc[model].reindex(CONDITIONS)
    log_ratio = np.log(tokens["output_p90"] / tokens["output_mean"])
    # mean = exp(mu + sigma^2 / 2) and p90 = exp(mu + z sigma): a quadratic in sigma, whose smaller
    # root is the usual case
    z = norm.ppf(0.9)
    sigma = z - np.sqrt(np.maximum(z**2 - 2 * log_ratio, 0))
    mu = np.log(tokens["output_p90"]) - z * sigma
    room = CONTEXT_TOKENS - RESERVED_TOKENS - tokens["prompt_mean"]
    distance = (np.log(room) - mu) / np.maximum(sigma, 0.05)
    chance = pd.Series(norm.sf(distance), CONDITIONS)
    chance = chance.fillna(chance.median()).fillna(1.0)
    return chance.clip(lower=1e-4).to_numpy()
