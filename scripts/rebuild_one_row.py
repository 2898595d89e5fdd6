"""A row of CogniLoad's Table 2 from its Tables 4 to 6, in plain numpy and scipy."""

import csv
from itertools import product
from operator import itemgetter
from pathlib import Path

import numpy as np
from scipy.special import expit

TABLES = Path(__file__).resolve().parents[1] / "data" / "published" / "iclr2026"
ERRORS = itemgetter("ctx", "valid_logic", "poi_logic", "last_logic", "other")
DIFFICULTIES, LENGTHS = [1, 3, 5, 7, 10], [20, 50, 100, 250]
CELLS = np.array(list(product(DIFFICULTIES, LENGTHS, [5, 10, 25, 50, 75, 90, 95])))


def fit(x, n, sums):
    """Fit a logistic regression to its sums X'y alone."""
    beta = np.zeros(x.shape[1])
    for _ in range(15):  # Newton's steps
        p = expit(x @ beta)
        information = x.T @ (x * (n * p * (1 - p))[:, None])
        beta += np.linalg.solve(information, sums - x.T @ (n * p))
    return beta, beta @ sums - n @ np.logaddexp(0, x @ beta), information


def find_sum(x, n, sums, gain, sign):
    """Find the last column's sum at which it raises the log-likelihood by `gain`."""
    beta, without, _ = fit(x[:, :-1], n, sums)
    flat = (n * expit(x[:, :-1] @ beta)) @ x[:, -1]  # where its slope is zero
    information = fit(x, n, [*sums, flat])[2]
    last = flat + sign * np.sqrt(2 * gain / np.linalg.inv(information)[-1, -1])
    for _ in range(10):  # Newton: the log-likelihood's slope is the coefficient
        beta, loglik, _ = fit(x, n, [*sums, last])
        last -= (loglik - without - gain) / beta[-1]
    return last


def read(table, model):
    """Return the rows of a printed table on one model."""
    with (TABLES / f"{table}.csv").open(encoding="utf-8") as lines:
        return [row for row in csv.DictReader(lines) if row["model"] == model]


def rebuild(model, signs=(-1, 1)):  # four rows fit: Table 2 decides which is meant
    """Rebuild a complete model's row; signs: of rho's slope in the linear fit, of rho^2."""
    d, N, ratio = CELLS.T
    rho = np.floor(N * ratio / 100 + 0.5) / N  # whole needles, halves rounded up
    x = np.column_stack([np.ones(len(CELLS)), d, np.log10(N), rho, rho**2])
    levels = [*read("table4_errors_by_d", model), *read("table5_errors_by_N", model)]
    samples = np.array([int(row["samples"]) for row in levels])
    correct = samples - [sum(map(int, ERRORS(row))) for row in levels]
    n = np.full(len(CELLS), samples[0] / 28)  # 28 cells have d = 1
    by_d, by_N = np.split(correct, [len(DIFFICULTIES)])
    sums = [by_d.sum(), by_d @ DIFFICULTIES, by_N @ np.log10(LENGTHS)]
    aics = itemgetter("aic_linear", "aic_quadratic")(read("table6_aic", model)[0])
    for terms, aic, sign in zip([4, 5], map(float, aics), signs, strict=True):
        gain = terms - aic / 2 - fit(x[:, : terms - 1], n, sums)[1]
        sums.append(find_sum(x[:, :terms], n, sums, gain, sign))
    return fit(x, n, sums)[0]
