"""Other regressions than the paper's, fitted to the same cells and held against it.

The printed tables pin a specification down when its columns are combinations of those whose sums over the correct
answers they settle: then every table of counts that agrees with the paper gives the same fit. The fits of the others
belong to the table at hand.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import formulaic
import numpy as np
import pandas as pd
from scipy.stats import chi2, spearmanr
from statsmodels.genmod.families import Binomial

from cogniload_repro.published import ALPHA
from cogniload_repro.robustness.crossings import POINTS, find_points, lay_courses
from cogniload_repro.robustness.uncertainty import refit
from cogniload_repro.statistics.design import GRID
from cogniload_repro.statistics.formulas import build_design, name_covariates
from cogniload_repro.statistics.regression import INTERACTIONS, LINEAR, QUADRATIC, fit_glm

#: So much lower an AIC or BIC must be to speak for a regression.
AIC_MARGIN = 2

#: Columns whose sums over the correct answers the paper settles: margins of d and N, and the terms of Appendix B.
SETTLED = "C(d) + C(N) + rho + I(rho**2) + d:log10_N + d:rho + log10_N:rho + d:log10_N:rho"


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
        What ECL50 counts: N (statements) or prompt_mean (tokens).
    """

    name: str
    formula: str
    family: str = "logit"
    length: str = "N"


#: The paper's specification first.
SPECIFICATIONS = (
    Specification("paper", QUADRATIC),
    Specification("no curve in rho", LINEAR),
    Specification("nominal ratio", "correct ~ d + log10_N + ratio_pct + I(ratio_pct**2)"),
    Specification("N", "correct ~ d + N + rho + I(rho**2)"),
    Specification("sqrt N", "correct ~ d + np.sqrt(N) + rho + I(rho**2)"),
    Specification("N as factor", "correct ~ d + C(N) + rho + I(rho**2)"),
    Specification("prompt tokens", "correct ~ d + np.log10(prompt_mean) + rho + I(rho**2)", length="prompt_mean"),
    Specification("cubic in rho", "correct ~ d + log10_N + rho + I(rho**2) + I(rho**3)"),
    Specification("spline in rho", "correct ~ d + log10_N + bs(rho, df=4, extrapolation='extend')"),
    Specification("cubic in d", "correct ~ d + I(d**2) + I(d**3) + log10_N + rho + I(rho**2)"),
    Specification(
        "spline in d", "correct ~ cr(d, df=3, constraints='center', extrapolation='extend') + log10_N + rho + I(rho**2)"
    ),
    Specification("d as factor", "correct ~ C(d) + log10_N + rho + I(rho**2)"),
    Specification("probit", QUADRATIC, "probit"),
    Specification("cloglog", QUADRATIC, "cloglog"),
    Specification("d x N", "correct ~ d * log10_N + rho + I(rho**2)"),
    Specification("all pairs", "correct ~ (d + log10_N + rho)**2 + I(rho**2)"),
    Specification("three-way", INTERACTIONS),
    Specification("all that is settled", f"correct ~ {SETTLED}"),
)
_CALIBRATION = ("deviance", "pearson", "df", "hl", "p_hl", "error")
_PREDICTED = [
    "specification",
    "models",
    *(f"{what}_{load}" for load in ("d", "N", "rho") for what in ("gain", "better")),
]
_COLUMNS = ["specification", "model", "status", "terms", "loglik", "aic", "bic", *_CALIBRATION, *POINTS]


def add_own(formula: str, family: str = "logit") -> tuple[Specification, ...]:
    """Return all specifications and, as the last, one of the reader's own."""
    length = "prompt_mean" if "prompt_mean" in name_covariates(formula) else "N"
    return *SPECIFICATIONS, Specification("yours", formula, family, length)


def is_settled(specification: Specification) -> bool:
    """Say whether the printed tables determine a specification's fit, up to the digits they print."""
    if specification.family != "logit" or "prompt_mean" in name_covariates(specification.formula):
        return False
    grid = GRID.assign(log10_N=np.log10(GRID["N"].astype(float)))
    settled, own = (
        np.asarray(formulaic.model_matrix(right, grid, context={"np": np}), dtype=float)
        for right in (SETTLED, specification.formula.partition("~")[2])
    )
    both = np.hstack([settled, own / np.abs(own).max(axis=0)])
    return bool(np.linalg.matrix_rank(both, tol=1e-8) == np.linalg.matrix_rank(settled, tol=1e-8))


