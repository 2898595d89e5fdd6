"""One regression against another: criteria, and likelihood-ratio tests where one is nested."""

import numpy as np
import pandas as pd
import pytest
from samples import PRODUCT, three_models
from scipy.stats import chi2

from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.statistics.fits import fit
from cogniload_repro.statistics.regression import LINEAR, QUADRATIC, fit_glm
from cogniload_repro.statistics.selection import compare_fits

CELLS = load_counts()
QWQ = CELLS[CELLS["model"] == "QwQ-32B"]
THREE = three_models(CELLS)


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


def test_fits_are_compared_as_their_formulas_are():
    """A table of fits stands for its formula on both sides, and nothing is fitted again."""
    linear, quadratic = fit(THREE, LINEAR), fit(THREE, QUADRATIC)
    by_formula = compare_fits(THREE, LINEAR, against=QUADRATIC)
    pd.testing.assert_frame_equal(compare_fits(THREE, linear, against=quadratic), by_formula)
    assert by_formula["larger"].tolist() == ["against", "", "against"]
    other = compare_fits(THREE, linear.query("model != 'QwQ-32B'"))
    assert other["status"].tolist() == ["not fitted", "separation", "ok"]
    assert np.isnan(other["daic"].iloc[0])


def test_what_is_no_regression_is_refused():
    """Neither a formula nor a table of fits, on either side."""
    for nothing in (None, 5, ["correct ~ d"]):
        with pytest.raises(ValueError, match="is no table of fits; pass what fit returned"):
            compare_fits(QWQ, nothing)
        with pytest.raises(ValueError, match="is no table of fits; pass what fit returned"):
            compare_fits(QWQ, "correct ~ d", against=nothing)
