"""Regressions against known truth, statsmodels row by row, scipy and R."""

import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from samples import fit_one
from scipy.optimize import minimize
from scipy.special import gammaln

import cogniload_repro as cl
from cogniload_repro.regression.design import GRID
from cogniload_repro.regression.families import FAMILIES
from cogniload_repro.regression.formulas import INTERACTIONS, LINEAR, QUADRATIC
from cogniload_repro.regression.glm import fit_all
from cogniload_repro.regression.reconstructions import committed_counts

pytestmark = pytest.mark.filterwarnings("error")

QWQ = cl.load_cells(models="QwQ-32B")
TRUTH = np.array([5.0, -0.2, -2.0, -2.5, 2.7])


def lay_out(cells, terms):
    """The covariates of the paper's formulas, written out, in the order of the terms."""
    d = cells["d"].to_numpy(float)
    N = np.log10(cells["N"].to_numpy(float))
    rho = cells["rho"].to_numpy()
    columns = {
        "Intercept": np.ones(len(cells)),
        "d": d,
        "log10_N": N,
        "rho": rho,
        "I(rho ** 2)": rho**2,
        "d:log10_N": d * N,
        "d:rho": d * rho,
        "log10_N:rho": N * rho,
        "d:log10_N:rho": d * N * rho,
    }
    return np.column_stack([columns[term] for term in terms])


QUADRATIC_TERMS = ["Intercept", "d", "log10_N", "rho", "I(rho ** 2)"]


def draw_cells(total, seed):
    """Counts of the 140 cells from known coefficients."""
    log_odds = lay_out(GRID, QUADRATIC_TERMS) @ TRUTH
    accuracy = 1 / (1 + np.exp(-log_odds))
    correct = np.random.default_rng(seed).binomial(total, accuracy)
    return GRID.assign(total=total, correct=correct)


def list_answers(cells):
    """The same answers, one row a puzzle."""
    answers = cells.loc[cells.index.repeat(cells["total"])]
    outcomes = []
    for correct, total in zip(cells["correct"], cells["total"], strict=True):
        outcomes += [1] * correct + [0] * (total - correct)
    return answers.assign(total=1, correct=outcomes)


def test_known_coefficients_are_recovered_with_honest_errors():
    """Over 200 simulated models z-scores against the truth have mean 0 and variance 1.

    Within 4 of the standard deviations of mean and variance.
    """
    tables = [draw_cells(100, seed).assign(model=f"{seed}") for seed in range(200)]
    fits = fit_all(pd.concat(tables, ignore_index=True))
    z = np.array([(fit.coef - TRUTH) / fit.se for fit in fits])
    assert np.abs(z.mean(axis=0)).max() < 4 / np.sqrt(200)
    assert np.abs(z.var(axis=0) - 1).max() < 4 * np.sqrt(2 / 200)


def test_a_fit_that_scoring_finds_slowly_is_found():
    """The likelihood has no slope left, as for some samples of Gemini with a lopsided link."""
    cells = cl.load_cells(models="gemini-2.5-pro")
    correct = committed_counts(cells)
    total = [cells["total"].to_numpy(float)]
    tables = cl.load_reconstructions("gemini-2.5-pro")
    fits = fit_all(tables, QUADRATIC, "cloglog")
    assert {fit.status for fit in fits} == {"ok"}
    covariates = lay_out(cells, fits[0].terms)
    for counts, fit in zip(correct, fits, strict=True):
        odds = np.exp(covariates @ fit.coef)
        slope = counts * odds / np.expm1(odds) - (total[0] - counts) * odds
        assert np.abs(covariates.T @ slope * fit.se).max() < 1e-4


