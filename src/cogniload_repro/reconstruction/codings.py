"""Codings of rho: three definitions of the needle ratio that may underlie Table 2."""

from fractions import Fraction
from functools import cache
from math import gcd, lcm

import numpy as np

from cogniload_repro.grid import count_needles
from cogniload_repro.regression.design import GRID, X, grid_means

#: Needles / N, with needles rounded half up or half to even; or the nominal ratio.
CODINGS = {
    "half-up": "halves up",
    "half-even": "halves to even",
    "nominal": "nominal ratio",
}


def needle_shares(coding: str) -> list[Fraction]:
    """Return rho in each of the 140 cells under a coding, as exact fractions."""
    if coding not in CODINGS:
        raise ValueError(
            f"unknown coding {coding!r} of rho; codings are {', '.join(CODINGS)}"
        )
    shares = []
    for N, ratio_pct in GRID[["N", "ratio_pct"]].to_numpy().tolist():
        share = Fraction(ratio_pct, 100)
        if coding != "nominal":
            share = Fraction(count_needles(N, ratio_pct, coding), N)
        shares.append(share)
    return shares


@cache
def lattice_step(coding: str) -> Fraction:
    """Return the greatest common divisor of rho over the 140 cells.

    The sum of rho over the correct answers is therefore a multiple of it.
    """
    shares = needle_shares(coding)
    denominator = lcm(*(share.denominator for share in shares))
    numerators = [int(share * denominator) for share in shares]
    return Fraction(gcd(*numerators), denominator)


@cache
def coded_covariates(coding: str) -> np.ndarray:
    """Return the covariates of Table 2's regression over the grid, shape (140, 5)."""
    rho = np.array(needle_shares(coding), dtype=float)
    return np.column_stack([X[:, :3], rho, rho**2])


@cache
def coded_means(coding: str) -> dict[str, float]:
    """Return the means at which capacity points hold the other loads, under a coding."""
    rho = coded_covariates(coding)[:, 3]
    return grid_means(GRID.assign(rho=rho))
