"""Regressions against known truth, statsmodels row by row, scipy and R."""

import shutil
import subprocess

import numpy as np
import pytest
import statsmodels.api as sm
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import gammaln

import cogniload_repro as cl
from cogniload_repro.statistics.design import GRID
from cogniload_repro.statistics.families import FAMILIES
from cogniload_repro.statistics.regression import (
    INTERACTIONS,
    LINEAR,
    QUADRATIC,
    fit_glm,
    fit_tables,
)

pytestmark = pytest.mark.filterwarnings("error")

QWQ = cl.load_cells(models="QwQ-32B")
TRUTH = np.array([5.0, -0.2, -2.0, -2.5, 2.7])


def design(cells, formula=QUADRATIC):
    """The covariates of the paper's formulas, written out."""
    d, log_n, rho = (
        cells["d"].to_numpy(float),
        np.log10(cells["N"].to_numpy(float)),
        cells["rho"].to_numpy(),
    )
    columns = {
        LINEAR: [d, log_n, rho],
        QUADRATIC: [d, log_n, rho, rho**2],
        INTERACTIONS: [d, log_n, rho, rho**2, d * log_n, d * rho, log_n * rho, d * log_n * rho],
    }[formula]
    return np.column_stack([np.ones(len(cells)), *columns])


def draw(n, seed, beta=TRUTH):
    """Counts of the 140 cells from known coefficients."""
    p = 1 / (1 + np.exp(-design(GRID) @ beta))
    return GRID.assign(total=n, correct=np.random.default_rng(seed).binomial(n, p))


def one_row_each(cells):
    """The same answers, one row a puzzle."""
    rows = cells.loc[cells.index.repeat(cells["total"])].assign(total=1)
    outcomes = [
        np.repeat([1, 0], [k, n - k]) for k, n in zip(cells["correct"], cells["total"], strict=True)
    ]
    return rows.assign(correct=np.concatenate(outcomes))


def test_known_coefficients_are_recovered_with_honest_errors():
    """Over 200 simulated models the z-scores against the truth have mean 0 and variance 1 (within 4 of their sd)."""
    tables = np.array([draw(100, seed)["correct"] for seed in range(200)], float)
    fits = fit_tables(GRID, tables, np.full(tables.shape, 100.0), QUADRATIC)
    z = np.array([(fit.coef - TRUTH) / fit.se for fit in fits])
    assert np.abs(z.mean(axis=0)).max() < 4 / np.sqrt(200)
    assert np.abs(z.var(axis=0) - 1).max() < 4 * np.sqrt(2 / 200)


@settings(deadline=None, max_examples=15)
@given(
    seed=st.integers(0, 10**6),
    most=st.integers(3, 30),
    formula=st.sampled_from([LINEAR, QUADRATIC, INTERACTIONS]),
)
def test_counts_give_the_fit_of_one_row_a_puzzle(seed, most, formula):
    """Coefficients, errors, p-values, log-likelihood and AIC are those of statsmodels' Logit on every single answer."""
    cells = draw(np.random.default_rng(seed).integers(0, most, len(GRID)), seed)
    fit = fit_glm(cells, formula)
    assume(fit.status == "ok")
    rows = one_row_each(cells)
    logit = sm.Logit(rows["correct"].to_numpy(), design(rows, formula)).fit(
        disp=0, tol=1e-12, maxiter=100
    )
    order = {LINEAR: [0, 1, 2, 3], QUADRATIC: [0, 1, 2, 3, 4]}.get(formula)
    if order is None:  # formulaic sorts terms by their degree
        names = ["Intercept", "d", "log10_N", "rho", "I(rho ** 2)"]
        names += ["d:log10_N", "d:rho", "log10_N:rho", "d:log10_N:rho"]
        order = [names.index(term) for term in fit.terms]
    scale = np.maximum(np.abs(logit.params[order]), 1)
    np.testing.assert_allclose(fit.coef / scale, logit.params[order] / scale, atol=1e-8)
    np.testing.assert_allclose(fit.se, logit.bse[order], rtol=1e-6)
    np.testing.assert_allclose(fit.p, logit.pvalues[order], rtol=1e-5, atol=1e-12)
    np.testing.assert_allclose(
        fit.covariance, logit.cov_params()[np.ix_(order, order)], rtol=1e-5, atol=1e-9
    )
    assert fit.loglik == pytest.approx(logit.llf, abs=1e-8)
    assert fit.aic == pytest.approx(logit.aic, abs=2e-8)
    assert fit.total == len(rows)
    np.testing.assert_allclose(
        fit_glm(rows, formula).coef / scale, fit.coef / scale, atol=1e-8
    )  # without total


