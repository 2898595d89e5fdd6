"""Which counts have no finite fit, and which designs no unique one."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import assume, example, given, settings
from hypothesis import strategies as st
from samples import fit_one

from cogniload_repro.regression.design import GRID, QUADRATIC_COLUMNS, X
from cogniload_repro.regression.formulas import QUADRATIC

pytestmark = pytest.mark.filterwarnings("error")


def draw(answers):
    """Counts of the 140 cells, with so many answers each, from plausible coefficients."""
    accuracy = 1 / (1 + np.exp(-X[:, QUADRATIC_COLUMNS] @ [5.0, -0.2, -2.0, -2.5, 2.7]))
    correct = np.random.default_rng(2).binomial(answers, accuracy)
    return GRID.assign(total=answers, correct=correct)


TEN = draw(10)


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
        (
            TEN.query("d == 1"),
            QUADRATIC,
            "the cells determine 4 of the formula's 5 coefficients",
        ),
        (
            TEN.query("N == 20"),
            QUADRATIC,
            "the cells determine 4 of the formula's 5 coefficients",
        ),
        (
            TEN.query("ratio_pct < 20"),
            QUADRATIC,
            "the cells determine 4 of the formula's 5 coefficients",
        ),
        (
            TEN.query("d < 5"),
            "correct ~ d + I(d**2) + I(d**3)",
            "the cells determine 2 of the formula's 4 coefficients",
        ),
        (
            TEN.query("d == N / 20"),
            "correct ~ d * log10_N",
            "the cells determine 2 of the formula's 4 coefficients",
        ),
        (
            TEN.query("(d == 1) == (N == 20)"),
            "correct ~ C(d) + C(N)",
            "the cells determine 7 of the formula's 8 coefficients",
        ),
        (
            TEN,
            "correct ~ d + I(2 * d)",
            "the cells determine 2 of the formula's 3 coefficients",
        ),
        (
            TEN,
            "correct ~ I(0 * d)",
            "the cells determine 1 of the formula's 2 coefficients",
        ),
        (draw(0), QUADRATIC, "no answers"),
    ],
)
def test_what_has_no_estimate_is_not_a_number(cells, formula, status):
    """Separated answers, and covariates that do not vary or depend on others, have no estimate."""
    fit = fit_one(cells, formula)
    assert fit.status == status
    for part in (fit.coef, fit.se, fit.p, fit.covariance, fit.loglik, fit.aic):
        assert np.isnan(part).all()


@settings(deadline=None, max_examples=50)
@given(st.lists(st.tuples(st.integers(1, 6), st.booleans()), min_size=3, max_size=12))
@example([(1, False), (2, False), (2, True), (3, True)])
@example([(1, False), (2, True), (3, False), (4, True)])
def test_separation_is_decided_as_for_one_covariate(answers):
    """With one covariate a fit exists where right and wrong answers overlap (Albert, 1984)."""
    d = np.array([difficulty for difficulty, _ in answers])
    right = np.array([is_right for _, is_right in answers])
    assume(len(set(d)) > 1)
    rows = pd.DataFrame({"N": 20, "d": d, "rho": 0.5, "correct": right, "total": 1})
    overlaps = False
    if right.any() and not right.all():
        of_right = d[right]
        of_wrong = d[~right]
        overlaps = of_right.max() > of_wrong.min() and of_wrong.max() > of_right.min()
    fit = fit_one(rows, "correct ~ d")
    assert fit.status == ("ok" if overlaps else "separation")
    assert np.isfinite(fit.coef).all() == bool(overlaps)
