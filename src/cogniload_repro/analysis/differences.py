"""The difference of two accuracies: score intervals and the tests that correspond to them.

A p-value is the level at which the interval would end at the hypothesis, so test and interval never
disagree. If all answers are alike, the estimated standard error of an accuracy is zero and a Wald
interval has no width; score methods take the standard error under the hypothesis.

References
----------
Newcombe (1998), Statistics in Medicine 17, 873-890, method 10: independent answers.
Tango (1998), Statistics in Medicine 17, 891-908: answers to the same puzzles.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import brentq, elementwise
from scipy.stats import norm

from cogniload_repro.published import ALPHA
from cogniload_repro.regression.cell_tables import wilson_limits

#: Normal quantile of two-sided intervals of level 1 - `ALPHA`.
QUANTILE = norm.ppf(1 - ALPHA / 2)
#: Equivalence margin: smaller differences of accuracy do not matter.
MARGIN = 0.05
_LARGEST_Z = 1e6  # upper end of the search for a normal quantile
_EDGE = 1 - 1e-9  # at a difference of exactly one, a score may be zero by zero


class Difference(NamedTuple):
    """A difference of two accuracies (fractions), first minus second, with its interval.

    p tests the hypothesis of no difference (two-sided), p_equivalence that of a difference at least
    as large as `MARGIN` (two one-sided tests, TOST).
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


def two_sided_p(z: float | np.ndarray) -> np.ndarray:
    """Return the two-sided p-value of a standard normal statistic z."""
    return 2 * norm.sf(np.abs(z))


def judge_differences(
    p: np.ndarray,
    p_equivalence: np.ndarray,
) -> np.ndarray:
    """Return the verdicts on differences from their two p-values (see `Difference`)."""
    is_different = np.less(p, ALPHA)
    is_equivalent = np.less(p_equivalence, ALPHA)
    words = np.where(is_equivalent, "equivalent", "inconclusive")
    return np.where(is_different, "different", words).astype(object)


# ---- independent answers: Newcombe's combination of two Wilson intervals ----
def compare_shares(first: Share, second: Share) -> pd.DataFrame:
    """Return a `Difference` per pair of independent accuracies (Newcombe), NaN if one is NaN."""
    low, high = _newcombe_limits(QUANTILE, *first, *second)
    below_margin = norm.cdf(_newcombe_score(first, second, MARGIN))
    above_margin = norm.sf(_newcombe_score(first, second, -MARGIN))
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
    z: np.ndarray,
    first: np.ndarray,
    answers_first: np.ndarray,
    second: np.ndarray,
    answers_second: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    low_first, high_first = wilson_limits(first, answers_first, z)
    low_second, high_second = wilson_limits(second, answers_second, z)
    difference = first - second
    low = difference - np.hypot(first - low_first, high_second - second)
    high = difference + np.hypot(high_first - first, second - low_second)
    return low, high


def _newcombe_score(
    first: Share,
    second: Share,
    value: float,
) -> np.ndarray:
    """Return the normal quantile z at which Newcombe's interval ends at a hypothetical difference.

    It serves as test statistic, negative if the observed difference is below the hypothetical one.
    """
    values = np.full_like(first.mean, value)
    bracket = (0.0, _LARGEST_Z)
    root = elementwise.find_root(
        _distance_to_end, bracket, args=(*first, *second, values)
    )
    difference = first.mean - second.mean
    is_known = np.isfinite(difference)
    unreached = np.where(is_known, np.inf, np.nan)  # by any interval
    z = np.where(root.success, root.x, unreached)
    return np.where(difference < value, -z, z)


def _distance_to_end(
    z: np.ndarray,
    first: np.ndarray,
    answers_first: np.ndarray,
    second: np.ndarray,
    answers_second: np.ndarray,
    value: np.ndarray,
) -> np.ndarray:
    """Return how far a hypothetical difference is outside the interval for a normal quantile."""
    low, high = _newcombe_limits(z, first, answers_first, second, answers_second)
    return np.where(first - second < value, value - high, low - value)


# ---- answers to the same puzzles: Tango's score ----
def compare_paired(alone: int, against: int, puzzles: int) -> Difference:
    """Compare two models on the same puzzles by Tango's score method for matched pairs.

    ``alone`` and ``against`` are the discordant pairs: the puzzles that only the first, only the
    second model solved. The test of no difference is McNemar's without continuity correction.
    """

    def score(value: float) -> float:
        return _tango_score(alone, against, puzzles, value)

    # the score decreases in the hypothetical difference and is zero at the estimate
    estimate = (alone - against) / puzzles
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
    below_margin = norm.cdf(score(MARGIN))
    above_margin = norm.sf(score(-MARGIN))
    return Difference(
        difference=estimate,
        ci_low=low,
        ci_high=high,
        p=float(two_sided_p(score(0.0))),
        p_equivalence=float(max(below_margin, above_margin)),
    )


def _tango_score(
    alone: int,
    against: int,
    puzzles: int,
    value: float,
) -> float:
    """Return Tango's score statistic of a hypothetical difference, with its variance under it.

    against_share is the restricted maximum-likelihood estimate of the share solved by the second
    model alone. If the variance is zero, the statistic is zero or infinite.
    """
    a = 2 * puzzles
    b = (a - alone + against) * value - alone - against
    c = -against * value * (1 - value)
    discriminant = b**2 - 4 * a * c
    against_share = (np.sqrt(discriminant) - b) / (2 * a)
    variance = puzzles * (2 * against_share + value * (1 - value))
    excess = alone - against - puzzles * value
    if variance > 0:
        return float(excess / np.sqrt(variance))
    return np.inf * np.sign(excess) if excess else 0.0
