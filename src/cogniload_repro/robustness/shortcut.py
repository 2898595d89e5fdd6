"""Whether models answer more often correctly where the last clause gives the answer, whomever that is about."""

import numpy as np
import pandas as pd
from scipy.stats import norm

from cogniload_repro.published import ALPHA

_KEYS = ["model", "N", "d", "ratio_pct"]


def shortcut_use(scores: pd.DataFrame, baselines: pd.DataFrame) -> pd.DataFrame:
    """Compare each model's accuracy on puzzles whose last clause is right and on those where it is wrong, within cells.

    The difference is Mantel and Haenszel's, over the cells that have both kinds, so that no load differs between them;
    its standard error is Sato's (1989), which holds for few answers per cell as for many.

    Parameters
    ----------
    scores : DataFrame
        One row per answer of real outputs: model, name, N, d, ratio_pct, correct. Reconstructed outputs say nothing.
    baselines : DataFrame
        One row per puzzle, as `baselines.baselines` returns it: name, last_clause.

    Returns
    -------
    DataFrame
        One row per model, in the order of the scores: model; answers (in cells with both kinds); right and wrong,
        the accuracies (fractions) where the last clause is right and wrong, with the same weights of cells; difference,
        ci_low and ci_high; p (two-sided). NaN where no cell has both kinds, ci and p also where all are alike.
    """
    clause = baselines.drop_duplicates("name").set_index("name")["last_clause"]
    known = scores[[*_KEYS, "name", "correct"]].assign(clause=scores["name"].map(clause)).dropna(subset="clause")
    known = known.astype({"model": str, "correct": int})
    counts = known.pivot_table("correct", _KEYS, "clause", ["count", "sum"], sort=False)
    counts = counts.reindex(columns=pd.MultiIndex.from_product([["count", "sum"], [0, 1]])).dropna()
    n0, n1, k0, k1 = (counts[column].astype(float) for column in counts)
    n = n0 + n1
    parts = {"answers": n, "weight": n0 * n1 / n, "right": k1 * n0 / n, "wrong": k0 * n1 / n}
    parts["first"] = (n1**2 * k0 - n0**2 * k1 + n0 * n1 * (n0 - n1) / 2) / n**2
    parts["second"] = (k1 * (n0 - k0) + k0 * (n1 - k1)) / (2 * n)
    sums = pd.DataFrame(parts).groupby("model").sum().reindex(known["model"].unique())
    table = pd.DataFrame({"answers": sums["answers"].fillna(0).astype(int)})
    table["right"], table["wrong"] = sums["right"] / sums["weight"], sums["wrong"] / sums["weight"]
    table["difference"] = table["right"] - table["wrong"]
    se = np.sqrt(table["difference"] * sums["first"] + sums["second"]) / sums["weight"]
    se = se.where(se > 0)  # all alike: too few answers for an interval
    reach = norm.ppf(1 - ALPHA / 2) * se
    table["ci_low"] = (table["difference"] - reach).clip(lower=-1)
    table["ci_high"] = (table["difference"] + reach).clip(upper=1)
    table["p"] = 2 * norm.sf(table["difference"].abs() / se)
    return table.rename_axis("model").reset_index()
