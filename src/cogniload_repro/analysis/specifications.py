"""Alternatives to the paper's regression, what they change, and the dispersion around it."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import chi2

from cogniload_repro.paths import DATA
from cogniload_repro.regression.capacity import find_points
from cogniload_repro.regression.formulas import build_design
from cogniload_repro.regression.glm import Fit, fit_all, fit_finite, group_by_design
from cogniload_repro.regression.identification import is_identified
from cogniload_repro.regression.likelihood import maximise_all
from cogniload_repro.regression.reconstructions import (
    RANGE,
    from_printed_tables,
    over_reconstructions,
)

#: Smallest decrease of AIC or BIC that counts in favour of a regression.
AIC_MARGIN = 2

#: The largest identified regression: all columns whose sums the printed tables fix.
FIXED_SUMS = (
    "correct ~ C(d) + C(N) + rho + I(rho**2) "
    "+ d:log10_N + d:rho + log10_N:rho + d:log10_N:rho"
)
#: In place of a reconstruction's number: the counts as given.
_GIVEN = 0
_NUMBERS = ["aic", "bic", "ecl50"]


class Specification(NamedTuple):
    """A regression of correct answers on the loads: formula and family."""

    name: str
    formula: str
    family: str = "logit"


#: The regressions of chapter 11, the paper's first.
SPECIFICATIONS = tuple(
    Specification(*row)
    for row in pd.read_csv(DATA / "specifications.csv").itertuples(index=False)
)


# ---- fits ----
def are_identified(
    cells: pd.DataFrame, specifications: Iterable[Specification]
) -> list[bool]:
    """Return for each specification whether its fits to all models are identified."""
    identified = []
    for _, formula, family in specifications:
        # with another link no reconstructed counts are identified, so that logit says enough
        fits = _fit_tables(cells, formula, "logit")
        is_open = family != "logit" and from_printed_tables(cells).any()
        identified.append(not is_open and all(map(is_identified, fits)))
    return identified


def fit_specifications(
    cells: pd.DataFrame, specifications: Iterable[Specification] = SPECIFICATIONS
) -> pd.DataFrame:
    """Fit every specification to every model.

    One row per specification and model: reconstruction (if the cells have it), model,
    specification, status, terms (number), loglik, aic, bic, ecl50 (statements, as in
    `capacity.capacity_points`), ecl50_status and fit (a `Fit`, even if its status is not "ok").
    """
    tables = []
    for name, formula, family in specifications:
        fits = _fit_tables(cells, formula, family)
        lengths = find_points(fits, "ecl50")
        rows = pd.DataFrame([_describe_fit(fit) for fit in fits])
        rows.insert(
            len(rows.columns) - 1, "ecl50", 10 ** lengths["value"].astype(float)
        )
        rows.insert(len(rows.columns) - 1, "ecl50_status", lengths["status"])
        tables.append(rows.assign(specification=name))
    return pd.concat(tables, ignore_index=True)


def _fit_tables(cells: pd.DataFrame, formula: str, family: str) -> list[Fit]:
    """Return the fits of a formula to each model, none if some have too few values for it."""
    try:
        return fit_all(cells, formula, family)
    except ValueError:  # too few distinct values for a spline
        return []


def _describe_fit(fit: Fit) -> dict[str, object]:
    names = ("status", "loglik", "aic", "bic")
    numbers = {name: getattr(fit, name) for name in names}
    return fit.key | numbers | {"terms": len(fit.terms), "fit": fit}


# ---- comparison with the paper's regression ----
def compare_specifications(
    cells: pd.DataFrame,
    intervals: pd.DataFrame,
    specifications: Iterable[Specification] = SPECIFICATIONS,
) -> pd.DataFrame:
    """Return what each specification would change, over the models that it can be fitted to.

    One row per specification: specification, identified, models (number fitted), daic (sum over the
    models of AIC minus that of the paper's regression), aic_better and bic_better (models whose
    criterion is lower by more than `AIC_MARGIN`), ecl50_ratio (median over the models of the ratio
    of ECL50 to the paper's, or its inverse if below 1), ecl50_left (models whose ECL50 is outside
    the interval of the paper's), order (Spearman correlation of ECL50 with the paper's). ECL50 below
    one statement is left out of the first two. If a specification is not identified, these are
    medians over the reconstructions; *_p10 and *_p90 are the 10 and 90% quantiles.
    """
    specifications = tuple(specifications)
    names = [specification.name for specification in specifications]
    identified = pd.Series(are_identified(cells, specifications), names)
    fits = _fit_with_samples(cells, specifications, identified)
    # only models fitted in every sample, so that sums over models are comparable
    keys = [fits["specification"], fits["model"]]
    is_fitted = (fits["status"] == "ok").groupby(keys).transform("all")
    fits[_NUMBERS] = fits[_NUMBERS].where(is_fitted)
    fits["models"] = is_fitted
    committed = fits[fits["reconstruction"] == _GIVEN]
    table = pd.DataFrame({"identified": identified})
    table["models"] = committed.groupby("specification")["models"].sum()

    ends = intervals[intervals["point"] == "ecl50"].set_index("model")
    changes = _measure_changes(fits, names[0], ends)
    for suffix, quantile in (("", 0.5), ("_p10", RANGE[0]), ("_p90", RANGE[1])):
        for name, by_table in changes.items():
            samples = by_table.drop(index=_GIVEN).quantile(quantile)
            table[f"{name}{suffix}"] = by_table.loc[_GIVEN].where(identified, samples)
    return table.rename_axis("specification").reset_index()


def _fit_with_samples(
    cells: pd.DataFrame,
    specifications: tuple[Specification, ...],
    identified: pd.Series,
) -> pd.DataFrame:
    """Fit every specification to the counts as given, and those not identified to each sample.

    The paper's regression, the first one, is fitted to the samples if any other is.
    """
    fits = fit_specifications(cells.assign(reconstruction=_GIVEN), specifications)
    varying = [other for other in specifications if not identified[other.name]]
    if not varying:
        return fits
    samples = over_reconstructions(cells, lambda table: table)
    needed = dict.fromkeys([specifications[0], *varying])  # each once
    return pd.concat([fits, fit_specifications(samples, needed)])


def _measure_changes(
    fits: pd.DataFrame, paper: str, ends: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """Return each quantity of `compare_specifications` by reconstruction and specification."""
    keys = ["reconstruction", "model"]
    wide = fits.pivot_table(_NUMBERS, keys, "specification", dropna=False)
    daic = wide["aic"].sub(wide["aic"][paper], axis=0)
    dbic = wide["bic"].sub(wide["bic"][paper], axis=0)
    ecl50 = wide["ecl50"]
    lengths = ecl50.where(ecl50 > 1)
    ratio = lengths.div(lengths[paper], axis=0)
    models = ecl50.index.get_level_values("model")
    limits = ends[["profile_low", "profile_high"]].astype(float).reindex(models)
    is_inside = ecl50.ge(limits["profile_low"].to_numpy(), axis=0)
    is_inside &= ecl50.le(limits["profile_high"].to_numpy(), axis=0)
    has_left = (~is_inside).astype(float).where(ratio.notna())
    correlations = ecl50.groupby("reconstruction").corr(method="spearman")
    return {
        "daic": daic.groupby("reconstruction").sum(min_count=1),
        "aic_better": (daic < -AIC_MARGIN).groupby("reconstruction").sum(),
        "bic_better": (dbic < -AIC_MARGIN).groupby("reconstruction").sum(),
        "ecl50_ratio": np.exp(np.abs(np.log(ratio)).groupby("reconstruction").median()),
        "ecl50_left": has_left.groupby("reconstruction").sum(min_count=1),
        "order": correlations.xs(paper, level="specification"),
    }


# ---- dispersion ----
def dispersion_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the dispersion of the cells around the paper's regression, and a lack-of-fit test.

    One row per model: model, phi (Pearson's chi-square per residual degree of freedom; not
    identified), lr, lr_df and p_lr (likelihood-ratio test of the paper's regression against
    `FIXED_SUMS`; identified), and phi_lower_bound (lr per residual degree of freedom: a lower bound
    on the deviance per degree of freedom in every table that agrees with the printed ones).
    """
    columns = ["model", "phi", "lr", "lr_df", "p_lr", "phi_lower_bound"]
    fits = fit_finite(cells)
    rows: list[dict[str, object]] = []
    for places in group_by_design(fits):
        rows += _measure_scatter([fits[place] for place in places])
    return pd.DataFrame(rows) if rows else pd.DataFrame(columns=columns)


