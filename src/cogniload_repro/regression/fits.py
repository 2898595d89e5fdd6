"""Fit a regression to every model, as one tidy table, and derive the capacity points."""

from collections.abc import Iterator

import numpy as np
import pandas as pd
from scipy.stats import norm

from cogniload_repro.published import ALPHA
from cogniload_repro.regression.checks import check_cells
from cogniload_repro.regression.design import grid_means, many_points
from cogniload_repro.regression.existence import find_missing
from cogniload_repro.regression.families import check_family
from cogniload_repro.regression.glm import (
    QUADRATIC,
    SYMBOLS,
    Fit,
    fit_glm,
    fit_tables,
)
from cogniload_repro.regression.identification import is_identified
from cogniload_repro.regression.reconstructions import (
    GIVEN,
    committed_counts,
    range_over,
    reconstructed_models,
)

#: Terms of the paper's specification, in the order of its coefficients (section 3.1.1).
PAPER_TERMS = tuple(SYMBOLS)[:5]
#: The products of loads that Appendix B tests.
PRODUCT_TERMS = tuple(term for term in SYMBOLS if ":" in term)
#: Columns that refer to a whole fit, not to a term.
OF_FIT = ["total", "loglik", "aic", "bic", "status"]
_POINTS = ["ecl50", "nt50", "id50"]
#: Columns reported as medians over the reconstructions if a fit is not identified.
_NUMBERS = ["coef", "se", "p", "low", "high", "loglik", "aic", "bic"]
#: Prefixes of Table 2's column names, by statistic of a term.
_PREFIXES = {"coef": "beta", "se": "se", "p": "p"}


def fit(
    cells: pd.DataFrame,
    formula: str = QUADRATIC,
    family: str = "logit",
) -> pd.DataFrame:
    """Fit a binomial regression to every model's counts.

    Parameters
    ----------
    cells : DataFrame
        As `load_cells` returns it: model, the covariates, total (answers) and correct, one row per
        configuration.
    formula : str
        ``correct ~ ...`` in the covariates d, N, log10_N, rho, ratio_pct, needles and prompt_mean;
        the paper's by default.
    family : str
        logit, probit, cloglog or quasi-binomial.

    Returns
    -------
    DataFrame
        One row per model and term, with these columns:

        - model, term
        - coef (log-odds; for other links on the scale of the link), se, z, p (two-sided Wald
          test), low and high (Wald interval of level 1 - `published.ALPHA`)
        - total (answers), loglik (Bernoulli, per answer; NaN for quasi-binomial), aic, bic: the
          same for all terms of a model
        - status: "ok", "separation", "not converged", "no NAME" if covariate NAME has missing
          values (one row with an empty term), or why the coefficients are not unique ("rho takes 2
          values, the formula needs 3") or the dispersion of a quasi-binomial fit cannot be
          estimated. Numbers are NaN unless the status is "ok".
        - identified: whether the printed tables determine the fit. If not, the regression is
          fitted to each of 24 reconstructions: coef, se, loglik, aic and bic are medians, low the
          10% quantile of the intervals' lower ends, high the 90% quantile of their upper ends, z
          and p NaN.
        - coef_p10, coef_p90, p_p10, p_p90: 10 and 90% quantiles over the reconstructions

        ``.attrs`` has formula and family, besides the attributes of the cells.

    Raises
    ------
    ValueError
        If the formula contains an unsupported term, the cells lack a column or rows or have an
        invalid value (`checks.check_cells`), or the family is unknown.

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
    cells = check_cells(cells, formula)
    fits = _summarise_terms(_fit_models(cells, formula, family))
    regression = {"formula": formula, "family": family}
    fits.attrs = dict(cells.attrs) | regression
    return fits


def capacity_points(fits: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the loads at which each model's fitted accuracy is one half (section 3.1.3).

    Parameters
    ----------
    fits : DataFrame
        As `fit` returns it.
    cells : DataFrame
        The cells that were fitted. The other loads are held at their means over the model's
        configurations, each counted once.

    Returns
    -------
    DataFrame
        One row per model: model, ecl50 (statements), nt50 (fraction: the largest root in [0, 1]),
        id50 (units of d), status, identified, and the range over the reconstructions (ecl50_p10,
        ecl50_p90, ...); NaN if there is no such point. If the regression has terms that
        the paper's has not, or a link that is not zero at one half (cloglog), the status says so.

    Raises
    ------
    ValueError
        If the cells lack a model that was fitted, or as for `fit`.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> cells = cl.load_cells(models=["QwQ-32B"])
    >>> points = cl.capacity_points(cl.fit(cells), cells)
    >>> points[["model", "ecl50", "nt50", "id50", "status"]].round(2)
         model  ecl50  nt50  id50 status
    0  QwQ-32B  47.96  0.95  3.56     ok
    """
    cells = check_cells(cells, QUADRATIC)
    check_fits(fits)
    models = {*cells["model"]}
    absent = sorted({*fits["model"]} - models)
    if absent:
        names = ", ".join(absent)
        raise ValueError(
            f"the cells have no model {names}; pass the cells that were fitted"
        )
    for term in fits["term"].unique():
        if term not in (*PAPER_TERMS, ""):
            return _undefined_points(fits, f"the term {term}")
    if fits.attrs["family"] == "cloglog":
        return _undefined_points(fits, "the link cloglog")
    all_fits = fits_of(fits, cells)
    points = []
    for model, coefficients in all_fits.groupby("model", sort=False, observed=True):
        means = grid_means(cells[cells["model"] == model])
        points.append(_find_points(coefficients, means))
    stacked = pd.concat(points).reset_index()
    return summarise(stacked, ["model"], _POINTS, ranges=_POINTS)


