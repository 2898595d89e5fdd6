"""Compare two regressions per model by AIC, BIC and likelihood-ratio test."""

import numpy as np
import pandas as pd
from scipy.stats import chi2

from cogniload_repro.regression.checks import check_cells
from cogniload_repro.regression.formulas import QUADRATIC
from cogniload_repro.regression.glm import Fit, fit_all

_CRITERIA = [
    "status",
    "df",
    "loglik",
    "aic",
    "bic",
]


def compare_fits(
    cells: pd.DataFrame,
    formula: str,
    family: str = "logit",
    against: str = QUADRATIC,
    against_family: str = "logit",
) -> pd.DataFrame:
    """Compare a regression with the paper's, or with another one, model by model.

    Parameters
    ----------
    cells, formula, family
        As for `fit`.
    against, against_family : str
        The other regression; the paper's by default.

    Returns
    -------
    DataFrame
        One row per model, with these columns:

        - reconstruction (if the cells have it), model
        - status, df (coefficients), loglik, aic and bic; those of the other regression with the
          prefix ``against_``
        - daic and dbic: AIC and BIC minus those of the other regression
        - larger: "formula" or "against" if the other one is nested in it, "same" if both span the
          same columns, else ""
        - lr (twice the gain in log-likelihood), lr_df and lr_p: likelihood-ratio test of nested
          regressions
        - identified: whether both fits are, as in `fit`; if not, lr_p is NaN, and `with_ranges`
          gives the range over the reconstructions

        Numbers are NaN if a fit has failed.

    Raises
    ------
    ValueError
        As for `fit`.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> cells = cl.load_cells(models=["QwQ-32B"])
    >>> compared = cl.compare_fits(cells, "correct ~ d * log10_N + rho + I(rho**2)")
    >>> compared[["model", "daic", "larger", "lr_df"]].round(1)
         model   daic   larger  lr_df
    0  QwQ-32B -101.9  formula      1
    """
    cells = check_cells(cells, formula, against)
    fits = fit_all(cells, formula, family)
    others = fit_all(cells, against, against_family)
    return pd.DataFrame(map(_compare, fits, others))


def _compare(one: Fit, other: Fit) -> dict[str, object]:
    """Return a model's two fits side by side, and the test of the smaller within the larger."""
    numbers = {name: getattr(one, name) for name in _CRITERIA}
    against = {f"against_{name}": getattr(other, name) for name in _CRITERIA}
    larger = _find_larger(one, other)
    is_nested = larger in ("formula", "against")
    lr = 2 * abs(one.loglik - other.loglik) if is_nested else np.nan
    lr_df = abs(one.df - other.df) if is_nested else 0
    identified = one.identified and other.identified
    differences = {
        "daic": one.aic - other.aic,
        "dbic": one.bic - other.bic,
        "larger": larger,
        "lr": lr,
        "lr_df": lr_df,
        "lr_p": chi2.sf(lr, lr_df) if identified else np.nan,
        "identified": identified,
    }
    return one.key | numbers | against | differences


def _find_larger(one: Fit, other: Fit) -> str:
    """Return which of two regressions contains the other.

    The smaller one is nested in the larger if both together span no more than the larger's terms.
    """
    if {one.status, other.status} != {"ok"} or one.family != other.family:
        return ""
    columns = np.hstack([one.design.x, other.design.x])
    scaled = columns / np.abs(columns).max(axis=0)
    if np.linalg.matrix_rank(scaled, tol=1e-8) != max(one.df, other.df):
        return ""
    if one.df == other.df:
        return "same"
    return "formula" if one.df > other.df else "against"
