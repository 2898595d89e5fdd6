"""Whether the answers of a cell scatter as independent trials do around the paper's regression.

Scatter beyond that comes from accuracies the regression misses or from puzzles that are alike. How large it is over all
cells belongs to the table of cells. How much of it at least there must be, the printed tables settle: what the levels
of d and of N and the products of Appendix B explain and the paper's regression does not.
"""

import numpy as np
import pandas as pd
from scipy.stats import chi2, norm

from cogniload_repro.robustness.uncertainty import fit_quadratics
from cogniload_repro.statistics.likelihood import maximise
from cogniload_repro.statistics.regression import dispersion

TERMS = ("0", "d", "N", "rho", "rho2")
_COLUMNS = (
    "model", "phi", "p_phi", "least_phi", "lr", "lr_df", "p_lr",
    *(f"{kind}_{term}" for kind in ("z", "p", "p_least", "p_quasi") for term in TERMS),
)  # fmt: skip


def dispersion_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the paper's regression with standard errors widened by the scatter around it.

    Returns
    -------
    DataFrame
        One row a model: model, phi (Pearson chi-square per degree of freedom), p_phi (of no extra scatter), least_phi
        (settled: the deviance per degree of freedom that every table of counts in agreement with the printed ones has
        at least), lr, lr_df and p_lr (likelihood-ratio test behind it, of the levels of d and N and the products
        against the paper's regression); then for 0, d, N, rho, rho2 the coefficient by its standard error (z_*), and
        two-sided p-values with binomial errors (p_*), with errors widened by the square root of least_phi (p_least_*)
        and of phi (p_quasi_*), if larger than one.
    """
    rows = []
    for quadratic in fit_quadratics(cells):
        df = len(quadratic.n) - len(TERMS)
        phi = dispersion(quadratic.k, quadratic.n, quadratic.accuracy, len(TERMS))
        lr, lr_df = _settled_misfit(quadratic.x, quadratic.k, quadratic.n, quadratic.fit.loglik)
        row = {"model": quadratic.model, "phi": phi, "p_phi": chi2.sf(df * phi, df), "least_phi": lr / df}
        row |= {"lr": lr, "lr_df": lr_df, "p_lr": chi2.sf(lr, lr_df) if lr_df else np.nan}
        z = quadratic.fit.coef / quadratic.fit.se
        row |= {f"z_{term}": value for term, value in zip(TERMS, z, strict=True)}
        for kind, wider in (("p", 1.0), ("p_least", row["least_phi"]), ("p_quasi", phi)):
            p = 2 * norm.sf(np.abs(z) / np.sqrt(max(wider, 1.0)))
            row |= {f"{kind}_{term}": value for term, value in zip(TERMS, p, strict=True)}
        rows.append(row)
    return pd.DataFrame(rows, columns=_COLUMNS).astype(dict.fromkeys(_COLUMNS[1:], float) | {"lr_df": int})


def _settled_misfit(x: np.ndarray, k: np.ndarray, n: np.ndarray, loglik: float) -> tuple[float, int]:
    """Return the likelihood ratio of everything settled against the paper's regression, and its degrees of freedom."""
    d, log10_N, rho = x[:, 1:4].T
    levels = [load == level for load in (d, log10_N) for level in np.unique(load)]
    wide = np.column_stack([x, *levels, d * log10_N, d * rho, log10_N * rho, d * log10_N * rho])
    # as many columns as the grid tells apart; those of an own basis, as levels and loads span one another
    left, values, _ = np.linalg.svd(wide / np.abs(wide).max(axis=0), full_matrices=False)
    basis = left[:, values > 1e-9 * values[0]]
    try:
        return max(2 * (maximise(basis, n, basis.T @ k)[1] - loglik), 0.0), basis.shape[1] - x.shape[1]
    except ValueError:  # a level without a right or a wrong answer
        return 0.0, 0
