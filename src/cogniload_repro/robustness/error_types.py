"""Whether errors change in kind as the load grows: error types compared with one another, by d and by N.

Tables 4 and 5 print the errors of each type at every d and at every N, which identifies these fits. The reference is
the commonest type, a valid sentence with the wrong value; answers that ran out of context are left out.
"""

import numpy as np
import pandas as pd
from scipy.stats import norm

from cogniload_repro.robustness.uncertainty import correct_within
from cogniload_repro.statistics.accuracy import errors_by
from cogniload_repro.statistics.likelihood import maximise_multinomial

#: The reference type, and the types compared with it.
COMMONEST, TYPES = "valid_logic", ("poi_logic", "last_logic", "other")
#: Fewest errors of a type that a slope is fitted to.
FEWEST = 20
_COLUMNS = ["model", "load", "type", "errors", "slope", "se", "p"]


def error_slopes(cells: pd.DataFrame) -> pd.DataFrame:
    """Return how the mix of error types changes with d and with log10 N, by multinomial logits on the margins.

    Returns
    -------
    DataFrame
        One row per model, load (d, N) and type with at least `FEWEST` errors: model, load, type, errors (answers),
        slope (change of the log-odds of the type against `COMMONEST`, per unit of d or factor of ten in N), se, p
        (two-sided Wald), p_holm (over the models, by load and type). Models without a finite fit are left out.
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
                beta, ses = maximise_multinomial(np.column_stack([np.ones(len(x)), x]), counts)
            except ValueError:
                continue
            for kind, slope, se in zip(kept, beta[:, 1], ses[:, 1], strict=True):
                rows.append((model, load, kind, int(own[kind].sum()), slope, se, 2 * norm.sf(abs(slope / se))))
    table = pd.DataFrame(rows, columns=_COLUMNS)
    return table.assign(p_holm=correct_within(table, ["load", "type"]))
