"""The difference of two accuracies: score intervals, and p-values that invert them.

A p-value is the level at which the interval would end at the hypothesis, so test and interval
never disagree. The standard error of an observed share is zero where all answers are alike; the
score methods, which take it under the hypothesis, have an interval there too.

References
----------
Newcombe (1998), Statistics in Medicine 17, 873-890, method 10: independent answers.
Tango (1998), Statistics in Medicine 17, 891-908: answers to the same puzzles.
Miettinen and Nurminen (1985), Statistics in Medicine 4, 213-226: two kinds of puzzles within cells.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq, elementwise
from scipy.stats import norm

from cogniload_repro.published import ALPHA

#: What a comparison may find: a difference; one within the margin; equivalence; neither.
DIFFERENCE_VERDICTS = (
    "different",
    "different, negligible",
    "equivalent",
    "inconclusive",
)
#: Standard errors between a share and the ends of its interval.
QUANTILE = norm.ppf(1 - ALPHA / 2)
_MANY_ERRORS = 1e6  # where the search for a p-value stops: standard errors
_EDGE = 1 - 1e-9  # at a difference of one itself a score may be zero by zero


class Difference(NamedTuple):
    """A difference of two accuracies (fractions), first minus second, with its interval.

    p is of no difference (two-sided), p_equivalence of one as large as the margin or larger (two
    one-sided tests).
    """

    difference: float
    ci_low: float
    ci_high: float
    p: float
    p_equivalence: float


class Share(NamedTuple):
    """Accuracies (fractions), and how many answers in one cell would give each its precision."""

    mean: np.ndarray
    answers: np.ndarray


class Strata(NamedTuple):
    """Correct answers and answers of two kinds of puzzles, by cell; every cell has both kinds."""

    correct_first: np.ndarray
    first: np.ndarray
    correct_second: np.ndarray
    second: np.ndarray

    @property
    def total(self) -> np.ndarray:
        """Answers of both kinds."""
        return self.first + self.second

    @property
    def weight(self) -> np.ndarray:
        """Mantel and Haenszel's weights."""
        return self.first * self.second / self.total

    @property
    def shares(self) -> tuple[float, float]:
        """Weighted accuracy of each kind."""
        first = np.average(self.correct_first / self.first, weights=self.weight)
        second = np.average(self.correct_second / self.second, weights=self.weight)
        return float(first), float(second)


def two_sided_p(z: float | np.ndarray) -> np.ndarray:
    """Return the probability that a standard normal number is at least as far from zero as z."""
    return 2 * norm.sf(np.abs(z))


def judge_difference(p: float, p_equivalence: float) -> str:
    """Return the verdict on a difference from its two p-values (see `Difference`)."""
    if p < ALPHA:
        return (
            DIFFERENCE_VERDICTS[1] if p_equivalence < ALPHA else DIFFERENCE_VERDICTS[0]
        )
    return DIFFERENCE_VERDICTS[2] if p_equivalence < ALPHA else DIFFERENCE_VERDICTS[3]


# ---- independent answers: Newcombe's combination of two Wilson intervals ----
def compare_shares(first: Share, second: Share, margin: float) -> pd.DataFrame:
    """Return a `Difference` for each pair of independent accuracies; NaN where one is unknown."""
    low, high = _newcombe_limits(QUANTILE, *first, *second)
    below_margin = norm.cdf(_newcombe_score(first, second, margin))
    above_margin = norm.sf(_newcombe_score(first, second, -margin))
    return pd.DataFrame(
        {
            "difference": first.mean - second.mean,
            "ci_low": low,
            "ci_high": high,
            "p": two_sided_p(_newcombe_score(first, second, 0.0)),
            "p_equivalence": np.maximum(below_margin, above_margin),
        }
    )


def wilson_limits(
    share: Share,
    errors: float | np.ndarray = QUANTILE,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the ends of Wilson's score interval of each accuracy, for a normal quantile."""
    mean = share.mean
    squared = errors**2 / share.answers
    middle = (mean + squared / 2) / (1 + squared)
    half_width = np.sqrt(squared * (mean * (1 - mean) + squared / 4)) / (1 + squared)
    # rounding must not put the accuracy itself outside
    low = np.clip(middle - half_width, 0, mean)
    high = np.clip(middle + half_width, mean, 1)
    return low, high


def _newcombe_limits(
    errors: np.ndarray,
    first: np.ndarray,
    answers_first: np.ndarray,
    second: np.ndarray,
    answers_second: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    low_first, high_first = wilson_limits(Share(first, answers_first), errors)
    low_second, high_second = wilson_limits(Share(second, answers_second), errors)
    difference = first - second
    low = difference - np.hypot(first - low_first, high_second - second)
    high = difference + np.hypot(high_first - first, second - low_second)
    return low, high


def _newcombe_score(first: Share, second: Share, value: float) -> np.ndarray:
    """Return the normal quantile with which Newcombe's interval ends at a hypothetical difference.

    Negative where the observed difference is below the hypothetical one.
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
    """Return how far a hypothetical difference lies outside the interval for a normal quantile."""
    low, high = _newcombe_limits(errors, first, answers_first, second, answers_second)
    return np.where(first - second < value, value - high, low - value)


# ---- answers to the same puzzles: Tango's score ----
def compare_paired(alone: int, against: int, puzzles: int, margin: float) -> Difference:
    """Compare two models on the same puzzles by how many each has solved alone (Tango).

    The test of no difference is McNemar's without correction.
    """

    def score(value: float) -> float:
        return _tango_score(alone, against, puzzles, value)

    return _invert(score, (alone - against) / puzzles, margin)


def _tango_score(alone: int, against: int, puzzles: int, value: float) -> float:
    """Return the score statistic of a hypothetical difference, standardised under it."""
    a = 2 * puzzles
    b = (a - alone + against) * value - alone - against
    c = -against * value * (1 - value)
    against_share = (np.sqrt(b**2 - 4 * a * c) - b) / (2 * a)
    variance = puzzles * (2 * against_share + value * (1 - value))
    return _standardise(alone - against - puzzles * value, variance)


# ---- two kinds of puzzles within cells: Miettinen and Nurminen's stratified score ----
def compare_strata(strata: Strata, margin: float) -> Difference:
    """Compare the accuracies of two kinds of puzzles within cells (Miettinen and Nurminen).

    The difference has Mantel and Haenszel's weights, and the test of none is theirs, without
    correction.
    """

    def score(value: float) -> float:
        return _strata_score(strata, value)

    first, second = strata.shares
    return _invert(score, first - second, margin)


def _strata_score(strata: Strata, value: float) -> float:
    """Return the score statistic of a hypothetical difference, standardised under it."""
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
    """Return the maximum-likelihood accuracy of the second kind per cell, given the difference.

    It is the root of a cubic equation (Miettinen and Nurminen, appendix I).
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
    """Return a score divided by its standard error; without variance it is zero or infinite."""
    if variance > 0:
        return float(numerator / np.sqrt(variance))
    return 0.0 if numerator == 0 else float(np.copysign(np.inf, numerator))


def _invert(
    score: Callable[[float], float], estimate: float, margin: float
) -> Difference:
    """Return a difference with the interval and the tests that invert its score statistic.

    The score falls with the hypothetical difference, and is zero at the estimate.
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