def fit_specifications(cells: pd.DataFrame, specifications: Iterable[Specification] = SPECIFICATIONS) -> pd.DataFrame:
    """Fit every specification to every model.

    Parameters
    ----------
    cells : DataFrame
        Cells frame; a specification in tokens leaves out models whose prompt_mean is not known.
    specifications : iterable of Specification

    Returns
    -------
    DataFrame
        One row a specification and model: specification, model, status, terms (number), loglik, aic, bic, then
        the columns of `measure_calibration` and of `crossings.find_points`; NaN where a fit has failed.
    """
    rows = []
    for specification in specifications:
        if specification.length not in cells:
            continue
        courses = {}
        for model, own in cells[cells["total"] > 0].groupby("model", sort=False, observed=True):
            if own[specification.length].isna().any():
                status = f"no {specification.length}"
                rows.append({"specification": specification.name, "model": model, "status": status})
                continue
            try:
                fit = fit_glm(own, specification.formula, specification.family)
            except ValueError:  # a spline has too few values to stand on
                rows.append({"specification": specification.name, "model": model, "status": "not identified"})
                continue
            row = {"specification": specification.name, "model": model, "status": fit.status, "terms": len(fit.terms)}
            if fit.status == "ok":
                row |= {"loglik": fit.loglik, "aic": fit.aic, "bic": fit.bic}
                row |= measure_calibration(own, fit.accuracy, len(fit.terms))
                grid = own[["N", "d", "rho", specification.length]].to_numpy(float).tobytes()
                if grid not in courses:  # most models share a grid, and building designs is the slow part
                    courses[grid] = lay_courses(fit, own, specification.length)
                row |= find_points(fit, courses[grid])
            rows.append(row)
    return pd.DataFrame(rows, columns=_COLUMNS)


def predict_levels(cells: pd.DataFrame, specifications: Iterable[Specification] = SPECIFICATIONS) -> pd.DataFrame:
    """Return how well a specification predicts a level of a load that it has not seen.

    Each level of d, of N and of the ratio is left out in turn, the rest is fitted, and the answers of the level are
    predicted. What the printed tables settle is not enough for that: scores belong to the table of cells at hand.

    Parameters
    ----------
    cells : DataFrame
        Cells frame; only models that share the grid of most can be compared, and others are left out.
    specifications : iterable of Specification
        The paper's first. Those with another link than the logit, in tokens, or with a load as a factor, which has no
        level between its levels, are left out.

    Returns
    -------
    DataFrame
        One row a specification: specification, models, then for d, N and rho the log-likelihood of the predicted
        answers less the paper's, per 1000 answers, mean over models (gain_*), and in how many it is larger (better_*).
    """
    smooth = [one for one in specifications if one.family == "logit" and one.length == "N" and "C(" not in one.formula]
    own, n, k = _on_one_grid(cells)
    if not len(own):
        return pd.DataFrame(columns=_PREDICTED)
    masks = {
        load: [own[column].to_numpy() == level for level in np.unique(own[column])]
        for load, column in (("d", "d"), ("N", "N"), ("rho", "ratio_pct"))
    }
    scores = {one.name: _score(one, own, n, k, masks) for one in smooth}
    paper, rows = scores[smooth[0].name], []
    for name, score in scores.items():
        gain = {load: 1000 * (score[load] - paper[load]) for load in masks}
        rows.append(
            {"specification": name, "models": len(n)}
            | {f"gain_{load}": float(np.mean(values)) for load, values in gain.items()}
            | {f"better_{load}": int((values > 0).sum()) for load, values in gain.items()}
        )
    return pd.DataFrame(rows, columns=_PREDICTED)


def _on_one_grid(cells: pd.DataFrame) -> tuple[pd.DataFrame, np.ndarray, np.ndarray]:
    """Return the commonest grid of cells with answers, and answers and correct ones of the models that have it."""
    groups: dict[bytes, list[pd.DataFrame]] = {}
    for _, own in cells[cells["total"] > 0].groupby("model", sort=False, observed=True):
        groups.setdefault(own[["N", "d", "ratio_pct", "rho"]].to_numpy(float).tobytes(), []).append(own)
    shared = max(groups.values(), key=len, default=[cells.head(0)])
    return shared[0], *(np.array([own[name].to_numpy(float) for own in shared]) for name in ("total", "correct"))


def _score(
    one: Specification, own: pd.DataFrame, n: np.ndarray, k: np.ndarray, masks: dict[str, list[np.ndarray]]
) -> dict[str, np.ndarray]:
    """Return the log-likelihood of left-out answers by load, per answer, one number a model."""
    x = np.linalg.qr(build_design(own, one.formula)[0].to_numpy())[0]
    start = refit(x, n, k, np.zeros(x.shape[1]))
    scores = {}
    for load, levels in masks.items():
        total = np.zeros(len(n))
        for level in levels:
            with np.errstate(all="ignore"):  # of two levels one says nothing of the other: no score
                eta = refit(x, np.where(level, 0, n), np.where(level, 0, k), start) @ x[level].T
                total += (k[:, level] * eta - n[:, level] * np.logaddexp(0, eta)).sum(axis=1)
        scores[load] = total / n.sum(axis=1)
    return scores


