"""Accuracies of models over the cells that they share, with the precision of their means.

The mean over cells has the variance of a stratified design, with the accuracies that the paper's
regression fits. The printed tables identify it, and where the regression misses it is too large
rather than too small.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from cogniload_repro.analysis.differences import Share
from cogniload_repro.analysis.uncertainty import fit_quadratics
from cogniload_repro.grid import CELL
from cogniload_repro.regression.design import GRID
from cogniload_repro.regression.identification import in_span

#: Correct and wrong answers per coefficient from which a regression's accuracies count
#: (Peduzzi and others, 1996, Journal of Clinical Epidemiology 49).
EVENTS_PER_TERM = 10


class AccuracyTable(NamedTuple):
    """Accuracy, expected accuracy and answers by model and cell, shape (models, cells).

    All three are 0 where a model has no answers. `cells` has the loads and the perturbation.
    """

    models: tuple[str, ...]
    cells: pd.DataFrame
    accuracy: np.ndarray
    expected: np.ndarray
    answers: np.ndarray

    def with_counts(self, cells: pd.DataFrame) -> "AccuracyTable":
        """Return the same with the correct answers of another table of these cells."""
        correct = _tabulate(cells, "correct", self)
        return self._replace(accuracy=correct / np.maximum(self.answers, 1))


def tabulate_accuracies(cells: pd.DataFrame) -> AccuracyTable:
    """Return the accuracies of models over all cells that any of them has.

    Expected accuracies are those of the paper's regression. A model with too few answers for it
    (`EVENTS_PER_TERM`), or without a finite fit, has its overall accuracy everywhere, and with it
    the variance of a simple random sample. Perturbed prompts are other cells.
    """
    cells = _mark_conditions(cells[cells["total"] > 0])
    keys = [*CELL, "perturbation"]
    columns = cells[keys].drop_duplicates().sort_values(keys, ignore_index=True)
    models = tuple(cells["model"].unique())
    nothing = np.zeros((len(models), len(columns)))
    layout = AccuracyTable(models, columns, nothing, nothing, nothing)
    answers = _tabulate(cells, "total", layout)
    weighted = cells.assign(expected=_expected_accuracies(cells) * cells["total"])
    expected = _tabulate(weighted, "expected", layout) / np.maximum(answers, 1)
    return layout._replace(answers=answers, expected=expected).with_counts(cells)


def _mark_conditions(cells: pd.DataFrame) -> pd.DataFrame:
    """Return cells with a perturbation in each row, empty for none."""
    condition = cells["perturbation"].fillna("") if "perturbation" in cells else ""
    return cells.assign(model=cells["model"].astype(str), perturbation=condition)


def _expected_accuracies(cells: pd.DataFrame) -> pd.Series:
    """Return the expected accuracy of each row."""
    sums = cells.groupby("model")[["correct", "total"]].transform("sum")
    expected = (sums["correct"] + 0.5) / (sums["total"] + 1)
    for quadratic in fit_quadratics(cells):
        correct = quadratic.k.sum()
        wrong = quadratic.n.sum() - correct
        if min(correct, wrong) >= EVENTS_PER_TERM * quadratic.x.shape[1]:
            expected[cells["model"] == quadratic.model] = quadratic.accuracy
    return expected


def _tabulate(cells: pd.DataFrame, column: str, layout: AccuracyTable) -> np.ndarray:
    """Return the sums of a column by model and cell of a layout."""
    cells = _mark_conditions(cells)
    models = pd.Index(layout.models).get_indexer(cells["model"])
    columns = pd.MultiIndex.from_frame(layout.cells)
    places = columns.get_indexer(pd.MultiIndex.from_frame(cells[list(layout.cells)]))
    known = places >= 0
    sums = np.zeros((len(layout.models), len(layout.cells)))
    np.add.at(
        sums, (models[known], places[known]), cells[column].to_numpy(float)[known]
    )
    return sums


def mean_shares(layout: AccuracyTable, models: np.ndarray, masks: np.ndarray) -> Share:
    """Return the mean accuracy of models, by place, each over the cells of its mask.

    Each cell has the same weight. The answers are as many as would have the variance of the mean,
    were all in one cell. Where the fit misses the observed mean by so much that its variance would
    be too small, the variance is that of the observed mean.
    """
    cells = np.where(masks.any(axis=1), masks.sum(axis=1), np.nan)  # no cells, no mean
    spread = layout.expected * (1 - layout.expected)
    variances = spread / np.maximum(layout.answers, 1)
    mean = (layout.accuracy[models] * masks).sum(axis=1) / cells
    fitted_mean = (layout.expected[models] * masks).sum(axis=1) / cells
    within = (spread[models] * masks).sum(axis=1) / cells
    variance = (variances[models] * masks).sum(axis=1) / cells**2
    observed = mean * (1 - mean)
    fitted = fitted_mean * (1 - fitted_mean)
    variance = variance * np.maximum(1, (observed - fitted + within) / within)
    return Share(mean, np.maximum(observed, fitted) / variance)


def is_mean_identified(cells: pd.DataFrame) -> bool:
    """Return whether the printed tables fix a mean accuracy over some cells of the grid."""
    inside = pd.MultiIndex.from_frame(cells[CELL].astype(float))
    grid = pd.MultiIndex.from_frame(GRID[CELL].astype(float))
    return in_span(grid.isin(inside)[:, None].astype(float))