def _undefined_points(fits: pd.DataFrame, reason: str) -> pd.DataFrame:
    """Return a table of NaN capacity points, with the reason as status of each fitted model."""
    points = fits.drop_duplicates("model")[["model", "status", "identified"]]
    points = points.reset_index(drop=True)
    is_fitted = points["status"] == "ok"
    points["status"] = points["status"].mask(is_fitted, f"not defined with {reason}")
    for point in _POINTS:
        for ending in ("", "_p10", "_p90"):
            points[f"{point}{ending}"] = np.nan
    return points


def _find_points(
    coefficients: pd.DataFrame,
    means: dict[str, float],
) -> pd.DataFrame:
    """Return one model's capacity points by reconstruction."""
    fits = coefficients.drop_duplicates("reconstruction").set_index("reconstruction")
    betas = coefficients.pivot_table("coef", "reconstruction", "term", dropna=False)
    betas = betas.reindex(columns=PAPER_TERMS, fill_value=0)
    points = many_points(betas.to_numpy(float), means)
    with np.errstate(over="ignore"):
        points["ecl50"] = 10 ** points["ecl50"]
    with_points = fits[["model"]].assign(**points)
    return with_points.join(fits[["status", "identified"]])


def fits_of(
    regression: str | pd.DataFrame,
    cells: pd.DataFrame,
    family: str = "logit",
) -> pd.DataFrame:
    """Return fits by model, reconstruction and term, for a formula or a table from `fit`.

    An identified fit is listed once, as reconstruction 1. Since `fit` summarises a fit that is not
    identified, its regression is fitted to the reconstructions again.
    """
    if not isinstance(regression, pd.DataFrame):
        fits = _fit_models(cells, regression, family)
        fits.attrs = {"formula": regression, "family": family}
        return fits
    check_fits(regression)
    if regression["identified"].all():
        return regression.assign(reconstruction=1)
    models = cells[cells["model"].isin(regression["model"])]
    return fits_of(regression.attrs["formula"], models, regression.attrs["family"])


def check_fits(fits: pd.DataFrame) -> None:
    """Raise ValueError unless the argument is a table of fits as returned by `fit`."""
    needed = {"model", "term", "coef", *OF_FIT, "identified"}
    is_table = isinstance(fits, pd.DataFrame) and needed <= set(fits)
    if not is_table or not {"formula", "family"} <= set(fits.attrs):
        raise ValueError(
            f"this {type(fits).__name__} is not a table of fits, or lacks its formula and "
            "family (.attrs); pass the table that `fit` returned"
        )


