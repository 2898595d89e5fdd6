"""A logistic regression on the counts of one model's cells.

The covariates are constant inside a cell, so fitting (correct, wrong) counts gives the coefficients and standard
errors of one row a puzzle; the log-likelihood reported here is the Bernoulli one of those rows.
"""

import warnings
from dataclasses import dataclass
from functools import lru_cache

import formulaic
import numpy as np
import pandas as pd
from scipy.optimize import linprog
from scipy.special import expit, log_expit, log_ndtr
from scipy.stats import norm
from statsmodels.genmod.families import Binomial, links
from statsmodels.genmod.generalized_linear_model import GLM

from cogniload_repro.statistics.formulas import COVARIATES, FACTORS, build_design, expand_design, name_covariates
from cogniload_repro.statistics.likelihood import maximise_all

LINEAR = "correct ~ d + log10_N + rho"
#: The paper's specification (section 3.1.1).
QUADRATIC = "correct ~ d + log10_N + rho + I(rho**2)"
#: The specification of Appendix B.
INTERACTIONS = "correct ~ d * log10_N * rho + I(rho**2)"

#: Families by the name of their link: the statsmodels class, and the logarithms of p and of 1 - p as functions of the
#: linear predictor. All are binomial; quasi-binomial is logit with standard errors widened by the observed scatter.
FAMILIES = {
    "logit": (links.Logit, log_expit, lambda eta: log_expit(-eta)),
    "probit": (links.Probit, log_ndtr, lambda eta: log_ndtr(-eta)),
    "cloglog": (links.CLogLog, lambda eta: np.log(-np.expm1(-np.exp(eta))), lambda eta: -np.exp(eta)),
}
QUASI = "quasi-binomial"
FAMILIES[QUASI] = FAMILIES["logit"]

#: The paper's symbols for the terms of its formulas.
SYMBOLS = {
    "Intercept": "0", "d": "d", "log10_N": "N", "rho": "rho", "I(rho ** 2)": "rho2",
    "d:log10_N": "dN", "d:rho": "drho", "log10_N:rho": "Nrho", "d:log10_N:rho": "dNrho",
}  # fmt: skip


@dataclass(frozen=True)
class Fit:
    """A fitted binomial GLM.

    Attributes
    ----------
    terms : tuple of str
    coef, se, p : ndarray
        Log-odds, their standard errors and two-sided Wald p-values; NaN unless status is "ok".
    covariance : ndarray
    loglik : float
        Bernoulli log-likelihood of the n answers; NaN for quasi-binomial, which has no likelihood.
    total : int
        Answers.
    status : str
        "ok", "separation", "not identified", "not converged", or "no NAME" for a covariate that is not known.
    family : str
        A key of `FAMILIES`.
    eta : ndarray
        Linear predictor of the rows with answers.
    spec : formulaic.ModelSpec
        How the formula turns cells into columns; knots and levels stay those of the fit.
    """

    terms: tuple[str, ...]
    coef: np.ndarray
    se: np.ndarray
    p: np.ndarray
    covariance: np.ndarray
    loglik: float
    total: int
    status: str
    family: str = "logit"
    eta: np.ndarray | None = None
    spec: formulaic.ModelSpec | None = None

    @property
    def aic(self) -> float:
        """Akaike's information criterion (Appendix F)."""
        return 2 * len(self.terms) - 2 * self.loglik

    @property
    def bic(self) -> float:
        """Bayesian information criterion, one observation an answer."""
        return np.log(self.total) * len(self.terms) - 2 * self.loglik

    @property
    def accuracy(self) -> np.ndarray:
        """Fitted accuracy of the rows with answers."""
        return np.exp(FAMILIES[self.family][1](self.eta))

    def expand(self, cells: pd.DataFrame) -> np.ndarray:
        """Return the design matrix at each row of a frame with the covariates that the formula names."""
        return expand_design(cells, self.spec)


