"""The regressions of Tables 2, 3 and 6."""

import pandas as pd

from cogniload_repro.regression.capacity import capacity_points
from cogniload_repro.regression.fits import PRODUCT_TERMS, fit, spread_terms
from cogniload_repro.regression.formulas import INTERACTIONS, LINEAR, QUADRATIC
from cogniload_repro.regression.selection import compare_fits


def glm_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return Table 2 (`storage.GLM`): the quadratic fit of every model and its capacity points."""
    fits = fit(cells, QUADRATIC)
    points = capacity_points(cells)[
        [
            "model",
            "ecl50",
            "nt50",
            "id50",
        ]
    ]
    criteria = fits.drop_duplicates("model")[
        [
            "model",
            "aic",
            "loglik",
            "total",
        ]
    ]
    wide = spread_terms(fits).merge(points, on="model")
    return wide.merge(criteria, on="model")


def interactions_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return Table 3 (`storage.INTERACTION_FITS`): products of loads in Appendix B's regression.

    The p-value of a product is that of the likelihood-ratio test of dropping it.
    """
    fits = fit(cells, INTERACTIONS)
    tests = []
    for term in PRODUCT_TERMS:
        test = compare_fits(cells, f"{INTERACTIONS} - {term}", against=INTERACTIONS)
        tests.append(test[["model", "lr_p"]].assign(term=term))
    stacked = pd.concat(tests).rename(columns={"lr_p": "p"})
    products = fits.drop(columns="p").merge(stacked)
    return spread_terms(products)


def aic_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return Table 6 (`storage.AIC`): AIC without and with rho^2, and the p-value of rho^2.

    The p-value is that of the likelihood-ratio test.
    """
    compared = compare_fits(cells, LINEAR, against=QUADRATIC)
    is_fitted = compared["status"] == "ok"
    return pd.DataFrame(
        {
            "model": compared["model"],
            "p_lr": compared["lr_p"],
            "aic_linear": compared["aic"],
            "aic_quadratic": compared["against_aic"],
            "status": compared["against_status"].where(is_fitted, compared["status"]),
        }
    )
