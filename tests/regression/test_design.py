"""Capacity points against their definition and numpy's roots."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from cogniload_repro.regression.design import (
    grid_means,
    roots_along_rho,
)

MEANS = {"d": 5.2, "log10_N": 1.85, "rho": 0.5}
COEFFICIENT = st.floats(-20, 20).filter(lambda value: abs(value) > 1e-3)
BETAS = st.tuples(*[COEFFICIENT] * 5)


def log_odds(beta, **loads):
    """The linear predictor where some loads have a value and the others are at their means."""
    loads = MEANS | loads
    rho = loads["rho"]
    return np.dot(beta, [1, loads["d"], loads["log10_N"], rho, rho**2])


def polynomial(beta):
    """The coefficients of the log-odds in rho, the highest power first."""
    constant = log_odds(beta, rho=0)
    return [beta[4], beta[3], constant]


def has_clear_roots(beta):
    """Whether the roots along rho are not so near each other that rounding decides on them."""
    square, slope, constant = polynomial(beta)
    return abs(slope**2 - 4 * square * constant) > 1e-6


@given(BETAS)
def test_both_roots_along_rho_are_those_of_numpy(beta):
    """Accuracy is one half at numpy's two real roots, the smaller first; else nowhere."""
    assume(beta[4] and has_clear_roots(beta))
    expected = np.sort_complex(np.roots(polynomial(beta)))
    (roots,) = roots_along_rho(np.array([beta]), MEANS)
    if np.abs(expected.imag).max() > 0:
        assert np.isnan(roots).all()
    else:
        assert roots == pytest.approx(expected.real, rel=1e-6, abs=1e-6)


def test_means_of_loads_are_over_cells_with_answers():
    """Each once, whatever its number of models and answers."""
    cells = pd.DataFrame({"d": [1, 1, 3, 9], "N": [10, 10, 1000, 20]})
    cells = cells.assign(rho=[0.1, 0.1, 0.5, 0.9], total=[5, 50, 1, 0])
    means = {"d": 2, "log10_N": 2, "rho": 0.3}
    assert grid_means(cells) == pytest.approx(means)
