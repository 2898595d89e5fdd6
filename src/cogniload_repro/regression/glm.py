"""Binomial regression on counts by cell, one fit per model.

Counts by cell give the same estimates as one row per answer. The log-likelihood is the Bernoulli
one of single answers: it leaves out the binomial coefficients. `likelihood` fits the logit link to
all models with the same cells at once; statsmodels fits other links, one model at a time.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.special import xlog1py, xlogy
from scipy.stats import norm
from statsmodels.genmod.families import Binomial, links
from statsmodels.genmod.generalized_linear_model import GLM, GLMResultsWrapper

from cogniload_repro.regression.checks import check_cells
from cogniload_repro.regression.existence import (
    describe_deficiency,
    find_missing,
    is_separated,
)
from cogniload_repro.regression.formulas import (
    COVARIATES,
    FACTORS,
    Design,
    build_design,
    name_covariates,
)
from cogniload_repro.regression.likelihood import maximise_all

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

QUASI = "quasi-binomial"
#: Link functions. Quasi-binomial is logit with the covariance multiplied by Pearson's dispersion
#: (at least 1).
FAMILIES = {
    "logit": links.Logit(),
    "probit": links.Probit(),
    "cloglog": links.CLogLog(),
    QUASI: links.Logit(),
}
#: Columns that identify a table of counts: a model's, in one of several reconstructions.
TABLE_KEYS = ["reconstruction", "model"]
#: statsmodels stops when no coefficient changes by more than this.
_NEWTON = {"maxiter": 30, "tol": 1e-10, "disp": False}
_LARGEST_SCORE = 1e-5
_PRECISE = {"maxiter": 100, "tol_criterion": "params", "atol": 1e-12, "rtol": 1e-11}


def check_family(family: str) -> None:
    """Raise ValueError for a name that is not a key of `FAMILIES`."""
    if family not in list(FAMILIES):  # a list is not hashable
        names = ", ".join(FAMILIES)
        raise ValueError(f"there is no family {family!r}; choose one of: {names}")


@dataclass(frozen=True)
class Fit:
    """One model's regression; its estimates are NaN unless the status is "ok" (see `fits.fit`).

    ``cells`` are the model's rows with answers, ``design`` the columns of the formula over them;
    it is None if a covariate has missing values.
    """

    cells: pd.DataFrame
    design: Design | None
    family: str
    status: str
    terms: tuple[str, ...]
    coef: np.ndarray
    covariance: np.ndarray
    loglik: float
    accuracy: np.ndarray

    @property
    def model(self) -> str:
        """The model's name."""
        return str(self.cells["model"].iloc[0])

    @property
    def key(self) -> dict[str, object]:
        """The model, and the reconstruction if the cells have several."""
        return {
            name: self.cells[name].iloc[0] for name in TABLE_KEYS if name in self.cells
        }

    @property
    def correct(self) -> np.ndarray:
        """Correct answers by cell."""
        return self.cells["correct"].to_numpy(float)

    @property
    def answers(self) -> np.ndarray:
        """Answers by cell."""
        return self.cells["total"].to_numpy(float)

    @property
    def total(self) -> int:
        """Answers in all cells."""
        return int(self.cells["total"].sum())

    @property
    def se(self) -> np.ndarray:
        """Standard errors."""
        return np.sqrt(np.diag(self.covariance))

    @property
    def p(self) -> np.ndarray:
        """Two-sided p-values of Wald's test."""
        return 2 * norm.sf(np.abs(self.coef / self.se))

    @property
    def aic(self) -> float:
        """Akaike's information criterion (Appendix F)."""
        return 2 * len(self.terms) - 2 * self.loglik

    @property
    def bic(self) -> float:
        """Bayesian information criterion, with one observation per answer."""
        return np.log(self.total or np.nan) * len(self.terms) - 2 * self.loglik


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
        Of `statsmodels.GLM` on the counts (correct, wrong) of each configuration: ``summary()``,
        ``get_prediction()``, ``model.fit(cov_type="HC1")`` and so on. Its log-likelihood is the
        binomial one, which exceeds the Bernoulli one of `fits.fit` by a constant, the sum of log
        C(total, correct). ``model.spec`` builds the design matrix for other cells:
        ``results.predict(results.model.spec.get_model_matrix(cells))``.

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
    known = cells["model"].unique() if "model" in cells else []
    chosen = cells if model is None else cells[cells["model"] == model]
    if (model is not None and chosen.empty) or (len(known) > 1 and model is None):
        raise ValueError(f"name one model of the cells; they have {', '.join(known)}")
    (fit,) = fit_all(check_cells(chosen, formula), formula, family)
    if fit.status != "ok" or fit.design is None:
        raise ValueError(
            f"{fit.model}: {fit.status}; {formula!r} has no finite fit to these cells"
        )
    regression = _lay_glm(fit.design.matrix, fit.correct, fit.answers, family)
    results = regression.fit(start_params=fit.coef, **_PRECISE)
    if family == QUASI:
        # dispersion of at least 1; scale="X2" would ignore the numbers of answers
        scatter = max(results.pearson_chi2 / results.df_resid, 1.0)
        results = regression.fit(start_params=fit.coef, scale=scatter, **_PRECISE)
    results.model.spec = fit.design.spec
    return results


