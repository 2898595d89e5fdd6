"""Many tables of counts per model, each in agreement with all printed numbers, and bands along rho made of them.

Tables 3 to 6 fix a model's sums; the most even accuracies with these sums change smoothly along rho. The accuracies
that the prose states depart from the smooth ones by more than chance: as if each level of rho had its own effect,
normal with one standard deviation (log-odds), the misfit. The first table, r0, is drawn around the smooth response, the
others depart from it as much. Their mean and variance say what is likely of a number, `find_bounds` gives outer bounds.
Bands take the misfit as estimated, and assume that only whole levels of rho depart.
"""

from collections.abc import Iterable, Sequence
from concurrent.futures import Executor
from functools import cache, partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq, linprog, minimize_scalar
from scipy.special import expit
from scipy.stats import chi2, t

from cogniload_repro.files import RECONSTRUCTED
from cogniload_repro.models import MODELS, NAMES, Model
from cogniload_repro.published import ALPHA
from cogniload_repro.reconstruction.constraints import (
    PROSE_RATIOS,
    Constraints,
    constrain,
    level_sums,
    prose_along_rho,
)
from cogniload_repro.reconstruction.counts import draw_counts
from cogniload_repro.reconstruction.reconstruct import DRAW_SEED, load_counts, write_csv
from cogniload_repro.reconstruction.sufficient import recover, recovered_from
from cogniload_repro.statistics.design import GRID, X
from cogniload_repro.statistics.likelihood import maximise
from cogniload_repro.statistics.reconstructions import (
    TABLES_FILE,
    committed_counts,
    reconstructed_models,
)

_WIDEST = 3.0  # log-odds; no estimate is sought beyond


class Departures(NamedTuple):
    """Accuracies (fractions) that a model's sums do not fix, at some needle ratios (%).

    ``chance``, shape (m, m), is the covariance of the printed around the expected by chance and rounding; ``reach``,
    shape (m, q), the change of each accuracy with the effect of each level; both given the sums.
    """

    model: str
    levels: tuple[int, ...]
    printed: np.ndarray
    expected: np.ndarray
    chance: np.ndarray
    reach: np.ndarray


class Misfit(NamedTuple):
    """The likeliest misfit and its interval by likelihood ratio."""

    value: float
    low: float
    high: float


def find_departures(models: Iterable[str] = NAMES) -> list[Departures]:
    """Return the accuracies along rho that the prose states, for each model of which it states some."""
    found = []
    for model in models:
        claims = prose_along_rho(model)
        claims = claims[claims["condition"].isin(PROSE_RATIOS)]
        if levels := tuple(PROSE_RATIOS[condition] for condition in claims["condition"]):
            points = [GRID["ratio_pct"] == level for level in levels]
            expected, chance, reach = _given_sums(model, np.array(points, float))
            chance = chance + 0.01**2 / 12 * np.eye(len(levels))  # printed to two decimals
            found.append(
                Departures(model, levels, claims["value"].to_numpy(float), expected, chance, reach)
            )
    return found


def log_likelihood(misfit: float, departures: Sequence[Departures]) -> float:
    """Return the log-likelihood of a misfit, up to a constant."""
    total = 0.0
    for one in departures:
        covariance, gap = (
            one.chance + misfit**2 * one.reach @ one.reach.T,
            one.printed - one.expected,
        )
        total -= (gap @ np.linalg.solve(covariance, gap) + np.linalg.slogdet(covariance)[1]) / 2
    return total


def estimate_misfit(departures: Sequence[Departures]) -> Misfit:
    """Estimate one misfit for all departures by maximum likelihood."""
    if not departures:
        raise ValueError(
            "no accuracy is printed that the sums do not fix; the misfit needs models of the paper"
        )
    best = minimize_scalar(
        lambda misfit: -log_likelihood(misfit, departures), bounds=(0, _WIDEST), method="bounded"
    )
    highest = max(-best.fun, log_likelihood(0.0, departures))
    value = float(best.x) if -best.fun >= highest else 0.0
    drop = chi2.ppf(1 - ALPHA, 1) / 2

    def above(misfit: float) -> float:
        return log_likelihood(misfit, departures) - highest + drop

    low = 0.0 if above(0.0) >= 0 else float(brentq(above, 0.0, value))
    return Misfit(value, low, float(brentq(above, value, _WIDEST)))


