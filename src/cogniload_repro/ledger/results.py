"""The tables that a build has computed, and their numbers for the paper's models.

A number is computable only if every cell behind it has the paper's number of puzzles, and the
model no other cells.
"""

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd

from cogniload_repro.grid import CELL, PAPER_GRID, Cell
from cogniload_repro.ledger.precision import Number
from cogniload_repro.models import BY_NAME
from cogniload_repro.regression.cell_tables import load_cells, percent
from cogniload_repro.regression.design import GRID, grid_means, roots_along_rho
from cogniload_repro.regression.fits import PAPER_TERMS
from cogniload_repro.regression.formulas import SYMBOLS
from cogniload_repro.regression.reconstructions import from_printed_tables
from cogniload_repro.storage import ERRORS, FRAMES, TOKENS, read_frame

#: The paper's cells by their values of `CELL`.
_PAPER_CELLS = {(cell.N, cell.d, cell.ratio_pct): cell for cell in PAPER_GRID}
#: The key of the token statistics.
_CONDITION = ["model", "N", "d"]


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
            is_of_paper = frame["model"].isin(BY_NAME)
            frames[name] = frame[is_of_paper]
        return replace(self, **frames)


def load_results(build: str | Path) -> Results:
    """Read the tables of a build folder.

    A ValueError for a missing or damaged file names the target of make that creates it.
    """
    frames = {"cells": load_cells(build)}
    for name, schema in FRAMES.items():
        if name != "cells":
            step = "score" if name == "tokens" else "fit"
            path = Path(build) / f"{name}.parquet"
            frames[name] = read_frame(path, schema, f"create it with `make {step}`")
    return Results(**frames)


class NotComputableError(LookupError):
    """The results do not determine a number."""


class ResultLookup:
    """Numbers of a build's results; `NotComputableError` if cells or a number are missing."""

    def __init__(self, results: Results):
        cells = results.cells[results.cells["total"] > 0]
        keys = cells[CELL].itertuples(index=False, name=None)
        is_of_paper = [key in _PAPER_CELLS for key in keys]
        is_inside = np.array(is_of_paper, dtype=bool)
        self._models = set(cells["model"])
        #: Models with cells outside the paper's grid, which tokens and fits include.
        self._mixed = set(cells.loc[~is_inside, "model"])
        counts = cells[is_inside].groupby(["model", *CELL])
        sums = counts[["total", "correct", *ERRORS]].sum(skipna=False)
        self._counts = sums.to_dict("index")
        self._tokens = results.tokens.set_index(_CONDITION).to_dict("index")
        #: The table of fits, by model, that has a quantity.
        self._fits: dict[str, pd.DataFrame] = {}
        for frame in (results.glm, results.interactions, results.aic):
            by_model = frame.set_index("model")
            self._fits |= dict.fromkeys(frame, by_model)
        self._gaps = {model: self._find_gaps(model) for model in BY_NAME}

    def number(self, model: str, quantity: str, **levels: float) -> Number:
        """Return a quantity of a model by its name, at some levels of N, d and ratio_pct."""
        if quantity in _DERIVED:
            return _DERIVED[quantity](self, model, **levels)
        if quantity in TOKENS.names:
            return self.tokens(model, quantity, **levels)
        if quantity in ERRORS:
            return self.count(model, quantity, **levels)
        return self.fit(model, quantity)

    def accuracy(self, model: str, **levels: float) -> Fraction:
        """Return the accuracy over the cells with these levels of N, d and ratio_pct."""
        correct = self.count(model, "correct", **levels)
        total = self.count(model, "total", **levels)
        return Fraction(correct, total)

    def count(self, model: str, column: str, **levels: float) -> int:
        """Return the number of answers (total), of correct ones, or of errors of one type."""
        self._require(model, **levels)
        count = 0
        for cell in cells_at(**levels):
            counts = self._counts[model, cell.N, cell.d, cell.ratio_pct]
            count += counts[column]
        if math.isnan(count):
            cause = "answers without token counts"
            raise NotComputableError(f"{cause}: their overflows are not known")
        return int(count)

    def fit(self, model: str, quantity: str) -> float:
        """Return a number of Table 2, 3 or 6 by the name of its column, such as p_dN.

        A capacity point that does not exist is NaN.
        """
        self._require(model)
        fits = self._fits[quantity]
        fit = fits.loc[model]
        status = fit["status"]
        if status != "ok":
            raise NotComputableError(f"no fit: {status}")
        number = fit[quantity]
        if quantity.startswith("p_") and math.isnan(number):
            raise NotComputableError(
                "p is not identified: the counts have other sums than the printed ones"
            )
        return number

    def tokens(self, model: str, quantity: str, N: float, d: float) -> float:
        """Return a mean or 90th percentile of prompt or output tokens (Tables 7 to 10)."""
        self._require(model, N=N, d=d)
        condition = (model, N, d)
        statistics = self._tokens.get(condition, {})
        number = statistics.get(quantity, math.nan)
        if math.isnan(number):
            raise NotComputableError(f"{quantity} at N = {N}, d = {d} is missing")
        return number

    def puzzles(self, model: str) -> list[int]:
        """Return the number of puzzles in each of a model's 140 cells."""
        self._require(model)
        return [self._counts[model, *cell]["total"] for cell in _PAPER_CELLS]

    def _require(self, model: str, **levels: float) -> None:
        """Raise NotComputableError unless all cells at these levels have the paper's puzzles."""
        if model not in self._models:
            raise NotComputableError("no outputs of this model")
        if model in self._mixed:
            raise NotComputableError("it has cells that the paper does not have")
        gaps = self._gaps[model]
        if not gaps.isdisjoint(cells_at(**levels)):
            raise NotComputableError("not all cells have the paper's number of puzzles")

    def _find_gaps(self, model: str) -> set[Cell]:
        """Return the cells of the paper's grid in which a model has a different number of puzzles.

        The paper does not say at which needle ratio a missing puzzle is missing: any is allowed.
        """
        paper = BY_NAME[model]
        gaps = set()
        for key, cell in _PAPER_CELLS.items():
            counts = self._counts.get((model, *key), {"total": 0})
            lacking = paper.puzzles_per_cell - counts["total"]
            missing = paper.missing.count((cell.d, cell.N))
            if not 0 <= lacking <= missing:
                gaps.add(cell)
        return gaps


