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
from cogniload_repro.statistics.design import GRID, QUADRATIC, X
from cogniload_repro.statistics.likelihood import maximise
from cogniload_repro.storage import PUBLISHED

TERMS = ("beta_0", "beta_d", "beta_N", "beta_rho", "beta_rho2")
#: Puzzles per cell of the 14 models (submission, section 3).
_PUZZLES = 100
_X = X[:, QUADRATIC]
#: Coefficients are printed to two decimals: the variance of what rounding takes away.
_ROUNDING = np.eye(len(TERMS)) * 0.01**2 / 12

#: What might explain a change, each a rule switched while all else stays.
EXPLANATIONS = {
    "chance": "the same rules, other puzzles or answers",
    "nominal ratio": "the regression takes the nominal ratio, not the actual share of needles",
    "overflows left out": "answers beyond the context budget are not counted",
    "overflows scored": "answers beyond the budget are scored like the others, and the same share of them is correct",
    "answers unread": "the scorer misses the same share of correct answers in every cell",
    "scored and unread": "overflows scored, and answers unread",
}
#: Shares of answers that are fitted to a row, by explanation, and their ranges.
_FITTED = {
    "overflows scored": ("scored",),
    "answers unread": ("unread",),
    "scored and unread": ("scored", "unread"),
}
_RANGES = {"scored": (0.0, 1.0), "unread": (0.0, 0.9)}


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
        One row per model of both tables: model; for every term, ``<term>_then``, ``<term>_now`` and ``<term>_z``, the
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
        The cells behind Table 2: model, N, d, ratio_pct, total, correct, ctx. Where they are reconstructed, so is the
        answer for "overflows left out", since the tables print overflows by d and by N only.

    Returns
    -------
    DataFrame
        One row per model and explanation: model, explanation; scored (share of overflows that are correct) and unread
        (share of correct answers that the scorer misses), which bring the row nearest, NaN where they are not fitted;
        distance, the chi-square of the five coefficients, and p, with a degree of freedom less for each that is fitted.
    """
    then, rows = load_submission(), []
    for model in [name for name in then.index if name in set(cells["model"])]:
        own = GRID.merge(cells[cells["model"] == model].drop(columns=["rho", "needles"], errors="ignore"), how="left")
        old = then.loc[model, list(TERMS)].to_numpy(float)
        for name in EXPLANATIONS:
            new, fitted = _switch(name, own, old)
            distance = _distance(new - old, _covariance(old) + _covariance(new))
            p = chi2.sf(distance, len(TERMS) - len(fitted))
            rows.append({"model": model, "explanation": name} | fitted | {"distance": distance, "p": p})
    return pd.DataFrame(rows, columns=["model", "explanation", *_RANGES, "distance", "p"])


def _switch(name: str, own: pd.DataFrame, old: np.ndarray) -> tuple[np.ndarray, dict[str, float]]:
    """Return the coefficients that cells give under another rule, and what was fitted."""
    if name == "nominal ratio":
        rho = own["ratio_pct"].to_numpy(float) / 100
        n, k = own["total"].to_numpy(float), own["correct"].to_numpy(float)
        return maximise(x := np.column_stack([_X[:, :3], rho, rho**2]), n, x.T @ k)[0], {}

    def refit(values: Sequence[float]) -> np.ndarray:
        n, k = _count(own, "left out" in name, **dict(zip(fitted, values, strict=True)))
        return maximise(_X, n, _X.T @ k)[0]

    def loss(values: Sequence[float]) -> float:
        new = refit(values)
        return _distance(new - old, _covariance(old) + _covariance(new))

    fitted = _FITTED.get(name, ())
    ranges = [_RANGES[one] for one in fitted]
    values: Sequence[float] = ()
    if len(fitted) == 1:
        values = [minimize_scalar(lambda value: loss([value]), bounds=ranges[0], method="bounded").x]
    elif fitted:
        start = [low + 0.2 * (high - low) for low, high in ranges]
        values = minimize(loss, start, method="Powell", bounds=ranges, options={"xtol": 1e-2, "ftol": 1e-4}).x
    return refit(values), dict(zip(fitted, map(float, values), strict=True))


def _count(own: pd.DataFrame, left_out: bool, scored: float = 0, unread: float = 0) -> tuple[np.ndarray, np.ndarray]:
    """Return answers and correct answers by cell under another rule."""
    n, k, over = (own[column].to_numpy(float) for column in ("total", "correct", "ctx"))
    return n - over if left_out else n, (k + scored * over) * (1 - unread)


def _covariance(beta: np.ndarray) -> np.ndarray:
    """Return the covariance of a row's coefficients over the grid, with that of their rounding."""
    p = expit(_X @ beta)
    return np.linalg.inv(_X.T @ (_X * (_PUZZLES * p * (1 - p))[:, None])) + _ROUNDING


def _distance(difference: np.ndarray, covariance: np.ndarray) -> float:
    return float(difference @ np.linalg.solve(covariance, difference))
