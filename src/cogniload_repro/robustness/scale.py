"""Do larger and later models bear more load? Accuracy and slopes against size and date of release.

Sizes are known for the open models alone, and a date is that of the model, not of the data it has seen; few models of
few makers say little about causes. Accuracies and slopes are settled by the printed tables.
"""

import numpy as np
import pandas as pd
from scipy.stats import linregress, spearmanr

from cogniload_repro.published import load_facts
from cogniload_repro.robustness.families import correct_holm
from cogniload_repro.robustness.uncertainty import fit_quadratics

#: What is held against size and date: the log-odds of the overall accuracy, and the sizes of two slopes.
MEASURES = {"log_odds": "overall accuracy (log-odds)", "beta_d": "size of the slope of d", "beta_N": "of log10 N"}
_COLUMNS = ["against", "measure", "models", "slope", "low", "high", "r2", "spearman", "p", "p_holm"]
_STEPS = {"parameters_billion": "a doubling of parameters", "released": "a month later"}
_DAYS = 30.4375  # in a month


def place_models(cells: pd.DataFrame) -> pd.DataFrame:
    """Return what is known of each model beside what it can bear.

    Returns
    -------
    DataFrame
        One row a model of the paper with a finite fit: model, parameters_billion (NaN where it is not public), released
        (date), log_odds (of the overall accuracy), beta_d and beta_N (absolute slopes of the paper's regression).
    """
    rows = []
    for fit in fit_quadratics(cells):
        share = fit.k.sum() / fit.n.sum()
        slopes = {"beta_d": abs(fit.fit.coef[1]), "beta_N": abs(fit.fit.coef[2])}
        rows.append({"model": fit.model, "log_odds": np.log(share / (1 - share)), **slopes})
    return load_facts().merge(pd.DataFrame(rows, columns=["model", *MEASURES]), on="model")


def relate_scale(placed: pd.DataFrame) -> pd.DataFrame:
    """Return how accuracy and slopes go with size and with date.

    Parameters
    ----------
    placed : DataFrame
        As `place_models` returns it.

    Returns
    -------
    DataFrame
        One row a fact and measure: against (what one step is), measure (a key of `MEASURES`), models, slope (least
        squares, per doubling of parameters or month) with its 95% interval low and high, r2, spearman (rank
        correlation), p (of the rank correlation) and p_holm (over all rows).
    """
    rows = []
    for fact, step in _STEPS.items():
        known = placed[placed[fact].notna()]
        if len(known) < 4:
            continue
        sizes = fact == "parameters_billion"
        x = np.log2(known[fact]) if sizes else (known[fact] - known[fact].min()).dt.days / _DAYS
        for measure in MEASURES:
            line = linregress(x, known[measure])
            reach = 1.96 * line.stderr
            rank = spearmanr(x, known[measure])
            rows.append((step, measure, len(known), line.slope, line.slope - reach, line.slope + reach,
                         line.rvalue**2, rank.statistic, rank.pvalue))  # fmt: skip
    table = pd.DataFrame(rows, columns=_COLUMNS[:-1])
    return table.assign(p_holm=correct_holm(table["p"]))