@cache
def cells_at(**levels: float) -> tuple[Cell, ...]:
    """Return the cells of the paper's grid at these levels of N, d and ratio_pct."""
    cells = []
    for cell in PAPER_GRID:
        at_levels = [getattr(cell, load) == levels[load] for load in levels]
        if all(at_levels):
            cells.append(cell)
    return tuple(cells)


def _acc_pct(lookup: ResultLookup, model: str, **levels: float) -> int:
    correct = lookup.count(model, "correct", **levels)
    total = lookup.count(model, "total", **levels)
    return percent(correct, total)


def _smaller_root(lookup: ResultLookup, model: str) -> float:
    coefficients = []
    for term in PAPER_TERMS:
        name = f"beta_{SYMBOLS[term]}"
        beta = lookup.fit(model, name)
        coefficients.append(beta)
    means = grid_means(GRID)
    roots = roots_along_rho(np.array([coefficients]), means)
    return 100 * float(roots[0, 0])


def _most_puzzles(lookup: ResultLookup, model: str) -> int:
    """Return the most common number in a cell, as six of the paper's puzzles are missing."""
    counts = Counter(lookup.puzzles(model))
    [(puzzles, _)] = counts.most_common(1)
    return puzzles


def _aic_change(lookup: ResultLookup, model: str) -> float:
    linear = lookup.fit(model, "aic_linear")
    quadratic = lookup.fit(model, "aic_quadratic")
    return quadratic - linear


def _overflow_pct(lookup: ResultLookup, model: str) -> float:
    overflows = lookup.count(model, "ctx")
    total = lookup.count(model, "total")
    return 100 * overflows / total


#: Quantities that are no column of the results, by name.
_DERIVED: dict[str, Callable[..., Number]] = {
    "accuracy": ResultLookup.accuracy,
    "accuracy_pct": lambda lookup, *at, **levels: (
        100 * float(lookup.accuracy(*at, **levels))
    ),
    "acc_pct": _acc_pct,
    "samples": partial(ResultLookup.count, column="total"),
    "samples_expected": lambda _, model, **levels: (
        BY_NAME[model].puzzles_per_cell * len(cells_at(**levels))
    ),
    "puzzles_per_cell": _most_puzzles,
    "aic_change": _aic_change,
    "smaller_root_pct": _smaller_root,
    "overflow_pct": _overflow_pct,
}
