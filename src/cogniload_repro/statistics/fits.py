"""A regression of every model as one tidy table, and one such table held against another."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import chi2, norm

from cogniload_repro.formats import stars
from cogniload_repro.frames import check_frame
from cogniload_repro.published import ALPHA
from cogniload_repro.schemas import FITS
from cogniload_repro.statistics import capacity
from cogniload_repro.statistics.formulas import build_design, name_covariates
from cogniload_repro.statistics.regression import QUADRATIC, fit_glm

#: Terms of the paper's specification, in the order of its coefficients (section 3.1.1).
PAPER_TERMS = ("Intercept", "d", "log10_N", "rho", "I(rho ** 2)")
_OF_MODEL = ["total", "loglik", "aic", "bic", "status"]
_NOT_FITTED = pd.DataFrame([{"model": "", "term": "", "status": "not fitted"}], columns=["model", "term", *_OF_MODEL])


def fit(cells: pd.DataFrame, formula: str = QUADRATIC, family: str = "logit") -> pd.DataFrame:
    """Fit a binomial regression to every model's counts.

    Parameters
    ----------
    cells : DataFrame
        As `load_cells` returns it: model, the covariates, total (answers) and correct, one row a configuration.
    formula : str
        ``correct ~ ...`` over d, N, log10_N, rho, ratio_pct, needles and prompt_mean; the paper's by default
        (section 3.1.1).
    family : str
        logit, probit, cloglog or quasi-binomial.

    Returns
    -------
    DataFrame
        One row a model and term: model, term, coef (log-odds, for the other links on their own scale), se, z, p
        (two-sided Wald test), low and high (95% Wald interval); then, the same for all terms of a model, total (answers),
        loglik (Bernoulli, of single answers), aic, bic and status: "ok", "separation", "not identified", "not
        converged" or "no NAME" for a covariate that is not known. Numbers are NaN unless the status is "ok", and loglik
        is NaN for quasi-binomial. A model whose covariates are not known has one row, with an empty term. The
        attributes (``.attrs``) are those of the cells, formula and family.

    Raises
    ------
    ValueError
        If the formula cannot be read or names something that the cells do not have, there is no such family, or a
        row has not 0 <= correct <= n.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> cells = cl.load_cells(models=["QwQ-32B", "o3-2025-04-16"])
    >>> fits = cl.fit(cells)
    >>> fits.query("model == 'QwQ-32B'")[["term", "coef", "se", "status"]].round(2)
              term  coef    se status
    0    Intercept  5.68  0.12     ok
    1            d -0.21  0.01     ok
    2      log10_N -2.08  0.05     ok
    3          rho -3.70  0.27     ok
    4  I(rho ** 2)  3.07  0.26     ok
    >>> fits.attrs["formula"], fits.attrs["family"]
    ('correct ~ d + log10_N + rho + I(rho**2)', 'logit')
    """
    frames = []
    for model, own in cells.groupby("model", sort=False, observed=True):
        found = fit_glm(own, formula, family)
        columns = {"term": list(found.terms), "coef": found.coef, "se": found.se, "p": found.p}
        frame = pd.DataFrame(columns if found.terms else {"term": [""], "coef": np.nan, "se": np.nan, "p": np.nan})
        frame.insert(0, "model", model)
        frames.append(frame.assign(**{name: getattr(found, name) for name in _OF_MODEL}))
    fits = pd.concat(frames, ignore_index=True)
    fits.insert(4, "z", fits["coef"] / fits["se"])
    reach = norm.ppf(1 - ALPHA / 2) * fits["se"]
    fits.insert(6, "low", fits["coef"] - reach)
    fits.insert(7, "high", fits["coef"] + reach)
    fits = check_frame(fits, FITS, "the table of fits", "report it, it is a fault here")
    fits.attrs = dict(cells.attrs) | {"formula": formula, "family": family}
    return fits


def capacity_points(fits: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the loads at which each model's fitted accuracy falls to one half (paper, section 3.1.3).

    Parameters
    ----------
    fits : DataFrame
        As `fit` returns it, of the paper's specification or a part of it.
    cells : DataFrame
        The cells fitted: each load is held at its mean over the model's configurations, each counted once.

    Returns
    -------
    DataFrame
        One row a model: model, ecl50 (statements), nt50 (fraction: the largest root in [0, 1]), id50 (units of d),
        status; NaN for a point that does not exist.

    Raises
    ------
    ValueError
        If the fits have other terms, or a link whose zero is not an accuracy of one half.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> cells = cl.load_cells(models=["QwQ-32B"])
    >>> cl.capacity_points(cl.fit(cells), cells).round(2)
         model  ecl50  nt50  id50 status
    0  QwQ-32B  47.96  0.95  3.56     ok
    """
    others = [term for term in fits["term"].unique() if term not in (*PAPER_TERMS, "")]
    if others or fits.attrs.get("family") == "cloglog":
        what = f"the term {others[0]}" if others else "the link cloglog"
        raise ValueError(f"capacity points are those of {QUADRATIC}, logit; a fit with {what} has none of this form")
    rows = []
    for model, own in fits.groupby("model", sort=False, observed=True):
        row = {"model": model, "ecl50": np.nan, "nt50": np.nan, "id50": np.nan, "status": own["status"].iloc[0]}
        if row["status"] == "ok":
            beta = own.set_index("term")["coef"].reindex(PAPER_TERMS, fill_value=0.0).to_numpy()
            row |= capacity.capacity_points(beta, capacity.grid_means(cells[cells["model"] == model]))
        rows.append(row)
    return pd.DataFrame(rows)


