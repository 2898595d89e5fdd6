"""How well a choice of puzzles settles ECL50 and ID50, and which puzzle to ask next.

A capacity point is a smooth function of the regression's coefficients, so its variance is c'M^-1 c: c its gradient,
M the information of the puzzles asked. Choosing puzzles that make this small is c-optimality; D-optimality, which
makes the whole ellipsoid small, spends puzzles on rho.
"""

import numpy as np
from scipy.special import expit

from cogniload_repro.robustness.uncertainty import place
from cogniload_repro.statistics.capacity import grid_means
from cogniload_repro.statistics.design import GRID, QUADRATIC, X

#: The paper's cells as rows of the regression, shape (140, 5), and the loads at which ECL50 and ID50 are read. Points
#: of samples that favour some cells are read there too: only so do they compare with the paper's.
CELLS = X[:, QUADRATIC]
MEANS = grid_means(GRID)
#: A slope nearer to zero than this has no capacity point to speak of: log-odds per unit of d, or of log10 N.
_FLATTEST = 0.02


def locate(betas: np.ndarray) -> np.ndarray:
    """Return log10 ECL50 and ID50 of many curves, shape (r, 2), at the means of the paper's grid.

    Unlike `capacity.many_points` it always gives numbers: a slope that is nearly flat, or rises, counts as nearly flat.
    """
    return np.stack([_point(betas, which)[0] for which in ("ecl50", "id50")], axis=1)


def gradients(betas: np.ndarray) -> np.ndarray:
    """Return the gradients of log10 ECL50 and ID50 with respect to the coefficients, shape (r, 2, 5)."""
    return np.stack([_point(betas, which)[1] for which in ("ecl50", "id50")], axis=1)


def _point(betas: np.ndarray, which: str) -> tuple[np.ndarray, np.ndarray]:
    column = {"ecl50": 2, "id50": 1}[which]
    slope = np.minimum(betas[:, column], -_FLATTEST)
    at_zero = place(which, 0.0, MEANS)
    value = -(betas @ at_zero - betas[:, column] * at_zero[column]) / slope
    at = np.repeat(at_zero[None], len(betas), axis=0)
    at[:, column] = value
    return value, -at / slope[:, None]


def inform(betas: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the information of puzzles under each of many curves, shape (r, 5, 5).

    Parameters
    ----------
    betas : ndarray, shape (r, 5)
    counts : ndarray, shape (140,)
        Puzzles a cell of the paper's grid.
    """
    p = expit(betas @ CELLS.T)
    return np.einsum("rc,ca,cb->rab", counts * p * (1 - p), CELLS, CELLS)


def variances(betas: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the variances of log10 ECL50 and ID50 that puzzles leave, shape (r, 2), by the delta method."""
    c = gradients(betas)
    return np.einsum("rja,rab,rjb->rj", c, np.linalg.inv(inform(betas, counts)), c)


def choose(betas: np.ndarray, count: int, information: np.ndarray, candidates: np.ndarray | None = None) -> np.ndarray:
    """Choose puzzles one after another, each the one that then leaves the least variance: the c-optimal criterion.

    The variances of log10 ECL50 and of ID50 are taken relative to those of an even spread over the grid, added, and
    averaged over the curves.

    Parameters
    ----------
    betas : ndarray, shape (r, 5)
        Curves that the model may have.
    count : int
        How many puzzles to choose.
    information : ndarray, shape (r, 5, 5)
        What is known before, of full rank: a prior, or puzzles that are asked in any case.
    candidates : ndarray of bool, shape (140,), optional
        Cells to choose from; all by default.

    Returns
    -------
    ndarray of int, shape (140,)
        Puzzles a cell. Of equals, the cell that comes first in the grid.
    """
    scale = np.sqrt(variances(betas, np.ones(len(CELLS))))
    c = gradients(betas) / scale[:, :, None]
    p = expit(betas @ CELLS.T)
    weight = p * (1 - p)
    inverse = np.linalg.inv(information)
    chosen = np.zeros(len(CELLS), dtype=np.int64)
    for _ in range(count):
        spread = inverse @ CELLS.T  # (r, 5, 140): M^-1 x of every cell
        gained = np.einsum("rja,rac->rjc", c, spread) ** 2
        own = np.einsum("ca,rac->rc", CELLS, spread)
        # a puzzle adds w xx' to M, so that c'M^-1 c falls by w (c'M^-1 x)^2 / (1 + w x'M^-1 x)
        worth = (gained.sum(axis=1) * weight / (1 + weight * own)).mean(axis=0)
        if candidates is not None:
            worth = np.where(candidates, worth, -np.inf)
        best = int(np.argmax(worth.round(12)))
        chosen[best] += 1
        step = spread[:, :, best]
        factor = weight[:, best] / (1 + weight[:, best] * own[:, best])
        inverse = inverse - factor[:, None, None] * step[:, :, None] * step[:, None, :]
    return chosen
