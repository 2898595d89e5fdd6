"""What moved between the submission's table of regressions and the published one, and what could have moved it.

Sources: Table 3 of the anonymous submission (14 models, ``data/published/submission2025``) and Table 2 of the ICLR 2026
paper (22 models). Thirteen models are in both. A printed row of coefficients fixes the fitted accuracy of every cell,
and with the puzzles a cell its own standard errors, so rows are compared without any reconstructed count; only the
explanations need counts.
"""

import numpy as np
import pandas as pd
from scipy.optimize import minimize_scalar
from scipy.special import expit
from scipy.stats import chi2

from cogniload_repro.published import load_table
from cogniload_repro.statistics.design import GRID, QUADRATIC, X
from cogniload_repro.statistics.likelihood import maximise
from cogniload_repro.storage import PUBLISHED

TERMS = ("beta_0", "beta_d", "beta_N", "beta_rho", "beta_rho2")
#: Puzzles a cell of the 14 models (submission, section 3).
_PUZZLES = 100
_X = X[:, QUADRATIC]
#: Coefficients are printed to two decimals: the variance of what rounding takes away.
_ROUNDING = np.eye(len(TERMS)) * 0.01**2 / 12

#: What might lie between the two, each a rule switched while all else stays.
EXPLANATIONS = {
    "chance": "the same rules, other puzzles or answers",
    "nominal ratio": "the regression takes the nominal ratio, not the actual share of needles",
    "overflows left out": "answers beyond the context budget are not counted",
    "answers unread": "the same share of right answers is not found in every cell",
    "left out and unread": "both of these",
}


def load_submission() -> pd.DataFrame:
    """Return Table 3 of the submission as numbers, by model."""
    table = pd.read_csv(PUBLISHED / "submission2025" / "table3_glm.csv", index_col="model")
    return table[[*TERMS, "ecl50", "nt50", "id50"]]


def compare_rows() -> pd.DataFrame:
    """Compare the coefficients of both versions in standard errors of their difference.

    The errors are those of two independent samples; had both versions the same answers, they would be smaller and
    every difference larger.

    Returns
    -------
    DataFrame
        One row a model of both tables: model; for every term, ``<term>_then``, ``<term>_now`` and ``<term>_z``, the
        difference in standard errors; accuracy_then and accuracy_now, the mean accuracy of the grid that each row
        implies; distance, the chi-square of all five differences together, rounding allowed for; p.
    """
    now, then = load_table("table2").set_index("model"), load_submission()
    rows = []
    for model in [name for name in then.index if name in now.index]:
        old, new = then.loc[model, list(TERMS)].to_numpy(float), now.loc[model, list(TERMS)].to_numpy(float)
        covariance = _covariance(old) + _covariance(new)
        z = (new - old) / np.sqrt(np.diag(covariance))
        row = {"model": model, "accuracy_then": expit(_X @ old).mean(), "accuracy_now": expit(_X @ new).mean()}
        for place, term in enumerate(TERMS):
            row |= {f"{term}_then": old[place], f"{term}_now": new[place], f"{term}_z": z[place]}
        distance = _distance(new - old, covariance)
        rows.append(row | {"distance": distance, "p": chi2.sf(distance, len(TERMS))})
    return pd.DataFrame(rows)


def switch_rules(cells: pd.DataFrame) -> pd.DataFrame:
    """Switch one rule at a time in the cells of the paper, and measure how far the submission's row still is.

    Parameters
    ----------
    cells : DataFrame
        The cells behind Table 2: model, N, d, ratio_pct, n, correct, ctx. Where they are reconstructed, so is the
        answer for "overflows left out", since the tables print overflows by d and by N only.

    Returns
    -------
    DataFrame
        One row a model and explanation: model, explanation; share, of right answers unread (fitted, only for those
        explanations); distance, the chi-square of the five coefficients, and p, with one degree of freedom less for a
        fitted share.
    """
    then = load_submission()
    rows = []
    for model in [name for name in then.index if name in set(cells["model"])]:
        own = GRID.merge(cells[cells["model"] == model].drop(columns=["rho", "needles"], errors="ignore"), how="left")
        old = then.loc[model, list(TERMS)].to_numpy(float)
        for name in EXPLANATIONS:
            new, share = _switch(name, own, old)
            distance = _distance(new - old, _covariance(old) + _covariance(new))
            p = chi2.sf(distance, len(TERMS) - (share is not None))
            rows.append({"model": model, "explanation": name, "share": share, "distance": distance, "p": p})
    return pd.DataFrame(rows).astype({"share": float})


def _switch(name: str, own: pd.DataFrame, old: np.ndarray) -> tuple[np.ndarray, float | None]:
    """Return the coefficients that cells give under another rule, and a fitted share if there is one."""
    n, k = own["n"].to_numpy(float), own["correct"].to_numpy(float)
    if name == "nominal ratio":
        rho = own["ratio_pct"].to_numpy(float) / 100
        return maximise(x := np.column_stack([_X[:, :3], rho, rho**2]), n, x.T @ k)[0], None
    if "left out" in name:
        n = n - own["ctx"].to_numpy(float)
    if "unread" not in name:
        return maximise(_X, n, _X.T @ k)[0], None

    def refit(share: float) -> np.ndarray:
        return maximise(_X, n, _X.T @ (k * (1 - share)))[0]

    def loss(share: float) -> float:
        new = refit(share)
        return _distance(new - old, _covariance(old) + _covariance(new))

    share = float(minimize_scalar(loss, bounds=(0, 0.9), method="bounded").x)
    return refit(share), share


def _covariance(beta: np.ndarray) -> np.ndarray:
    """Return the covariance of a row's coefficients over the grid, with that of their rounding."""
    p = expit(_X @ beta)
    return np.linalg.inv(_X.T @ (_X * (_PUZZLES * p * (1 - p))[:, None])) + _ROUNDING


def _distance(difference: np.ndarray, covariance: np.ndarray) -> float:
    return float(difference @ np.linalg.solve(covariance, difference))
