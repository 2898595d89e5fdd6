"""Numbers of a build's results by model of the paper, refused where cells lack the paper's number of puzzles."""

import math
from fractions import Fraction
from functools import cache

import numpy as np

from cogniload_repro.fidelity.results import Results
from cogniload_repro.grid import PAPER_GRID, Cell
from cogniload_repro.models import BY_NAME, Model
from cogniload_repro.published import ERRORS
from cogniload_repro.statistics.accuracy import errors_by


class NotComputableError(LookupError):
    """The results do not determine a statement, or it cannot be read."""


class ResultLookup:
    """Numbers of a build's results; methods raise `NotComputableError` where cells or the number are missing."""

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
        self._sums: dict[tuple, dict] = {}

    def accuracy(self, model: str, **levels: float) -> Fraction:
        """Return the accuracy over the cells with these levels of N, d and ratio_pct, an exact fraction."""
        self.require(model, **levels)
        by = ("accuracy", *levels)
        if by not in self._sums:
            sums = self._cells.groupby(["model", *levels], observed=True)[["correct", "total"]].sum()
            self._sums[by] = {key: Fraction(int(k), int(n)) for key, k, n in sums.itertuples(name=None)}
        return self._sums[by][(model, *levels.values()) if levels else model]

    def count(self, model: str, column: str, key: str, level: int) -> int:
        """Return samples or wrong answers of one type at one level of d or N (Tables 4 and 5)."""
        self.require(model, **{key: level})
        if column not in ("samples", *ERRORS):
            raise NotComputableError(f"no column {column} counts answers")
        if ("errors", key) not in self._sums:
            self._sums["errors", key] = errors_by(self._cells, key).set_index(["model", key]).to_dict("index")
        return int(self._sums["errors", key][model, level][column])

    def fit(self, model: str, quantity: str) -> float:
        """Return a number of Table 2, 3 or 6 by its column's name, such as p_dN."""
        self.require(model)
        if any(model == name for name, _, _ in self._mixed):
            raise NotComputableError(f"the fits of {model} rest on cells that the paper does not have")
        return _known(self._fits.get((model, quantity)), f"{quantity} of {model}")

    def tokens(self, model: str, quantity: str, N: int, d: int) -> float:
        """Return a mean or 90th percentile of prompt or output tokens (Tables 7 to 10)."""
        self.require(model, N=N, d=d)
        if (model, N, d) in self._mixed:
            raise NotComputableError(f"the tokens of {model} at {N=}, {d=} rest on cells that the paper does not have")
        return _known(self._tokens.get((model, N, d), {}).get(quantity), f"{quantity} of {model} at {N=}, {d=}")

    def puzzles(self, model: str) -> list[int]:
        """Return the number of puzzles in each of a model's 140 cells."""
        self.require(model)
        return [self._puzzles[model, cell.N, cell.ratio_pct, cell.d] for cell in PAPER_GRID]

    def require(self, model: str, **levels: float) -> None:
        """Refuse if a cell of the paper's grid at these levels has not the paper's number of puzzles."""
        needed = cells_at(**levels)
        if not needed:
            raise NotComputableError(f"the paper has no cell with {levels}")
        if model not in BY_NAME:
            raise NotComputableError(f"the paper has no model {model!r}")
        if model not in self._gaps:
            self._gaps[model] = {
                cell
                for cell in PAPER_GRID
                if self._puzzles.get((model, cell.N, cell.ratio_pct, cell.d), 0) not in _allowed(BY_NAME[model], cell)
            }
        if not self._gaps[model].isdisjoint(needed):
            raise NotComputableError(f"{model} lacks puzzles of the paper at {levels or 'some cells'}")


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
        raise NotComputableError(f"{what} is not known")
    return float(number)
