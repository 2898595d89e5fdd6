"""A regression of every model as one tidy table, one such table compared with another, and Tables 2, 3 and 6."""

import numpy as np
import pandas as pd
from scipy.stats import chi2, norm

from cogniload_repro.published import ALPHA
from cogniload_repro.statistics import design, reconstructions, regression
from cogniload_repro.statistics.checks import check_cells
from cogniload_repro.statistics.formulas import build_design, name_covariates
from cogniload_repro.statistics.regression import INTERACTIONS, LINEAR, QUADRATIC, SYMBOLS

#: Terms of the paper's specification, in the order of its coefficients (section 3.1.1).
PAPER_TERMS = tuple(SYMBOLS)[:5]
#: The products of loads that Appendix B tests.
PRODUCT_TERMS = tuple(term for term in SYMBOLS if ":" in term)
_KINDS = {"coef": "beta", "se": "se", "p": "p"}
_POINTS = ["ecl50", "nt50", "id50"]
_OF_MODEL = ["total", "loglik", "aic", "bic", "status"]


def fit(cells: pd.DataFrame, formula: str = QUADRATIC, family: str = "logit") -> pd.DataFrame:
    """Fit a binomial regression to every model's counts.

    Parameters
    ----------
    cells : DataFrame
        As `load_cells` returns it: model, the covariates, total (answers) and correct, one row a configuration.
    formula : str
        ``correct ~ ...`` over d, N, log10_N, rho, ratio_pct, needles and prompt_mean; the paper's by default.
    family : str
        logit, probit, cloglog or quasi-binomial.

    Returns
    -------
    DataFrame
        One row per model and term: model, term, coef (log-odds, for the other links on their own scale), se, z, p
        (two-sided Wald test), low and high (Wald interval of level 1 - `published.ALPHA`); then, the same for all terms
        of a model, total (answers), loglik (Bernoulli, of single answers; NaN for quasi-binomial), aic, bic and status:
        "ok", "separation", "not converged", "no NAME" for a covariate that is not known (one row with an empty term),
        or why the design has no unique coefficients ("rho takes 2 values, the formula needs 3").
        Numbers are NaN unless the status is "ok". Last identified, coef_p10,
        coef_p90, p_p10 and p_p90: for reconstructed counts a fit that the printed tables do not identify is made for
        each of 24 samples; coef, se and the criteria are then medians, the last four columns 10 and 90% quantiles, low
        the 10% quantile of the intervals' lower ends, high the 90% quantile of their upper ends, z and p NaN. The
        attributes (``.attrs``) are those of the cells, formula and family.

    Raises
    ------
    ValueError
        If the formula cannot be read, the cells lack a column or rows, there is no such family, or a row has not
        0 <= correct <= total.

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
    fits = _summarise(fit_each(cells, formula, family))
    fits.attrs = dict(cells.attrs) | {"formula": formula, "family": family}
    return fits


def capacity_points(fits: pd.DataFrame, cells: pd.DataFrame) -> pd.DataFrame:
    """Return the loads at which each model's fitted accuracy falls to one half (paper, section 3.1.3).

    Parameters
    ----------
    fits : DataFrame
        As `fit` returns it.
    cells : DataFrame
        The cells fitted: each load is held at its mean over the model's configurations, each counted once.

    Returns
    -------
    DataFrame
        One row per model: model, ecl50 (statements), nt50 (fraction: the largest root in [0, 1]), id50 (units of d),
        status, identified, and the range in our samples (ecl50_p10, ecl50_p90, ...); NaN where there is no point. A
        regression with other terms, or a link whose zero is not an accuracy of one half, has none: the status says so.

    Raises
    ------
    ValueError
        If the cells are not those of the models that were fitted.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> cells = cl.load_cells(models=["QwQ-32B"])
    >>> cl.capacity_points(cl.fit(cells), cells)[["model", "ecl50", "nt50", "id50", "status"]].round(2)
         model  ecl50  nt50  id50 status
    0  QwQ-32B  47.96  0.95  3.56     ok
    """
    cells = check_cells(cells, QUADRATIC)
    if absent := [
        name for name in ("model", "term", "coef", "status", "identified") if name not in fits
    ]:
        raise ValueError(
            f"the fits have no column {', '.join(absent)}; pass them as fit returned them"
        )
    if absent := sorted({*fits["model"]} - {*cells["model"]}):
        raise ValueError(
            f"the cells have no model {', '.join(absent)}; pass the cells that were fitted"
        )
    others = [term for term in fits["term"].unique() if term not in (*PAPER_TERMS, "")]
    if others or fits.attrs.get("family") == "cloglog":
        why = f"not defined with {'the term ' + others[0] if others else 'the link cloglog'}"
        rows = fits.drop_duplicates("model")[["model", "status", "identified"]].reset_index(
            drop=True
        )
        rows["status"] = rows["status"].where(rows["status"] != "ok", why)
        return rows.assign(
            **{f"{point}{end}": np.nan for point in _POINTS for end in ("", "_p10", "_p90")}
        )
    each, parts = _each(cells, fits), []
    for model, own in each.groupby("model", sort=False, observed=True):
        fits = own.drop_duplicates("reconstruction").set_index("reconstruction")
        betas = own.pivot_table("coef", "reconstruction", "term", dropna=False)
        betas = betas.reindex(columns=PAPER_TERMS, fill_value=0).to_numpy(float)
        means = design.grid_means(cells[cells["model"] == model])
        points = pd.DataFrame(design.many_points(betas, means), fits.index)
        with np.errstate(over="ignore"):
            points["ecl50"] = 10 ** points["ecl50"]
        parts.append(pd.concat([fits[["model"]], points, fits[["status", "identified"]]], axis=1))
    return _over_tables(pd.concat(parts).reset_index(), ["model"], _POINTS)


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
        As for `fit`. In place of a formula what `fit` has made of it, so that nothing is fitted twice.
    against : str or DataFrame
        The other regression: a formula (with a logit link; by default the paper's) or its fits.

    Returns
    -------
    DataFrame
        One row per model: model; status, df (coefficients), loglik, aic and bic, and with the prefix ``against_`` the
        same of the other; daic and dbic (less the other's); larger ("formula" or "against" where one of the two is
        nested in the other, "same" where they are one model, else ""); where one is the larger lr (twice the gain in
        log-likelihood), lr_df and lr_p (likelihood-ratio test). NaN where a fit has failed or, as for quasi-binomial,
        has no likelihood. Last identified, daic_p10, daic_p90, lr_p_p10 and lr_p_p90: where the comparison is not
        identified, numbers are medians of the samples (these four 10 and 90% quantiles) and lr_p is NaN.

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
    each = _compare_each(cells, formula, family, against)
    numbers = [
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
    compared = _over_tables(each, ["model"], numbers, ranges=("daic", "lr_p"))
    return compared.assign(lr_p=compared["lr_p"].where(compared["identified"]))


def fit_each(cells: pd.DataFrame, formula: str = QUADRATIC, family: str = "logit") -> pd.DataFrame:
    """Fit every model once, or, where the result is not identified, once per reconstruction: one row per term."""
    regression.check_family(family)
    known = name_covariates(formula)
    one_table = cells.attrs.get("reconstruction")
    models = (
        set()
        if one_table == reconstructions.GIVEN
        else set(reconstructions.reconstructed_models(cells))
    )
    tables, rows = (
        reconstructions.committed_counts(cells) if models else np.empty((0, len(cells))),
        [],
    )
    for model, places in cells.groupby("model", sort=False, observed=True).indices.items():
        group = cells.iloc[places]
        covered = group[group["total"] > 0] if model in models else group
        complete = not any(group[name].isna().any() for name in known if name in group)
        identified = (
            model not in models
            or not complete
            or regression.is_identified(covered, formula, family)
        )
        if identified or one_table is not None:
            fits = [regression.fit_glm(group, formula, family)]
        else:
            counts, total = tables[:, places[group["total"] > 0]], covered["total"].to_numpy(float)
            fits = [
                *regression.fit_tables(
                    covered, counts, np.tile(total, (len(counts), 1)), formula, family
                )
            ]
        for number, one in enumerate(fits, start=1):
            whole = *(getattr(one, name) for name in _OF_MODEL), identified
            coefficients = zip(one.terms, one.coef, one.se, one.p, strict=True)
            rows += [(str(model), number, *coefficient, *whole) for coefficient in coefficients]
    columns = ["model", "reconstruction", "term", "coef", "se", "p", *_OF_MODEL, "identified"]
    return pd.DataFrame(rows, columns=columns)


def _compare_each(
    cells: pd.DataFrame, formula: str | pd.DataFrame, family: str, against: str | pd.DataFrame
) -> pd.DataFrame:
    """Compare two regressions: one row per model and, where the comparison is not identified, reconstruction."""
    cells = check_cells(cells, *(one for one in (formula, against) if isinstance(one, str)))
    yours, other = _each(cells, formula, family), _each(cells, against)
    formulas = [fits.attrs["formula"] for fits in (yours, other)]
    same_family = yours.attrs["family"] == other.attrs["family"]
    both = _describe(yours, "").merge(
        _describe(other, "against_"), on=["model", "reconstruction"], how="outer"
    )
    both["model"] = pd.Categorical(both["model"], list(dict.fromkeys(cells["model"])))
    both = both.sort_values(["model", "reconstruction"], ignore_index=True).astype({"model": str})
    for prefix in ("", "against_"):  # a fit for all reconstructions has one row
        shared = [f"{prefix}{name}" for name in ("df", *_OF_MODEL, "identified")]
        both[shared] = both.groupby("model", sort=False)[shared].ffill()
        both[f"{prefix}status"] = both[f"{prefix}status"].fillna("not fitted")
        both[f"{prefix}df"] = both[f"{prefix}df"].fillna(0).astype(int)
    both["identified"] = both["identified"].ne(False) & both.pop("against_identified").ne(False)
    both = both.drop(columns=["total", "against_total"]).reset_index(drop=True)
    both.attrs = {}
    for name in ("aic", "bic"):
        both[f"d{name}"] = both[name] - both[f"against_{name}"]
    _test_ratios(both, _joint_ranks(cells, formulas) if same_family else {})
    return both


def _each(cells: pd.DataFrame, what: str | pd.DataFrame, family: str = "logit") -> pd.DataFrame:
    """Return `fit_each` of a formula, or what it gave for a table of fits: the table where all of it is identified."""
    if isinstance(what, str):
        each, attributes = fit_each(cells, what, family), {"formula": what, "family": family}
    else:
        if absent := [name for name in ("formula", "family") if name not in what.attrs]:
            raise ValueError(
                f"the table of fits does not say its {absent[0]} (.attrs); pass it as fit returned it"
            )
        each, attributes = (
            what.assign(reconstruction=1),
            {name: what.attrs[name] for name in ("formula", "family")},
        )
        if not each.get("identified", pd.Series(True)).all():
            each = fit_each(cells[cells["model"].isin(what["model"])], **attributes)
        each = each.assign(identified=each.get("identified", True))
    each.attrs = attributes
    return each


def _summarise(each: pd.DataFrame) -> pd.DataFrame:
    """Return one row per model and term: the fit, or median and range where it is not identified."""
    reach = norm.ppf(1 - ALPHA / 2) * each["se"]
    each = each.assign(low=each["coef"] - reach, high=each["coef"] + reach)
    numbers = ["coef", "se", "p", "low", "high", "loglik", "aic", "bic"]
    fits = _over_tables(each, ["model", "term"], numbers, ("coef", "p"))
    ends = reconstructions.range_over(each.groupby(["model", "term"], sort=False), ["low", "high"])[
        ["low_p10", "high_p90"]
    ]
    fits[["low", "high"]] = np.where(fits[["coef"]].notna(), ends, np.nan)
    fits["p"] = fits["p"].where(fits["identified"])
    fits["z"] = (fits["coef"] / fits["se"]).where(fits["identified"])
    head = ["model", "term", "coef", "se", "z", "p", "low", "high", *_OF_MODEL, "identified"]
    return fits[[*head, *(name for name in fits if name not in head)]]


def _over_tables(
    each: pd.DataFrame, keys: list[str], numbers: list[str], ranges: tuple[str, ...] | None = None
) -> pd.DataFrame:
    """Return one row per key: what there is once as it is, else the median over reconstructions.

    Numbers in ``ranges`` (all by default) have their 10 and 90% quantiles in ``NAME_p10`` and ``NAME_p90``. Where a fit
    fails in some reconstructions only, the status says in how many and the numbers are NaN.
    """
    groups = each.groupby(keys, sort=False, observed=True)
    whole = groups.first().copy()
    tables = groups["reconstruction"].nunique()
    whole[numbers] = groups[numbers].median()
    whole = whole.join(
        reconstructions.range_over(groups, ranges if ranges is not None else numbers)
    )
    failed = (
        each[each["status"] != "ok"]
        .groupby(keys, sort=False, observed=True)["status"]
        .agg(["first", "size"])
    )
    partly = failed[failed["size"] < tables.reindex(failed.index)]
    whole.loc[failed.index, "status"] = failed["first"]
    for key, row in partly.iterrows():
        whole.loc[[key], "status"] = (
            f"{row['first']} in {row['size']} of {tables[key]} reconstructions"
        )
        whole.loc[
            [key],
            [name for name in whole if name.removesuffix("_p10").removesuffix("_p90") in numbers],
        ] = np.nan
    return whole.reset_index().drop(columns="reconstruction")


def _describe(each: pd.DataFrame, prefix: str) -> pd.DataFrame:
    """Return what holds for the whole fit of each model and reconstruction."""
    keys = ["model", "reconstruction"]
    whole = each.groupby(keys, sort=False)[[*_OF_MODEL, "identified"]].first()
    whole.insert(0, "df", (each["term"] != "").groupby([each[key] for key in keys]).sum())
    return whole.add_prefix(prefix).reset_index()


def _joint_ranks(cells: pd.DataFrame, formulas: list[str]) -> dict[str, int]:
    """Return by model the dimension that the columns of both formulas span together, where they have values."""
    loads = sorted({name for one in formulas for name in name_covariates(one)} & set(cells.columns))
    ranks = {}
    for model, group in cells[cells["total"] > 0].groupby("model", sort=False, observed=True):
        if not group[loads].isna().any(axis=None):
            both = np.hstack([build_design(group, formula)[0].to_numpy() for formula in formulas])
            ranks[model] = int(np.linalg.matrix_rank(both / np.abs(both).max(axis=0), tol=1e-8))
    return ranks


def _test_ratios(both: pd.DataFrame, ranks: dict[str, int]) -> None:
    """Test the smaller regression of each row against the larger, where its columns span those of the smaller."""
    df, largest = both["df"] - both["against_df"], both[["df", "against_df"]].max(axis=1)
    fitted = (both["status"] == "ok") & (both["against_status"] == "ok")
    nested = fitted & (both["model"].map(ranks) == largest)
    both["larger"] = np.select([~nested, df == 0, df > 0], ["", "same", "formula"], "against")
    both["lr"] = (2 * (both["loglik"] - both["against_loglik"]) * np.sign(df)).where(
        nested & (df != 0)
    )
    both["lr_df"] = df.abs().where(nested, 0)
    both["lr_p"] = chi2.sf(both["lr"].clip(lower=0), both["lr_df"])


def spread_terms(fits: pd.DataFrame) -> pd.DataFrame:
    """Return one row per model: beta_*, se_*, p_* of every term by the paper's symbol or its own name, status."""
    models, terms = fits["model"].unique(), [term for term in fits["term"].unique() if term]
    wide = fits.pivot(index="model", columns="term", values=list(_KINDS))  # noqa: PD010 nothing to aggregate
    wide = wide.reindex(index=models, columns=pd.MultiIndex.from_product([_KINDS, terms]))
    wide.columns = [f"{_KINDS[kind]}_{SYMBOLS.get(term, term)}" for kind, term in wide.columns]
    status = fits.drop_duplicates("model").set_index("model")["status"]
    return wide.astype(float).assign(status=status).rename_axis("model").reset_index()


