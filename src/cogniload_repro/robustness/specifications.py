"""Other regressions than the paper's, and what they change; the scatter around it, and a ceiling below one.

A fit is identified if the printed tables fix the sums that it depends on (`statistics.identification`); any other fit
is a range over the reconstructions.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import chi2, norm, spearmanr

from cogniload_repro.robustness.families import correct_holm
from cogniload_repro.statistics.formulas import build_design, expand_design, name_covariates
from cogniload_repro.statistics.identification import is_identified
from cogniload_repro.statistics.likelihood import maximise_all
from cogniload_repro.statistics.reconstructions import over_reconstructions, reconstructed_models
from cogniload_repro.statistics.regression import INTERACTIONS, LINEAR, QUADRATIC, QUASI, fit_glm

#: So much lower an AIC or BIC must be to speak for a regression.
AIC_MARGIN = 2

#: All columns whose sums over the correct answers the printed tables fix.
FIXED_SUMS = "C(d) + C(N) + rho + I(rho**2) + d:log10_N + d:rho + log10_N:rho + d:log10_N:rho"

#: Accuracy and its derivative as functions of the linear predictor.
Curve = Callable[[np.ndarray], tuple[np.ndarray, np.ndarray]]
_CURVES: dict[str, Curve] = {
    "logit": lambda eta: (expit(eta), expit(eta) * expit(-eta)),
    "probit": lambda eta: (norm.cdf(eta), norm.pdf(eta)),
    "cloglog": lambda eta: (-np.expm1(-np.exp(eta)), np.exp(eta - np.exp(eta))),
}
_LOADS = ("d", "N", "log10_N", "rho", "ratio_pct", "needles")
_LENGTHS = 10 ** np.arange(0, 7.001, 0.01)
_SEPARATED = 20.0  # linear predictors beyond this size are checked for separation
_USUAL = 1.85  # log10 of statements in the middle of the grid, where a fall is looked for first
#: Ceilings that `fit_lapses` tries.
_CEILINGS = 1 - np.concatenate([np.arange(0, 0.02, 0.002), np.arange(0.02, 0.1, 0.01), np.arange(0.1, 0.41, 0.025)])


@dataclass(frozen=True)
class Specification:
    """A regression of correct answers on the loads.

    Attributes
    ----------
    name : str
        Key of the specification.
    formula, family : str
        As `regression.fit_glm` takes them.
    length : str
        Unit of ECL50: N (statements) or prompt_mean (tokens).
    """

    name: str
    formula: str
    family: str = "logit"
    length: str = "N"


#: The paper's specification first.
SPECIFICATIONS = (
    Specification("paper", QUADRATIC),
    Specification("no curve in rho", LINEAR),
    Specification("N", "correct ~ d + N + rho + I(rho**2)"),
    Specification("sqrt N", "correct ~ d + np.sqrt(N) + rho + I(rho**2)"),
    Specification("N as factor", "correct ~ d + C(N) + rho + I(rho**2)"),
    Specification("cubic in d", "correct ~ d + I(d**2) + I(d**3) + log10_N + rho + I(rho**2)"),
    Specification("d as factor", "correct ~ C(d) + log10_N + rho + I(rho**2)"),
    Specification("d x N", "correct ~ d * log10_N + rho + I(rho**2)"),
    Specification("all pairs", "correct ~ (d + log10_N + rho)**2 + I(rho**2)"),
    Specification("three-way", INTERACTIONS),
    Specification("all identified terms", f"correct ~ {FIXED_SUMS}"),
    Specification("nominal ratio", "correct ~ d + log10_N + ratio_pct + I(ratio_pct**2)"),
    Specification("cubic in rho", "correct ~ d + log10_N + rho + I(rho**2) + I(rho**3)"),
    Specification("spline in rho", "correct ~ d + log10_N + bs(rho, df=4, extrapolation='extend')"),
    Specification("probit", QUADRATIC, "probit"),
    Specification("cloglog", QUADRATIC, "cloglog"),
)
_COUNTED = ("daic", "aic_better", "bic_better", "ecl50_ratio", "ecl50_left", "order")
_SCATTER = ["model", "phi", "lr", "lr_df", "p_lr", "phi_lower_bound"]
_COLUMNS = ["specification", "model", "status", "terms", "loglik", "aic", "bic", "ecl50"]


def add_own(formula: str, family: str = "logit") -> tuple[Specification, ...]:
    """Return all specifications and, as the last, the reader's."""
    length = "prompt_mean" if "prompt_mean" in name_covariates(formula) else "N"
    return *SPECIFICATIONS, Specification("yours", formula, family, length)


