"""Comparisons across models: how much their coefficients differ, and whether size, date or accuracy predicts them.

Sizes are known for the open models alone, and few models of few makers say little about causes. Accuracies and slopes
are identified by the printed tables.
"""

import numpy as np
import pandas as pd
from scipy.stats import linregress, spearmanr, t
from statsmodels.stats.meta_analysis import combine_effects

from cogniload_repro.published import ALPHA, load_facts
from cogniload_repro.robustness.uncertainty import correct_holm, fit_quadratics
from cogniload_repro.statistics.design import GRID

_TERMS = {"d": 1, "N": 2, "rho": 3, "rho2": 4}
#: Distance between the ends of the paper's grid: units of d, factors of ten in N, nominal ratio.
_RANGES = {"d": np.ptp(GRID["d"]), "N": np.ptp(np.log10(GRID["N"])), "rho": np.ptp(GRID["ratio_pct"]) / 100}

#: Measures that size and date are compared with: log-odds of the overall accuracy, and the absolute slopes.
MEASURES = {"log_odds": "overall accuracy (log-odds)", "beta_d": "|slope of d|", "beta_N": "|slope of log10 N|"}
_COLUMNS = ["predictor", "measure", "models", "slope", "low", "high", "r2", "spearman", "p", "p_holm"]
_STEPS = {"parameters_billion": "doubling of parameters", "released": "month of release"}
_DAYS = 30.4375  # in a month


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
    """Return size, date, accuracy and slopes of the paper's models with a finite fit.

    One row per model: model, parameters_billion (NaN where it is not public), released (date), source, accuracy
    (overall, a fraction), log_odds of it, beta_d and beta_N (absolute slopes of the paper's regression).
    """
    rows = []
    for one in fit_quadratics(cells):
        share = one.k.sum() / one.n.sum()
        rows.append((one.model, share, np.log(share / (1 - share)), *np.abs(one.fit.coef[1:3])))
    return load_facts().merge(pd.DataFrame(rows, columns=["model", "accuracy", *MEASURES]), on="model")


def relate_scale(placed: pd.DataFrame) -> pd.DataFrame:
    """Return the relation of accuracy and slopes to size and to date, over the models of `place_models`.

    One row per predictor and measure: predictor (its unit), measure (a key of `MEASURES`), models, slope (least
    squares) with its 95% interval low and high (Student's t), r2, spearman (rank correlation), p (of it) and p_holm
    (over all rows). A predictor known of fewer than four models has no rows.
    """
    rows = []
    for fact, step in _STEPS.items():
        known = placed[placed[fact].notna()]
        if len(known) < 4:
            continue
        sizes = fact == "parameters_billion"
        x = np.log2(known[fact]) if sizes else (known[fact] - known[fact].min()).dt.days / _DAYS
        for measure in MEASURES:
            line, rank = linregress(x, known[measure]), spearmanr(x, known[measure])
            reach = t.ppf(1 - ALPHA / 2, len(known) - 2) * line.stderr
            rows.append((step, measure, len(known), line.slope, line.slope - reach, line.slope + reach,
                         line.rvalue**2, rank.statistic, rank.pvalue))  # fmt: skip
    table = pd.DataFrame(rows, columns=_COLUMNS[:-1])
    return table.assign(p_holm=correct_holm(table["p"]))
