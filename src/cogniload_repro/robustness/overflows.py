"""Answers that ran out of context: counted as wrong, as the paper has it, left out, or as an outcome of their own.

How overflows divide over the ratios is not printed, so these fits belong to the table of cells at hand; how many
there are at each d and each N is printed, and with them the accuracy among the answers that were finished.
"""

from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import fisher_exact

from cogniload_repro.published import correct_by, load_table
from cogniload_repro.robustness.families import correct_holm
from cogniload_repro.statistics.capacity import capacity_points, grid_means
from cogniload_repro.statistics.likelihood import maximise_multinomial
from cogniload_repro.statistics.regression import QUADRATIC, Fit, fit_glm

_COLUMNS = [
    "model", "overflows", "treatment", "status", "beta_N", "se_N", "se_log10_ecl50", "ecl50", "nt50", "id50",
]  # fmt: skip
_NONE = dict.fromkeys(("ecl50", "nt50", "id50"), np.nan)


def compare_treatments(cells: pd.DataFrame) -> pd.DataFrame:
    """Return capacity points with overflows counted as wrong, excluded, and as a competing outcome.

    Excluding them asks how a model does where it finishes; the competing outcome asks the same of a multinomial
    logit with the outcomes wrong, correct and overflow, in which correct against wrong has the paper's terms.

    Parameters
    ----------
    cells : DataFrame
        Cells frame; without the column ctx nothing can be said of overflows.

    Returns
    -------
    DataFrame
        One row a model and treatment: model, overflows (answers), treatment, status, beta_N, se_N, ecl50
        (statements), se_log10_ecl50, nt50 (fraction), id50 (units of d); NaN where a fit does not exist. A model
        without overflows has the paper's treatment only. Empty if overflows are not known.
    """
    rows = []
    if "ctx" not in cells:
        return pd.DataFrame(columns=_COLUMNS)
    for model, own in cells[cells["total"] > 0].groupby("model", sort=False, observed=True):
        overflows = int(own["ctx"].sum())
        fits = {"wrong": _describe(fit_glm(own), own)}
        if overflows:
            fits["excluded"] = _describe(fit_glm(own.assign(total=own["total"] - own["ctx"])), own)
            fits["competing"] = _fit_competing(own)
        rows += [{"model": model, "overflows": overflows, "treatment": key, **row} for key, row in fits.items()]
    return pd.DataFrame(rows, columns=_COLUMNS)


def _describe(fit: Fit, own: pd.DataFrame) -> dict[str, object]:
    return _row(fit.status, fit.coef, fit.covariance, own)


def _row(status: str, beta: np.ndarray, covariance: np.ndarray, own: pd.DataFrame) -> dict[str, object]:
    row = {"status": status, "beta_N": np.nan, "se_N": np.nan, "se_log10_ecl50": np.nan} | _NONE
    if status == "ok":
        means = grid_means(own)
        points = capacity_points(beta, means)
        at = np.array([1, means["d"], np.log10(points["ecl50"]), means["rho"], means["rho"] ** 2])
        row |= {"beta_N": beta[2], "se_N": np.sqrt(covariance[2, 2])}
        row |= {"se_log10_ecl50": np.sqrt(at @ covariance @ at) / abs(beta[2])} | points
    return row


def _fit_competing(own: pd.DataFrame) -> dict[str, object]:
    """Fit the multinomial logit, one row an answer, and describe correct against wrong."""
    nothing = np.full(5, np.nan), np.full((5, 5), np.nan)
    for outcome in (own["ctx"], own["correct"]):  # whether each outcome alone has a finite fit
        status = fit_glm(own.assign(correct=outcome), QUADRATIC).status
        if status != "ok":
            return _row(status, *nothing, own)
    counts = np.column_stack([own["total"] - own["correct"] - own["ctx"], own["correct"], own["ctx"]]).astype(float)
    rho = own["rho"].to_numpy(float)
    x = np.column_stack([np.ones(len(own)), own["d"], np.log10(own["N"].astype(float)), rho, rho**2])
    try:
        beta, covariance, _ = maximise_multinomial(x, counts)
    except ValueError:
        return _row("not converged", *nothing, own)
    return _row("ok", beta[0], covariance[:5, :5], own)


def finished_answers(N: int) -> pd.DataFrame:
    """Return the accuracy among answers that were finished within the context at one length, from Table 5 alone.

    Returns
    -------
    DataFrame
        One row a model: model, correct, finished and overflows (answers), counted and among (accuracy of all answers,
        with overflows wrong, and of the finished ones; fractions), highest (accuracy if every overflow were right).
    """
    table = correct_by("table5").query("N == @N").set_index("model")
    ctx = load_table("table5").query("N == @N").set_index("model")["ctx"]
    correct, samples = table["correct"].astype(int), table["samples"].astype(int)
    columns = {"correct": correct, "finished": samples - ctx, "overflows": ctx, "counted": correct / samples}
    columns |= {"among": correct / (samples - ctx), "highest": (correct + ctx) / samples}
    return pd.DataFrame(columns).reset_index()


def compare_finished(finished: pd.DataFrame, models: list[str]) -> pd.DataFrame:
    """Test pairs of models for a difference in accuracy among finished answers (Fisher's exact test).

    Returns
    -------
    DataFrame
        One row a pair: first, second, difference (fractions), p (two-sided), p_holm.
    """
    rows, counts = [], finished.set_index("model")
    for first, second in combinations(models, 2):
        one, two = counts.loc[first], counts.loc[second]
        table = [[row["correct"], row["finished"] - row["correct"]] for row in (one, two)]
        rows.append((first, second, one["among"] - two["among"], float(fisher_exact(table).pvalue)))
    pairs = pd.DataFrame(rows, columns=["first", "second", "difference", "p"])
    return pairs.assign(p_holm=correct_holm(pairs["p"]))