def fit_glm(cells: pd.DataFrame, formula: str = QUADRATIC, family: str = "logit") -> Fit:
    """Fit one model's accuracy with a binomial GLM (paper, section 3.1.1: logit link).

    Parameters
    ----------
    cells : DataFrame
        Columns N, d, rho, correct and, for counts, n (without it every row is one answer).
    formula : str
        ``correct ~ ...`` over the names in `formulas.COVARIATES`.
    family : str
        A key of `FAMILIES`.

    Raises
    ------
    ValueError
        If there is no such family, the formula cannot be read or names something unknown, or a row has not
        0 <= correct <= n.
    """
    check_family(family)
    cells, k, n = _counts(cells)
    columns = ((name, cells[name].to_numpy()) for name in COVARIATES if name in cells)
    values = tuple((name, column.dtype.str, column.tobytes()) for name, column in columns)
    words = tuple((name, tuple(cells[name].fillna("").astype(str))) for name in FACTORS if name in cells)
    return _fit_counts(formula, family, values, words, k.tobytes(), n.tobytes())


@lru_cache(maxsize=1024)
def _fit_counts(
    formula: str,
    family: str,
    values: tuple[tuple[str, str, bytes], ...],
    words: tuple[tuple[str, tuple[str, ...]], ...],
    correct: bytes,
    answers: bytes,
) -> Fit:
    """Fit the same counts once, whichever of a chapter's analyses asks for it."""
    k, n = np.frombuffer(correct), np.frombuffer(answers)
    covariates = {name: np.frombuffer(content, dtype) for name, dtype, content in values}
    cells = pd.DataFrame({**covariates, **dict(words)}, index=range(len(n)))
    unknown = [name for name in name_covariates(formula) if name in cells and cells[name].isna().any()]
    if unknown:
        return _failed((), int(n.sum()), f"no {unknown[0]}", family)
    design, spec = build_design(cells, formula)
    x, terms = design.to_numpy(), tuple(design.columns)
    status = _obstacle(x, k, n)
    if status != "ok":
        return _failed(terms, int(n.sum()), status, family, spec)
    if (found := _maximise(x, k, n, family)) is None:
        return _failed(terms, int(n.sum()), "not converged", family, spec)
    return _describe(x, k, n, *found, terms, family, spec)


def _describe(
    x: np.ndarray,
    k: np.ndarray,
    n: np.ndarray,
    beta: np.ndarray,
    covariance: np.ndarray,
    terms: tuple[str, ...],
    family: str,
    spec: formulaic.ModelSpec,
) -> Fit:
    """Return a fit with its likelihood, standard errors and tests."""
    eta = x @ beta
    _, log_p, log_q = FAMILIES[family]
    loglik = float(k[k > 0] @ log_p(eta[k > 0]) + (n - k)[k < n] @ log_q(eta[k < n]))
    if family == QUASI:
        covariance, loglik = covariance * max(dispersion(k, n, np.exp(log_p(eta)), len(terms)), 1.0), np.nan
    se = np.sqrt(np.diag(covariance))
    p = 2 * norm.sf(np.abs(beta / se))
    return Fit(terms, beta, se, p, covariance, loglik, int(n.sum()), "ok", family, eta, spec)


def fit_tables(cells: pd.DataFrame, counts: np.ndarray, formula: str, family: str = "logit") -> list[Fit]:
    """Fit the same regression to many tables of one model's correct answers.

    Parameters
    ----------
    cells : DataFrame
        As for `fit_glm`, every row with answers and known covariates.
    counts : ndarray, shape (tables, rows)
        Correct answers.
    formula, family : str
        As for `fit_glm`.
    """
    if family not in ("logit", QUASI):
        return [fit_glm(cells.assign(correct=correct), formula, family) for correct in counts]
    design, spec = build_design(cells, formula)
    x, terms, n = design.to_numpy(), tuple(design.columns), cells["total"].to_numpy(float)
    obstacles = [_obstacle(x, k, n) for k in counts]
    feasible = np.array([status == "ok" for status in obstacles])
    betas = np.full((len(counts), len(terms)), np.nan)
    betas[feasible] = maximise_all(x, np.tile(n, (feasible.sum(), 1)), counts[feasible] @ x)[0]
    fits = []
    for k, beta, status in zip(counts, betas, obstacles, strict=True):
        if status != "ok" or np.isnan(beta).any():
            status = status if status != "ok" else "not converged"
            fits.append(_failed(terms, int(n.sum()), status, family, spec))
            continue
        p = expit(x @ beta)
        fits.append(
            _describe(x, k, n, beta, np.linalg.inv(x.T @ (x * (n * p * (1 - p))[:, None])), terms, family, spec)
        )
    return fits


