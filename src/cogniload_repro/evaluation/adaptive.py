"""Which puzzles to ask next, given the answers so far: batches that settle ECL50 and ID50 with few puzzles.

The next batch depends on the counts of answers by cell and on nothing else, so that a run which is taken up again
asks the same. An adaptive sample is fitted, never averaged: its cells are those that tell most, not those of the grid.
"""

from dataclasses import dataclass
from functools import cache

import numpy as np
from scipy.special import expit
from scipy.stats import norm

from cogniload_repro.evaluation.forms import paper_curves
from cogniload_repro.evaluation.precision import CELLS, choose, inform, variances
from cogniload_repro.published import ALPHA

#: Share of each batch that is spread over the grid, so that a curve which does not fit shows.
SPREAD = 0.25
_CURVES = 24  # drawn from what is known, over which the worth of a puzzle is averaged
_SEED = 2026
_TAIL = float(norm.ppf(1 - ALPHA / 2))


@dataclass(frozen=True)
class Belief:
    """A normal distribution of the five coefficients.

    Attributes
    ----------
    mean : ndarray, shape (5,)
    precision : ndarray, shape (5, 5)
    """

    mean: np.ndarray
    precision: np.ndarray

    def draw(self, count: int) -> np.ndarray:
        """Return curves drawn from it, always the same ones, shape (count, 5)."""
        noise = np.random.default_rng(_SEED).standard_normal((count, len(self.mean)))
        # with precision LL', the columns of L'^-1 are independent directions of unit length
        return self.mean + np.linalg.solve(np.linalg.cholesky(self.precision).T, noise.T).T


@cache
def prior() -> Belief:
    """Return what the paper's 22 models say of another one: their mean and covariance."""
    curves = paper_curves()
    return Belief(curves.mean(axis=0), np.linalg.inv(np.cov(curves.T)))


def update(asked: np.ndarray, correct: np.ndarray, before: Belief | None = None) -> Belief:
    """Return what answers leave of a belief: the likeliest curve, and the curvature there.

    Parameters
    ----------
    asked, correct : ndarray, shape (140,)
        Answers and right answers by cell of the paper's grid.
    before : Belief, optional
        The prior from the 22 models by default.
    """
    before = before or prior()
    beta = before.mean

    def value(at: np.ndarray) -> float:
        eta, apart = CELLS @ at, at - before.mean
        return float(correct @ eta - asked @ np.logaddexp(0, eta) - apart @ before.precision @ apart / 2)

    for _ in range(100):
        p = expit(CELLS @ beta)
        gradient = CELLS.T @ (correct - asked * p) - before.precision @ (beta - before.mean)
        curvature = before.precision + CELLS.T @ (CELLS * (asked * p * (1 - p))[:, None])
        step, length, current = np.linalg.solve(curvature, gradient), 1.0, value(beta)
        while value(beta + length * step) < current and length > 1e-6:
            length /= 2
        beta = beta + length * step
        if gradient @ step < 1e-10:
            break
    return Belief(beta, before.precision + inform(beta[None], asked)[0])


def next_batch(asked: np.ndarray, correct: np.ndarray, size: int, seed: int = _SEED) -> np.ndarray:
    """Return the puzzles to ask next, shape (140,): a quarter spread over the grid, the others where they tell most.

    Parameters
    ----------
    asked, correct : ndarray, shape (140,)
        Answers and right answers so far by cell of the paper's grid; nothing was asked before the first batch.
    size : int
        Puzzles of the batch.
    seed : int
        Of the order in which the spread ones take their turns.
    """
    turns = np.random.default_rng(seed).permutation(len(CELLS))
    spread = np.zeros(len(CELLS), dtype=np.int64)
    for _ in range(round(SPREAD * size)):
        spread[turns[int(np.argmin((asked + spread)[turns]))]] += 1
    belief = update(asked, correct)
    curves = belief.draw(_CURVES)
    known = belief.precision + inform(belief.mean[None], spread)[0]
    return spread + choose(curves, size - int(spread.sum()), np.repeat(known[None], len(curves), axis=0))


def measure_width(asked: np.ndarray, correct: np.ndarray) -> float:
    """Return the width of the 95% interval of log10 ECL50 that the answers alone give; infinite where they do not.

    The curve is the likeliest under the prior, which keeps it finite; the information is that of the answers.
    """
    belief = update(asked, correct)
    with np.errstate(all="ignore"):
        try:
            variance = variances(belief.mean[None], asked)[0, 0]
        except np.linalg.LinAlgError:
            return np.inf
    return float(2 * _TAIL * np.sqrt(variance)) if variance > 0 else np.inf
