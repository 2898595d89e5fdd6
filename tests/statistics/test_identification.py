"""Which regressions the printed tables identify: a rank test against the sums that they fix."""

import numpy as np
import pytest

import cogniload_repro as cl
from cogniload_repro.statistics.identification import FIXED, in_span, is_identified
from cogniload_repro.statistics.reconstructions import committed_counts

CELLS = cl.load_cells(models="QwQ-32B")


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
    assert is_identified(CELLS, formula) is identified


def test_other_links_and_missing_cells_are_not_identified():
    """Sums determine a fit for the logit only, and over the whole grid only."""
    formula = "correct ~ d + log10_N"
    assert not is_identified(CELLS, formula, "probit")
    assert not is_identified(CELLS[CELLS["N"] > 20], formula)
    assert is_identified(CELLS[CELLS["N"] == 20], "correct ~ 1")


def test_fixed_sums_are_fixed():
    """Sums by level of d and N are equal in all committed tables, those of the other columns within their windows."""
    for name in cl.load_cells()["model"].unique():
        sums = committed_counts(cl.load_cells(models=name)) @ FIXED
        assert (np.ptp(sums[:, :9], axis=0) == 0).all()
        assert (np.ptp(sums[:, 9], axis=0) < 1e-9).all()  # 500 times the sum of rho is a whole number


def test_combinations_of_fixed_columns_are_in_their_span():
    """Any linear combination is; a column with one cell alone is not."""
    rng = np.random.default_rng(1)
    assert in_span(FIXED @ rng.normal(size=(FIXED.shape[1], 3)))
    assert not in_span(np.eye(140)[:, :1])
