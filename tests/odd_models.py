"""Models that a reader may add and that have little to fit.

One accuracy everywhere, few cells, few levels.
"""

import numpy as np
import pandas as pd

import cogniload_repro as cl
from cogniload_repro.storage import ERRORS

_CELLS = cl.load_cells(models="QwQ-32B").drop(columns=["log10_N", *ERRORS])
_GRID = _CELLS.assign(provenance="scored").reset_index(drop=True)
_PLACE = np.arange(len(_GRID))
_N = _GRID["N"]
_D = _GRID["d"]
_RHO = _GRID["ratio_pct"]


def _count(total, correct, where=None):
    """Counts of the cells of the grid, or of some; half of the wrong answers ran out of context."""
    cells = _GRID.assign(total=total, correct=correct)
    if where is not None:
        cells = cells[where].reset_index(drop=True)
    wrong = cells["total"] - cells["correct"]
    over = (wrong // 2).astype(int)
    errors = dict.fromkeys(ERRORS, 0) | {"ctx": over, "other": wrong - over}
    return cells.assign(**errors)


_ONE_D_PER_N = _N.map({20: 1, 50: 3, 100: 5, 250: 7}) == _D
_FALLING = _N.map({20: 18, 50: 12, 100: 8, 250: 2})
_RISING = _N.map({20: 2, 50: 8, 100: 12, 250: 18})
#: Counts by what is odd about them.
ODD = {
    "constant": _count(2, 1),
    "constant, many answers": _count(1000, 250),
    "perfect": _count(2, 2),
    "never right": _count(2, 0),
    "no answers": _count(0, 0),
    "one cell": _count(3, 1, _PLACE == 70),
    "one answer": _count(1, 1, _PLACE == 70),
    "two cells": _count(3, np.where(_PLACE == 0, 3, 0), np.isin(_PLACE, [0, 139])),
    "one length": _count(2, 1, _N == 50),
    "one difficulty": _count(3, 2, _D == 5),
    "one ratio": _count(3, 2, _RHO == 50),
    "two lengths": _count(2, 1, _N.isin([20, 250])),
    "one difficulty a length": _count(2, 1, _ONE_D_PER_N),
    "right up to a length": _count(2, np.where(_N < 100, 2, 0)),
    "right up to a difficulty": _count(2, np.where(_D < 5, 2, 0)),
    "one wrong answer": _count(2, np.where(_PLACE == 3, 1, 2)),
    "one right answer": _count(2, np.where(_PLACE == 100, 1, 0)),
    "length alone": _count(20, _FALLING),
    "rising with length": _count(20, _RISING),
    "difficulty alone": _count(20, 20 - 2 * _D),
    "ratio alone": _count(20, np.where(_RHO == 50, 5, 15)),
    "even and odd": _count(2, 1 + (_PLACE % 2)),
}


def odd_cells(*names):
    """Cells of some of the odd models, or of all that have answers, each under its name."""
    chosen = names or [name for name in ODD if ODD[name]["total"].sum()]
    return pd.concat(
        [ODD[name].assign(model=name) for name in chosen], ignore_index=True
    )
