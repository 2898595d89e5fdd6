"""Three codings of rho, as exact fractions."""

from fractions import Fraction

import numpy as np
import pytest

from cogniload_repro.reconstruction.codings import (
    CODINGS,
    coded_means,
    lattice_step,
    needle_shares,
)
from cogniload_repro.regression.design import GRID

HALF = Fraction(1, 2)


@pytest.mark.parametrize("coding", CODINGS)
def test_shares_lie_on_the_lattice_and_on_none_coarser(coding):
    """Every share is a whole number of steps, and those numbers have no common divisor."""
    step = lattice_step(coding)
    steps = [share / step for share in needle_shares(coding)]
    assert all(count.denominator == 1 for count in steps)
    assert np.gcd.reduce([int(count) for count in steps]) == 1


@pytest.mark.parametrize("coding", CODINGS)
def test_points_are_taken_at_the_mean_of_the_coded_shares(coding):
    """The other loads have the means of the grid."""
    means = coded_means(coding)
    assert means["rho"] == pytest.approx(float(np.mean(needle_shares(coding))))
    assert means["d"] == GRID["d"].mean()


def test_codings_round_to_the_nearest_needle_and_differ_at_halves():
    """Halves go up or to the even number; the nominal share is the ratio itself."""
    up = needle_shares("half-up")
    even = needle_shares("half-even")
    nominal = needle_shares("nominal")
    halves = 0
    for place, (N, ratio_pct) in enumerate(
        GRID[["N", "ratio_pct"]].to_numpy().tolist()
    ):
        exact = Fraction(N * ratio_pct, 100)
        assert nominal[place] == Fraction(ratio_pct, 100)
        assert abs(up[place] * N - exact) <= HALF
        if exact % 1 == HALF:
            halves += 1
            assert up[place] * N == exact + HALF
            assert even[place] * N % 2 == 0
            assert abs(even[place] * N - exact) == HALF
        else:
            assert up[place] == even[place]
    assert halves > 0
    assert up != even


def test_an_unknown_coding_is_refused_with_the_known_ones():
    """The message names all codings."""
    known = "half-up, half-even, nominal"
    with pytest.raises(
        ValueError, match=f"unknown coding 'up' of rho; codings are {known}"
    ):
        needle_shares("up")
