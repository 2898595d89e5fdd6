"""Where any regression crosses one half."""

import numpy as np
import pandas as pd
import pytest
from scipy.special import expit

from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.robustness.crossings import find_points, lay_courses, marginal_points
from cogniload_repro.robustness.uncertainty import fit_quadratics
from cogniload_repro.statistics.capacity import capacity_points, grid_means
from cogniload_repro.statistics.regression import fit_glm

CELLS = load_counts()
FEW = CELLS[CELLS["model"].isin(["QwQ-32B", "Qwen3-1.7B", "gpt-5-mini-2025-08-07"])]
QWQ = CELLS[CELLS["model"] == "QwQ-32B"]


def test_points_of_the_papers_specification_are_the_papers():
    """The general search finds what the formulas of section 3.1.3 give."""
    for _, own in FEW.groupby("model"):
        fit = fit_glm(own)
        expected = capacity_points(fit.coef, grid_means(own))
        found = find_points(fit, lay_courses(fit, own))
        ecl50 = expected["ecl50"] if expected["ecl50"] >= 1 else 0
        assert found["ecl50"] == pytest.approx(ecl50, rel=1e-6)
        assert found["id50"] == pytest.approx(expected["id50"], abs=1e-9)
        assert found["nt50"] == pytest.approx(expected["nt50"], abs=1e-4, nan_ok=True)


def test_points_put_any_fit_at_one_half():
    """For a regression in N with another link, accuracy at ECL50 and mean rho is one half if d does not matter."""
    fit = fit_glm(QWQ, "correct ~ N + rho", "cloglog")
    ecl50 = find_points(fit, lay_courses(fit, QWQ))["ecl50"]
    at = pd.DataFrame({"N": [ecl50], "d": [5.0], "rho": [QWQ["rho"].mean()]})
    assert -np.expm1(-np.exp(fit.expand(at) @ fit.coef))[0] == pytest.approx(0.5, abs=1e-4)


@pytest.mark.parametrize(
    ("formula", "points"),
    [
        ("correct ~ C(d) + log10_N + rho + I(rho**2)", {"ecl50", "nt50"}),
        ("correct ~ d + log10_N + bs(rho, df=4)", {"ecl50", "id50"}),
        ("correct ~ d + N + needles", {"ecl50", "nt50", "id50"}),
        ("correct ~ np.log(d) + log10_N", {"ecl50", "nt50", "id50"}),
    ],
)
def test_courses_end_where_a_term_has_no_values(formula, points):
    """A factor between its levels and a spline beyond its knots have no course; a logarithm has one where it exists."""
    fit = fit_glm(QWQ, formula)
    courses = lay_courses(fit, QWQ)
    assert set(courses) == points
    assert all(np.isfinite(value) or np.isnan(value) for value in find_points(fit, courses).values())


def test_typical_points_are_the_papers_and_averaged_ones_average():
    """At the means the points are those of Table 2; averaged, the mean accuracy there is the share itself."""
    rows = marginal_points(CELLS[CELLS["model"].isin(["QwQ-32B", "o3-2025-04-16"])]).set_index("model")
    for quadratic in fit_quadratics(CELLS[CELLS["model"].isin(rows.index)]):
        row, beta = rows.loc[quadratic.model], quadratic.fit.coef
        assert row["typical_ecl50"] == pytest.approx(10 ** quadratic.points["ecl50"])
        assert row["typical_id50"] == pytest.approx(quadratic.points["id50"])
        ratios = np.sort(CELLS["ratio_pct"].unique()) / 100
        for share in (0.5, 0.8):
            N = row[f"marginal_ecl{100 * share:.0f}"]
            p = [expit(beta @ [1, d, np.log10(N), rho, rho**2]) for d in (1, 3, 5, 7, 10) for rho in ratios]
            assert np.mean(p) == pytest.approx(share, abs=1e-9)


def test_accuracy_that_rises_has_no_averaged_point():
    """A model that gets better with length never falls to one half."""
    own = CELLS[CELLS["model"] == "QwQ-32B"].assign(N=lambda rows: 5000 // rows["N"])
    row = marginal_points(own).iloc[0]
    assert np.isnan([row["typical_ecl50"], row["marginal_ecl80"]]).all()
    assert np.isfinite(row["marginal_id50"])
