"""The difference of two accuracies: score intervals, and p-values that invert them."""

import numpy as np
import pytest
from statsmodels.stats.contingency_tables import mcnemar
from statsmodels.stats.proportion import confint_proportions_2indep, proportion_confint

from cogniload_repro.analysis.differences import (
    MARGIN,
    QUANTILE,
    Share,
    compare_paired,
    compare_shares,
    judge_differences,
)
from cogniload_repro.regression.cell_tables import wilson_limits

#: Correct answers and answers of two models: alike, different, without a wrong answer,
#: without a correct one.
COUNTS = [
    *(
        ((7, 10), (30, 90)),
        ((0, 10), (0, 10)),
        ((10, 10), (95, 100)),
        ((10, 10), (0, 20)),
    ),
    *(((0, 6), (2, 21)), ((19, 20), (20, 20)), ((500, 1000), (430, 1000))),
]
#: Table II of Newcombe (1998): counts, and the intervals of Miettinen and Nurminen and
#: of method 10.
NEWCOMBE = [
    (((56, 70), (48, 80)), (0.0524, 0.3339)),
    (((9, 10), (3, 10)), (0.1705, 0.8090)),
    (((5, 56), (0, 29)), (-0.0381, 0.1926)),
    (((0, 10), (0, 20)), (-0.1611, 0.2775)),
    (((10, 10), (0, 10)), (0.6075, 1.0000)),
]


def shares(correct, answers):
    """One accuracy as arrays of one value."""
    return Share(np.array([correct / answers]), np.array([float(answers)]))


def newcombe(one, other):
    """The difference of two independent accuracies."""
    return next(compare_shares(shares(*one), shares(*other)).itertuples(index=False))


@pytest.mark.parametrize(("one", "other"), COUNTS)
def test_a_difference_is_significant_if_and_only_if_its_interval_excludes_zero(
    one, other
):
    """Independent answers, and the same puzzles; one test for each interval."""
    alone = one[0]
    against = other[0]
    paired = compare_paired(alone, against, max(alone + against, one[1]))
    for difference in (newcombe(one, other), paired):
        assert (difference.p < 0.05) == (
            difference.ci_low > 0 or difference.ci_high < 0
        )
        assert difference.ci_low <= difference.difference <= difference.ci_high


@pytest.mark.parametrize(("counts", "interval"), NEWCOMBE)
def test_intervals_are_those_of_newcombes_table(counts, interval):
    """The contrasts that Newcombe printed, the extreme ones included."""
    difference = newcombe(*counts)
    assert (difference.ci_low, difference.ci_high) == pytest.approx(interval, abs=6e-5)


@pytest.mark.parametrize(("one", "other"), COUNTS)
def test_other_programs_give_the_same_numbers(one, other):
    """Intervals and tests are those of statsmodels.

    Newcombe's and Wilson's intervals and McNemar's test.
    """
    difference = newcombe(one, other)
    ends = confint_proportions_2indep(*one, *other, compare="diff", method="newcomb")
    assert (difference.ci_low, difference.ci_high) == pytest.approx(ends)
    low, high = wilson_limits(*shares(*one), QUANTILE)
    assert (low[0], high[0]) == pytest.approx(proportion_confint(*one, 0.05, "wilson"))
    table = [[3, one[0]], [other[0], 4]]
    paired = compare_paired(one[0], other[0], 7 + one[0] + other[0])
    if one[0] + other[0]:
        assert paired.p == pytest.approx(
            mcnemar(table, exact=False, correction=False).pvalue
        )


@pytest.mark.parametrize("share", [0, 1])
def test_answers_that_are_all_alike_show_no_difference(share):
    """A perfect model and one without a correct answer.

    Difference 0, p = 1, an interval around zero.
    """
    for difference in (
        newcombe((50 * share, 50), (100 * share, 100)),
        compare_paired(0, 0, 150),
    ):
        assert (difference.difference, difference.p) == (0, 1)
        assert -0.15 < difference.ci_low < 0 < difference.ci_high < 0.15


@pytest.mark.parametrize(("one", "other"), COUNTS)
def test_models_are_equivalent_if_and_only_if_the_90_percent_interval_lies_within_the_margin(
    one, other
):
    """Two one-sided tests at 5% are an interval of 90%."""
    difference = newcombe(one, other)
    low, high = confint_proportions_2indep(
        *one, *other, compare="diff", method="newcomb", alpha=0.1
    )
    is_equivalent = difference.p_equivalence < 0.05
    assert is_equivalent == (low > -MARGIN and high < MARGIN)
    assert (difference.p_equivalence > 0.5) == (abs(difference.difference) > MARGIN)


def test_no_answers_no_difference():
    """Where one of two accuracies is unknown, nothing is."""
    unknown = Share(np.array([np.nan]), np.array([np.nan]))
    difference = compare_shares(shares(1, 2), unknown)
    assert difference.isna().all(axis=None)


def test_verdicts_take_both_questions():
    """A significant difference is one, however small; without either test nothing is shown."""
    assert judge_differences(0.01, 0.5) == "different"
    assert judge_differences(0.01, 0.01) == "different"
    assert judge_differences(0.5, 0.01) == "equivalent"
    assert judge_differences(0.5, 0.5) == "inconclusive"
