"""Existence and uniqueness of the maximum-likelihood fit: rank of the design, separation."""

import numpy as np
import pandas as pd
from scipy.optimize import linprog

from cogniload_repro.regression.formulas import build_design


def describe_deficiency(cells: pd.DataFrame, formula: str, x: np.ndarray) -> str:
    """Return why the coefficients of a formula with columns x are not unique, "" if they are.

    The cells must determine them with nominal ratios, too: because numbers of needles are rounded,
    5% may be .05 or .06 of N, which is no second level of rho.
    """
    if not cells["total"].any():
        return "no answers"
    rank = np.linalg.matrix_rank(x)
    if "rho" in cells and "ratio_pct" in cells:
        nominal = (cells["ratio_pct"] / 100).fillna(cells["rho"])
        nominal_x = build_design(cells.assign(rho=nominal), formula).x
        rank = min(rank, np.linalg.matrix_rank(nominal_x))
    if rank < x.shape[1]:
        return f"the cells determine {rank} of the formula's {x.shape[1]} coefficients"
    return ""


def list_statuses(
    cells: pd.DataFrame,
    formula: str,
    x: np.ndarray,
    correct: np.ndarray,
    answers: np.ndarray,
) -> list[str]:
    """Return the status of each table: "ok" if it has a unique finite fit, or why it has none."""
    deficiency = describe_deficiency(cells, formula, x)
    if deficiency:
        return [deficiency] * len(correct)
    sides = (correct == answers).astype(int) - (correct == 0)
    different, places = np.unique(sides, axis=0, return_inverse=True)
    separated = np.array([is_separated(x, side) for side in different])
    return np.where(separated, "separation", "ok")[places].tolist()


def is_separated(covariates: np.ndarray, side: np.ndarray) -> bool:
    """Return whether the data are separated, completely or quasi-completely.

    ``side`` is 1 in rows with only correct answers, -1 in rows with only wrong ones, else 0.

    The likelihood then keeps increasing along some direction b and has no maximum. b separates the
    answers if x'b >= 0 in rows with only correct answers, x'b <= 0 in rows with only wrong ones,
    x'b = 0 in all other rows, and x'b is not zero throughout. A linear programme maximises the
    sum of |x'b| over such directions in a box.
    """
    x = covariates / np.abs(covariates).max(axis=0)
    one_sided = x[side != 0] * side[side != 0, None]
    mixed = x[side == 0]
    if len(mixed) and np.linalg.matrix_rank(mixed) == x.shape[1]:
        return False  # only b = 0 is orthogonal to all rows with both kinds of answers
    programme = linprog(
        -one_sided.sum(axis=0),
        A_ub=-one_sided,
        b_ub=np.zeros(len(one_sided)),
        A_eq=mixed,
        b_eq=np.zeros(len(mixed)),
        bounds=(-1, 1),
    )
    return bool(programme.status == 0 and -programme.fun > 1e-6)
