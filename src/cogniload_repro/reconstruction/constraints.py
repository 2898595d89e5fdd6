"""Constraints on a table of correct answers, and the maximum-entropy accuracies that meet them.

The sums by d and by N and the sum of rho are equality constraints. The rounded numbers of Tables
3 and 6 and the accuracies in the prose give windows: intervals for other weighted sums.
"""

from dataclasses import dataclass

import numpy as np
from scipy.special import expit
from scipy.stats import binom

from cogniload_repro.published import correct_by
from cogniload_repro.reconstruction.prose import prose_windows
from cogniload_repro.reconstruction.sufficient import (
    OPEN_COLUMNS,
    ModelSums,
    miss_printed,
    significant,
)
from cogniload_repro.regression.design import GRID, X
from cogniload_repro.regression.likelihood import maximise


@dataclass(frozen=True)
class Constraints:
    """The linear constraints on the 140 counts of correct answers.

    Box: 0 <= correct <= ``answers``. Equalities: ``exact @ correct == sums``. Windows:
    ``|windows @ correct - centre| <= 1``. ``exact``, shape (9, 140), has a row per level of d and
    of N (the last N follows from the others) and the row 500 rho. ``windows``, shape (m, 140),
    has the gradient of each printed number and the weights of each statement in the prose, both
    in units of half the window's width.
    """

    exact: np.ndarray
    sums: np.ndarray
    windows: np.ndarray
    centre: np.ndarray
    answers: np.ndarray

    def met(self, correct: np.ndarray) -> bool:
        """Return whether counts with the exact sums lie within the box and all windows."""
        is_in_box = (correct >= 0) & (correct <= self.answers)
        distances = np.abs(self.windows @ correct - self.centre)
        is_in_window = distances <= 1
        return bool(is_in_box.all() and is_in_window.all())


def constrain(model_sums: ModelSums, around: np.ndarray) -> Constraints:
    """Return the constraints on a model's counts; printed numbers are linearised at ``around``.

    ``around`` are values of the nine sums; the expansion is of first order.
    """
    model, answers, sums = model_sums
    levels, level_counts = level_sums(model)
    exact = np.vstack([levels, 500 * GRID["rho"]])
    misses, slopes = miss_printed(model_sums._replace(sums=around))
    # row 0, the linear AIC, depends only on sums that the equalities fix
    slopes = significant(slopes[1:, 1:], 5)
    misses = misses[1:].round(4)
    open_columns = OPEN_COLUMNS[1:]
    gradients = slopes @ X[:, open_columns].T
    printed = slopes @ around[open_columns] - misses
    windows = list(gradients)
    centre = list(printed)
    for window in prose_windows(model, answers):
        half_width = (window.highest - window.lowest) / 2
        middle = (window.highest + window.lowest) / 2
        windows.append(window.weights / half_width)
        centre.append(middle / half_width)
    return Constraints(
        exact=np.rint(exact).astype(int),
        sums=np.append(level_counts, round(500 * sums[3])),
        windows=np.array(windows),
        centre=np.array(centre),
        answers=answers,
    )


def level_sums(model: str) -> tuple[np.ndarray, np.ndarray]:
    """Return the incidence matrix of the levels of d and N, and their printed correct answers.

    The matrix, shape (8, 140), has one row per level; the last N is left out, as it follows.
    """
    levels = []
    counts = []
    for key, table in (("d", "table4"), ("N", "table5")):
        printed = correct_by(table)
        printed = printed[printed["model"] == model]
        for level, correct in printed[[key, "correct"]].to_numpy():
            is_level = GRID[key] == level
            levels.append(is_level)
            counts.append(correct)
    matrix = np.array(levels[:-1], dtype=float)
    return matrix, np.array(counts[:-1])


def expected_accuracy(
    model_sums: ModelSums,
    departure: np.ndarray | float = 0.0,
) -> np.ndarray:
    """Return the maximum-entropy accuracies, shape (140,), whose expected sums are a model's.

    They are the fit of a logistic regression on the columns whose sums are constrained.
    ``departure`` is an offset (log-odds per cell); its part in the span of these columns has no
    effect.
    """
    model, answers, sums = model_sums
    levels, level_counts = level_sums(model)
    covariates = list(levels)
    covariate_sums = list(level_counts)
    for window in prose_windows(model, answers):
        if window.expected is not None:
            covariates.append(window.weights)
            covariate_sums.append(window.expected)
    x = np.column_stack([*covariates, X[:, 3:]])
    covariate_sums.extend(sums[3:])
    beta, _ = maximise(x, answers, np.array(covariate_sums), departure)
    log_odds = x @ beta + departure
    return expit(log_odds.round(9))


def surprise(
    answers: np.ndarray,
    accuracy: np.ndarray,
    correct: np.ndarray,
) -> float:
    """Return by how many standard deviations a table's log-likelihood is below its expectation.

    The counts are binomial with the given accuracies, independent between cells.
    """
    counts = np.arange(int(answers.max()) + 1)
    logs = binom.logpmf(counts, answers[:, None], accuracy[:, None])
    chances = np.exp(logs)
    logs = np.where(np.isfinite(logs), logs, 0.0)
    mean = (chances * logs).sum(axis=1)
    mean_square = (chances * logs**2).sum(axis=1)
    variance = mean_square - mean**2
    cells = np.arange(len(logs))
    loglik = logs[cells, correct].sum()
    shortfall = mean.sum() - loglik
    return float(shortfall / np.sqrt(variance.sum()))
