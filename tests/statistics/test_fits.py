"""Regressions of all models as tidy tables, against the paper's and against one another."""

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm
from samples import PRODUCT, three_models
from scipy.stats import chi2, norm

from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.robustness.uncertainty import capacity_intervals as intervals
from cogniload_repro.statistics.cell_tables import load_cells
from cogniload_repro.statistics.design import FULL, X, grid_means, many_points
from cogniload_repro.statistics.fits import _summarise as summarise
from cogniload_repro.statistics.fits import (
    aic_table,
    capacity_points,
    compare_fits,
    fit,
    glm_table,
    interactions_table,
    spread_terms,
)
from cogniload_repro.statistics.regression import LINEAR, QUADRATIC, fit_glm

CELLS = load_counts()
QWQ = CELLS[CELLS["model"] == "QwQ-32B"]
THREE = three_models(CELLS)
SURE = THREE[THREE["model"] == "sure"]
_LINEAR, _QUADRATIC = FULL[:4], FULL[:5]


def test_any_regression_comes_as_one_row_a_term():
    """`fit` lists every model and term with z = coef / se, and no numbers for a model without a fit."""
    table = fit(THREE, "correct ~ C(d) + rho")
    assert table.groupby("model", sort=False).size().tolist() == [6, 6, 6]
    fitted = table[table["status"] == "ok"]
    np.testing.assert_allclose(fitted["z"], fitted["coef"] / fitted["se"])
    np.testing.assert_allclose(fitted["p"], 2 * norm.sf(np.abs(fitted["z"])))
    np.testing.assert_allclose((fitted["high"] - fitted["low"]) / fitted["se"], 2 * norm.ppf(0.975))
    assert (
        table[table["model"] == "sure"][["coef", "se", "z", "p", "loglik", "aic"]]
        .isna()
        .all(axis=None)
    )


def test_a_covariate_that_one_model_lacks_is_its_status():
    """A model without known prompt lengths says so, and the others are fitted."""
    tokens = pd.concat([QWQ.assign(prompt_mean=40.0 * QWQ["N"]), SURE.assign(prompt_mean=np.nan)])
    table = fit(tokens, "correct ~ d + np.log10(prompt_mean)")
    assert table.groupby("model", sort=False)["status"].first().tolist() == ["ok", "no prompt_mean"]
    compared = compare_fits(tokens, "correct ~ d + np.log10(prompt_mean)")
    assert compared["status"].tolist() == ["ok", "no prompt_mean"]
    wide = spread_terms(table).set_index("model")
    assert [name for name in wide if name.startswith("beta_")] == [
        "beta_0",
        "beta_d",
        "beta_np.log10(prompt_mean)",
    ]
    assert wide.loc["sure"].drop("status").isna().all()


def test_criteria_are_those_of_the_fits():
    """logLik, df, AIC and BIC are the two fits' own, and the differences theirs."""
    own = QWQ.assign(model="own")
    row = compare_fits(own, "correct ~ d + N + rho", "probit").iloc[0]
    yours, paper = fit_glm(QWQ, "correct ~ d + N + rho", "probit"), fit_glm(QWQ)
    assert row[["df", "loglik", "aic", "bic"]].tolist() == [4, yours.loglik, yours.aic, yours.bic]
    assert row[["against_df", "against_loglik", "against_aic", "against_bic"]].tolist() == [
        5, paper.loglik, paper.aic, paper.bic,
    ]  # fmt: skip
    assert row["daic"] == pytest.approx(-2 * (yours.loglik - paper.loglik) - 2)
    row = compare_fits(QWQ, QUADRATIC, "quasi-binomial").iloc[0]  # has no likelihood
    assert row[["loglik", "aic", "bic", "daic", "dbic"]].isna().all()


