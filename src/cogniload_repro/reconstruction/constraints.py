"""What a table of correct answers has to meet, and what is expected of one: Tables 3 to 6 and the prose along rho."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil, floor
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import linprog
from scipy.special import expit
from scipy.stats import binom

from cogniload_repro.models import BY_NAME
from cogniload_repro.published import ABOUT_NONE, ERRORS, correct_by, load_claims, load_table
from cogniload_repro.reconstruction.sufficient import (
    OPEN_COLUMNS,
    Recovered,
    predict,
    printed_windows,
    significant,
)
from cogniload_repro.statistics.design import GRID, X
from cogniload_repro.statistics.likelihood import maximise


@dataclass(frozen=True)
class Constraints:
    """What a table k of 140 counts must meet: 0 to n, ``exact @ k == sums`` and ``|windows @ k - centre| <= 1``.

    ``exact``, shape (9, 140), sums cells by d, by N (the last N follows), and 500 rho; ``windows``, shape (m, 140), has
    the derivative of each printed number, and of each accuracy along rho in the prose, in half printed units.
    """

    exact: np.ndarray
    sums: np.ndarray
    windows: np.ndarray
    centre: np.ndarray
    n: np.ndarray

    def met(self, k: np.ndarray) -> bool:
        """Return whether a table with the exact sums lies inside the box and the windows."""
        inside = (k >= 0).all() and (k <= self.n).all()
        return bool(inside and (np.abs(self.windows @ k - self.centre) <= 1).all())


class Window(NamedTuple):
    """What a sentence of the prose asks of a table: bounds on a weighted sum of the cells, or an expected sum too."""

    weights: np.ndarray
    lowest: float
    highest: float
    expected: float | None = None


def constrain(recovered: Recovered, T: np.ndarray) -> Constraints:
    """Collect the constraints on a model's counts, linear around the statistics T."""
    name = recovered.model.name
    exact, sums = zip(
        *level_sums(name), (np.rint(500 * GRID["rho"]), round(500 * recovered.T[3])), strict=True
    )
    values, widths = printed_windows(name)
    predicted, jacobian = predict(recovered.n, T)
    # row 0, the linear AIC, depends on T_rho alone, which is exact
    slopes = significant((jacobian / widths[:, None])[1:, 1:], 5)
    centre = slopes @ T[list(OPEN_COLUMNS[1:])] - ((predicted - values) / widths)[1:].round(4)
    windows = slopes @ X[:, list(OPEN_COLUMNS[1:])].T
    prose = prose_windows(name, recovered.n)
    half_widths = np.array([(window.highest - window.lowest) / 2 for window in prose])
    middles = np.array([(window.highest + window.lowest) / 2 for window in prose])
    windows = np.vstack(
        [windows, *[one.weights / half for one, half in zip(prose, half_widths, strict=True)]]
    )
    centre = np.concatenate([centre, middles / half_widths])
    return Constraints(np.array(exact, dtype=int), np.array(sums), windows, centre, recovered.n)


def expected_accuracy(recovered: Recovered, departure: np.ndarray | float = 0.0) -> np.ndarray:
    """Return the most even accuracies, shape (140,), that meet a model's constraints on average.

    The distribution of largest entropy is logistic in the constrained sums. ``departure`` has the log-odds by which the
    cells depart from the most even; what the sums fix of it cancels.
    """
    n, name = recovered.n, recovered.model.name
    stated = [one for one in prose_windows(name, n) if one.expected is not None]
    fixed = [*level_sums(name), *((one.weights, one.expected) for one in stated)]
    columns, sums = zip(*fixed, strict=True)
    x = np.column_stack([*columns, X[:, 3:]])
    beta, _ = maximise(x, n, np.concatenate([sums, recovered.T[3:]]), departure)
    return expit((x @ beta + departure).round(9))


def surprise(n: np.ndarray, p: np.ndarray, correct: np.ndarray) -> float:
    """Return by how many standard deviations a table's binomial log-probability falls short of what is expected."""
    n, p = n[:, None], p[:, None]
    counts = np.arange(int(n.max()) + 1)
    logs = binom.logpmf(counts, n, p)
    weights, logs = np.exp(logs), np.where(np.isfinite(logs), logs, 0.0)
    mean = (weights * logs).sum(axis=1)
    variance = (weights * logs**2).sum(axis=1) - mean**2
    own = logs[np.arange(len(logs)), correct].sum()
    return float((mean.sum() - own) / np.sqrt(variance.sum()))


def level_sums(model: str) -> list[tuple[np.ndarray, int]]:
    """Return the cells of every d and of every N but the last, each with its correct answers."""
    tables = (("d", correct_by("table4")), ("N", correct_by("table5")))
    levels = [
        ((GRID[key] == level).to_numpy(float), correct)
        for key, table in tables
        for level, correct in table.loc[table["model"] == model, [key, "correct"]].to_numpy()
    ]
    return levels[:-1]


