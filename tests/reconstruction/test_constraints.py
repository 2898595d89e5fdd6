"""What the prose says along rho, as bounds on counts; error buckets with the sums of Tables 4 and 5, or a refusal."""

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.models import NAMES
from cogniload_repro.published import ABOUT_NONE, ERRORS, correct_by, load_table
from cogniload_repro.reconstruction.constraints import (
    CONDITIONS,
    OF_CONDITION,
    PROSE_RATIOS,
    STRONGEST,
    can_allocate,
    curve_range,
    prose_along_rho,
    prose_windows,
)
from cogniload_repro.reconstruction.reconstruct import allocate_errors, load_counts
from cogniload_repro.statistics.design import GRID

pytestmark = pytest.mark.filterwarnings("error")


def window_of(sign: str) -> tuple[float, float]:
    """Bounds, in accuracy, of the first claim with a sign."""
    for model in NAMES:
        for claim, window in zip(
            prose_along_rho(model).itertuples(),
            prose_windows(model, np.full(140, 10.0)),
            strict=False,
        ):
            if claim.value == sign:
                return window.lowest / 10, window.highest / 10
    raise AssertionError(f"no claim says {sign}")


@pytest.mark.parametrize(
    ("sign", "low", "high"), [(">0", 0, 1), ("<0", -1, 0), ("~0", -ABOUT_NONE, ABOUT_NONE)]
)
def test_a_sign_is_a_range_of_differences(sign, low, high):
    """A difference of the two ends lies on its side of zero, and "about none" within the stated distance."""
    found = window_of(sign)
    assert found == pytest.approx((low, high), abs=0.0011)
    assert low <= found[0] < found[1] <= high


@pytest.mark.parametrize("puzzles", [10, 100])
def test_a_stated_accuracy_is_every_count_that_prints_it(puzzles):
    """The bounds of an accuracy hold the whole numbers that Python prints as it does, and no others."""
    n = np.full(140, float(puzzles))
    for model in NAMES:
        claims = prose_along_rho(model)
        for claim, window in zip(claims.itertuples(), prose_windows(model, n), strict=False):
            if claim.condition not in PROSE_RATIOS:
                continue
            inside = (GRID["ratio_pct"] == PROSE_RATIOS[claim.condition]).to_numpy()
            np.testing.assert_array_equal(window.weights, inside)
            total = 20 * puzzles
            allowed = {k for k in range(total + 1) if window.lowest <= k <= window.highest}
            assert allowed == {k for k in range(total + 1) if f"{k / total:.2f}" == claim.value}
            assert all(
                abs(Fraction(k, total) - Fraction(claim.value)) <= Fraction(1, 200) for k in allowed
            )


def test_curves_of_the_strongest_stay_as_near_the_stated_range_as_table_5_lets_them():
    """Of 50 puzzles 0.93 to 0.97 is 47 or 48; the sums of seven ratios need one more for gpt-5, one less for o3."""
    sums = correct_by("table5").set_index(["model", "N"])["correct"]
    gpt5, o3 = STRONGEST
    assert 7 * 48 < sums[gpt5, 100] <= 7 * 49
    assert 7 * 46 <= sums[o3, 100] < 7 * 47
    assert (curve_range(gpt5), curve_range(o3)) == ((47, 49), (46, 48))
    for model in STRONGEST:
        own = (
            load_counts()
            .query("model == @model and N == 100")
            .groupby("ratio_pct")["correct"]
            .sum()
        )
        low, high = curve_range(model)
        assert own.between(low, high).all()
        assert len(own) == 7


def errors_of(model):
    """Return a model's committed errors by condition, with its correct answers and its answers by cell."""
    own = load_counts().query("model == @model")
    n, correct = own["total"].to_numpy(), own["correct"].to_numpy()
    return (OF_CONDITION @ (n - correct)).astype(int), correct, n


def test_errors_are_spread_with_exact_sums():
    """Whole numbers with the sums by condition, by d and by N; gpt-5 overflows most at N = 250 and d = 10."""
    model = "gpt-5-2025-08-07"
    errors, _, _ = errors_of(model)
    spread = allocate_errors(model, errors)
    ctx = dict(zip(CONDITIONS, spread[:, 0], strict=True))
    assert ctx[250, 10] == max(ctx.values()) > 0
    assert spread.shape == (20, 5)
    assert spread.dtype.kind == "i"
    assert (spread >= 0).all()
    np.testing.assert_array_equal(spread.sum(axis=1), errors)
    for table, key in (("table4", "d"), ("table5", "N")):
        sums = pd.DataFrame(spread, columns=ERRORS).groupby(CONDITIONS.get_level_values(key)).sum()
        np.testing.assert_array_equal(
            sums, load_table(table).query("model == @model")[list(ERRORS)]
        )


def test_errors_that_do_not_fit_are_refused():
    """One error too many, or all errors in conditions that cannot hold them, are refused with the model's name."""
    model = "QwQ-32B"
    errors, correct, n = errors_of(model)
    assert can_allocate(model, correct, n)
    moved = errors.copy()
    moved[0] += 50  # off the sums of its d and its N
    moved[-1] -= 50
    for wrong in (errors + np.eye(20, dtype=int)[3], moved):
        with pytest.raises(ValueError, match="errors of QwQ-32B cannot be allocated"):
            allocate_errors(model, wrong)
    fewer = correct.copy()
    fewer[0] -= 1
    assert not can_allocate(model, fewer, n)
