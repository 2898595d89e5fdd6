"""Capacity points against their definition and numpy's roots."""

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cogniload_repro.statistics.design import many_points, roots_along_rho

MEANS = {"d": 5.2, "log10_N": 1.85, "rho": 0.5}
COEFFICIENT = st.floats(-20, 20).filter(lambda value: abs(value) > 1e-3)


@given(st.tuples(*[COEFFICIENT] * 5))
def test_points_put_the_predictor_at_zero(beta):
    """At every capacity point, the other loads at their means, the log-odds are zero; a rising accuracy has none."""
    points = many_points(np.array([beta]), MEANS)
    b0, bd, bN, br, br2 = beta
    at_rho = br * MEANS["rho"] + br2 * MEANS["rho"] ** 2
    assert np.isnan(points["ecl50"][0]) == (bN > 0)
    assert np.isnan(points["id50"][0]) == (bd > 0)
    if bN < 0:
        assert np.isclose(b0 + bd * MEANS["d"] + bN * points["ecl50"][0] + at_rho, 0, atol=1e-6)
    if bd < 0:
        assert np.isclose(
            b0 + bd * points["id50"][0] + bN * MEANS["log10_N"] + at_rho, 0, atol=1e-6
        )
    root = points["nt50"][0]
    if np.isfinite(root):
        assert 0 <= root <= 1
        assert np.isclose(
            b0 + bd * MEANS["d"] + bN * MEANS["log10_N"] + br * root + br2 * root**2, 0, atol=1e-6
        )


@given(st.tuples(*[COEFFICIENT] * 5))
def test_nt50_is_the_largest_root_of_numpy(beta):
    """NT50 is the largest of numpy's real roots in [0, 1], and none where numpy finds none."""
    b0, bd, bN, br, br2 = beta
    constant = b0 + bd * MEANS["d"] + bN * MEANS["log10_N"]
    assume(abs(br**2 - 4 * br2 * constant) > 1e-6)  # a double root is real or not by rounding alone
    roots = np.roots([br2, br, constant])
    real = roots[np.abs(roots.imag) < 1e-12].real
    assume(not (np.abs(real) < 1e-9).any() and not (np.abs(real - 1) < 1e-9).any())
    inside = real[(real >= 0) & (real <= 1)]
    assert np.allclose(many_points(np.array([beta]), MEANS)["nt50"], inside.max(initial=-1) if len(inside) else np.nan,
                       atol=1e-6, equal_nan=True)  # fmt: skip


@given(st.tuples(*[COEFFICIENT] * 5))
def test_both_roots_along_rho_are_those_of_numpy(beta):
    """Accuracy is one half at numpy's two real roots, the smaller first, else nowhere."""
    b0, bd, bN, br, br2 = beta
    constant = b0 + bd * MEANS["d"] + bN * MEANS["log10_N"]
    assume(abs(br**2 - 4 * br2 * constant) > 1e-6)
    expected = np.sort_complex(np.roots([br2, br, constant]))
    (roots,) = roots_along_rho(np.array([beta]), MEANS)
    if np.abs(expected.imag).max() > 0:
        assert np.isnan(roots).all()
    else:
        assert roots == pytest.approx(expected.real, rel=1e-6, abs=1e-6)


@pytest.mark.parametrize(
    ("constant", "root"), [(1.0, 0.25), (0.125, 0.03125), (3.875, 0.96875), (-0.5, np.nan)]
)
def test_straight_line_in_rho_has_its_one_root(constant, root):
    """Without curvature NT50 is the root of a straight line, where it is between 0 and 1."""
    beta = np.array([[constant, 0.0, 0.0, -4.0, 0.0]])
    assert np.array_equal(many_points(beta, MEANS)["nt50"], [root], equal_nan=True)