def test_a_fit_around_which_scoring_circles_is_found():
    """gemini-2.5-pro's complementary log-log fit, around which Fisher scoring circles, is at scipy's optimum."""
    own = cl.load_cells(models="gemini-2.5-pro")
    x, k, n = design(own), own["correct"].to_numpy(float), own["total"].to_numpy(float)
    fit = fit_glm(own, QUADRATIC, "cloglog")

    def loss(z):
        odds = np.exp(x @ (z * fit.se))
        return (n - k) @ odds - k[k > 0] @ np.log(-np.expm1(-odds[k > 0]))

    assert fit.status == "ok"
    found = minimize(
        loss,
        fit.coef / fit.se,
        method="Nelder-Mead",
        options={"fatol": 1e-10, "xatol": 1e-8, "maxiter": 9999},
    )
    assert found.fun == pytest.approx(-fit.loglik, abs=1e-8)
    results = cl.glm(own, family="cloglog")
    score = results.model.score(results.params)
    assert score @ results.cov_params() @ score < 1e-16  # 1e-8 of a standard error from the optimum
    odds = np.exp(
        fit.eta
    )  # standard errors are of the expected information, however the optimum was reached
    information = x.T @ (x * (n * odds**2 / np.expm1(odds))[:, None])
    assert fit.se == pytest.approx(np.sqrt(np.diag(np.linalg.inv(information))), rel=1e-6)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("formula", [QUADRATIC, INTERACTIONS])
def test_many_tables_at_once_have_the_fits_of_statsmodels(formula, family):
    """The batched maximiser agrees to 1e-9 with statsmodels table by table; one without a fit leaves the others."""
    counts = [draw(30, seed)["correct"] for seed in range(4)] + [np.full(len(GRID), 30)]
    tables = np.array(counts, dtype=float)
    fits = fit_tables(GRID, tables, np.full(tables.shape, 30.0), formula, family)
    assert [fit.status for fit in fits] == ["ok"] * 4 + ["separation"]
    for k, batched in zip(tables, fits, strict=True):
        one = fit_glm(GRID.assign(total=30, correct=k), formula, family)
        assert (one.status, one.terms) == (batched.status, batched.terms)
        scale = np.maximum(np.abs(one.coef), one.se)
        np.testing.assert_allclose(batched.coef / scale, one.coef / scale, rtol=0, atol=1e-9)
        np.testing.assert_allclose(batched.se, one.se, rtol=1e-7)
        assert batched.loglik == pytest.approx(one.loglik, rel=1e-12, nan_ok=True)