def compare_fits(
    cells: pd.DataFrame,
    formula: str | pd.DataFrame,
    family: str = "logit",
    against: str | pd.DataFrame = QUADRATIC,
) -> pd.DataFrame:
    """Hold a regression against the paper's, or against another one, model by model.

    Parameters
    ----------
    cells : DataFrame
        As for `fit`.
    formula, family : str
        As for `fit`. In place of a formula what `fit` has made of it, so that nothing is fitted twice.
    against : str or DataFrame
        The other regression: a formula (with a logit link; by default the paper's) or its fits.

    Returns
    -------
    DataFrame
        One row a model: model; status, df (coefficients), loglik, aic and bic, and with the prefix ``against_`` the
        same of the other; daic and dbic (less the other's); larger ("formula" or "against" where one of the two is
        nested in the other, "same" where they are one model, else ""); where one is the larger lr (twice the gain in
        log-likelihood), lr_df and lr_p (likelihood-ratio test); changes (coefficients of both that change sign or
        significance at 5%, as text). NaN where a fit has failed or, as for quasi-binomial, has no likelihood.

    Raises
    ------
    ValueError
        As for `fit`, or if a table of fits does not say its formula.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> cells = cl.load_cells(models=["QwQ-32B"])
    >>> compared = cl.compare_fits(cells, "correct ~ d * log10_N + rho + I(rho**2)")
    >>> compared[["model", "daic", "larger", "lr_df"]].round(1)
         model   daic   larger  lr_df
    0  QwQ-32B -101.9  formula      1
    """
    yours, other = _as_fits(cells, formula, family), _as_fits(cells, against, "logit")
    formulas, same_family = (
        [fits.attrs["formula"] for fits in (yours, other)],
        yours.attrs["family"] == other.attrs["family"],
    )
    loads = sorted({name for one in formulas for name in name_covariates(one)} & set(cells.columns))
    described, against = _describe(yours, ""), _describe(other, "against_")
    nothing, nothing_against = (_describe(_NOT_FITTED, prefix)[""] for prefix in ("", "against_"))
    changes = _name_changes(yours, other)
    rows, ranks = [], {}
    for model, own in cells.groupby("model", sort=False, observed=True):
        row = {"model": model} | described.get(model, nothing) | against.get(model, nothing_against)
        row |= {"daic": row["aic"] - row["against_aic"], "dbic": row["bic"] - row["against_bic"]}
        rank = 0
        if row["status"] == row["against_status"] == "ok" and same_family:
            own = own[own["total"] > 0]
            grid = own[loads].to_numpy(float).tobytes()
            if grid not in ranks:  # most models share a grid
                ranks[grid] = _joint_rank(own, *formulas)
            rank = ranks[grid]
        rows.append(row | _likelihood_ratio(row, rank) | {"changes": ", ".join(changes.get(model, ()))})
    return pd.DataFrame(rows)


def _as_fits(cells: pd.DataFrame, what: str | pd.DataFrame, family: str) -> pd.DataFrame:
    if isinstance(what, str):
        return fit(cells, what, family)
    if absent := [name for name in ("formula", "family") if name not in what.attrs]:
        raise ValueError(f"the table of fits does not say its {absent[0]} (.attrs); pass it as fit returned it")
    return what


def _describe(fits: pd.DataFrame, prefix: str) -> dict[str, dict[str, Any]]:
    """Return what holds for the whole fit of each model."""
    whole = fits.drop_duplicates("model").set_index("model")[["status", "loglik", "aic", "bic"]]
    whole.insert(1, "df", (fits["term"] != "").groupby(fits["model"]).sum().astype(int))
    return whole.add_prefix(prefix).to_dict("index")


def _joint_rank(own: pd.DataFrame, *formulas: str) -> int:
    """Return the dimension that the columns of both formulas span together."""
    both = np.hstack([build_design(own, formula)[0].to_numpy() for formula in formulas])
    return int(np.linalg.matrix_rank(both / np.abs(both).max(axis=0), tol=1e-8))


def _likelihood_ratio(row: dict, rank: int) -> dict[str, object]:
    """Return the test of the smaller regression against the larger, where its columns span those of the smaller."""
    df = row["df"] - row["against_df"]
    if rank != max(row["df"], row["against_df"]):
        return {"larger": "", "lr": np.nan, "lr_df": 0, "lr_p": np.nan}
    if df == 0:
        return {"larger": "same", "lr": np.nan, "lr_df": 0, "lr_p": np.nan}
    gain = 2 * (row["loglik"] - row["against_loglik"]) * np.sign(df)
    p = float(chi2.sf(max(gain, 0.0), abs(df)))
    return {"larger": "formula" if df > 0 else "against", "lr": gain, "lr_df": abs(df), "lr_p": p}


def _name_changes(one: pd.DataFrame, other: pd.DataFrame) -> dict[str, list[str]]:
    """Return, by model, the shared coefficients whose sign or significance differs, each as other -> one with stars."""
    shared = other.merge(one, on=["model", "term"], suffixes=("", "_new"))
    shared = shared[(shared["term"] != "Intercept") & shared["coef"].notna() & shared["coef_new"].notna()]
    turned = shared["coef"] * shared["coef_new"] < 0
    changes: dict[str, list[str]] = {}
    for row in shared[turned | ((shared["p"] < ALPHA) != (shared["p_new"] < ALPHA))].itertuples():
        text = f"{row.term} {_starred(row.coef, row.p)} -> {_starred(row.coef_new, row.p_new)}"
        changes.setdefault(row.model, []).append(text)
    return changes


def _starred(coef: float, p: float) -> str:
    return f"{coef:.3g}{stars(p) or ' (n.s.)'}"
