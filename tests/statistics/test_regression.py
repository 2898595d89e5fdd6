"""Regressions against known truth, statsmodels row by row, scipy and R."""

import shutil
import subprocess

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from scipy.optimize import minimize
from scipy.special import gammaln

import cogniload_repro as cl
from cogniload_repro.statistics.design import GRID
from cogniload_repro.statistics.regression import (
    FAMILIES,
    FIXED_COLUMNS,
    INTERACTIONS,
    LINEAR,
    QUADRATIC,
    fit_glm,
    fit_tables,
    in_span,
    is_identified,
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


TEN = draw(10, 2)


@pytest.mark.parametrize(
    ("cells", "formula", "status"),
    [
        (TEN.assign(correct=TEN["total"]), QUADRATIC, "separation"),
        (TEN.assign(correct=0), QUADRATIC, "separation"),
        (TEN.assign(correct=TEN["total"] * (TEN["d"] < 5)), QUADRATIC, "separation"),
        # separated but for ties
        (
            TEN.assign(correct=TEN["total"] * (TEN["N"] < 100) + (TEN["N"] == 100)),
            QUADRATIC,
            "separation",
        ),
        (
            TEN.assign(correct=TEN["total"].where(TEN["d"] != 1, TEN["correct"])),
            QUADRATIC,
            "separation",
        ),
        (TEN.query("d == 1"), QUADRATIC, "d takes 1 value, the formula needs 2"),
        (TEN.query("N == 20"), QUADRATIC, "N takes 1 value, the formula needs 2"),
        (TEN.query("ratio_pct < 20"), QUADRATIC, "rho takes 2 values, the formula needs 3"),
        (
            TEN.query("d < 5"),
            "correct ~ d + I(d**2) + I(d**3)",
            "d takes 2 values, the formula needs 4",
        ),
        (
            TEN.query("d == N / 20"),
            "correct ~ d * log10_N",
            "the cells determine 2 of its 4 coefficients",
        ),
        (
            TEN.query("(d == 1) == (N == 20)"),
            "correct ~ C(d) + C(N)",
            "the cells determine 7 of its 8 coefficients",
        ),
        (TEN, "correct ~ d + I(2 * d)", "the cells determine 2 of its 3 coefficients"),
        (TEN, "correct ~ I(0 * d)", "the cells determine 1 of its 2 coefficients"),
        (TEN.iloc[:0], QUADRATIC, "no answers"),
        (draw(0, 1), QUADRATIC, "no answers"),
    ],
)
def test_what_has_no_estimate_is_not_a_number(cells, formula, status):
    """Answers that a plane separates, and covariates that do not vary or depend on one another, have no estimate."""
    fit = fit_glm(cells, formula)
    assert fit.status == status
    for part in (fit.coef, fit.se, fit.p, fit.covariance, fit.loglik, fit.aic):
        assert np.isnan(part).all()


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(1, 6), st.booleans()), min_size=3, max_size=12))
@example([(1, False), (2, False), (2, True), (3, True)])
@example([(1, False), (2, True), (3, False), (4, True)])
def test_separation_is_decided_as_for_one_covariate(answers):
    """With one covariate a fit exists exactly when right and wrong answers overlap (Albert and Anderson, 1984)."""
    d, right = np.array([a[0] for a in answers]), np.array([a[1] for a in answers])
    assume(len(set(d)) > 1)
    rows = pd.DataFrame({"N": 20, "d": d, "rho": 0.5, "correct": right, "total": 1})
    overlap = right.any() and not right.all()
    overlap = overlap and d[right].max() > d[~right].min() and d[~right].max() > d[right].min()
    fit = fit_glm(rows, "correct ~ d")
    assert fit.status == ("ok" if overlap else "separation")
    assert np.isfinite(fit.coef).all() == bool(overlap)


def test_an_unknown_family_is_refused():
    """The sentence names the families that there are."""
    with pytest.raises(
        ValueError,
        match="no family 'logits'; choose one of: logit, probit, cloglog, quasi-binomial",
    ):
        fit_glm(QWQ, QUADRATIC, "logits")


@pytest.mark.parametrize(
    ("formula", "identified"),
    [
        ("correct ~ d + log10_N + rho + I(rho**2)", True),
        ("correct ~ d * log10_N * rho + I(rho**2)", True),
        ("correct ~ C(d) + C(N) + rho + I(rho**2) + d:rho", True),
        ("correct ~ bs(d, df=4) + np.sqrt(N) + N", True),
        ("correct ~ np.log10(N) * center(d) * rho", True),
        ("correct ~ d * N + rho", False),
        ("correct ~ C(ratio_pct)", False),
        ("correct ~ rho + I(rho**3)", False),
        ("correct ~ ratio_pct", False),
        ("correct ~ C(d):C(N)", False),
        ("correct ~ d:I(rho**2)", False),
    ],
)
def test_the_span_decides(formula, identified):
    """Levels of d and N, rho, rho squared and the products of Table 3, in any notation; nothing else."""
    assert is_identified(QWQ, formula) is identified


def test_other_links_and_missing_cells_are_not_identified():
    """Sums determine a fit for the logit only, and over the whole grid only."""
    formula = "correct ~ d + log10_N"
    assert not is_identified(QWQ, formula, "probit")
    assert not is_identified(QWQ[QWQ["N"] > 20], formula)
    assert is_identified(QWQ[QWQ["N"] == 20], "correct ~ 1")
    assert in_span(
        FIXED_COLUMNS @ np.random.default_rng(1).normal(size=(FIXED_COLUMNS.shape[1], 3))
    )
    assert not in_span(np.eye(140)[:, :1])