def test_glm_gives_what_statsmodels_gives():
    """The results object is that of the counts: summary, robust errors, predictions; likelihoods differ by log C."""
    results = cl.glm(cl.load_cells(models=["QwQ-32B", "o3-2025-04-16"]), "QwQ-32B", INTERACTIONS)
    ours = fit_glm(QWQ, INTERACTIONS)
    np.testing.assert_array_equal(results.params, ours.coef)
    assert list(results.params.index) == list(ours.terms)
    assert "log10_N:rho" in str(results.summary())
    n, k = QWQ["total"], QWQ["correct"]
    constant = (gammaln(n + 1) - gammaln(k + 1) - gammaln(n - k + 1)).sum()
    assert results.llf - constant == pytest.approx(ours.loglik)
    np.testing.assert_allclose(
        results.predict(results.model.spec.get_model_matrix(QWQ[:5])), ours.accuracy[:5]
    )
    rival = sm.GLM(np.column_stack([k, n - k]), results.model.exog, family=sm.families.Binomial())
    robust = rival.fit(cov_type="HC1").bse
    np.testing.assert_allclose(results.model.fit(cov_type="HC1").bse, robust, rtol=1e-6)
    quasi = cl.glm(QWQ, family="quasi-binomial")
    assert quasi.scale == pytest.approx(quasi.pearson_chi2 / quasi.df_resid)


def test_glm_refuses_what_has_no_fit():
    """No single model, separation and columns that the cells do not identify are sentences, not numbers."""
    both = cl.load_cells(models=["QwQ-32B", "o3-2025-04-16"])
    for model in (None, "o3"):
        with pytest.raises(
            ValueError, match="name one model of the cells; they have QwQ-32B, o3-2025-04-16"
        ):
            cl.glm(both, model)
    with pytest.raises(ValueError, match=r"QwQ-32B: separation; .* has no finite fit"):
        cl.glm(QWQ.assign(correct=QWQ["total"]))
    with pytest.raises(ValueError, match="QwQ-32B: no degree of freedom left for the scatter"):
        cl.glm(QWQ[:3], "QwQ-32B", "correct ~ C(d)", "quasi-binomial")


@pytest.mark.skipif(
    shutil.which("Rscript") is None, reason="R is not installed (Rscript not found)"
)
@pytest.mark.parametrize(
    ("name", "formula"), [("QwQ-32B", INTERACTIONS), ("gpt-5-2025-08-07", QUADRATIC)]
)
def test_r_gives_the_same_fits(name, formula, tmp_path):
    """R's glm agrees on coefficients, standard errors and log-likelihood of all links, and on quasi-binomial errors."""
    cells = cl.load_cells(models=name)
    cells.assign(log10_N=np.log10(cells["N"])).to_csv(tmp_path / "cells.csv", index=False)
    terms = formula.partition("~")[2].replace("**", "^")
    script = f"""
    options(digits = 15)
    c <- read.csv("{tmp_path / "cells.csv"}")
    for (family in list(binomial("logit"), binomial("probit"), binomial("cloglog"), quasibinomial())) {{
        f <- glm(cbind(correct, total - correct) ~ {terms}, family, c, control = list(epsilon = 1e-14, maxit = 200))
        p <- fitted(f)
        s <- summary(f)
        cat(family$family, family$link, sum(c$correct * log(p) + (c$total - c$correct) * log(1 - p)), s$dispersion,
            format(s$coefficients[, 1:2], digits = 15), "\\n")
    }}"""
    run = subprocess.run(["Rscript", "-e", script], capture_output=True, text=True, check=True)
    lines = [line.split() for line in run.stdout.splitlines()]
    assert [line[:2] for line in lines] == [
        ["binomial", "logit"], ["binomial", "probit"], ["binomial", "cloglog"], ["quasibinomial", "logit"],
    ]  # fmt: skip
    for kind, link, *numbers in lines:
        fit = fit_glm(cells, formula, "quasi-binomial" if kind == "quasibinomial" else link)
        loglik, phi, *estimates = map(float, numbers)
        coef, se = np.reshape(estimates, (2, -1))
        if kind == "quasibinomial":
            se = se * max(phi, 1) ** 0.5 / phi**0.5  # ours is never narrower than binomial
        else:
            assert fit.loglik == pytest.approx(loglik, abs=1e-4)
        np.testing.assert_allclose(fit.coef, coef, rtol=1e-4, atol=1e-5)
        np.testing.assert_allclose(fit.se, se, rtol=1e-4)
