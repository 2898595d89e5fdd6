"""Interactions of the loads, tested where the loads are.

Appendix B drops one product at a time from a model that keeps the three-way product. What it then tests is the
interaction where the third load is zero: at rho = 0, at N = 1, at d = 0, none of which is in the grid. Here products
are tested before the three-way one enters, and with it at the means of the grid. The printed tables settle all of it.
"""

import numpy as np
import pandas as pd
from scipy.stats import norm

from cogniload_repro.published import ALPHA
from cogniload_repro.statistics.capacity import grid_means
from cogniload_repro.statistics.regression import INTERACTIONS, QUADRATIC, SYMBOLS, Fit, fit_glm, likelihood_ratio

PAIRS = ("d:log10_N", "d:rho", "log10_N:rho")
TRIPLE = "d:log10_N:rho"
ALL_PAIRS = f"{QUADRATIC} + {' + '.join(PAIRS)}"
#: Ways of testing a product: as the paper, without the three-way product, at the mean of the third load.
WAYS = ("paper", "pairs", "mean")
_THIRD = {"d:log10_N": "rho", "d:rho": "log10_N", "log10_N:rho": "d"}


def interaction_tests(cells: pd.DataFrame) -> pd.DataFrame:
    """Test every product of loads in three ways.

    Parameters
    ----------
    cells : DataFrame
        Cells frame; models without a finite fit of the full model are left out.

    Returns
    -------
    DataFrame
        One row a model and product: model, term (dN, drho, Nrho, dNrho), then coefficient and p-value in the
        full model as the paper tests them (beta_paper, p_paper: likelihood ratio), in the model with all pairs
        and no three-way product (beta_pairs, p_pairs: likelihood ratio; NaN for dNrho), and in the full model
        with the third load at its mean (beta_mean, p_mean: Wald).
    """
    rows = []
    for model, own in cells[cells["n"] > 0].groupby("model", sort=False, observed=True):
        full, pairs = fit_glm(own, INTERACTIONS), fit_glm(own, ALL_PAIRS)
        if full.status != "ok" or pairs.status != "ok":
            continue
        means = grid_means(own)
        for term in (*PAIRS, TRIPLE):
            row = {"model": model, "term": SYMBOLS[term], "beta_paper": full.coef[full.terms.index(term)]}
            row["p_paper"] = likelihood_ratio(full, fit_glm(own, f"{INTERACTIONS} - {term}"))
            row["beta_mean"], row["p_mean"] = _at_mean(full, term, means)
            row["beta_pairs"], row["p_pairs"] = np.nan, np.nan
            if term != TRIPLE:
                row["beta_pairs"] = pairs.coef[pairs.terms.index(term)]
                row["p_pairs"] = likelihood_ratio(pairs, fit_glm(own, f"{ALL_PAIRS} - {term}"))
            rows.append(row)
    columns = ["model", "term", *(f"{kind}_{way}" for way in WAYS for kind in ("beta", "p"))]
    return pd.DataFrame(rows, columns=columns)


def _at_mean(full: Fit, term: str, means: dict[str, float]) -> tuple[float, float]:
    weights = np.zeros(len(full.terms))
    weights[full.terms.index(term)] = 1
    if term in _THIRD:
        weights[full.terms.index(TRIPLE)] = means[_THIRD[term]]
    beta = weights @ full.coef
    return float(beta), float(2 * norm.sf(abs(beta) / np.sqrt(weights @ full.covariance @ weights)))


def count_interactions(tests: pd.DataFrame) -> pd.DataFrame:
    """Count the models with significant products by sign.

    Returns
    -------
    DataFrame
        One row a term and way of testing: term, way (paper, pairs, mean), negative and positive (models).
    """
    rows = []
    for term, own in tests.groupby("term", sort=False):
        for way in WAYS:
            beta, significant = own[f"beta_{way}"], own[f"p_{way}"] < ALPHA
            if beta.notna().any():
                negative, positive = int((significant & (beta < 0)).sum()), int((significant & (beta > 0)).sum())
                rows.append({"term": term, "way": way, "negative": negative, "positive": positive})
    return pd.DataFrame(rows, columns=["term", "way", "negative", "positive"])


def select_forward(cells: pd.DataFrame) -> pd.DataFrame:
    """Add products to the paper's regression one by one, each time the one that gains most, while it is significant.

    The three-way product may enter only after the three pairs.

    Returns
    -------
    DataFrame
        One row a model and product that enters: model, step (from 1), term, beta (when entering), p (likelihood
        ratio).
    """
    rows = []
    for model, own in cells[cells["n"] > 0].groupby("model", sort=False, observed=True):
        formula, left = QUADRATIC, list(PAIRS)
        current = fit_glm(own, formula)
        while current.status == "ok" and left:
            trials = {term: fit_glm(own, f"{formula} + {term}") for term in left}
            trials = {term: fit for term, fit in trials.items() if fit.status == "ok"}
            if not trials:
                break
            term = max(trials, key=lambda name: trials[name].loglik)
            p = likelihood_ratio(trials[term], current)
            if p >= ALPHA:
                break
            formula, current = f"{formula} + {term}", trials[term]
            step = len(PAIRS) + 1 if term == TRIPLE else len(PAIRS) - len(left) + 1
            rows.append(
                {
                    "model": model,
                    "step": step,
                    "term": SYMBOLS[term],
                    "beta": current.coef[current.terms.index(term)],
                    "p": p,
                }
            )
            left.remove(term)
            if not left and term != TRIPLE:
                left = [TRIPLE]
    return pd.DataFrame(rows, columns=["model", "step", "term", "beta", "p"])
