"""Intervals of capacity points, against other implementations."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from samples import (
    estimate_point,
    fit_quadratics,
    many_points,
    place,
)
from scipy.optimize import minimize
from scipy.stats import chi2, norm
from statsmodels.stats.multitest import multipletests

from cogniload_repro.analysis.uncertainty import (
    capacity_intervals,
    correct_holm,
    correct_within,
    trough_table,
)
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.regression.likelihood import maximise

CELLS = load_cells()
#: One with a hundred and one with ten puzzles a cell, both with an NT50, and one far
#: outside the grid.
CHOSEN = ("QwQ-32B", "gpt-5-nano-2025-08-07", "o3-2025-04-16")


@cache
def quadratics():
    """The fits of all models by name."""
    return {quadratic.model: quadratic for quadratic in fit_quadratics(CELLS)}


@cache
def intervals():
    """Intervals of all models."""
    return capacity_intervals(CELLS)


def log_likelihood(quadratic, beta):
    """Bernoulli log-likelihood of coefficients, from scratch."""
    eta = quadratic.x @ beta
    return quadratic.k @ eta - quadratic.n @ np.logaddexp(0, eta)


def lose_at(quadratic, point, value):
    """The likelihood-ratio statistic of a capacity point at a value."""
    shifted = quadratic.x - place(point, value, quadratic.means)
    x = shifted[:, 1:]
    _, loglik = maximise(x, quadratic.n, x.T @ quadratic.k)
    return 2 * (quadratic.fit.loglik - loglik)


@pytest.mark.parametrize("model", CHOSEN)
def test_points_have_the_errors_and_profiles_of_other_implementations(model):
    """Standard errors and profiles are those of central differences and of scipy.

    A profile is zero at the estimate, and the chi-square quantile at the finite ends of
    the interval.
    """
    quadratic = quadratics()[model]
    beta = quadratic.fit.coef
    means = quadratic.means
    scale = 1 / quadratic.fit.se
    for point in ("ecl50", "nt50", "id50"):
        estimate, se = estimate_point(quadratic.fit, means, point)
        if not np.isfinite(estimate):
            continue
        up, down = (
            many_points(beta + sign * 1e-6 * np.eye(5), means)[point]
            for sign in (1, -1)
        )
        gradient = (up - down) / 2e-6
        assert se == pytest.approx(
            np.sqrt(gradient @ quadratic.fit.covariance @ gradient), rel=1e-5
        )
        value = estimate + 1.5 * se
        at = place(point, value, means)
        optimum = minimize(
            lambda z: -log_likelihood(quadratic, z / scale),
            beta * scale,
            jac=lambda z: (
                -(
                    quadratic.x.T
                    @ (
                        quadratic.k
                        - quadratic.n / (1 + np.exp(-quadratic.x @ (z / scale)))
                    )
                )
                / scale
            ),
            constraints={
                "type": "eq",
                "fun": lambda z, at=at: at @ (z / scale),
                "jac": lambda z, at=at: at / scale,
            },
            method="SLSQP",
            options={"ftol": 1e-12, "maxiter": 500},
        )
        expected = 2 * (quadratic.fit.loglik + optimum.fun)
        assert lose_at(quadratic, point, value) == pytest.approx(expected, abs=1e-3)
        assert lose_at(quadratic, point, estimate) == pytest.approx(0, abs=1e-6)
        row = intervals().query("model == @model and point == @point").iloc[0]
        ends = row[["profile_low", "profile_high"]].to_numpy(float)
        if point == "ecl50":
            ends = np.log10(ends)
        for end in filter(np.isfinite, ends):
            loss = lose_at(quadratic, point, end)
            assert loss == pytest.approx(chi2.ppf(0.95, 1), abs=1e-5)


def test_separated_models_are_left_out():
    """A model whose fit does not exist has no row, and the others keep theirs."""
    perfect = CELLS["model"] == "QwQ-32B"
    cells = CELLS[CELLS["model"].isin(["QwQ-32B", "Qwen3-8B"])].assign(
        correct=CELLS["correct"].where(~perfect, CELLS["total"])
    )
    assert set(capacity_intervals(cells)["model"]) == {"Qwen3-8B"}
    assert list(trough_table(cells)["model"]) == ["Qwen3-8B"]


def test_troughs_are_those_of_the_fitted_parabolas():
    """The curve is flat at its trough, and its U is Sasabuchi's.

    Where a trough is stated, the lowest tested ratio is inside the grid.
    """
    ratios = np.sort(CELLS["ratio_pct"].unique()) / 100
    table = trough_table(CELLS).set_index("model")
    for model, row in table.iterrows():
        fit = quadratics()[model].fit
        linear, square = fit.coef[3:]
        assert linear + 2 * square * row["trough"] == pytest.approx(0, abs=1e-9)
        assert row["lowest"] == ratios[np.argmin(linear * ratios + square * ratios**2)]
        errors = [
            np.sqrt(at @ fit.covariance[3:, 3:] @ at)
            for at in np.array([[1, 0.1], [1, 1.9]])
        ]
        p = (
            norm.cdf((linear + 0.1 * square) / errors[0]),
            norm.sf((linear + 1.9 * square) / errors[1]),
        )
        assert row["p_u"] == pytest.approx(max(p))
    assert (table["inside"] == table["lowest"].between(0.25, 0.5)).all()
    assert table[table["within"]]["trough"].between(0.25, 0.5).all()
    is_u = pd.Series(
        {model: one.fit.coef[4] > 0 for model, one in quadratics().items()}
    )
    assert not table[is_u & table["beyond"]]["trough"].between(0.25, 0.5).any()
    assert 0 < table["within"].sum() < table["beyond"].sum() < len(table) / 2 + 1


def test_intervals_of_a_part_of_the_grid_are_not_identified():
    """Reconstructed counts without a level are flagged.

    The whole grid, and counts of one's own, are not.
    """
    cells = CELLS[CELLS["model"] == "QwQ-32B"]
    part = cells[cells["N"] < 250]
    assert capacity_intervals(cells)["identified"].all()
    assert not capacity_intervals(part)["identified"].any()
    assert capacity_intervals(part.assign(provenance="scored"))["identified"].all()
    assert trough_table(cells)["p_u"].notna().all()
    assert trough_table(part)["p_u"].isna().all()


def test_holm_is_that_of_statsmodels():
    """Corrected p-values are those of the library, in the order that they came in."""
    p = np.random.default_rng(3).uniform(0, 0.05, 30)
    assert correct_holm(p) == pytest.approx(multipletests(p, method="holm")[1])


def test_unknown_values_and_other_families_do_not_count():
    """A test that could not be made does not make the others stricter.

    Nor does one of another family.
    """
    assert correct_holm([0.01, np.nan, 0.04]) == pytest.approx(
        [0.02, np.nan, 0.04], nan_ok=True
    )
    assert len(correct_holm([])) == 0
    table = pd.DataFrame({"term": ["a", "b", "a"], "p": [0.02, 0.02, 0.5]})
    assert correct_within(table, ["term"]) == pytest.approx([0.04, 0.02, 0.5])
