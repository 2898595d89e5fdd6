"""Binomial regression on counts by cell, one fit per model.

Counts by cell give the same estimates as one row per answer. The log-likelihood is the Bernoulli
one of single answers: it leaves out the binomial coefficients.
"""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm

from cogniload_repro.regression.existence import list_statuses
from cogniload_repro.regression.families import FAMILIES, Link, check_family
from cogniload_repro.regression.formulas import (
    COVARIATES,
    QUADRATIC,
    Design,
    build_design,
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
    formula over them.
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
    covariates = rows.reindex(columns=COVARIATES)
    hashes = pd.util.hash_pandas_object(covariates, index=False)
    by_table = rows.assign(kind=hashes).groupby(keys, sort=False, observed=True)
    # the same number for tables with the same cells
    kinds = by_table["kind"].agg(tuple).map(hash)
    fits: dict[int, Fit] = {}
    for kind in kinds.unique():
        places = np.flatnonzero(kinds == kind)
        group = [tables[place] for place in places]
        fitted = _fit_group(group, keys, formula, family)
        fits |= zip(places, fitted, strict=True)
    return [fits[place] for place in range(len(tables))]


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
    design = build_design(cells, formula)
    statuses = list_statuses(cells, formula, design.x, correct, answers)
    coef, loglik = maximise_counts(design.x, correct, answers, family)
    # the search for a maximum that does not exist ends anywhere
    is_infinite = np.array(statuses) != "ok"
    coef[is_infinite] = np.nan
    loglik[is_infinite] = np.nan
    accuracy, covariance = _estimate(design.x, answers, coef, FAMILIES[family])
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
                loglik=loglik[place],
                identified=bool(identified[place]),
            )
        )
    return fits


def _estimate(
    x: np.ndarray,
    answers: np.ndarray,
    coef: np.ndarray,
    link: Link,
) -> tuple[np.ndarray, np.ndarray]:
    """Return accuracy and covariance of each fit, NaN where it has none.

    The covariance is the inverse of the expected information.
    """
    eta = coef @ x.T
    log_accuracy = link.log_accuracy(eta)
    log_error = link.log_error(eta)
    log_variance = log_accuracy + log_error
    weights = answers * np.exp(2 * link.log_slope(eta) - log_variance)
    information = sum_squares(x, weights)
    return np.exp(log_accuracy), np.linalg.inv(information)
