"""Alternatives to the paper's regression, what they change, and the dispersion around it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import chi2

from cogniload_repro.files import DATA
from cogniload_repro.regression.formulas import (
    build_design,
    expand_design,
    name_covariates,
)
from cogniload_repro.regression.glm import QUADRATIC, fit_tables
from cogniload_repro.regression.identification import is_identified
from cogniload_repro.regression.likelihood import maximise_all
from cogniload_repro.regression.reconstructions import (
    GIVEN,
    RANGE,
    over_reconstructions,
    reconstructed_models,
)

#: Smallest decrease of AIC or BIC that counts in favour of a regression.
AIC_MARGIN = 2

#: The largest identified regression: all columns whose sums the printed tables fix.
FIXED_SUMS = (
    "correct ~ C(d) + C(N) + rho + I(rho**2) "
    "+ d:log10_N + d:rho + log10_N:rho + d:log10_N:rho"
)

_LOAD_NAMES = ("d", "N", "log10_N", "rho", "ratio_pct", "needles")
#: Lengths (log10 of statements) at which a fit is evaluated in the search for its ECL50.
_LOG_LENGTHS = np.arange(0, 7.001, 0.01)
#: The middle of the grid (log10 of statements): of several roots, the nearest one is the ECL50.
_MIDDLE = 1.85


class Specification(NamedTuple):
    """A regression of correct answers on the loads: formula and family of `fit_glm`."""

    name: str
    formula: str
    family: str = "logit"

    @property
    def others(self) -> frozenset[str]:
        """Covariates that are not loads, such as a number of tokens."""
        return frozenset(name_covariates(self.formula)).difference(_LOAD_NAMES)

    @property
    def half(self) -> float:
        """The linear predictor at which accuracy is one half."""
        return np.log(np.log(2)) if self.family == "cloglog" else 0.0


#: The regressions of chapter 11, the paper's first.
SPECIFICATIONS = tuple(
    Specification(*row)
    for row in pd.read_csv(DATA / "specifications.csv").itertuples(index=False)
)

_OF_FIT = ["status", "terms", "loglik", "aic", "bic", "ecl50", "fit"]


# ---- models with the same cells ----
class SharedGrid(NamedTuple):
    """Tables of counts, of several models or reconstructions, with the same cells.

    ``names`` has one row per table: its model, and its reconstruction if there are several.
    ``correct`` and ``total`` (answers) have the shape (tables, cells).
    """

    names: pd.DataFrame
    cells: pd.DataFrame
    correct: np.ndarray
    total: np.ndarray


def shared_grids(
    cells: pd.DataFrame, others: Collection[str] = ()
) -> Iterator[SharedGrid]:
    """Yield groups of models with the same cells and the same values of other covariates in them.

    If there is a column reconstruction, each reconstruction of a model is a table of its own.
    """
    cells = cells[cells["total"] > 0].reset_index(drop=True)
    names = cells[[name for name in ("reconstruction", "model") if name in cells]]
    layout = cells[["N", "d", "rho", "ratio_pct", *others]]
    codes = pd.util.hash_pandas_object(layout, index=False).to_numpy()
    rows_by_layout = defaultdict[bytes, list[np.ndarray]](list)
    for _, table in names.groupby(list(names), sort=False, observed=True):
        rows = table.index.to_numpy()
        rows_by_layout[codes[rows].tobytes()].append(rows)
    correct = cells["correct"].to_numpy(float)
    total = cells["total"].to_numpy(float)
    for tables in rows_by_layout.values():
        rows = np.array(tables)
        yield SharedGrid(
            names=names.iloc[rows[:, 0]].reset_index(drop=True).astype({"model": str}),
            cells=cells.iloc[rows[0]].reset_index(drop=True),
            correct=correct[rows],
            total=total[rows],
        )


# ---- fits ----
def are_identified(
    cells: pd.DataFrame, specifications: Iterable[Specification]
) -> list[bool]:
    """Return for each specification whether the printed tables identify its fit.

    Fits to scored answers count as identified.
    """
    reconstructed = cells[cells["model"].isin(reconstructed_models(cells))]
    grids = [grid.cells for grid in shared_grids(reconstructed)]
    identified = []
    for specification in specifications:
        _, formula, family = specification
        of_grids = [is_identified(grid, formula, family) for grid in grids]
        identified.append(not specification.others and all(of_grids))
    return identified


def fit_specifications(
    cells: pd.DataFrame, specifications: Iterable[Specification] = SPECIFICATIONS
) -> pd.DataFrame:
    """Fit every specification to every model.

    One row per specification and model: specification, model, status (as in `fit_glm`), terms
    (number), loglik, aic, bic, ecl50 and fit (a `Fit`, even if its status is not "ok"). ecl50 is
    the length (statements) at which the linear predictor, averaged over the levels of d at the mean
    of rho, corresponds to an accuracy of one half. It is 0 if below one statement and infinite if
    above ten million; NaN without a fit, if a load other than d is a factor, or if a covariate is
    not a load.
    """
    tables = [pd.DataFrame(columns=["model", "specification", *_OF_FIT])]
    for specification in specifications:
        for grid in shared_grids(cells, specification.others & set(cells)):
            names = grid.names.assign(specification=specification.name)
            tables.append(names.join(_fit_grid(grid, specification)))
    return pd.concat(tables[1:] or tables, ignore_index=True)


def _fit_grid(grid: SharedGrid, specification: Specification) -> pd.DataFrame:
    """Fit a specification to each table of a grid; one row per table with `_OF_FIT`."""
    _, formula, family = specification
    try:
        fits = fit_tables(grid.cells, grid.correct, grid.total, formula, family)
    except ValueError:  # too few distinct values for a spline
        nothing = pd.DataFrame(np.nan, grid.names.index, _OF_FIT)
        return nothing.assign(status="too few values for its terms", terms=1)
    curve = None
    if not specification.others and any(fit.status == "ok" for fit in fits):
        curve = _lay_curve(build_design(grid.cells, formula)[1], grid.cells)
    rows = []
    for fit in fits:
        ecl50 = np.nan
        if curve is not None:
            ecl50 = _find_ecl50(curve @ fit.coef - specification.half)
        numbers = (fit.loglik, fit.aic, fit.bic, ecl50)
        rows.append((fit.status, len(fit.terms), *numbers, fit))
    return pd.DataFrame(rows, columns=_OF_FIT)


def _lay_curve(spec: object, cells: pd.DataFrame) -> np.ndarray | None:
    """Return the design matrix of a fit along `_LOG_LENGTHS`, averaged over the levels of d.

    None if the fit is not defined between the tested levels, as with factors.
    """
    levels = np.sort(cells["d"].unique())
    rho = cells["rho"].mean()
    mesh = pd.DataFrame({"N": np.repeat(10**_LOG_LENGTHS, len(levels))})
    mesh["d"] = np.tile(levels, len(_LOG_LENGTHS))
    mesh = mesh.assign(rho=rho, ratio_pct=100 * rho, needles=rho * mesh["N"])
    try:
        design = expand_design(mesh, spec)
    except ValueError:
        return None
    return design.reshape(len(_LOG_LENGTHS), len(levels), -1).mean(axis=1)


def _find_ecl50(above_half: np.ndarray) -> float:
    """Return the length (statements) at which a curve along `_LOG_LENGTHS` falls below zero.

    If it never does, the length is infinite for a curve that starts above zero, else 0.
    """
    is_known = np.isfinite(above_half)
    curve = above_half[is_known]
    lengths = _LOG_LENGTHS[is_known]
    if not curve.size:
        return np.nan
    (before,) = np.nonzero((curve[:-1] > 0) & (curve[1:] <= 0))
    if not before.size:
        return np.inf if curve[0] > 0 else 0.0
    after = before + 1
    slope = (curve[after] - curve[before]) / (lengths[after] - lengths[before])
    roots = lengths[before] - curve[before] / slope
    nearest = np.abs(roots - _MIDDLE).argmin()
    return float(10 ** roots[nearest])


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
    the interval of the paper's), order (Spearman correlation of ECL50 with the paper's). If a
    specification is not identified, these are medians over the reconstructions; *_p10 and *_p90 are
    the 10 and 90% quantiles.
    """
    specifications = tuple(specifications)
    names = [specification.name for specification in specifications]
    identified = pd.Series(are_identified(cells, specifications), names)
    fits = _fit_with_samples(cells, specifications, identified)
    # only models fitted in every sample, so that sums over models are comparable
    keys = [fits["specification"], fits["model"]]
    is_fitted = (fits["status"] == "ok").groupby(keys).transform("all")
    numbers = ["aic", "bic", "ecl50"]
    fits[numbers] = fits[numbers].where(is_fitted)
    fits["models"] = is_fitted
    committed = fits[fits["reconstruction"] == GIVEN]
    table = pd.DataFrame({"identified": identified})
    table["models"] = committed.groupby("specification")["models"].sum()

    ends = intervals[intervals["point"] == "ecl50"].set_index("model")
    changes = _measure_changes(fits, names[0], ends)
    for suffix, quantile in (("", 0.5), ("_p10", RANGE[0]), ("_p90", RANGE[1])):
        for name, by_table in changes.items():
            samples = by_table.drop(index=GIVEN).quantile(quantile)
            table[f"{name}{suffix}"] = by_table.loc[GIVEN].where(identified, samples)
    return table.rename_axis("specification").reset_index()


