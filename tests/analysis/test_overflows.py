"""Answers that ran out of context: their shares, and bounds on accuracy among finished answers."""

from itertools import product

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.analysis import overflows
from cogniload_repro.published import load_table
from cogniload_repro.regression.cell_tables import load_cells

CELLS = load_cells()


def of(model):
    """The cells of one model."""
    return CELLS[CELLS["model"] == model]


def test_shares_are_those_of_tables_4_and_5():
    """Overflows by d and by N, as shares of answers and errors, are those printed."""
    for load, table in (("d", "table4"), ("N", "table5")):
        printed = load_table(table)
        errors = printed[
            ["ctx", "valid_logic", "poi_logic", "last_logic", "other"]
        ].sum(axis=1)
        shares = overflows.overflow_shares(CELLS, load).set_index(["model", load])
        printed = printed.assign(
            share=printed["ctx"] / printed["samples"], of_errors=printed["ctx"] / errors
        )
        printed = printed.set_index(["model", load]).reindex(shares.index)
        np.testing.assert_allclose(shares["share"], printed["share"])
        np.testing.assert_allclose(shares["of_errors"], printed["of_errors"])
        marked = (
            overflows.marked_levels(CELLS)
            .query("load == @load")
            .set_index(["model", "level"])
            .index
        )
        assert set(marked) == set(
            printed.index[printed["share"] > overflows.MARKED_SHARE]
        )


def tiny(counts):
    """Cells of a paper's model with two N and two d.

    Each has a count of correct answers, overflows and valid logic.
    """
    rows = [
        {
            "model": "QwQ-32B",
            "N": N,
            "d": d,
            "total": sum(cell),
            "correct": cell[0],
            "ctx": cell[1],
            "valid_logic": cell[2],
        }
        for (N, d), cell in zip(product((20, 50), (1, 3)), counts, strict=True)
    ]
    cells = pd.DataFrame(rows).assign(poi_logic=0, last_logic=0, other=0)
    return cells.assign(provenance="reconstructed")


def test_a_tenth_of_overflows_is_not_marked():
    """More than a tenth is."""
    assert overflows.marked_levels(tiny([(9, 1, 0)] * 4)).empty
    assert len(overflows.marked_levels(tiny([(8, 1, 0)] * 4))) == 4


@pytest.mark.parametrize("seed", range(4))
def test_bounds_are_those_of_all_tables(seed):
    """Integer programmes return the least and largest value over all tables of counts."""
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(4, rng.dirichlet([1, 1, 1]), size=4)
    divisions = [[(c, x, 4 - c - x) for c in range(5) for x in range(5 - c)]] * 4
    tables = np.array(list(product(*divisions))).reshape(-1, 2, 2, 3)
    sums = counts.reshape(2, 2, 3)
    agree = (tables.sum(axis=1) == sums.sum(axis=0)).all(axis=(1, 2))
    agree &= (tables.sum(axis=2) == sums.sum(axis=1)).all(axis=(1, 2))
    levels = {"1": [1], "3": [3]}
    bounds = pd.concat(
        {
            N: overflows.finished_accuracy(tiny(counts), N, levels).set_index("d")
            for N in (20, 50)
        }
    )
    for (i, N), (j, d) in product(enumerate((20, 50)), enumerate((1, 3))):
        correct = tables[agree, i, j, 0]
        finished = 4 - tables[agree, i, j, 1]
        row = bounds.loc[(N, str(d))]
        assert (row["fewest"], row["most"]) == (finished.min(), finished.max())
        some = finished > 0
        if some.any():
            ratios = correct[some] / finished[some]
            assert (row["low"], row["high"]) == pytest.approx(
                (ratios.min(), ratios.max())
            )
        else:
            assert np.isnan(row["low"])
            assert np.isnan(row["high"])


def test_real_outputs_have_one_value():
    """Counts that are not reconstructed bound nothing: accuracy among finished answers is known."""
    cells = of("Phi-4-reasoning").assign(provenance="scored")
    row = overflows.finished_accuracy(cells, 250, {"7": [7]}).iloc[0]
    at = cells.query("N == 250 and d == 7")[["total", "correct", "ctx"]].sum()
    assert (
        row["low"]
        == row["high"]
        == pytest.approx(at["correct"] / (at["total"] - at["ctx"]))
    )
