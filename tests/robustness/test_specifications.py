"""Other regressions, against other implementations, and what the printed tables settle of them."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from scipy.linalg import null_space
from statsmodels.genmod.families import Binomial
from statsmodels.genmod.generalized_linear_model import GLM

from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.robustness.specifications import (
    SETTLED,
    SPECIFICATIONS,
    Specification,
    add_own,
    fit_specifications,
    is_settled,
    measure_calibration,
    predict_levels,
    summarise_specifications,
)
from cogniload_repro.robustness.uncertainty import capacity_intervals
from cogniload_repro.statistics.regression import fit_glm

CELLS = load_counts()
FEW = CELLS[CELLS["model"].isin(["QwQ-32B", "Qwen3-1.7B", "gpt-5-mini-2025-08-07"])]
BY_NAME = {one.name: one for one in SPECIFICATIONS}
QWQ = CELLS[CELLS["model"] == "QwQ-32B"]


@cache
def fits():
    """All specifications, fitted to few models."""
    return fit_specifications(FEW)


def columns(cells):
    """The covariates of the paper's regression."""
    rho = cells["rho"].to_numpy(float)
    return np.column_stack([np.ones(len(cells)), cells["d"], np.log10(cells["N"].astype(float)), rho, rho**2])


def test_predictions_keep_the_knots_of_the_fit():
    """A spline's design at some of the cells is the design of the fit at these cells."""
    fit = fit_glm(QWQ, "correct ~ d + bs(rho, df=4)")
    assert np.allclose(fit.expand(QWQ.iloc[5:9]) @ fit.coef, fit.eta[5:9])


def test_settled_are_those_built_from_printed_sums():
    """Functions of d or of N alone, rho, rho^2 and Appendix B's products are settled, with the logit link only."""
    settled = {one.name for one in SPECIFICATIONS if is_settled(one)}
    assert {"paper", "N", "sqrt N", "N as factor", "cubic in d", "d as factor", "d x N", "three-way"} <= settled
    assert not {"nominal ratio", "cubic in rho", "spline in rho", "probit", "cloglog", "prompt tokens"} & settled
    assert not is_settled(Specification("x", "correct ~ C(d):C(N)"))
    assert is_settled(Specification("x", "correct ~ I(d**4) + np.exp(-N/100)"))


def test_tables_with_the_same_sums_give_the_same_settled_fits():
    """Counts moved so that the settled sums stay give the same coefficients, and other ones where not settled."""
    grid = QWQ.assign(log10_N=np.log10(QWQ["N"].astype(float)))
    basis = null_space(fit_glm(grid, f"correct ~ {SETTLED}").expand(grid).T)
    shift = basis @ np.random.default_rng(2).normal(size=basis.shape[1])
    room = np.minimum(QWQ["correct"], QWQ["total"] - QWQ["correct"]).to_numpy(float)
    moved = QWQ.assign(correct=QWQ["correct"] + 0.9 * shift * (room / np.abs(shift)).min())
    for one in SPECIFICATIONS:
        if one.length == "N":
            before, after = (fit_glm(cells, one.formula, one.family) for cells in (QWQ, moved))
            apart = np.abs(after.coef - before.coef) / before.se
            assert (apart.max() < 1e-5) == is_settled(one), one.name


def test_factors_have_no_points_between_their_levels():
    """A load that enters as a factor has no capacity point; the others have."""
    table = fits().set_index(["specification", "model"])
    assert np.isnan(table.loc[("d as factor", "QwQ-32B"), "id50"])
    assert np.isfinite(table.loc[("d as factor", "QwQ-32B"), "ecl50"])
    assert np.isnan(table.loc[("N as factor", "QwQ-32B"), "ecl50"])


def test_failed_fits_show_their_status():
    """A model without errors has a status and no numbers."""
    perfect = QWQ.assign(correct=QWQ["total"])
    row = fit_specifications(perfect, SPECIFICATIONS[:1]).iloc[0]
    assert row["status"] == "separation"
    assert "aic" not in row or np.isnan(row["aic"])


def test_a_readers_specification_is_held_against_the_others():
    """It is the last row of the summary, with or without points, and its failure is a status."""
    for formula, family in (
        ("correct ~ d * N + rho", "probit"),
        ("correct ~ bs(rho, df=4) + np.log(d) + needles", "logit"),
        ("correct ~ d + N + log10_N + C(N)", "logit"),
        ("correct ~ d + rho", "quasi-binomial"),
    ):
        chosen = (SPECIFICATIONS[0], add_own(formula, family)[-1])
        table = fit_specifications(FEW, chosen)
        summary = summarise_specifications(table, capacity_intervals(FEW, replicates=5), chosen)
        assert summary["specification"].tolist() == ["paper", "yours"]
        status = table.set_index(["specification", "model"]).loc[("yours", "QwQ-32B"), "status"]
        assert status == fit_glm(QWQ, formula, family).status
    assert np.isnan(summary["daic"].iloc[1])


def test_summaries_stand_without_any_fit():
    """Where no model has a fit the table has zeros and no leader."""
    perfect = QWQ.assign(correct=QWQ["total"])
    summary = summarise_specifications(fit_specifications(perfect), capacity_intervals(perfect, replicates=5))
    assert (summary["models"] == 0).all()
    assert (summary["leader"] == "").all()