def _fit_with_samples(
    cells: pd.DataFrame,
    specifications: tuple[Specification, ...],
    identified: pd.Series,
) -> pd.DataFrame:
    """Fit every specification to the counts as given, and those not identified to each sample.

    The paper's regression, the first one, is fitted to the samples if any other is.
    """
    fits = fit_specifications(cells.assign(reconstruction=GIVEN), specifications)
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
    numbers = ["aic", "bic", "ecl50"]
    wide = fits.pivot_table(
        numbers, ["reconstruction", "model"], "specification", dropna=False
    )
    daic = wide["aic"].sub(wide["aic"][paper], axis=0)
    dbic = wide["bic"].sub(wide["bic"][paper], axis=0)
    ecl50 = wide["ecl50"]
    lengths = ecl50.where((ecl50 > 1) & (ecl50 < np.inf))
    ratio = lengths.div(lengths[paper], axis=0)
    models = ecl50.index.get_level_values("model")
    limits = ends[["profile_low", "profile_high"]].astype(float).reindex(models)
    is_inside = ecl50.ge(limits["profile_low"].to_numpy(), axis=0)
    is_inside &= ecl50.le(limits["profile_high"].to_numpy(), axis=0)
    has_left = (~is_inside).astype(float).where(ratio.notna())
    ranks = ecl50.groupby("reconstruction").rank()  # infinite ones rank last
    correlations = ranks.groupby("reconstruction").corr(method="spearman")
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
    tables = [_measure_scatter(grid) for grid in shared_grids(cells)]
    return pd.concat(tables or [pd.DataFrame(columns=columns)], ignore_index=True)


