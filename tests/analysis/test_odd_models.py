"""Analyses of models with little to fit end in tables with gaps, never in an error."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from odd_models import ODD, odd_cells

import cogniload_repro as cl
from cogniload_repro.analysis import (
    comparisons,
    divisions,
    interactions,
    overflows,
    own_models,
    specifications,
    uncertainty,
)
from cogniload_repro.regression import paper_tables
from cogniload_repro.regression.formulas import INTERACTIONS, add_logarithm

pytestmark = pytest.mark.filterwarnings("error")

PAPER = cl.load_cells(models=["QwQ-32B", "o3"])
#: Functions of cells that chapters call.
ANALYSES = {
    "fit": cl.fit,
    "fit with products": lambda cells: cl.fit(cells, INTERACTIONS),
    "fit of a factor": lambda cells: cl.fit(cells, "correct ~ C(ratio_pct) + C(N)"),
    "compare_fits": lambda cells: cl.compare_fits(cells, "correct ~ d * log10_N"),
    "capacity_points": cl.capacity_points,
    "intervals": cl.intervals,
    "trough_table": uncertainty.trough_table,
    "compare_pairs": comparisons.compare_pairs,
    "compare_ecl50": comparisons.compare_ecl50,
    "rank_models": lambda cells: own_models.rank_models(
        cells[~cells["model"].isin(PAPER["model"])], PAPER
    ),
    "simple_slopes": interactions.simple_slopes,
    "tilts_along_ratio": interactions.tilts_along_ratio,
    "tables 2, 3 and 6": lambda cells: [
        make(cells)
        for make in (
            paper_tables.glm_table,
            paper_tables.interactions_table,
            paper_tables.aic_table,
        )
    ],
    "overflow_shares": overflows.overflow_shares,
    "marked_levels": overflows.marked_levels,
    "finished_accuracy": lambda cells: overflows.finished_accuracy(
        cells, 250, {"3+": [3, 5]}
    ),
    "finished slopes": divisions.finished_ranges,
    "finished interactions": lambda cells: divisions.finished_ranges(cells, "dN", 0.5),
    "dispersion_table": specifications.dispersion_table,
    "compare_specifications": lambda cells: specifications.compare_specifications(
        cells, cl.intervals(cells), specifications.SPECIFICATIONS[:4]
    ),
}


@pytest.mark.parametrize("analysis", ANALYSES)
def test_no_analysis_fails_because_of_added_models(analysis):
    """Beside models of the paper, models without a fit have a status or NaN."""
    odd = add_logarithm(odd_cells(*ODD))
    ANALYSES[analysis](pd.concat([PAPER, odd], ignore_index=True))


@pytest.mark.parametrize(
    "name",
    [
        "constant",
        pytest.param("perfect", marks=pytest.mark.slow),
        "one cell",
        pytest.param("one length", marks=pytest.mark.slow),
        pytest.param("two lengths", marks=pytest.mark.slow),
    ],
)
def test_no_analysis_fails_because_of_a_model_alone(name):
    """A table of nothing but one such model ends in tables too."""
    for analyse in ANALYSES.values():
        analyse(add_logarithm(odd_cells(name)))


def test_a_flat_curve_has_no_trough():
    """Equal accuracies in all cells have no trough and no U; a curve in rho keeps its own."""
    table = uncertainty.trough_table(
        odd_cells("constant", "difficulty alone", "ratio alone")
    )
    table = table.set_index("model")
    flat = table.loc[["constant", "difficulty alone"]]
    assert flat["trough"].isna().all()
    assert not flat[["within", "beyond"]].any(axis=None)
    assert (flat["p_u"] > 0.4).all()
    curved = table.loc["ratio alone"]
    assert 0.25 < curved["trough"] < 0.75
    assert curved["p_u"] < 1e-6


@given(
    st.lists(st.integers(0, 3), min_size=140, max_size=140),
    st.sampled_from(["d", "N", "ratio_pct", "all", "none"]),
    st.sampled_from([1, 3, 300]),
)
def test_any_counts_have_troughs_points_and_intervals_or_none(draws, by, total):
    """Counts that follow one load, all or none, of one answer a cell or of many, end in a table."""
    cells = odd_cells("constant")
    shares = pd.Series(draws) / 3
    if by == "none":
        shares = pd.Series(draws[0] / 3, cells.index)
    elif by != "all":
        shares = shares.groupby(cells[by]).transform("first")
    cells = cells.assign(total=total, correct=np.rint(shares * total).astype(int))
    uncertainty.trough_table(cells)
    intervals = cl.intervals(cells)
    known = intervals.dropna()
    assert (known["profile_low"] <= known["estimate"]).all()
    assert (known["estimate"] <= known["profile_high"]).all()
