"""Accuracies of models over the cells that they share, with the precision of their means."""

import numpy as np
import pytest
from samples import fit_quadratics

from cogniload_repro.analysis.accuracies import (
    mean_shares,
    tabulate_accuracies,
)
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.regression.design import GRID
from cogniload_repro.regression.identification import is_mean_identified
from cogniload_repro.regression.reconstructions import each_reconstruction

CELLS = load_cells()
PAIR = CELLS[CELLS["model"].isin(["QwQ-32B", "Qwen3-8B"])]


def overall(layout):
    """The mean accuracy of every model over all cells."""
    models = np.arange(len(layout.models))
    return mean_shares(layout, models, np.ones_like(layout.accuracy, bool))


def test_where_the_fit_meets_the_mean_the_variance_is_that_of_the_strata():
    """Over the whole grid a fit has the observed mean.

    The variance is the sum over cells of p (1 - p) / n.
    """
    share = overall(tabulate_accuracies(PAIR))
    variance = share.mean * (1 - share.mean) / share.answers
    parts = []
    for quadratic in fit_quadratics(PAIR):
        accuracy = quadratic.fit.accuracy
        parts.append(accuracy * (1 - accuracy) / quadratic.n)
    assert variance == pytest.approx(
        [part.sum() / len(part) ** 2 for part in parts], rel=1e-6
    )
    assert (
        share.answers > 14_000
    ).all()  # more precise than as many answers to puzzles of one kind


@pytest.mark.parametrize("correct", [0, 2, 5, 18])
def test_few_answers_have_the_precision_of_as_many_independent_ones(correct):
    """With 18 answers, five coefficients fit too well to say how precise their mean is."""
    rows = GRID.query("N in (20, 50) and d in (1, 3, 5) and ratio_pct in (5, 50, 95)")
    right = np.arange(len(rows)) < correct
    cells = rows.assign(model="mine", total=1, correct=right.astype(int))
    share = overall(tabulate_accuracies(cells))
    assert share.mean[0] == pytest.approx(correct / 18)
    assert share.answers[0] == pytest.approx(18)


@pytest.mark.parametrize(("correct", "is_fitted"), [(49, False), (50, True)])
def test_a_fit_needs_ten_answers_of_each_kind_for_a_coefficient(correct, is_fitted):
    """With fewer, the mean is as precise as one of independent answers."""
    noise = np.random.default_rng(1).normal(0, 1, len(GRID))
    is_easy = np.argsort(np.argsort(np.log10(GRID["N"]) + noise)) < correct
    cells = GRID.assign(model="mine", total=1, correct=is_easy.astype(int))
    share = overall(tabulate_accuracies(cells))
    assert (share.answers[0] > 141) == is_fitted


def test_counts_of_another_reconstruction_change_no_variance():
    """Expected accuracies are identified, and so is the mean over the whole grid.

    Single cells are not.
    """
    layout = tabulate_accuracies(PAIR)
    other = layout.with_counts(list(each_reconstruction(PAIR))[7])
    assert overall(other).mean == pytest.approx(overall(layout).mean)
    assert overall(other).answers == pytest.approx(overall(layout).answers)
    assert np.abs(other.accuracy - layout.accuracy).max() > 0.02


@pytest.mark.parametrize(
    ("cells", "identified"),
    [
        (GRID, True),
        (GRID.query("N <= 100"), True),
        (GRID.query("d == 3"), True),
        (GRID.query("ratio_pct == 5"), False),
        (GRID.query("N == 20 and d == 1"), False),
        (GRID.head(1), False),
    ],
    ids=[
        "all",
        "three lengths",
        "one d",
        "one ratio",
        "one d at one length",
        "one cell",
    ],
)
def test_the_printed_tables_fix_means_over_whole_levels_of_length_and_difficulty(
    cells, identified
):
    """Tables 4 and 5 are marginals: of a part of a level they fix no mean."""
    assert is_mean_identified(cells) == identified
