"""Answers that ran out of context, in three treatments."""

import numpy as np
import pytest
from scipy.optimize import minimize
from scipy.special import logsumexp
from scipy.stats import fisher_exact

from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.robustness.overflows import compare_finished, compare_treatments, finished_answers
from cogniload_repro.robustness.uncertainty import fit_quadratics, standard_error
from cogniload_repro.statistics.capacity import capacity_points, grid_means
from cogniload_repro.statistics.regression import fit_glm

CELLS = load_counts()


def of(model):
    """The cells of one model."""
    return CELLS[CELLS["model"] == model]


def test_paper_treatment_is_the_papers_fit():
    """Counted as wrong, overflows leave Table 2's coefficients; without any, that is the only treatment."""
    own = of("gpt-5-nano-2025-08-07")
    table = compare_treatments(own)
    assert own["ctx"].sum() == 0
    assert table["treatment"].tolist() == ["wrong"]
    assert table["beta_N"].iloc[0] == pytest.approx(fit_glm(own).coef[2])


def test_excluded_answers_leave_the_denominator():
    """Leaving overflows out fits the right answers among those that finished."""
    own = of("QwQ-32B")
    row = compare_treatments(own).set_index("treatment").loc["excluded"]
    fit = fit_glm(own.assign(total=own["total"] - own["ctx"]))
    assert row["ecl50"] == pytest.approx(capacity_points(fit.coef, grid_means(own))["ecl50"])


def test_competing_outcome_agrees_with_scipy():
    """Correct against wrong in the multinomial logit has the coefficients of scipy's optimum."""
    own = of("Phi-4-reasoning")
    counts = np.column_stack([own["total"] - own["correct"] - own["ctx"], own["correct"], own["ctx"]]).astype(float)
    rho = own["rho"].to_numpy()
    x = np.column_stack([np.ones(len(own)), own["d"] / 10, np.log10(own["N"].astype(float)), rho, rho**2])

    def loss(theta):
        eta = np.column_stack([np.zeros(len(x)), x @ theta[:5], x @ theta[5:]])
        p = np.exp(eta - logsumexp(eta, axis=1, keepdims=True))
        missed = counts.sum(axis=1, keepdims=True) * p - counts
        value = -(counts * (eta - logsumexp(eta, axis=1, keepdims=True))).sum()
        return value, np.concatenate([x.T @ missed[:, 1], x.T @ missed[:, 2]])

    found = minimize(loss, np.zeros(10), jac=True, method="BFGS", options={"gtol": 1e-3, "maxiter": 2000})
    beta = found.x[:5] * np.array([1, 0.1, 1, 1, 1])
    row = compare_treatments(own).set_index("treatment").loc["competing"]
    expected = capacity_points(beta, grid_means(own))
    assert row["beta_N"] == pytest.approx(beta[2], rel=1e-4)
    assert row["ecl50"] == pytest.approx(expected["ecl50"], rel=1e-4)
    assert row["id50"] == pytest.approx(expected["id50"], rel=1e-4)


def test_standard_errors_of_ecl50_agree_with_the_capacity_intervals():
    """For the paper's treatment the standard error is the delta method's."""
    own = of("QwQ-32B")
    (quadratic,) = fit_quadratics(own)
    assert compare_treatments(own)["se_log10_ecl50"].iloc[0] == pytest.approx(standard_error(quadratic, "ecl50"))


def test_separated_outcomes_have_a_status_and_no_number():
    """Where overflows sit at one N alone, the competing outcome has no finite fit and says so."""
    own = of("QwQ-32B")
    table = compare_treatments(own.assign(ctx=np.where(own["N"] == 250, own["total"] - own["correct"], 0)))
    row = table.set_index("treatment").loc["competing"]
    assert row["status"] == "separation"
    assert np.isnan(row["ecl50"])


def test_finished_answers_are_those_of_table_5():
    """Right among finished: correct by samples less overflows; the highest counts every overflow as right."""
    table = finished_answers(250).set_index("model")
    row = table.loc["gemini-2.5-pro"]
    assert (row["correct"], row["finished"], row["overflows"]) == (72, 82, 268)
    assert row["counted"] < row["among"] < row["highest"]
    pairs = compare_finished(finished_answers(250), ["gemini-2.5-pro", "o3-2025-04-16"])
    assert pairs["p"].iloc[0] == pytest.approx(fisher_exact([[72, 10], [236, 88]]).pvalue)
