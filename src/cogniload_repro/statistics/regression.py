"""A logistic regression on the counts of one model's cells, and whether the printed tables identify it.

Counts by cell give the fit of one row a puzzle, and the log-likelihood is the Bernoulli one of those rows. It depends
on the answers through the sums of its columns over correct answers. Tables 4 and 5 fix the correct answers at each
level of d and of N, Tables 2, 3 and 6 the sums of rho, rho squared and the products of loads: a fit whose columns are
combinations of these is the same in every table of counts that agrees with the paper; any other has a range.
"""

import warnings
from dataclasses import dataclass, replace
from functools import lru_cache

import formulaic
import numpy as np
import pandas as pd
from scipy.optimize import linprog
from scipy.stats import norm
from statsmodels.genmod.families import Binomial, links
from statsmodels.genmod.generalized_linear_model import GLM, GLMResultsWrapper

from cogniload_repro.statistics.checks import check_cells
from cogniload_repro.statistics.design import GRID, PRODUCTS, X
from cogniload_repro.statistics.formulas import build_design, freeze, name_covariates
from cogniload_repro.statistics.likelihood import FAMILIES, QUASI, maximise_all, maximise_link
from cogniload_repro.statistics.syntax import COVARIATES, FACTORS

LINEAR = "correct ~ d + log10_N + rho"
#: The paper's specification (section 3.1.1).
QUADRATIC = "correct ~ d + log10_N + rho + I(rho**2)"
#: The specification of Appendix B.
INTERACTIONS = "correct ~ d * log10_N * rho + I(rho**2)"

#: The paper's symbols for the terms of its formulas.
SYMBOLS = {
    "Intercept": "0", "d": "d", "log10_N": "N", "rho": "rho", "I(rho ** 2)": "rho2",
    "d:log10_N": "dN", "d:rho": "drho", "log10_N:rho": "Nrho", "d:log10_N:rho": "dNrho",
}  # fmt: skip

#: Covariates that are computed from a level, and this one.
_LEVELS = {"log10_N": "N", "rho": "ratio_pct"}
_LINKS = {
    "logit": links.Logit,
    "probit": links.Probit,
    "cloglog": links.CLogLog,
    QUASI: links.Logit,
}
_PLACES = pd.Series(range(len(GRID)), pd.MultiIndex.from_frame(GRID[["N", "d", "ratio_pct"]]))
#: Columns whose sums over correct answers the paper fixes, shape (140, 14 independent of 16).
FIXED_COLUMNS = np.column_stack(
    [
        *(GRID[load] == level for load in ("d", "N") for level in sorted(GRID[load].unique())),
        X[:, 3:5],
    ]
    + [X[:, column] for column in PRODUCTS.values()]
).astype(float)

#: Fits that this process has made, by formula, family and counts: chapters and their verdicts ask for many again.
_FITS: dict[tuple, tuple["Fit", ...]] = {}


@dataclass(frozen=True)
class Fit:
    """A fitted binomial GLM as `fits.fit` shows it, with numbers only if status is "ok".

    eta is the linear predictor of the rows with answers, spec how the formula turns cells into columns.
    """

    terms: tuple[str, ...]
    coef: np.ndarray
    se: np.ndarray
    p: np.ndarray
    covariance: np.ndarray
    loglik: float
    total: int
    status: str
    family: str
    eta: np.ndarray
    spec: "formulaic.ModelSpec | None"

    @property
    def aic(self) -> float:
        """Akaike's information criterion (Appendix F)."""
        return 2 * len(self.terms) - 2 * self.loglik

    @property
    def bic(self) -> float:
        """Bayesian information criterion, one observation an answer."""
        if not self.total:
            return np.nan
        return np.log(self.total) * len(self.terms) - 2 * self.loglik

    @property
    def accuracy(self) -> np.ndarray:
        """Fitted accuracy of the rows with answers."""
        return np.exp(FAMILIES[self.family][0](self.eta))


