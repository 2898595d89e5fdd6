"""The printed tables of a model -> the sufficient statistics of the paper's regressions.

The log-likelihood of a logistic regression depends on the correct answers y only through the sums
X'y of its covariates. Appendix B's regression has nine. Tables 4 and 5 fix three of them exactly;
the other six are those with which the fits print Tables 3 and 6.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import linprog
from scipy.special import expit
from scipy.stats import chi2

from cogniload_repro.counts.printed import (
    PRINTED,
    missing_ratios,
    printed_windows,
    puzzles_per_cell,
)
from cogniload_repro.counts.table2 import DerivedRow, derive_each
from cogniload_repro.grid import CELL
from cogniload_repro.models import Model
from cogniload_repro.regression.design import (
    FULL_COLUMNS,
    GRID,
    LINEAR_COLUMNS,
    PRODUCTS,
    QUADRATIC_COLUMNS,
    X,
)
from cogniload_repro.regression.likelihood import maximise

#: Covariates whose sums do not follow from Tables 4 and 5.
OPEN_COLUMNS = (3, 4, 5, 6, 7, 8)
#: Steps of the search, and how often one is halved.
_SUM_STEPS = 25
_MOST_HALVINGS = 20


class ModelSums(NamedTuple):
    """Answers in each of the 140 cells and the nine sums over the correct ones, of one model."""

    model: str
    answers: np.ndarray
    sums: np.ndarray


def recover_sums(model: Model) -> ModelSums:
    """Recover a model's sums from Tables 3 to 6.

    Table 2 selects the needle ratios of missing puzzles.
    """
    rows = derive_each([(model, ratios) for ratios in missing_ratios(model)])
    if model.missing:
        rows = [row for row in rows if row.max_deviation <= 1]
    if not rows:
        raise ValueError(
            f"no needle ratios of the missing puzzles of {model.name} give its row of Table 2; "
            "check the tables"
        )
    searches = [_search_sums(row) for row in rows]
    best = min(searches, key=lambda search: search.largest)
    sums = best.model_sums.sums
    rounded = np.append(sums[:4], significant(sums[4:], 9))
    return best.model_sums._replace(sums=rounded)


def sum_cells(cells: pd.DataFrame, model: str) -> ModelSums:
    """Return the sums of a model's reconstructed counts, of which all 140 cells are needed."""
    of_model = cells[cells["model"] == model]
    counts = GRID.merge(of_model, on=CELL)
    if len(counts) != len(GRID):
        raise ValueError(
            f"{model} has {len(counts)} of the paper's {len(GRID)} cells; "
            "give the reconstructed cells whole"
        )
    correct = counts["correct"].to_numpy(float)
    return ModelSums(model, counts["total"].to_numpy(float), X.T @ correct)


