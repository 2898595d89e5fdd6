"""Logistic regressions on the counts of each cell, and the capacity points derived from them.

The covariates are constant inside a cell, so fitting (correct, wrong) counts gives the coefficients and standard
errors of one row a puzzle; the log-likelihood reported here is the Bernoulli one of those rows.
"""

import warnings
from dataclasses import dataclass

import formulaic
import numpy as np
import pandas as pd
from scipy.optimize import linprog
from scipy.stats import chi2
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_linear_model import GLM

LINEAR = "correct ~ d + log10_N + rho"
#: The paper's specification (section 3.1.1).
QUADRATIC = "correct ~ d + log10_N + rho + I(rho**2)"
#: The specification of Appendix B.
INTERACTIONS = "correct ~ d * log10_N * rho + I(rho**2)"
#: Names a formula may use, beside functions such as I(), C(), bs() and np.sqrt().
COVARIATES = ("d", "N", "log10_N", "rho", "ratio_pct", "needles")

#: The paper's symbols for the terms of its formulas.
SYMBOLS = {
    "Intercept": "0", "d": "d", "log10_N": "N", "rho": "rho", "I(rho ** 2)": "rho2",
    "d:log10_N": "dN", "d:rho": "drho", "log10_N:rho": "Nrho", "d:log10_N:rho": "dNrho",
}  # fmt: skip


@dataclass(frozen=True)
class Fit:
    """A fitted binomial GLM with logit link.

    Attributes
    ----------
    terms : tuple of str
    coef, se, p : ndarray
        Log-odds, their standard errors and two-sided Wald p-values; NaN unless status is "ok".
    covariance : ndarray
    loglik : float
        Bernoulli log-likelihood of the n answers.
    n : int
        Answers.
    status : str
        "ok", "separation", "not identified" or "not converged".
    """

    terms: tuple[str, ...]
    coef: np.ndarray
    se: np.ndarray
    p: np.ndarray
    covariance: np.ndarray
    loglik: float
    n: int
    status: str

    @property
    def aic(self) -> float:
        """Akaike's information criterion (Appendix F)."""
        return 2 * len(self.terms) - 2 * self.loglik


def fit_glm(cells: pd.DataFrame, formula: str = QUADRATIC) -> Fit:
    """Fit one model's accuracy with a binomial GLM, logit link (paper, section 3.1.1).

    Parameters
    ----------
    cells : DataFrame
        Columns N, d, rho, correct and, for counts, n (without it every row is one answer).
    formula : str
        ``correct ~ ...`` over the names in `COVARIATES`.

    Raises
    ------
    ValueError
        If the formula cannot be read or names something unknown.
    """
    cells = cells.assign(log10_N=np.log10(cells["N"].astype(float)))
    n = cells["n"].to_numpy(float) if "n" in cells else np.ones(len(cells))
    k = cells["correct"].to_numpy(float)
    cells, k, n = cells[n > 0], k[n > 0], n[n > 0]
    design = _design(cells, formula)
    x = design.to_numpy(float)
    terms = tuple(design.columns)
    status = _obstacle(x, k, n)
    if status == "ok":
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # whatever statsmodels warns of is decided by _obstacle and converged
            result = GLM(np.column_stack([k, n - k]), x, family=Binomial()).fit(tol=1e-12)
        if not result.converged:
            status = "not converged"
    if status != "ok":
        nan = np.full(len(terms), np.nan)
        return Fit(terms, nan, nan, nan, np.full((len(terms),) * 2, np.nan), np.nan, int(n.sum()), status)
    eta = x @ result.params
    loglik = float(k @ eta - n @ np.logaddexp(0, eta))
    return Fit(
        terms, result.params, result.bse, result.pvalues, result.cov_params(), loglik, int(n.sum()), "ok"
    )  # fmt: skip


def _design(cells: pd.DataFrame, formula: str) -> pd.DataFrame:
    left, tilde, right = formula.partition("~")
    if not tilde or left.strip() != "correct":
        raise ValueError(f"formula {formula!r} must read 'correct ~ ...' over {', '.join(COVARIATES)}")
    names = [c for c in (*COVARIATES,) if c in cells]
    try:
        return pd.DataFrame(formulaic.model_matrix(right, cells[names], na_action="raise", context={"np": np}))
    except Exception as error:
        # formulaic raises many types, all of them for a formula that cannot be built on these columns
        reason = str(error).splitlines()[0]
        raise ValueError(f"formula {formula!r} cannot be built from {', '.join(names)}: {reason}") from None


def _obstacle(x: np.ndarray, k: np.ndarray, n: np.ndarray) -> str:
    """Say whether a finite maximum-likelihood fit exists.

    Separation is decided by a linear programme: a direction b with x'b >= 0 wherever all answers are right,
    <= 0 wherever all are wrong and 0 elsewhere, other than b = 0, would raise the likelihood for ever.
    """
    if len(x) == 0 or np.linalg.matrix_rank(x) < x.shape[1]:
        return "not identified"
    x = x / np.abs(x).max(axis=0)
    sure = np.where(k == n, 1.0, np.where(k == 0, -1.0, 0.0))
    one_sided, mixed = x[sure != 0] * sure[sure != 0, None], x[sure == 0]
    if len(one_sided) == 0:
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


def grid_means(cells: pd.DataFrame) -> dict[str, float]:
    """Return the means of d, log10 N and rho over the covered cells, each cell counted once (section 3.1.3)."""
    grid = cells[["N", "d", "rho"]].drop_duplicates()
    return {
        "d": grid["d"].mean(),
        "log10_N": np.log10(grid["N"].astype(float)).mean(),
        "rho": grid["rho"].mean(),
    }


