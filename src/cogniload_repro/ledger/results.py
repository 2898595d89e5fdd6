"""What a build has computed: its frames, and their numbers by model of the paper.

A number is known only where the build has the paper's number of puzzles in every cell behind it.
"""

import math
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd

from cogniload_repro.grid import CELL, PAPER_GRID, Cell
from cogniload_repro.models import BY_NAME
from cogniload_repro.published import ERRORS
from cogniload_repro.regression.cell_tables import errors_by, load_cells
from cogniload_repro.regression.reconstructions import from_printed_tables
from cogniload_repro.schemas import FRAMES, read_frame

#: The paper's cells by their values of `CELL`.
_PAPER_CELLS = {(cell.N, cell.d, cell.ratio_pct): cell for cell in PAPER_GRID}
#: The model, N and d of a number of tokens.
Condition = tuple[str, int, int]


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
        frames = {}
        for name in FRAMES:
            frame = getattr(self, name)
            frames[name] = frame[frame["model"].isin(BY_NAME)]
        return Results(**frames)


def load_results(build: str | Path) -> Results:
    """Read the frames of a build folder.

    The ValueError for one that is missing or damaged says which step makes it.
    """
    frames = {"cells": load_cells(build)}
    for name, schema in FRAMES.items():
        if name != "cells":
            step = "score" if name == "tokens" else "fit"
            path = Path(build) / f"{name}.parquet"
            frames[name] = read_frame(path, schema, f"make it again with `make {step}`")
    return Results(**frames)


class NotComputableError(LookupError):
    """The results do not determine a number, or what it is about cannot be read."""


class PrintedNumber(NamedTuple):
    """A published number, with the functions that recompute and print it.

    ``levels`` are those of N and d, ``kind`` is that on reconstructed data (see `ledger`).
    ``recompute`` raises `NotComputableError` where the results do not determine the number.
    """

    table: str
    model: str
    quantity: str
    levels: dict[str, int]
    kind: str
    published: str
    recompute: Callable[[], float]
    form: Callable[[float], str]


class ResultLookup:
    """Numbers of a build's results; `NotComputableError` where cells or the number are missing."""

    def __init__(self, results: Results):
        cells = results.cells[results.cells["total"] > 0]
        keys = cells[CELL].itertuples(index=False, name=None)
        is_inside = np.array([key in _PAPER_CELLS for key in keys], dtype=bool)
        self._cells = cells[is_inside]
        outside = cells.loc[~is_inside, ["model", "N", "d"]]
        #: Conditions with cells that the paper does not have: tokens and fits rest on these too.
        self._mixed: set[Condition] = set(outside.itertuples(index=False, name=None))
        self._puzzles = self._cells.groupby(["model", *CELL])["total"].sum().to_dict()
        self._tokens = results.tokens.set_index(["model", "N", "d"]).to_dict("index")
        self._fits: dict[tuple[str, str], float] = {}
        for frame in (results.glm, results.interactions, results.aic):
            fitted = frame[frame["status"] == "ok"].set_index("model")
            for quantity, numbers in fitted.select_dtypes("float").items():
                for model, number in numbers.items():
                    self._fits[str(model), str(quantity)] = number
        self._gaps: dict[str, set[Cell]] = {}
        self._accuracies: dict[tuple[str, ...], dict[tuple, Fraction]] = {}
        self._errors: dict[str, dict[tuple, dict]] = {}

    def accuracy(self, model: str, **levels: float) -> Fraction:
        """Return the accuracy over the cells with these levels of N, d and ratio_pct."""
        self.require(model, **levels)
        loads = tuple(levels)
        if loads not in self._accuracies:
            self._accuracies[loads] = _accuracies_by(self._cells, loads)
        return self._accuracies[loads][model, *levels.values()]

    def count(self, model: str, column: str, load: str, level: int) -> int:
        """Return samples or wrong answers of one type at a level of d or N (Tables 4 and 5)."""
        self.require(model, **{load: level})
        if column not in ("samples", *ERRORS):
            raise NotComputableError(f"no column {column} counts answers")
        if load not in self._errors:
            errors = errors_by(self._cells, load).set_index(["model", load])
            self._errors[load] = errors.to_dict("index")
        return int(self._errors[load][model, level][column])

    def fit(self, model: str, quantity: str) -> float:
        """Return a number of Table 2, 3 or 6 by its column's name, such as p_dN."""
        self.require(model)
        if any(model == other for other, _, _ in self._mixed):
            raise NotComputableError(
                f"the fits of {model} rest on cells that the paper does not have"
            )
        return _require_finite(
            self._fits.get((model, quantity)), f"{quantity} of {model}"
        )

    def tokens(self, model: str, quantity: str, N: int, d: int) -> float:
        """Return a mean or 90th percentile of prompt or output tokens (Tables 7 to 10)."""
        self.require(model, N=N, d=d)
        condition = f"{model} at N = {N}, d = {d}"
        if (model, N, d) in self._mixed:
            raise NotComputableError(
                f"the tokens of {condition} rest on cells that the paper does not have"
            )
        numbers = self._tokens.get((model, N, d), {})
        return _require_finite(numbers.get(quantity), f"{quantity} of {condition}")

    def puzzles(self, model: str) -> list[int]:
        """Return the number of puzzles in each of a model's 140 cells."""
        self.require(model)
        return [self._puzzles[model, *cell] for cell in _PAPER_CELLS]

    def require(self, model: str, **levels: float) -> None:
        """Refuse if a cell at these levels does not have the paper's number of puzzles."""
        needed = cells_at(**levels)
        if not needed:
            raise NotComputableError(f"the paper has no cell with {levels}")
        if model not in BY_NAME:
            raise NotComputableError(f"the paper has no model {model!r}")
        if model not in self._gaps:
            self._gaps[model] = self._find_gaps(model)
        if not self._gaps[model].isdisjoint(needed):
            raise NotComputableError("cells without the paper's number of puzzles")

    def _find_gaps(self, model: str) -> set[Cell]:
        """Return the cells of the paper's grid in which a model has another number of puzzles.

        Which ratio lacks a puzzle that is missing in the paper is not printed.
        """
        paper = BY_NAME[model]
        gaps = set()
        for key, cell in _PAPER_CELLS.items():
            lacking = paper.puzzles_per_cell - self._puzzles.get((model, *key), 0)
            if not 0 <= lacking <= paper.missing.count((cell.d, cell.N)):
                gaps.add(cell)
        return gaps


def _accuracies_by(
    cells: pd.DataFrame, loads: tuple[str, ...]
) -> dict[tuple, Fraction]:
    """Return the accuracy by model and levels of some loads, exact fractions."""
    keys = ["model", *loads]
    sums = cells.groupby(keys, observed=True)[["correct", "total"]].sum().reset_index()
    accuracies = {}
    for *key, correct, total in sums.itertuples(index=False, name=None):
        accuracies[tuple(key)] = Fraction(int(correct), int(total))
    return accuracies


@cache
def cells_at(**levels: float) -> tuple[Cell, ...]:
    """Return the cells of the paper's grid at these levels of N, d and ratio_pct."""
    cells = []
    for cell in PAPER_GRID:
        if all(getattr(cell, load) == level for load, level in levels.items()):
            cells.append(cell)
    return tuple(cells)


def _require_finite(number: float | None, name: str) -> float:
    if number is None or not math.isfinite(number):
        raise NotComputableError(f"{name} is not known")
    return float(number)
