"""Maximum likelihood for many tables of counts at once: one maximiser for all fits.

It takes Newton steps with the observed information and halves those that do not raise the
log-likelihood. The log-likelihood of a logistic regression depends on the answers only through the
sums of its covariates over the correct answers, the sufficient statistics; it can be maximised for
given sums even if the table of counts behind them is unknown.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

_MOST_STEPS = 100
_HALVINGS = 20
#: A Newton step is the last if U'I^-1 U (score U, observed information I), twice the gain that it
#: predicts, is below this fraction of 1 + |log-likelihood|: each step doubles the correct digits.
_LAST_GAIN = 1e-12
#: Further steps after that one, for log-likelihoods so large that they hide the gains.
_MORE_STEPS = 2


class _Sums(NamedTuple):
    """Tables of counts: covariates x of the cells, answers, and sums of x over correct answers."""

    x: np.ndarray
    answers: np.ndarray
    sums: np.ndarray
    offset: np.ndarray | float

    def take(self, tables: np.ndarray) -> "_Sums":
        """Return some of the tables."""
        return self._replace(answers=self.answers[tables], sums=self.sums[tables])

    def find_loglik(self, b: np.ndarray) -> np.ndarray:
        """Return the log-likelihood of each table at its coefficients b.

        The sums are compared with those of the likelier outcome in each cell, since the difference
        of the large terms t'b and n log(1 + exp(eta)) loses digits.
        """
        log_odds = b @ self.x.T + self.offset
        likelier = np.where(log_odds > 0, self.answers, 0)
        excess = self.sums - likelier @ self.x
        losses = self.answers * np.log1p(np.exp(-np.abs(log_odds)))
        return (excess * b).sum(axis=1) - (losses + likelier * self.offset).sum(axis=1)

    def find_step(self, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the Newton step of each table, and twice the gain that it predicts.

        Both are NaN if the information is singular.
        """
        accuracy = expit(b @ self.x.T + self.offset)
        expected = self.answers * accuracy
        gradient = self.sums - expected @ self.x
        information = _sum_squares(self.x, expected * (1 - accuracy))
        sign, _ = np.linalg.slogdet(information)
        information[sign <= 0] = np.nan
        steps = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        return steps, (gradient * steps).sum(axis=1)


def maximise_all(
    covariates: np.ndarray,
    answers: np.ndarray,
    sums: np.ndarray,
    start: np.ndarray | float = 0.0,
    offset: np.ndarray | float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Fit a logistic regression to many tables of counts, given only their sufficient statistics.

    For each table, t'b - sum n log(1 + exp(x'b + offset)) is maximised over b.

    Parameters
    ----------
    covariates : array of shape (cells, q)
        The design matrix x, the same for all tables.
    answers : array of shape (tables, cells)
        The number n of answers in each cell.
    sums : array of shape (tables, q)
        The sums t of the covariates over the correct answers.
    start : array or float
        Coefficients to start from.
    offset : array or float
        Known part of the log-odds of each cell.

    Returns
    -------
    coefficients : array of shape (tables, q)
    logliks : array of shape (tables,)
        Bernoulli log-likelihoods, less the sum of the offset over the correct answers. Both are NaN
        if the covariates are linearly dependent or the sums are outside the convex hull of possible
        sums. On its boundary, where no maximum exists, they are NaN, or the supremum to about
        12 digits with large coefficients.
    """
    # orthogonal covariates avoid the loss of digits that the collinearity of d, d log10 N,
    # d rho log10 N and so on would cause
    x, triangle = np.linalg.qr(covariates)
    if _are_dependent(triangle):
        unknown = np.full(sums.shape, np.nan)
        return unknown, unknown[:, 0]
    rotated_sums = np.linalg.solve(triangle.T, sums.T).T
    tables = _Sums(x, answers, rotated_sums, offset)
    rotated = _climb(tables, np.broadcast_to(start, sums.shape) @ triangle.T)
    return np.linalg.solve(triangle, rotated.T).T, tables.find_loglik(rotated)


def _sum_squares(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return x'Wx, shape (tables, q, q), for weights of the cells, shape (tables, cells)."""
    return (x.T * weights[:, None, :]) @ x


