"""Binomial regression on counts by cell, one fit per model.

Counts by cell give the same estimates as one row per answer. The log-likelihood is the Bernoulli
one of single answers: it leaves out the binomial coefficients.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm

from cogniload_repro.regression.existence import find_missing, list_statuses
from cogniload_repro.regression.families import FAMILIES, QUASI, check_family
from cogniload_repro.regression.formulas import (
    COVARIATES,
    FACTORS,
    QUADRATIC,
    Design,
    build_design,
    name_covariates,
)
from cogniload_repro.regression.identification import are_identified
from cogniload_repro.regression.likelihood import maximise_counts, sum_squares

#: Columns that name a table of counts: a model's, in one of several reconstructions.
TABLE_KEYS = ["reconstruction", "model"]


@dataclass(frozen=True)
class Fit:
    """One model's regression; its estimates are NaN unless the status is "ok" (see `fits.fit`).

    ``key`` names the model, and the reconstruction if the cells have several; ``cells`` are its
    rows with answers, ``correct`` and ``answers`` their counts, ``design`` the columns of the
    formula over them. If a covariate has missing values, the only term is "".
    """

    key: dict[str, object]
    cells: pd.DataFrame
    correct: np.ndarray
    answers: np.ndarray
    design: Design
    family: str
    status: str
    coef: np.ndarray
    covariance: np.ndarray
    accuracy: np.ndarray
    loglik: float
    dispersion: float
    identified: bool

    @property
    def model(self) -> str:
        """The model's name."""
        return str(self.key["model"])

    @property
    def terms(self) -> tuple[str, ...]:
        """Names of the coefficients."""
        return tuple(self.design.matrix)

    @property
    def df(self) -> int:
        """Number of coefficients."""
        return len(self.terms)

    @property
    def total(self) -> int:
        """Answers in all cells."""
        return int(self.answers.sum())

    @property
    def se(self) -> np.ndarray:
        """Standard errors."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def z(self) -> np.ndarray:
        """Wald's statistics, NaN if the fit is not identified."""
        z = self.coef / self.se
        return z if self.identified else np.full_like(z, np.nan)

    @property
    def p(self) -> np.ndarray:
        """Two-sided p-values of Wald's test, NaN if the fit is not identified."""
        return 2 * norm.sf(np.abs(self.z))

    @property
    def aic(self) -> float:
        """Akaike's information criterion (Appendix F)."""
        return 2 * self.df - 2 * self.loglik

    @property
    def bic(self) -> float:
        """Bayesian information criterion, with one observation per answer."""
        return np.log(self.total or np.nan) * self.df - 2 * self.loglik


def fit_finite(
    cells: pd.DataFrame,
    formula: str = QUADRATIC,
    family: str = "logit",
) -> list[Fit]:
    """Return the fits of `fit_all` that are finite and unique."""
    return [fit for fit in fit_all(cells, formula, family) if fit.status == "ok"]


def fit_all(
    cells: pd.DataFrame,
    formula: str = QUADRATIC,
    family: str = "logit",
) -> list[Fit]:
    """Fit a binomial regression to every model, and to every reconstruction if there are several.

    Models with the same cells share a design matrix and are fitted together. Cells without answers
    are left out, unless a table has no others.
    """
    check_family(family)
    keys = [name for name in TABLE_KEYS if name in cells]
    answers = cells.groupby(keys, observed=True)["total"].transform("sum")
    rows = cells[(cells["total"] > 0) | (answers == 0)]
    tables = list(rows.groupby(keys, sort=False, observed=True))
    kinds = rows[keys].assign(kind=_number_cells(rows, formula))
    kinds = kinds.groupby(keys, sort=False, observed=True)["kind"].agg(tuple)
    fits: dict[int, Fit] = {}
    for kind in kinds.unique():
        places = [place for place, other in enumerate(kinds) if other == kind]
        group = [tables[place] for place in places]
        fits |= zip(places, _fit_group(group, keys, formula, family), strict=True)
    return [fits[place] for place in range(len(tables))]


