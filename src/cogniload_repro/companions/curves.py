"""Accuracy as a function of load alone, against the paper's regression of d, N and rho.

The post (2025-06-08) fits one sigmoid to two puzzles and asks no further; here the same is asked of CogniLoad's cells.
All fits are binomial with a logit link, by maximum likelihood.
"""

from collections.abc import Callable

import numpy as np
import pandas as pd
from scipy.optimize import isotonic_regression
from scipy.special import expit, xlogy
from scipy.stats import chi2, norm

from cogniload_repro.companions.load import cell_load, cell_loads
from cogniload_repro.statistics.accuracy import order_models
from cogniload_repro.statistics.likelihood import maximise

_KEYS = ["N", "d", "ratio_pct"]
#: Every tenth cell is left out at a time.
_FOLDS = 10


def _paper(cells: pd.DataFrame) -> np.ndarray:
    return np.column_stack([np.ones(len(cells)), cells["d"], np.log10(cells["N"]), cells["rho"], cells["rho"] ** 2])


def _load(cells: pd.DataFrame) -> np.ndarray:
    return np.column_stack([np.ones(len(cells)), cell_loads(cells)["everybody"]])


def _load_of_one(cells: pd.DataFrame) -> np.ndarray:
    return np.column_stack([np.ones(len(cells)), cell_loads(cells)["poi_only"]])


def _weighted(cells: pd.DataFrame) -> np.ndarray:
    """S and C depend on d alone, so only their product can get an exponent of its own."""
    rules = [np.log(cell_load(1, d).load) for d in cells["d"]]
    return np.column_stack([np.ones(len(cells)), rules, np.log(cells["N"])])


#: Covariates of a fit by model: the paper's; one load; the load of the person of interest; load with free exponents.
SPECIFICATIONS: dict[str, Callable[[pd.DataFrame], np.ndarray]] = {
    "paper": _paper,
    "load": _load,
    "load of the PoI": _load_of_one,
    "free exponents": _weighted,
}
#: What each row of `compare_curves` lets accuracy depend on, in words.
WORDS = {
    "paper": "the paper's regression: d, log N, ρ, ρ²",
    "load": "one sigmoid in ln L a model",
    "load of the PoI": "the same, following the person of interest alone",
    "free exponents": "exponents of S × C and of D free",
    "one curve": "one sigmoid for all models",
    "own thresholds": "one slope for all, a threshold a model",
    "any falling curve": "the best of all falling functions of L, a model",
}
#: Fits of all models at once: one curve, and one curve that each model meets at a load of its own.
POOLED = ("one curve", "own thresholds")


def compare_curves(cells: pd.DataFrame) -> pd.DataFrame:
    """Fit every specification, and measure how far it is from the counts, also from counts it has not seen.

    Parameters
    ----------
    cells : DataFrame
        Columns model, N, d, ratio_pct, rho, n, correct.

    Returns
    -------
    DataFrame
        One row a specification over all models: specification; terms, free numbers; deviance, twice the
        log-likelihood short of the saturated one; aic, with Bernoulli likelihoods as in the paper's Table 6;
        left_out, the mean deviance of a cell, tenth by tenth of the cells (N, d, ratio) predicted from the others;
        models_better, those whose AIC is below that of the paper's regression (missing for fits of all models at
        once). ``any falling curve`` is the best that any function of the load can do for each model that never rises
        with it; it has no fixed number of terms, so no AIC, and nothing is left out.
    """
    by_model = [own for _, own in cells.groupby("model", sort=False)]
    paper = np.array([_fit(_paper(own), own)[1] for own in by_model])
    rows = []
    for name, design in SPECIFICATIONS.items():
        fits = [_measure(design(own), own) for own in by_model]
        all_terms, deviances, all_left = (np.array(values) for values in zip(*fits, strict=True))
        loglik = np.array([_fit(design(own), own)[1] for own in by_model])
        better = (2 * all_terms - 2 * loglik < 2 * 5 - 2 * paper).sum()
        row = _row(name, all_terms.sum(), deviances.sum(), all_left.sum() / len(cells), cells)
        rows.append(row | {"models_better": better})
    for name in POOLED:
        terms, deviance, left = _measure(_pool(cells, name), cells)
        rows.append(_row(name, terms, deviance, left / len(cells), cells))
    falling = sum(_deviance(own, _fall(own)) for own in by_model)
    rows.append({"specification": "any falling curve", "deviance": falling})
    return pd.DataFrame(rows).astype({"models_better": "Int64", "terms": "Int64"})