def _given_sums(model: str, shares: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return expected accuracies of points, their covariance, and their change with the effect of each level of rho.

    All given a model's sums; ``shares``, shape (m, 140), has the weight of each cell in each point.
    """
    n, p, left = _response(model)
    weights, shares = n * p * (1 - p), shares / (shares @ n)[:, None]
    levels = np.column_stack([GRID["ratio_pct"] == level for level in GRID["ratio_pct"].unique()])
    return (
        shares @ (n * p),
        shares @ (left * weights) @ shares.T,
        shares @ left @ (levels * weights[:, None]),
    )


@cache
def _response(model: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return answers per cell, the smoothest accuracies with a model's printed sums, and what the sums leave free."""
    recovered = recovered_from(load_counts(), model)
    rows, known = zip(*level_sums(model), strict=True)
    fixed, sums = np.column_stack([*rows, X[:, 3:]]), np.concatenate([known, recovered.T[3:]])
    p = expit(fixed @ maximise(fixed, recovered.n, sums)[0])
    weighted = (recovered.n * p * (1 - p))[:, None] * fixed
    # given the sums, a change of the cells leaves only what their fit does not take up
    return recovered.n, p, np.eye(len(p)) - weighted @ np.linalg.solve(fixed.T @ weighted, fixed.T)


#: Committed tables of each model that depart from the smooth response.
COUNT = 24


def draw_tables(
    model: Model, misfit: float, tables: int = COUNT, seed: int = DRAW_SEED
) -> np.ndarray:
    """Draw different tables of correct answers that agree with everything printed for a model, shape (tables, 140).

    Every table has its own random stream, so the first ones do not depend on how many are drawn.
    """
    recovered, drawn = recover(model), list[np.ndarray]()
    for stream in range(
        1, 4 * tables + 1
    ):  # a trailing 0 would be the stream of the committed table
        try:
            correct = draw_counts(
                recovered, np.random.default_rng([seed, MODELS.index(model), stream]), misfit
            )
        except ValueError:
            continue
        if not any((correct == other).all() for other in drawn):
            drawn.append(correct)
        if len(drawn) == tables:
            return np.array(drawn)
    raise ValueError(
        f"{model.name}: {len(drawn)} tables found where {tables} were asked for; ask for fewer"
    )


def write_tables(
    executor: Executor,
    path: str | Path = TABLES_FILE,
    models: Iterable[Model] = MODELS,
    tables: int = COUNT,
    seed: int = DRAW_SEED,
) -> Path:
    """Draw tables of every model and write them as one CSV file, the same whatever the number of processes.

    They depart from the smooth response with the misfit along rho as estimated, to two decimals.
    """
    misfit = round(estimate_misfit(find_departures()).value, 2)
    return write_csv(
        path, executor.map(partial(_draw_model, misfit=misfit, tables=tables, seed=seed), models)
    )


def mean_cells(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with the mean over the tables in place of the correct answers of reconstructed models.

    One table, even the nearest to this, has the chance of one draw in it; the mean has next to none.
    """
    known = cells["model"].isin(reconstructed_models(cells)).to_numpy()
    if not known.any():
        return cells
    return cells.assign(
        correct=np.where(known, committed_counts(cells).mean(axis=0), cells["correct"])
    )


def prediction_band(cells: pd.DataFrame, *dims: str) -> pd.DataFrame:
    """Return mean accuracy and band of reconstructed models, pooled over all but the dims, "model" the first.

    Lowest and highest (fractions) are the ends of a 1 - `published.ALPHA` prediction interval for one more table
    (Student's t). What the cells lack of the grid is left out of the tables too.
    """
    own = cells[(cells["total"] > 0) & cells["model"].isin(reconstructed_models(cells))]
    drawn = pd.DataFrame(committed_counts(own).T, index=own.index)
    groups = pd.concat([own[[*dims, "total"]], drawn], axis=1).groupby(list(dims), observed=True)
    counts, n, tables = groups[list(drawn)].sum(), groups["total"].sum(), drawn.shape[1]
    mean, half_width = counts.mean(axis=1), counts.std(axis=1) * np.sqrt(1 + 1 / tables)
    half_width *= t.ppf(1 - ALPHA / 2, tables - 1)
    columns = {
        "mean": mean,
        "lowest": (mean - half_width).clip(0),
        "highest": (mean + half_width).clip(upper=n),
    }
    return pd.DataFrame(columns).div(n, axis=0).reset_index()


def _draw_model(model: Model, misfit: float, tables: int, seed: int) -> pd.DataFrame:
    smooth = draw_counts(recover(model), np.random.default_rng([seed, MODELS.index(model)]))
    counts = np.vstack([smooth, draw_tables(model, misfit, tables, seed)])
    drawn = pd.DataFrame(counts.T, columns=[f"r{number}" for number in range(tables + 1)])
    cells = pd.concat([GRID[["N", "d", "ratio_pct"]], drawn], axis=1)
    cells.insert(0, "model", model.name)
    return cells


# Outer bounds: two linear programmes bound each point of the figures. They let the counts be fractional: no table lies
# outside, but whole counts may reach far less. gpt-5's curve has one value in every reconstruction, and wide bounds.
#: The committed bounds.
BOUNDS = RECONSTRUCTED / "bounds.csv"

#: Which cells are pooled: all, those of one d or those of one N, with the levels that Figures 6 (and 1), 3 and 4 show.
PANELS = {"": (0,), "d": (1, 5, 10), "N": (20, 100, 250)}

_KEYS = ["model", "load", "level", "ratio_pct"]


def find_bounds(cells: pd.DataFrame) -> Iterable[pd.DataFrame]:
    """Yield, model by model, the bounds of every point (about a second each), from the reconstructed cells.

    Columns model, load (empty, d or N), level (0 without a load), ratio_pct (%), least and most (fraction, to four
    decimals, rounded outwards).
    """
    points = [(load, level) for load, levels in PANELS.items() for level in levels]
    for model in dict.fromkeys(cells["model"]):
        recovered, rows = recovered_from(cells, model), []
        constraints = constrain(recovered, recovered.T)  # linear around the reconstructed counts
        for load, level in points:
            for ratio in GRID["ratio_pct"].unique():
                own = (GRID["ratio_pct"] == ratio) & (GRID[load] == level if load else True)
                least, most = possible_range(constraints, own.to_numpy())
                rows.append(
                    (
                        model,
                        load,
                        level,
                        ratio,
                        np.floor(least * 1e4 + 1e-6),
                        np.ceil(most * 1e4 - 1e-6),
                    )
                )
        frame = pd.DataFrame(rows, columns=[*_KEYS, "least", "most"])
        yield frame.assign(
            least=(frame["least"] / 1e4).clip(0, 1), most=(frame["most"] / 1e4).clip(0, 1)
        )


def load_bounds() -> pd.DataFrame:
    """Return the committed bounds of all points: see `find_bounds` for the columns."""
    return pd.read_csv(BOUNDS, keep_default_na=False)


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
            raise ValueError(
                f"no counts meet these constraints ({programme.message}); check the cells they come from"
            )
        ends.append(float(sign * programme.fun / (group @ constraints.n)))
    return ends[0], ends[1]