def _number_cells(rows: pd.DataFrame, formula: str) -> np.ndarray:
    """Return the same number for rows with the same covariates."""
    # prompt lengths are each model's own; they matter only if the formula has them
    names = {*COVARIATES, *FACTORS} - {"prompt_mean"} | {*name_covariates(formula)}
    covariates = [rows[name] for name in names if name in rows] or [rows["total"] > 0]
    return rows.groupby(covariates, dropna=False, observed=True).ngroup().to_numpy()


def group_by_design(fits: Sequence[Fit]) -> list[list[int]]:
    """Return the places of finite fits in groups with the same design matrix."""
    groups: dict[int, list[int]] = {}
    for place, fit in enumerate(fits):
        if fit.status == "ok":
            groups.setdefault(id(fit.design), []).append(place)
    return list(groups.values())


def _fit_group(
    group: list[tuple[tuple, pd.DataFrame]],
    keys: list[str],
    formula: str,
    family: str,
) -> list[Fit]:
    """Fit tables with the same covariates, row by row; each has a value of the keys."""
    values, tables = zip(*group, strict=True)
    cells = tables[0]
    correct = np.array([table["correct"] for table in tables], dtype=float)
    answers = np.array([table["total"] for table in tables], dtype=float)
    missing = find_missing(cells, formula)
    if missing:
        design = build_design(cells, "correct ~ 1")
        design.matrix.columns = [""]
        statuses = [f"no {missing}"] * len(tables)
    else:
        design = build_design(cells, formula)
        statuses = list_statuses(cells, design, correct, answers, family)
    coef = np.full((len(tables), design.x.shape[1]), np.nan)
    loglik = np.full(len(tables), np.nan)
    finite = [place for place, status in enumerate(statuses) if status == "ok"]
    coef[finite], loglik[finite] = maximise_counts(
        design.x, correct[finite], answers[finite], family
    )
    accuracy, dispersion, covariance = _estimate(
        design.x, correct, answers, coef, family
    )
    identified = are_identified(pd.concat(tables), design.x, family)
    fits = []
    for place, table in enumerate(tables):
        is_lost = statuses[place] == "ok" and np.isnan(loglik[place])
        fits.append(
            Fit(
                key=dict(zip(keys, values[place], strict=True)),
                cells=table,
                correct=correct[place],
                answers=answers[place],
                design=design,
                family=family,
                status="not converged" if is_lost else statuses[place],
                coef=coef[place],
                covariance=covariance[place],
                accuracy=accuracy[place],
                loglik=np.nan if family == QUASI else loglik[place],
                dispersion=dispersion[place],
                identified=bool(identified[place]),
            )
        )
    return fits


def _estimate(
    x: np.ndarray,
    correct: np.ndarray,
    answers: np.ndarray,
    coef: np.ndarray,
    family: str,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return accuracy, dispersion and covariance of each fit, NaN where it has none.

    The covariance is the inverse of the expected information times the dispersion.
    """
    link = FAMILIES[family]
    eta = coef @ x.T
    log_accuracy = link.log_accuracy(eta)
    log_error = link.log_error(eta)
    accuracy = np.exp(log_accuracy)
    weights = answers * np.exp(2 * link.log_slope(eta) - log_accuracy - log_error)
    dispersion = np.ones(len(coef))
    if family == QUASI:
        variance = answers * np.exp(log_accuracy + log_error)
        squares = (correct - answers * accuracy) ** 2
        # where the variance is zero, the accuracy is 0 or 1 to the last digit
        ratios = np.divide(squares, variance, out=0 * squares, where=variance > 0)
        scatter = ratios.sum(axis=1) / (len(x) - x.shape[1] or np.nan)
        dispersion = np.maximum(scatter, 1)
    covariance = np.linalg.inv(sum_squares(x, weights / dispersion[:, None]))
    return accuracy, dispersion, covariance
