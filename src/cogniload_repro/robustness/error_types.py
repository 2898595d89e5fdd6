"""Whether errors change in kind as the load grows: error types against one another, by d and by N.

Tables 4 and 5 print the errors of each type at every d and at every N, so that all of this is settled. Errors are held
against the commonest type, a valid sentence with the wrong value; answers that ran out of context are left out.
"""

import numpy as np
import pandas as pd
from scipy.stats import norm

from cogniload_repro.robustness.families import correct_within
from cogniload_repro.statistics.accuracy import errors_by
from cogniload_repro.statistics.likelihood import maximise_multinomial

#: The type that the others are held against, and those that are held against it.
COMMONEST, TYPES = "valid_logic", ("poi_logic", "last_logic", "other")
#: Fewest errors of a type that a slope is fitted to.
FEWEST = 20
_COLUMNS = ["model", "load", "type", "errors", "slope", "se", "p", "p_holm"]


def error_slopes(cells: pd.DataFrame) -> pd.DataFrame:
    """Return how the mix of error types drifts with d and with log10 N, by multinomial logits on the margins.

    Parameters
    ----------
    cells : DataFrame
        Cells frame with the five error counts.

    Returns
    -------
    DataFrame
        One row a model, load (d, N) and type with at least `FEWEST` errors: model, load, type, errors (answers), slope
        (change of the log-odds of the type against `COMMONEST`, per unit of d or factor of ten in N), se, p (two-sided
        Wald), p_holm (over the models, by load and type). A model whose errors leave no finite fit is left out.
    """
    rows = []
    for load in ("d", "N"):
        for model, own in errors_by(cells, load).groupby("model", sort=False):
            x = own[load].to_numpy(float) if load == "d" else np.log10(own[load].to_numpy(float))
            kept = [kind for kind in TYPES if own[kind].sum() >= FEWEST]
            if len(np.unique(x)) < 2 or own[COMMONEST].sum() < FEWEST or not kept:
                continue
            try:
                counts = own[[COMMONEST, *kept]].to_numpy(float)
                beta, covariance, _ = maximise_multinomial(np.column_stack([np.ones(len(x)), x]), counts)
            except ValueError:
                continue
            ses = np.sqrt(np.diag(covariance)).reshape(beta.shape)
            for kind, slope, se in zip(kept, beta[:, 1], ses[:, 1], strict=True):
                rows.append((model, load, kind, int(own[kind].sum()), slope, se, 2 * norm.sf(abs(slope / se))))
    table = pd.DataFrame(rows, columns=_COLUMNS[:-1])
    return table.assign(p_holm=correct_within(table, ["load", "type"]))


def count_drifts(slopes: pd.DataFrame, alpha: float) -> pd.DataFrame:
    """Count the models whose mix of errors drifts towards a type or away from it.

    Returns
    -------
    DataFrame
        One row a type and load: type, load, models (with a slope), more and fewer (of the type as the load grows, p
        below alpha), more_holm and fewer_holm (after Holm).
    """
    way = {"more": slopes["slope"] > 0, "fewer": slopes["slope"] < 0}
    counted = slopes[["type", "load"]].assign(
        models=1,
        **{name: where & (slopes["p"] < alpha) for name, where in way.items()},
        **{f"{name}_holm": where & (slopes["p_holm"] < alpha) for name, where in way.items()},
    )
    return counted.groupby(["type", "load"], sort=False).sum().reset_index()
