"""Interactions of the loads, tested where the loads are.

Appendix B drops one product at a time from a model that keeps the three-way product. What it then tests is the
interaction where the third load is zero: at rho = 0, at N = 1, at d = 0, none of which is in the grid. Simple slopes
are the same interaction, of the same fit, at the levels that were tested. The printed tables settle all of it.
"""

from collections.abc import Iterator
from itertools import product

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import chi2, norm

from cogniload_repro.published import ALPHA
from cogniload_repro.robustness.families import correct_within
from cogniload_repro.robustness.uncertainty import POWER, Quadratic, fit_quadratics
from cogniload_repro.statistics.design import FULL, PRODUCTS
from cogniload_repro.statistics.likelihood import maximise

#: Of an information matrix; the paper's are below a millionth of it.
_WORST_CONDITION = 1e13

TRIPLE = "dNrho"
#: Ways of testing a product: as the paper, without the three-way product, at the mean of the third load.
WAYS = ("paper", "pairs", "mean")
#: The load at whose levels a product of the two others is read.
THIRD = {"dN": "rho", "drho": "N", "Nrho": "d"}
_MEANS = {"rho": "rho", "N": "log10_N", "d": "d"}
#: Where Table 3 tests a product of two loads: the third load at zero, which for log10 N is N = 1.
ORIGIN = {"rho": 0.0, "N": 1.0, "d": 0.0}
_PAIRS = tuple(column for column in FULL if column != PRODUCTS[TRIPLE])
_TESTS = ("model", "term", *(f"{kind}_{way}" for way in WAYS for kind in ("beta", "p", "holm")))
_SLOPES = ("model", "term", "third", "level", "tested", "slope", "se", "p", "p_holm", "detectable")


def interaction_tests(cells: pd.DataFrame) -> pd.DataFrame:
    """Test every product of loads in three ways.

    Parameters
    ----------
    cells : DataFrame
        Cells frame; models without a finite fit of the full model are left out.

    Returns
    -------
    DataFrame
        One row a model and product: model, term (dN, drho, Nrho, dNrho), then coefficient, p-value and p-value after
        Holm over the models (holm_*): in the full model as the paper tests them (beta_paper, p_paper: likelihood
        ratio), in the model with all pairs and no three-way product (beta_pairs, p_pairs: likelihood ratio; NaN for
        dNrho), and in the full model with the third load at its mean (beta_mean, p_mean: Wald).
    """
    rows = []
    for quadratic, x, beta, covariance, loglik in _full_fits(cells):
        pairs, pairs_loglik = _fit(quadratic, x[:, _PAIRS])
        for term, column in PRODUCTS.items():
            row = {"model": quadratic.model, "term": term, "beta_paper": beta[column]}
            row["p_paper"] = _drop(quadratic, x, FULL, column, loglik)
            weights = np.zeros(len(FULL))
            weights[column] = 1
            if term != TRIPLE:
                weights[PRODUCTS[TRIPLE]] = quadratic.means[_MEANS[THIRD[term]]]
                row["beta_pairs"] = pairs[_PAIRS.index(column)]
                row["p_pairs"] = _drop(quadratic, x, _PAIRS, column, pairs_loglik)
            row["beta_mean"], _, row["p_mean"] = _wald(weights, beta, covariance)
            rows.append(row)
    table = pd.DataFrame(rows, columns=[name for name in _TESTS if not name.startswith("holm")])
    for way in WAYS:
        table[f"holm_{way}"] = correct_within(table, ["term"], f"p_{way}")
    return table[list(_TESTS)]


