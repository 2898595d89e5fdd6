"""Published tables -> the sufficient statistics of the paper's regressions.

A logistic GLM depends on the answers only through T = X'y. `derivation` finds the components of Table 2's
regression; those of the interactions are the solution of the equations "the fit prints what Table 3 prints".
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.optimize import linprog
from scipy.special import expit
from scipy.stats import chi2

from cogniload_repro.models import Model, find_model
from cogniload_repro.published import load_printed, load_table
from cogniload_repro.reconstruction.derivation import Derived, derive_each, missing_ratios, puzzles_per_cell
from cogniload_repro.statistics.design import FULL, GRID, LINEAR, PRODUCTS, QUADRATIC, X
from cogniload_repro.statistics.likelihood import maximise

#: Columns whose sums do not follow from Tables 4 and 5.
OPEN_COLUMNS = (3, 4, 5, 6, 7, 8)

#: Names of the printed numbers that identify them, in the order of `predict`.
PRINTED = (
    "aic_linear",
    "aic_quadratic",
    *(f"beta_{term}" for term in PRODUCTS),
    *(f"p_{term}" for term in PRODUCTS),
    "p_lr",
)


@dataclass(frozen=True)
class Recovered:
    """Sufficient statistics of one model's answers.

    ``missing_ratios`` has the nominal ratio chosen for each missing puzzle, in the order of ``model.missing``; ``n``,
    shape (140,), the puzzles per cell; ``T``, shape (9,), is X'y, of which the first three are exact; ``max_deviation``
    is the largest deviation from the numbers of `PRINTED`, in half units of the last printed digit.
    """

    model: Model
    missing_ratios: tuple[int, ...]
    n: np.ndarray
    T: np.ndarray
    max_deviation: float


def fit_statistics(columns: tuple[int, ...], n: np.ndarray, T: np.ndarray) -> tuple[np.ndarray, float]:
    """Fit a logistic GLM on some columns of `X` from its sufficient statistics T. See `likelihood.maximise`."""
    return maximise(X[:, list(columns)], n, T[list(columns)])


def predict(n: np.ndarray, T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of `PRINTED` that the statistics imply (Table 3's p as log p), and their derivatives.

    The derivatives, shape (11, 6), are with respect to the statistics of `OPEN_COLUMNS`.
    """
    values, jacobian = np.empty(len(PRINTED)), np.zeros((len(PRINTED), 9))
    for row, columns in enumerate((LINEAR, QUADRATIC)):
        beta, loglik = fit_statistics(columns, n, T)
        values[row] = 2 * len(columns) - 2 * loglik
        jacobian[row, list(columns)] = -2 * beta
    full, loglik = fit_statistics(FULL, n, T)
    p = expit(X @ full)
    covariance = np.linalg.inv(X.T @ (X * (n * p * (1 - p))[:, None]))
    for row, column in enumerate(PRODUCTS.values(), start=2):
        values[row], jacobian[row] = full[column], covariance[column]
        kept = [c for c in FULL if c != column]
        reduced, reduced_loglik = fit_statistics(tuple(kept), n, T)
        statistic = max(2 * (loglik - reduced_loglik), 1e-12)
        slope = 2 * full
        slope[kept] -= 2 * reduced
        values[row + 4] = chi2.logsf(statistic, 1)
        jacobian[row + 4] = -np.exp(chi2.logpdf(statistic, 1) - values[row + 4]) * slope
    statistic = values[0] - values[1] + 2
    values[-1] = chi2.sf(statistic, 1)
    jacobian[-1] = -chi2.pdf(statistic, 1) * (jacobian[0] - jacobian[1])
    return values, jacobian[:, list(OPEN_COLUMNS)]


def printed_windows(model: str) -> tuple[np.ndarray, np.ndarray]:
    """Return what is printed for `PRINTED` (Table 3's p as log p) and the half widths that rounding leaves."""
    table6 = load_table("table6").set_index("model").loc[model]
    table3 = load_printed("table3").set_index("model").loc[model]
    values, widths = [table6["aic_linear"], table6["aic_quadratic"]], [0.0005, 0.0005]
    for term in PRODUCTS:
        values.append(float(table3[f"beta_{term}"]))
        widths.append(0.005)
    for term in PRODUCTS:
        p = float(table3[f"p_{term}"])
        half_unit = 0.5 * 10.0 ** (np.floor(np.log10(p)) - 2)  # three significant digits
        values.append(np.log(p))
        widths.append(half_unit / p)
    values.append(table6["p_lr"])
    widths.append(0.0005)
    return np.array(values), np.array(widths)


