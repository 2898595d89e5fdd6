"""Words of verdicts: what each rule says, and that a missing test never counts as a no."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.robustness.verdicts import (
    NOT_SUPPORTED,
    PARTLY,
    SUPPORTED,
    UNKNOWN,
    counted,
    each,
    most,
    single,
)

TESTS = st.lists(st.sampled_from([True, False, None, float("nan")]), max_size=30)


@pytest.mark.parametrize(
    ("holds", "word"),
    [
        ([True, True], SUPPORTED),
        ([True, False], PARTLY),
        ([False], NOT_SUPPORTED),
        ([np.nan], UNKNOWN),
        ([], UNKNOWN),
    ],
)
def test_every_x_is_y(holds, word):
    """All, some, none, and nothing known."""
    assert each(holds).word == word


def test_a_stated_number_must_be_met():
    """The number itself, another one, none."""
    assert [counted([True] * k + [False] * (5 - k), 3).word for k in (3, 4, 0)] == [
        SUPPORTED,
        PARTLY,
        NOT_SUPPORTED,
    ]
    assert counted([True] * 3 + [None], 3).word == PARTLY


def test_most_models_is_a_sign_test():
    """Significantly more, not significantly more, as many, and fewer agree than disagree."""
    pairs = ((10, 0), (3, 2), (2, 2), (2, 3))
    words = [most([True] * k + [False] * m, [False] * k + [True] * m).word for k, m in pairs]
    assert words == [SUPPORTED, PARTLY, PARTLY, NOT_SUPPORTED]


@given(TESTS, st.integers(1, 5))
def test_a_missing_test_is_unknown(holds, missing):
    """More missing tests never take support away to none, and never make it whole."""
    more = [*holds, *[None] * missing]
    assert each(more).word != SUPPORTED
    assert (each(more).word == NOT_SUPPORTED) == (each(holds).word == NOT_SUPPORTED)
    assert each([None] * missing).word == most([None] * missing, [None] * missing).word == UNKNOWN
    assert single(None).word == UNKNOWN
