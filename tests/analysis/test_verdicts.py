"""Words of verdicts: what each rule says, and that a missing test never counts as a no."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.analysis.verdicts import (
    AGREES,
    DEPENDS,
    DISAGREES,
    NOT_SUPPORTED,
    OPEN,
    PARTLY,
    SUPPORTED,
    UNKNOWN,
    all_parts,
    counted,
    each,
    effect,
    most,
    no_effect,
    resting_on,
    single,
    without_assumption,
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


def test_a_stated_number_agrees_or_does_not():
    """The number itself, another one, none; a missing test leaves it unknown."""
    words = [counted([True] * k + [False] * (5 - k), 3).word for k in (3, 4, 0)]
    assert words == [AGREES, DISAGREES, DISAGREES]
    assert counted([True] * 3 + [None], 3).word == UNKNOWN


@pytest.mark.parametrize(
    ("agree", "disagree", "of", "word"),
    [
        (12, 10, 22, SUPPORTED),  # more than half
        (10, 0, 22, SUPPORTED),  # sign test
        (11, 7, 22, PARTLY),
        (2, 2, 22, PARTLY),
        (2, 3, 22, NOT_SUPPORTED),
        (0, 0, 22, NOT_SUPPORTED),
    ],
)
def test_most_models_agree(agree, disagree, of, word):
    """More than half, significantly more, not significantly more, as many, fewer, none."""
    agreeing = [True] * agree + [False] * (of - agree)
    disagreeing = [False] * agree + [True] * disagree
    disagreeing += [False] * (of - agree - disagree)
    assert most(agreeing, disagreeing).word == word


def test_parts_that_rest_on_another_mean_nothing_without_it():
    """The main part alone is support in part; the others alone are none."""
    assert resting_on(True, True).word == SUPPORTED
    assert resting_on(True, False).word == PARTLY
    assert resting_on(False, True).word == NOT_SUPPORTED
    assert resting_on(None, True).word == UNKNOWN


@pytest.mark.parametrize(
    ("found", "finished", "word"),
    [
        ([True, True], [True, True], SUPPORTED),
        ([True, True], [True, False], PARTLY),
        ([True, False], [False, True], DEPENDS),
        ([False, False], [True, True], NOT_SUPPORTED),
    ],
)
def test_an_effect_must_be_there_both_ways(found, finished, word):
    """With overflows as failures and among finished answers, level by level."""
    assert effect(found, finished).word == word


def test_what_only_an_assumption_shows_is_left_open():
    """A test without it decides where it can; where neither shows anything, there is nothing."""
    yes = single(True)
    no = single(False)
    assert without_assumption(yes, no).word == SUPPORTED
    assert without_assumption(no, yes).word == OPEN
    assert without_assumption(no, no).word == NOT_SUPPORTED


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
