"""Error buckets per (N, d): whole numbers whose sums are those of Tables 4 and 5."""

from functools import cache

import numpy as np
import pandas as pd
from scipy.optimize import Bounds, LinearConstraint, linprog, milp
from scipy.stats import norm

from cogniload_repro.endings import CONTEXT_TOKENS as CONTEXT_BUDGET
from cogniload_repro.endings import RESERVED_TOKENS as CONTEXT_MARGIN
from cogniload_repro.published import ERRORS, load_table
from cogniload_repro.statistics.design import GRID

#: The 20 conditions (N, d) that Tables 4 and 5 sum over.
CONDITIONS = pd.MultiIndex.from_frame(GRID[["N", "d"]].drop_duplicates())
#: Matrix, shape (20, 140), that sums the cells of each condition.
OF_CONDITION = np.array([(GRID["N"] == N) & (GRID["d"] == d) for N, d in CONDITIONS], dtype=float)


@cache
def bucket_sums(model: str) -> tuple[np.ndarray, np.ndarray]:
    """Return which errors Tables 4 and 5 sum, and the sums.

    Returns
    -------
    groups : ndarray, shape (45, 100)
        One row a printed number, over the 20 conditions times 5 buckets.
    sums : ndarray, shape (45,)
    """
    groups, sums = list[np.ndarray](), list[int]()
    for key, table in (("d", "table4"), ("N", "table5")):
        printed = load_table(table)
        printed = printed[printed["model"] == model].set_index(key)[list(ERRORS)]
        levels = CONDITIONS.get_level_values(key)
        for level, counts in printed.iterrows():
            groups.extend(np.kron(levels == level, bucket) for bucket in np.eye(len(ERRORS)))
            sums.extend(counts)
    return np.array(groups, float), np.array(sums, float)


#: Matrix, shape (20, 100), that sums the buckets of each condition.
OF_BUCKETS = np.kron(np.eye(len(CONDITIONS)), np.ones(len(ERRORS)))


def can_spread(model: str, correct: np.ndarray, n: np.ndarray) -> bool:
    """Say whether the errors that a table of counts leaves fit the buckets of Tables 4 and 5."""
    groups, sums = bucket_sums(model)
    programme = linprog(
        np.zeros(groups.shape[1]),
        A_eq=np.vstack([groups, OF_BUCKETS]),
        b_eq=np.concatenate([sums, OF_CONDITION @ (n - correct)]),
    )
    return programme.status == 0


def spread_errors(model: str, errors: np.ndarray) -> np.ndarray:
    """Spread the errors of each condition over the buckets, with the sums of Tables 4 and 5 exact.

    Parameters
    ----------
    model : str
    errors : ndarray of int, shape (20,)
        Errors of each of `CONDITIONS`.

    Returns
    -------
    ndarray of int, shape (20, 5)
        The whole numbers nearest to the most even spread (for ctx: to the spread that the token lengths of
        Tables 7 to 10 suggest).

    Raises
    ------
    ValueError
        If no spread has these sums.
    """
    groups, sums = bucket_sums(model)
    groups, sums = np.vstack([groups, OF_BUCKETS]), np.concatenate([sums, errors])
    start = np.ones((len(CONDITIONS), len(ERRORS)))
    start[:, 0] = overflow_chance(model)
    even = _scale(start.ravel(), groups, sums)
    # least absolute distance: minimise the sum of distances, each at least |whole - even|
    size, unit = len(even), np.eye(len(even))
    programme = milp(
        np.append(np.zeros(size), np.ones(size)),
        constraints=[
            LinearConstraint(np.hstack([groups, np.zeros_like(groups)]), sums, sums),
            LinearConstraint(np.hstack([unit, -unit]), -np.inf, even),
            LinearConstraint(np.hstack([unit, unit]), even, np.inf),
        ],
        integrality=np.append(np.ones(size), np.zeros(size)),
        bounds=Bounds(0, np.inf),
    )
    if programme.x is None:
        raise ValueError(
            f"the errors of {model} cannot be spread over the buckets of Tables 4 and 5 ({programme.message}); "
            "try another seed"
        )
    return np.rint(programme.x[:size]).astype(int).reshape(start.shape)


def overflow_chance(model: str) -> np.ndarray:
    """Return a rough chance of a context overflow per condition, shape (20,), from the printed token lengths.

    Output lengths are taken as log-normal with the printed mean and 90th percentile. Where these are not legible
    the median chance of the other conditions stands in.
    """
    tokens = load_table("tokens").set_index(["model", "N", "d"]).loc[model].reindex(CONDITIONS)
    # mean = exp(m + s^2/2), p90 = exp(m + 1.2816 s): a quadratic in s; its smaller root is the usual case
    z, ratio = norm.ppf(0.9), np.log(tokens["output_p90"] / tokens["output_mean"])
    s = z - np.sqrt(np.maximum(z**2 - 2 * ratio, 0))
    m = np.log(tokens["output_p90"]) - z * s
    room = CONTEXT_BUDGET - CONTEXT_MARGIN - tokens["prompt_mean"]
    chance = pd.Series(norm.sf((np.log(room) - m) / np.maximum(s, 0.05)), CONDITIONS)
    return chance.fillna(chance.median()).fillna(1.0).clip(lower=1e-4).to_numpy()


def _scale(start: np.ndarray, groups: np.ndarray, sums: np.ndarray) -> np.ndarray:
    """Scale a table until every group has its sum (iterative proportional fitting)."""
    table = start.copy()
    for _ in range(500):
        for group, total in zip(groups, sums, strict=True):
            current = group @ table
            if current > 0:
                table *= np.where(group > 0, total / current, 1)
    return table