#: The ends of the arrows along rho in the prose (section 3), read as nominal ratios in percent.
PROSE_RATIOS = {"rho: low end": 5, "rho: middle": 50, "rho: high end": 95}

#: How the claims call the comparison of the two ends, and the differences of accuracy that its signs stand for: as
#: much as 1 either way, and `published.ABOUT_NONE` for "about none".
ENDS = "rho: low end minus rho: high end"
_SIGNS = {">0": (0.001, 1.0), "<0": (-1.0, -0.001), "~0": (-ABOUT_NONE, ABOUT_NONE)}

#: "The strongest models" of Appendix A, which Section 3 names, and how the claims call the ends between which their
#: curves remain.
STRONGEST = ("gpt-5-2025-08-07", "o3-2025-04-16")
CURVES = {end: f"N=100, strongest models, {end} over rho" for end in ("lowest", "highest")}


@cache
def prose_along_rho(model: str) -> pd.DataFrame:
    """Return the claims that state a model's accuracy at a place along rho, or compare the two ends (at one d too)."""
    claims = load_claims()
    ends = claims["condition"].str.removeprefix(ENDS).str.fullmatch(r"( at d=\d+)?")
    stated = (claims["condition"].isin(PROSE_RATIOS) | ends) & claims["quantity"].str.startswith(
        "accuracy"
    )
    return claims[stated & (claims["model"] == model)]


def prose_windows(model: str, n: np.ndarray) -> list[Window]:
    """Return what the prose asks of a model's table along rho: the claims of `prose_along_rho`, and `curve_range`.

    A stated accuracy is printed as Python does (0.975 as 0.97). Bounds lie half a number outside of what is allowed.
    """
    windows = []
    for claim in prose_along_rho(model).itertuples():
        if claim.condition in PROSE_RATIOS:
            cells = (GRID["ratio_pct"] == PROSE_RATIOS[claim.condition]).to_numpy(float)
            puzzles = int(cells @ n)
            prints = [k for k in range(puzzles + 1) if f"{k / puzzles:.2f}" == claim.value]
            expected = float(claim.value) * puzzles
            windows.append(Window(cells, min(prints) - 0.5, max(prints) + 0.5, expected))
        else:
            own = (
                GRID["d"].astype(str) == claim.condition.partition("d=")[2]
                if " at d=" in claim.condition
                else True
            )
            low, high = (
                (own & (GRID["ratio_pct"] == PROSE_RATIOS[f"rho: {end} end"])).to_numpy(float)
                for end in ("low", "high")
            )
            lowest, highest = _SIGNS[claim.value]
            difference = low / (low @ n) - high / (high @ n)
            windows.append(Window(difference * n.max(), lowest * n.max(), highest * n.max()))
    if model in STRONGEST:
        lowest, highest = curve_range(model)
        for ratio in GRID["ratio_pct"].unique():
            cells = ((GRID["N"] == 100) & (GRID["ratio_pct"] == ratio)).to_numpy(float)
            windows.append(Window(cells, lowest - 0.5, highest + 0.5))
    return windows


def curve_range(model: str) -> tuple[int, int]:
    """Return the least and the largest number of correct answers of a strongest model at N = 100 and one ratio.

    "Curves remain between about 0.93 and 0.97" (Appendix A) of 50 puzzles: the whole numbers between, and where the
    sum of Table 5 is too small or too large for these, the next one.
    """
    stated = load_claims().set_index("condition")["value"]
    low, high = (Fraction(stated[CURVES[end]]) for end in ("lowest", "highest"))
    puzzles, ratios = (
        len(GRID["d"].unique()) * BY_NAME[model].puzzles_per_cell,
        GRID["ratio_pct"].nunique(),
    )
    printed = correct_by("table5").set_index(["model", "N"])["correct"]
    mean = Fraction(int(printed[model, 100]), ratios)
    return min(ceil(low * puzzles), floor(mean)), max(floor(high * puzzles), ceil(mean))


#: The 20 conditions (N, d) that Tables 4 and 5 sum over.
CONDITIONS = pd.MultiIndex.from_frame(GRID[["N", "d"]].drop_duplicates())
#: Matrix, shape (20, 140), that sums the cells of each condition.
OF_CONDITION = np.array([(GRID["N"] == N) & (GRID["d"] == d) for N, d in CONDITIONS], dtype=float)


@cache
def bucket_sums(model: str) -> tuple[np.ndarray, np.ndarray]:
    """Return which errors Tables 4 and 5 sum, (45, 100) over 20 conditions times 5 buckets, and the sums."""
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


def can_allocate(model: str, correct: np.ndarray, n: np.ndarray) -> bool:
    """Return whether the errors that a table of counts leaves fit the buckets of Tables 4 and 5."""
    groups, sums = bucket_sums(model)
    programme = linprog(
        np.zeros(groups.shape[1]),
        A_eq=np.vstack([groups, OF_BUCKETS]),
        b_eq=np.concatenate([sums, OF_CONDITION @ (n - correct)]),
    )
    return programme.status == 0
