"""Capacity points of any formula: where the predictor along one load crosses one half."""

import numpy as np
import pytest

import cogniload_repro as cl
from cogniload_repro.reconstruction.table2 import row_values
from cogniload_repro.regression.capacity import POINTS, find_points
from cogniload_repro.regression.design import grid_means
from cogniload_repro.regression.formulas import QUADRATIC
from cogniload_repro.regression.glm import fit_all

CELLS = cl.load_cells()
QWQ = CELLS[CELLS["model"] == "QwQ-32B"]
PRODUCT = "correct ~ d * log10_N + rho + I(rho**2)"


def test_the_papers_points_have_their_closed_form():
    """Root finding agrees with the formulas of section 3.1.3 in all models."""
    fits = fit_all(CELLS)
    expected = row_values(np.array([fit.coef for fit in fits]), grid_means(QWQ))
    points = cl.capacity_points(CELLS)
    np.testing.assert_allclose(
        points[["ecl50", "nt50", "id50"]], expected[:, 5:], rtol=1e-9
    )


@pytest.mark.parametrize(
    "formula",
    [
        PRODUCT,
        "correct ~ d + log10_N * rho + I(rho**2)",
        "correct ~ d + log10_N + bs(rho, df=4)",
        "correct ~ bs(d, df=4) + np.sqrt(N) + rho",
    ],
)
@pytest.mark.parametrize("family", ["logit", "probit", "cloglog"])
def test_fitted_accuracy_is_one_half_at_every_point(formula, family):
    """The predictions of statsmodels say so, the other loads at their means."""
    points = cl.capacity_points(QWQ, formula, family).iloc[0]
    results = cl.glm(QWQ, formula=formula, family=family)
    means = grid_means(QWQ)
    for point, (load, *_) in POINTS.items():
        value = np.log10(points[point]) if point == "ecl50" else points[point]
        loads = means | {load: value}
        row = QWQ[:1].assign(**loads, N=10 ** loads["log10_N"]).astype({"d": float})
        design = results.model.spec.get_model_matrix(row)
        assert results.predict(design).item() == pytest.approx(0.5, abs=1e-8)


def test_levels_of_a_factor_are_averaged_and_have_no_point():
    """With C(d) there are ECL50 and NT50, and a reason in place of ID50."""
    points = cl.capacity_points(QWQ, "correct ~ C(d) + log10_N + rho + I(rho**2)").iloc[
        0
    ]
    assert points["id50_status"] == "d is a factor"
    assert np.isnan(points["id50"])
    assert points["ecl50"] == pytest.approx(48.0, abs=0.1)
    coef = cl.glm(QWQ, formula="correct ~ C(d) + log10_N + rho + I(rho**2)").params
    rho = QWQ["rho"].mean()
    level = coef["Intercept"] + coef.filter(like="C(d)").sum() / 5
    above = level + coef["rho"] * rho + coef["I(rho ** 2)"] * rho**2
    assert points["ecl50"] == pytest.approx(10 ** (-above / coef["log10_N"]))


def test_a_model_without_a_point_says_why():
    """Above or below one half everywhere, no fit, other covariates."""
    points = cl.capacity_points(CELLS).set_index("model")
    assert (
        points["nt50_status"]["o3-2025-04-16"]
        == "accuracy is above one half at every rho"
    )
    right = cl.capacity_points(QWQ.assign(correct=QWQ["total"])).iloc[0]
    assert right[["ecl50_status", "nt50_status", "id50_status"]].eq("separation").all()


def test_errors_are_those_of_the_delta_method():
    """For ID50 of the paper's regression they have a closed form."""
    (fit,) = fit_all(QWQ, QUADRATIC)
    point = find_points([fit], "id50").iloc[0]
    means = grid_means(QWQ)
    at = np.array(
        [1, point["value"], means["log10_N"], means["rho"], means["rho"] ** 2]
    )
    expected = np.sqrt(at @ fit.covariance @ at) / abs(fit.coef[1])
    assert point["se"] == pytest.approx(expected, rel=1e-6)
