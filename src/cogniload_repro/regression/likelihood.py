"""Maximum likelihood for many tables of counts at once: one maximiser for all fits.

It takes Newton steps with the observed information and halves those that do not raise the
log-likelihood. The log-likelihood of a logistic regression depends on the answers only through the
sums of its covariates over the correct answers, the sufficient statistics; it can be maximised for
given sums even if the table of counts behind them is unknown.
"""

from collections.abc import Callable

import numpy as np
from scipy.special import expit

from cogniload_repro.regression.families import FAMILIES

_MOST_STEPS = 100
_HALVINGS = 20
#: A Newton step is the last if U'I^-1 U (score U, observed information I), twice the gain that it
#: predicts, is below this fraction of 1 + |log-likelihood|: each step doubles the correct digits.
_LAST_GAIN = 1e-12

#: Returns log-likelihoods, shape (tables,), of some tables at coefficients of shape (tables, q).
_Loglik = Callable[[np.ndarray, np.ndarray], np.ndarray]
#: Returns their gradients (scores), shape (tables, q), and observed information, (tables, q, q).
_Derivatives = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


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

    def find_loglik(tables: np.ndarray, b: np.ndarray) -> np.ndarray:
        # the sums are compared with those of the likelier outcome in each cell, since
        # the difference of the large terms t'b and n log(1 + exp(eta)) loses digits
        log_odds = b @ x.T + offset
        likelier = np.where(log_odds > 0, answers[tables], 0)
        excess = rotated_sums[tables] - likelier @ x
        losses = answers[tables] * np.log1p(np.exp(-np.abs(log_odds)))
        return (excess * b).sum(axis=1) - (losses + likelier * offset).sum(axis=1)

    def derive(tables: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        accuracy = expit(b @ x.T + offset)
        expected = answers[tables] * accuracy
        gradient = rotated_sums[tables] - expected @ x
        return gradient, _sum_squares(x, expected * (1 - accuracy))

    rotated_start = np.broadcast_to(start, sums.shape) @ triangle.T
    rotated_start = np.where(np.isfinite(rotated_sums), rotated_start, np.nan)
    rotated, logliks = _climb(find_loglik, derive, rotated_start)
    return np.linalg.solve(triangle, rotated.T).T, logliks


def maximise_counts(
    covariates: np.ndarray,
    correct: np.ndarray,
    answers: np.ndarray,
    family: str,
) -> np.ndarray:
    """Fit a binomial regression with any link to many tables of counts.

    Parameters
    ----------
    covariates : array of shape (cells, q)
        The design matrix, the same for all tables.
    correct, answers : arrays of shape (tables, cells)
        Correct answers and answers in each cell.
    family : str
        A key of `families.FAMILIES`.

    Returns
    -------
    array of shape (tables, q)
        Coefficients; NaN if the maximum is not reached in `_MOST_STEPS` steps. The covariates must
        be linearly independent and the counts not separated (see `existence`).
    """
    x, triangle = np.linalg.qr(covariates)
    wrong = answers - correct
    link = FAMILIES[family]

    def find_loglik(tables: np.ndarray, b: np.ndarray) -> np.ndarray:
        eta = b @ x.T
        of_correct = correct[tables] * link.log_accuracy(eta)
        of_wrong = wrong[tables] * link.log_error(eta)
        return (of_correct + of_wrong).sum(axis=1)

    def derive(tables: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        eta = b @ x.T
        log_slope = link.log_slope(eta)
        bend = link.bend(eta)
        # derivatives of log p and of log(1 - p)
        rise = np.exp(log_slope - link.log_accuracy(eta))
        fall = -np.exp(log_slope - link.log_error(eta))
        gains = correct[tables] * rise
        losses = wrong[tables] * fall
        weights = gains * (rise - bend) + losses * (fall - bend)
        return (gains + losses) @ x, _sum_squares(x, weights)

    start = np.zeros((len(correct), x.shape[1]))
    rotated, _ = _climb(find_loglik, derive, start)
    return np.linalg.solve(triangle, rotated.T).T


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
def _climb(
    find_loglik: _Loglik,
    derive: _Derivatives,
    start: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Maximise concave log-likelihoods by Newton steps with step halving.

    Returns the coefficients and log-likelihood of each table, NaN if the steps do not converge.
    """
    coefficients = start.copy()
    is_found = np.zeros(len(start), dtype=bool)
    tables = np.flatnonzero(np.isfinite(start).all(axis=1))
    loglik = find_loglik(tables, start[tables])
    for _ in range(_MOST_STEPS):
        b = coefficients[tables]
        gradient, information = derive(tables, b)
        steps = _solve_each(information, gradient)
        gains = (gradient * steps).sum(axis=1)
        least_gain = _LAST_GAIN * (1 + np.abs(loglik))
        goes_on = gains >= least_gain  # the gain is NaN if the information is singular
        steps[goes_on], loglik = _shorten_steps(
            find_loglik, tables[goes_on], b[goes_on], steps[goes_on], loglik[goes_on]
        )
        coefficients[tables] = b + steps
        is_found[tables[gains < least_gain]] = True
        tables = tables[goes_on]
        if not len(tables):
            break
    coefficients[~is_found] = np.nan
    return coefficients, find_loglik(np.arange(len(start)), coefficients)


def _solve_each(information: np.ndarray, gradient: np.ndarray) -> np.ndarray:
    """Return the Newton step I^-1 U of each table, NaN if its information I is singular."""
    sign, _ = np.linalg.slogdet(information)
    information = np.where(sign[:, None, None] > 0, information, np.nan)
    return np.linalg.solve(information, gradient[:, :, None])[:, :, 0]


def _shorten_steps(
    find_loglik: _Loglik,
    tables: np.ndarray,
    b: np.ndarray,
    steps: np.ndarray,
    loglik: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Halve each step until it raises the log-likelihood; return steps and log-likelihoods.

    Both are NaN if the step raises it after none of `_HALVINGS` halvings.
    """
    steps = steps.copy()
    for _ in range(_HALVINGS):
        raised = find_loglik(tables, b + steps)
        is_lower = ~(raised > loglik)
        if not is_lower.any():
            return steps, raised
        steps[is_lower] /= 2
    steps[is_lower] = np.nan
    return steps, find_loglik(tables, b + steps)


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