def fit_thresholds(cells: pd.DataFrame, level: float = 0.95) -> pd.DataFrame:
    """Fit each model's own sigmoid in the logarithm of the load.

    Returns
    -------
    DataFrame
        One row a model, in the paper's order: model; slope, log-odds per unit of ln L; critical_load, where the
        accuracy is one half; low and high, its Wald interval on the log scale; exponent_d and exponent_N, log-odds per
        unit of ln(S C) and of ln N with free exponents; p_equal, of the likelihood-ratio test that both are one.
    """
    rows = []
    for model in order_models(cells["model"].unique()):
        own = cells[cells["model"] == model]
        x = _load(own)
        (b0, b1), loglik = _fit(x, own)
        p = expit(x @ [b0, b1])
        covariance = np.linalg.inv(x.T @ (x * (own["total"].to_numpy() * p * (1 - p))[:, None]))
        gradient = np.array([-1 / b1, b0 / b1**2])
        reach = norm.ppf((1 + level) / 2) * np.sqrt(gradient @ covariance @ gradient)
        free, better = _fit(_weighted(own), own)
        centre = -b0 / b1
        rows.append(
            {"model": model, "slope": b1, "critical_load": np.exp(centre)}
            | {"low": np.exp(centre - reach), "high": np.exp(centre + reach)}
            | {"exponent_d": free[1], "exponent_N": free[2], "p_equal": chi2.sf(2 * (better - loglik), 1)}
        )
    return pd.DataFrame(rows)


def _pool(cells: pd.DataFrame, name: str) -> np.ndarray:
    load = _load(cells)
    if name == "one curve":
        return load
    return np.column_stack([pd.get_dummies(cells["model"], dtype=float).to_numpy(), load[:, 1]])


def _measure(x: np.ndarray, cells: pd.DataFrame) -> tuple[int, float, float]:
    """Return a fit's terms, its deviance, and the summed deviance of cells that it has not seen."""
    folds = cells.groupby(_KEYS, sort=True).ngroup().to_numpy() % _FOLDS
    counts, left = cells[["total", "correct"]], 0.0
    for fold in np.unique(folds):
        out = folds == fold
        beta, _ = _fit(x[~out], counts[~out])
        left += _deviance(counts[out], expit(x[out] @ beta))
    return x.shape[1], _deviance(counts, expit(x @ _fit(x, counts)[0])), left


def _fit(x: np.ndarray, cells: pd.DataFrame) -> tuple[np.ndarray, float]:
    return maximise(x, cells["total"].to_numpy(float), x.T @ cells["correct"].to_numpy(float))


def _fall(cells: pd.DataFrame) -> np.ndarray:
    """Return the shares that are most likely among those that never rise with the load."""
    load = cell_loads(cells)["everybody"].round(9).to_numpy()
    sums = cells[["correct", "total"]].groupby(load).sum()
    shares = isotonic_regression(sums["correct"] / sums["total"], weights=sums["total"], increasing=False).x
    return pd.Series(shares, sums.index)[load].to_numpy()


def _loglik(k: np.ndarray, n: np.ndarray, p: np.ndarray) -> float:
    return float((xlogy(k, p) + xlogy(n - k, 1 - p)).sum())


def _deviance(cells: pd.DataFrame, p: np.ndarray) -> float:
    k, n = cells["correct"].to_numpy(float), cells["total"].to_numpy(float)
    return 2 * (_loglik(k, n, k / n) - _loglik(k, n, p))


def _row(name: str, terms: int, deviance: float, left_out: float, cells: pd.DataFrame) -> dict[str, object]:
    k, n = cells["correct"].to_numpy(float), cells["total"].to_numpy(float)
    aic = 2 * terms - 2 * _loglik(k, n, k / n) + deviance
    return {"specification": name, "terms": int(terms), "deviance": deviance, "aic": aic, "left_out": left_out}
