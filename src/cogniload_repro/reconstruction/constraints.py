"""What a table of correct answers has to meet, and what is expected of one: Tables 3 to 6 and the prose along rho."""

from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from math import ceil, floor
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import binom

from cogniload_repro.models import BY_NAME
from cogniload_repro.published import ABOUT_NONE, correct_by, load_claims
from cogniload_repro.reconstruction.sufficient import OPEN_COLUMNS, Recovered, predict, printed_windows, significant
from cogniload_repro.statistics.design import GRID, X
from cogniload_repro.statistics.likelihood import maximise


@dataclass(frozen=True)
class Constraints:
    """What a table k of 140 counts must meet: ``exact @ k == sums`` and ``|windows @ k - centre| <= 1``.

    ``exact``, shape (9, 140), sums cells by d, by N (the last N follows), and 500 rho; ``windows``, shape (m, 140), has
    the derivative of each printed number, and of each accuracy along rho in the prose, in half printed units; ``n`` the
    puzzles per cell.
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
    """What a sentence of the prose asks of a table: bounds on a weighted sum of the cells.

    ``expected`` is the sum that a stated accuracy stands for; None where the sentence only bounds it.
    """

    weights: np.ndarray
    lowest: float
    highest: float
    expected: float | None = None


def constrain(recovered: Recovered, T: np.ndarray) -> Constraints:
    """Collect the constraints on a model's counts, linear around the statistics T."""
    name = recovered.model.name
    levels = [*level_sums(name), (np.rint(500 * GRID["rho"]), round(500 * recovered.T[3]))]
    exact, sums = zip(*levels, strict=True)
    values, widths = printed_windows(name)
    predicted, jacobian = predict(recovered.n, T)
    # row 0, the linear AIC, depends on T_rho alone, which is exact
    slopes = significant((jacobian / widths[:, None])[1:, 1:], 5)
    centre = slopes @ T[list(OPEN_COLUMNS[1:])] - ((predicted - values) / widths)[1:].round(4)
    windows = slopes @ X[:, list(OPEN_COLUMNS[1:])].T
    for window in prose_windows(name, recovered.n):
        half_width = (window.highest - window.lowest) / 2
        windows = np.vstack([windows, window.weights / half_width])
        centre = np.append(centre, (window.highest + window.lowest) / 2 / half_width)
    return Constraints(np.array(exact, dtype=int), np.array(sums), windows, centre, recovered.n)


def expected_accuracy(recovered: Recovered, departure: np.ndarray | float = 0.0) -> np.ndarray:
    """Return the most even accuracies, shape (140,), that meet a model's constraints on average.

    The distribution of largest entropy is logistic in the constrained sums: every level of d and of N, the
    regression's statistics, and the accuracies along rho that the prose states. ``departure`` has the log-odds by which
    the cells depart from the most even (`misfit`); what the sums fix of it cancels.
    """
    n, name = recovered.n, recovered.model.name
    levels = level_sums(name)
    columns, sums = [cells for cells, _ in levels], [float(correct) for _, correct in levels]
    for window in prose_windows(name, n):
        if window.expected is not None:
            columns.append(window.weights)
            sums.append(window.expected)
    x = np.column_stack([*columns, X[:, 3:]])
    beta, _ = maximise(x, n, np.concatenate([sums, recovered.T[3:]]), departure)
    return expit((x @ beta + departure).round(9))


def surprise(n: np.ndarray, p: np.ndarray, correct: np.ndarray) -> float:
    """Return by how many standard deviations a table's log-probability falls short of what is expected.

    Every cell is taken as a binomial draw of n answers with the expected accuracy p.
    """
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
    return [
        ((GRID[key] == level).to_numpy(float), correct)
        for key, table, last in (("d", "table4", None), ("N", "table5", -1))
        for frame in [correct_by(table)]
        for level, correct in frame.loc[frame["model"] == model, [key, "correct"]].to_numpy()[:last]
    ]


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


def prose_along_rho(model: str) -> pd.DataFrame:
    """Return the claims that state a model's accuracy at a place along rho, or compare the two ends (at one d too)."""
    claims = _claims()
    ends = claims["condition"].str.removeprefix(ENDS).str.fullmatch(r"( at d=\d+)?")
    stated = claims["condition"].isin(PROSE_RATIOS) | ends
    return claims[stated & claims["quantity"].str.startswith("accuracy") & (claims["model"] == model)]


def prose_windows(model: str, n: np.ndarray) -> list[Window]:
    """Return what the prose asks of a model's table along rho: the claims of `prose_along_rho`, and `curve_range`.

    A stated accuracy has the two decimals that Python prints of a share (0.975 as 0.97, the way that the prose prints
    273 of 280). The bounds of whole numbers lie half a number outside of what is allowed.
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
            own = GRID["d"].astype(str) == claim.condition.partition("d=")[2] if " at d=" in claim.condition else True
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
    stated = _claims().set_index("condition")["value"]
    low, high = (Fraction(stated[CURVES[end]]) for end in ("lowest", "highest"))
    puzzles, ratios = len(GRID["d"].unique()) * BY_NAME[model].puzzles_per_cell, GRID["ratio_pct"].nunique()
    printed = correct_by("table5").set_index(["model", "N"])["correct"]
    mean = Fraction(int(printed[model, 100]), ratios)
    return min(ceil(low * puzzles), floor(mean)), max(floor(high * puzzles), ceil(mean))


@cache
def _claims() -> pd.DataFrame:
    return load_claims()