def _fit_models(
    cells: pd.DataFrame,
    formula: str,
    family: str,
) -> pd.DataFrame:
    """Fit every model once or, if its fit is not identified, to every reconstruction.

    One row per model, reconstruction and term.
    """
    check_family(family)
    table = cells.attrs.get("reconstruction")  # if set, fit these counts alone
    reconstructed = [] if table == GIVEN else reconstructed_models(cells)
    rows = []
    for model, counts in cells.groupby("model", sort=False, observed=True):
        identified = True
        if model in reconstructed and not find_missing(counts, formula):
            identified = is_identified(counts, formula, family)
        if identified or table is not None:
            fits: tuple[Fit, ...] = (fit_glm(counts, formula, family),)
        else:
            fits = _fit_samples(counts, formula, family)
        for number, model_fit in enumerate(fits, start=1):
            for coefficient in _list_coefficients(model_fit):
                rows.append((str(model), number, *coefficient, identified))
    columns = ["model", "reconstruction", "term", *_PREFIXES, *OF_FIT, "identified"]
    return pd.DataFrame(rows, columns=columns)


def _fit_samples(counts: pd.DataFrame, formula: str, family: str) -> tuple[Fit, ...]:
    """Fit a regression to each of the 24 committed reconstructions of one model."""
    covered = counts[counts["total"] > 0]
    correct = committed_counts(covered)
    answers = covered["total"].to_numpy(float)
    total = np.tile(answers, (len(correct), 1))
    return fit_tables(covered, correct, total, formula, family)


def _list_coefficients(fit: Fit) -> Iterator[tuple]:
    """Yield one row per term of a fit: its statistics, then the columns `OF_FIT`."""
    of_fit = [getattr(fit, name) for name in OF_FIT]
    for numbers in zip(fit.terms, fit.coef, fit.se, fit.p, strict=True):
        yield *numbers, *of_fit


def _summarise_terms(fits: pd.DataFrame) -> pd.DataFrame:
    """Return one row per model and term: the fit, or medians and ranges if not identified."""
    reach = norm.ppf(1 - ALPHA / 2) * fits["se"]
    fits = fits.assign(low=fits["coef"] - reach, high=fits["coef"] + reach)
    keys = ["model", "term"]
    terms = summarise(fits, keys, _NUMBERS, ranges=["coef", "p"])
    ends = range_over(fits.groupby(keys, sort=False), ["low", "high"]).reset_index()
    has_fit = terms["coef"].notna()
    terms["low"] = ends["low_p10"].where(has_fit)
    terms["high"] = ends["high_p90"].where(has_fit)
    z = terms["coef"] / terms["se"]
    terms["z"] = z.where(terms["identified"])
    terms["p"] = terms["p"].where(terms["identified"])
    first = [*keys, "coef", "se", "z", "p", "low", "high", *OF_FIT, "identified"]
    others = terms.columns.difference(first, sort=False)
    return terms[[*first, *others]]


def summarise(
    fits: pd.DataFrame,
    keys: list[str],
    numbers: list[str],
    ranges: list[str],
) -> pd.DataFrame:
    """Return one row per key: the single fit, or medians if there are several reconstructions.

    The 10 and 90% quantiles of numbers in ``ranges`` are in ``NAME_p10`` and ``NAME_p90``. If a
    fit fails in some reconstructions only, the status says in how many and the numbers are NaN.
    """
    groups = fits.groupby(keys, sort=False, observed=True)
    tables = groups["reconstruction"].nunique()
    summary = groups.first()
    summary[numbers] = groups[numbers].median()
    quantiles = range_over(groups, ranges)
    summary = summary.join(quantiles)
    failed = fits[fits["status"] != "ok"]
    statuses = failed.groupby(keys, sort=False, observed=True)["status"]
    failures = statuses.agg(["first", "size"])
    for key, status, count in failures.itertuples(name=None):
        if count < tables[key]:
            status = f"{status} in {count} of {tables[key]} reconstructions"
            summary.loc[[key], [*numbers, *quantiles.columns]] = np.nan
        summary.loc[[key], "status"] = status
    return summary.reset_index().drop(columns="reconstruction")


def spread_terms(fits: pd.DataFrame) -> pd.DataFrame:
    """Return one row per model: beta_*, se_*, p_* of every term, and status.

    A column is named after the paper's symbol of the term or, without one, after the term itself.
    """
    fits = fits.set_index("model")
    is_first = ~fits.index.duplicated()
    wide = fits.loc[is_first, ["status"]]
    for number, kind in _PREFIXES.items():
        for term in fits["term"].unique():
            if term:
                symbol = SYMBOLS.get(term, term)
                wide[f"{kind}_{symbol}"] = fits.loc[fits["term"] == term, number]
    wide["status"] = wide.pop("status")
    return wide.reset_index()