def fit_is_identified(cells: pd.DataFrame, one: Specification) -> bool:
    """Return whether a specification's fit is the same in every reconstruction; real outputs leave nothing open."""
    own = cells[cells["model"].isin(reconstructed_models(cells))]
    if len(own) and one.length != "N":
        return False
    return all(is_identified(grid, one.formula, one.family) for _, grid, *_ in _shared_grids(own))


def fit_specifications(cells: pd.DataFrame, specifications: Iterable[Specification] = SPECIFICATIONS) -> pd.DataFrame:
    """Fit every specification to every model.

    Returns
    -------
    DataFrame
        One row per specification and model: specification, model, status (as `fit_glm` has it), terms (number), loglik,
        aic, bic, and ecl50: where the fit, averaged over the levels of d at the mean of rho, is at one half
        (statements, or tokens; 0 below one, infinite above ten million, NaN where there is none or N is a factor).
    """
    rows: list[dict[str, object]] = []
    grids: dict[frozenset[str], list[tuple]] = {}
    for one in specifications:
        others = frozenset(name_covariates(one.formula)).difference(_LOADS) & set(cells.columns)
        if others not in grids:
            grids[others] = list(_shared_grids(cells, others))
        for models, own, total, correct in grids[others]:
            rows += _fit_group(one, models, own, total, correct)
    return pd.DataFrame(rows, columns=_COLUMNS)


def _shared_grids(
    cells: pd.DataFrame, others: Iterable[str] = ()
) -> Iterator[tuple[list[str], pd.DataFrame, np.ndarray, np.ndarray]]:
    """Yield models with the same loads and other covariates: names, their cells, answers and correct ones (m, c)."""
    groups: dict[bytes, list[tuple[str, pd.DataFrame]]] = {}
    for model, own in cells[cells["total"] > 0].groupby("model", sort=False, observed=True):
        key = (
            own[["N", "d", "rho", "ratio_pct"]].to_numpy(float).tobytes() + own[[*others]].to_csv(index=False).encode()
        )
        groups.setdefault(key, []).append((str(model), own.reset_index(drop=True)))
    for found in groups.values():
        counts = (np.array([own[name].to_numpy(float) for _, own in found]) for name in ("total", "correct"))
        yield [model for model, _ in found], found[0][1], *counts


