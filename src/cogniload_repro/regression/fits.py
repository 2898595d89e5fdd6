"""Fit a regression to every model, as one tidy table."""

import pandas as pd
from scipy.stats import norm

from cogniload_repro.published import ALPHA
from cogniload_repro.regression.checks import check_cells
from cogniload_repro.regression.formulas import QUADRATIC, SYMBOLS
from cogniload_repro.regression.glm import Fit, fit_all

#: Terms of the paper's specification, in the order of its coefficients (section 3.1.1).
PAPER_TERMS = tuple(SYMBOLS)[:5]
#: The products of loads that Appendix B tests.
PRODUCT_TERMS = tuple(term for term in SYMBOLS if ":" in term)
#: Columns that refer to a whole fit, not to a term.
FIT_COLUMNS = [
    "total",
    "loglik",
    "aic",
    "bic",
    "status",
    "identified",
]
#: Prefixes of Table 2's column names, by statistic of a term.
_PREFIXES = {"coef": "beta", "se": "se", "p": "p"}


def fit(
    cells: pd.DataFrame,
    formula: str = QUADRATIC,
    family: str = "logit",
) -> pd.DataFrame:
    """Fit a binomial regression to every model's counts, as they are given.

    Parameters
    ----------
    cells : DataFrame
        As `load_cells` or `load_reconstructions` returns it: model, the covariates, total (answers)
        and correct, one row per configuration. With a column reconstruction, every table of a model
        is fitted.
    formula : str
        ``correct ~ ...`` in the covariates d, N, log10_N, rho, ratio_pct and needles;
        the paper's by default. It is evaluated as Python.
    family : str
        logit, probit or cloglog.

    Returns
    -------
    DataFrame
        One row per model and term, with these columns:

        - reconstruction (if the cells have it), model, term
        - coef (log-odds; for other links on the scale of the link), se, z, p (two-sided Wald
          test), low and high (Wald interval of level 1 - `published.ALPHA`)
        - total (answers), loglik (Bernoulli, per answer), aic, bic: the
          same for all terms of a model
        - status: "ok", "separation", "not converged", or why the coefficients are not unique ("the
          cells determine 4 of its 5 coefficients"). Numbers are NaN unless the status is "ok".
        - identified: False if the counts are reconstructed and the fit would differ between tables
          that agree with the paper, or has other sums than these
          (`identification.are_identified`); z and p are then NaN, and `with_ranges` gives the
          range over 24 of these tables
        - formula, family

    Raises
    ------
    ValueError
        If the formula cannot be built, the cells lack a column or rows, have an invalid value or a
        configuration twice (`checks.check_cells`), or the family is unknown.

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
    """
    fitted = fit_all(check_cells(cells, formula), formula, family)
    terms = pd.concat(map(_tabulate_terms, fitted), ignore_index=True)
    return terms.assign(formula=formula, family=family)


def _tabulate_terms(one: Fit) -> pd.DataFrame:
    """Return a row for each term of a fit."""
    reach = norm.ppf(1 - ALPHA / 2) * one.se
    of_terms = {
        "term": one.terms,
        "coef": one.coef,
        "se": one.se,
        "z": one.z,
        "p": one.p,
        "low": one.coef - reach,
        "high": one.coef + reach,
    }
    of_fit = {name: getattr(one, name) for name in FIT_COLUMNS}
    return pd.DataFrame(one.key | of_terms | of_fit)


def spread_terms(fits: pd.DataFrame) -> pd.DataFrame:
    """Return one row per model: beta_*, se_*, p_* of every term, and status.

    A column is named after the paper's symbol of the term or, without one, after the term itself.
    """
    fits = fits.set_index("model")
    first = fits[~fits.index.duplicated()]
    wide = first[[]]
    for number, kind in _PREFIXES.items():
        for term in fits["term"].unique():
            symbol = SYMBOLS.get(term, term)
            wide[f"{kind}_{symbol}"] = fits.loc[fits["term"] == term, number]
    wide["status"] = first["status"]
    return wide.reset_index()
