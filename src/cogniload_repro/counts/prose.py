"""What the paper's prose says of accuracies along rho, as bounds on sums of correct answers."""

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

#: How the claims name the comparison of the two ends.
ENDS = "low end minus high end"
#: The differences of accuracy that the signs of such a comparison stand for: up to 1 either way,
#: and `published.ABOUT_NONE` for "about none".
_SIGNS_OF_WORDS = {
    ">0": (0.001, 1.0),
    "<0": (-1.0, -0.001),
    "~0": (-ABOUT_NONE, ABOUT_NONE),
}

#: "The strongest models" of Appendix A, which section 3 names.
STRONGEST = ("gpt-5-2025-08-07", "o3-2025-04-16")
#: How the claims name all tested ratios, over which the curves of these models remain in a range.
EACH_RATIO = "each"


class Window(NamedTuple):
    """What a sentence asks of a table of counts: bounds on a weighted sum of its cells.

    ``expected`` is the sum that the sentence states, if it states one.
    """

    weights: np.ndarray
    lowest: float
    highest: float
    expected: float | None = None


@cache
def prose_along_rho(model: str) -> pd.DataFrame:
    """Return the claims on a model's accuracy at a place along rho, or on its two ends."""
    claims = load_claims()
    is_along_rho = claims["rho"].isin([*PROSE_RATIOS, ENDS]) & (
        claims["quantity"] == "accuracy"
    )
    return claims[is_along_rho & (claims["model"] == model)]


def prose_windows(model: str, answers: np.ndarray) -> list[Window]:
    """Return what the prose asks of a model's counts along rho, with so many answers by cell.

    Of whole numbers that are allowed, bounds lie half a number outside.
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
    """Return the bounds of an accuracy at a place, printed as Python prints it (0.975 as 0.97)."""
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
    """Return the bounds of the accuracy at the low end less that at the high end, maybe at one d.

    Both are multiplied by the answers of a cell.
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
    """Return the bounds of a strongest model's correct answers at N = 100 and each ratio."""
    lowest, highest = curve_range(model)
    windows = []
    for of_ratio in OF_RATIO:
        point = of_ratio * (GRID["N"] == 100).to_numpy()
        windows.append(Window(point, lowest - 0.5, highest + 0.5))
    return windows


def curve_range(model: str) -> tuple[int, int]:
    """Return the least and the most correct answers of a strongest model at N = 100 and one ratio.

    "Curves remain between about 0.93 and 0.97" (Appendix A) of 50 puzzles: the whole numbers
    between, and where the sum of Table 5 is too small or too large for these, the next one.
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