def glm(
    cells: pd.DataFrame, model: str | None = None, formula: str = QUADRATIC, family: str = "logit"
) -> GLMResultsWrapper:
    """Fit one model's regression and return what statsmodels makes of it.

    Parameters
    ----------
    cells : DataFrame
        As for `fits.fit`.
    model : str, optional
        Which model; not needed if the cells have one.
    formula, family : str
        As for `fits.fit`.

    Returns
    -------
    GLMResults
        Of `statsmodels.GLM` on the counts (correct, wrong) of each configuration: ``summary()``, ``get_prediction()``,
        ``model.fit(cov_type="HC1")`` and so on. Its log-likelihood is that of the counts: larger than the Bernoulli one
        of `fits.fit` by a constant, the sum of log C(total, correct). ``model.spec`` builds the columns for other
        cells: ``results.predict(results.model.spec.get_model_matrix(cells))``. Of reconstructed counts it is the fit of
        one sample; `fits.fit` tells whether the printed tables identify it.

    Raises
    ------
    ValueError
        As for `fits.fit`, or if there is no finite fit (separation, or fewer levels than terms).

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> results = cl.glm(cl.load_cells(), "QwQ-32B")
    >>> results.params.round(2).to_dict()
    {'Intercept': 5.68, 'd': -0.21, 'log10_N': -2.08, 'rho': -3.7, 'I(rho ** 2)': 3.07}
    """
    cells = check_cells(cells, formula)
    own = cells if model is None else cells[cells["model"] == model]
    if len(names := own["model"].unique()) != 1:
        known = ", ".join(map(str, cells["model"].unique()))
        raise ValueError(f"name one model of the cells; they have {known}")
    *_, status, results = _fit_one(own, formula, family, named=True)
    if results is None:
        raise ValueError(f"{names[0]}: {status}; {formula!r} has no finite fit to these cells")
    return results


def fit_glm(cells: pd.DataFrame, formula: str = QUADRATIC, family: str = "logit") -> Fit:
    """Fit one model's accuracy with a binomial GLM of statsmodels (paper, section 3.1.1), once for equal counts."""
    key = _name_fit(
        cells, formula, family, cells["total"].to_numpy(float), cells["correct"].to_numpy(float)
    )
    if key not in _FITS:
        design, spec, k, n, status, results = _fit_one(cells, formula, family)
        beta = np.full(design.shape[1], np.nan) if results is None else results.params
        fit = _describe(design, spec, family, k, n, beta, status)
        if results is not None:
            covariance = (
                results.cov_params().T
            )  # symmetric; laid out as statsmodels' frames: the same last digits
            fit = replace(fit, se=results.bse, p=results.pvalues, covariance=covariance)
        _FITS[key] = (fit,)
    return _FITS[key][0]


def fit_tables(
    cells: pd.DataFrame, correct: np.ndarray, total: np.ndarray, formula: str, family: str = "logit"
) -> tuple[Fit, ...]:
    """Fit one regression to many tables of counts (tables, rows) of the same cells, all with answers, at once."""
    check_family(family)
    if (key := _name_fit(cells, formula, family, total, correct)) in _FITS:
        return _FITS[key]
    design, spec, unknown = _lay_design(cells, formula)
    x = design.to_numpy()
    statuses = np.array(
        [unknown or _obstacle(x, *one) for one in zip(correct, total, strict=True)], dtype=object
    )
    exists, betas = statuses == "ok", np.full((len(correct), x.shape[1]), np.nan)
    if exists.any() and family in ("logit", QUASI):
        betas[exists] = maximise_all(x, total[exists], correct[exists] @ x)[0]
    elif exists.any():
        betas[exists] = maximise_link(x, total[exists], correct[exists], family, _LINKS[family]())
    statuses[exists & np.isnan(betas).any(axis=1)] = "not converged"
    rows = zip(correct, total, betas, statuses, strict=True)
    _FITS[key] = tuple(_describe(design, spec, family, *row) for row in rows)
    return _FITS[key]


def _name_fit(cells: pd.DataFrame, formula: str, family: str, *counts: np.ndarray) -> tuple:
    """Return the key of `_FITS`: everything that fits of these counts depend on."""
    used = (name for name in (*COVARIATES, *FACTORS) if name in cells)
    covariates = tuple((name, freeze(cells, name)) for name in used)
    return formula, family, covariates, *((one.shape, one.tobytes()) for one in counts)


