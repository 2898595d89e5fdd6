"""Alternatives to the paper's regression, what they change, and its identified lack of fit."""

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pandas as pd

from cogniload_repro.paths import DATA
from cogniload_repro.regression.capacity import find_points
from cogniload_repro.regression.formulas import FIXED_SUMS
from cogniload_repro.regression.glm import Fit, fit_all
from cogniload_repro.regression.reconstructions import RANGE, over_reconstructions
from cogniload_repro.regression.selection import compare_fits

#: Smallest decrease of AIC or BIC that counts in favour of a regression.
AIC_MARGIN = 2
#: In place of a reconstruction's number: the counts as given.
_GIVEN = 0
_NUMBERS = ["aic", "bic", "ecl50"]
#: Quantiles over the reconstructions, by the suffix of their columns.
_QUANTILES = {
    "": 0.5,
    "_p10": RANGE[0],
    "_p90": RANGE[1],
}


class Specification(NamedTuple):
    """A regression of correct answers on the loads: formula and family."""

    name: str
    formula: str
    family: str = "logit"


#: The regressions of *Other regressions*, the paper's first.
SPECIFICATIONS = tuple(
    Specification(*row)
    for row in pd.read_csv(DATA / "specifications.csv").itertuples(index=False)
)


# ---- fits ----
def fit_specifications(
    cells: pd.DataFrame,
    specifications: Iterable[Specification] = SPECIFICATIONS,
) -> pd.DataFrame:
    """Fit every specification to every model.

    One row per specification and model: reconstruction (if the cells have it), model,
    specification, status, terms (number), aic, bic, ecl50 (statements, as in
    `capacity.capacity_points`), identified and fit (a `Fit`, even if its status is
    not "ok").
    """
    tables = []
    for name, formula, family in specifications:
        fits = _fit_tables(cells, formula, family)
        points = find_points(fits, "ecl50")
        ecl50 = 10.0 ** points["value"]
        table = pd.DataFrame([_list_numbers(fit) for fit in fits])
        tables.append(table.assign(specification=name, ecl50=ecl50))
    return pd.concat(tables, ignore_index=True)


def _list_numbers(fit: Fit) -> dict[str, object]:
    numbers = {
        "status": fit.status,
        "terms": len(fit.terms),
        "aic": fit.aic,
        "bic": fit.bic,
        "identified": fit.identified,
        "fit": fit,
    }
    return fit.key | numbers


def _fit_tables(
    cells: pd.DataFrame,
    formula: str,
    family: str,
) -> list[Fit]:
    """Return the fits of a formula to each model, none if some have too few values for it."""
    try:
        return fit_all(cells, formula, family)
    except ValueError:  # too few distinct values for a spline
        return []


# ---- comparison with the paper's regression ----
def compare_specifications(
    cells: pd.DataFrame,
    intervals: pd.DataFrame,
    specifications: Iterable[Specification] = SPECIFICATIONS,
) -> pd.DataFrame:
    """Return what each specification would change, over the models that it can be fitted to.

    One row per specification: specification, identified (in all models), models (number fitted),
    daic (sum over the models of AIC minus that of the paper's regression, the first one),
    aic_better and bic_better (models whose criterion is lower by more than `AIC_MARGIN`),
    ecl50_ratio (median over the models of the ratio of ECL50 to the paper's, or its inverse if
    below 1), ecl50_left (models whose ECL50 is outside the interval of the paper's), order
    (Spearman correlation of ECL50 with the paper's). ECL50 below one statement is left out of the
    first two. If a specification is not identified, these are medians over the reconstructions;
    *_p10 and *_p90 are the 10 and 90% quantiles.
    """
    specifications = tuple(specifications)
    names = [specification.name for specification in specifications]
    given = fit_specifications(cells, specifications)
    identified = given.groupby("specification")["identified"].all()
    identified = identified.reindex(names, fill_value=True)
    varying = [one for one in specifications if not identified[one.name]]
    fits = given.assign(reconstruction=_GIVEN)
    if varying:
        samples = over_reconstructions(cells)
        needed = dict.fromkeys([specifications[0], *varying])  # each once
        fits = pd.concat([fits, fit_specifications(samples, needed)])
    fits = _keep_fitted(fits)
    fitted = fits.dropna(subset="terms").groupby("specification")
    models = fitted["model"].nunique()
    table = pd.DataFrame({"identified": identified})
    table["models"] = models.reindex(names, fill_value=0)
    ends = intervals[intervals["point"] == "ecl50"].set_index("model")
    changes = _measure_changes(fits, names[0], ends)
    for suffix, quantile in _QUANTILES.items():
        for name, by_table in changes.items():
            as_given = by_table.loc[_GIVEN]
            samples = by_table.drop(index=_GIVEN).quantile(quantile)
            table[f"{name}{suffix}"] = as_given.where(identified, samples)
    return table.rename_axis("specification").reset_index()


