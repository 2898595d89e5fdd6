"""One regression against another: criteria, and likelihood-ratio tests where one is nested."""

import numpy as np
import pytest
from samples import PRODUCT, fit_one, three_models
from scipy.stats import chi2

from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.regression.formulas import LINEAR
from cogniload_repro.regression.selection import compare_fits

CELLS = load_cells()
QWQ = CELLS[CELLS["model"] == "QwQ-32B"]
THREE = three_models(CELLS)


def test_criteria_are_those_of_the_fits():
    """Log-likelihood, df, AIC and BIC are those of the two fits, and the differences theirs."""
    formula = "correct ~ d + N + rho"
    mine = QWQ.assign(model="mine", provenance="scored")
    row = compare_fits(mine, formula, "probit").iloc[0]
    fits = {"": fit_one(QWQ, formula, "probit"), "against_": fit_one(QWQ)}
    for prefix, fitted in fits.items():
        assert row[f"{prefix}df"] == len(fitted.terms)
        for criterion in ("loglik", "aic", "bic"):
            assert row[f"{prefix}{criterion}"] == getattr(fitted, criterion)
    for criterion in ("aic", "bic"):
        difference = row[criterion] - row[f"against_{criterion}"]
        assert row[f"d{criterion}"] == pytest.approx(difference)


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
    ],
)
def test_likelihood_ratios_are_taken_where_one_is_nested(formula, family, larger, df):
    """Nesting is that of the columns' spans with the same link; equal spans are one model."""
    row = compare_fits(QWQ, formula, family).iloc[0]
    assert row["larger"] == larger
    assert row["lr_df"] == df
    if df:
        gain = abs(fit_one(QWQ, formula).loglik - fit_one(QWQ).loglik)
        assert row["lr"] == pytest.approx(2 * gain)
        assert row["lr_p"] == pytest.approx(chi2.sf(2 * gain, df), rel=1e-9)
    else:
        assert np.isnan(row["lr_p"])