def test_token_specification_needs_tokens():
    """Without prompt lengths the regression on tokens is left out; with them its ECL50 is in tokens."""
    assert "prompt tokens" not in set(fits()["specification"])
    tokens = QWQ.assign(prompt_mean=40.0 * QWQ["N"])
    table = fit_specifications(tokens, [BY_NAME["paper"], BY_NAME["prompt tokens"]]).set_index("specification")
    assert table.loc["prompt tokens", "aic"] == pytest.approx(table.loc["paper", "aic"])
    assert table.loc["prompt tokens", "ecl50"] == pytest.approx(40 * table.loc["paper", "ecl50"], rel=1e-6)


def test_information_criteria_and_residuals_agree_with_statsmodels():
    """Deviance, Pearson chi-square and degrees of freedom are statsmodels'; BIC charges log n a coefficient."""
    result = GLM(
        np.column_stack([QWQ["correct"], QWQ["total"] - QWQ["correct"]]), columns(QWQ), family=Binomial()
    ).fit()
    row = fits().set_index(["specification", "model"]).loc[("paper", "QwQ-32B")]
    assert row["deviance"] == pytest.approx(result.deviance)
    assert row["pearson"] == pytest.approx(result.pearson_chi2)
    assert row["df"] == result.df_resid
    assert row["bic"] - row["aic"] == pytest.approx(5 * (np.log(QWQ["total"].sum()) - 2))


def test_perfect_calibration_has_no_error():
    """Fitted accuracies equal to those observed leave no deviance, and groups without error."""
    own = QWQ[(QWQ["correct"] > 0) & (QWQ["correct"] < QWQ["total"])]
    row = measure_calibration(own, (own["correct"] / own["total"]).to_numpy(), 5)
    assert row["deviance"] == pytest.approx(0, abs=1e-9)
    assert row["hl"] == pytest.approx(0, abs=1e-9)
    assert row["p_hl"] == 1
    assert row["error"] == pytest.approx(0, abs=1e-12)


def test_hosmer_lemeshow_by_hand():
    """Two groups of two cells: the statistic is the sum of squared misses by binomial variance."""
    cells = pd.DataFrame({"total": [10, 10, 10, 10], "correct": [9, 1, 2, 8]})
    accuracy = np.array([0.8, 0.2, 0.2, 0.6])
    row = measure_calibration(cells, accuracy, 1, groups=2)
    low, high = (3 - 4) ** 2 / (2 * 10 * 0.2 * 0.8), (17 - 14) ** 2 / (10 * 0.8 * 0.2 + 10 * 0.6 * 0.4)
    assert row["hl"] == pytest.approx(low + high)
    assert row["error"] == pytest.approx((1 + 3) / 40)


def test_richer_settled_fits_are_never_less_likely():
    """Every settled specification is nested in the one that has all that is settled."""
    table = fits().pivot_table("loglik", "model", "specification")
    for one in SPECIFICATIONS:
        if is_settled(one):
            assert (table["all that is settled"] >= table[one.name] - 1e-6).all(), one.name


def test_summary_holds_every_specification_against_the_first():
    """The paper's row has no difference; ECL50 is only compared where it exists; the settled flag is is_settled's."""
    summary = summarise_specifications(fits(), capacity_intervals(FEW, replicates=5)).set_index("specification")
    paper = summary.loc["paper"]
    assert paper[["daic", "aic_better", "bic_better", "ecl50_left"]].tolist() == [0, 0, 0, 0]
    assert paper["ecl50_moved"] == pytest.approx(1)
    assert paper["order"] == pytest.approx(1)
    assert np.isnan(summary.loc["N as factor", "ecl50_moved"])
    assert all(summary.loc[name, "settled"] == is_settled(BY_NAME[name]) for name in summary.index)
    assert summary.loc["no curve in rho", "daic"] > 100


def test_left_out_levels_are_predicted_by_fits_without_them():
    """For one model and one load the score is that of a fit by hand to the cells of the other levels."""
    formula = "correct ~ d + N + rho + I(rho**2)"
    chosen = (SPECIFICATIONS[0], Specification("N", formula))
    row = predict_levels(QWQ, chosen).set_index("specification").loc["N"]
    scores = dict.fromkeys((one.formula for one in chosen), 0.0)
    for one in scores:
        for level in QWQ["N"].unique():
            fit, unseen = fit_glm(QWQ[QWQ["N"] != level], one), QWQ[QWQ["N"] == level]
            eta, k, n = fit.expand(unseen) @ fit.coef, unseen["correct"], unseen["total"]
            scores[one] += (k * eta - n * np.logaddexp(0, eta)).sum()
    expected = 1000 * (scores[formula] - scores[SPECIFICATIONS[0].formula]) / QWQ["total"].sum()
    assert row["gain_N"] == pytest.approx(expected, rel=1e-6)
    assert row["better_N"] == int(expected > 0)


def test_what_cannot_be_predicted_is_left_out():
    """Factors, other links and tokens have no score, and an empty table no row."""
    names = set(predict_levels(FEW)["specification"])
    assert {"paper", "cubic in d", "three-way"} <= names
    assert not {"d as factor", "probit", "prompt tokens", "all that is settled"} & names
    assert predict_levels(QWQ.assign(total=0, correct=0)).empty