def _lay_glm(
    design: pd.DataFrame | np.ndarray,
    correct: np.ndarray,
    answers: np.ndarray,
    family: str,
) -> GLM:
    """Return statsmodels' regression of correct and wrong answers."""
    outcomes = np.column_stack([correct, answers - correct])
    return GLM(outcomes, design, family=Binomial(FAMILIES[family]))


def fit_all(
    cells: pd.DataFrame, formula: str = QUADRATIC, family: str = "logit"
) -> list[Fit]:
    """Fit a binomial regression to every model, and to every reconstruction if there are several.

    The design matrix is built once for all models with the same cells.
    """
    check_family(family)
    fits = []
    for tables in _group_tables(cells, formula):
        fits += _fit_group(tables, formula, family)
    order = {key: place for place, key in enumerate(_list_keys(cells))}
    return sorted(fits, key=lambda fit: order[tuple(fit.key.values())])


def fit_finite(
    cells: pd.DataFrame, formula: str = QUADRATIC, family: str = "logit"
) -> list[Fit]:
    """Return the fits of `fit_all` that are finite and unique."""
    return [fit for fit in fit_all(cells, formula, family) if fit.status == "ok"]


def group_by_design(fits: Sequence[Fit]) -> list[list[int]]:
    """Return the places of finite fits in groups with the same design matrix."""
    groups: dict[int, list[int]] = {}
    for place, fit in enumerate(fits):
        if fit.status == "ok":
            groups.setdefault(id(fit.design), []).append(place)
    return list(groups.values())


def _list_keys(cells: pd.DataFrame) -> list[tuple]:
    names = [name for name in TABLE_KEYS if name in cells]
    return list(cells[names].drop_duplicates().itertuples(index=False, name=None))


def _group_tables(cells: pd.DataFrame, formula: str) -> Iterator[list[pd.DataFrame]]:
    """Yield groups of tables of counts, one per model, with the same covariates by row.

    Tables without answers are kept, with no rows to fit.
    """
    keys = [name for name in TABLE_KEYS if name in cells]
    # prompt lengths are each model's own; they matter only if the formula has them
    others = [name for name in (*COVARIATES, *FACTORS) if name != "prompt_mean"]
    names = [name for name in {*others, *name_covariates(formula)} if name in cells]
    codes = pd.util.hash_pandas_object(cells[names], index=False).to_numpy()
    groups: dict[bytes, list[pd.DataFrame]] = {}
    for _, places in cells.groupby(keys, sort=False, observed=True).indices.items():
        answered = places[cells["total"].to_numpy()[places] > 0]
        rows = answered if len(answered) else places
        groups.setdefault(codes[rows].tobytes(), []).append(cells.iloc[rows])
    yield from groups.values()


