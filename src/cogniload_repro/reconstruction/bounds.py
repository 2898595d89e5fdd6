"""What any table of counts that agrees with the paper can have: how many there are, and outer bounds along rho.

The tables are the whole points of a polytope: exact sums by d, by N and of rho, windows around the printed numbers of
Tables 3 and 6, and 0 <= correct <= n in every cell. Two linear programmes bound each point of the figures along rho.
They let the counts be fractional: no table lies outside, but whole counts may reach far less. gpt-5's curve has one
value in every reconstruction, and wide bounds.
"""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.optimize import linprog
from scipy.spatial import ConvexHull, HalfspaceIntersection
from scipy.special import logsumexp

from cogniload_repro.models import NAMES
from cogniload_repro.reconstruction.constraints import Constraints, constrain
from cogniload_repro.reconstruction.sufficient import PRINTED, recovered_from
from cogniload_repro.schemas import Column, Schema, read_frame
from cogniload_repro.statistics.design import GRID
from cogniload_repro.storage import RECONSTRUCTED

#: The committed bounds.
BOUNDS = RECONSTRUCTED / "bounds.csv"

#: Which cells are pooled: all, those of one d or those of one N, with the levels that Figures 6 (and 1), 3 and 4 show.
PANELS = {"": (0,), "d": (1, 5, 10), "N": (20, 100, 250)}

_KEYS = ["model", "load", "level", "ratio_pct"]
_SHARE = Column(low=0, high=1)
_SCHEMA = Schema(
    {
        "model": Column("text", words=NAMES),
        "load": Column("text", words=tuple(filter(None, PANELS)), missing=True),
        "level": Column("whole", low=0),
        "ratio_pct": Column("whole", low=0, high=100),
        "least": _SHARE,
        "most": _SHARE,
    },
    tuple(_KEYS),
    others=None,
)


def find_bounds(cells: pd.DataFrame) -> Iterable[pd.DataFrame]:
    """Yield, model by model, the bounds of every point (about a second each), from the reconstructed cells.

    Columns model, load (empty, d or N), level (0 without a load), ratio_pct (%), least and most (fraction, to four
    decimals, rounded outwards).
    """
    points = [(load, level) for load, levels in PANELS.items() for level in levels]
    for model in dict.fromkeys(cells["model"]):
        constraints, rows = constraints_around(cells, model), []
        for load, level in points:
            for ratio in GRID["ratio_pct"].unique():
                own = (GRID["ratio_pct"] == ratio) & (GRID[load] == level if load else True)
                least, most = possible_range(constraints, own.to_numpy())
                rows.append((model, load, level, ratio, np.floor(least * 1e4 + 1e-6), np.ceil(most * 1e4 - 1e-6)))
        frame = pd.DataFrame(rows, columns=[*_KEYS, "least", "most"])
        yield frame.assign(least=(frame["least"] / 1e4).clip(0, 1), most=(frame["most"] / 1e4).clip(0, 1))


def load_bounds(path: str | Path = BOUNDS) -> pd.DataFrame:
    """Return the committed bounds of all points: see `find_bounds` for the columns."""
    return read_frame(path, _SCHEMA, "restore it with git, or make it again with `cogniload feasible`")


def constraints_around(cells: pd.DataFrame, model: str) -> Constraints:
    """Return what a model's counts must meet, linear around the reconstructed counts of its 140 cells."""
    recovered = recovered_from(cells, model)
    return constrain(recovered, recovered.T)


def possible_range(constraints: Constraints, members: np.ndarray) -> tuple[float, float]:
    """Return the least and the largest share of correct answers that a group of cells (a mask) can have.

    A relaxation: the counts need not be whole, so no possible table lies outside.
    """
    group = members.astype(float)
    ends = []
    for sign in (1, -1):
        programme = linprog(
            sign * group,
            A_ub=np.vstack([constraints.windows, -constraints.windows]),
            b_ub=np.concatenate([constraints.centre + 1, 1 - constraints.centre]),
            A_eq=constraints.exact,
            b_eq=constraints.sums,
            bounds=np.column_stack([np.zeros(len(group)), constraints.n]),
        )
        if programme.x is None:
            raise ValueError(f"no counts meet these constraints ({programme.message}); check the cells they come from")
        ends.append(float(sign * programme.fun / (group @ constraints.n)))
    return ends[0], ends[1]


