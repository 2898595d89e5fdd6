"""Other regressions than the paper's, and what they change; the scatter around it."""

from collections import defaultdict
from collections.abc import Collection, Iterable, Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import chi2

from cogniload_repro.files import DATA
from cogniload_repro.statistics.formulas import build_design, expand_design, name_covariates
from cogniload_repro.statistics.identification import is_identified
from cogniload_repro.statistics.likelihood import maximise_all
from cogniload_repro.statistics.reconstructions import (
    GIVEN,
    over_reconstructions,
    range_over,
    reconstructed_models,
)
from cogniload_repro.statistics.regression import QUADRATIC, fit_tables

#: So much lower an AIC or BIC must be to speak for a regression.
AIC_MARGIN = 2

#: All columns whose sums over the correct answers the printed tables fix.
FIXED_SUMS = "C(d) + C(N) + rho + I(rho**2) + d:log10_N + d:rho + log10_N:rho + d:log10_N:rho"

_LOADS = ("d", "N", "log10_N", "rho", "ratio_pct", "needles")
_LENGTHS = 10 ** np.arange(0, 7.001, 0.01)
_SEPARATED = 20.0  # linear predictors beyond this size are as good as separated
_USUAL = 1.85  # log10 of statements in the middle of the grid, where a fall is looked for first


class Specification(NamedTuple):
    """A regression of correct answers on the loads, formula and family as `regression.fit_glm` takes them."""

    name: str
    formula: str
    family: str = "logit"

    @property
    def others(self) -> frozenset[str]:
        """Its covariates that are no load."""
        return frozenset(name_covariates(self.formula)).difference(_LOADS)


#: The regressions of chapter 11, the paper's first.
SPECIFICATIONS = tuple(
    map(Specification._make, pd.read_csv(DATA / "specifications.csv").to_numpy().tolist())
)
_OF_FIT = ["status", "terms", "loglik", "aic", "bic", "ecl50"]
_COUNTED = ["daic", "aic_better", "bic_better", "ecl50_ratio", "ecl50_left", "order"]


def are_identified(cells: pd.DataFrame, specifications: Iterable[Specification]) -> list[bool]:
    """Return for each specification whether its fit is the same in every reconstruction, as real outputs' are."""
    grids = [
        own for _, own, *_ in shared_grids(cells[cells["model"].isin(reconstructed_models(cells))])
    ]
    return [not one.others and all(is_identified(own, one.formula, one.family) for own in grids)
            for one in specifications]  # fmt: skip


def fit_specifications(
    cells: pd.DataFrame, specifications: Iterable[Specification] = SPECIFICATIONS
) -> pd.DataFrame:
    """Fit every specification to every model.

    One row per specification and model: specification, model, status (as `fit_glm` has it), terms (number), loglik,
    aic, bic, and ecl50: where the fit, averaged over the levels of d at the mean of rho, is at one half (statements; 0
    below one, infinite above ten million, NaN where there is none, N is a factor or another covariate is in the fit).
    """
    parts: list[pd.DataFrame] = []
    grids: dict[frozenset[str], list[tuple]] = {}
    for one in specifications:
        if one.others not in grids:
            grids[one.others] = list(shared_grids(cells, one.others & set(cells)))
        half = np.log(np.log(2)) if one.family == "cloglog" else 0.0
        for models, own, correct, total in grids[one.others]:
            try:
                fits = fit_tables(own, correct, total, one.formula, one.family)
            except ValueError:  # a spline has too few values
                numbers = [("too few values for its terms", 1, *[np.nan] * 4)] * len(models)
            else:
                courses = (
                    _lay_course(fit.spec, own)
                    for fit in fits
                    if fit.status == "ok" and not one.others
                )
                course = next(courses, None)
                points = [
                    np.nan if course is None else _cross(course @ fit.coef - half) for fit in fits
                ]
                numbers = [(fit.status, len(fit.terms), fit.loglik, fit.aic, fit.bic, ecl50)
                           for fit, ecl50 in zip(fits, points, strict=True)]  # fmt: skip
            named = models.assign(specification=one.name)
            parts.append(named.join(pd.DataFrame(numbers, columns=_OF_FIT)))
    if not parts:
        return pd.DataFrame(columns=["model", "specification", *_OF_FIT])
    return pd.concat(parts, ignore_index=True)