def _fit_one(cells: pd.DataFrame, formula: str, family: str, *, named: bool = False) -> tuple:
    """Return design, spec, correct answers and answers of rows with some, status and results (``named``, or arrays)."""
    check_family(family)
    n, k = cells["total"].to_numpy(float), cells["correct"].to_numpy(float)
    k, n, cells = k[n > 0], n[n > 0], cells[n > 0]
    design, spec, unknown = _lay_design(cells, formula)
    if (status := unknown or _obstacle(design.to_numpy(), k, n)) != "ok":
        return design, spec, k, n, status, None
    with warnings.catch_warnings():  # what statsmodels warns of is a status here
        warnings.simplefilter("ignore")
        x = design if named else design.to_numpy()
        model = GLM(np.column_stack([k, n - k]), x, family=Binomial(_LINKS[family]()))
        model.spec = spec
        precise = {"maxiter": 100, "tol_criterion": "params", "atol": 1e-12, "rtol": 1e-11}
        results = model.fit(**precise)
        if not (off := _off_maximum(results)) < 1e-16:  # scoring may circle around it
            newton = model.fit(method="newton", start_params=results.params, maxiter=200, disp=0)
            results = model.fit(start_params=newton.params, maxiter=1)
            off = _off_maximum(results)
        if not off < 1e-12:
            return design, spec, k, n, "not converged", None
        if family == QUASI and not results.df_resid:
            return design, spec, k, n, "no degree of freedom left for the scatter", None
        if (
            family == QUASI
        ):  # scale="X2" would leave out the numbers of answers; never narrower than binomial
            results = model.fit(scale=max(results.pearson_chi2 / results.df_resid, 1.0), **precise)
    return design, spec, k, n, "ok", results


def _off_maximum(results: GLMResultsWrapper) -> float:
    """Return the square of how far the coefficients are from the maximum, in standard errors."""
    score = results.model.score(results.params, scale=1.0)
    return float(score @ results.normalized_cov_params @ score)


def _lay_design(
    cells: pd.DataFrame, formula: str
) -> tuple[pd.DataFrame, "formulaic.ModelSpec | None", str]:
    """Return a formula's columns, how they are built, and why they can have no fit, or ""."""
    unknown = [
        name for name in name_covariates(formula) if name in cells and cells[name].isna().any()
    ]
    if unknown:
        return pd.DataFrame({"": np.zeros(len(cells))}), None, f"no {unknown[0]}"
    design, spec = build_design(cells, formula)
    return design, spec, _describe_deficiency(design, spec, cells)


def find_deficiency(cells: pd.DataFrame, formula: str) -> str:
    """Return why a formula cannot be fitted to some cells whatever the answers, or "".

    >>> import cogniload_repro as cl
    >>> cells = cl.load_cells(models="QwQ-32B")
    >>> find_deficiency(cells[cells["ratio_pct"] < 20], QUADRATIC)
    'rho takes 2 values, the formula needs 3'
    """
    return _lay_design(cells, formula)[2]


def _describe_deficiency(
    design: pd.DataFrame,
    spec: formulaic.ModelSpec,
    cells: pd.DataFrame,
) -> str:
    """Return why the coefficients of a design are not unique; "" if they are.

    Most often a covariate takes fewer values than its own terms have coefficients. Needles are
    whole, so that one ratio is .05 or .06: such differences alone are no values of rho.
    """
    if design.empty:
        return "no answers"
    for name in (name for name in COVARIATES if name in spec.required_variables):
        others = {*COVARIATES, *FACTORS} - {name}
        terms = [term for term, used in spec.term_variables.items() if not others & {*used}]
        needed = sum(len(spec.term_indices[term]) for term in terms)
        level = _LEVELS.get(name, name)
        values = cells[level if level in cells else name].nunique()
        if values < needed:
            counted = f"{values} value{'s' * (values != 1)}"
            return f"{name.removeprefix('log10_')} takes {counted}, the formula needs {needed}"
    x = design.to_numpy()
    rank = np.linalg.matrix_rank(x)
    if rank < x.shape[1]:
        return f"the cells determine {rank} of its {x.shape[1]} coefficients"
    return ""