def _measure_scatter(fits: list[Fit]) -> Iterator[dict[str, object]]:
    """Yield the rows of `dispersion_table` for finite fits with the same cells."""
    wide = build_design(fits[0].cells, FIXED_SUMS).x
    answers = np.array([fit.answers for fit in fits])
    correct = np.array([fit.correct for fit in fits])
    # if all answers at a level are correct, or all wrong, FIXED_SUMS has no finite fit; its
    # log-likelihood is then NaN or close to the supremum
    _, logliks = maximise_all(wide, answers, correct @ wide)
    for fit, loglik in zip(fits, logliks, strict=True):
        accuracy = fit.accuracy.clip(1e-12, 1 - 1e-12)
        variance = fit.answers * accuracy * (1 - accuracy)
        squares = (fit.correct - fit.answers * accuracy) ** 2
        # with as many terms as cells, the dispersion is not defined
        residual_df = len(accuracy) - len(fit.terms) or np.nan
        lr = np.nan_to_num(max(2 * (loglik - fit.loglik), 0))
        lr_df = wide.shape[1] - len(fit.terms) if np.isfinite(loglik) else 0
        yield fit.key | {
            "phi": (squares / variance).sum() / residual_df,
            "lr": lr,
            "lr_df": lr_df,
            "p_lr": chi2.sf(lr, lr_df or np.nan),
            "phi_lower_bound": lr / residual_df,
        }
