"""Binomial regression on the counts of one model's cells.

Counts by cell give the same estimates as one row per answer. The log-likelihood is the Bernoulli
one of single answers: it leaves out the binomial coefficients. `likelihood` maximises it for all
fits; statsmodels' GLM is used only by `glm`, for the results object of a single model.
"""

import warnings
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_linear_model import GLM, GLMResultsWrapper

from cogniload_repro.regression.checks import check_cells
from cogniload_repro.regression.existence import (
    describe_deficiency,
    find_missing,
    is_separated,
)
from cogniload_repro.regression.families import FAMILIES, QUASI, check_family
from cogniload_repro.regression.formulas import build_design
from cogniload_repro.regression.likelihood import maximise_counts

LINEAR = "correct ~ d + log10_N + rho"
#: The paper's specification (section 3.1.1).
QUADRATIC = "correct ~ d + log10_N + rho + I(rho**2)"
#: The specification of Appendix B.
INTERACTIONS = "correct ~ d * log10_N * rho + I(rho**2)"

#: The paper's symbols for the terms of its formulas.
SYMBOLS = {
    "Intercept": "0",
    "d": "d",
    "log10_N": "N",
    "rho": "rho",
    "I(rho ** 2)": "rho2",
    "d:log10_N": "dN",
    "d:rho": "drho",
    "log10_N:rho": "Nrho",
    "d:log10_N:rho": "dNrho",
}

#: statsmodels stops when no coefficient changes by more than this.
_PRECISE = {"maxiter": 100, "tol_criterion": "params", "atol": 1e-12, "rtol": 1e-11}


@dataclass(frozen=True)
class Fit:
    """A fitted regression; its estimates are NaN unless the status is "ok" (see `fits.fit`).

    ``accuracy`` is the fitted accuracy of each row with answers.
    """

    terms: tuple[str, ...]
    coef: np.ndarray
    se: np.ndarray
    p: np.ndarray
    covariance: np.ndarray
    loglik: float
    total: int
    status: str
    accuracy: np.ndarray

    @property
    def aic(self) -> float:
        """Akaike's information criterion (Appendix F)."""
        return 2 * len(self.terms) - 2 * self.loglik

    @property
    def bic(self) -> float:
        """Bayesian information criterion, with one observation per answer."""
        if not self.total:
            return np.nan
        return np.log(self.total) * len(self.terms) - 2 * self.loglik


def glm(
    cells: pd.DataFrame,
    model: str | None = None,
    formula: str = QUADRATIC,
    family: str = "logit",
) -> GLMResultsWrapper:
    """Fit one model's regression and return the results object of statsmodels.

    Parameters
    ----------
    cells : DataFrame
        As for `fits.fit`.
    model : str, optional
        Name of the model; not needed if the cells have only one.
    formula, family : str
        As for `fits.fit`.

    Returns
    -------
    GLMResults
        Of `statsmodels.GLM` on the counts (correct, wrong) of each configuration, started at the
        maximum that `fits.fit` finds: ``summary()``, ``get_prediction()``,
        ``model.fit(cov_type="HC1")`` and so on. Its log-likelihood is the binomial one, which
        exceeds the Bernoulli one of `fits.fit` by a constant, the sum of log C(total, correct).
        ``model.spec`` builds the design matrix for other cells:
        ``results.predict(results.model.spec.get_model_matrix(cells))``. Reconstructed counts are
        fitted as given; `fits.fit` says whether the printed tables identify the fit.

    Raises
    ------
    ValueError
        As for `fits.fit`, or if there is no unique finite fit (separation, too few levels).

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> results = cl.glm(cl.load_cells(), "QwQ-32B")
    >>> results.params.round(2).to_dict()
    {'Intercept': 5.68, 'd': -0.21, 'log10_N': -2.08, 'rho': -3.7, 'I(rho ** 2)': 3.07}
    """
    check_family(family)
    cells = check_cells(cells, formula)
    counts = cells if model is None else cells[cells["model"] == model]
    names = counts["model"].unique()
    if len(names) != 1:
        known = ", ".join(cells["model"].unique())
        raise ValueError(f"name one model of the cells; they have {known}")
    fit = fit_glm(counts, formula, family)
    if fit.status != "ok":
        raise ValueError(
            f"{names[0]}: {fit.status}; {formula!r} has no finite fit to these cells"
        )
    answered = counts[counts["total"] > 0]
    design, spec = build_design(answered, formula)
    wrong = answered["total"] - answered["correct"]
    outcomes = np.column_stack([answered["correct"], wrong]).astype(float)
    regression = GLM(outcomes, design, family=Binomial(FAMILIES[family].link))
    with warnings.catch_warnings():  # the status covers what statsmodels warns of
        warnings.simplefilter("ignore")
        results = regression.fit(start_params=fit.coef, **_PRECISE)
        if family == QUASI:
            # dispersion of at least 1; scale="X2" would ignore the numbers of answers
            scatter = max(results.pearson_chi2 / results.df_resid, 1.0)
            results = regression.fit(start_params=fit.coef, scale=scatter, **_PRECISE)
    results.model.spec = spec
    return results


