"""Many tests at once: p-values corrected within the family of tests that they belong to."""

from collections.abc import Sequence

import numpy as np
import pandas as pd


def correct_holm(p: Sequence[float] | np.ndarray) -> np.ndarray:
    """Return p-values corrected after Holm: with all below a level, no test is false with that probability.

    Unknown ones stay unknown and do not count. (statsmodels' function collects garbage at each call, 0.1 s.)
    """
    p = np.array(p, dtype=float)
    known = np.flatnonzero(np.isfinite(p))
    order = known[np.argsort(p[known], kind="stable")]
    p[order] = np.minimum(np.maximum.accumulate(p[order] * np.arange(len(order), 0, -1)), 1.0)
    return p


def correct_within(table: pd.DataFrame, family: list[str], p: str = "p") -> np.ndarray:
    """Return a column of p-values corrected within each family.

    Parameters
    ----------
    table : DataFrame
    family : list of str
        Columns whose values name the family that a row belongs to.
    p : str
        Column of the p-values.
    """
    corrected = table[p].to_numpy(float, copy=True)
    for rows in table.groupby(family, sort=False).indices.values():
        corrected[rows] = correct_holm(corrected[rows])
    return corrected
