"""The paper's grid as a design matrix."""

import numpy as np
import pandas as pd

from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.regression.formulas import INTERACTIONS, build_design

#: The 140 cells of the paper's grid, in grid order.
GRID = pd.DataFrame(
    [(cell.N, cell.d, cell.ratio_pct, cell.needles, cell.rho) for cell in PAPER_GRID],
    columns=[
        "N",
        "d",
        "ratio_pct",
        "needles",
        "rho",
    ],
)
#: Matrix, shape (7, 140), that sums the cells of each needle ratio.
OF_RATIO = np.array(
    [GRID["ratio_pct"] == ratio for ratio in GRID["ratio_pct"].unique()], float
)


def lay_out(cells: pd.DataFrame) -> np.ndarray:
    """Return the covariates of Appendix B's regression, one column each.

    The order is 1, d, log10 N, rho, rho^2, d:N, d:rho, N:rho, d:N:rho; in the products, N means
    log10 N.
    """
    return build_design(cells, INTERACTIONS).x


#: The covariates over the grid, shape (140, 9).
X = lay_out(GRID)
#: Columns of the regressions of Table 6 (linear), Table 2 (quadratic) and Appendix B (full).
LINEAR_COLUMNS = np.arange(4)
QUADRATIC_COLUMNS = np.arange(5)
FULL_COLUMNS = np.arange(9)
#: Columns of the products of loads, by the names of Table 3.
PRODUCTS = {
    "dN": 5,
    "drho": 6,
    "Nrho": 7,
    "dNrho": 8,
}


def grid_means(cells: pd.DataFrame) -> dict[str, float]:
    """Return the means of d, log10_N and rho over the cells with answers (section 3.1.3).

    Each cell counts once, however many models or answers it has.
    """
    loads = cells[["d", "N", "rho"]]
    if "total" in cells:
        loads = loads[cells["total"] > 0]
    loads = loads.drop_duplicates()
    lengths = loads["N"].astype(float)
    return {
        "d": float(loads["d"].mean()),
        "log10_N": float(np.log10(lengths).mean()),
        "rho": float(loads["rho"].mean()),
    }


def roots_along_rho(betas: np.ndarray, means: dict[str, float]) -> np.ndarray:
    """Return the two values of rho at which the fitted accuracy is one half, the smaller first.

    betas (r, 5) are coefficients of 1, d, log10 N, rho, rho^2; d and log10 N are held at their
    means. The roots, shape (r, 2), may be outside [0, 1]; they are NaN if the quadratic has no real
    root.
    """
    intercept, slope_d, slope_N, slope_rho, curvature = betas.T
    constant = intercept + slope_d * means["d"] + slope_N * means["log10_N"]
    with np.errstate(all="ignore"):
        discriminant = np.sqrt(slope_rho**2 - 4 * curvature * constant)
        first = (-slope_rho - discriminant) / (2 * curvature)
        second = (-slope_rho + discriminant) / (2 * curvature)
    roots = np.column_stack([first, second])
    return np.sort(roots, axis=1)