@settings(deadline=None, max_examples=15)
@given(
    seed=st.integers(0, 10**6),
    most=st.integers(3, 30),
    formula=st.sampled_from([LINEAR, QUADRATIC, INTERACTIONS]),
)
def test_counts_give_the_fit_of_one_row_a_puzzle(seed, most, formula):
    """All numbers of a fit are those of statsmodels' Logit on every single answer."""
    total = np.random.default_rng(seed).integers(0, most, len(GRID))
    cells = draw_cells(total, seed)
    fit = fit_one(cells, formula)
    assume(fit.status == "ok")
    answers = list_answers(cells)
    model = sm.Logit(answers["correct"].to_numpy(), lay_out(answers, fit.terms))
    logit = model.fit(disp=0, tol=1e-12, maxiter=100)
    scale = np.maximum(np.abs(logit.params), 1)
    np.testing.assert_allclose(fit.coef / scale, logit.params / scale, atol=1e-8)
    np.testing.assert_allclose(fit.se, logit.bse, rtol=1e-6)
    np.testing.assert_allclose(fit.p, logit.pvalues, rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(fit.covariance, logit.cov_params(), rtol=1e-5, atol=1e-9)
    assert fit.loglik == pytest.approx(logit.llf, abs=1e-8)
    assert fit.aic == pytest.approx(logit.aic, abs=2e-8)
    assert fit.total == len(answers)


GEMINI = cl.load_cells(models="gemini-2.5-pro")


def test_a_fit_around_which_scoring_circles_is_found():
    """gemini-2.5-pro's complementary log-log fit is at scipy's optimum."""
    fit = fit_one(GEMINI, QUADRATIC, "cloglog")
    assert fit.status == "ok"
    covariates = lay_out(GEMINI, fit.terms)
    correct = GEMINI["correct"].to_numpy(float)
    wrong = GEMINI["total"].to_numpy(float) - correct
    some = correct > 0

    def loss(z):
        odds = np.exp(covariates @ (z * fit.se))
        return wrong @ odds - correct[some] @ np.log(-np.expm1(-odds[some]))

    precise = {"fatol": 1e-10, "xatol": 1e-8, "maxiter": 9999}
    optimum = minimize(loss, fit.coef / fit.se, method="Nelder-Mead", options=precise)
    assert optimum.fun == pytest.approx(-fit.loglik, abs=1e-6)


def test_its_errors_are_of_the_expected_information():
    """However the optimum was reached, which is 1e-8 of a standard error away."""
    fit = fit_one(GEMINI, QUADRATIC, "cloglog")
    results = cl.glm(GEMINI, family="cloglog")
    score = results.model.score(results.params)
    assert score @ results.cov_params() @ score < 1e-16
    covariates = lay_out(GEMINI, fit.terms)
    odds = np.exp(covariates @ fit.coef)
    weights = GEMINI["total"].to_numpy(float) * odds**2 / np.expm1(odds)
    information = covariates.T @ (covariates * weights[:, None])
    covariance = np.linalg.inv(information)
    assert fit.se == pytest.approx(np.sqrt(np.diag(covariance)), rel=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("formula", [QUADRATIC, INTERACTIONS])
def test_many_tables_at_once_have_the_fits_of_statsmodels(formula, family):
    """They agree to 1e-9 table by table; a table without a fit does not change the others."""
    tables = [draw_cells(30, seed)["correct"] for seed in range(4)]
    tables.append(np.full(len(GRID), 30))
    correct = np.array(tables, float)
    models = [
        GRID.assign(model=f"{place}", total=30, correct=counts)
        for place, counts in enumerate(correct)
    ]
    fits = fit_all(pd.concat(models, ignore_index=True), formula, family)
    assert [fit.status for fit in fits] == ["ok"] * 4 + ["separation"]
    for counts, fit in zip(correct, fits, strict=True):
        alone = fit_one(GRID.assign(total=30, correct=counts), formula, family)
        assert fit.status == alone.status
        assert fit.terms == alone.terms
        scale = np.maximum(np.abs(alone.coef), alone.se)
        np.testing.assert_allclose(
            fit.coef / scale, alone.coef / scale, rtol=0, atol=1e-9
        )
        np.testing.assert_allclose(fit.se, alone.se, rtol=1e-7)
        assert fit.loglik == pytest.approx(alone.loglik, rel=1e-12, nan_ok=True)


def test_glm_gives_what_statsmodels_gives():
    """The results are those of the counts: summary, robust errors, predictions."""
    cells = cl.load_cells(models=["QwQ-32B", "o3-2025-04-16"])
    results = cl.glm(cells, "QwQ-32B", INTERACTIONS)
    fit = fit_one(QWQ, INTERACTIONS)
    np.testing.assert_allclose(results.params, fit.coef, rtol=1e-10)
    assert list(results.params.index) == list(fit.terms)
    np.testing.assert_allclose(results.pvalues, fit.p, atol=1e-12)
    assert "log10_N:rho" in str(results.summary())
    covariates = results.model.spec.get_model_matrix(QWQ[:5])
    np.testing.assert_allclose(results.predict(covariates), fit.accuracy[:5])
    counts = np.column_stack([QWQ["correct"], QWQ["total"] - QWQ["correct"]])
    model = sm.GLM(counts, results.model.exog, family=sm.families.Binomial())
    robust = model.fit(cov_type="HC1")
    np.testing.assert_allclose(
        results.model.fit(cov_type="HC1").bse, robust.bse, rtol=1e-6
    )


def test_statsmodels_withholds_what_is_not_identified():
    """Z and p are missing in the summary too; robust errors depend on single cells."""
    open_fit = cl.glm(QWQ, formula="correct ~ C(ratio_pct)")
    assert open_fit.pvalues.isna().all()
    assert open_fit.summary2().tables[1]["P>|z|"].isna().all()
    assert open_fit.bse.notna().all()
    assert open_fit.summary().extra_txt
    results = cl.glm(QWQ)
    assert not results.summary().extra_txt
    assert results.pvalues.notna().all()
    assert results.model.fit(cov_type="HC1").pvalues.isna().all()
    own = cl.glm(QWQ.drop(columns="provenance"), formula="correct ~ C(ratio_pct)")
    assert own.model.fit(cov_type="HC1").pvalues.notna().all()


def test_the_likelihood_of_glm_differs_by_that_of_the_order_of_answers():
    """The sum of log C(total, correct): the counts do not say which answers are right."""
    results = cl.glm(QWQ)
    total = QWQ["total"]
    correct = QWQ["correct"]
    wrong = total - correct
    orders = gammaln(total + 1) - gammaln(correct + 1) - gammaln(wrong + 1)
    assert results.llf - orders.sum() == pytest.approx(fit_one(QWQ).loglik)


def test_a_scale_may_be_that_of_the_observed_scatter():
    """Pearson's chi-square by the degrees of freedom widens the errors; p is not identified."""
    results = cl.glm(QWQ)
    scale = results.pearson_chi2 / results.df_resid
    widened = results.model.fit(scale=scale)
    np.testing.assert_allclose(widened.bse, results.bse * scale**0.5)
    assert widened.pvalues.isna().all()


def test_glm_fits_one_model():
    """Without a name the models are listed; a short name is enough."""
    cells = cl.load_cells(models=["QwQ-32B", "o3-2025-04-16"])
    message = "name one model of the cells; they have QwQ-32B, o3-2025-04-16"
    with pytest.raises(ValueError, match=message):
        cl.glm(cells)
    assert cl.glm(cells, "o3").params.equals(cl.glm(cells, "o3-2025-04-16").params)


def test_glm_refuses_what_has_no_fit():
    """Separation, and columns that the cells do not identify, are sentences and not numbers."""
    with pytest.raises(ValueError, match=r"QwQ-32B: separation; .* has no finite fit"):
        cl.glm(QWQ.assign(correct=QWQ["total"]))


R_SCRIPT = """
options(digits = 15)
c <- read.csv("{path}")
families <- list(binomial("logit"), binomial("probit"), binomial("cloglog"))
for (family in families) {{
    precise <- list(epsilon = 1e-14, maxit = 200)
    f <- glm(cbind(correct, total - correct) ~ {terms}, family, c, control = precise)
    p <- fitted(f)
    s <- summary(f)
    loglik <- sum(c$correct * log(p) + (c$total - c$correct) * log(1 - p))
    estimates <- format(s$coefficients[, 1:2], digits = 15)
    cat(family$link, loglik, estimates, "\\n")
}}"""


@pytest.mark.skipif(
    shutil.which("Rscript") is None,
    reason="R is not installed (Rscript not found)",
)
@pytest.mark.parametrize(
    ("name", "formula"),
    [("QwQ-32B", INTERACTIONS), ("gpt-5-2025-08-07", QUADRATIC)],
)
def test_r_gives_the_same_fits(name, formula, tmp_path):
    """R's glm agrees on coefficients, standard errors and log-likelihoods of all families."""
    cells = cl.load_cells(models=name)
    path = tmp_path / "cells.csv"
    cells.to_csv(path, index=False)
    terms = formula.partition("~")[2].replace("**", "^")
    script = R_SCRIPT.format(path=path, terms=terms)
    run = subprocess.run(
        ["Rscript", "-e", script], capture_output=True, text=True, check=True
    )
    lines = [line.split() for line in run.stdout.splitlines()]
    assert [line[0] for line in lines] == ["logit", "probit", "cloglog"]
    for link, *numbers in lines:
        fit = fit_one(cells, formula, link)
        loglik, *estimates = map(float, numbers)
        coef, se = np.reshape(estimates, (2, -1))
        assert fit.loglik == pytest.approx(loglik, abs=1e-4)
        np.testing.assert_allclose(fit.coef, coef, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(fit.se, se, rtol=1e-4)