def _are_dependent(triangle: np.ndarray) -> bool:
    """Return whether covariates are linearly dependent, from the R of their QR decomposition."""
    rows, columns = triangle.shape
    if rows < columns:
        return True
    lengths = np.linalg.norm(triangle, axis=0)
    heights = np.abs(np.diag(triangle))  # distances from the span of preceding columns
    return bool((heights <= 1e-12 * lengths).any())


# a step that overflows does not raise the log-likelihood, and is halved
@np.errstate(over="ignore", invalid="ignore")
def _climb(tables: _Sums, start: np.ndarray) -> np.ndarray:
    """Return the coefficients at the maximum by Newton steps with halving, NaN if not reached."""
    coefficients = np.full(start.shape, np.nan)
    places = np.flatnonzero(np.isfinite(tables.sums).all(axis=1))
    b = start[places]
    loglik = tables.take(places).find_loglik(b)
    for _ in range(_MOST_STEPS):
        climbing = tables.take(places)
        steps, gains = climbing.find_step(b)
        is_last = gains < _LAST_GAIN * (1 + np.abs(loglik))
        coefficients[places[is_last]] = b[is_last] + steps[is_last]
        goes_on = gains >= _LAST_GAIN * (1 + np.abs(loglik))
        places = places[goes_on]
        if not len(places):
            break
        climbing = tables.take(places)
        b, loglik = _raise_each(climbing, b[goes_on], steps[goes_on], loglik[goes_on])
    for _ in range(_MORE_STEPS):
        steps, _ = tables.find_step(coefficients)
        coefficients += np.where(np.isfinite(steps), steps, 0)
    return coefficients


def _raise_each(
    tables: _Sums, b: np.ndarray, steps: np.ndarray, loglik: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Halve each step until it raises the log-likelihood; return coefficients and log-likelihoods.

    They are NaN if the step raises it after none of `_HALVINGS` halvings.
    """
    steps = steps.copy()
    for _ in range(_HALVINGS):
        raised = tables.find_loglik(b + steps)
        is_lower = ~(raised > loglik)
        if not is_lower.any():
            break
        steps[is_lower] /= 2
    steps[is_lower] = np.nan
    return b + steps, tables.find_loglik(b + steps)


def maximise(
    covariates: np.ndarray,
    answers: np.ndarray,
    sums: np.ndarray,
    offset: np.ndarray | float = 0.0,
) -> tuple[np.ndarray, float]:
    """Fit one logistic regression as `maximise_all` does; ValueError if its results are NaN."""
    many = maximise_all(covariates, answers[None], sums[None], offset=offset)
    coefficients, loglik = (part[0] for part in many)
    if np.isnan(loglik):
        raise ValueError(
            "these sums have no finite maximum-likelihood fit; check the published tables"
        )
    return coefficients, float(loglik)


def solve_aic(
    covariates: np.ndarray,
    answers: np.ndarray,
    sums: np.ndarray,
    aic: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the two sums of the last covariate at which the fits have given AICs.

    The maximised log-likelihood is convex in that sum, so the AIC is concave, and highest if the
    last coefficient is zero. One solution is below that point (negative coefficient), one above.

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
        The two sums; NaN if no sum gives that AIC.
    """
    others = covariates[:, :-1]
    last = covariates[:, -1]
    coefficients, logliks = maximise_all(others, answers, sums)
    highest_aic = 2 * covariates.shape[1] - 2 * logliks
    accuracy = expit(coefficients @ others.T)
    # the sum at which the last coefficient is zero
    flattest = (answers * accuracy) @ last
    weights = answers * accuracy * (1 - accuracy)
    information = _sum_squares(covariates, weights)
    height = highest_aic - aic
    exists = height >= 0
    covariance = np.linalg.inv(information[exists])
    variance = covariance[:, -1, -1]
    # distance of the solutions from that sum, by a quadratic approximation of the AIC
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
    """Solve for the last sum at which the AIC has a given value, by Newton's method.

    The derivative of the AIC by that sum is -2 times the last coefficient.
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
        # convergence is quadratic: the next step would be below the rounding error
        is_done = np.abs(step) < 1e-7
        solutions[tables[is_done]] = last[tables[is_done]]
        goes_on = ~is_done & np.isfinite(step)
        tables = tables[goes_on]
        coefficients = coefficients[goes_on]
    return solutions