def shared_grids(
    cells: pd.DataFrame, others: Collection[str] = ()
) -> Iterator[tuple[pd.DataFrame, pd.DataFrame, np.ndarray, np.ndarray]]:
    """Yield models with the same loads and other covariates: names, their cells, correct answers and answers (m, c).

    Tables of one model that are stacked, with a column reconstruction, count as models; their names have it too.
    """
    cells = cells[cells["total"] > 0].astype({"model": str})
    names = cells[[name for name in ("reconstruction", "model") if name in cells]]
    order = names.groupby(list(names), sort=False).ngroup().to_numpy()
    loads = [
        pd.factorize(cells[name], use_na_sentinel=False)[0]
        for name in ("N", "d", "rho", "ratio_pct", *others)
    ]
    grids = defaultdict[bytes, list[np.ndarray]](list)
    for places in (
        np.split(np.argsort(order, kind="stable"), np.cumsum(np.bincount(order))[:-1])
        if len(cells)
        else ()
    ):
        grids[np.column_stack(loads)[places].tobytes()].append(places)
    correct, total = (cells[name].to_numpy(float) for name in ("correct", "total"))
    for rows in map(np.array, grids.values()):
        own = cells.iloc[rows[0]].reset_index(drop=True)
        yield names.iloc[rows[:, 0]].reset_index(drop=True), own, correct[rows], total[rows]


def _lay_course(spec: object, own: pd.DataFrame) -> np.ndarray | None:
    """Return the design along `_LENGTHS`, averaged over the levels of d; None where it has no values between levels."""
    levels = np.sort(own["d"].unique())
    mesh = pd.DataFrame(
        {"N": np.repeat(_LENGTHS, len(levels)), "d": np.tile(levels, len(_LENGTHS))}
    )
    rho = own["rho"].mean()
    mesh = mesh.assign(rho=rho, ratio_pct=100 * rho, needles=rho * mesh["N"])
    try:
        design = expand_design(mesh, spec)
    except ValueError:
        return None
    return design.reshape(len(_LENGTHS), len(levels), -1).mean(axis=1)


def _cross(above: np.ndarray) -> float:
    """Return where a course along `_LENGTHS` falls through zero, nearest to the usual lengths."""
    at, above = np.log10(_LENGTHS)[np.isfinite(above)], above[np.isfinite(above)]
    (left,) = np.nonzero((above[:-1] > 0) & (above[1:] <= 0))
    if len(left) == 0:
        return np.nan if not len(above) else np.inf if above[0] > 0 else 0.0
    roots = at[left] - above[left] * (at[left + 1] - at[left]) / (above[left + 1] - above[left])
    return float(10 ** roots[np.abs(roots - _USUAL).argmin()])


def compare_specifications(
    cells: pd.DataFrame,
    intervals: pd.DataFrame,
    specifications: Iterable[Specification] = SPECIFICATIONS,
) -> pd.DataFrame:
    """Return what each specification would change, over the models that it fits.

    One row per specification: specification, identified, models (fitted), daic (sum of AIC less the paper's),
    aic_better and bic_better (models with one lower by more than `AIC_MARGIN`), ecl50_ratio (median ratio of ECL50 to
    the paper's, in either direction), ecl50_left (models whose ECL50 leaves the paper's interval), order (Spearman
    correlation of ECL50 with the paper's). Where it is not identified, medians of the samples; *_p10 and *_p90 are the
    10 and 90% quantiles.
    """
    specifications = tuple(specifications)
    identified = dict(
        zip(
            [one.name for one in specifications], are_identified(cells, specifications), strict=True
        )
    )
    fits = fit_specifications(cells.assign(reconstruction=GIVEN), specifications)
    if open_ones := [one for one in specifications if not identified[one.name]]:
        tables = over_reconstructions(cells, lambda table: table)
        fits = pd.concat(
            [fits, fit_specifications(tables, dict.fromkeys([specifications[0], *open_ones]))]
        )
    limits = (
        intervals[intervals["point"] == "ecl50"]
        .set_index("model")[["profile_low", "profile_high"]]
        .astype(float)
    )
    each = _compare_each(fits, specifications[0].name, limits)
    given = each.index.get_level_values("reconstruction") == GIVEN
    fixed = each.index.get_level_values("specification").map(identified).to_numpy(bool)
    over = each[given == fixed].groupby("specification", sort=False)
    parts = [over[_COUNTED].median(), range_over(over, _COUNTED)]
    head = each.loc[given, ["models"]].droplevel("reconstruction").astype(int)
    head.insert(0, "identified", list(identified.values()))
    return head.join([part.astype(float) for part in parts]).reset_index()


