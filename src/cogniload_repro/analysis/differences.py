"""The difference of two accuracies: score intervals and the tests that correspond to them.

A p-value is the level at which the interval would end at the hypothesis, so test and interval never
disagree. If all answers are alike, the estimated standard error of an accuracy is zero and a Wald
interval has no width; score methods take the standard error under the hypothesis.

References
----------
Newcombe (1998), Statistics in Medicine 17, 873-890, method 10: independent answers.
Tango (1998), Statistics in Medicine 17, 891-908: answers to the same puzzles.
Miettinen and Nurminen (1985), Statistics in Medicine 4, 213-226: two kinds of puzzles by cell.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq, elementwise
from scipy.stats import norm

from cogniload_repro.published import ALPHA
from cogniload_repro.regression.cell_tables import wilson_limits

#: Normal quantile of two-sided intervals of level 1 - `ALPHA`.
QUANTILE = norm.ppf(1 - ALPHA / 2)
_MANY_ERRORS = 1e6  # upper end of the search for a normal quantile
_EDGE = 1 - 1e-9  # at a difference of exactly one, a score may be zero by zero


class Difference(NamedTuple):
    """A difference of two accuracies (fractions), first minus second, with its interval.

    p tests the hypothesis of no difference (two-sided), p_equivalence that of a difference at least
    as large as the margin (two one-sided tests, TOST).
    """

    difference: float
    ci_low: float
    ci_high: float
    p: float
    p_equivalence: float


class Share(NamedTuple):
    """Accuracies (fractions) with their effective numbers of answers (`accuracies.mean_shares`)."""

    mean: np.ndarray
    answers: np.ndarray


class Strata(NamedTuple):
    """Correct answers and answers to two kinds of puzzles by cell (stratum), both in every cell."""

    correct_first: np.ndarray
    first: np.ndarray
    correct_second: np.ndarray
    second: np.ndarray

    @property
    def total(self) -> np.ndarray:
        """Answers to both kinds."""
        return self.first + self.second

    @property
    def weight(self) -> np.ndarray:
        """Mantel-Haenszel weights."""
        return self.first * self.second / self.total

    @property
    def shares(self) -> tuple[float, float]:
        """Mantel-Haenszel weighted accuracy on each kind."""
        first = np.average(self.correct_first / self.first, weights=self.weight)
        second = np.average(self.correct_second / self.second, weights=self.weight)
        return float(first), float(second)


def two_sided_p(z: float | np.ndarray) -> np.ndarray:
    """Return the two-sided p-value of a standard normal statistic z."""
    return 2 * norm.sf(np.abs(z))


def judge_difference(p: float, p_equivalence: float) -> str:
    """Return the verdict on a difference from its two p-values (see `Difference`)."""
    if p < ALPHA:
        return "different"
    return "equivalent" if p_equivalence < ALPHA else "inconclusive"


# ---- independent answers: Newcombe's combination of two Wilson intervals ----
def compare_shares(
    first: Share,
    second: Share,
    margin: float,
) -> pd.DataFrame:
    """Return a `Difference` per pair of independent accuracies (Newcombe), NaN if one is NaN."""
    low, high = _newcombe_limits(QUANTILE, *first, *second)
    below_margin = norm.cdf(_newcombe_score(first, second, margin))
    above_margin = norm.sf(_newcombe_score(first, second, -margin))
    return pd.DataFrame(
        {
            "difference": first.mean - second.mean,
            "ci_low": low,
            "ci_high": high,
            "p": p_of_difference(first, second),
            "p_equivalence": np.maximum(below_margin, above_margin),
        }
    )


def p_of_difference(first: Share, second: Share) -> np.ndarray:
    """Return the p-values of no difference between pairs of independent accuracies."""
    return two_sided_p(_newcombe_score(first, second, 0.0))


def _newcombe_limits(
    errors: np.ndarray,
    first: np.ndarray,
    answers_first: np.ndarray,
    second: np.ndarray,
    answers_second: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    low_first, high_first = wilson_limits(first, answers_first, errors)
    low_second, high_second = wilson_limits(second, answers_second, errors)
    difference = first - second
    low = difference - np.hypot(first - low_first, high_second - second)
    high = difference + np.hypot(high_first - first, second - low_second)
    return low, high


def _newcombe_score(
    first: Share,
    second: Share,
    value: float,
) -> np.ndarray:
    """Return the normal quantile at which Newcombe's interval ends at a hypothetical difference.

    It serves as test statistic, negative if the observed difference is below the hypothetical one.
    """
    values = np.full_like(first.mean, value)
    bracket = (0.0, _MANY_ERRORS)
    root = elementwise.find_root(
        _distance_to_end, bracket, args=(*first, *second, values)
    )
    difference = first.mean - second.mean
    unreached = np.where(np.isfinite(difference), np.inf, np.nan)  # by any interval
    errors = np.where(root.success, root.x, unreached)
    return np.where(difference < value, -errors, errors)


def _distance_to_end(
    errors: np.ndarray,
    first: np.ndarray,
    answers_first: np.ndarray,
    second: np.ndarray,
    answers_second: np.ndarray,
    value: np.ndarray,
) -> np.ndarray:
    """Return how far a hypothetical difference is outside the interval for a normal quantile."""
    low, high = _newcombe_limits(errors, first, answers_first, second, answers_second)
    return np.where(first - second < value, value - high, low - value)


# ---- answers to the same puzzles: Tango's score ----
def compare_paired(
    alone: int,
    against: int,
    puzzles: int,
    margin: float,
) -> Difference:
    """Compare two models on the same puzzles by Tango's score method for matched pairs.

    ``alone`` and ``against`` are the discordant pairs: the puzzles that only the first, only the
    second model solved. The test of no difference is McNemar's without continuity correction.
    """

    def score(value: float) -> float:
        return _tango_score(alone, against, puzzles, value)

    return _invert(score, (alone - against) / puzzles, margin)


def _tango_score(
    alone: int,
    against: int,
    puzzles: int,
    value: float,
) -> float:
    """Return Tango's score statistic of a hypothetical difference, with its variance under it.

    against_share is the restricted maximum-likelihood estimate of the share solved by the second
    model alone.
    """
    a = 2 * puzzles
    b = (a - alone + against) * value - alone - against
    c = -against * value * (1 - value)
    against_share = (np.sqrt(b**2 - 4 * a * c) - b) / (2 * a)
    variance = puzzles * (2 * against_share + value * (1 - value))
    return _standardise(alone - against - puzzles * value, variance)


# ---- two kinds of puzzles within cells: Miettinen and Nurminen's stratified score ----
def compare_strata(strata: Strata, margin: float) -> Difference:
    """Compare accuracy on two kinds of puzzles within cells by a stratified score method.

    The method is Miettinen and Nurminen's with Mantel-Haenszel weights; its test of no difference
    is the Mantel-Haenszel test without continuity correction.
    """

    def score(value: float) -> float:
        return _strata_score(strata, value)

    first, second = strata.shares
    return _invert(score, first - second, margin)


def _strata_score(strata: Strata, value: float) -> float:
    """Return the stratified score statistic of a hypothetical difference, standardised under it."""
    weight = strata.weight / strata.weight.sum()
    p_second = _restricted_share(strata, value)
    p_first = p_second + value
    variance = (
        p_first * (1 - p_first) / strata.first
        + p_second * (1 - p_second) / strata.second
    )
    variance = variance * strata.total / (strata.total - 1)
    first, second = strata.shares
    return _standardise(first - second - value, weight**2 @ variance)


def _restricted_share(strata: Strata, value: float) -> np.ndarray:
    """Return the restricted maximum-likelihood accuracy on the second kind per cell.

    Given the difference, it is a root of a cubic equation (Miettinen and Nurminen, appendix I).
    """
    total = strata.total
    correct = strata.correct_first + strata.correct_second
    quadratic = (strata.first + 2 * strata.second) * value - total - correct
    linear = (
        strata.second * value - total - 2 * strata.correct_second
    ) * value + correct
    constant = strata.correct_second * value * (1 - value)
    shift = quadratic / (3 * total)
    q = shift**3 - linear * quadratic / (6 * total**2) + constant / (2 * total)
    size = np.sqrt(np.maximum(shift**2 - linear / (3 * total), 0))
    size = np.where(q < 0, -size, size)
    ratio = np.divide(q, size**3, out=np.zeros_like(size), where=size != 0)
    angle = (np.pi + np.arccos(np.clip(ratio, -1, 1))) / 3
    share = 2 * size * np.cos(angle) - shift
    return np.clip(share, max(0.0, -value), min(1.0, 1.0 - value))


def _standardise(numerator: float, variance: float) -> float:
    """Return a score divided by its standard error; if that is zero, zero or infinity."""
    if variance > 0:
        return float(numerator / np.sqrt(variance))
    return 0.0 if numerator == 0 else float(np.copysign(np.inf, numerator))


def _invert(
    score: Callable[[float], float],
    estimate: float,
    margin: float,
) -> Difference:
    """Return a difference with its score tests, and the interval that inverts them.

    The score decreases in the hypothetical difference and is zero at the estimate.
    """
    low = -1.0
    if score(-_EDGE) > QUANTILE:
        low = brentq(
            lambda value: score(value) - QUANTILE, -_EDGE, estimate, xtol=1e-12
        )
    high = 1.0
    if score(_EDGE) < -QUANTILE:
        high = brentq(
            lambda value: score(value) + QUANTILE, estimate, _EDGE, xtol=1e-12
        )
    p = two_sided_p(score(0.0))
    p_equivalence = max(norm.cdf(score(margin)), norm.sf(score(-margin)))
    return Difference(estimate, low, high, float(p), float(p_equivalence))
