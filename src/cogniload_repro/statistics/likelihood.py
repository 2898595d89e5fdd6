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


def maximise_all(
    x: np.ndarray, n: np.ndarray, t: np.ndarray, start: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Maximise many such duals at once: each row is what `maximise` finds, or NaN where it finds none.

    Parameters
    ----------
    x : ndarray, shape (140, q)
    n : ndarray, shape (m, 140)
    t, start : ndarray, shape (m, q)

    Returns
    -------
    coefficients : ndarray, shape (m, q)
    logliks : ndarray, shape (m,)
    """
    x, triangle = np.linalg.qr(x)
    size = x.shape[1]
    products = (x[:, :, None] * x[:, None, :]).reshape(len(x), -1)
    t = np.linalg.solve(triangle.T, t.T).T
    b = np.zeros(t.shape) if start is None else start @ triangle.T
    best, logliks = np.full(t.shape, np.nan), np.full(len(t), np.nan)
    active = np.flatnonzero(np.isfinite(t).all(axis=1))
    b, n, t = b[active], n[active], t[active]

    def value(b, n, t):
        return (b * t).sum(axis=1) - (n * np.logaddexp(0, b @ x.T)).sum(axis=1)

    current = value(b, n, t)
    for _ in range(100):
        if not len(active):
            break
        p = expit(b @ x.T)
        gradient = t - (n * p) @ x
        hessian = ((n * p * (1 - p)) @ products).reshape(-1, size, size)
        going = np.linalg.slogdet(hessian)[0] > 0  # elsewhere all accuracies have run to 0 or 1
        step = np.zeros(b.shape)
        step[going] = np.linalg.solve(hessian[going], gradient[going, :, None])[:, :, 0]
        decrement, length = (gradient * step).sum(axis=1), np.ones(len(b))
        done = going & (decrement < 1e-14 * np.abs(current))
        best[active[done]], logliks[active[done]] = (b + step)[done], value(b + step, n, t)[done]
        going &= ~done
        new = np.where(going, value(b + step, n, t), current)
        while len(short := np.flatnonzero(going & ~(new > current) & (length > 1e-6))):
            length[short] /= 2
            new[short] = value(b[short] + length[short, None] * step[short], n[short], t[short])
        hidden = going & (length <= 1e-6) & (decrement < 1e-9)  # rounding hides any further gain
        best[active[hidden]], logliks[active[hidden]] = b[hidden], current[hidden]
        going &= length > 1e-6
        active, b, n, t, current = active[going], (b + length[:, None] * step)[going], n[going], t[going], new[going]
    return np.linalg.solve(triangle, best.T).T, logliks


def solve_aic(x: np.ndarray, n: np.ndarray, t: np.ndarray, aic: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the two values of the last statistic with which fits have given AICs.

    The AIC is concave in that statistic, highest where its coefficient is zero: one root on either side.

    Parameters
    ----------
    x : ndarray, shape (140, q)
        Covariates of the cells; the last column's statistic is the unknown.
    n : ndarray, shape (m, 140)
        Puzzles per cell.
    t : ndarray, shape (m, q - 1)
        The known statistics.
    aic : ndarray, shape (m,)
        At most the AIC of the fit without the last column, plus 2.

    Returns
    -------
    below, above : ndarray, shape (m,)
        With a negative and with a positive coefficient; NaN where no value leads to that AIC.
    """
    without, logliks = maximise_all(x[:, :-1], n, t)
    height = 2 * x.shape[1] - 2 * logliks - aic
    p = expit(without @ x[:, :-1].T)
    flat, weights = (n * p) @ x[:, -1], n * p * (1 - p)
    information = np.einsum("ca,mc,cb->mab", x, weights, x, optimize=True)
    possible = height >= 0
    reach = np.full(len(t), np.nan)  # to where the root is if the AIC is a parabola
    reach[possible] = np.sqrt(height[possible] / np.linalg.inv(information[possible])[:, -1, -1])
    return _descend(x, n, t, aic, flat - reach), _descend(x, n, t, aic, flat + reach)


def _descend(x: np.ndarray, n: np.ndarray, t: np.ndarray, aic: np.ndarray, start: np.ndarray) -> np.ndarray:
    """Follow the tangents of the AIC, whose slope is -2 times the last coefficient, to where it has a value.

    Tangents of a concave curve end beyond the root, and from there come ever nearer to it.
    """
    last, roots = start.copy(), np.full(len(start), np.nan)
    active, b = np.flatnonzero(np.isfinite(start)), None
    for _ in range(60):
        if not len(active):
            break
        b, logliks = maximise_all(x, n[active], np.column_stack([t[active], last[active]]), start=b)
        step = (2 * x.shape[1] - 2 * logliks - aic[active]) / (2 * b[:, -1])
        last[active] += step
        done = np.abs(step) < 1e-7  # steps shrink quadratically: the next would be lost in rounding
        roots[active[done]] = last[active[done]]
        going = ~done & np.isfinite(step)
        active, b = active[going], b[going]
    return roots


def maximise_multinomial(x: np.ndarray, counts: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Fit a multinomial logit to counts of outcomes by Newton's method.

    Parameters
    ----------
    x : ndarray, shape (c, q)
        Covariates of the cells.
    counts : ndarray, shape (c, j)
        Answers of each outcome; the first outcome is the one that the others are compared with.

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
