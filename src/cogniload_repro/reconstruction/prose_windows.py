"""What the prose says of accuracies along rho, as bounds that a table of counts has to keep."""

import numpy as np
import pandas as pd

from cogniload_repro.published import ABOUT_NONE, load_claims
from cogniload_repro.reconstruction.sufficient import GRID

#: The ends of the arrows along rho in the prose (section 3), read as nominal ratios in percent.
PROSE_RATIOS = {"rho: low end": 5, "rho: middle": 50, "rho: high end": 95}

#: How the claims call the comparison of the two ends, and the differences of accuracy that its signs stand for: as
#: much as 1 either way, and `published.ABOUT_NONE` for "about none".
ENDS = "rho: low end minus rho: high end"
_SIGNS = {">0": (0.001, 1.0), "<0": (-1.0, -0.001), "~0": (-ABOUT_NONE, ABOUT_NONE)}


def prose_along_rho(model: str) -> pd.DataFrame:
    """Return the claims that state a model's accuracy at a place along rho, or compare the two ends."""
    claims = load_claims()
    stated = claims["condition"].isin([*PROSE_RATIOS, ENDS]) & claims["quantity"].str.startswith("accuracy")
    return claims[stated & (claims["model"] == model)]


def prose_windows(model: str, n: np.ndarray, half_unit: float) -> list[tuple[np.ndarray, tuple[float, float]]]:
    """Return what the claims of `prose_along_rho` ask of a table: weights of the cells, and bounds of their sum.

    Parameters
    ----------
    model : str
    n : ndarray, shape (140,)
        Puzzles per cell.
    half_unit : float
        By how much an accuracy may differ from the two stated decimals.
    """
    windows = []
    for claim in prose_along_rho(model).itertuples():
        low, high = ((GRID["ratio_pct"] == PROSE_RATIOS[f"rho: {end} end"]).to_numpy(float) for end in ("low", "high"))
        if claim.condition == ENDS:
            row, (lowest, highest) = low / (low @ n) - high / (high @ n), _SIGNS[claim.value]
        else:
            cells = (GRID["ratio_pct"] == PROSE_RATIOS[claim.condition]).to_numpy(float)
            row, stated = cells / (cells @ n), float(claim.value)
            lowest, highest = stated - half_unit, stated + half_unit
        windows.append((row * n.max(), (lowest * n.max(), highest * n.max())))
    return windows
