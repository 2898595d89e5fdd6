"""Mean accuracies of models over the cells that they share, and the variances of these means.

Each cell has the same weight, so a mean over C cells has the variance of a stratified sample: the
sum over the cells of p (1 - p) / answers, divided by C^2. p is the accuracy fitted by the paper's
regression, which the printed tables identify.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from cogniload_repro.analysis.differences import Share
from cogniload_repro.grid import CELL
from cogniload_repro.regression.glm import fit_finite

#: Fewest correct, and fewest wrong, answers per coefficient for fitted accuracies to be used
#: (Peduzzi and others, 1996, Journal of Clinical Epidemiology 49).
EVENTS_PER_TERM = 10


class AccuracyTable(NamedTuple):
    """Observed accuracy, fitted accuracy and answers by model and cell, shape (models, cells).

    All three are 0 in cells without answers. `cells` has the loads of each cell.
    """

    models: tuple[str, ...]
    cells: pd.DataFrame
    accuracy: np.ndarray
    expected: np.ndarray
    answers: np.ndarray

    def with_counts(self, cells: pd.DataFrame) -> "AccuracyTable":
        """Return the table with accuracies from other counts of correct answers, same totals."""
        correct = _sum_by_cell(cells, "correct", self.models, self.cells)
        accuracy = correct / np.maximum(self.answers, 1)
        return self._replace(accuracy=accuracy)


def tabulate_accuracies(cells: pd.DataFrame) -> AccuracyTable:
    """Return the accuracies of models over all cells in which any of them has answers.

    Expected accuracies are those fitted by the paper's regression. A model with too few answers
    for it (`EVENTS_PER_TERM`), or without a finite fit, has its overall accuracy in every cell,
    as if the answers were a simple random sample.
    """
    answered = _take_answered(cells)
    columns = answered[CELL].drop_duplicates()
    columns = columns.sort_values(CELL, ignore_index=True)
    models = tuple(answered["model"].unique())
    answers = _sum_by_cell(answered, "total", models, columns)
    fitted_counts = _expected_accuracies(answered) * answered["total"]
    fitted = answered.assign(correct=fitted_counts)
    table = AccuracyTable(
        models=models,
        cells=columns,
        accuracy=np.zeros_like(answers),
        expected=np.zeros_like(answers),
        answers=answers,
    )
    expected = table.with_counts(fitted).accuracy
    return table.with_counts(answered)._replace(expected=expected)


def _take_answered(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with answers."""
    answered = cells[cells["total"] > 0]
    return answered.assign(model=answered["model"].astype(str))


def _expected_accuracies(cells: pd.DataFrame) -> pd.Series:
    """Return the fitted accuracy of each row, or the model's overall one if no fit is usable."""
    sums = cells.groupby("model")[["correct", "total"]].transform("sum")
    expected = (sums["correct"] + 0.5) / (sums["total"] + 1)
    for fit in fit_finite(cells):
        correct = fit.correct.sum()
        wrong = fit.total - correct
        if min(correct, wrong) >= EVENTS_PER_TERM * fit.df:
            expected[fit.cells.index] = fit.accuracy
    return expected


def _sum_by_cell(
    cells: pd.DataFrame,
    column: str,
    models: tuple[str, ...],
    columns: pd.DataFrame,
) -> np.ndarray:
    """Return the sums of a column by model and cell, shape (models, columns)."""
    named = _take_answered(cells)
    rows = pd.Index(models).get_indexer(named["model"])
    keys = named.set_index(CELL).index
    places = columns.set_index(CELL).index.get_indexer(keys)
    sums = np.zeros((len(models), len(columns)))
    np.add.at(sums, (rows, places), named[column].to_numpy(float))
    return sums


def mean_shares(
    table: AccuracyTable,
    models: np.ndarray,
    masks: np.ndarray,
) -> Share:
    """Return mean accuracies of models over masked cells, with their effective sample sizes.

    The effective sample size is the number of answers in a single cell whose binomial variance
    would be the variance of the mean. If m (1 - m) is larger for the observed mean m than for the
    fitted one, the variance is scaled up as if the mean p (1 - p) within cells were larger by the
    difference.

    Parameters
    ----------
    table : AccuracyTable
    models : array of int, shape (means,)
        Indices of models in the table.
    masks : array of bool, shape (means, cells)
        The cells of each mean. A mean over no cells is NaN.
    """
    cells = masks.sum(axis=1)
    cells = np.where(cells > 0, cells, np.nan)

    def average(values: np.ndarray) -> np.ndarray:
        """Return the mean of a model's values over the cells of each mask."""
        sums = (values[models] * masks).sum(axis=1)
        return sums / cells

    binomial = table.expected * (1 - table.expected)
    of_cell = binomial / np.maximum(table.answers, 1)
    mean = average(table.accuracy)
    fitted_mean = average(table.expected)
    within = average(binomial)
    variance = average(of_cell) / cells

    observed = mean * (1 - mean)
    fitted = fitted_mean * (1 - fitted_mean)
    excess = np.maximum(observed - fitted, 0)
    variance = variance * (1 + excess / within)
    return Share(mean, np.maximum(observed, fitted) / variance)
