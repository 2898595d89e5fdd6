"""The sufficient statistics of the paper's regressions, recovered from a model's printed tables.

The log-likelihood of a logistic regression depends on the correct answers y only through the sums
X'y of its covariates. Appendix B's regression has nine. Tables 4 and 5 fix three of them exactly;
the other six are found as the sums at which the fits reproduce Tables 3 and 6.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import linprog
from scipy.special import expit
from scipy.stats import chi2

from cogniload_repro.grid import CELL
from cogniload_repro.models import Model
from cogniload_repro.reconstruction.printed import (
    PRINTED,
    missing_ratios,
    printed_windows,
    puzzles_per_cell,
)
from cogniload_repro.reconstruction.table2 import DerivedRow, derive_each
from cogniload_repro.regression.design import (
    FULL_COLUMNS,
    GRID,
    LINEAR_COLUMNS,
    PRODUCTS,
    QUADRATIC_COLUMNS,
    X,
)
from cogniload_repro.regression.likelihood import maximise

#: Columns of the covariates whose sums do not follow from Tables 4 and 5.
OPEN_COLUMNS = FULL_COLUMNS[3:]
#: Largest number of steps of the search, and of halvings per step.
_SUM_STEPS = 25
_MOST_HALVINGS = 20


class ModelSums(NamedTuple):
    """One model's answers in each of the 140 cells, n, and its nine sufficient statistics, X'y."""

    model: str
    answers: np.ndarray
    sums: np.ndarray


def recover_sums(model: Model) -> ModelSums:
    """Recover a model's nine sufficient statistics from Tables 3 to 6.

    If puzzles are missing, their needle ratios are selected by Table 2.
    """
    cases = [(model, ratios) for ratios in missing_ratios(model)]
    rows = derive_each(cases)
    if model.missing:
        rows = [row for row in rows if row.max_deviation <= 1]
    if not rows:
        raise ValueError(
            f"no needle ratios of the missing puzzles of {model.name} reproduce its row of "
            "Table 2; check the published tables"
        )
    searches = [_search_sums(row) for row in rows]
    best = min(searches, key=lambda search: search.largest)
    sums = best.model_sums.sums
    products = significant(sums[4:], 9)
    rounded = np.append(sums[:4], products)
    return best.model_sums._replace(sums=rounded)


def sum_cells(cells: pd.DataFrame, model: str) -> ModelSums:
    """Return the sufficient statistics X'y of a model's counts; all 140 cells are required."""
    of_model = cells[cells["model"] == model]
    counts = GRID.merge(of_model, on=CELL)
    if len(counts) != len(GRID):
        raise ValueError(
            f"{model} has {len(counts)} of the paper's {len(GRID)} cells; "
            "pass all cells of the reconstruction"
        )
    answers = counts["total"].to_numpy(float)
    correct = counts["correct"].to_numpy(float)
    return ModelSums(model, answers, X.T @ correct)


def predict(
    answers: np.ndarray,
    sums: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the 11 numbers of `PRINTED` that the sums imply, and their Jacobian.

    The p-values of Table 3 are given as log p. The Jacobian, shape (11, 6), has the derivatives by
    the sums of `OPEN_COLUMNS`.
    """
    linear, linear_slopes = _predict_aic(answers, sums, LINEAR_COLUMNS)
    quadratic, quadratic_slopes = _predict_aic(answers, sums, QUADRATIC_COLUMNS)
    products, product_slopes = _predict_products(answers, sums)
    # AIC = 2 k - 2 log L, and k differs by one
    lr = linear - quadratic + 2
    lr_slopes = linear_slopes - quadratic_slopes
    p_lr = chi2.sf(lr, 1)
    p_lr_slopes = -chi2.pdf(lr, 1) * lr_slopes
    values = np.array([linear, quadratic, *products, p_lr])
    slopes = np.array([linear_slopes, quadratic_slopes, *product_slopes, p_lr_slopes])
    return values, slopes[:, OPEN_COLUMNS]


def _predict_aic(
    answers: np.ndarray,
    sums: np.ndarray,
    columns: np.ndarray,
) -> tuple[float, np.ndarray]:
    """Return the AIC of the regression on some covariates, and its gradient by all nine sums.

    By the envelope theorem, the gradient of the maximised log-likelihood is the estimate of beta.
    """
    beta, loglik = maximise(X[:, columns], answers, sums[columns])
    aic = 2 * len(columns) - 2 * loglik
    slopes = np.zeros(len(FULL_COLUMNS))
    slopes[columns] = -2 * beta
    return aic, slopes


