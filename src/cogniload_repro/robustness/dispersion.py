"""Whether the answers of a cell scatter as independent trials do around the paper's regression.

Scatter beyond that comes from accuracies the regression misses or from puzzles that are alike. In reconstructed cells
only the first can show: the counts within the printed limits were drawn as independent trials.
"""

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import betaln, expit
from scipy.stats import chi2, norm
from statsmodels.tools.numdiff import approx_hess

from cogniload_repro.robustness.uncertainty import Quadratic, fit_quadratics
from cogniload_repro.statistics.regression import dispersion

_TERMS = ("0", "d", "N", "rho", "rho2")
_LOG_PRECISION = (-3.0, 15.0)  # of the beta distribution; at the upper end it is binomial


def dispersion_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the paper's regression with extra scatter, quasi-binomial and beta-binomial.

    Returns
    -------
    DataFrame
        One row a model: model, phi (Pearson chi-square per degree of freedom), p_phi (of no extra scatter),
        z_* (coefficient by its binomial standard error) and p_* and p_quasi_* (two-sided p-values with binomial
        and with quasi-binomial standard errors, factor sqrt(phi), at least 1) for 0, d, N, rho, rho2; icc
        (correlation of the answers of a cell in the beta-binomial model), daic_beta (its AIC less the paper's),
        p_beta (likelihood ratio, icc = 0 against > 0) and p_beta_* (Wald).
    """
    rows = []
    for quadratic in fit_quadratics(cells):
        phi, df = dispersion(quadratic.k, quadratic.n, quadratic.accuracy, len(_TERMS)), len(quadratic.n) - len(_TERMS)
        z = quadratic.fit.coef / quadratic.fit.se
        row = {"model": quadratic.model, "phi": phi, "p_phi": chi2.sf(df * phi, df)}
        row |= {f"z_{term}": value for term, value in zip(_TERMS, z, strict=True)}
        row |= {f"p_{term}": 2 * norm.sf(abs(value)) for term, value in zip(_TERMS, z, strict=True)}
        quasi = z / np.sqrt(max(row["phi"], 1))
        row |= {f"p_quasi_{term}": 2 * norm.sf(abs(value)) for term, value in zip(_TERMS, quasi, strict=True)}
        rows.append(row | _fit_beta_binomial(quadratic))
    return pd.DataFrame(rows)


def _fit_beta_binomial(quadratic: Quadratic) -> dict[str, float]:
    scale = np.abs(quadratic.x).max(axis=0)
    start = np.append(quadratic.fit.coef * scale, 4.0)
    found = minimize(
        beta_binomial_loss,
        start,
        args=(quadratic.x / scale, quadratic.k, quadratic.n),
        method="L-BFGS-B",
        bounds=[(None, None)] * len(_TERMS) + [_LOG_PRECISION],
        options={"maxiter": 1000, "maxfun": 20_000, "ftol": 1e-13, "gtol": 1e-8},
    )
    gain = 2 * max(-found.fun - quadratic.fit.loglik, 0.0)
    precision, data = found.x[-1], (quadratic.x / scale, quadratic.k, quadratic.n)
    hessian = approx_hess(found.x[:-1], lambda beta: beta_binomial_loss(np.append(beta, precision), *data), 1e-3)
    covariance = np.linalg.inv(hessian)
    z = found.x[:-1] / np.sqrt(np.diag(covariance))
    row = {"icc": expit(-precision), "daic_beta": 2 - gain, "p_beta": chi2.sf(gain, 1) / 2}
    return row | {f"p_beta_{term}": 2 * norm.sf(abs(value)) for term, value in zip(_TERMS, z, strict=True)}


def beta_binomial_loss(theta: np.ndarray, x: np.ndarray, k: np.ndarray, n: np.ndarray) -> float:
    """Return minus the beta-binomial log-likelihood of single answers, without binomial coefficients.

    Parameters
    ----------
    theta : ndarray, shape (q + 1,)
        Coefficients of the logit, and the logarithm of the precision a + b.
    x : ndarray, shape (c, q)
    k, n : ndarray, shape (c,)
    """
    p, precision = np.clip(expit(x @ theta[:-1]), 1e-12, 1 - 1e-12), np.exp(theta[-1])
    a, b = p * precision, (1 - p) * precision
    return -float((betaln(k + a, n - k + b) - betaln(a, b)).sum())
