"""Where any regression crosses one half."""

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.robustness.crossings import find_points, lay_courses
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
