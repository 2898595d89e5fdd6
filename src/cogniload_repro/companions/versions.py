"""What changed between the submission's table of regressions and the published one.

Sources: Table 3 of the anonymous submission (14 models, ``data/published/submission2025``) and Table 2 of the ICLR 2026
paper (22 models). Thirteen models are in both. A printed row of coefficients fixes the fitted accuracy of every cell,
and with the puzzles per cell its own standard errors, so rows are compared without any reconstructed count.
"""

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import chi2

from cogniload_repro.published import load_table
from cogniload_repro.reconstruction.sufficient import BETAS
from cogniload_repro.statistics.design import QUADRATIC, X
from cogniload_repro.storage import PUBLISHED

#: Puzzles per cell of the 14 models (submission, section 3).
_PUZZLES = 100
_X = X[:, QUADRATIC]
#: Coefficients are printed to two decimals: the variance of what rounding takes away.
_ROUNDING = np.eye(len(BETAS)) * 0.01**2 / 12


def load_submission() -> pd.DataFrame:
    """Return Table 3 of the submission as numbers, by model."""
    table = pd.read_csv(PUBLISHED / "submission2025" / "table3_glm.csv", index_col="model")
    return table[[*BETAS, "ecl50", "nt50", "id50"]]


def compare_rows() -> pd.DataFrame:
    """Compare the coefficients of both versions in standard errors of their difference.

    The errors are those of two independent samples; had both versions the same answers, they would be smaller and
    every difference larger.

    One row per model of both tables: model; accuracy_then and accuracy_now, the mean accuracy of the grid that each
    row implies; for every term, ``<term>_then``, ``<term>_now`` and ``<term>_z``, the difference in standard
    errors; distance, the chi-square of all five differences together, rounding allowed for; p.
    """
    now, then, rows = load_table("table2").set_index("model"), load_submission(), []
    for model in then.index.intersection(now.index, sort=False):
        old, new = (table.loc[model, list(BETAS)].to_numpy(float) for table in (then, now))
        z = (new - old) / np.sqrt(np.diag(_covariance(old) + _covariance(new)))
        row = {"model": model, "accuracy_then": expit(_X @ old).mean(), "accuracy_now": expit(_X @ new).mean()}
        for place, term in enumerate(BETAS):
            row |= {f"{term}_then": old[place], f"{term}_now": new[place], f"{term}_z": z[place]}
        distance = _distance(old, new)
        rows.append(row | {"distance": distance, "p": chi2.sf(distance, len(BETAS))})
    return pd.DataFrame(rows)


def _covariance(beta: np.ndarray) -> np.ndarray:
    """Return the covariance of a row's coefficients over the grid, with that of their rounding."""
    p = expit(_X @ beta)
    return np.linalg.inv(_X.T @ (_X * (_PUZZLES * p * (1 - p))[:, None])) + _ROUNDING


def _distance(old: np.ndarray, new: np.ndarray) -> float:
    """Return the chi-square of the difference of two rows of coefficients."""
    return float((new - old) @ np.linalg.solve(_covariance(old) + _covariance(new), new - old))