def measure_calibration(cells: pd.DataFrame, accuracy: np.ndarray, terms: int, groups: int = 10) -> dict[str, float]:
    """Hold counts against fitted accuracies.

    Parameters
    ----------
    cells : DataFrame
        n and correct, one model.
    accuracy : ndarray
        Fitted accuracy of each row.
    terms : int
        Coefficients that were fitted.
    groups : int
        Groups of cells of like fitted accuracy, with about equally many answers.

    Returns
    -------
    dict
        deviance and pearson (chi-square over cells), df, hl and p_hl (Hosmer-Lemeshow statistic on the groups, df
        groups - 2), error (mean absolute difference of observed and fitted accuracy over the groups).
    """
    n, k = cells["total"].to_numpy(float), cells["correct"].to_numpy(float)
    p = np.clip(accuracy, 1e-12, 1 - 1e-12)
    order = np.argsort(p, kind="stable")
    middle = (np.cumsum(n[order]) - n[order] / 2) / n.sum()
    group = np.minimum((middle * groups).astype(int), groups - 1)
    total, observed, expected, variance = (
        np.bincount(group, values[order], groups) for values in (n, k, n * p, n * p * (1 - p))
    )
    used = total > 0
    hl = float(((observed - expected)[used] ** 2 / variance[used]).sum())
    return {
        "deviance": float(Binomial().deviance(k / n, p, var_weights=n)),
        "pearson": float(((k - n * p) ** 2 / (n * p * (1 - p))).sum()),
        "df": len(n) - terms,
        "hl": hl,
        "p_hl": float(chi2.sf(hl, used.sum() - 2)),
        "error": float(np.abs(observed - expected).sum() / n.sum()),
    }


def summarise_specifications(
    fits: pd.DataFrame, intervals: pd.DataFrame, specifications: Iterable[Specification] = SPECIFICATIONS
) -> pd.DataFrame:
    """Return what each specification would change, over the models that it fits.

    Parameters
    ----------
    fits : DataFrame
        As `fit_specifications` returns it, with the paper's specification.
    intervals : DataFrame
        As `uncertainty.capacity_intervals` returns it.
    specifications : iterable of Specification
        Those that were fitted.

    Returns
    -------
    DataFrame
        One row a specification: specification, settled (by the printed tables), models (fitted), daic (sum of AIC
        less the paper's), aic_better and bic_better (models with one lower by more than `AIC_MARGIN`), miscalibrated
        (models with Hosmer-Lemeshow p below `ALPHA`), dispersion (median Pearson chi-square per degree of freedom),
        error (median calibration error), ecl50_moved (median ratio to the paper's ECL50, either way), ecl50_left
        (models whose ECL50 leaves the paper's 95% profile interval), order (Spearman correlation of ECL50 with the
        paper's), leader (model with the largest ECL50).
    """
    paper = fits[fits["specification"] == SPECIFICATIONS[0].name].set_index("model")
    limits = intervals[intervals["point"] == "ecl50"].set_index("model")[["profile_low", "profile_high"]]
    found = {name: own.set_index("model") for name, own in fits.groupby("specification", sort=False)}
    return pd.DataFrame(
        [_summary_row(one, found[one.name], paper, limits) for one in specifications if one.name in found]
    )


def _summary_row(
    specification: Specification, own: pd.DataFrame, paper: pd.DataFrame, limits: pd.DataFrame
) -> dict[str, object]:
    fitted = own[own["status"] == "ok"]
    daic, dbic = fitted["aic"] - paper["aic"], fitted["bic"] - paper["bic"]
    row = {
        "specification": specification.name, "settled": is_settled(specification), "models": len(fitted),
        "daic": daic.sum(min_count=1),
        "aic_better": int((daic < -AIC_MARGIN).sum()), "bic_better": int((dbic < -AIC_MARGIN).sum()),
        "miscalibrated": int((fitted["p_hl"] < ALPHA).sum()),
        "dispersion": (fitted["pearson"] / fitted["df"]).median(), "error": fitted["error"].median(),
    }  # fmt: skip
    points = fitted["ecl50"].astype(float).dropna()
    row |= {"ecl50_moved": np.nan, "ecl50_left": np.nan, "order": np.nan}
    row["leader"] = points.idxmax() if len(points) else ""
    theirs = paper["ecl50"].astype(float).reindex(points.index).dropna()
    if specification.length != "N" or theirs.empty:
        return row
    points = points[theirs.index]
    both = (points > 1) & (theirs > 1) & np.isfinite(points) & np.isfinite(theirs)
    moved = np.abs(np.log(points[both] / theirs[both]))
    inside = points.between(*(limits[end].astype(float).reindex(points.index) for end in limits))
    row |= {"ecl50_moved": np.exp(moved.median()), "ecl50_left": int((~inside & both).sum())}
    if len(set(points)) > 1 and len(set(theirs)) > 1:
        row["order"] = spearmanr(points, theirs).statistic
    return row
