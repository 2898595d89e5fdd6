"""Existence and uniqueness of the maximum-likelihood fit: rank of the design, separation."""

import numpy as np
import pandas as pd
from scipy.optimize import linprog

from cogniload_repro.regression.families import QUASI
from cogniload_repro.regression.formulas import (
    COVARIATES,
    FACTORS,
    Design,
    name_covariates,
)

#: Covariates computed from the levels of another column, and that column.
_LEVELS = {"log10_N": "N", "rho": "ratio_pct"}


def find_missing(cells: pd.DataFrame, formula: str) -> str:
    """Return the first covariate of a formula with missing values, "" if there is none."""
    for name in name_covariates(formula):
        if name in cells and cells[name].isna().any():
            return name
    return ""


def describe_deficiency(cells: pd.DataFrame, design: Design) -> str:
    """Return why the coefficients of a design are not unique, "" if they are.

    The usual reason is a covariate with fewer distinct values than coefficients. Values of rho are
    counted by nominal ratio, because numbers of needles are rounded: 5% may be .05 or .06 of N.
    """
    if not cells["total"].any():
        return "no answers"
    for name in COVARIATES:
        if name not in design.spec.required_variables:
            continue
        level = _LEVELS.get(name, name)
        values = cells[level if level in cells else name].nunique()
        needed = _count_coefficients(design, name)
        if values < needed:
            load = name.removeprefix("log10_")
            return (
                f"{load} takes {values} of the {needed} values that the formula needs"
            )
    terms = design.matrix.shape[1]
    rank = np.linalg.matrix_rank(design.x)
    if rank < terms:
        return f"the cells determine {rank} of its {terms} coefficients"
    return ""


def _count_coefficients(design: Design, name: str) -> int:
    """Return the number of coefficients of terms in one covariate alone, with the intercept."""
    others = {*COVARIATES, *FACTORS} - {name}
    count = 0
    for term, variables in design.spec.term_variables.items():
        if not others & {*variables}:
            count += len(design.spec.term_indices[term])
    return count


def list_statuses(
    cells: pd.DataFrame,
    design: Design,
    correct: np.ndarray,
    answers: np.ndarray,
    family: str,
) -> list[str]:
    """Return the status of each table: "ok" if it has a unique finite fit, or why it has none."""
    deficiency = describe_deficiency(cells, design)
    rows, terms = design.x.shape
    if family == QUASI and rows == terms and not deficiency:
        deficiency = "no residual degrees of freedom to estimate the dispersion"
    if deficiency:
        return [deficiency] * len(correct)
    sides = (correct == answers).astype(int) - (correct == 0)
    different, places = np.unique(sides, axis=0, return_inverse=True)
    separated = np.array([is_separated(design.x, side) for side in different])
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
