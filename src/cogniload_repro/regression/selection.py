"""Compare two regressions per model by AIC, BIC and likelihood-ratio test."""

import numpy as np
import pandas as pd
from scipy.stats import chi2

from cogniload_repro.regression.checks import check_cells
from cogniload_repro.regression.fits import describe_fit
from cogniload_repro.regression.glm import QUADRATIC, TABLE_KEYS, Fit, fit_all
from cogniload_repro.regression.identification import is_identified


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

        Numbers are NaN if a fit has failed or has no likelihood (quasi-binomial).

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
    pairs = pd.DataFrame(map(_describe_pair, fits, others))
    for criterion in ("aic", "bic"):
        pairs[f"d{criterion}"] = pairs[criterion] - pairs[f"against_{criterion}"]
    gain = 2 * (pairs["loglik"] - pairs["against_loglik"])
    change = pairs["df"] - pairs["against_df"]
    pairs["lr"] = (gain * np.sign(change)).where(
        pairs["larger"].isin(["formula", "against"])
    )
    pairs["lr_df"] = change.abs().where(pairs["larger"] != "", 0)
    lr_p = chi2.sf(pairs["lr"].clip(lower=0), pairs["lr_df"])
    pairs["lr_p"] = np.where(pairs["identified"], lr_p, np.nan)
    first = [name for name in TABLE_KEYS if name in pairs]
    last = ["identified"]
    return pairs[
        [*first, *pairs.columns.difference([*first, *last], sort=False), *last]
    ]


def _describe_pair(one: Fit, other: Fit) -> dict[str, object]:
    """Return a model's two fits side by side."""
    pair = one.key | {"identified": is_identified(one) and is_identified(other)}
    for prefix, part in (("", one), ("against_", other)):
        numbers = describe_fit(part)
        del numbers["total"]
        pair[f"{prefix}df"] = sum(term != "" for term in part.terms)
        pair |= {f"{prefix}{name}": value for name, value in numbers.items()}
    return pair | {"larger": _find_larger(one, other)}


def _find_larger(one: Fit, other: Fit) -> str:
    """Return which of two regressions contains the other.

    The smaller one is nested in the larger if both together span no more than the larger's terms.
    """
    if {one.status, other.status} != {"ok"} or one.family != other.family:
        return ""
    columns = np.hstack([part.design.x for part in (one, other) if part.design])
    scaled = columns / np.abs(columns).max(axis=0)
    sizes = [len(one.terms), len(other.terms)]
    if np.linalg.matrix_rank(scaled, tol=1e-8) != max(sizes):
        return ""
    names = {1: "formula", 0: "same", -1: "against"}
    return names[int(np.sign(sizes[0] - sizes[1]))]
