"""Mean accuracies of models over the cells that they share, and how precise these means are.

Each cell has the same weight, so that the variance of a mean is that of a stratified sample: the
sum over the cells of p (1 - p) / answers. For p stand the accuracies of the paper's regression,
which the printed tables identify.
"""

from typing import NamedTuple

import numpy as np
import pandas as pd

from cogniload_repro.analysis.differences import Share, compare_shares
from cogniload_repro.analysis.uncertainty import fit_quadratics
from cogniload_repro.grid import CELL
from cogniload_repro.regression.design import GRID
from cogniload_repro.regression.identification import in_span

#: Correct and wrong answers per coefficient from which a regression's accuracies count
#: (Peduzzi and others, 1996, Journal of Clinical Epidemiology 49).
EVENTS_PER_TERM = 10
_KEYS_OF_CELL = [*CELL, "perturbation"]


class AccuracyTable(NamedTuple):
    """Observed accuracy, fitted accuracy and answers by model and cell, shape (models, cells).

    All three are 0 where a model has no answers. `cells` has the loads and the perturbation.
    """

    models: tuple[str, ...]
    cells: pd.DataFrame
    accuracy: np.ndarray
    expected: np.ndarray
    answers: np.ndarray

    def with_counts(self, cells: pd.DataFrame) -> "AccuracyTable":
        """Return the table with the correct answers of another table of the same cells."""
        correct = _sum_by_cell(cells, "correct", self.models, self.cells)
        return self._replace(accuracy=correct / np.maximum(self.answers, 1))


def tabulate_accuracies(cells: pd.DataFrame) -> AccuracyTable:
    """Return the accuracies of models over all cells in which any of them has answers.

    Expected accuracies are those of the paper's regression. A model with too few answers for it
    (`EVENTS_PER_TERM`), or without a finite fit, has its overall accuracy in every cell, so that
    its mean has the variance of a simple random sample. A cell with another perturbation of the
    prompts is another cell.
    """
    answered = _name_perturbations(cells[cells["total"] > 0])
    columns = answered[_KEYS_OF_CELL].drop_duplicates()
    columns = columns.sort_values(_KEYS_OF_CELL, ignore_index=True)
    models = tuple(answered["model"].unique())
    answers = _sum_by_cell(answered, "total", models, columns)
    fitted = answered.assign(
        expected=_expected_accuracies(answered) * answered["total"]
    )
    expected = _sum_by_cell(fitted, "expected", models, columns)
    expected = expected / np.maximum(answers, 1)
    table = AccuracyTable(models, columns, np.zeros_like(answers), expected, answers)
    return table.with_counts(answered)


def _name_perturbations(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with a column perturbation, empty where prompts were not perturbed."""
    perturbation = cells["perturbation"].fillna("") if "perturbation" in cells else ""
    return cells.assign(model=cells["model"].astype(str), perturbation=perturbation)


def _expected_accuracies(cells: pd.DataFrame) -> pd.Series:
    """Return for each row the fitted accuracy, or the model's overall one where no fit counts."""
    sums = cells.groupby("model")[["correct", "total"]].transform("sum")
    expected = (sums["correct"] + 0.5) / (sums["total"] + 1)
    for quadratic in fit_quadratics(cells):
        correct = quadratic.k.sum()
        wrong = quadratic.n.sum() - correct
        coefficients = quadratic.x.shape[1]
        if min(correct, wrong) >= EVENTS_PER_TERM * coefficients:
            expected[cells["model"] == quadratic.model] = quadratic.fit.accuracy
    return expected


def _sum_by_cell(
    cells: pd.DataFrame, column: str, models: tuple[str, ...], columns: pd.DataFrame
) -> np.ndarray:
    """Return the sums of a column by model and cell, shape (models, columns)."""
    keys = pd.MultiIndex.from_frame(columns)
    named = _name_perturbations(cells)
    by_cell = named.pivot_table(column, _KEYS_OF_CELL, "model", aggfunc="sum")
    by_cell = by_cell.reindex(index=keys, columns=models)
    return by_cell.fillna(0).to_numpy(float).T


def mean_shares(table: AccuracyTable, models: np.ndarray, masks: np.ndarray) -> Share:
    """Return mean accuracies of models, each over the cells of a mask.

    The answers of the share are as many as would have the variance of the mean, were all in one
    cell. Where the fit misses the observed mean by so much that its variance would be too small,
    the variance is that of the observed mean.

    Parameters
    ----------
    table : AccuracyTable
    models : array of int, shape (means,)
        Places of models in the table.
    masks : array of bool, shape (means, cells)
        The cells of each mean. NaN is the mean over none.
    """
    cells = np.where(masks.any(axis=1), masks.sum(axis=1), np.nan)
    binomial = table.expected * (1 - table.expected)
    of_cell = binomial / np.maximum(table.answers, 1)

    mean = (table.accuracy[models] * masks).sum(axis=1) / cells
    fitted_mean = (table.expected[models] * masks).sum(axis=1) / cells
    within = (binomial[models] * masks).sum(axis=1) / cells
    variance = (of_cell[models] * masks).sum(axis=1) / cells**2

    observed = mean * (1 - mean)
    fitted = fitted_mean * (1 - fitted_mean)
    variance = variance * np.maximum(1, (observed - fitted + within) / within)
    return Share(mean, np.maximum(observed, fitted) / variance)


def compare_means(
    table: AccuracyTable,
    first: np.ndarray,
    second: np.ndarray,
    masks: np.ndarray,
    margin: float,
) -> pd.DataFrame:
    """Return a `Difference` of mean accuracies for each pair of models, as places in the table.

    ``masks``, shape (pairs, cells), has the cells over which each pair is compared.
    """
    first_means = mean_shares(table, first, masks)
    second_means = mean_shares(table, second, masks)
    return compare_shares(first_means, second_means, margin)


def is_mean_identified(cells: pd.DataFrame) -> bool:
    """Return whether the printed tables fix the mean accuracy over some cells of the grid."""
    chosen = pd.MultiIndex.from_frame(cells[CELL].astype(float))
    grid = pd.MultiIndex.from_frame(GRID[CELL].astype(float))
    return in_span(grid.isin(chosen)[:, None].astype(float))
