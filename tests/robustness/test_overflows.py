"""Answers that ran out of context: shares, and what the tables say of accuracy and slopes among finished answers."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.models import NAMES
from cogniload_repro.published import load_table
from cogniload_repro.robustness import overflows
from cogniload_repro.robustness.interactions import simple_slopes
from cogniload_repro.statistics.cell_tables import load_cells
from cogniload_repro.statistics.regression import fit_glm

CELLS = load_cells()


def of(model):
    """The cells of one model."""
    return CELLS[CELLS["model"] == model]


def test_shares_are_those_of_tables_4_and_5():
    """Overflows by d and by N, as shares of answers and of errors, are those of the printed rows."""
    for load, table in (("d", "table4"), ("N", "table5")):
        printed = load_table(table)
        errors = printed[["ctx", "valid_logic", "poi_logic", "last_logic", "other"]].sum(axis=1)
        own = overflows.overflow_shares(CELLS, load).set_index(["model", load])
        printed = printed.assign(
            share=printed["ctx"] / printed["samples"], of_errors=printed["ctx"] / errors
        )
        printed = printed.set_index(["model", load]).reindex(own.index)
        np.testing.assert_allclose(own["share"], printed["share"])
        np.testing.assert_allclose(own["of_errors"], printed["of_errors"])
        marked = (
            overflows.marked_levels(CELLS)
            .query("load == @load")
            .set_index(["model", "level"])
            .index
        )
        assert set(marked) == set(printed.index[printed["share"] > overflows.MARKED_SHARE])


def tiny(counts):
    """Cells of a paper's model with two N, two d, and counts of correct, overflow and valid-logic for each."""
    rows = [
        {
            "model": "QwQ-32B",
            "N": N,
            "d": d,
            "total": sum(own),
            "correct": own[0],
            "ctx": own[1],
            "valid_logic": own[2],
        }
        for (N, d), own in zip(product((20, 50), (1, 3)), counts, strict=True)
    ]
    cells = pd.DataFrame(rows).assign(poi_logic=0, last_logic=0, other=0)
    return cells.assign(provenance="reconstructed")


@pytest.mark.parametrize("seed", range(4))
def test_bounds_are_those_of_all_tables(seed):
    """On tiny tables the integer programmes return the least and the largest value over every table of counts."""
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(4, rng.dirichlet([1, 1, 1]), size=4)
    own = [[(c, x, 4 - c - x) for c in range(5) for x in range(5 - c)]] * 4
    tables = np.array(list(product(*own))).reshape(-1, 2, 2, 3)
    sums = counts.reshape(2, 2, 3)
    agree = (tables.sum(axis=1) == sums.sum(axis=0)).all(axis=(1, 2))
    agree &= (tables.sum(axis=2) == sums.sum(axis=1)).all(axis=(1, 2))
    levels = {"1": [1], "3": [3]}
    found = pd.concat(
        {N: overflows.finished_accuracy(tiny(counts), N, levels).set_index("d") for N in (20, 50)}
    )
    for (i, N), (j, d) in product(enumerate((20, 50)), enumerate((1, 3))):
        correct, finished = tables[agree, i, j, 0], 4 - tables[agree, i, j, 1]
        row = found.loc[(N, str(d))]
        assert (row["fewest"], row["most"]) == (finished.min(), finished.max())
        some = finished > 0
        if some.any():
            ratios = correct[some] / finished[some]
            assert (row["low"], row["high"]) == pytest.approx((ratios.min(), ratios.max()))
        else:
            assert np.isnan(row["low"])
            assert np.isnan(row["high"])


def test_real_outputs_have_one_value():
    """Counts that are not reconstructed bound nothing: accuracy among finished answers and slopes are known."""
    own = of("Phi-4-reasoning").assign(provenance="scored")
    found = overflows.finished_accuracy(own, 250, {"7": [7]}).iloc[0]
    at = own.query("N == 250 and d == 7")[["total", "correct", "ctx"]].sum()
    assert found["low"] == found["high"] == pytest.approx(at["correct"] / (at["total"] - at["ctx"]))
    slopes = overflows.finished_slopes(own).iloc[0]
    fit = fit_glm(own.assign(total=own["total"] - own["ctx"]))
    assert slopes["slope_low"] == slopes["slope_high"] == pytest.approx(fit.coef[2])


def test_without_overflows_the_leaders_compound_less():
    """At rho = 50% the z of gpt-5 and o3 are -3.6 and -4.1 with overflows; without them anything below zero."""
    leaders = CELLS[CELLS["model"].isin(["gpt-5-2025-08-07", "o3-2025-04-16"])]
    found = overflows.finished_interactions(leaders, "dN", 0.5).set_index("model")
    assert found["ctx"].tolist() == [32, 24]
    assert found["z"].tolist() == pytest.approx([-3.57, -4.09], abs=0.005)
    slopes = simple_slopes(leaders).query("term == 'dN' and level == 0.5").set_index("model")
    assert (slopes["slope"] / slopes["se"]).tolist() == pytest.approx(found["z"].tolist(), abs=1e-6)
    assert found["z_low"].tolist() == pytest.approx([-2.5, -3.2], abs=0.05)
    assert found["z_high"].tolist() == pytest.approx([-0.54, -0.48], abs=0.05)
    longest = overflows.finished_interactions(leaders, "drho", 250)
    assert longest["z_high"].tolist() == pytest.approx([-2.9, -1.7], abs=0.05)
    pro = overflows.finished_interactions(of("gemini-2.5-pro"), "dN", 0.95).iloc[
        0
    ]  # some fits fail
    assert pro["z_low"] < pro["z"] < 0 < pro["z_high"] < 10


def test_kept_divisions_are_those_of_a_search(monkeypatch):
    """Every model has its rows, a search finds them again, and other counts of the same model are searched."""
    kept = pd.read_csv(overflows.DIVISIONS)
    assert kept["model"].drop_duplicates().tolist() == list(NAMES)
    assert (kept.groupby("model").size() == 1 + (7 + 1) + (4 + 1) + (5 + 1)).all()
    assert (kept["low"] <= kept["high"]).all()
    own, some = of("gpt-5-2025-08-07"), of("gpt-5-2025-08-07").query("N > 20")
    found = [
        *overflows.finished_interactions(own, "dN", 0.5).iloc[0, 4:],
        *overflows.finished_slopes(own).iloc[0, 1:],
    ]
    less = overflows.finished_slopes(some)
    monkeypatch.setattr(overflows, "_read_divisions", dict)
    again = [
        *overflows.finished_interactions(own, "dN", 0.5).iloc[0, 4:],
        *overflows.finished_slopes(own).iloc[0, 1:],
    ]
    assert again == pytest.approx(found, rel=1e-6)
    pd.testing.assert_frame_equal(overflows.finished_slopes(some), less)
    assert less["slope"].item() != found[3]


@pytest.mark.slow
def test_divisions_are_made_again():
    """A search for each model gives the committed file."""
    made = pd.concat(
        overflows.search_divisions(own) for _, own in CELLS.groupby("model", sort=False)
    )
    kept = pd.read_csv(overflows.DIVISIONS)
    made = made.reset_index(drop=True).astype({"level": float})
    pd.testing.assert_frame_equal(made, kept, check_dtype=False, rtol=1e-6)