def simple_slopes(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the interaction of two loads at each tested level of the third, and where Table 3 tests it.

    Parameters
    ----------
    cells : DataFrame
        Cells frame; models without a finite fit of the full model (Appendix B) are left out.

    Returns
    -------
    DataFrame
        One row a model, product and level: model, term (dN, drho, Nrho), third (rho, N or d), level (nominal fraction,
        statements, units of d), tested (False at the origin, where Table 3 tests), slope (log-odds per unit of both
        loads), se, p (two-sided Wald), p_holm (over the models, at this product and level), detectable (size of the
        slope that a test at `ALPHA` finds with power `POWER`).
    """
    levels = {"d": np.sort(cells["d"].unique()), "N": np.sort(cells["N"].unique())}
    levels["rho"] = np.sort(cells["ratio_pct"].unique()) / 100
    rows = []
    for quadratic, _, beta, covariance, _ in _full_fits(cells):
        for term, third in THIRD.items():
            for level, tested in [(ORIGIN[third], False), *product(levels[third], [True])]:
                weights = np.zeros(len(FULL))
                weights[PRODUCTS[term]], weights[PRODUCTS[TRIPLE]] = 1, np.log10(level) if third == "N" else level
                slope, se, p = _wald(weights, beta, covariance)
                rows.append((quadratic.model, term, third, float(level), tested, slope, se, p))
    table = pd.DataFrame(rows, columns=_SLOPES[:-2]).astype(
        {"tested": bool, "level": float, "slope": float, "se": float}
    )
    table["p_holm"] = correct_within(table, ["term", "level"])
    return table.assign(detectable=(norm.ppf(1 - ALPHA / 2) + norm.ppf(POWER)) * table["se"])


def count_slopes(slopes: pd.DataFrame, alpha: float = ALPHA) -> pd.DataFrame:
    """Count the models with significant simple slopes by sign.

    Parameters
    ----------
    slopes : DataFrame
        As `simple_slopes` returns it.
    alpha : float

    Returns
    -------
    DataFrame
        One row a product and level: term, third, level, tested, negative and positive (models with p below alpha),
        negative_holm and positive_holm (after Holm).
    """
    signs = {"negative": slopes["slope"] < 0, "positive": slopes["slope"] > 0}
    counted = slopes[["term", "third", "level", "tested"]].assign(
        **{sign: where & (slopes["p"] < alpha) for sign, where in signs.items()},
        **{f"{sign}_holm": where & (slopes["p_holm"] < alpha) for sign, where in signs.items()},
    )
    counts = counted.groupby(["term", "third", "level", "tested"], sort=False).sum().reset_index()
    return counts.astype({"tested": bool, "level": float})


def count_interactions(tests: pd.DataFrame) -> pd.DataFrame:
    """Count the models with significant products by sign.

    Returns
    -------
    DataFrame
        One row a term and way of testing: term, way (paper, pairs, mean), negative and positive (models), and after
        Holm negative_holm and positive_holm.
    """
    rows = []
    for term, own in tests.groupby("term", sort=False):
        for way in WAYS:
            beta = own[f"beta_{way}"]
            if beta.notna().any():
                row = {"term": term, "way": way}
                for suffix, p in (("", own[f"p_{way}"]), ("_holm", own[f"holm_{way}"])):
                    row[f"negative{suffix}"] = int(((p < ALPHA) & (beta < 0)).sum())
                    row[f"positive{suffix}"] = int(((p < ALPHA) & (beta > 0)).sum())
                rows.append(row)
    return pd.DataFrame(rows, columns=["term", "way", "negative", "positive", "negative_holm", "positive_holm"])


def _full_fits(cells: pd.DataFrame) -> Iterator[tuple[Quadratic, np.ndarray, np.ndarray, np.ndarray, float]]:
    """Yield every model with the design of Appendix B, its coefficients, their covariance and log-likelihood."""
    for quadratic in fit_quadratics(cells):
        d, log10_N, rho = quadratic.x[:, 1:4].T
        x = np.column_stack([quadratic.x, d * log10_N, d * rho, log10_N * rho, d * log10_N * rho])
        if np.linalg.matrix_rank(x) < x.shape[1]:
            continue
        try:
            beta, loglik = _fit(quadratic, x)
        except ValueError:  # the answers are separated by these loads
            continue
        p = expit(x @ beta)
        information = x.T @ (x * (quadratic.n * p * (1 - p))[:, None])
        if np.linalg.cond(information) > _WORST_CONDITION:  # so nearly separated that nothing is left to estimate from
            continue
        yield quadratic, x, beta, np.linalg.inv(information), loglik


def _fit(quadratic: Quadratic, x: np.ndarray) -> tuple[np.ndarray, float]:
    return maximise(x, quadratic.n, x.T @ quadratic.k)


def _drop(quadratic: Quadratic, x: np.ndarray, columns: tuple[int, ...], column: int, loglik: float) -> float:
    """Return the p-value of the likelihood-ratio test of leaving one column out."""
    without = _fit(quadratic, x[:, [other for other in columns if other != column]])[1]
    return float(chi2.sf(max(2 * (loglik - without), 0.0), 1))


def _wald(weights: np.ndarray, beta: np.ndarray, covariance: np.ndarray) -> tuple[float, float, float]:
    """Return a combination of coefficients with standard error and two-sided p-value."""
    value, se = weights @ beta, np.sqrt(weights @ covariance @ weights)
    return float(value), float(se), float(2 * norm.sf(abs(value) / se))