def check_family(family: str) -> None:
    """Raise ValueError for a name that is not a key of `FAMILIES`."""
    if family not in FAMILIES:
        raise ValueError(f"there is no family {family!r}; choose one of: {', '.join(FAMILIES)}")


def dispersion(k: np.ndarray, n: np.ndarray, p: np.ndarray, terms: int) -> float:
    """Return Pearson's chi-square by its degrees of freedom: 1 for independent answers around a right model.

    Parameters
    ----------
    k, n : ndarray
        Correct answers and answers of each cell.
    p : ndarray
        Fitted accuracies.
    terms : int
        Coefficients that were fitted; NaN is returned if there are as many as cells.
    """
    p = np.clip(p, 1e-12, 1 - 1e-12)
    chi_square = ((k - n * p) ** 2 / (n * p * (1 - p))).sum()
    return float(chi_square / (len(n) - terms)) if len(n) > terms else np.nan


def _counts(cells: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return the rows with answers, their correct answers and their answers."""
    former = cells.get("n", pd.Series(1.0, cells.index))  # n: the column's former name; without it one answer per row
    n = cells.get("total", former).to_numpy(float)
    k = cells["correct"].to_numpy(float)
    impossible = ~((k >= 0) & (k <= n))
    if impossible.any():
        row = int(impossible.argmax())
        raise ValueError(f"row {row} of the cells has {k[row]:g} correct of {n[row]:g} answers; count the scores again")
    return cells[n > 0], k[n > 0], n[n > 0]


def _failed(terms: tuple[str, ...], n: int, status: str, family: str, spec: formulaic.ModelSpec | None = None) -> Fit:
    nan = np.full(len(terms), np.nan)
    return Fit(terms, nan, nan, nan, np.full((len(terms),) * 2, np.nan), np.nan, n, status, family, nan, spec)


def _maximise(x: np.ndarray, k: np.ndarray, n: np.ndarray, family: str) -> tuple[np.ndarray, np.ndarray] | None:
    """Return coefficients and their covariance, by the expected information; None where there is no convergence."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # whatever statsmodels warns of is decided by _obstacle and converged
        # convergence of the coefficients: the rounding error of the deviance grows with n
        model = GLM(np.column_stack([k, n - k]), x, family=Binomial(FAMILIES[family][0]()))
        result = model.fit(tol=1e-10, rtol=1e-10, tol_criterion="params")
        if result.converged:
            return result.params, result.cov_params()
        # scoring may circle around an optimum that Newton's method reaches, whose covariance is of the observed one
        result = model.fit(method="newton", start_params=result.params, tol=1e-10, disp=False)
        if not result.mle_retvals["converged"]:
            return None
        return result.params, np.linalg.inv(-model.hessian(result.params, observed=False))


def _obstacle(x: np.ndarray, k: np.ndarray, n: np.ndarray) -> str:
    """Say whether a finite maximum-likelihood fit exists.

    Separation is decided by a linear programme: a direction b with x'b >= 0 wherever all answers are right,
    <= 0 wherever all are wrong and 0 elsewhere, other than b = 0, would raise the likelihood for ever. Where the cells
    with both kinds of answer determine all coefficients there is no such direction, and no programme to solve.
    """
    if len(x) == 0 or np.linalg.matrix_rank(x) < x.shape[1]:
        return "not identified"
    x = x / np.abs(x).max(axis=0)
    sure = np.where(k == n, 1.0, np.where(k == 0, -1.0, 0.0))
    one_sided, mixed = x[sure != 0] * sure[sure != 0, None], x[sure == 0]
    if len(mixed) and np.linalg.matrix_rank(mixed) == x.shape[1]:
        return "ok"
    programme = linprog(
        -one_sided.sum(axis=0),
        A_ub=-one_sided,
        b_ub=np.zeros(len(one_sided)),
        A_eq=mixed if len(mixed) else None,
        b_eq=np.zeros(len(mixed)) if len(mixed) else None,
        bounds=[(-1, 1)] * x.shape[1],
    )
    return "separation" if programme.status == 0 and -programme.fun > 1e-6 else "ok"
