"""Contrasts: what no curve without a fall, a rise or a turn can make positive; a trend test."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from statsmodels.stats.contingency_tables import Table

import cogniload_repro as cl
from cogniload_repro.analysis.contrasts import slope_weights, trends, u_contrasts
from cogniload_repro.regression.design import GRID
from cogniload_repro.regression.identification import in_span

CELLS = cl.load_cells(models="QwQ-32B").sort_values(["N", "d", "ratio_pct"])
CELLS = CELLS.reset_index(drop=True)
FALL = slope_weights(CELLS, "max")
RISE = slope_weights(CELLS, "min")
#: Accuracies at the seven ratios, of each of the 20 pairs of d and N.
CURVES = arrays(float, (20, 7), elements=st.floats(0, 1))
ROUNDING = 1e-9


@given(CURVES)
def test_no_curves_without_a_fall_show_one(curves):
    """Whatever 20 curves that never fall, the sum for a fall is not positive."""
    rising = np.sort(curves, axis=1)
    assert FALL @ rising.ravel() <= ROUNDING


@given(CURVES)
def test_no_curves_without_a_rise_show_one(curves):
    """Whatever 20 curves that never rise, the sum for a rise is not positive."""
    falling = -np.sort(-curves, axis=1)
    assert RISE @ falling.ravel() <= ROUNDING


@given(CURVES, st.integers(0, 6))
def test_no_hills_show_a_fall_and_a_rise(curves, peak):
    """Whatever 20 curves that rise to a peak and fall from it, one sum is not positive."""
    up = np.sort(curves[:, : peak + 1], axis=1)
    down = -np.sort(-curves[:, peak:], axis=1)
    top = np.maximum(up[:, -1:], down[:, :1])
    hills = np.hstack([up[:, :-1], top, down[:, 1:]])
    assert min(FALL @ hills.ravel(), RISE @ hills.ravel()) <= ROUNDING


@pytest.mark.parametrize("peak", range(7))
def test_one_mixture_of_the_weights_serves_every_peak_at_all_lengths(peak):
    """Step 3 of the proof: on both sides of a peak some mixture adds up to zero or more."""
    fall = FALL.reshape(4, 5, 7)[:, 0]
    rise = RISE.reshape(4, 5, 7)[:, 0]
    shares = np.linspace(0, 1, 100_001)[:, None]
    left = shares * fall[:, :peak].sum(axis=1)
    left += (1 - shares) * rise[:, :peak].sum(axis=1)
    right = shares * fall[:, peak + 1 :].sum(axis=1)
    right += (1 - shares) * rise[:, peak + 1 :].sum(axis=1)
    serves = (left >= -ROUNDING).all(axis=1) & (right >= -ROUNDING).all(axis=1)
    assert serves.any()


@pytest.mark.parametrize("end", ["max", "min"])
def test_the_printed_tables_fix_the_sums(end):
    """The weights lie in the span of what Tables 2 to 6 fix; missing puzzles change nothing."""
    for _, counts in cl.load_cells().groupby("model"):
        ordered = GRID[["N", "d", "ratio_pct"]].merge(counts)
        assert in_span(slope_weights(ordered, end)[:, None])


def test_weights_add_up_to_zero_at_each_length_and_one_touches_zero_at_its_end():
    """No smaller slope would do."""
    for weights, end in ((FALL, "max"), (RISE, "min")):
        by_length = pd.Series(weights).groupby(CELLS["N"])
        assert np.abs(by_length.sum()).max() < ROUNDING
        far = CELLS["rho"] == CELLS.groupby("N")["rho"].transform(end)
        assert weights[far].max() == pytest.approx(0, abs=ROUNDING)


def test_missing_puzzles_could_shift_a_sum_by_a_ninth_of_its_error():
    """Where answers per cell differ, the worst curves that never fall or rise show little."""
    for _, counts in cl.load_cells().groupby("model"):
        for end, side in (("max", -1), ("min", 1)):
            weights = slope_weights(counts, end)
            error = np.sqrt(weights**2 @ counts["total"] / 4)
            table = counts.assign(weight=weights * counts["total"])
            table = table.pivot_table("weight", ["d", "N"], "ratio_pct")
            steps = table.to_numpy()[:, ::side].cumsum(axis=1).max(axis=1)
            assert steps.clip(min=0).sum() / error < 1 / 9


def test_a_u_with_both_arms_is_shown_and_a_late_trough_is_not():
    """A model with a trough at 45% and one at 70%, without noise."""
    tables = []
    for trough in (0.45, 0.7):
        accuracy = 0.2 + 1.5 * (CELLS["rho"] - trough) ** 2
        counts = CELLS.assign(model=f"{trough}", total=1000)
        tables.append(counts.assign(correct=(1000 * accuracy).round().astype(int)))
    z = u_contrasts(pd.concat(tables).assign(provenance="scored"))
    assert (z.loc["0.45"] > 3).all()
    assert z.loc["0.7", "rise"] < 0 < z.loc["0.7", "fall"]


def test_the_widest_variance_is_that_of_accuracies_of_one_half():
    """It only makes the z smaller, by the fitted variance at most."""
    z = u_contrasts(CELLS)
    widest = u_contrasts(CELLS, widest=True)
    assert (widest.abs() < z.abs()).all(axis=None)
    answers = CELLS["total"]
    error = np.sqrt((FALL**2 * answers).sum() / 4)
    assert widest["fall"].item() == pytest.approx(FALL @ CELLS["correct"] / error)


def test_a_trend_is_that_of_cochran_and_armitage():
    """The test of linear trend in statsmodels gives the same z, but for its factor n - 1 over n."""
    counts = CELLS.groupby("d")[["correct", "total"]].sum()
    table = np.column_stack([counts["correct"], counts["total"] - counts["correct"]])
    test = Table(table, shift_zeros=False).test_ordinal_association(
        row_scores=counts.index.to_numpy(float), col_scores=np.array([1, 0])
    )
    answers = counts["total"].sum()
    z = trends(CELLS, "d").item()
    assert z * np.sqrt((answers - 1) / answers) == pytest.approx(test.zscore, rel=1e-3)
