"""Maximum likelihood for many tables of counts at once, from the answers or from a set of sums alone."""

from collections.abc import Callable

import numpy as np
from scipy.special import expit, log_expit, log_ndtr
from statsmodels.genmod.families.links import Link

QUASI = "quasi-binomial"
_LOGIT = log_expit, lambda eta: log_expit(-eta)
#: Logarithms of p and 1 - p by the name of the link. All families are binomial; quasi-binomial is logit with standard
#: errors widened by the observed scatter.
FAMILIES = {
    "logit": _LOGIT,
    "probit": (log_ndtr, lambda eta: log_ndtr(-eta)),
    "cloglog": (lambda eta: np.log(-np.expm1(-np.exp(eta))), lambda eta: -np.exp(eta)),
    QUASI: _LOGIT,
}


def _climb(
    evaluate: Callable[..., tuple[np.ndarray, ...]], b: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Maximise a function of each row by damped Newton steps: rows and values; NaN where there is no maximum.

    ``evaluate`` returns value, gradient and information of some rows (second argument) at their coefficients.
    """
    best, values = np.full(b.shape, np.nan), np.full(len(b), np.nan)
    active = np.flatnonzero(np.isfinite(b).all(axis=1))
    b = b[active]
    current, gradient, information = evaluate(b, active)
    for _ in range(100):
        with np.errstate(invalid="ignore"):  # where all accuracies have run to 0 or 1
            going = np.linalg.slogdet(information)[0] > 0
        active, b, current, gradient = active[going], b[going], current[going], gradient[going]
        step = np.linalg.solve(information[going], gradient[:, :, None])[:, :, 0]
        decrement = (gradient * step).sum(axis=1)
        if (done := decrement < 1e-14 * np.abs(current)).any():
            best[active[done]] = (b + step)[done]
            values[active[done]] = evaluate((b + step)[done], active[done])[0]
            active, b, current, step, decrement = (
                part[~done] for part in (active, b, current, step, decrement)
            )
        if not len(active):
            break
        length, new = np.ones(len(active)), evaluate(b + step, active)
        while len(short := np.flatnonzero(~(new[0] > current) & (length > 1e-6))):
            length[short] /= 2
            shorter = evaluate(b[short] + length[short, None] * step[short], active[short])
            for whole, part in zip(new, shorter, strict=True):
                whole[short] = part
        stuck = length <= 1e-6
        hidden = stuck & (decrement < 1e-9)  # rounding hides any further gain
        best[active[hidden]], values[active[hidden]] = b[hidden], current[hidden]
        b = b + length[:, None] * step
        active, b, current, gradient, information = (part[~stuck] for part in (active, b, *new))
    return best, values


def maximise_all(
    x: np.ndarray,
    n: np.ndarray,
    t: np.ndarray,
    start: np.ndarray | float = 0.0,
    offset: np.ndarray | float = 0.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Fit logistic regressions from sums: maximise the concave t'b - sum n log(1 + exp(x'b + offset)) for each row.

    Covariates x are (c, q), answers n (m, c), sums t = x'y (m, q); start is near the maximum, offset (c,) a given part
    of the log-odds. Returns coefficients (m, q) and Bernoulli log-likelihoods (m,), less the sum of the offset over the
    answers; NaN where there is no maximum: t lies on or outside the edge of what n allows, or a column of x is a
    combination of the others.
    """
    # orthogonal covariates: Newton's steps keep the digits that d, d log10 N, d rho log10 N, ... lose to one another
    x, triangle = np.linalg.qr(x)
    if _depends(triangle):
        return np.full(t.shape, np.nan), np.full(len(t), np.nan)
    size, products = x.shape[1], (x[:, :, None] * x[:, None, :]).reshape(len(x), -1)
    t = np.linalg.solve(triangle.T, t.T).T

    def evaluate(b: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        eta = b @ x.T + offset
        p = expit(eta)
        value = (b * t[rows]).sum(axis=1) - (n[rows] * np.logaddexp(0, eta)).sum(axis=1)
        information = ((n[rows] * p * (1 - p)) @ products).reshape(-1, size, size)
        return value, t[rows] - (n[rows] * p) @ x, information

    first = np.where(np.isfinite(t), np.broadcast_to(start, t.shape) @ triangle.T, np.nan)
    best, logliks = _climb(evaluate, first)
    return np.linalg.solve(triangle, best.T).T, logliks


def _depends(triangle: np.ndarray) -> bool:
    """Return whether a column is a combination of the others, of the triangle of a QR decomposition."""
    rows, columns = triangle.shape
    if rows < columns:
        return True
    lengths = np.linalg.norm(triangle, axis=0)
    return bool((np.abs(np.diag(triangle)) <= 1e-12 * lengths).any())


def maximise_link(
    x: np.ndarray, n: np.ndarray, k: np.ndarray, family: str, link: Link
) -> np.ndarray:
    """Return coefficients (m, q) of binomial regressions with a link of statsmodels on tables of counts (m, c)."""
    x, triangle = np.linalg.qr(x)
    size, products = x.shape[1], (x[:, :, None] * x[:, None, :]).reshape(len(x), -1)

    def evaluate(b: np.ndarray, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        eta, right, wrong = b @ x.T, k[rows], (n - k)[rows]
        log_p, log_q = (log(eta) for log in FAMILIES[family])
        slope, curve = link.inverse_deriv(eta), link.inverse_deriv2(eta)
        up, down, bend, fall = np.nan_to_num(
            [part / np.exp(log) for part in (slope, curve) for log in (log_p, log_q)]
        )
        information = (right * (up**2 - bend) + wrong * (down**2 + fall)) @ products
        value = (right * log_p + wrong * log_q).sum(axis=1)
        return value, (right * up - wrong * down) @ x, information.reshape(-1, size, size)

    with np.errstate(all="ignore"):  # where an accuracy is 0 or 1 to the last digit
        return np.linalg.solve(triangle, _climb(evaluate, np.zeros((len(k), size)))[0].T).T


def maximise(
    x: np.ndarray, n: np.ndarray, t: np.ndarray, offset: np.ndarray | float = 0.0
) -> tuple[np.ndarray, float]:
    """Fit one logistic regression as `maximise_all` does; ValueError where there is no finite fit."""
    (b,), (loglik,) = maximise_all(x, n[None], t[None], offset=offset)
    if np.isnan(loglik):
        raise ValueError(
            "the statistics admit no finite maximum-likelihood fit; check the published tables"
        )
    return b, float(loglik)


def solve_aic(
    x: np.ndarray, n: np.ndarray, t: np.ndarray, aic: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the two values of the last column's statistic, next to the known ones t (m, q - 1), with given AICs (m,).

    The AIC is concave in that statistic, highest where its coefficient is zero: one root below, with a negative
    coefficient, and one above; NaN where no value leads to that AIC.
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


def _descend(
    x: np.ndarray, n: np.ndarray, t: np.ndarray, aic: np.ndarray, start: np.ndarray
) -> np.ndarray:
    """Follow the tangents of the concave AIC, whose slope is -2 times the last coefficient, to where it has a value."""
    last, roots = start.copy(), np.full(len(start), np.nan)
    active = np.flatnonzero(np.isfinite(start))
    b = np.zeros((len(active), x.shape[1]))
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
