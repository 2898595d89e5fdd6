"""Which regressions the printed tables determine."""

import numpy as np
import pytest
from samples import fit_one

import cogniload_repro as cl
from cogniload_repro.regression.identification import (
    FIXED_COLUMNS,
    in_span,
    is_identified,
)

QWQ = cl.load_cells(models="QwQ-32B")


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
    """Levels of d and N, rho, rho squared and the products of Table 3, in any notation."""
    assert is_identified(fit_one(QWQ, formula)) is identified


def test_other_links_and_missing_cells_are_not_identified():
    """Sums determine a fit for the logit only, and over the whole grid only."""
    formula = "correct ~ d + log10_N"
    assert not is_identified(fit_one(QWQ, formula, "probit"))
    assert not is_identified(fit_one(QWQ[QWQ["N"] > 20], formula))
    assert is_identified(fit_one(QWQ[QWQ["N"] == 20], "correct ~ 1"))


def test_combinations_of_fixed_columns_are_in_their_span():
    """A single cell is none."""
    rng = np.random.default_rng(1)
    weights = rng.normal(size=(FIXED_COLUMNS.shape[1], 3))
    assert in_span(FIXED_COLUMNS @ weights)
    assert not in_span(np.eye(140)[:, :1])
