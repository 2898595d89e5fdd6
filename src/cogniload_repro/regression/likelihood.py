"""Maximum likelihood for many tables of counts at once: one maximiser for all fits.

It takes Newton steps with the observed information and halves those that do not raise the
log-likelihood. The log-likelihood of a logistic regression depends on the answers only through the
sums of its covariates over the correct answers, the sufficient statistics; it can be maximised for
given sums even if the table of counts behind them is unknown.
"""

from typing import NamedTuple

import numpy as np
from scipy.special import expit

from cogniload_repro.regression.families import FAMILIES, Link

_MOST_STEPS = 100
_HALVINGS = 20
#: A Newton step is the last if U'I^-1 U (score U, observed information I), twice the gain that it
#: predicts, is below this fraction of 1 + |log-likelihood|: each step doubles the correct digits.
_LAST_GAIN = 1e-12
_MOST_SUMS = 60
#: A sum is found if the last step is below this. The next would be below the rounding error.
_LAST_STEP = 1e-7


class _Tables(NamedTuple):
    """Counts of many tables, shape (tables, cells), with the same covariates x (cells, q)."""

    x: np.ndarray
    correct: np.ndarray
    wrong: np.ndarray
    link: Link
    offset: np.ndarray | float

    def take(self, places: np.ndarray) -> "_Tables":
        """Return some of the tables."""
        return self._replace(correct=self.correct[places], wrong=self.wrong[places])

    def find_loglik(self, b: np.ndarray) -> np.ndarray:
        """Return the log-likelihood of each table at its coefficients."""
        eta = b @ self.x.T + self.offset
        of_correct = self.correct * self.link.log_accuracy(eta)
        of_wrong = self.wrong * self.link.log_error(eta)
        return (of_correct + of_wrong).sum(axis=1)

    def find_step(self, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the Newton step I^-1 U of each table, NaN if I is singular, and U'I^-1 U."""
        eta = b @ self.x.T + self.offset
        log_slope = self.link.log_slope(eta)
        bend = self.link.bend(eta)
        # by eta: (log p)' = p' / p = rise, (log(1 - p))' = -p' / (1 - p) = fall
        rise = np.exp(log_slope - self.link.log_accuracy(eta))
        fall = -np.exp(log_slope - self.link.log_error(eta))
        gains = self.correct * rise
        losses = self.wrong * fall
        gradient = (gains + losses) @ self.x
        # observed information: -(log p)'' = rise (rise - bend), and likewise for fall
        weights = gains * (rise - bend) + losses * (fall - bend)
        information = sum_squares(self.x, weights)
        sign, _ = np.linalg.slogdet(information)
        information = np.where(sign[:, None, None] > 0, information, np.nan)
        step = np.linalg.solve(information, gradient[:, :, None])[:, :, 0]
        return step, (gradient * step).sum(axis=1)


def maximise_counts(
    covariates: np.ndarray,
    correct: np.ndarray,
    answers: np.ndarray,
    family: str = "logit",
    start: np.ndarray | float = 0.0,
    offset: np.ndarray | float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Fit a binomial regression with any link to many tables of counts.

    Parameters
    ----------
    covariates : array of shape (cells, q)
        The design matrix, the same for all tables.
    correct, answers : arrays of shape (tables, cells)
        Correct answers and answers in each cell.
    family : str
        A key of `families.FAMILIES`.
    start : array or float
        Coefficients to start from.
    offset : array or float
        Known part of the linear predictor of each cell.

    Returns
    -------
    coefficients : array of shape (tables, q)
    logliks : array of shape (tables,)
        Bernoulli log-likelihoods. Both are NaN if the covariates are linearly dependent, or if the
        maximum is not reached in `_MOST_STEPS` steps, as in separated tables (see `existence`).
    """
    shape = (len(correct), covariates.shape[1])
    if np.linalg.matrix_rank(covariates) < shape[1]:
        return np.full(shape, np.nan), np.full(len(correct), np.nan)
    # orthogonal covariates avoid the loss of digits that the collinearity of d, d log10 N,
    # d rho log10 N and so on would cause
    x, triangle = np.linalg.qr(covariates)
    tables = _Tables(x, correct, answers - correct, FAMILIES[family], offset)
    rotated = _climb(tables, np.broadcast_to(start, shape) @ triangle.T)
    return np.linalg.solve(triangle, rotated.T).T, tables.find_loglik(rotated)


def maximise_all(
    covariates: np.ndarray,
    answers: np.ndarray,
    sums: np.ndarray,
    start: np.ndarray | float = 0.0,
    offset: np.ndarray | float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Fit a logistic regression to many tables of counts, given only their sufficient statistics.

    ``sums``, shape (tables, q), are those of the covariates over the correct answers; all else is
    as for `maximise_counts`. Both results are NaN if the sums are outside the convex hull of
    possible sums. On its boundary, where no maximum exists, they are NaN, or the supremum to about
    12 digits with large coefficients. With an offset the log-likelihood has no meaning.
    """
    # any numbers with these sums have the same fit, whether or not they are counts
    correct = sums @ np.linalg.pinv(covariates)
    return maximise_counts(covariates, correct, answers, start=start, offset=offset)


def sum_squares(x: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """Return x'Wx, shape (tables, q, q), for weights of the cells, shape (tables, cells)."""
    return (x.T * weights[:, None, :]) @ x


# a step that overflows does not raise the log-likelihood, and is halved
@np.errstate(over="ignore", invalid="ignore")
def _climb(tables: _Tables, start: np.ndarray) -> np.ndarray:
    """Return the coefficients at the maximum by Newton steps with step halving, NaN if not found.

    The log-likelihoods are concave.
    """
    coefficients = np.full(start.shape, np.nan)
    is_known = np.isfinite(start).all(axis=1)
    is_known &= np.isfinite(tables.correct).all(axis=1)
    places = np.flatnonzero(is_known)
    b = start[places]
    for _ in range(_MOST_STEPS):
        climbing = tables.take(places)
        loglik = climbing.find_loglik(b)
        steps, gains = climbing.find_step(b)
        least_gain = _LAST_GAIN * (1 + np.abs(loglik))
        is_last = gains < least_gain
        coefficients[places[is_last]] = (b + steps)[is_last]
        goes_on = gains >= least_gain  # the gain is NaN if the information is singular
        places = places[goes_on]
        if not len(places):
            break
        climbing = tables.take(places)
        b = _raise_each(climbing, b[goes_on], steps[goes_on], loglik[goes_on])
    return coefficients


def _raise_each(
    tables: _Tables,
    b: np.ndarray,
    steps: np.ndarray,
    loglik: np.ndarray,
) -> np.ndarray:
    """Return the coefficients after steps, halved until each raises the log-likelihood.

    They are NaN if a step raises it after none of `_HALVINGS` halvings.
    """
    for _ in range(_HALVINGS):
        is_lower = ~(tables.find_loglik(b + steps) > loglik)[:, None]
        if not is_lower.any():
            break
        steps = np.where(is_lower, steps / 2, steps)
    return np.where(is_lower, np.nan, b + steps)


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


@np.errstate(invalid="ignore")
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
    coefficients, logliks = maximise_all(others, answers, sums)
    accuracy = expit(coefficients @ others.T)
    # the sum at which the last coefficient is zero, and there the AIC is highest
    flattest = (answers * accuracy) @ covariates[:, -1]
    height = 2 * covariates.shape[1] - 2 * logliks - aic
    information = sum_squares(covariates, answers * accuracy * (1 - accuracy))
    variance = np.linalg.inv(information)[:, -1, -1]
    # distance of the solutions from that sum, by a quadratic approximation of the AIC
    reach = np.sqrt(height / variance)
    below = _solve_from(covariates, answers, sums, aic, flattest - reach)
    above = _solve_from(covariates, answers, sums, aic, flattest + reach)
    return below, above


def _solve_from(
    covariates: np.ndarray,
    answers: np.ndarray,
    sums: np.ndarray,
    aic: np.ndarray,
    last: np.ndarray,
) -> np.ndarray:
    """Solve for the last sum at which the AIC has a given value, by Newton's method.

    The derivative of the AIC by that sum is -2 times the last coefficient.
    """
    coefficients: np.ndarray | float = 0.0
    for _ in range(_MOST_SUMS):
        known = np.column_stack([sums, last])
        coefficients, logliks = maximise_all(
            covariates, answers, known, start=coefficients
        )
        height = 2 * covariates.shape[1] - 2 * logliks - aic
        step = height / (2 * coefficients[:, -1])
        last = last + step
        if not (np.abs(step) >= _LAST_STEP).any():
            break
    return np.where(np.abs(step) < _LAST_STEP, last, np.nan)