def _fit_group(
    one: Specification, models: list[str], own: pd.DataFrame, total: np.ndarray, correct: np.ndarray
) -> Iterator[dict[str, object]]:
    """Yield the row of each of several models with the same covariates."""
    status, betas = "", np.full((len(models), 1), np.nan)
    logliks, ecl50 = np.full((2, len(models)), np.nan)
    try:
        if own[[name for name in name_covariates(one.formula) if name in own]].isna().any(axis=None):
            raise ValueError("a covariate is not known")
        design, spec = build_design(own, one.formula)
        x = design.to_numpy(float)
        if np.linalg.matrix_rank(x) < x.shape[1]:
            status = "not identified"
    except ValueError:  # a spline has too few values, or a covariate is missing: fit_glm says which
        x = None
    if x is not None and not status:
        betas, logliks = maximise_all(x, total, correct @ x)
        if one.family not in ("logit", QUASI):
            betas, logliks = _maximise_curve(_CURVES[one.family], x, total, correct, betas / 1.7)
        logliks = np.where(np.abs(betas @ x.T).max(axis=1) < _SEPARATED, logliks, np.nan)
        if (course := _lay_course(spec, own, one.length)) is not None:
            half = np.log(np.log(2)) if one.family == "cloglog" else 0.0
            ecl50[:] = [_cross(above) for above in betas @ course.T - half]
    terms = np.isfinite(betas[0]).size
    for place, model in enumerate(models):
        row = {"specification": one.name, "model": model, "status": status or "ok", "terms": terms}
        if np.isnan(logliks[place]):
            counts = own.assign(total=total[place], correct=correct[place])
            yield row | {"status": status or _name_failure(counts, one)}
            continue
        loglik = np.nan if one.family == QUASI else logliks[place]
        row |= {"loglik": loglik, "aic": 2 * terms - 2 * loglik, "ecl50": ecl50[place]}
        yield row | {"bic": np.log(total[place].sum()) * terms - 2 * loglik}


def _name_failure(own: pd.DataFrame, one: Specification) -> str:
    try:
        status = fit_glm(own, one.formula, one.family).status
    except ValueError:
        return "not identified"
    return "not converged" if status == "ok" else status


def _maximise_curve(
    curve: Curve,
    x: np.ndarray,
    total: np.ndarray,
    correct: np.ndarray,
    start: np.ndarray,
    ceiling: np.ndarray | float = 1.0,
) -> tuple[np.ndarray, np.ndarray]:
    """Fit a curve times a ceiling to many tables by Fisher scoring: coefficients (m, q), log-likelihoods, or NaN."""
    ceiling = np.broadcast_to(ceiling, len(start))[:, None]
    x, triangle = np.linalg.qr(x)
    size, b = x.shape[1], start @ triangle.T
    products = (x[:, :, None] * x[:, None, :]).reshape(len(x), -1)
    active = np.flatnonzero(np.isfinite(b).all(axis=1))
    b[np.isnan(b)] = 0.0
    for _ in range(100):
        if not len(active):
            break
        p, slope = (ceiling[active] * values for values in curve(b[active] @ x.T))
        p = np.clip(p, 1e-12, 1 - 1e-12)
        pull = slope / (p * (1 - p))
        information = ((total[active] * slope * pull) @ products).reshape(-1, size, size)
        gradient = ((correct[active] - total[active] * p) * pull) @ x
        step = np.linalg.solve(information + 1e-9 * np.eye(size), gradient[:, :, None])[:, :, 0]
        reach = np.abs(step @ x.T).max(axis=1)
        b[active] += step * np.minimum(1, 1 / np.maximum(reach, 1e-9))[:, None]
        active = active[reach > 1e-5]  # the likelihood is flat there
    p = np.clip(ceiling * curve(b @ x.T)[0], 1e-12, 1 - 1e-12)
    logliks = (correct * np.log(p) + (total - correct) * np.log1p(-p)).sum(axis=1)
    failed = np.isnan(start).any(axis=1)
    failed[active] = True
    return np.linalg.solve(triangle, np.where(failed, np.nan, b.T)).T, np.where(failed, np.nan, logliks)