def _keep_fitted(fits: pd.DataFrame) -> pd.DataFrame:
    """Return the fits without the numbers of models that have no fit in some sample.

    Sums over models are then comparable between samples.
    """
    keys = [fits["specification"], fits["model"]]
    is_fitted = fits["status"] == "ok"
    is_always_fitted = is_fitted.groupby(keys).transform("all")
    numbers = fits[["terms", *_NUMBERS]]
    return fits.assign(**numbers.where(is_always_fitted))


def _measure_changes(
    fits: pd.DataFrame,
    paper: str,
    ends: pd.DataFrame,
) -> dict[str, pd.DataFrame]:
    """Return each quantity of `compare_specifications` by reconstruction and specification."""
    keys = ["reconstruction", "model"]
    wide = fits.pivot_table(_NUMBERS, keys, "specification", dropna=False)
    daic = wide["aic"].sub(wide["aic"][paper], axis=0)
    dbic = wide["bic"].sub(wide["bic"][paper], axis=0)
    ecl50 = wide["ecl50"]
    lengths = ecl50.where(ecl50 > 1)
    ratio = lengths.div(lengths[paper], axis=0)
    change = np.abs(np.log(ratio))
    models = ecl50.index.get_level_values("model")
    limits = ends.reindex(models)
    low = limits["profile_low"].to_numpy(float)
    high = limits["profile_high"].to_numpy(float)
    is_inside = ecl50.ge(low, axis=0) & ecl50.le(high, axis=0)
    has_left = (~is_inside).astype(float).where(ratio.notna())
    correlations = ecl50.groupby("reconstruction").corr(method="spearman")

    def sum_models(by_model: pd.DataFrame) -> pd.DataFrame:
        return by_model.groupby("reconstruction").sum(min_count=1)

    return {
        "daic": sum_models(daic),
        "aic_better": sum_models(daic < -AIC_MARGIN),
        "bic_better": sum_models(dbic < -AIC_MARGIN),
        "ecl50_ratio": np.exp(change.groupby("reconstruction").median()),
        "ecl50_left": sum_models(has_left),
        "order": correlations.xs(paper, level="specification"),
    }


# ---- lack of fit ----
def dispersion_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Test the paper's regression against `FIXED_SUMS`; on the whole grid both are identified.

    One row per model with a finite fit: model, p_lr (likelihood-ratio test; NaN if the larger
    regression has no finite fit or is not identified, as on a part of the grid), and
    phi_lower_bound (the likelihood ratio per residual degree of freedom: a lower bound on the
    deviance per degree of freedom in every table that agrees with the printed ones; zero without
    a fit of the larger regression).
    """
    tests = compare_fits(cells, FIXED_SUMS).set_index("model")
    tests = tests[tests["against_status"] == "ok"]
    answered = cells[cells["total"] > 0]
    residual_df = answered.groupby("model").size() - tests["against_df"]
    tests["phi_lower_bound"] = tests["lr"] / residual_df
    table = tests[["lr_p", "phi_lower_bound"]]
    table = table.fillna({"phi_lower_bound": 0.0})
    return table.rename(columns={"lr_p": "p_lr"}).reset_index()