def _compare_each(fits: pd.DataFrame, first: str, limits: pd.DataFrame) -> pd.DataFrame:
    """Return `_COUNTED` and models, the number fitted, by specification and reconstruction."""
    paper, keys = fits[fits["specification"] == first], ["specification", "reconstruction"]
    both = fits.merge(paper, on=["reconstruction", "model"], suffixes=("", "_paper")).join(
        limits, on="model"
    )
    pair = both[["ecl50", "ecl50_paper"]]
    both[pair.columns] = pair = pair.where(pair.notna().all(axis=1))
    near = (pair > 1).all(axis=1) & np.isfinite(pair).all(axis=1)
    inside = both["ecl50"].between(both["profile_low"], both["profile_high"])
    daic, dbic = (both[name] - both[f"{name}_paper"] for name in ("aic", "bic"))
    both = both.assign(
        models=both["status"] == "ok", daic=daic, ecl50_left=(~inside).astype(float).where(near)
    )
    both = both.assign(aic_better=daic < -AIC_MARGIN, bic_better=dbic < -AIC_MARGIN)
    both["ecl50_ratio"] = np.abs(np.log(pair["ecl50"].where(near) / pair["ecl50_paper"]))
    groups = both.groupby(keys, sort=False)
    ranks = both[keys].join(groups[["ecl50", "ecl50_paper"]].rank()).groupby(keys, sort=False)
    each = groups[["models", "daic", "aic_better", "bic_better", "ecl50_left"]].sum(min_count=1)
    order = ranks.corr().xs("ecl50", level=-1)["ecl50_paper"]
    return each.assign(ecl50_ratio=np.exp(groups["ecl50_ratio"].median()), order=order)


def dispersion_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the scatter of the cells around the paper's regression, and its part that the printed tables fix.

    One row per model: model, phi (Pearson chi-square per degree of freedom; not identified), lr, lr_df and p_lr
    (likelihood-ratio test of all identified terms against the paper's), phi_lower_bound (lr per residual degree of
    freedom: no table that agrees with the printed ones has a smaller deviance).
    """
    parts = []
    for models, own, correct, total in shared_grids(cells):
        x, wide = (_basis(own, formula) for formula in (QUADRATIC, FIXED_SUMS))
        betas, logliks = maximise_all(x, total, correct @ x)
        richest = maximise_all(wide, total, correct @ wide)[
            1
        ]  # none for a level without correct or wrong answers
        p = np.clip(expit(betas @ x.T), 1e-12, 1 - 1e-12)
        df = len(own) - x.shape[1] or np.nan  # as many terms as cells: no scatter is left
        table = models.assign(phi=((correct - total * p) ** 2 / (total * p * (1 - p))).sum(1) / df)
        table["lr"] = np.nan_to_num(np.maximum(2 * (richest - logliks), 0))
        table["lr_df"] = np.where(np.isnan(richest), 0, wide.shape[1] - x.shape[1])
        table["p_lr"] = chi2.sf(table["lr"], table["lr_df"].where(table["lr_df"] > 0))
        table["phi_lower_bound"] = table["lr"] / df
        parts.append(table[np.isfinite(logliks) & (np.abs(betas @ x.T).max(axis=1) < _SEPARATED)])
    empty = pd.DataFrame(columns=["model", "phi", "lr", "lr_df", "p_lr", "phi_lower_bound"])
    return pd.concat(parts or [empty], ignore_index=True)


def _basis(own: pd.DataFrame, formula: str) -> np.ndarray:
    """Return orthonormal columns that span those of a formula."""
    design = build_design(own, f"correct ~ {formula.partition('~')[2] or formula}")[0].to_numpy(
        float
    )
    left, values, _ = np.linalg.svd(design / np.abs(design).max(axis=0), full_matrices=False)
    return left[:, values > 1e-9 * values[0]]