def _lay_course(spec: object, own: pd.DataFrame, length: str) -> np.ndarray | None:
    """Return the design along `_LENGTHS`, averaged over the levels of d; None where it has no values between levels."""
    levels = np.sort(own["d"].unique())
    mesh = pd.DataFrame({"N": np.repeat(_LENGTHS, len(levels)), "d": np.tile(levels, len(_LENGTHS))})
    mesh = mesh.assign(rho=own["rho"].mean(), ratio_pct=100 * own["rho"].mean())
    mesh = mesh.rename(columns={"N": length}) if length != "N" else mesh.assign(needles=mesh["rho"] * mesh["N"])
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
    cells: pd.DataFrame, intervals: pd.DataFrame, specifications: Iterable[Specification] = SPECIFICATIONS
) -> pd.DataFrame:
    """Return what each specification would change, over the models that it fits.

    Parameters
    ----------
    cells : DataFrame
        Cells frame.
    intervals : DataFrame
        As `uncertainty.capacity_intervals` returns it.
    specifications : iterable of Specification
        The paper's first.

    Returns
    -------
    DataFrame
        One row per specification: specification, identified, models (fitted), daic (sum of AIC less the paper's),
        aic_better and bic_better (models with one lower by more than `AIC_MARGIN`), ecl50_ratio (median ratio of ECL50
        to the paper's, in either direction), ecl50_left (models whose ECL50 leaves the paper's 95% interval), order
        (Spearman correlation of ECL50 with the paper's). Where it is not identified the median over the
        reconstructions; *_min and *_max are their range, and equal to it where it is identified.
    """
    specifications = tuple(specifications)
    identified = [fit_is_identified(cells, one) for one in specifications]
    limits = intervals[intervals["point"] == "ecl50"].set_index("model")[["profile_low", "profile_high"]]
    summarise = partial(_summarise, specifications=specifications, limits=limits)
    summary = summarise(cells).set_index("specification")
    open_ones = [specifications[0]] + [one for one, fixed in zip(specifications, identified, strict=True) if not fixed]
    summary.insert(0, "identified", identified)
    for column in _COUNTED:
        summary[f"{column}_min"] = summary[f"{column}_max"] = summary[column]
    if len(open_ones) > 1:
        drawn = over_reconstructions(cells, partial(_summarise, specifications=open_ones, limits=limits))
        by = drawn.groupby("specification")
        for column in _COUNTED:
            for name, over in ((column, by[column].median()), (f"{column}_min", by[column].min()),
                               (f"{column}_max", by[column].max())):  # fmt: skip
                summary[name] = summary[name].astype(float)
                summary.loc[[one.name for one in open_ones[1:]], name] = over
    return summary.reset_index()


def _summarise(cells: pd.DataFrame, specifications: Sequence[Specification], limits: pd.DataFrame) -> pd.DataFrame:
    fits = fit_specifications(cells, specifications)
    wide = {name: fits.pivot_table(name, "model", "specification", dropna=False) for name in ("aic", "bic", "ecl50")}
    paper, rows = specifications[0].name, []
    for one in specifications:
        models = int((fits.loc[fits["specification"] == one.name, "status"] == "ok").sum())
        daic, dbic = ((wide[name][one.name] - wide[name][paper]).astype(float) for name in ("aic", "bic"))
        row = {"specification": one.name, "models": models, "daic": daic.sum(min_count=1)}
        row |= {"aic_better": (daic < -AIC_MARGIN).sum(), "bic_better": (dbic < -AIC_MARGIN).sum()}
        pair = wide["ecl50"][[one.name]].set_axis(["new"], axis=1).assign(paper=wide["ecl50"][paper]).astype(float)
        pair = pair.dropna() if one.length == "N" else pair.head(0)
        near = pair[(pair > 1).all(axis=1) & np.isfinite(pair).all(axis=1)]
        inside = near["new"].between(*(limits[end].reindex(near.index).astype(float) for end in limits))
        row |= {"ecl50_ratio": np.exp(np.abs(np.log(near["new"] / near["paper"])).median()) if len(near) else np.nan}
        row |= {"ecl50_left": int((~inside).sum()) if len(near) else np.nan, "order": np.nan}
        if np.ptp(pair["new"]) > 0 and np.ptp(pair["paper"]) > 0:
            row["order"] = spearmanr(pair["new"], pair["paper"]).statistic
        rows.append(row)
    return pd.DataFrame(rows)


