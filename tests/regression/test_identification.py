"""Which regressions the printed tables determine."""

import numpy as np
import pytest
from samples import fit_one

import cogniload_repro as cl
from cogniload_repro.regression.formulas import QUADRATIC
from cogniload_repro.regression.identification import FIXED_COLUMNS, in_span

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
    assert fit_one(QWQ, formula).identified is identified


def test_other_links_and_missing_cells_are_not_identified():
    """Sums determine a fit for the logit only, and over the whole grid only."""
    formula = "correct ~ d + log10_N"
    assert not fit_one(QWQ, formula, "probit").identified
    assert not fit_one(QWQ[QWQ["N"] > 20], formula).identified
    assert fit_one(QWQ[QWQ["N"] == 20], "correct ~ 1").identified


def test_combinations_of_fixed_columns_are_in_their_span():
    """A single cell is none."""
    rng = np.random.default_rng(1)
    weights = rng.normal(size=(FIXED_COLUMNS.shape[1], 3))
    assert in_span(FIXED_COLUMNS @ weights)
    assert not in_span(np.eye(140)[:, :1])


def test_every_sample_is_identified_and_fitted_as_itself():
    """`fit` gives each of the 24 tables the coefficients that `glm` gives to it alone."""
    samples = cl.load_reconstructions("QwQ-32B")
    fits = cl.fit(samples)
    assert fits["identified"].all()
    assert fits["p"].notna().all()
    open_fits = cl.fit(samples, "correct ~ C(ratio_pct)")
    assert not open_fits["identified"].any()
    for number, table in samples.groupby("reconstruction"):
        for formula, together in (
            (QUADRATIC, fits),
            ("correct ~ C(ratio_pct)", open_fits),
        ):
            of_table = together[together["reconstruction"] == number]
            alone = cl.glm(table, formula=formula)
            assert of_table["coef"].to_numpy() == pytest.approx(alone.params.to_numpy())
            assert of_table["p"].isna().all() == np.isnan(alone.pvalues).all()
    assert open_fits.groupby("reconstruction")["coef"].first().nunique() == 24


@pytest.mark.parametrize("change", [-1, 1])
@pytest.mark.parametrize("column", ["correct", "total"])
def test_a_count_changed_by_one_has_other_sums(column, change):
    """It is no table that agrees with the paper, so p is withheld."""
    changed = QWQ.copy()
    changed.loc[100, column] += change
    assert cl.fit(QWQ)["p"].notna().all()
    assert cl.fit(changed)["p"].isna().all()
    assert not cl.fit(changed)["identified"].any()
    assert np.isnan(cl.glm(changed).pvalues).all()


def test_counts_without_provenance_are_the_readers_own():
    """Whether or not they equal the paper's; loaded counts say where they come from."""
    formula = "correct ~ C(ratio_pct)"
    own = QWQ.drop(columns="provenance")
    assert cl.fit(own, formula)["identified"].all()
    assert cl.fit(own.assign(provenance="scored"), formula, "probit")["p"].notna().all()
    assert not cl.fit(QWQ, formula)["identified"].any()
    assert set(cl.load_reconstructions("o3")["provenance"]) == {"reconstructed"}


def test_a_hidden_key_of_a_frame_changes_nothing():
    """Attributes are lost in a merge, so they may not decide what is fitted."""
    sample = cl.load_reconstructions("QwQ-32B").query("reconstruction == 3")
    marked = sample.copy()
    marked.attrs["reconstruction"] = 5
    assert cl.fit(marked).equals(cl.fit(sample))
