"""What the prose says along rho, as bounds on counts."""

from fractions import Fraction

import numpy as np
import pytest

from cogniload_repro.models import NAMES
from cogniload_repro.published import ABOUT_NONE, correct_by
from cogniload_repro.reconstruction.prose import (
    PROSE_RATIOS,
    STRONGEST,
    curve_range,
    prose_along_rho,
    prose_windows,
)
from cogniload_repro.regression.design import GRID

pytestmark = pytest.mark.filterwarnings("error")


def pair_claims(per_cell):
    """Claims along rho, each with its window for so many answers per cell."""
    answers = np.full(140, float(per_cell))
    for model in NAMES:
        claims = list(prose_along_rho(model).itertuples())
        windows = prose_windows(model, answers)[: len(claims)]  # those of curves follow
        yield from zip(claims, windows, strict=True)


@pytest.mark.parametrize(
    ("sign", "lowest", "highest"),
    [
        (">0", 0, 1),
        ("<0", -1, 0),
        ("~0", -ABOUT_NONE, ABOUT_NONE),
    ],
)
def test_a_sign_is_a_range_of_differences(sign, lowest, highest):
    """A difference of the two ends lies on its side of zero; "about none" is near zero."""
    windows = [window for claim, window in pair_claims(10) if claim.value == sign]
    assert windows
    for window in windows:
        low = window.lowest / 10
        high = window.highest / 10
        assert lowest <= low <= lowest + 0.0011
        assert highest - 0.0011 <= high <= highest


def test_a_difference_is_that_of_the_two_ends():
    """Accuracies of 0.8 at 5% and 0.3 at 95% differ by 0.5, over all cells or those of one d."""
    accuracy = GRID["ratio_pct"].map({5: 0.8, 95: 0.3}).fillna(0.1)
    for claim, window in pair_claims(10):
        if claim.rho not in PROSE_RATIOS:
            assert window.weights @ (10 * accuracy) == pytest.approx(10 * 0.5)
            if claim.d:
                levels = GRID.loc[window.weights != 0, "d"].unique()
                assert claim.d == str(levels.item())


@pytest.mark.parametrize("per_cell", [10, 100])
def test_a_stated_accuracy_is_every_count_that_prints_it(per_cell):
    """The bounds hold the whole numbers that Python prints as the accuracy, and no others."""
    total = 20 * per_cell
    for claim, window in pair_claims(per_cell):
        if claim.rho in PROSE_RATIOS:
            is_cell = GRID["ratio_pct"] == PROSE_RATIOS[claim.rho]
            np.testing.assert_array_equal(window.weights, is_cell)
            allowed = set()
            for correct in range(total + 1):
                is_inside = window.lowest <= correct <= window.highest
                assert is_inside == (f"{correct / total:.2f}" == claim.value)
                if is_inside:
                    allowed.add(Fraction(correct, total) - Fraction(claim.value))
            assert max(map(abs, allowed)) <= Fraction(1, 200)


def test_curves_of_the_strongest_stay_as_near_the_stated_range_as_table_5_lets_them():
    """Of 50 puzzles 0.93 to 0.97 is 47 or 48; gpt-5 needs one more at some ratio, o3 one less."""
    table5 = correct_by("table5").set_index(["model", "N"])["correct"]
    gpt5, o3 = STRONGEST
    assert 7 * 48 < table5[gpt5, 100] <= 7 * 49
    assert 7 * 46 <= table5[o3, 100] < 7 * 47
    assert curve_range(gpt5) == (47, 49)
    assert curve_range(o3) == (46, 48)
