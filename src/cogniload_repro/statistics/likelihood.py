"""Logistic fits from sufficient statistics alone: what a set of sums says, without the answers behind it."""

import numpy as np
from scipy.special import expit


def maximise(
    x: np.ndarray, n: np.ndarray, t: np.ndarray, offset: np.ndarray | float = 0.0, start: np.ndarray | None = None
) -> tuple[np.ndarray, float]:
    """Maximise the concave dual b't - sum n log(1 + exp(x'b + offset)) by damped Newton steps.

    Parameters
    ----------
    x : ndarray, shape (140, q)
        Covariates of the cells.
    n : ndarray, shape (140,)
        Puzzles per cell.
    t : ndarray, shape (q,)
        x'y.
    offset : ndarray, shape (140,)
        Part of the log-odds that is given.
    start : ndarray, shape (q,)
        Coefficients near the maximum, where some are known; zeros by default.

    Returns
    -------
    coefficients : ndarray, shape (q,)
    loglik : float
        The Bernoulli log-likelihood at the maximum; with an offset, less the sum of the offset over the answers.

    Raises
    ------
    ValueError
        If no maximum is found: the statistics lie on or outside the edge of what n allows.
    """
    # orthogonal covariates: Newton's steps keep the digits that d, d log10 N, d rho log10 N, ... lose to one another
    x, triangle = np.linalg.qr(x)
    t = np.linalg.solve(triangle.T, t)
    b = np.zeros(x.shape[1]) if start is None else triangle @ start

    def value(b):
        return b @ t - n @ np.logaddexp(0, x @ b + offset)

    current = value(b)
    for _ in range(100):
        p = expit(x @ b + offset)
        gradient = t - x.T @ (n * p)
        try:
            step = np.linalg.solve(x.T @ (x * (n * p * (1 - p))[:, None]), gradient)
        except np.linalg.LinAlgError:  # all accuracies have run to 0 or 1
            break
        decrement, length = gradient @ step, 1.0
        if decrement < 1e-14 * abs(current):
            return np.linalg.solve(triangle, b + step), float(value(b + step))
        while not (new := value(b + length * step)) > current and length > 1e-6:
            length /= 2
        if length <= 1e-6:
            if decrement < 1e-9:  # rounding hides any further gain
                return np.linalg.solve(triangle, b), float(current)
            break
        b, current = b + length * step, new
    raise ValueError("the statistics admit no finite maximum-likelihood fit; check the published tables")


def solve_aic(x: np.ndarray, n: np.ndarray, t: np.ndarray, aic: float) -> tuple[float, float]:
    """Return the two values of the last statistic with which a fit has a given AIC.

    The AIC is concave in that statistic, highest where its coefficient is zero: one root on either side.

    Parameters
    ----------
    x : ndarray, shape (140, q)
        Covariates of the cells; the last column's statistic is the unknown.
    n : ndarray, shape (140,)
        Puzzles per cell.
    t : ndarray, shape (q - 1,)
        The known statistics.
    aic : float
        At most the AIC of the fit without the last column, plus 2.

    Returns
    -------
    below, above : float
        With a negative and with a positive coefficient.

    Raises
    ------
    ValueError
        If no value leads to that AIC.
    """
    without, loglik = maximise(x[:, :-1], n, t)
    highest = 2 * x.shape[1] - 2 * loglik
    if aic > highest:
        raise ValueError(f"no statistic leads to an AIC of {aic}, the highest is {highest:.3f}; check Table 6")
    p = expit(x[:, :-1] @ without)
    flat = (n * p) @ x[:, -1]
    variance = 1 / np.linalg.inv(x.T @ (x * (n * p * (1 - p))[:, None]))[-1, -1]
    reach = np.sqrt((highest - aic) * variance)  # where the root is if the AIC is a parabola
    return _descend(x, n, t, aic, flat - reach), _descend(x, n, t, aic, flat + reach)


def _descend(x: np.ndarray, n: np.ndarray, t: np.ndarray, aic: float, start: float) -> float:
    """Follow the tangents of the AIC, whose slope is -2 times the last coefficient, to where it has a value.

    Tangents of a concave curve end beyond the root, and from there come ever nearer to it.
    """
    last, b = start, None
    for _ in range(60):
        b, loglik = maximise(x, n, np.append(t, last), start=b)
        step = (2 * x.shape[1] - 2 * loglik - aic) / (2 * b[-1])
        last += step
        if abs(step) < 1e-7:  # steps shrink quadratically: the next would be lost in rounding
            return float(last)
    raise ValueError(f"no statistic found that leads to an AIC of {aic}; check Table 6")


def maximise_multinomial(x: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Fit a multinomial logit to counts of outcomes by Newton's method.

    Parameters
    ----------
    x : ndarray, shape (c, q)
        Covariates of the cells.
    counts : ndarray, shape (c, j)
        Answers of each outcome; the first outcome is the one that the others are held against.

    Returns
    -------
    coefficients : ndarray, shape (j - 1, q)
        Log-odds of each other outcome against the first.
    covariance : ndarray, shape ((j - 1) q, (j - 1) q)
    loglik : float
        Of single answers.

    Raises
    ------
    ValueError
        If there is no finite maximum, as where an outcome occurs at one end of a covariate only.
    """
    outcomes, terms = counts.shape[1] - 1, x.shape[1]
    n, beta, last, current = counts.sum(axis=1), np.zeros((outcomes, terms)), np.zeros((outcomes, terms)), -np.inf
    for _ in range(50):
        eta = np.hstack([np.zeros((len(x), 1)), x @ beta.T])
        log_p = eta - np.logaddexp.reduce(eta, axis=1, keepdims=True)
        loglik, p = float((counts * log_p).sum()), np.exp(log_p[:, 1:])
        gradient = (counts[:, 1:] - n[:, None] * p).T @ x
        weight = n[:, None, None] * (p[:, :, None] * np.eye(outcomes) - p[:, :, None] * p[:, None, :])
        hessian = np.einsum("cjk,ca,cb->jakb", weight, x, x).reshape((outcomes * terms,) * 2)
        try:
            step = np.linalg.solve(hessian, gradient.ravel())
        except np.linalg.LinAlgError:
            break
        decrement = gradient.ravel() @ step
        if decrement < 1e-18 * (1 + abs(loglik)):
            if np.abs(x @ step.reshape(beta.shape).T).max() > 1e-3:  # still on its way to infinity, ever more slowly
                break
            return beta + step.reshape(beta.shape), np.linalg.inv(hessian), loglik
        if loglik < current - 1e-9 * abs(current):  # too far: half the way back
            beta = beta - last / 2
            last = last / 2
            continue
        current, last = loglik, step.reshape(beta.shape)
        beta = beta + last
    raise ValueError("an outcome occurs at one end of a load only, so that no finite fit exists; leave it out")
