"""Words of verdicts: what each rule says, and that a missing test never counts as a no."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.analysis.verdicts import (
    DEPENDS,
    NOT_SUPPORTED,
    PARTLY,
    SUPPORTED,
    UNKNOWN,
    all_parts,
    counted,
    each,
    most,
    no_effect,
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
    words = [
        most([True] * k + [False] * m, [False] * k + [True] * m).word for k, m in pairs
    ]
    assert words == [SUPPORTED, PARTLY, PARTLY, NOT_SUPPORTED]


def test_no_effect_is_refuted_only_by_one_that_survives_the_overflows():
    """None found is support; one that overflows may explain leaves the statement open."""
    assert no_effect([]).word == SUPPORTED
    assert no_effect([False, False]).word == DEPENDS
    assert no_effect([False, True]).word == NOT_SUPPORTED


def test_a_statement_of_several_parts_needs_all_of_them():
    """All, some and none of its parts; a part without a test leaves it untested."""
    yes = each([True])
    no = each([False])
    assert all_parts(fall=yes, rise=yes).word == SUPPORTED
    assert all_parts(fall=yes, rise=no).word == PARTLY
    assert all_parts(fall=no, rise=no).word == NOT_SUPPORTED
    assert all_parts(fall=yes, rise=each([None])).word == UNKNOWN


@given(TESTS, st.integers(1, 5))
def test_a_missing_test_is_unknown(holds, missing):
    """More missing tests never take support away to none, and never make it whole."""
    more = [*holds, *[None] * missing]
    assert each(more).word != SUPPORTED
    assert (each(more).word == NOT_SUPPORTED) == (each(holds).word == NOT_SUPPORTED)
    assert (
        each([None] * missing).word
        == most([None] * missing, [None] * missing).word
        == UNKNOWN
    )
    assert single(None).word == UNKNOWN