def predict(answers: np.ndarray, sums: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of `PRINTED` that sums imply, and their derivatives.

    The p-values of Table 3 are log p. Derivatives are those by the sums of `OPEN_COLUMNS`, of shape
    (11, 6).
    """
    linear, linear_slopes = _predict_aic(answers, sums, LINEAR_COLUMNS)
    quadratic, quadratic_slopes = _predict_aic(answers, sums, QUADRATIC_COLUMNS)
    products, product_slopes = _predict_products(answers, sums)
    # the likelihood-ratio statistic: one coefficient costs an AIC of 2
    ratio = linear - quadratic + 2
    p_lr = chi2.sf(ratio, 1)
    p_lr_slopes = -chi2.pdf(ratio, 1) * (linear_slopes - quadratic_slopes)
    values = np.array([linear, quadratic, *products, p_lr])
    slopes = np.array([linear_slopes, quadratic_slopes, *product_slopes, p_lr_slopes])
    return values, slopes[:, list(OPEN_COLUMNS)]


def _predict_aic(
    answers: np.ndarray,
    sums: np.ndarray,
    columns: tuple[int, ...],
) -> tuple[float, np.ndarray]:
    """Return the AIC of the regression on some covariates, and its slopes by all nine sums.

    A log-likelihood at its maximum has the coefficients as its slopes by the sums.
    """
    beta, loglik = maximise(X[:, columns], answers, sums[list(columns)])
    slopes = np.zeros(len(FULL_COLUMNS))
    slopes[list(columns)] = -2 * beta
    return 2 * len(columns) - 2 * loglik, slopes


def _predict_products(
    answers: np.ndarray, sums: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return Table 3's coefficients and log p, and their slopes by all nine sums.

    p is that of the likelihood-ratio test of the regression without the product.
    """
    beta, loglik = maximise(X[:, FULL_COLUMNS], answers, sums[list(FULL_COLUMNS)])
    accuracy = expit(X @ beta)
    weights = answers * accuracy * (1 - accuracy)
    # the covariance is also the slopes of beta by the sums
    covariance = np.linalg.inv(X.T @ (X * weights[:, None]))
    log_ps = []
    p_slopes = []
    for column in PRODUCTS.values():
        others = [other for other in FULL_COLUMNS if other != column]
        reduced_beta, reduced_loglik = maximise(X[:, others], answers, sums[others])
        ratio = max(2 * (loglik - reduced_loglik), 1e-12)
        ratio_slopes = 2 * beta
        ratio_slopes[others] -= 2 * reduced_beta
        log_p = chi2.logsf(ratio, 1)
        log_ps.append(log_p)
        p_slopes.append(-np.exp(chi2.logpdf(ratio, 1) - log_p) * ratio_slopes)
    columns = list(PRODUCTS.values())
    values = np.concatenate([beta[columns], log_ps])
    return values, np.vstack([covariance[columns], p_slopes])


def miss_printed(model_sums: ModelSums) -> tuple[np.ndarray, np.ndarray]:
    """Return by how much the numbers that sums imply miss the printed ones, and the derivatives.

    Misses of the numbers of `PRINTED` are in half units of the last digit: all are printed if none
    is larger than 1. Derivatives are those of `predict` in the same unit.
    """
    model, answers, sums = model_sums
    printed, half_units = printed_windows(model)
    values, slopes = predict(answers, sums)
    return (values - printed) / half_units, slopes / half_units[:, None]


def significant(values: np.ndarray, digits: int) -> np.ndarray:
    """Round to significant digits.

    Processors that differ in the last digits then find the same table of counts.
    """
    return np.vectorize(lambda value: float(f"{value:.{digits}g}"))(values)


class _Search(NamedTuple):
    """Sums on the way to those that print what is printed.

    ``misses`` and ``slopes`` are those of the first numbers of `PRINTED`.
    """

    model_sums: ModelSums
    misses: np.ndarray
    slopes: np.ndarray

    @property
    def largest(self) -> float:
        """The largest miss, in half units of the last printed digit."""
        return float(np.abs(self.misses).max())

    def move(self, sums: np.ndarray) -> "_Search":
        """Return the same search at other sums."""
        return _start(self.model_sums._replace(sums=sums), len(self.misses))


def _start(model_sums: ModelSums, numbers: int) -> _Search:
    """Return a search for sums that print the first numbers of `PRINTED`."""
    misses, slopes = miss_printed(model_sums)
    return _Search(model_sums, misses[:numbers], slopes[:numbers])


def _search_sums(row: DerivedRow) -> _Search:
    """Find the sums that print Tables 3 and 6, from a row of Table 2 that Tables 4 to 6 imply."""
    answers = puzzles_per_cell(row.model, row.ratios)
    without_products = answers * expit(X[:, QUADRATIC_COLUMNS] @ row.beta)
    sums = np.concatenate([row.sums, X[:, 5:].T @ without_products])
    start = ModelSums(row.model.name, answers, sums)
    # the first six numbers bring the sums near, then all centre them
    near = _centre(_start(start, 6), OPEN_COLUMNS)
    best = _centre(_start(near.model_sums, len(PRINTED)), OPEN_COLUMNS)
    # needles / N is a multiple of 1/500 in every cell, so 500 times the sum of rho is whole
    candidates = []
    for round_sum in (np.floor, np.ceil):
        sums = best.model_sums.sums.copy()
        sums[3] = round_sum(500 * sums[3]) / 500
        candidates.append(_centre(best.move(sums), OPEN_COLUMNS[1:]))
    return min(candidates, key=lambda search: search.largest)


def _centre(search: _Search, free: tuple[int, ...]) -> _Search:
    """Move the sums of free covariates to where the largest miss is least."""
    places = [OPEN_COLUMNS.index(column) for column in free]
    for _ in range(_SUM_STEPS):
        step = np.zeros(len(FULL_COLUMNS))
        step[list(free)] = centre_step(search.misses, search.slopes[:, places])
        nearer = _halve_step(search, step)
        if nearer is None:
            break
        search = nearer
    return search


def _halve_step(search: _Search, step: np.ndarray) -> _Search | None:
    """Halve a step until it makes the largest miss smaller; None if no step does."""
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
    programme = linprog(
        np.append(np.zeros(count), 1.0),  # the largest miss comes last
        A_ub=np.block([[scaled, -bound], [-scaled, -bound]]),
        b_ub=np.concatenate([-misses, misses]),
        bounds=[(None, None)] * count + [(0, None)],
    )
    return scale * programme.x[:-1]