def _fit_group(tables: list[pd.DataFrame], formula: str, family: str) -> list[Fit]:
    """Fit models with the same cells."""
    cells = tables[0]
    missing = find_missing(cells, formula)
    design = None if missing else build_design(cells, formula)
    deficiency = f"no {missing}"
    if design is not None:
        answered = cells[cells["total"] > 0]
        deficiency = describe_deficiency(answered, design)
    terms = ("",) if design is None else tuple(design.matrix.columns)
    correct = np.array([table["correct"] for table in tables], dtype=float)
    answers = np.array([table["total"] for table in tables], dtype=float)
    x = np.zeros((len(cells), 1)) if design is None else design.x
    pairs = zip(correct, answers, strict=True)
    statuses = [deficiency or _find_obstacle(x, *pair, family) for pair in pairs]
    is_finite = np.array(statuses) == "ok"
    coef = np.full((len(tables), len(terms)), np.nan)
    coef[is_finite] = _maximise(x, correct[is_finite], answers[is_finite], family)
    fits = []
    for table, status, b in zip(tables, statuses, coef, strict=True):
        if status == "ok" and np.isnan(b).any():
            status = "not converged"
        fits.append(_describe_fit(table, design, family, status, terms, b))
    return fits


def _find_obstacle(
    x: np.ndarray, correct: np.ndarray, answers: np.ndarray, family: str
) -> str:
    """Return why counts have no finite fit with full-rank covariates, "ok" if they have one."""
    if is_separated(x, correct, answers):
        return "separation"
    cells, terms = x.shape
    if family == QUASI and cells == terms:
        return "no residual degrees of freedom to estimate the dispersion"
    return "ok"


def _maximise(
    x: np.ndarray, correct: np.ndarray, answers: np.ndarray, family: str
) -> np.ndarray:
    """Return the coefficients of each table of counts, NaN if the fit does not converge."""
    coef, _ = maximise_all(x, answers, correct @ x)
    if family in ("logit", QUASI):
        return coef
    for place, (k, n) in enumerate(zip(correct, answers, strict=True)):
        coef[place] = _fit_by_statsmodels(_lay_glm(x, k, n, family))
    return coef


def _fit_by_statsmodels(regression: GLM) -> np.ndarray:
    """Return the coefficients by scoring or, if it circles around the maximum, by Newton steps.

    They are NaN if the score is not zero to `_LARGEST_SCORE` standard errors.
    """
    with warnings.catch_warnings():  # the status covers what statsmodels warns of
        warnings.simplefilter("ignore")
        results = regression.fit(**_PRECISE)
        if not results.converged:
            start = results.params
            results = regression.fit(method="newton", start_params=start, **_NEWTON)
        score = regression.score(results.params)
        information = -regression.hessian(results.params)
    distance = score @ np.linalg.solve(information, score)
    return np.where(distance < _LARGEST_SCORE**2, results.params, np.nan)


def _describe_fit(
    cells: pd.DataFrame,
    design: Design | None,
    family: str,
    status: str,
    terms: tuple[str, ...],
    coef: np.ndarray,
) -> Fit:
    """Return a fit with log-likelihood and the inverse of its expected information."""
    covariance = np.full((len(terms), len(terms)), np.nan)
    loglik = np.nan
    accuracy = np.full(len(cells), np.nan)
    if status == "ok" and design is not None:
        link = FAMILIES[family]
        eta = design.x @ coef
        with np.errstate(over="ignore"):
            accuracy = link.inverse(eta)
        correct = cells["correct"].to_numpy(float)
        answers = cells["total"].to_numpy(float)
        variance = accuracy * (1 - accuracy)
        varies = variance > 0  # elsewhere the accuracy is 0 or 1 to the last digit
        slopes = link.inverse_deriv(eta) ** 2
        weights = answers * np.divide(slopes, variance, out=slopes * 0, where=varies)
        covariance = np.linalg.inv(design.x.T @ (design.x * weights[:, None]))
        loglik = float(
            np.sum(xlogy(correct, accuracy) + xlog1py(answers - correct, -accuracy))
        )
    if status == "ok" and family == QUASI:
        squares = (correct - answers * accuracy)[varies] ** 2
        chi_square = (squares / (answers * variance)[varies]).sum()
        covariance *= max(chi_square / (len(cells) - len(terms)), 1.0)
        loglik = np.nan
    return Fit(cells, design, family, status, terms, coef, covariance, loglik, accuracy)
