"""Compare two regressions per model by AIC, BIC and likelihood-ratio test."""

from collections.abc import Hashable, Mapping

import numpy as np
import pandas as pd
from scipy.stats import chi2

from cogniload_repro.regression.checks import check_cells
from cogniload_repro.regression.existence import find_missing
from cogniload_repro.regression.fits import OF_FIT, fits_of, summarise
from cogniload_repro.regression.formulas import build_design
from cogniload_repro.regression.glm import QUADRATIC

_MODEL_KEYS = ["model", "reconstruction"]
#: Columns reported as medians over the reconstructions if a comparison is not identified.
_COMPARED_NUMBERS = [
    "loglik",
    "aic",
    "bic",
    "against_loglik",
    "against_aic",
    "against_bic",
    "daic",
    "dbic",
    "lr",
    "lr_p",
]


def compare_fits(
    cells: pd.DataFrame,
    formula: str | pd.DataFrame,
    family: str = "logit",
    against: str | pd.DataFrame = QUADRATIC,
) -> pd.DataFrame:
    """Compare a regression with the paper's, or with another one, model by model.

    Parameters
    ----------
    cells : DataFrame
        As for `fit`.
    formula, family : str
        As for `fit`. Instead of a formula, the table that `fit` returned for it may be given, to
        save fitting it again.
    against : str or DataFrame
        The other regression: a formula (logit link; the paper's by default) or its fits.

    Returns
    -------
    DataFrame
        One row per model, with these columns:

        - model
        - status, df (coefficients), loglik, aic and bic; those of the other regression with the
          prefix ``against_``
        - daic and dbic: AIC and BIC minus those of the other regression
        - larger: "formula" or "against" if the other one is nested in it, "same" if both span the
          same columns, else ""
        - lr (twice the gain in log-likelihood), lr_df and lr_p: likelihood-ratio test of nested
          regressions
        - identified: whether the printed tables determine both fits. If not, numbers are medians
          over the reconstructions, and lr_p is NaN.
        - daic_p10, daic_p90, lr_p_p10 and lr_p_p90: 10 and 90% quantiles over the reconstructions

        Numbers are NaN if a fit has failed or has no likelihood (quasi-binomial).

    Raises
    ------
    ValueError
        As for `fit`, or if a table of fits has no formula in its ``.attrs``.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> cells = cl.load_cells(models=["QwQ-32B"])
    >>> compared = cl.compare_fits(cells, "correct ~ d * log10_N + rho + I(rho**2)")
    >>> compared[["model", "daic", "larger", "lr_df"]].round(1)
         model   daic   larger  lr_df
    0  QwQ-32B -101.9  formula      1
    """
    both = (formula, against)
    formulas = [other for other in both if not isinstance(other, pd.DataFrame)]
    cells = check_cells(cells, *formulas)
    fits = fits_of(formula, cells, family)
    others = fits_of(against, cells)
    pairs = _pair_fits(fits, others)
    pairs["daic"] = pairs["aic"] - pairs["against_aic"]
    pairs["dbic"] = pairs["bic"] - pairs["against_bic"]
    ranks = _joint_ranks(cells, fits.attrs, others.attrs)
    pairs = _test_ratios(pairs, ranks)
    compared = summarise(pairs, ["model"], _COMPARED_NUMBERS, ranges=["daic", "lr_p"])
    compared["lr_p"] = compared["lr_p"].where(compared["identified"])
    models = pd.Index(cells["model"].unique())
    return compared.sort_values("model", key=models.get_indexer, ignore_index=True)


def _pair_fits(fits: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """Return both fits of each model side by side.

    There is one row per model or, if one of the two is not identified, per reconstruction.
    """
    fitted = _describe_fits(fits, "")
    other = _describe_fits(others, "against_")
    pairs = fitted.merge(other, on=_MODEL_KEYS, how="outer")
    pairs = pairs.sort_values(_MODEL_KEYS, ignore_index=True)
    models = pairs.groupby("model", sort=False)
    for prefix in ("", "against_"):
        # an identified fit has one row: repeat it for all reconstructions
        columns = [f"{prefix}{name}" for name in ("df", *OF_FIT, "identified")]
        pairs[columns] = models[columns].ffill()
        status = f"{prefix}status"
        pairs[status] = pairs[status].fillna("not fitted")
        df = f"{prefix}df"
        pairs[df] = pairs[df].fillna(0).astype(int)
    is_open = pairs["identified"].eq(False) | pairs["against_identified"].eq(False)
    pairs["identified"] = ~is_open
    pairs.attrs = {}  # formula and family would be those of one of the two
    return pairs.drop(columns=["total", "against_total", "against_identified"])


def _describe_fits(fits: pd.DataFrame, prefix: str) -> pd.DataFrame:
    """Return one row per model and reconstruction: df (number of terms) and `OF_FIT`."""
    counted = fits.assign(df=(fits["term"] != "").astype(int))
    groups = counted.groupby(_MODEL_KEYS, sort=False)
    fit_rows = groups[["df", *OF_FIT, "identified"]].first()
    fit_rows["df"] = groups["df"].sum()
    return fit_rows.add_prefix(prefix).reset_index()


def _joint_ranks(
    cells: pd.DataFrame,
    regression: Mapping[Hashable, str],
    other: Mapping[Hashable, str],
) -> dict[str, int]:
    """Return by model the rank of the two regressions' design matrices side by side.

    It is empty if the families differ: regressions with different links are not nested.
    """
    ranks: dict[str, int] = {}
    if regression["family"] != other["family"]:
        return ranks
    formulas = regression["formula"], other["formula"]
    covered = cells[cells["total"] > 0]
    for model, counts in covered.groupby("model", sort=False, observed=True):
        if any(find_missing(counts, formula) for formula in formulas):
            continue
        designs = [build_design(counts, formula)[0] for formula in formulas]
        columns = np.hstack(designs)
        scaled = columns / np.abs(columns).max(axis=0)
        rank = np.linalg.matrix_rank(scaled, tol=1e-8)
        ranks[model] = int(rank)
    return ranks


def _test_ratios(pairs: pd.DataFrame, joint_ranks: dict[str, int]) -> pd.DataFrame:
    """Add the likelihood-ratio test of the smaller regression against the larger to each row.

    The smaller one is nested in the larger if both together span no more than the larger's terms.
    """
    df = pairs["df"] - pairs["against_df"]
    most_terms = pairs[["df", "against_df"]].max(axis=1)
    both_exist = (pairs["status"] == "ok") & (pairs["against_status"] == "ok")
    is_nested = both_exist & (pairs["model"].map(joint_ranks) == most_terms)
    pairs["larger"] = np.where(df > 0, "formula", "against")
    pairs.loc[df == 0, "larger"] = "same"
    pairs.loc[~is_nested, "larger"] = ""
    gain = pairs["loglik"] - pairs["against_loglik"]
    ratio = 2 * gain * np.sign(df)
    pairs["lr"] = ratio.where(is_nested & (df != 0))
    pairs["lr_df"] = df.abs().where(is_nested, 0)
    pairs["lr_p"] = chi2.sf(pairs["lr"].clip(lower=0), pairs["lr_df"])
    return pairs
