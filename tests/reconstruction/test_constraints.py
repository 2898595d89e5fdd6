"""What the prose says along rho, as bounds on counts."""

import numpy as np
import pytest

from cogniload_repro.models import NAMES
from cogniload_repro.published import ABOUT_NONE
from cogniload_repro.reconstruction.constraints import PROSE_RATIOS, prose_along_rho, prose_windows
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.statistics.design import GRID


def window_of(sign: str) -> tuple[float, float]:
    """Bounds, in accuracy, of the first claim with a sign."""
    for model in NAMES:
        for claim, (_, bounds) in zip(
            prose_along_rho(model).itertuples(), prose_windows(model, np.full(140, 10.0), 0.005), strict=True
        ):
            if claim.value == sign:
                return bounds[0] / 10, bounds[1] / 10
    raise AssertionError(f"no claim says {sign}")


@pytest.mark.parametrize(("sign", "low", "high"), [(">0", 0, 1), ("<0", -1, 0), ("~0", -ABOUT_NONE, ABOUT_NONE)])
def test_a_sign_is_a_range_of_differences(sign, low, high):
    """A difference of the two ends lies on its side of zero, and "about none" within the stated distance."""
    found = window_of(sign)
    assert found == pytest.approx((low, high), abs=0.0011)
    assert low <= found[0] < found[1] <= high


@pytest.mark.parametrize("model", NAMES)
def test_the_committed_tables_keep_the_bounds(model):
    """Every committed table meets each of its model's windows, ties at the edge of rounding included."""
    own = load_counts().query("model == @model")
    correct, n = own["correct"].to_numpy(), own["n"].to_numpy(float)
    for row, (lowest, highest) in prose_windows(model, n, half_unit=0.00501):
        assert lowest <= row @ correct <= highest


def test_accuracies_are_of_one_ratio():
    """The weights of an accuracy are even over the cells of its ratio and nothing elsewhere."""
    model = next(name for name in NAMES if prose_along_rho(name)["condition"].isin(PROSE_RATIOS).any())
    claim = next(c for c in prose_along_rho(model).itertuples() if c.condition in PROSE_RATIOS)
    windows = dict(zip(prose_along_rho(model)["id"], prose_windows(model, np.full(140, 100.0), 0.005), strict=True))
    row, (lowest, highest) = windows[claim.id]
    inside = (GRID["ratio_pct"] == PROSE_RATIOS[claim.condition]).to_numpy()
    assert row[~inside].max() == 0
    np.testing.assert_allclose(row[inside], 1 / inside.sum())
    assert highest - lowest == pytest.approx(100 * 0.01)
