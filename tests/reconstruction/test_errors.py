"""Errors by type with the sums of Tables 4 and 5, or a refusal."""

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.models import NAMES
from cogniload_repro.published import ERRORS, load_table
from cogniload_repro.reconstruction.errors import (
    CONDITIONS,
    OF_CONDITION,
    allocate_errors,
    can_allocate,
    overflow_chance,
)
from cogniload_repro.regression.cell_tables import load_cells

pytestmark = pytest.mark.filterwarnings("error")


def committed(model):
    """A model's committed correct answers and its answers, by cell."""
    cells = load_cells()
    of_model = cells[cells["model"] == model]
    return of_model["correct"].to_numpy(), of_model["total"].to_numpy()


def errors_by_condition(model):
    """A model's committed errors by condition."""
    correct, answers = committed(model)
    return (OF_CONDITION @ (answers - correct)).astype(int)


def test_errors_are_allocated_with_exact_sums():
    """Whole numbers with the sums by condition, by d and by N."""
    model = "gpt-5-2025-08-07"
    errors = errors_by_condition(model)
    allocation = allocate_errors(model, errors)
    assert allocation.shape == (20, 5)
    assert allocation.dtype.kind == "i"
    assert (allocation >= 0).all()
    np.testing.assert_array_equal(allocation.sum(axis=1), errors)
    by_type = pd.DataFrame(allocation, columns=ERRORS)
    for table, key in (("table4", "d"), ("table5", "N")):
        sums = by_type.groupby(CONDITIONS.get_level_values(key)).sum()
        printed = load_table(table)
        printed = printed.loc[printed["model"] == model, list(ERRORS)]
        np.testing.assert_array_equal(sums, printed)


def test_gpt5_overflows_most_in_the_longest_and_most_difficult_puzzles():
    """Token lengths decide where context overflows go."""
    model = "gpt-5-2025-08-07"
    allocation = allocate_errors(model, errors_by_condition(model))
    overflows = pd.Series(allocation[:, 0], CONDITIONS)
    assert overflows[250, 10] == overflows.max() > 0


def test_chances_of_an_overflow_are_chances():
    """Positive and at most 1 for all models, also where no token length is legible."""
    for model in NAMES:
        chance = overflow_chance(model)
        assert chance.shape == (20,)
        assert ((chance > 0) & (chance <= 1)).all()


def test_errors_that_do_not_fit_are_refused():
    """One error too many, or errors in conditions that cannot hold them."""
    model = "QwQ-32B"
    errors = errors_by_condition(model)
    more = errors.copy()
    more[3] += 1
    moved = errors.copy()
    moved[0] += 50  # off the sums of its d and its N
    moved[-1] -= 50
    for wrong in (more, moved):
        with pytest.raises(ValueError, match="errors of QwQ-32B cannot be allocated"):
            allocate_errors(model, wrong)


def test_counts_whose_errors_do_not_fit_are_known():
    """The committed counts leave errors that fit; with a correct answer less they do not."""
    correct, answers = committed("QwQ-32B")
    assert can_allocate("QwQ-32B", correct, answers)
    fewer = correct.copy()
    fewer[0] -= 1
    assert not can_allocate("QwQ-32B", fewer, answers)