def recover(model: Model) -> Recovered:
    """Recover a model's sufficient statistics from Tables 3 to 6.

    Table 2 gives starting values only, and for the three models with missing puzzles it selects the ratio of those
    puzzles, which the paper does not print.
    """
    starts = derive_each([(model, choice) for choice in missing_ratios(model)])
    if model.missing:
        starts = [start for start in starts if start.max_deviation <= 1]
    if not starts:
        raise ValueError(f"no choice of the missing puzzles of {model.name} gives its row of Table 2; check the tables")
    return min(map(_recover_from, starts), key=lambda recovered: recovered.max_deviation)


def recovered_from(cells: pd.DataFrame, model: str) -> Recovered:
    """Return the sufficient statistics of a model's reconstructed counts (all 140 cells), without a search."""
    own = GRID.merge(cells[cells["model"] == model], on=["N", "d", "ratio_pct"])
    if len(own) != len(GRID):
        raise ValueError(f"{model} has {len(own)} of the paper's {len(GRID)} cells; give the reconstructed cells whole")
    n = own["total"].to_numpy(float)
    return Recovered(find_model(model), (), n, X.T @ own["correct"].to_numpy(float), 0.0)


def _recover_from(start: Derived) -> Recovered:
    """Find the statistics that print Tables 3 and 6, from those that print Tables 4 to 6, without interactions."""
    n = puzzles_per_cell(start.model, start.missing)
    expected = n * expit(X[:, QUADRATIC] @ start.beta)
    T = np.concatenate([start.T, X[:, 5:].T @ expected])
    values, widths = printed_windows(start.model.name)
    # the first six numbers bring the statistics near, then all centre them
    T, _ = _centre(n, T, values, widths, OPEN_COLUMNS, numbers=6)
    T, _ = _centre(n, T, values, widths, OPEN_COLUMNS, numbers=len(PRINTED))
    # needles / N is a multiple of 1/500 in every cell, so 500 T_rho is a whole number
    candidates = []
    for whole in (np.floor(500 * T[3]), np.ceil(500 * T[3])):
        fixed = T.copy()
        fixed[3] = whole / 500
        candidates.append(_centre(n, fixed, values, widths, OPEN_COLUMNS[1:], numbers=len(PRINTED)))
    T, deviation = min(candidates, key=lambda candidate: candidate[1])
    T[4:] = significant(T[4:], 9)
    return Recovered(start.model, start.missing, n, T, deviation)


def significant(values: np.ndarray, digits: int) -> np.ndarray:
    """Round to so many significant digits.

    Processors differ in the last digits of a sum. What the search for counts starts from is rounded, so that every
    one of them finds the same table.
    """
    return np.vectorize(lambda value: float(f"{value:.{digits}g}"))(values)


def _centre(
    n: np.ndarray, T: np.ndarray, values: np.ndarray, widths: np.ndarray, free: tuple[int, ...], numbers: int
) -> tuple[np.ndarray, float]:
    """Move the free statistics to where the largest deviation from the first `numbers` printed numbers is least."""
    moving = [OPEN_COLUMNS.index(column) for column in free]

    def deviations(T):
        predicted, jacobian = predict(n, T)
        return ((predicted - values) / widths)[:numbers], (jacobian / widths[:, None])[:numbers, moving]

    residual, jacobian = deviations(T)
    for _ in range(25):
        step = centre_step(residual, jacobian)
        for halvings in range(20):
            moved = T.copy()
            moved[list(free)] += step / 2**halvings
            try:
                new = deviations(moved)
            except (ValueError, np.linalg.LinAlgError):  # outside what n allows
                continue
            if np.abs(new[0]).max() < np.abs(residual).max() * (1 - 1e-4):
                T, (residual, jacobian) = moved, new
                break
        else:
            break
    return T, float(np.abs(residual).max())


def centre_step(residual: np.ndarray, jacobian: np.ndarray) -> np.ndarray:
    """Return the step s that minimises max |residual + jacobian s|."""
    scale = 1 / np.abs(jacobian).max(axis=0)
    a = jacobian * scale
    bound = np.ones((len(a), 1))
    programme = linprog(
        np.append(np.zeros(a.shape[1]), 1.0),
        A_ub=np.block([[a, -bound], [-a, -bound]]),
        b_ub=np.concatenate([-residual, residual]),
        bounds=[(None, None)] * a.shape[1] + [(0, None)],
    )
    return scale * programme.x[:-1]
