"""What a table of correct answers has to meet, and what is expected of one: Tables 3 to 6 and the prose along rho."""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import binom

from cogniload_repro.published import ABOUT_NONE, correct_by, load_claims
from cogniload_repro.reconstruction.sufficient import UNSETTLED, Recovered, predict, printed_windows, significant
from cogniload_repro.statistics.design import GRID, X
from cogniload_repro.statistics.likelihood import maximise

#: Accuracies in the prose have two decimals: half a unit without ties at the edge of rounding, and with them.
ACCURACY_HALF_UNITS = (0.00499, 0.00501)


@dataclass(frozen=True)
class Constraints:
    """What a table k of 140 counts must meet: ``exact @ k == sums`` and ``|windows @ k - centre| <= 1``.

    Attributes
    ----------
    exact : ndarray of int, shape (9, 140)
        Cells summed by d, by N (the last N follows), and 500 rho.
    sums : ndarray of int, shape (9,)
    windows : ndarray, shape (m, 140)
        Derivative of each printed number, and of each accuracy along rho in the prose, in half printed units.
    centre : ndarray, shape (m,)
    n : ndarray, shape (140,)
    """

    exact: np.ndarray
    sums: np.ndarray
    windows: np.ndarray
    centre: np.ndarray
    n: np.ndarray

    def met(self, k: np.ndarray) -> bool:
        """Say whether a table with the exact sums lies inside the box and the windows."""
        inside = (k >= 0).all() and (k <= self.n).all()
        return bool(inside and (np.abs(self.windows @ k - self.centre) <= 1).all())


def constrain(recovered: Recovered, T: np.ndarray, half_unit: float = ACCURACY_HALF_UNITS[-1]) -> Constraints:
    """Collect the constraints on a model's counts, linear around the statistics T."""
    name = recovered.model.name
    levels = [*_levels(name), (np.rint(500 * GRID["rho"]), round(500 * recovered.T[3]))]
    exact, sums = zip(*levels, strict=True)
    values, widths = printed_windows(name)
    predicted, jacobian = predict(recovered.n, T)
    # row 0, the linear AIC, depends on T_rho alone, which is exact
    slopes = significant((jacobian / widths[:, None])[1:, 1:], 5)
    centre = slopes @ T[list(UNSETTLED[1:])] - ((predicted - values) / widths)[1:].round(4)
    windows = slopes @ X[:, list(UNSETTLED[1:])].T
    for row, (lowest, highest) in prose_windows(name, recovered.n, half_unit):
        half_width = (highest - lowest) / 2
        windows = np.vstack([windows, row / half_width])
        centre = np.append(centre, (highest + lowest) / 2 / half_width)
    return Constraints(np.array(exact, dtype=int), np.array(sums), windows, centre, recovered.n)


def expected_accuracy(recovered: Recovered) -> np.ndarray:
    """Return the most even accuracies, shape (140,), that meet a model's constraints on average.

    The distribution of largest entropy is logistic in the constrained sums: every level of d and of N, the
    regression's statistics, and the accuracies along rho that the prose states.
    """
    n, name = recovered.n, recovered.model.name
    levels = _levels(name)
    columns, sums = [cells for cells, _ in levels], [float(correct) for _, correct in levels]
    for row, (lowest, highest) in prose_windows(name, n, half_unit=0.0):
        if lowest == highest:
            columns.append(row)
            sums.append(lowest)
    x = np.column_stack([*columns, X[:, 3:]])
    beta, _ = maximise(x, n, np.concatenate([sums, recovered.T[3:]]))
    return expit((x @ beta).round(9))


def surprise(recovered: Recovered, correct: np.ndarray) -> float:
    """Return by how many standard deviations a table's log-probability falls short of what is expected.

    Every cell is taken as a binomial draw with `expected_accuracy`.
    """
    n, p = recovered.n[:, None], expected_accuracy(recovered)[:, None]
    counts = np.arange(int(n.max()) + 1)
    logs = binom.logpmf(counts, n, p)
    weights, logs = np.exp(logs), np.where(np.isfinite(logs), logs, 0.0)
    mean = (weights * logs).sum(axis=1)
    variance = (weights * logs**2).sum(axis=1) - mean**2
    own = logs[np.arange(len(logs)), correct].sum()
    return float((mean.sum() - own) / np.sqrt(variance.sum()))


def _levels(model: str) -> list[tuple[np.ndarray, int]]:
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


def prose_along_rho(model: str) -> pd.DataFrame:
    """Return the claims that state a model's accuracy at a place along rho, or compare the two ends."""
    claims = load_claims()
    stated = claims["condition"].isin([*PROSE_RATIOS, ENDS]) & claims["quantity"].str.startswith("accuracy")
    return claims[stated & (claims["model"] == model)]


def prose_windows(model: str, n: np.ndarray, half_unit: float) -> list[tuple[np.ndarray, tuple[float, float]]]:
    """Return what the claims of `prose_along_rho` ask of a table: weights of the cells, and bounds of their sum.

    Parameters
    ----------
    model : str
    n : ndarray, shape (140,)
        Puzzles per cell.
    half_unit : float
        By how much an accuracy may differ from the two stated decimals.
    """
    windows = []
    for claim in prose_along_rho(model).itertuples():
        low, high = ((GRID["ratio_pct"] == PROSE_RATIOS[f"rho: {end} end"]).to_numpy(float) for end in ("low", "high"))
        if claim.condition == ENDS:
            row, (lowest, highest) = low / (low @ n) - high / (high @ n), _SIGNS[claim.value]
        else:
            cells = (GRID["ratio_pct"] == PROSE_RATIOS[claim.condition]).to_numpy(float)
            row, stated = cells / (cells @ n), float(claim.value)
            lowest, highest = stated - half_unit, stated + half_unit
        windows.append((row * n.max(), (lowest * n.max(), highest * n.max())))
    return windows
