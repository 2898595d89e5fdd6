"""All models in one regression: each has coefficients of its own, drawn from a common normal distribution.

Empirical Bayes in two steps: the models' own fits of the paper's regression with their covariance matrices, then mean
and covariance of the distribution they come from, by expectation-maximisation. Coefficients are those of covariates
measured from the means of the grid, where they are nearly independent of one another.
"""

import numpy as np
import pandas as pd
from scipy.stats import chi2

from cogniload_repro.robustness.uncertainty import Quadratic, fit_quadratics
from cogniload_repro.statistics.capacity import many_points
from cogniload_repro.statistics.design import GRID

_TERMS = ("0", "d", "N", "rho", "rho2")
#: What lies between the ends of the paper's grid: units of d, factors of ten in N, nominal ratio.
_RANGES = {"d": np.ptp(GRID["d"]), "N": np.ptp(np.log10(GRID["N"])), "rho": np.ptp(GRID["ratio_pct"]) / 100}
_TOLERANCE = 1e-8  # of the population's covariance, between two steps


def pool_models(cells: pd.DataFrame) -> pd.DataFrame:
    """Shrink the models' coefficients towards their common mean.

    Returns
    -------
    DataFrame
        One row a model: model, own_* and pooled_* for the coefficients 0, d, N, rho, rho2 in the paper's
        parametrisation, se_own_* and se_pooled_*, and own_ and pooled_ ecl50 (statements), nt50 (fraction), id50
        (units of d).

    Raises
    ------
    ValueError
        If fewer than seven models have a finite fit: five coefficients and their covariance need more.
    """
    fits = fit_quadratics(cells)
    if len(fits) < len(_TERMS) + 2:
        raise ValueError(f"{len(fits)} models have a finite fit, and pooling needs {len(_TERMS) + 2}; keep more models")
    shift = _centring(fits[0])
    estimates = np.array([shift @ fit.fit.coef for fit in fits])
    covariances = np.array([shift @ fit.fit.covariance @ shift.T for fit in fits])
    mean, spread = fit_population(estimates, covariances)
    pooled, posterior = shrink(estimates, covariances, mean, spread)
    back = np.linalg.inv(shift)
    pooled, posterior = pooled @ back.T, back @ posterior @ back.T
    rows = [_row(fit, beta, covariance) for fit, beta, covariance in zip(fits, pooled, posterior, strict=True)]
    return pd.DataFrame(rows)


def heterogeneity_table(pooled: pd.DataFrame) -> pd.DataFrame:
    """Return how far the models' coefficients differ beyond sampling error: a random-effects meta-analysis.

    Parameters
    ----------
    pooled : DataFrame
        As `pool_models` returns it; of it the models' own coefficients with their standard errors.

    Returns
    -------
    DataFrame
        One row a term of the paper's regression: term (d, N, rho, rho2), models, mean (of the models' distribution,
        log-odds per unit), tau (its standard deviation, DerSimonian and Laird), q and p (Cochran's test that all models
        share one coefficient), i2 (share of the scatter that is not sampling error), relative (tau by the size of the
        mean), span (tau times the tested range of the load: log-odds between ends; NaN for rho2, which has none).
    """
    rows = []
    for term in _TERMS[1:]:
        beta, variance = pooled[f"own_{term}"].to_numpy(), pooled[f"se_own_{term}"].to_numpy() ** 2
        weight, df = 1 / variance, len(beta) - 1
        q = float(weight @ (beta - weight @ beta / weight.sum()) ** 2)
        tau2 = max(q - df, 0.0) / (weight.sum() - (weight**2).sum() / weight.sum())
        mean = (beta / (variance + tau2)).sum() / (1 / (variance + tau2)).sum()
        rows.append(
            {
                "term": term, "models": len(beta), "mean": mean, "tau": np.sqrt(tau2), "q": q, "p": chi2.sf(q, df),
                "i2": max(1 - df / q, 0.0), "relative": np.sqrt(tau2) / abs(mean),
                "span": np.sqrt(tau2) * _RANGES.get(term, np.nan),
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def _centring(fit: Quadratic) -> np.ndarray:
    """Return the matrix that turns the paper's coefficients into those of covariates measured from their means."""
    d, N, rho = fit.means["d"], fit.means["log10_N"], fit.means["rho"]
    matrix = np.eye(len(_TERMS))
    matrix[0] = [1, d, N, rho, rho**2]
    matrix[3, 4] = 2 * rho
    return matrix


def fit_population(estimates: np.ndarray, covariances: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return mean and covariance of a normal distribution seen through noise of known covariance.

    Parameters
    ----------
    estimates : ndarray, shape (m, q)
    covariances : ndarray, shape (m, q, q)

    Returns
    -------
    mean : ndarray, shape (q,)
    spread : ndarray, shape (q, q)
        Maximum-likelihood estimates.
    """
    mean, spread = estimates.mean(axis=0), np.cov(estimates.T)
    for _ in range(10_000):
        pooled, posterior = shrink(estimates, covariances, mean, spread)
        mean = pooled.mean(axis=0)
        away = pooled - mean
        new = (posterior + away[:, :, None] * away[:, None, :]).mean(axis=0)
        if np.abs(new - spread).max() <= _TOLERANCE * np.abs(new).max():
            return mean, new
        spread = new
    return mean, spread


def shrink(
    estimates: np.ndarray, covariances: np.ndarray, mean: np.ndarray, spread: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return each model's posterior mean, shape (m, q), and covariance, shape (m, q, q), given the population."""
    weights = spread @ np.linalg.inv(covariances + spread)
    pooled = mean + np.einsum("mij,mj->mi", weights, estimates - mean)
    posterior = spread - weights @ spread
    return pooled, (posterior + posterior.transpose(0, 2, 1)) / 2


def _row(fit: Quadratic, beta: np.ndarray, covariance: np.ndarray) -> dict[str, object]:
    row: dict[str, object] = {"model": fit.model}
    for kind, coef, matrix in (("own", fit.fit.coef, fit.fit.covariance), ("pooled", beta, covariance)):
        row |= {f"{kind}_{term}": value for term, value in zip(_TERMS, coef, strict=True)}
        row |= {f"se_{kind}_{term}": value for term, value in zip(_TERMS, np.sqrt(np.diag(matrix)), strict=True)}
        points = {name: float(value[0]) for name, value in many_points(coef[None], fit.means).items()}
        row |= {f"{kind}_{name}": 10**value if name == "ecl50" else value for name, value in points.items()}
    return row
