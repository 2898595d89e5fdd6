"""Maximum likelihood for many tables of counts at once, for the paper's regression from sums alone.

The log-likelihood of a logistic regression depends on the answers only through the sums of its
covariates over the correct answers. Newton's method finds its maximum for any such sums, also where
nobody has seen the table that they are of.
"""

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from scipy.special import expit

from cogniload_repro.regression.families import FAMILIES

_MOST_STEPS = 100
#: Fisher's steps gain a digit or so each; Newton's double the digits.
_LAST_STEPS = 10
#: The squared distance from a maximum, in standard errors, at which it counts as found.
_AT_MAXIMUM = 1e-12
#: A step is halved until it is shorter than this part of Newton's step.
_SHORTEST = 1e-6


class _Fits(NamedTuple):
    """Fits on their way to the maximum, with the log-likelihood and its derivatives."""

    tables: np.ndarray  # places of their tables among all
    coefficients: np.ndarray
    loglik: np.ndarray
    gradient: np.ndarray
    information: np.ndarray

    def select(self, chosen: np.ndarray) -> "_Fits":
        """Return some of the fits."""
        if chosen.all():
            return self
        return _Fits(*(part[chosen] for part in self))

    def replace(self, places: np.ndarray, fits: "_Fits") -> None:
        """Put other fits in some places."""
        for part, other in zip(self, fits, strict=True):
            part[places] = other


#: Returns the fits of some tables with given coefficients.
_Evaluate = Callable[[np.ndarray, np.ndarray], _Fits]