def format_spans(summary: pd.DataFrame, column: str, decimals: int) -> list[str]:
    """Return a column of `compare_specifications` as text, with its range where it has one."""
    text = []
    for row in summary.to_dict("records"):
        value, *ends = (f"{row[name]:,.{decimals}f}" for name in (column, f"{column}_min", f"{column}_max"))
        span = f" ({ends[0]} to {ends[1]})" if ends[0] != ends[1] else ""
        text.append("--" if np.isnan(row[column]) else value + span)
    return text


def dispersion_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the scatter of the cells around the paper's regression, and its part that the printed tables fix.

    Returns
    -------
    DataFrame
        One row per model: model, phi (Pearson chi-square per degree of freedom; not identified), lr, lr_df and p_lr
        (likelihood-ratio test of all identified terms against the paper's), phi_lower_bound (lr per residual degree of
        freedom: no table that agrees with the printed ones has a smaller deviance).
    """
    parts = []
    for models, own, total, correct in _shared_grids(cells):
        x, wide = (_basis(own, formula) for formula in (QUADRATIC, FIXED_SUMS))
        betas, logliks = maximise_all(x, total, correct @ x)
        richest = maximise_all(wide, total, correct @ wide)[1]  # none for a level without correct or wrong answers
        lr = np.nan_to_num(np.maximum(2 * (richest - logliks), 0))
        p = np.clip(expit(betas @ x.T), 1e-12, 1 - 1e-12)
        df, lr_df = len(own) - x.shape[1], np.where(np.isnan(richest), 0, wide.shape[1] - x.shape[1])
        phi = ((correct - total * p) ** 2 / (total * p * (1 - p))).sum(axis=1) / df
        columns = {"model": models, "phi": phi, "lr": lr, "lr_df": lr_df, "p_lr": chi2.sf(lr, np.maximum(lr_df, 1))}
        kept = np.isfinite(logliks) & (np.abs(betas @ x.T).max(axis=1) < _SEPARATED)
        parts.append(pd.DataFrame(columns | {"phi_lower_bound": lr / df})[kept])
    table = pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=_SCATTER)
    return table.assign(p_lr=table["p_lr"].where(table["lr_df"] > 0))[_SCATTER]


def _basis(own: pd.DataFrame, formula: str) -> np.ndarray:
    """Return orthonormal columns that span those of a formula."""
    design = build_design(own, f"correct ~ {formula.partition('~')[2] or formula}")[0].to_numpy(float)
    left, values, _ = np.linalg.svd(design / np.abs(design).max(axis=0), full_matrices=False)
    return left[:, values > 1e-9 * values[0]]


def fit_lapses(cells: pd.DataFrame) -> pd.DataFrame:
    """Fit the paper's regression with a ceiling below one, the share of answers that are wrong at any load.

    Returns
    -------
    DataFrame
        One row per model: model, ceiling (of those tried, 0.6 at least), daic (AIC less the paper's), p (likelihood
        ratio against a ceiling of one, which is at the edge: half the chi-square tail), p_holm. Not identified.
    """
    rows, paper = [], SPECIFICATIONS[0]
    for models, own, total, correct in _shared_grids(cells):
        x = build_design(own, paper.formula)[0].to_numpy(float)
        start, logliks = maximise_all(x, total, correct @ x)
        total, correct, start = (np.repeat(values, len(_CEILINGS), axis=0) for values in (total, correct, start))
        tried = _maximise_curve(_CURVES["logit"], x, total, correct, start, np.tile(_CEILINGS, len(models)))[1]
        tried = np.nan_to_num(tried.reshape(len(models), -1), nan=-np.inf)
        gain = 2 * np.maximum(tried.max(axis=1) - logliks, 0)
        columns = {"model": models, "ceiling": _CEILINGS[tried.argmax(axis=1)], "daic": 2 - gain}
        rows.append(pd.DataFrame(columns | {"p": chi2.sf(gain, 1) / 2})[np.isfinite(logliks)])
    table = pd.concat(rows, ignore_index=True) if rows else pd.DataFrame(columns=["model", "ceiling", "daic", "p"])
    return table.assign(p_holm=correct_holm(table["p"]))
