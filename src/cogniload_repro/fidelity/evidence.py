"""What a build's results can say about the paper's grid, and a refusal where they cannot.

A number is given only if every cell that it rests on has as many puzzles as the paper's: half a grid, or one with
cells of a reader's own in it, would print numbers that mean something else.
"""

import math
from collections.abc import Callable
from fractions import Fraction
from functools import cache

import numpy as np
import pandas as pd

from cogniload_repro.fidelity.results import Results
from cogniload_repro.grid import PAPER_GRID, Cell
from cogniload_repro.models import BY_NAME, Model
from cogniload_repro.published import ERRORS
from cogniload_repro.statistics.accuracy import errors_by


class UnsettledError(LookupError):
    """The results do not settle a statement, or it cannot be read."""


class Evidence:
    """Numbers out of a build's results, by model of the paper.

    Every method raises `UnsettledError` if cells that the number rests on are not there with the paper's number of
    puzzles, or if the number itself is not.

    Parameters
    ----------
    results : Results
    """

    def __init__(self, results: Results):
        cells = results.cells[results.cells["total"] > 0]
        keys = list(zip(cells["N"], cells["ratio_pct"], cells["d"], strict=True))
        paper = {(cell.N, cell.ratio_pct, cell.d) for cell in PAPER_GRID}
        inside = np.array([key in paper for key in keys], dtype=bool)
        self._cells, outside = cells[inside], cells[~inside]
        # conditions whose pooled tokens, and models whose fits, also hold cells that the paper does not have
        self._mixed = set(zip(outside["model"], outside["N"], outside["d"], strict=True))
        self._puzzles = self._cells.groupby(["model", "N", "ratio_pct", "d"])["total"].sum().to_dict()
        self._tokens = results.tokens.set_index(["model", "N", "d"]).to_dict("index")
        self._fits = {
            (model, quantity): number
            for frame in (results.glm, results.interactions, results.aic)
            for quantity, known in frame[frame["status"] == "ok"].set_index("model").select_dtypes("float").items()
            for model, number in known.items()
        }
        self._gaps: dict[str, set[Cell]] = {}
        self._sums: dict[tuple, dict[tuple, dict]] = {}

    def accuracy(self, model: str, **levels: float) -> Fraction:
        """Return the accuracy over the cells with these levels of N, d and ratio_pct, an exact fraction."""
        self.require(model, **levels)
        pooled = self._pooled("accuracy", tuple(levels), lambda: self._sum("total", "correct", by=tuple(levels)))
        row = pooled[model, *levels.values()]
        return Fraction(int(row["correct"]), int(row["total"]))

    def count(self, model: str, column: str, key: str, level: int) -> int:
        """Return samples or wrong answers of one type at one level of d or N (Tables 4 and 5)."""
        self.require(model, **{key: level})
        if column not in ("samples", *ERRORS):
            raise UnsettledError(f"no column {column} counts answers")
        return int(self._pooled("errors", (key,), lambda: errors_by(self._cells, key))[model, level][column])

    def fit(self, model: str, quantity: str) -> float:
        """Return a number of Table 2, 3 or 6 by its column's name, such as p_dN."""
        self.require(model)
        if any(model == name for name, _, _ in self._mixed):
            raise UnsettledError(f"the fits of {model} rest on cells that the paper does not have")
        return _known(self._fits.get((model, quantity)), f"{quantity} of {model}")

    def tokens(self, model: str, quantity: str, N: int, d: int) -> float:
        """Return a mean or 90th percentile of prompt or output tokens (Tables 7 to 10)."""
        self.require(model, N=N, d=d)
        if (model, N, d) in self._mixed:
            raise UnsettledError(f"the tokens of {model} at N={N}, d={d} rest on cells that the paper does not have")
        own = self._tokens.get((model, N, d), {})
        return _known(own.get(quantity), f"{quantity} of {model} at N={N}, d={d}")

    def puzzles(self, model: str) -> list[int]:
        """Return the number of puzzles in each of a model's 140 cells."""
        self.require(model)
        return [self._puzzles[model, cell.N, cell.ratio_pct, cell.d] for cell in PAPER_GRID]

    def require(self, model: str, **levels: float) -> None:
        """Refuse if a cell of the paper's grid at these levels is not there with the paper's number of puzzles."""
        needed = cells_at(**levels)
        if not needed:
            raise UnsettledError(f"the paper has no cell with {levels}")
        if model not in self._gaps:
            self._gaps[model] = self._find_gaps(model)
        if not self._gaps[model].isdisjoint(needed):
            raise UnsettledError(f"{model} lacks puzzles of the paper at {levels or 'some cells'}")

    def _find_gaps(self, name: str) -> set[Cell]:
        if name not in BY_NAME:
            raise UnsettledError(f"the paper has no model {name!r}")
        return {
            cell
            for cell in PAPER_GRID
            if self._puzzles.get((name, cell.N, cell.ratio_pct, cell.d), 0) not in _allowed(BY_NAME[name], cell)
        }

    def _sum(self, *columns: str, by: tuple[str, ...]) -> pd.DataFrame:
        return self._cells.groupby(["model", *by], sort=False, observed=True)[list(columns)].sum().reset_index()

    def _pooled(self, what: str, keys: tuple[str, ...], pool: Callable[[], pd.DataFrame]) -> dict[tuple, dict]:
        if (what, *keys) not in self._sums:
            rows = pool().to_dict("records")
            self._sums[(what, *keys)] = {(row["model"], *(row[key] for key in keys)): row for row in rows}
        return self._sums[(what, *keys)]


@cache
def cells_at(**levels: float) -> tuple[Cell, ...]:
    """Return the cells of the paper's grid at these levels of N, d and ratio_pct."""
    return tuple(cell for cell in PAPER_GRID if all(getattr(cell, key) == at for key, at in levels.items()))


def _allowed(model: Model, cell: Cell) -> range:
    """Return the numbers of puzzles that the paper may have had in a cell: which ratio lacks one is not printed."""
    missing = model.missing.count((cell.d, cell.N))
    return range(model.puzzles_per_cell - missing, model.puzzles_per_cell + 1)


def _known(number: float | None, what: str) -> float:
    if number is None or not math.isfinite(number):
        raise UnsettledError(f"{what} is not known")
    return float(number)