def capacity_points(beta: np.ndarray, means: dict[str, float]) -> dict[str, float]:
    """Return ECL50, NT50 and ID50 of a quadratic fit (paper, section 3.1.3).

    Parameters
    ----------
    beta : ndarray, shape (5,)
        Coefficients of 1, d, log10 N, rho, rho^2.
    means : dict
        Means of d, log10_N and rho to hold the other loads at.

    Returns
    -------
    dict
        ecl50 (statements), nt50 (fraction, the largest root in [0, 1], NaN if none), id50 (units of d).
    """
    b0, bd, bN, br, br2 = beta
    at_rho = br * means["rho"] + br2 * means["rho"] ** 2
    with np.errstate(over="ignore"):
        ecl50 = float(np.float64(10) ** (-(b0 + bd * means["d"] + at_rho) / bN))
    roots = np.roots([br2, br, b0 + bd * means["d"] + bN * means["log10_N"]])
    inside = [r.real for r in roots if abs(r.imag) < 1e-12 and 0 <= r.real <= 1]
    return {
        "ecl50": ecl50,
        "nt50": max(inside, default=np.nan),
        "id50": float(-(b0 + bN * means["log10_N"] + at_rho) / bd),
    }


def glm_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return Table 2: the quadratic fit of every model.

    Returns
    -------
    DataFrame
        One row a model: model, beta_*, se_*, p_* for 0, d, N, rho, rho2; ecl50, nt50, id50; aic, loglik, n, status.
    """
    rows = []
    for model, own in _by_model(cells):
        fit = fit_glm(own, QUADRATIC)
        row = {"model": model}
        for name, values in (("beta", fit.coef), ("se", fit.se), ("p", fit.p)):
            row |= {f"{name}_{SYMBOLS[t]}": v for t, v in zip(fit.terms, values, strict=True)}
        points = dict.fromkeys(("ecl50", "nt50", "id50"), np.nan)
        if fit.status == "ok":
            points = capacity_points(fit.coef, grid_means(own))
        rows.append(row | points | {"aic": fit.aic, "loglik": fit.loglik, "n": fit.n, "status": fit.status})
    return pd.DataFrame(rows)


def interactions_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return Table 3: interaction coefficients, each with the p-value of the likelihood-ratio test of dropping it.

    Returns
    -------
    DataFrame
        One row a model: model, beta_* and p_* for dN, drho, Nrho, dNrho; status.
    """
    rows = []
    for model, own in _by_model(cells):
        full = fit_glm(own, INTERACTIONS)
        row = {"model": model}
        for term, coef in zip(full.terms, full.coef, strict=True):
            if ":" in term:
                dropped = fit_glm(own, f"{INTERACTIONS} - {term}")
                row[f"beta_{SYMBOLS[term]}"] = coef
                row[f"p_{SYMBOLS[term]}"] = likelihood_ratio(full, dropped)
        rows.append(row | {"status": full.status})
    return pd.DataFrame(rows)


def aic_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return Table 6: AIC without and with rho^2, and the likelihood-ratio p-value.

    Returns
    -------
    DataFrame
        One row a model: model, p_lr, aic_linear, aic_quadratic, status.
    """
    rows = []
    for model, own in _by_model(cells):
        linear, quadratic = fit_glm(own, LINEAR), fit_glm(own, QUADRATIC)
        rows.append(
            {
                "model": model,
                "p_lr": likelihood_ratio(quadratic, linear),
                "aic_linear": linear.aic,
                "aic_quadratic": quadratic.aic,
                "status": quadratic.status if linear.status == "ok" else linear.status,
            }
        )
    return pd.DataFrame(rows)


def fit_table(cells: pd.DataFrame, formula: str = QUADRATIC) -> pd.DataFrame:
    """Return any regression, fitted for every model.

    Returns
    -------
    DataFrame
        One row a model and term: model, term, coef, se, z, p, n, loglik, aic, status.
    """
    frames = []
    for model, own in _by_model(cells):
        fit = fit_glm(own, formula)
        frame = pd.DataFrame({"term": list(fit.terms), "coef": fit.coef, "se": fit.se, "p": fit.p})
        frame.insert(0, "model", model)
        frame.insert(4, "z", frame["coef"] / frame["se"])
        frames.append(frame.assign(n=fit.n, loglik=fit.loglik, aic=fit.aic, status=fit.status))
    return pd.concat(frames, ignore_index=True)


def print_fits(fits: pd.DataFrame) -> str:
    """Return the fits of `fit_table` as lines of text; a fit that failed shows its status in place of numbers."""
    lines = []
    for model, own in fits.groupby("model", sort=False):
        status = own["status"].iloc[0]
        if status == "ok":
            numbers = "  ".join(f"{row.term} {row.coef:.4g} ({row.se:.2g})" for row in own.itertuples())
            lines.append(f"{model}: {numbers}  AIC {own['aic'].iloc[0]:.1f}")
        else:
            lines.append(f"{model}: {status}")
    return "\n".join(lines)


def likelihood_ratio(full: Fit, reduced: Fit) -> float:
    """Return the p-value of the likelihood-ratio test of a reduced against a full model."""
    statistic = max(2 * (full.loglik - reduced.loglik), 0.0)
    return float(chi2.sf(statistic, len(full.terms) - len(reduced.terms)))


def _by_model(cells: pd.DataFrame):
    return cells.groupby("model", sort=False, observed=True)
