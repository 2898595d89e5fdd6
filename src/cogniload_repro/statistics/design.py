"""The paper's grid as a design matrix: what every regression of the paper is fitted to (section 3.1)."""

import numpy as np
import pandas as pd

from cogniload_repro.grid import PAPER_GRID

#: The 140 cells of the paper's grid, in grid order.
GRID = pd.DataFrame(
    [(cell.N, cell.d, cell.ratio_pct, cell.needles, cell.rho) for cell in PAPER_GRID],
    columns=["N", "d", "ratio_pct", "needles", "rho"],
)


def lay_out(cells: pd.DataFrame) -> np.ndarray:
    """Return the columns of Appendix B's regression: 1, d, log10 N, rho, rho^2, d:N, d:rho, N:rho, d:N:rho."""
    d, N, rho = cells["d"].to_numpy(float), np.log10(cells["N"].to_numpy(float)), cells["rho"].to_numpy(float)
    return np.column_stack([np.ones(len(cells)), d, N, rho, rho**2, d * N, d * rho, N * rho, d * N * rho])


#: The columns over the grid, shape (140, 9).
X = lay_out(GRID)
LINEAR, QUADRATIC, FULL = tuple(range(4)), tuple(range(5)), tuple(range(9))
#: Columns of the products of loads, by the names of Table 3.
PRODUCTS = {"dN": 5, "drho": 6, "Nrho": 7, "dNrho": 8}
