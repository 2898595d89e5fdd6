"""The prose's statements on accuracy along rho, as bounds on weighted sums of correct answers."""

from fractions import Fraction
from functools import cache
from math import ceil, floor
from typing import NamedTuple

import numpy as np
import pandas as pd

from cogniload_repro.models import find_model
from cogniload_repro.published import ABOUT_NONE, correct_by, load_claims
from cogniload_repro.regression.design import GRID, OF_RATIO

#: The ends of the arrows along rho (section 3), read as nominal ratios in percent.
PROSE_RATIOS = {"low end": 5, "middle": 50, "high end": 95}

#: Name in ``claims.csv`` of the difference between the two ends.
ENDS = "low end minus high end"
#: Range of the difference of accuracies for each of its signs: up to 1 either way, and
#: `published.ABOUT_NONE` for "about none".
_SIGNS_OF_WORDS = {
    ">0": (0.001, 1.0),
    "<0": (-1.0, -0.001),
    "~0": (-ABOUT_NONE, ABOUT_NONE),
}

#: "The strongest models" of Appendix A, which section 3 names.
STRONGEST = ("gpt-5-2025-08-07", "o3-2025-04-16")
#: Name in ``claims.csv`` of all tested ratios, over which these models' curves stay in a range.
EACH_RATIO = "each"


class Window(NamedTuple):
    """Bounds that a sentence of the prose sets on a weighted sum of the cells' correct answers.

    ``expected`` is the value of the sum, if the sentence states one.
    """

    weights: np.ndarray
    lowest: float
    highest: float
    expected: float | None = None


@cache
def prose_along_rho(model: str) -> pd.DataFrame:
    """Return the claims on a model's accuracy at a point along rho, or on its two ends."""
    claims = load_claims()
    is_along_rho = claims["rho"].isin([*PROSE_RATIOS, ENDS]) & (
        claims["quantity"] == "accuracy"
    )
    return claims[is_along_rho & (claims["model"] == model)]


def prose_windows(model: str, answers: np.ndarray) -> list[Window]:
    """Return the bounds that the prose sets on a model's counts along rho, given answers by cell.

    Bounds on counts are widened by one half on either side; those on differences are not.
    """
    windows = []
    for claim in prose_along_rho(model).itertuples():
        if claim.rho in PROSE_RATIOS:
            windows.append(_bound_accuracy(claim.rho, claim.value, answers))
        else:
            windows.append(_bound_difference(claim.d, claim.value, answers))
    if model in STRONGEST:
        windows += _bound_curve(model)
    return windows


def _bound_accuracy(place: str, value: str, answers: np.ndarray) -> Window:
    """Return the bounds on the correct answers at a ratio whose accuracy rounds to the stated one.

    Accuracies are rounded as Python formats them (0.975 as 0.97).
    """
    cells = (GRID["ratio_pct"] == PROSE_RATIOS[place]).to_numpy(float)
    total = int(cells @ answers)
    allowed = [
        correct for correct in range(total + 1) if f"{correct / total:.2f}" == value
    ]
    return Window(
        weights=cells,
        lowest=min(allowed) - 0.5,
        highest=max(allowed) + 0.5,
        expected=float(value) * total,
    )


def _bound_difference(d: str, sign: str, answers: np.ndarray) -> Window:
    """Return the bounds on accuracy at the low end minus accuracy at the high end of rho.

    An empty ``d`` pools all levels of d. The difference and its bounds are multiplied by the
    largest number of answers in a cell, to be on the scale of counts.
    """
    is_low = GRID["ratio_pct"] == PROSE_RATIOS["low end"]
    is_high = GRID["ratio_pct"] == PROSE_RATIOS["high end"]
    if d:
        is_low &= GRID["d"] == int(d)
        is_high &= GRID["d"] == int(d)
    low = is_low.to_numpy(float)
    high = is_high.to_numpy(float)
    difference = low / (low @ answers) - high / (high @ answers)
    most = answers.max()
    lowest, highest = _SIGNS_OF_WORDS[sign]
    return Window(difference * most, lowest * most, highest * most)


def _bound_curve(model: str) -> list[Window]:
    """Return bounds on the correct answers of one of `STRONGEST` at N = 100, one per ratio."""
    lowest, highest = curve_range(model)
    windows = []
    for of_ratio in OF_RATIO:
        point = of_ratio * (GRID["N"] == 100).to_numpy()
        windows.append(Window(point, lowest - 0.5, highest + 0.5))
    return windows


def curve_range(model: str) -> tuple[int, int]:
    """Return the range of correct answers of one of `STRONGEST` at N = 100 and one ratio.

    "Curves remain between about 0.93 and 0.97" (Appendix A) of 50 puzzles: the integers between.
    If need be, the range is widened to include the integers on both sides of the mean over the
    ratios, which Table 5 fixes.
    """
    claims = load_claims()
    stated = claims[claims["rho"] == EACH_RATIO].set_index("stated")["value"]
    puzzles = GRID["d"].nunique() * find_model(model).puzzles_per_cell
    low = puzzles * Fraction(stated["least"])
    high = puzzles * Fraction(stated["largest"])
    table5 = correct_by("table5").set_index(["model", "N"])["correct"]
    mean = Fraction(int(table5[model, 100]), len(OF_RATIO))
    lowest = min(ceil(low), floor(mean))
    highest = max(floor(high), ceil(mean))
    return lowest, highest
