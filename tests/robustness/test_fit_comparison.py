"""A reader's regression against the paper's."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chi2

from cogniload_repro.reconstruction.reconstruct import load_cells
from cogniload_repro.robustness.fit_comparison import compare_fits, fit_table, print_comparison, print_fits, summarise
from cogniload_repro.statistics.regression import LINEAR, QUADRATIC, fit_glm, likelihood_ratio

CELLS = load_cells()
QWQ = CELLS[CELLS["model"] == "QwQ-32B"]
SURE = QWQ.assign(model="sure", correct=QWQ["n"])
THREE = pd.concat([QWQ, SURE, CELLS[CELLS["model"] == "o3-2025-04-16"]])
PRODUCT = "correct ~ d * log10_N + rho + I(rho**2)"


def test_any_regression_comes_as_one_row_a_term():
    """`fit_table` lists every model and term with z = coef / se, and no numbers for a model without a fit."""
    table = fit_table(THREE, "correct ~ C(d) + rho")
    assert table.groupby("model", sort=False).size().tolist() == [6, 6, 6]
    fitted = table[table["status"] == "ok"]
    np.testing.assert_allclose(fitted["z"], fitted["coef"] / fitted["se"])
    assert table[table["model"] == "sure"][["coef", "se", "z", "p", "loglik", "aic"]].isna().all(axis=None)
    assert "sure: separation" in print_fits(table)


def test_a_covariate_that_one_model_lacks_is_its_status():
    """A model without known prompt lengths says so, and the others are fitted."""
    tokens = pd.concat([QWQ.assign(prompt_mean=40.0 * QWQ["N"]), SURE.assign(prompt_mean=np.nan)])
    table = fit_table(tokens, "correct ~ d + np.log10(prompt_mean)")
    assert table.groupby("model", sort=False)["status"].first().tolist() == ["ok", "no prompt_mean"]
    assert print_fits(table).splitlines()[1] == "sure: no prompt_mean"
    compared = compare_fits(tokens, "correct ~ d + np.log10(prompt_mean)")
    assert compared["status"].tolist() == ["ok", "no prompt_mean"]


def test_criteria_are_those_of_the_fits():
    """logLik, df, AIC and BIC are the two fits' own, and the differences theirs."""
    row = compare_fits(QWQ, "correct ~ d + N + rho", "probit").iloc[0]
    yours, paper = fit_glm(QWQ, "correct ~ d + N + rho", "probit"), fit_glm(QWQ)
    assert row[["df", "loglik", "aic", "bic"]].tolist() == [4, yours.loglik, yours.aic, yours.bic]
    assert row[["paper_df", "paper_loglik", "paper_aic", "paper_bic"]].tolist() == [
        5, paper.loglik, paper.aic, paper.bic,
    ]  # fmt: skip
    assert row["daic"] == pytest.approx(-2 * (yours.loglik - paper.loglik) - 2)


@pytest.mark.parametrize(
    ("formula", "family", "larger", "df"),
    [
        (PRODUCT, "logit", "yours", 1),
        ("correct ~ C(d) + log10_N + rho + I(rho**2)", "logit", "yours", 3),
        (LINEAR, "logit", "paper", 1),
        ("correct ~ d", "logit", "paper", 3),
        ("correct ~ 1", "logit", "paper", 4),
        ("correct ~ np.log(N) + I(d / 2) + poly(rho, 2)", "logit", "same", 0),
        ("correct ~ d + N + rho + I(rho**2)", "logit", "", 0),
        ("correct ~ C(d) + N + rho + I(rho**2)", "logit", "", 0),
        (PRODUCT, "probit", "", 0),
        (PRODUCT, "quasi-binomial", "", 0),
    ],
)
def test_likelihood_ratios_are_taken_where_one_is_nested(formula, family, larger, df):
    """Nesting is that of the columns' spans, whatever they are called, with the same link; equal spans, one model."""
    row = compare_fits(QWQ, formula, family).iloc[0]
    assert (row["larger"], row["lr_df"]) == (larger, df)
    if df:
        fits = sorted((fit_glm(QWQ, formula), fit_glm(QWQ)), key=lambda fit: len(fit.terms))
        assert row["lr_p"] == pytest.approx(likelihood_ratio(fits[1], fits[0]), rel=1e-9)
        assert row["lr_p"] == pytest.approx(chi2.sf(row["lr"], df))
    else:
        assert np.isnan(row["lr_p"])


def test_changed_coefficients_are_named():
    """A shared coefficient whose sign or significance differs is listed with both values; others are not."""
    assert compare_fits(QWQ, QUADRATIC)["changes"].item() == ""
    changed = compare_fits(QWQ, PRODUCT)["changes"].item()
    before, after = fit_glm(QWQ), fit_glm(QWQ, PRODUCT)
    d = [fit.coef[fit.terms.index("d")] for fit in (before, after)]
    assert d[0] * d[1] < 0
    assert changed.startswith(f"d {d[0]:.3g}***")
    assert "rho" not in changed


def test_quasi_binomial_has_no_likelihood():
    """Wider errors, the same coefficients, and no AIC that could be compared."""
    row = compare_fits(QWQ, QUADRATIC, "quasi-binomial").iloc[0]
    assert row[["loglik", "aic", "bic", "daic", "dbic"]].isna().all()
    assert (fit_glm(QWQ, QUADRATIC, "quasi-binomial").coef == fit_glm(QWQ).coef).all()


def test_the_printed_comparison_fits_a_terminal():
    """Lines have at most 100 characters, and failed fits show their status on both sides."""
    hostile = THREE.assign(model=THREE["model"].replace("sure", "\x1b[31mme/" + "x" * 60))
    text = print_comparison(compare_fits(hostile, PRODUCT), PRODUCT)
    assert max(map(len, text.splitlines())) <= 100
    assert text.count("separation") == 2
    assert "\x1b" not in text
    assert "effect where the loads it is multiplied by are 0" in text
    assert "multiplied" not in print_comparison(compare_fits(QWQ, LINEAR), LINEAR)


def test_the_summary_counts_models():
    """One sentence says how many models each criterion favours, change or have no fit."""
    compared = compare_fits(THREE, PRODUCT)
    text = summarise(compared)
    assert text.startswith("3 models; AIC lower than the paper's by more than 2 in ")
    assert f"in {(compared['daic'] < -2).sum()}, higher in {(compared['daic'] > 2).sum()}" in text
    assert text.endswith("; 1 without a fit.")