def glm_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return Table 2 (`schemas.GLM`): the quadratic fit of every model."""
    cells = reconstructions.as_given(cells)
    fits = fit(cells, QUADRATIC)
    criteria = fits.drop_duplicates("model")[["model", "aic", "loglik", "total"]]
    points = capacity_points(fits, cells)[["model", "ecl50", "nt50", "id50"]]
    return spread_terms(fits).merge(points, on="model").merge(criteria, on="model")


def interactions_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return Table 3 (`schemas.INTERACTIONS`), with the p-values of likelihood-ratio tests of dropping each product."""
    cells = reconstructions.as_given(cells)
    full = fit(cells, INTERACTIONS)
    tests = pd.concat(
        compare_fits(cells, f"{INTERACTIONS} - {term}", against=full).assign(term=term)
        for term in PRODUCT_TERMS
    )
    products = full.merge(tests[["model", "term", "lr_p"]], on=["model", "term"])
    return spread_terms(products.assign(p=products["lr_p"]))


def aic_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return Table 6 (`schemas.AIC`): AIC without and with rho^2, and the likelihood-ratio p-value."""
    compared = compare_fits(reconstructions.as_given(cells), LINEAR, against=QUADRATIC)
    return pd.DataFrame(
        {
            "model": compared["model"],
            "p_lr": compared["lr_p"],
            "aic_linear": compared["aic"],
            "aic_quadratic": compared["against_aic"],
            "status": compared["against_status"].where(
                compared["status"] == "ok", compared["status"]
            ),
        }
    )
