"""Bounds on the smaller root of accuracy = 1/2 along rho, from Table 2 alone.

The authors' results page prints this root; the rounded numbers of Table 2 fix it only roughly.
"""

import numpy as np
import pandas as pd
from scipy.optimize import brentq, linprog

from cogniload_repro.published import load_table
from cogniload_repro.reconstruction.printed import BETAS, HALF_UNITS
from cogniload_repro.regression.design import GRID, grid_means

_GRID_MEANS = grid_means(GRID)
#: The load of each capacity point.
_LOAD_OF = {"ecl50": "N", "nt50": "rho", "id50": "d"}


def smaller_root_range(model: str) -> tuple[float, float]:
    """Return the range of the smaller root of accuracy = 1/2 along rho that Table 2 allows.

    The range is over all coefficients that round to a model's row of Table 2, with its ECL50,
    NT50 and ID50. At a given rho the log-odds are linear in the coefficients; linear programmes
    give their extremes, whose zeros are the ends of the range. The model must have an NT50.
    """
    table2 = load_table("table2").set_index("model")
    printed = table2.loc[model]
    betas = printed[list(BETAS)].to_numpy(float)
    half_unit = HALF_UNITS["beta_0"]
    limits = np.column_stack([betas - half_unit, betas + half_unit])
    rows = _points_as_rows(printed)
    curvature = 2 * printed["beta_rho2"]
    trough = -printed["beta_rho"] / curvature

    def extreme_log_odds(rho: float, sign: int) -> float:
        """Return the least (sign -1) or largest (1) log-odds at rho."""
        weights = -sign * _load_row("rho", rho)
        zeros = np.zeros(len(rows))
        programme = linprog(weights, A_ub=rows, b_ub=zeros, bounds=limits)
        return -sign * programme.fun

    # the log-odds fall from rho = 0 to the trough, so the least of them reach zero first
    least = brentq(extreme_log_odds, 0.0, trough, args=(-1,), xtol=1e-6)
    largest = brentq(extreme_log_odds, 0.0, trough, args=(1,), xtol=1e-6)
    return least, largest


def _points_as_rows(printed: pd.Series) -> np.ndarray:
    """Return rows r such that beta gives the printed capacity points if every r @ beta <= 0.

    Accuracy falls with N and d, so the log-odds are positive at the lower end of a point's
    rounding interval and negative at the upper end; along rho the sign of the slope decides.
    """
    slope = printed["beta_rho"] + 2 * printed["beta_rho2"] * printed["nt50"]
    rows = []
    for point, load in _LOAD_OF.items():
        half_unit = HALF_UNITS[point]
        below = _load_row(load, printed[point] - half_unit)
        above = _load_row(load, printed[point] + half_unit)
        if load == "rho" and slope > 0:
            rows.append(below)
            rows.append(-above)
        else:
            rows.append(-below)
            rows.append(above)
    return np.array(rows)


def _load_row(load: str, value: float) -> np.ndarray:
    """Return Table 2's covariates at a value of one load, the other loads at their means."""
    loads = _GRID_MEANS.copy()
    if load == "N":
        loads["log10_N"] = np.log10(value)
    else:
        loads[load] = value
    rho = loads["rho"]
    return np.array([1.0, loads["d"], loads["log10_N"], rho, rho**2])
