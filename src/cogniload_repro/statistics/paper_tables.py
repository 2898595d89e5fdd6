"""The regressions of Tables 2, 3 and 6, one row per model and one column per number, under the paper's symbols."""

import pandas as pd

from cogniload_repro.statistics.fits import capacity_points, compare_fits, fit
from cogniload_repro.statistics.reconstructions import as_one_table
from cogniload_repro.statistics.regression import INTERACTIONS, LINEAR, QUADRATIC, SYMBOLS

#: The products of loads that Appendix B tests.
PRODUCTS = tuple(term for term in SYMBOLS if ":" in term)
_KINDS = {"coef": "beta", "se": "se", "p": "p"}


def spread_terms(fits: pd.DataFrame) -> pd.DataFrame:
    """Turn one row per model and term into one row per model.

    Parameters
    ----------
    fits : DataFrame
        model, term, coef, se, p, status, as `fits.fit` returns them.

    Returns
    -------
    DataFrame
        One row per model, in their order: model, beta_*, se_* and p_* of every term under the paper's symbol (0, d, N,
        rho, rho2, dN, ...; another term under its own name), status.
    """
    models, terms = fits["model"].unique(), [term for term in fits["term"].unique() if term]
    wide = fits.pivot(index="model", columns="term", values=list(_KINDS))  # noqa: PD010 nothing to aggregate
    wide = wide.reindex(index=models, columns=pd.MultiIndex.from_product([_KINDS, terms]))
    wide.columns = [f"{_KINDS[kind]}_{SYMBOLS.get(term, term)}" for kind, term in wide.columns]
    status = fits.drop_duplicates("model").set_index("model")["status"]
    return wide.astype(float).assign(status=status).rename_axis("model").reset_index()


def glm_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return Table 2: the quadratic fit of every model.

    Returns
    -------
    DataFrame
        One row per model: model, beta_*, se_*, p_* for 0, d, N, rho, rho2; ecl50, nt50, id50; aic, loglik, total,
        status.
    """
    cells = as_one_table(cells)
    fits = fit(cells, QUADRATIC)
    fits["p"] = fits["p"].fillna(fits["p_min"])  # of one table, identified or not
    criteria = fits.drop_duplicates("model")[["model", "aic", "loglik", "total"]]
    points = capacity_points(fits, cells)[["model", "ecl50", "nt50", "id50"]]
    return spread_terms(fits).merge(points, on="model").merge(criteria, on="model")


def interactions_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return Table 3: interaction coefficients, each with the p-value of the likelihood-ratio test of dropping it.

    Returns
    -------
    DataFrame
        One row per model: model, beta_*, se_* and p_* for dN, drho, Nrho, dNrho; status.
    """
    cells = as_one_table(cells)
    full = fit(cells, INTERACTIONS)
    tests = pd.concat(
        compare_fits(cells, f"{INTERACTIONS} - {term}", against=full).assign(term=term) for term in PRODUCTS
    )
    products = full.merge(tests[["model", "term", "lr_p", "lr_p_min"]], on=["model", "term"])
    return spread_terms(products.assign(p=products["lr_p"].fillna(products["lr_p_min"])))


def aic_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return Table 6: AIC without and with rho^2, and the likelihood-ratio p-value.

    Returns
    -------
    DataFrame
        One row per model: model, p_lr, aic_linear, aic_quadratic, status.
    """
    compared = compare_fits(as_one_table(cells), LINEAR, against=QUADRATIC)
    return pd.DataFrame(
        {
            "model": compared["model"],
            "p_lr": compared["lr_p"].fillna(compared["lr_p_min"]),
            "aic_linear": compared["aic"],
            "aic_quadratic": compared["against_aic"],
            "status": compared["against_status"].where(compared["status"] == "ok", compared["status"]),
        }
    )