def maximise_all(
    covariates: np.ndarray,
    answers: np.ndarray,
    sums: np.ndarray,
    start: np.ndarray | float = 0.0,
    offset: np.ndarray | float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Fit a logistic regression to many tables of counts, of which only sums are known.

    For each table the log-likelihood t'b - sum n log(1 + exp(x'b + offset)) is maximised over b.

    Parameters
    ----------
    covariates : array of shape (cells, q)
        The design matrix x, the same for all tables.
    answers : array of shape (tables, cells)
        The number n of answers in each cell.
    sums : array of shape (tables, q)
        The sums t of the covariates over the correct answers.
    start : array or float
        Coefficients near the maximum, if known.
    offset : array or float
        A given part of the log-odds of each cell.

    Returns
    -------
    coefficients : array of shape (tables, q)
    logliks : array of shape (tables,)
        Bernoulli log-likelihoods, less the sum of the offset over the correct answers. Both are NaN
        where there is no maximum: the sums lie on or outside the edge of what the answers allow, or
        a covariate is a combination of the others.
    """
    # Newton's steps with orthogonal covariates keep the digits that d, d log10 N, d rho log10 N and
    # so on lose to one another
    orthogonal, triangle = np.linalg.qr(covariates)
    if _are_dependent(triangle):
        unknown = np.full(sums.shape, np.nan)
        return unknown, unknown[:, 0]
    rotated_sums = np.linalg.solve(triangle.T, sums.T).T
    is_known = np.isfinite(rotated_sums)
    size = orthogonal.shape[1]
    products = _multiply_columns(orthogonal)

    def evaluate(tables: np.ndarray, coefficients: np.ndarray) -> _Fits:
        n = answers[tables]
        t = rotated_sums[tables]
        log_odds = coefficients @ orthogonal.T + offset
        accuracy = expit(log_odds)
        normalisation = (n * np.logaddexp(0, log_odds)).sum(axis=1)
        weights = n * accuracy * (1 - accuracy)
        return _Fits(
            tables=tables,
            coefficients=coefficients,
            loglik=(coefficients * t).sum(axis=1) - normalisation,
            gradient=t - (n * accuracy) @ orthogonal,
            information=(weights @ products).reshape(-1, size, size),
        )

    rotated_start = np.broadcast_to(start, sums.shape) @ triangle.T
    rotated_start = np.where(is_known, rotated_start, np.nan)
    coefficients, logliks = _climb(evaluate, rotated_start)
    return np.linalg.solve(triangle, coefficients.T).T, logliks


def maximise_counts(
    covariates: np.ndarray, correct: np.ndarray, answers: np.ndarray, family: str
) -> np.ndarray:
    """Fit a binomial regression with any link to many tables of counts, by Fisher's scoring.

    Parameters
    ----------
    covariates : array of shape (cells, q)
        The design matrix, the same for all tables.
    correct, answers : arrays of shape (tables, cells)
        Correct answers in each cell, and all of them.
    family : str
        A key of `families.FAMILIES`.

    Returns
    -------
    array of shape (tables, q)
        Coefficients; NaN where a maximum is not there, or is not found in `_MOST_STEPS` steps.
    """
    orthogonal, triangle = np.linalg.qr(covariates)
    size = orthogonal.shape[1]
    products = _multiply_columns(orthogonal)
    _, log_accuracy, log_error, log_slope = FAMILIES[family]

    def evaluate(tables: np.ndarray, coefficients: np.ndarray) -> _Fits:
        predictor = coefficients @ orthogonal.T
        right = correct[tables]
        wrong = answers[tables] - right
        of_right = log_accuracy(predictor)
        of_wrong = log_error(predictor)
        slope = log_slope(predictor)
        residual = right * np.exp(slope - of_right) - wrong * np.exp(slope - of_wrong)
        weights = answers[tables] * np.exp(2 * slope - of_right - of_wrong)
        return _Fits(
            tables=tables,
            coefficients=coefficients,
            loglik=(right * of_right + wrong * of_wrong).sum(axis=1),
            gradient=residual @ orthogonal,
            information=(weights @ products).reshape(-1, size, size),
        )

    start = np.zeros((len(correct), size))
    climbed, _ = _climb(evaluate, start)
    coefficients = _finish(evaluate, climbed)
    return np.linalg.solve(triangle, coefficients.T).T


def _finish(evaluate: _Evaluate, climbed: np.ndarray) -> np.ndarray:
    """Take the last steps, whose gains rounding hides; NaN where they do not reach the maximum."""
    tables = np.flatnonzero(np.isfinite(climbed).all(axis=1))
    fits, steps = _aim(evaluate(tables, climbed[tables]))
    for _ in range(_LAST_STEPS):
        fits, steps = _aim(evaluate(fits.tables, fits.coefficients + steps))
    squared_distance = (fits.gradient * steps).sum(axis=1)  # in standard errors
    fits = fits.select(squared_distance < _AT_MAXIMUM)
    coefficients = np.full(climbed.shape, np.nan)
    coefficients[fits.tables] = fits.coefficients
    return coefficients


def _multiply_columns(matrix: np.ndarray) -> np.ndarray:
    """Return the products of all pairs of columns, of which an information matrix is the sum."""
    products = matrix[:, :, None] * matrix[:, None, :]
    return products.reshape(len(matrix), -1)


def _are_dependent(triangle: np.ndarray) -> bool:
    """Return whether a covariate is a combination of others, by the triangle of its QR."""
    rows, columns = triangle.shape
    if rows < columns:
        return True
    lengths = np.linalg.norm(triangle, axis=0)
    heights = np.abs(np.diag(triangle))  # above the plane of the columns before
    return bool((heights <= 1e-12 * lengths).any())


def _climb(
    evaluate: _Evaluate,
    start: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Maximise concave log-likelihoods by damped Newton steps.

    Returns the coefficients and log-likelihood of each table; NaN where there is no maximum.
    """
    coefficients = np.full(start.shape, np.nan)
    logliks = np.full(len(start), np.nan)

    def keep(highest: _Fits) -> None:
        coefficients[highest.tables] = highest.coefficients
        logliks[highest.tables] = highest.loglik

    is_known = np.isfinite(start).all(axis=1)
    tables = np.flatnonzero(is_known)
    fits = evaluate(tables, start[tables])
    for _ in range(_MOST_STEPS):
        fits, steps = _aim(fits)
        gains = (fits.gradient * steps).sum(axis=1)
        is_last = gains < 1e-14 * np.abs(fits.loglik)
        if is_last.any():
            ends = fits.coefficients[is_last] + steps[is_last]
            keep(evaluate(fits.tables[is_last], ends))
            fits = fits.select(~is_last)
        if not len(fits.tables):
            break
        higher, is_stuck = _move(evaluate, fits, steps[~is_last])
        # rounding hides any further gain
        if is_stuck.any():
            keep(fits.select(is_stuck & (gains[~is_last] < 1e-9)))
        fits = higher.select(~is_stuck)
    return coefficients, logliks


def _aim(fits: _Fits) -> tuple[_Fits, np.ndarray]:
    """Return Newton's step for each fit; a fit whose information is singular is left out."""
    with np.errstate(invalid="ignore"):  # where all accuracies have run to 0 or 1
        curves = np.linalg.slogdet(fits.information)[0] > 0
    fits = fits.select(curves)
    columns = np.linalg.solve(fits.information, fits.gradient[:, :, None])
    return fits, columns[:, :, 0]