def _measure_scatter(grid: SharedGrid) -> pd.DataFrame:
    """Return the rows of `dispersion_table` for models with the same cells and a finite fit."""
    fits = fit_tables(grid.cells, grid.correct, grid.total, QUADRATIC)
    accuracy = np.clip([fit.accuracy for fit in fits], 1e-12, 1 - 1e-12)
    variance = grid.total * accuracy * (1 - accuracy)
    squares = (grid.correct - grid.total * accuracy) ** 2
    terms = len(fits[0].terms)
    # with as many terms as cells, the dispersion is not defined
    residual_df = len(grid.cells) - terms or np.nan

    wide = build_design(grid.cells, FIXED_SUMS)[0].to_numpy()
    # if all answers at a level are correct, or all wrong, FIXED_SUMS has no finite fit; its
    # log-likelihood is then NaN or close to the supremum
    _, wide_logliks = maximise_all(wide, grid.total, grid.correct @ wide)
    gain = wide_logliks - [fit.loglik for fit in fits]
    has_wide = np.isfinite(wide_logliks)

    table = grid.names.copy()
    table["phi"] = (squares / variance).sum(axis=1) / residual_df
    table["lr"] = np.nan_to_num(np.maximum(2 * gain, 0))
    table["lr_df"] = np.where(has_wide, wide.shape[1] - terms, 0)
    table["p_lr"] = chi2.sf(table["lr"], table["lr_df"].where(table["lr_df"] > 0))
    table["phi_lower_bound"] = table["lr"] / residual_df
    return table[[fit.status == "ok" for fit in fits]]
