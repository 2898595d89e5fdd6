"""What a build has computed: its frames, and their numbers by model of the paper, where its cells are the paper's."""

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from cogniload_repro.grid import PAPER_GRID, Cell
from cogniload_repro.models import BY_NAME
from cogniload_repro.published import ERRORS
from cogniload_repro.schemas import FRAMES, read_frame
from cogniload_repro.statistics.cell_tables import errors_by, load_cells
from cogniload_repro.statistics.reconstructions import from_printed_tables

_KEYS = ["N", "ratio_pct", "d"]
_CELLS = {(cell.N, cell.ratio_pct, cell.d): cell for cell in PAPER_GRID}


@dataclass(frozen=True)
class Results:
    """The frames of one build: counts by cell, Tables 2, 3 and 6, token statistics."""

    cells: pd.DataFrame
    glm: pd.DataFrame
    interactions: pd.DataFrame
    aic: pd.DataFrame
    tokens: pd.DataFrame

    @property
    def reconstructed(self) -> bool:
        """Whether counts of the paper's models were reconstructed from its tables."""
        return bool(from_printed_tables(self.cells).any())

    def of_paper(self) -> "Results":
        """Return the rows of the paper's models alone."""
        frames = {name: getattr(self, name) for name in FRAMES}
        return replace(
            self, **{name: frame[frame["model"].isin(BY_NAME)] for name, frame in frames.items()}
        )


def load_results(build: str | Path) -> Results:
    """Read the frames of a build folder; of one that is missing or damaged, the message says which step makes it."""
    frames = {"cells": load_cells(build)}
    for name, schema in FRAMES.items():
        if name != "cells":
            step = "score" if name == "tokens" else "fit"
            path = Path(build) / f"{name}.parquet"
            frames[name] = read_frame(path, schema, f"make it again with `make {step}`")
    return Results(**frames)


#: A printed number: table, model, quantity, levels of d and N, kind on reconstructed data, how it
#: is printed, and the functions that recompute and print it.
PrintedNumber = tuple[
    str,
    str,
    str,
    dict[str, int],
    str,
    str,
    Callable[[], float],
    Callable[[float], str],
]


class NotComputableError(LookupError):
    """The results do not determine a statement, or it cannot be read."""


class ResultLookup:
    """Numbers of a build's results; methods raise `NotComputableError` where cells or the number are missing."""

    def __init__(self, results: Results):
        cells = results.cells[results.cells["total"] > 0]
        inside = np.array(
            [key in _CELLS for key in zip(*(cells[key] for key in _KEYS), strict=True)], dtype=bool
        )
        self._cells, outside = cells[inside], cells[~inside]
        # conditions whose pooled tokens, and models whose fits, also hold cells that the paper does not have
        self._mixed = set(zip(outside["model"], outside["N"], outside["d"], strict=True))
        self._puzzles = self._cells.groupby(["model", *_KEYS])["total"].sum().to_dict()
        self._tokens = results.tokens.set_index(["model", "N", "d"]).to_dict("index")
        self._fits = {
            (model, quantity): number
            for frame in (results.glm, results.interactions, results.aic)
            for quantity, known in frame[frame["status"] == "ok"]
            .set_index("model")
            .select_dtypes("float")
            .items()
            for model, number in known.items()
        }
        self._gaps: dict[str, set[Cell]] = {}
        self._sums: dict[tuple, dict] = {}

    def accuracy(self, model: str, **levels: float) -> Fraction:
        """Return the accuracy over the cells with these levels of N, d and ratio_pct, an exact fraction."""
        self.require(model, **levels)
        by = ("accuracy", *levels)
        if by not in self._sums:
            sums = self._cells.groupby(["model", *levels], observed=True)[
                ["correct", "total"]
            ].sum()
            self._sums[by] = {
                key: Fraction(int(k), int(n)) for key, k, n in sums.itertuples(name=None)
            }
        return self._sums[by][(model, *levels.values()) if levels else model]

    def count(self, model: str, column: str, key: str, level: int) -> int:
        """Return samples or wrong answers of one type at one level of d or N (Tables 4 and 5)."""
        self.require(model, **{key: level})
        if column not in ("samples", *ERRORS):
            raise NotComputableError(f"no column {column} counts answers")
        if ("errors", key) not in self._sums:
            self._sums["errors", key] = (
                errors_by(self._cells, key).set_index(["model", key]).to_dict("index")
            )
        return int(self._sums["errors", key][model, level][column])

    def fit(self, model: str, quantity: str) -> float:
        """Return a number of Table 2, 3 or 6 by its column's name, such as p_dN."""
        self.require(model)
        if any(model == name for name, _, _ in self._mixed):
            raise NotComputableError(
                f"the fits of {model} rest on cells that the paper does not have"
            )
        return _known(self._fits.get((model, quantity)), f"{quantity} of {model}")

    def tokens(self, model: str, quantity: str, N: int, d: int) -> float:
        """Return a mean or 90th percentile of prompt or output tokens (Tables 7 to 10)."""
        self.require(model, N=N, d=d)
        if (model, N, d) in self._mixed:
            raise NotComputableError(
                f"the tokens of {model} at {N=}, {d=} rest on cells that the paper does not have"
            )
        return _known(
            self._tokens.get((model, N, d), {}).get(quantity),
            f"{quantity} of {model} at {N=}, {d=}",
        )

    def puzzles(self, model: str) -> list[int]:
        """Return the number of puzzles in each of a model's 140 cells."""
        self.require(model)
        return [self._puzzles[model, *cell] for cell in _CELLS]

    def require(self, model: str, **levels: float) -> None:
        """Refuse if a cell of the paper's grid at these levels has not the paper's number of puzzles."""
        needed = cells_at(**levels)
        if not needed:
            raise NotComputableError(f"the paper has no cell with {levels}")
        if model not in BY_NAME:
            raise NotComputableError(f"the paper has no model {model!r}")
        if model not in self._gaps:
            usual, missing = BY_NAME[model].puzzles_per_cell, BY_NAME[model].missing
            self._gaps[model] = {  # which ratio lacks a puzzle is not printed
                cell
                for key, cell in _CELLS.items()
                if not 0
                <= usual - self._puzzles.get((model, *key), 0)
                <= missing.count((cell.d, cell.N))
            }
        if not self._gaps[model].isdisjoint(needed):
            raise NotComputableError("cells without the paper's number of puzzles")


@cache
def cells_at(**levels: float) -> tuple[Cell, ...]:
    """Return the cells of the paper's grid at these levels of N, d and ratio_pct."""
    return tuple(
        cell for cell in PAPER_GRID if all(getattr(cell, key) == at for key, at in levels.items())
    )


def _known(number: float | None, what: str) -> float:
    if number is None or not math.isfinite(number):
        raise NotComputableError(f"{what} is not known")
    return float(number)