def fit_glm(
    cells: pd.DataFrame,
    formula: str = QUADRATIC,
    family: str = "logit",
) -> Fit:
    """Fit a binomial GLM to one model's counts (paper, section 3.1.1), as `fit_tables` does."""
    counts = cells[cells["total"] > 0]
    correct = counts["correct"].to_numpy(float)
    total = counts["total"].to_numpy(float)
    (fit,) = fit_tables(counts, correct[None], total[None], formula, family)
    return fit


def fit_tables(
    cells: pd.DataFrame,
    correct: np.ndarray,
    total: np.ndarray,
    formula: str,
    family: str = "logit",
) -> tuple[Fit, ...]:
    """Fit one regression to many tables of counts for the same cells at once.

    ``correct`` and ``total`` (answers) have the shape (tables, cells), all totals above zero. If a
    covariate has missing values, each fit has a single term without a name.
    """
    check_family(family)
    missing = find_missing(cells, formula)
    if missing:
        design = pd.DataFrame({"": np.zeros(len(cells))})
        deficiency = f"no {missing}"
    else:
        design, spec = build_design(cells, formula)
        deficiency = describe_deficiency(cells, design, spec)
    x = design.to_numpy()
    statuses = []
    for k, n in zip(correct, total, strict=True):
        statuses.append(deficiency or _find_obstacle(x, k, n, family))
    exists = np.array(statuses) == "ok"
    coef = np.full((len(correct), x.shape[1]), np.nan)
    if exists.any():
        coef[exists] = maximise_counts(x, correct[exists], total[exists], family)
    fits = []
    for k, n, status, b in zip(correct, total, statuses, coef, strict=True):
        if status == "ok" and np.isnan(b).any():
            status = "not converged"
        fits.append(_describe_fit(design, family, k, n, status, b))
    return tuple(fits)


def _find_obstacle(
    x: np.ndarray, correct: np.ndarray, total: np.ndarray, family: str
) -> str:
    """Return why counts have no finite fit with full-rank covariates, "ok" if they have one."""
    if is_separated(x, correct, total):
        return "separation"
    cells, terms = x.shape
    if family == QUASI and cells == terms:
        return "no residual degrees of freedom to estimate the dispersion"
    return "ok"


def _describe_fit(
    design: pd.DataFrame,
    family: str,
    correct: np.ndarray,
    total: np.ndarray,
    status: str,
    coef: np.ndarray,
) -> Fit:
    """Return a fit with log-likelihood, and Wald tests from the expected information."""
    x = design.to_numpy()
    terms = x.shape[1]
    covariance = np.full((terms, terms), np.nan)
    loglik = np.nan
    eta = x @ coef
    link = FAMILIES[family]
    if status == "ok":
        log_p = link.log_accuracy(eta)
        log_q = link.log_error(eta)
        weights = total * np.exp(2 * link.log_slope(eta) - log_p - log_q)
        covariance = np.linalg.inv(x.T @ (x * weights[:, None]))
        loglik = _sum_logs(correct, log_p) + _sum_logs(total - correct, log_q)
    if status == "ok" and family == QUASI:
        chi_square = _chi_square(correct, total, log_p, log_q)
        covariance *= max(chi_square / (len(total) - terms), 1.0)
        loglik = np.nan
    se = np.sqrt(np.diag(covariance))
    return Fit(
        terms=tuple(design.columns),
        coef=coef,
        se=se,
        p=2 * norm.sf(np.abs(coef / se)),
        covariance=covariance,
        loglik=loglik,
        total=int(total.sum()),
        status=status,
        accuracy=np.exp(link.log_accuracy(eta)),
    )


def _sum_logs(counts: np.ndarray, logs: np.ndarray) -> float:
    """Return the sum of counts times logarithms, with 0 log 0 = 0."""
    occurs = counts > 0
    return float(counts[occurs] @ logs[occurs])


def _chi_square(
    correct: np.ndarray,
    total: np.ndarray,
    log_p: np.ndarray,
    log_q: np.ndarray,
) -> float:
    """Return Pearson's chi-square of counts, given log p and log q = log(1 - p)."""
    squares = (correct - total * np.exp(log_p)) ** 2
    variance = total * np.exp(log_p + log_q)
    varies = variance > 0  # elsewhere fitted and observed accuracy are both 0 or 1
    return float((squares[varies] / variance[varies]).sum())