def _describe(
    design: pd.DataFrame,
    spec: object,
    family: str,
    k: np.ndarray,
    n: np.ndarray,
    beta: np.ndarray,
    status: str,
) -> Fit:
    """Return a fit with its likelihood, standard errors by the expected information, and tests."""
    x, terms, (log_p, log_q) = design.to_numpy(), tuple(design.columns), FAMILIES[family]
    eta = x @ beta
    loglik = float(k[k > 0] @ log_p(eta[k > 0]) + (n - k)[k < n] @ log_q(eta[k < n]))
    variance = n * np.exp(log_p(eta) + log_q(eta))
    information = x.T @ (x * (n**2 * _LINKS[family]().inverse_deriv(eta) ** 2 / variance)[:, None])
    covariance = np.linalg.inv(information) if status == "ok" else np.full_like(information, np.nan)
    if family == QUASI:
        chi_square, freedom = (
            ((k - n * np.exp(log_p(eta))) ** 2 / variance).sum(),
            len(n) - len(terms),
        )
        covariance = covariance * (max(chi_square / freedom, 1.0) if freedom > 0 else np.nan)
    if family == QUASI or status != "ok":
        loglik = np.nan
    se = np.sqrt(np.diag(covariance))
    p = 2 * norm.sf(np.abs(beta / se))
    return Fit(terms, beta, se, p, covariance, loglik, int(n.sum()), status, family, eta, spec)


def check_family(family: str) -> None:
    """Raise ValueError for a name that is not a key of `FAMILIES`."""
    if family not in FAMILIES:
        raise ValueError(f"there is no family {family!r}; choose one of: {', '.join(FAMILIES)}")


def _obstacle(x: np.ndarray, k: np.ndarray, n: np.ndarray) -> str:
    """Say whether a finite maximum-likelihood fit exists."""
    return _find_obstacle(x.tobytes(), np.where(k == n, 1.0, np.where(k == 0, -1.0, 0.0)).tobytes())


@lru_cache(maxsize=1024)
def _find_obstacle(design: bytes, pattern: bytes) -> str:
    """Decide it from the design and a pattern: at each row all answers are right (1), all wrong (-1) or neither (0).

    Separation is decided by a linear programme: a direction b with x'b >= 0 wherever all answers are right,
    <= 0 wherever all are wrong and 0 elsewhere, other than b = 0, would raise the likelihood for ever.
    """
    sure = np.frombuffer(pattern)
    x = np.frombuffer(design).reshape(len(sure), -1)
    x = x / np.abs(x).max(axis=0)
    one_sided, mixed = x[sure != 0] * sure[sure != 0, None], x[sure == 0]
    if len(mixed) and np.linalg.matrix_rank(mixed) == x.shape[1]:  # no such direction
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


def is_identified(cells: pd.DataFrame, formula: str, family: str = "logit") -> bool:
    """Return whether the printed tables determine a regression of one reconstructed model's counts."""
    if family != "logit":
        return False
    cells = cells[cells["total"] > 0]
    design = build_design(cells, formula)[0].to_numpy()
    return _is_in_span(
        design.tobytes(), tuple(cells[["N", "d", "ratio_pct"]].itertuples(index=False, name=None))
    )


@lru_cache(maxsize=64)
def _is_in_span(design: bytes, at: tuple[tuple, ...]) -> bool:
    """Tell of columns over some cells of the grid what `in_span` tells of columns over all of it."""
    values = np.frombuffer(design).reshape(len(at), -1)
    columns = np.zeros((len(GRID), values.shape[1]))  # for cells of the grid that are left out
    columns[_PLACES.loc[pd.MultiIndex.from_tuples(at)]] = values
    return in_span(columns)


def in_span(columns: np.ndarray) -> bool:
    """Return whether columns over the 140 cells are combinations of those whose sums the paper fixes."""
    scale = np.abs(columns).max(axis=0)
    columns = columns / np.where(scale > 0, scale, 1)
    return bool(
        np.abs(
            columns - FIXED_COLUMNS @ np.linalg.lstsq(FIXED_COLUMNS, columns, rcond=None)[0]
        ).max()
        < 1e-8
    )
