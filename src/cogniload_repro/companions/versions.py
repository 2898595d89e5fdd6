"""What changed between the submission's table of regressions and the published one, and what could explain it.

Sources: Table 3 of the anonymous submission (14 models, ``data/published/submission2025``) and Table 2 of the ICLR 2026
paper (22 models). Thirteen models are in both. A printed row of coefficients fixes the fitted accuracy of every cell,
and with the puzzles per cell its own standard errors, so rows are compared without any reconstructed count; only the
explanations need counts.
"""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from scipy.optimize import minimize, minimize_scalar
from scipy.special import expit
from scipy.stats import chi2

from cogniload_repro.published import load_table
from cogniload_repro.reconstruction.sufficient import BETAS
from cogniload_repro.statistics.design import GRID, QUADRATIC, X
from cogniload_repro.statistics.likelihood import maximise
from cogniload_repro.storage import PUBLISHED

#: Puzzles per cell of the 14 models (submission, section 3).
_PUZZLES = 100
_X = X[:, QUADRATIC]
#: Coefficients are printed to two decimals: the variance of what rounding takes away.
_ROUNDING = np.eye(len(BETAS)) * 0.01**2 / 12

_SCORED, _UNREAD = {"scored": (0.0, 1.0)}, {"unread": (0.0, 0.9)}
#: What might explain a change: each a rule switched while all else stays, with the shares fitted to a row, and ranges.
EXPLANATIONS: dict[str, dict[str, tuple[float, float]]] = {
    "chance": {},  # the same rules, other puzzles or answers
    "nominal ratio": {},  # the regression takes the nominal ratio, not the actual share of needles
    "overflows left out": {},  # answers beyond the context budget are not counted
    "overflows scored": _SCORED,  # answers beyond the budget are scored, and the same share of them is correct
    "answers unread": _UNREAD,  # the scorer misses the same share of correct answers in every cell
    "scored and unread": _SCORED | _UNREAD,
}


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


def switch_rules(cells: pd.DataFrame) -> pd.DataFrame:
    """Switch one rule at a time in the cells of the paper, and measure how far the submission's row still is.

    ``cells`` are those behind Table 2, with ctx. Where they are reconstructed, so is the answer for "overflows left
    out", since the tables print overflows by d and by N only.

    One row per model and explanation: model, explanation; scored (share of overflows that are correct) and unread
    (share of correct answers that the scorer misses), which bring the row nearest, NaN where they are not fitted;
    distance, the chi-square of the five coefficients, and p, with a degree of freedom less for each that is fitted.
    """
    then, rows = load_submission(), []
    for model in [name for name in then.index if name in set(cells["model"])]:
        own = GRID.merge(cells[cells["model"] == model].drop(columns=["rho", "needles"], errors="ignore"), how="left")
        old = then.loc[model, list(BETAS)].to_numpy(float)
        for name, ranges in EXPLANATIONS.items():
            distance, values = _switch(name, ranges, own, old)
            fitted = dict(zip(ranges, values, strict=True))
            p = chi2.sf(distance, len(BETAS) - len(fitted))
            rows.append({"model": model, "explanation": name} | fitted | {"distance": distance, "p": p})
    return pd.DataFrame(rows, columns=["model", "explanation", "scored", "unread", "distance", "p"])


def _switch(
    name: str, ranges: dict[str, tuple[float, float]], own: pd.DataFrame, old: np.ndarray
) -> tuple[float, Sequence[float]]:
    """Return how near cells come to a row of coefficients under another rule, and the shares that are fitted."""
    n, k, over = (own[column].to_numpy(float) for column in ("total", "correct", "ctx"))
    n = n - over if name == "overflows left out" else n
    rho = own["ratio_pct"].to_numpy(float) / 100
    x = np.column_stack([_X[:, :3], rho, rho**2]) if name == "nominal ratio" else _X

    def distance(values: Sequence[float]) -> float:
        shares = {"scored": 0.0, "unread": 0.0} | dict(zip(ranges, values, strict=True))
        correct = (k + shares["scored"] * over) * (1 - shares["unread"])
        return _distance(old, maximise(x, n, x.T @ correct)[0])

    bounds, values = list(ranges.values()), list[float]()
    if len(ranges) == 1:
        values = [minimize_scalar(lambda value: distance([value]), bounds=bounds[0], method="bounded").x]
    elif ranges:
        start = [low + 0.2 * (high - low) for low, high in bounds]
        options = {"xtol": 1e-2, "ftol": 1e-4}
        values = minimize(distance, start, method="Powell", bounds=bounds, options=options).x.tolist()
    return distance(values), values


def _covariance(beta: np.ndarray) -> np.ndarray:
    """Return the covariance of a row's coefficients over the grid, with that of their rounding."""
    p = expit(_X @ beta)
    return np.linalg.inv(_X.T @ (_X * (_PUZZLES * p * (1 - p))[:, None])) + _ROUNDING


def _distance(old: np.ndarray, new: np.ndarray) -> float:
    """Return the chi-square of the difference of two rows of coefficients."""
    return float((new - old) @ np.linalg.solve(_covariance(old) + _covariance(new), new - old))