def estimate_log10_tables(constraints: Constraints) -> float:
    """Estimate how many tables of counts agree with Tables 3 to 6, as a power of ten.

    Of all random tables that meet the constraints on average, take the most even one (largest entropy H). Each table
    that meets them exactly has the probability exp(-H) there, so their number is exp(H) times the probability to meet
    the constraints, taken from a normal distribution. Accuracies stated in the prose and the spread of errors over
    buckets are left out: they lower the number.

    Notes
    -----
    A. Barvinok and J. A. Hartigan, "Maximum entropy Edgeworth estimates of the number of integer points in
    polytopes", arXiv:0910.2497 (2010); here without the Edgeworth correction.
    """
    tables = len(PRINTED) - 1  # the linear AIC is in the exact sums
    left, size, right = np.linalg.svd(constraints.windows[:tables], full_matrices=False)
    free = size > 1e-9 * size[0]
    left, size, right = left[:, free], size[free], right[free]
    middle, log_volume = _body(left, constraints.centre[:tables])
    rows = np.vstack([constraints.exact, right])
    entropy, covariance = _most_even(constraints.n, rows, np.concatenate([constraints.sums, middle / size]))
    log_density = -(len(rows) * np.log(2 * np.pi) + np.linalg.slogdet(covariance)[1]) / 2
    return float((entropy + log_density + log_volume - np.log(size).sum()) / np.log(10))


def _body(slopes: np.ndarray, centre: np.ndarray) -> tuple[np.ndarray, float]:
    """Return the middle (of the largest ball inside) and the log volume of |slopes @ u - centre| <= 1."""
    outward, bound = np.vstack([slopes, -slopes]), np.concatenate([centre + 1, 1 - centre])
    steepness = np.linalg.norm(outward, axis=1)
    ball = linprog(
        np.append(np.zeros(slopes.shape[1]), -1.0),
        A_ub=np.column_stack([outward, steepness]),
        b_ub=bound,
        bounds=[(None, None)] * slopes.shape[1] + [(0, None)],
    )
    middle = ball.x[:-1]
    halfspaces = np.column_stack([outward, outward @ middle - bound])
    corners = HalfspaceIntersection(halfspaces, np.zeros(len(middle))).intersections
    return middle, float(np.log(ConvexHull(corners).volume))


def _most_even(n: np.ndarray, rows: np.ndarray, sums: np.ndarray) -> tuple[float, np.ndarray]:
    """Return entropy and covariance of the rows under the most even random table with these sums on average.

    Its cells are independent, each count k of a cell with a probability that goes as exp(k theta): Newton steps on the
    weights of the rows that theta is made of.
    """
    counts = np.arange(int(n.max()) + 1)
    impossible = np.where(counts <= n[:, None], 0.0, -np.inf)
    scale = np.abs(rows).max(axis=1)
    rows, sums, weights = rows / scale[:, None], sums / scale, np.zeros(len(sums))

    def spread(weights):
        logs = counts * (weights @ rows)[:, None] + impossible
        totals = logsumexp(logs, axis=1)
        p = np.exp(logs - totals[:, None])
        mean = p @ counts
        return totals.sum() - weights @ sums, mean, p @ counts**2 - mean**2

    entropy, mean, variance = spread(weights)
    for _ in range(100):
        gradient = sums - rows @ mean
        step = np.linalg.solve((rows * variance) @ rows.T, gradient)
        length = 1.0
        while (new := spread(weights + length * step))[0] > entropy and length > 1e-8:
            length /= 2
        if gradient @ step < 1e-12 * entropy or length <= 1e-8:
            return float(entropy), np.outer(scale, scale) * ((rows * variance) @ rows.T)
        weights, (entropy, mean, variance) = weights + length * step, new
    raise ValueError("no random table has these sums on average; check the cells they come from")