@pytest.mark.parametrize(
    ("formula", "family", "larger", "df"),
    [
        (PRODUCT, "logit", "formula", 1),
        ("correct ~ C(d) + log10_N + rho + I(rho**2)", "logit", "formula", 3),
        (LINEAR, "logit", "against", 1),
        ("correct ~ d", "logit", "against", 3),
        ("correct ~ 1", "logit", "against", 4),
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
    assert (row["larger"], row["lr_df"], {"daic_p10", "lr_p_p90"} <= {*row.index}) == (
        larger,
        df,
        True,
    )
    if df:
        fits = sorted((fit_glm(QWQ, formula), fit_glm(QWQ)), key=lambda fit: len(fit.terms))
        assert row["lr_p"] == pytest.approx(
            chi2.sf(2 * (fits[1].loglik - fits[0].loglik), df), rel=1e-9
        )
        assert row["lr_p"] == pytest.approx(chi2.sf(row["lr"], df))
    else:
        assert np.isnan(row["lr_p"])


def test_fits_say_what_was_fitted_to_what():
    """Formula and family go with the table, through a subset too."""
    fits = fit(QWQ, LINEAR, "probit").query("term == 'd'")
    assert fits.attrs == {"formula": LINEAR, "family": "probit"}
    with pytest.raises(
        ValueError, match=r"does not say its formula \(\.attrs\); pass it as fit returned it"
    ):
        compare_fits(QWQ, pd.DataFrame(fits.to_dict("list")))


def test_fits_are_compared_as_their_formulas_are():
    """A table of fits stands for its formula on both sides, and nothing is fitted again."""
    linear, quadratic = fit(THREE, LINEAR), fit(THREE, QUADRATIC)
    by_formula = compare_fits(THREE, LINEAR, against=QUADRATIC)
    pd.testing.assert_frame_equal(compare_fits(THREE, linear, against=quadratic), by_formula)
    assert by_formula["larger"].tolist() == ["against", "", "against"]
    other = compare_fits(THREE, linear.query("model != 'QwQ-32B'"))
    assert other["status"].tolist() == ["not fitted", "separation", "ok"]
    assert np.isnan(other["daic"].iloc[0])


def test_capacity_points_are_those_of_the_coefficients():
    """One row a model; without a fit no number; a line in rho is a curve without bend."""
    points = capacity_points(fit(THREE), THREE)
    assert points["status"].tolist() == ["ok", "separation", "ok"]
    assert points.loc[1, ["ecl50", "nt50", "id50"]].isna().all()
    found = many_points(fit_glm(QWQ).coef[None], grid_means(QWQ))
    assert points.loc[0, ["nt50", "id50"]].tolist() == [found["nt50"][0], found["id50"][0]]
    assert np.log10(points.loc[0, "ecl50"]) == pytest.approx(found["ecl50"][0])
    linear = capacity_points(fit(QWQ, LINEAR), QWQ)
    beta = np.append(fit_glm(QWQ, LINEAR).coef, 0)
    assert linear["id50"].item() == many_points(beta[None], grid_means(QWQ))["id50"][0]


@pytest.mark.parametrize(
    ("formula", "family", "why"),
    [
        (PRODUCT, "logit", "not defined with the term d:log10_N"),
        (QUADRATIC, "cloglog", "not defined with the link"),
    ],
)
def test_other_regressions_have_no_capacity_points_and_say_why(formula, family, why):
    """Where other terms or another link move the crossing, no number is made up; a failed fit keeps its status."""
    points = capacity_points(fit(THREE, formula, family), THREE)
    assert points.filter(regex="50").isna().all(axis=None)
    assert points.filter(regex="50").shape[1] == 9
    assert [status.startswith(why) for status in points["status"]] == [True, False, True]
    assert points["status"].iloc[1] == "separation"


def test_cells_that_cannot_be_meant_are_refused():
    """Another model's cells, absent columns and no rows are one sentence each, wherever cells come in."""
    fits = fit(QWQ)
    with pytest.raises(
        ValueError, match="the cells have no model QwQ-32B; pass the cells that were fitted"
    ):
        capacity_points(fits, SURE)
    with pytest.raises(
        ValueError, match="the fits have no column term, coef; pass them as fit returned them"
    ):
        capacity_points(fits.drop(columns=["coef", "term"]), QWQ)
    with pytest.raises(ValueError, match="the cells have no column rho; they have"):
        capacity_points(fits, QWQ.drop(columns="rho"))
    for function in (fit, compare_all, intervals, lambda cells: capacity_points(fits, cells)):
        with pytest.raises(ValueError, match=r"the cells have no column model, correct; they have"):
            function(QWQ.drop(columns=["model", "correct"]))
        with pytest.raises(ValueError, match="the cells have no rows"):
            function(QWQ[:0])


def compare_all(cells):
    """Compare another regression with the paper's."""
    return compare_fits(cells, PRODUCT)


def test_a_fit_that_fails_in_some_samples_has_no_numbers():
    """The status counts the failures; medians and ranges of the rest would be of other tables than it says."""
    each = pd.DataFrame(
        {"model": "m", "term": "d", "reconstruction": [1, 2, 3], "coef": [1.0, 2.0, np.nan]}
    )
    each = each.assign(se=0.1, p=0.5, total=9, loglik=-1.0, aic=2.0, bic=3.0, identified=False)
    row = summarise(each.assign(status=["ok", "ok", "separation"])).iloc[0]
    assert row["status"] == "separation in 1 of 3 reconstructions"
    assert (
        row[["coef", "se", "low", "high", "aic", "coef_p10", "coef_p90", "p_p10", "p_p90"]]
        .isna()
        .all()
    )
    assert (row["model"], row["term"], row["total"]) == ("m", "d", 9)
    whole = summarise(each.assign(status="ok", coef=[1.0, 2.0, 3.0])).iloc[0]
    assert whole[["coef", "coef_p10", "coef_p90"]].tolist() == pytest.approx([2, 1.2, 2.8])


def test_tables_hold_the_fits_of_each_model():
    """Table 2 is the quadratic fit, Table 6 compares it with the linear one, Table 3 drops interactions one by one."""
    own = THREE[THREE["model"] == "o3-2025-04-16"]
    k, n = own["correct"].to_numpy(), own["total"].to_numpy()

    def fitted(x):
        model = sm.GLM(np.column_stack([k, n - k]), x, family=sm.families.Binomial())
        return model.fit(tol=1e-10, tol_criterion="params")

    results = {columns: fitted(X[:, columns]) for columns in (_LINEAR, _QUADRATIC, FULL)}
    row = glm_table(THREE).iloc[2]
    names = ["0", "d", "N", "rho", "rho2"]
    np.testing.assert_allclose(
        row[[f"beta_{name}" for name in names]].astype(float), results[_QUADRATIC].params
    )
    np.testing.assert_allclose(
        row[[f"se_{name}" for name in names]].astype(float), results[_QUADRATIC].bse
    )
    np.testing.assert_allclose(
        row[[f"p_{name}" for name in names]].astype(float), results[_QUADRATIC].pvalues
    )
    assert row["total"] == n.sum() == 1398
    row = aic_table(THREE).iloc[2]
    drop = 2 * (results[_QUADRATIC].llf - results[_LINEAR].llf)
    assert row["p_lr"] == pytest.approx(chi2.sf(drop, 1))
    assert row["aic_linear"] - row["aic_quadratic"] == pytest.approx(drop - 2)
    row = interactions_table(THREE).iloc[2]
    for place, name in enumerate(("dN", "drho", "Nrho", "dNrho"), start=5):
        dropped = fitted(np.delete(X, place, axis=1))
        assert row[f"beta_{name}"] == pytest.approx(results[FULL].params[place], rel=1e-6)
        assert row[f"p_{name}"] == pytest.approx(
            chi2.sf(2 * (results[FULL].llf - dropped.llf), 1), rel=1e-6
        )


#: With ALPHA = 0.01, what follows it and what the paper's own stars decide.
_STRICTER = """
import sys
from importlib.util import find_spec, module_from_spec
from pathlib import Path
spec = find_spec("cogniload_repro.published")
published = sys.modules[spec.name] = module_from_spec(spec)
source = Path(spec.origin).read_text("utf-8")
assert source.count("ALPHA = 0.05") == 1
exec(source.replace("ALPHA = 0.05", "ALPHA = 0.01"), vars(published))

import cogniload_repro as cl
from cogniload_repro.robustness.comparisons import judge
from cogniload_repro.statistics.fits import aic_table
cells = cl.load_cells(models=["QwQ-32B", "DeepSeek-R1-Distill-Qwen-7B"])  # its p_LR is 0.04
row = cl.fit(cells).query("model == 'QwQ-32B'").iloc[1]
ecl50 = cl.intervals(cells).query("model == 'QwQ-32B' and point == 'ecl50'").iloc[0]
print(published.CONFIDENCE, round((row.high - row.low) / row.se, 3), judge(0.03, 0.5))
print(round(ecl50.profile_high - ecl50.profile_low, 1))
table6 = cl.tables.table6(aic_table(cells))
print(published.STARRED, table6.bold["p_lr"].all(), table6.caption)
"""


def test_our_level_moves_our_intervals_and_verdicts_and_not_the_papers_stars():
    """With ALPHA = 0.01 intervals are 99% wide and p = 0.03 shows no difference; bold type of Table 6 stays at 0.05."""
    run = subprocess.run(
        [sys.executable, "-c", _STRICTER], capture_output=True, text=True, check=True
    )
    ours, width, papers = run.stdout.splitlines()
    assert ours == f"99% {2 * norm.ppf(0.995):.3f} inconclusive"
    ecl50 = intervals(load_cells(models=["QwQ-32B"])).query("point == 'ecl50'").iloc[0]
    assert float(width) > 1.2 * (ecl50["profile_high"] - ecl50["profile_low"])
    assert papers.startswith("0.05 True ")
    assert papers.endswith("p_{LR} < 0.05$.")


@pytest.mark.parametrize("formula", [QUADRATIC, "correct ~ C(ratio_pct)"])
def test_a_family_that_there_is_not_is_refused_with_those_that_there_are(formula):
    """Of reconstructed counts too, whether the printed tables identify the regression or not."""
    for regress in (fit, compare_fits):
        with pytest.raises(
            ValueError, match="'poisson'; choose one of: logit, probit, cloglog, quasi"
        ):
            regress(load_cells(models="QwQ-32B"), formula, "poisson")