def _move(
    evaluate: _Evaluate,
    fits: _Fits,
    steps: np.ndarray,
) -> tuple[_Fits, np.ndarray]:
    """Take each step as far as it raises the likelihood, and return which ones do not raise it."""
    lengths = np.ones(len(steps))
    moved = evaluate(fits.tables, fits.coefficients + steps)
    while True:
        is_lower = ~(moved.loglik > fits.loglik)
        places = np.flatnonzero(is_lower & (lengths > _SHORTEST))
        if not len(places):
            return moved, lengths <= _SHORTEST
        lengths[places] /= 2
        shorter = lengths[places, None] * steps[places]
        ends = fits.coefficients[places] + shorter
        moved.replace(places, evaluate(fits.tables[places], ends))


def maximise(
    covariates: np.ndarray,
    answers: np.ndarray,
    sums: np.ndarray,
    offset: np.ndarray | float = 0.0,
) -> tuple[np.ndarray, float]:
    """Fit one logistic regression as `maximise_all` does; ValueError if there is no finite fit."""
    many = maximise_all(covariates, answers[None], sums[None], offset=offset)
    coefficients, loglik = (part[0] for part in many)
    if np.isnan(loglik):
        raise ValueError(
            "the statistics admit no finite maximum-likelihood fit; check the published tables"
        )
    return coefficients, float(loglik)


def solve_aic(
    covariates: np.ndarray,
    answers: np.ndarray,
    sums: np.ndarray,
    aic: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the two sums of the last covariate with which the fits have given AICs.

    The AIC is a concave function of that sum and highest where its coefficient is zero. One
    solution lies below, with a negative coefficient, and one above.

    Parameters
    ----------
    covariates, answers : arrays
        As for `maximise_all`.
    sums : array of shape (tables, q - 1)
        The known sums, of all covariates but the last.
    aic : array of shape (tables,)
        The AIC of each table's fit with all covariates.

    Returns
    -------
    below, above : arrays of shape (tables,)
        NaN where no sum leads to that AIC.
    """
    others = covariates[:, :-1]
    last = covariates[:, -1]
    coefficients, logliks = maximise_all(others, answers, sums)
    highest_aic = 2 * covariates.shape[1] - 2 * logliks
    accuracy = expit(coefficients @ others.T)
    # the sum with which the last coefficient is zero
    flattest = (answers * accuracy) @ last
    weights = answers * accuracy * (1 - accuracy)
    information = np.einsum(
        "ca,mc,cb->mab", covariates, weights, covariates, optimize=True
    )
    height = highest_aic - aic
    exists = height >= 0
    covariance = np.linalg.inv(information[exists])
    variance = covariance[:, -1, -1]
    # the distance of the solutions if the AIC were a parabola
    reach = np.full(len(sums), np.nan)
    reach[exists] = np.sqrt(height[exists] / variance)
    below = _solve_from(covariates, answers, sums, aic, flattest - reach)
    above = _solve_from(covariates, answers, sums, aic, flattest + reach)
    return below, above


def _solve_from(
    covariates: np.ndarray,
    answers: np.ndarray,
    sums: np.ndarray,
    aic: np.ndarray,
    start: np.ndarray,
) -> np.ndarray:
    """Follow the tangents of the AIC to the last sum with which it has a given value.

    The slope of the AIC in that sum is -2 times the last coefficient.
    """
    last = start.copy()
    solutions = np.full(len(start), np.nan)
    tables = np.flatnonzero(np.isfinite(start))
    coefficients = np.zeros((len(tables), covariates.shape[1]))
    for _ in range(60):
        if not len(tables):
            break
        all_sums = np.column_stack([sums[tables], last[tables]])
        coefficients, logliks = maximise_all(
            covariates, answers[tables], all_sums, start=coefficients
        )
        height = 2 * covariates.shape[1] - 2 * logliks
        distance = height - aic[tables]
        step = distance / (2 * coefficients[:, -1])
        last[tables] += step
        # steps shrink quadratically: the next would be lost in rounding
        is_done = np.abs(step) < 1e-7
        solutions[tables[is_done]] = last[tables[is_done]]
        goes_on = ~is_done & np.isfinite(step)
        tables = tables[goes_on]
        coefficients = coefficients[goes_on]
    return solutions
