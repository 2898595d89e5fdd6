"""A ceiling below one: the share of answers that go wrong whatever the load.

The paper's regression lets accuracy rise to one as loads fall. Here it rises to a ceiling of its own for each model.
The ceiling is no sum over answers, so that the printed tables do not settle it: it belongs to the table of cells.
"""

import numpy as np
import pandas as pd
from scipy.optimize import minimize
from scipy.special import expit, log_expit
from scipy.stats import chi2

from cogniload_repro.robustness.families import correct_holm
from cogniload_repro.robustness.uncertainty import Quadratic, fit_quadratics

_COLUMNS = ["model", "ceiling", "daic", "p", "p_holm", "ecl50"]
_HIGHEST = 12.0  # log-odds of a ceiling that is one


def fit_lapses(cells: pd.DataFrame) -> pd.DataFrame:
    """Fit the paper's regression with a ceiling below one.

    Returns
    -------
    DataFrame
        One row a model: model, ceiling (fraction), daic (AIC less the paper's), p (likelihood ratio against a ceiling
        of one, which lies on the edge: half the chi-square tail), p_holm (over the models), ecl50 (statements at which
        the accuracy itself is one half, the other loads at their means; NaN if the ceiling is below that).
    """
    rows = []
    for quadratic in fit_quadratics(cells):
        beta, ceiling, gain = _fit(quadratic)
        row = {
            "model": quadratic.model,
            "ceiling": ceiling,
            "daic": 2 - gain,
            "p": chi2.sf(gain, 1) / 2,
            "ecl50": np.nan,
        }
        if ceiling > 0.5 and beta[2] < 0:
            means = quadratic.means
            at = beta[0] + beta[1] * means["d"] + beta[3] * means["rho"] + beta[4] * means["rho"] ** 2
            row["ecl50"] = float(10 ** ((-np.log(2 * ceiling - 1) - at) / beta[2]))  # expit(eta) = 1 / (2 ceiling)
        rows.append(row)
    table = pd.DataFrame(rows, columns=[name for name in _COLUMNS if name != "p_holm"])
    return table.assign(p_holm=correct_holm(table["p"]))[_COLUMNS]


def _fit(quadratic: Quadratic) -> tuple[np.ndarray, float, float]:
    """Return coefficients, ceiling and twice the gain in log-likelihood over a ceiling of one."""
    basis, triangle = np.linalg.qr(quadratic.x)
    k, n = quadratic.k, quadratic.n

    def loss(theta: np.ndarray) -> tuple[float, np.ndarray]:
        eta, log_ceiling, ceiling = basis @ theta[:-1], log_expit(theta[-1]), expit(theta[-1])
        p = np.minimum(ceiling * expit(eta), 1 - 1e-12)
        by_log_p = k - (n - k) * p / (1 - p)
        gradient = np.append(basis.T @ (by_log_p * expit(-eta)), by_log_p.sum() * (1 - ceiling))
        return -float(k @ (log_ceiling + log_expit(eta)) + (n - k) @ np.log1p(-p)), -gradient

    found = min(
        (
            minimize(loss, np.append(triangle @ quadratic.fit.coef, start), jac=True, method="L-BFGS-B",
                     bounds=[(None, None)] * basis.shape[1] + [(None, _HIGHEST)], options={"maxiter": 500})
            for start in (_HIGHEST, 2.0)
        ),
        key=lambda one: one.fun,
    )  # fmt: skip
    gain = max(2 * (-found.fun - quadratic.fit.loglik), 0.0)
    return np.linalg.solve(triangle, found.x[:-1]), float(expit(found.x[-1])), gain
