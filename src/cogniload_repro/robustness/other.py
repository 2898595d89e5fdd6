"""Comparisons across models: how much their coefficients differ, and whether size predicts their accuracy.

Sizes are known for the open models alone. Accuracies and slopes are identified by the printed tables.
"""

import numpy as np
import pandas as pd
from scipy.stats import linregress, t
from statsmodels.stats.meta_analysis import combine_effects

from cogniload_repro.published import ALPHA, load_facts
from cogniload_repro.robustness.uncertainty import fit_quadratics
from cogniload_repro.statistics.design import GRID

_TERMS = {"d": 1, "N": 2, "rho": 3, "rho2": 4}
#: Distance between the ends of the paper's grid: units of d, factors of ten in N, nominal ratio.
_RANGES = {"d": np.ptp(GRID["d"]), "N": np.ptp(np.log10(GRID["N"])), "rho": np.ptp(GRID["ratio_pct"]) / 100}


def heterogeneity_table(cells: pd.DataFrame) -> pd.DataFrame:
    """Return how much the models' coefficients differ beyond sampling error (random effects, Paule and Mandel).

    One row per term of the paper's regression: term (d, N, rho, rho2), models, mean (log-odds per unit), tau (standard
    deviation of the true coefficients), q and p (Cochran's test that all models share one), i2 (share of the variance
    that is not sampling error), relative (tau by the size of the mean), span (tau times the tested range of the load;
    NaN for rho2). Empty for fewer than two models with a finite fit.
    """
    fits, rows = fit_quadratics(cells), []
    for term, column in _TERMS.items() if len(fits) > 1 else ():
        beta, se = (np.array([getattr(one.fit, name)[column] for one in fits]) for name in ("coef", "se"))
        found = combine_effects(beta, se**2, method_re="iterated")
        mean, tau = found.mean_effect_re, np.sqrt(max(found.tau2, 0.0))
        rows.append((term, len(fits), mean, tau, found.q, found.test_homogeneity().pvalue, max(found.i2, 0.0),
                     tau / abs(mean), tau * _RANGES.get(term, np.nan)))  # fmt: skip
    return pd.DataFrame(rows, columns=["term", "models", "mean", "tau", "q", "p", "i2", "relative", "span"])


def place_models(cells: pd.DataFrame) -> pd.DataFrame:
    """Return size, date, accuracy and slope of the paper's models with a finite fit.

    One row per model: model, parameters_billion (NaN where it is not public), released (date), source, accuracy
    (overall, a fraction), log_odds of it, beta_N (absolute slope of the paper's regression).
    """
    rows = []
    for one in fit_quadratics(cells):
        share = one.k.sum() / one.n.sum()
        rows.append((one.model, share, np.log(share / (1 - share)), abs(one.fit.coef[2])))
    return load_facts().merge(pd.DataFrame(rows, columns=["model", "accuracy", "log_odds", "beta_N"]), on="model")


def relate_scale(placed: pd.DataFrame) -> pd.DataFrame:
    """Return how the log-odds of the overall accuracy change per doubling of parameters, by least squares.

    One row: predictor, models (of known size), slope, low and high (95%, Student's t); none with fewer than four.
    """
    known, rows = placed[placed["parameters_billion"].notna()], []
    if len(known) > 3:
        line = linregress(np.log2(known["parameters_billion"]), known["log_odds"])
        reach = t.ppf(1 - ALPHA / 2, len(known) - 2) * line.stderr
        rows.append(("doubling of parameters", len(known), line.slope, line.slope - reach, line.slope + reach))
    return pd.DataFrame(rows, columns=["predictor", "models", "slope", "low", "high"])
