"""Interactions, tested as the paper does and at the levels of the grid."""

from functools import cache

import numpy as np
import pytest
from samples import fit_one

from cogniload_repro.analysis.interactions import (
    TERMS,
    simple_slopes,
    tilts_along_ratio,
)
from cogniload_repro.regression.cell_tables import load_cells

CELLS = load_cells()
FEW = CELLS[CELLS["model"].isin(["QwQ-32B", "Qwen3-8B", "o3-2025-04-16"])]


@cache
def slopes():
    """Simple slopes, by model, term and level."""
    return simple_slopes(CELLS).set_index(["model", "term", "level"]).sort_index()


@pytest.mark.parametrize(
    ("term", "load", "level"),
    [("dN", "rho", 0.75), ("drho", "N", 250), ("Nrho", "d", 7)],
)
def test_simple_slopes_are_coefficients_of_moved_covariates(term, load, level):
    """The interaction at a level is the coefficient after measuring the third load from there."""
    cells = FEW[FEW["model"] == "QwQ-32B"].drop(columns="provenance")
    length = f"I(log10_N - {float(np.log10(level))!r})" if load == "N" else "log10_N"
    moved = cells if load == "N" else cells.assign(**{load: cells[load] - level})
    fit = fit_one(moved, f"correct ~ d * {length} * rho + I(rho**2)")
    at = fit.terms.index(TERMS[term])
    row = slopes().loc[("QwQ-32B", term, level)]
    assert row["slope"] == pytest.approx(fit.coef[at], rel=1e-6)
    assert row["se"] == pytest.approx(fit.se[at], rel=1e-6)
    assert row["p"] == pytest.approx(fit.p[at], rel=1e-4)


def test_slopes_of_another_formula():
    """Products of the formula alone have slopes, in any order.

    Without the three-way product the same at all levels.
    """
    cells = FEW[FEW["model"] == "QwQ-32B"]
    slopes = simple_slopes(cells, "correct ~ log10_N * d + rho + I(rho**2)", "probit")
    fit = fit_one(cells, "correct ~ d * log10_N + rho + I(rho**2)", "probit")
    assert set(slopes["term"]) == {"dN"}
    assert slopes.loc[~slopes["tested"], "level"].tolist() == [0.0]  # the origin alone
    assert slopes["slope"].to_numpy() == pytest.approx(
        fit.coef[fit.terms.index("d:log10_N")]
    )
    assert simple_slopes(cells, "correct ~ d + log10_N + rho").empty


def test_slopes_that_are_not_identified_have_no_p():
    """Such as those of a regression with the nominal ratio."""
    formula = "correct ~ d * log10_N + ratio_pct"
    open_slopes = simple_slopes(FEW, formula)
    assert open_slopes["slope"].notna().all()
    assert open_slopes[["p", "p_holm"]].isna().all(axis=None)
    assert simple_slopes(FEW.drop(columns="provenance"), formula)["p"].notna().all()


def test_a_tilt_that_is_not_identified_has_no_p():
    """On a part of the grid the tables do not fix the sums; they do for counts of one's own."""
    part = CELLS[(CELLS["model"] == "QwQ-32B") & (CELLS["N"] < 250)]
    assert tilts_along_ratio(part)[["p", "p_holm"]].isna().all(axis=None)
    assert tilts_along_ratio(part.assign(provenance="scored"))["p"].notna().all()
    assert tilts_along_ratio(CELLS)["p_holm"].notna().all()
