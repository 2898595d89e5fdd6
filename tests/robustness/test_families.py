"""Families of tests, against another program."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from statsmodels.stats.multitest import multipletests

from cogniload_repro.robustness.families import correct_holm, correct_within


@settings(max_examples=12, deadline=None)  # the library collects garbage at each call
@given(st.lists(st.floats(0, 1), min_size=1, max_size=30))
def test_holm_is_that_of_statsmodels(p):
    """Corrected p-values are those of the library, in the order that they came in."""
    assert correct_holm(p) == pytest.approx(multipletests(p, method="holm")[1])


def test_unknown_values_do_not_count():
    """A test that could not be made neither is corrected nor makes the others stricter."""
    corrected = correct_holm([0.01, np.nan, 0.04])
    assert corrected[[0, 2]] == pytest.approx([0.02, 0.04])
    assert np.isnan(corrected[1])
    assert len(correct_holm([])) == 0


def test_families_are_corrected_apart():
    """A p-value is corrected for its own family, wherever its rows stand."""
    table = pd.DataFrame({"term": ["a", "b", "a"], "p": [0.02, 0.02, 0.5]})
    assert correct_within(table, ["term"]) == pytest.approx([0.04, 0.02, 0.5])