def _predict_products(
    answers: np.ndarray,
    sums: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return Table 3's coefficients and log p, and their derivatives by all nine sums.

    p is that of the likelihood-ratio test of dropping one product from Appendix B's regression.
    """
    beta, loglik = maximise(X, answers, sums)
    accuracy = expit(X @ beta)
    weights = answers * accuracy * (1 - accuracy)
    # the inverse information is the covariance, and also the derivative of beta by the sums
    information = X.T @ (X * weights[:, None])
    covariance = np.linalg.inv(information)
    log_ps = []
    p_slopes = []
    for column in PRODUCTS.values():
        others = np.delete(FULL_COLUMNS, column)
        reduced_beta, reduced_loglik = maximise(X[:, others], answers, sums[others])
        lr = max(2 * (loglik - reduced_loglik), 1e-12)
        lr_slopes = 2 * beta
        lr_slopes[others] -= 2 * reduced_beta
        log_p = chi2.logsf(lr, 1)
        hazard = np.exp(chi2.logpdf(lr, 1) - log_p)
        log_ps.append(log_p)
        p_slopes.append(-hazard * lr_slopes)
    columns = list(PRODUCTS.values())
    values = np.concatenate([beta[columns], log_ps])
    return values, np.vstack([covariance[columns], p_slopes])


def miss_printed(model_sums: ModelSums) -> tuple[np.ndarray, np.ndarray]:
    """Return the residuals of the printed numbers, implied minus printed, and their Jacobian.

    Both are in half units of the last printed digit: the sums reproduce the numbers of `PRINTED` if
    no residual exceeds 1 in size. The Jacobian is that of `predict`.
    """
    model, answers, sums = model_sums
    printed, half_units = printed_windows(model)
    values, slopes = predict(answers, sums)
    return (values - printed) / half_units, slopes / half_units[:, None]


def significant(values: np.ndarray, digits: int) -> np.ndarray:
    """Return values rounded to a number of significant digits.

    Processors whose results differ in the last bits then find the same table of counts.
    """
    return np.vectorize(lambda value: float(f"{value:.{digits}g}"))(values)


class _Search(NamedTuple):
    """A state of the search for the sums that reproduce the printed numbers.

    ``misses`` (residuals) and ``slopes`` (Jacobian) are those of the first numbers of `PRINTED`.
    """

    model_sums: ModelSums
    misses: np.ndarray
    slopes: np.ndarray

    @property
    def largest(self) -> float:
        """The largest absolute residual, in half units of the last printed digit."""
        return float(np.abs(self.misses).max())

    def move(self, sums: np.ndarray) -> "_Search":
        """Return the same search at other sums."""
        moved = self.model_sums._replace(sums=sums)
        return _start(moved, len(self.misses))


def _start(model_sums: ModelSums, numbers: int) -> _Search:
    """Return the state of a search for sums that reproduce the first numbers of `PRINTED`."""
    misses, slopes = miss_printed(model_sums)
    return _Search(model_sums, misses[:numbers], slopes[:numbers])


def _search_sums(row: DerivedRow) -> _Search:
    """Find the sums that reproduce Tables 3 and 6, starting from a row derived for Table 2.

    The starting sums of the products are those expected under Table 2's regression.
    """
    answers = puzzles_per_cell(row.model, row.ratios)
    accuracy = expit(X[:, QUADRATIC_COLUMNS] @ row.beta)
    products = X[:, 5:].T @ (answers * accuracy)
    sums = np.concatenate([row.sums, products])
    start = ModelSums(row.model.name, answers, sums)
    # fit the AICs and coefficients first, to come near the solution, then all numbers
    near = _centre(_start(start, 6), OPEN_COLUMNS)
    best = _centre(_start(near.model_sums, len(PRINTED)), OPEN_COLUMNS)
    # needles / N is a multiple of 1/500 in every cell, so 500 times the sum of rho is whole
    candidates = []
    for round_sum in (np.floor, np.ceil):
        sums = best.model_sums.sums.copy()
        whole = round_sum(500 * sums[3])
        sums[3] = whole / 500
        candidate = _centre(best.move(sums), OPEN_COLUMNS[1:])
        candidates.append(candidate)
    return min(candidates, key=lambda search: search.largest)


def _centre(search: _Search, free: np.ndarray) -> _Search:
    """Minimise the largest absolute residual over the sums of free covariates.

    Successive linear programmes with step halving: Gauss and Newton's method in the maximum norm.
    """
    places = free - OPEN_COLUMNS[0]
    for _ in range(_SUM_STEPS):
        step = np.zeros(len(FULL_COLUMNS))
        step[free] = centre_step(search.misses, search.slopes[:, places])
        nearer = _halve_step(search, step)
        if nearer is None:
            break
        search = nearer
    return search


def _halve_step(search: _Search, step: np.ndarray) -> _Search | None:
    """Halve a step until it reduces the largest residual; None if no step does."""
    for halvings in range(_MOST_HALVINGS):
        try:
            moved = search.move(search.model_sums.sums + step / 2**halvings)
        except (ValueError, np.linalg.LinAlgError):  # no answers have such sums
            continue
        if moved.largest < search.largest * (1 - 1e-4):
            return moved
    return None


def centre_step(misses: np.ndarray, slopes: np.ndarray) -> np.ndarray:
    """Return the step s that minimises max |misses + slopes s|, by a linear programme."""
    scale = 1 / np.abs(slopes).max(axis=0)
    scaled = slopes * scale
    count = scaled.shape[1]
    bound = np.ones((len(scaled), 1))
    # the last variable is the largest residual
    largest = np.append(np.zeros(count), 1.0)
    free = [(None, None)] * count
    programme = linprog(
        largest,
        A_ub=np.block([[scaled, -bound], [-scaled, -bound]]),
        b_ub=np.concatenate([-misses, misses]),
        bounds=[*free, (0, None)],
    )
    return scale * programme.x[:-1]
