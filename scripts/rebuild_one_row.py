"""A row of CogniLoad's Table 2 from its Tables 4 to 6, in plain numpy and scipy."""

from itertools import product
from pathlib import Path

import numpy as np
from scipy.special import expit

ROOT = Path(__file__).resolve().parents[1]
TABLES = ROOT / "data/published/iclr2026"
RATIOS = [5, 10, 25, 50, 75, 90, 95]


def read(table, model):
    """Return the rows of a printed table on one model."""
    rows = np.genfromtxt(
        TABLES / f"{table}.csv",
        delimiter=",",
        names=True,
        dtype=None,
        encoding="utf-8",
    )
    is_model = rows["model"] == model
    return rows[is_model]


def count_correct(rows):
    """Return the samples without errors."""
    correct = rows["samples"].copy()
    for error in ["ctx", "valid_logic", "poi_logic", "last_logic", "other"]:
        correct -= rows[error]
    return correct


def fit(x, n, sums):
    """Fit a logistic regression to its sums X'y alone.

    Returns the coefficients, the log-likelihood and the information.
    """
    beta = np.zeros(x.shape[1])
    for _ in range(15):  # Newton's steps
        p = expit(x @ beta)
        expected = n * p
        variance = expected * (1 - p)
        information = (x.T * variance) @ x
        score = sums - expected @ x
        beta += np.linalg.solve(information, score)
    log_odds = x @ beta
    normaliser = np.logaddexp(0, log_odds)
    loglik = beta @ sums - np.sum(n * normaliser)
    return beta, loglik, information


def find_sum(x, n, sums, gain, sign):
    """Find the last column's sum at which it raises the log-likelihood by `gain`.

    Two sums do: with one the column's slope is positive, with one negative (`sign`).
    """
    others = x[:, :-1]
    column = x[:, -1]
    beta, without, _ = fit(others, n, sums)
    p = expit(others @ beta)
    expected = n * p
    flat = expected @ column  # with this sum the slope is zero
    _, _, information = fit(x, n, [*sums, flat])
    covariance = np.linalg.inv(information)
    distance = np.sqrt(2 * gain / covariance[-1, -1])
    last = flat + sign * distance
    for _ in range(10):  # Newton's steps
        beta, loglik, _ = fit(x, n, [*sums, last])
        slope = beta[-1]  # also that of the log-likelihood along the sum
        excess = loglik - without - gain
        last -= excess / slope
    return last


def lay_out(difficulties, lengths):
    """Return the columns of Table 2's regression for all cells: 1, d, log10 N, rho, rho^2."""
    cells = list(product(difficulties, lengths, RATIOS))
    d, N, ratio = np.array(cells).T
    needles = np.floor(N * ratio / 100 + 0.5)  # halves are rounded up
    rho = needles / N
    constant = np.ones(len(cells))
    return np.column_stack([constant, d, np.log10(N), rho, rho**2])


def rebuild(model, signs=(-1, 1)):
    """Rebuild the row of a model with complete tables.

    `signs` are those of rho's slope in the linear fit and of rho^2 in the quadratic one.
    The tables agree with all four choices; Table 2 decides.
    """
    sign_linear, sign_quadratic = signs
    by_d = read("table4_errors_by_d", model)
    by_N = read("table5_errors_by_N", model)
    (aic,) = read("table6_aic", model)
    x = lay_out(by_d["d"], by_N["N"])
    loads = x[:, :3]
    linear = x[:, :4]
    n = by_d["samples"].sum() / len(x)  # in each cell
    correct = count_correct(by_d)
    sums = [
        correct.sum(),
        correct @ by_d["d"],
        count_correct(by_N) @ np.log10(by_N["N"]),
    ]
    # an AIC is twice the number of coefficients less twice the log-likelihood
    loglik_linear = 4 - aic["aic_linear"] / 2
    loglik_quadratic = 5 - aic["aic_quadratic"] / 2
    _, loglik_loads, _ = fit(loads, n, sums)
    gain = loglik_linear - loglik_loads
    sums.append(find_sum(linear, n, sums, gain, sign_linear))
    gain = loglik_quadratic - loglik_linear
    sums.append(find_sum(x, n, sums, gain, sign_quadratic))
    beta, _, _ = fit(x, n, sums)
    return beta
