"""Accuracy, error counts and coverage of cells."""

import numpy as np
import pandas as pd
import pytest
from fixtures.provisional import provisional_cells, rename_model
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.models import NAMES, order_models
from cogniload_repro.published import ERRORS, load_table
from cogniload_repro.statistics.accuracy import accuracy_by, errors_by, percent

CELLS = provisional_cells()


def one_cell_a_row(table, dimension):
    """Turn Table 4 or 5 into cells, one for each printed row."""
    correct = table["samples"] - table[list(ERRORS)].sum(axis=1)
    other = "N" if dimension == "d" else "d"
    return table.assign(total=table["samples"], correct=correct, ratio_pct=50, **{other: 5})


@pytest.mark.parametrize(("name", "dimension"), [("table4", "d"), ("table5", "N")])
def test_errors_by_is_the_printed_table(name, dimension):
    """Every count and percentage of Tables 4 and 5 comes back from cells with the same counts."""
    printed = load_table(name)
    counted = errors_by(one_cell_a_row(printed, dimension).sample(frac=1, random_state=1), dimension)
    key = ["model", dimension]
    pd.testing.assert_frame_equal(counted.set_index(key).sort_index(), printed.set_index(key).sort_index())


@given(st.integers(1, 20_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_percent_is_nearest(count):
    """No whole percentage is nearer than the one returned; ties are even: 97.5% prints as 98, 2.5% as 2."""
    correct, n = count
    assert (percent(273, 280), percent(1, 40)) == (98, 2)
    assert 2 * abs(100 * correct - percent(correct, n) * n) <= n


@given(st.integers(1, 20_000).flatmap(lambda n: st.tuples(st.integers(0, n), st.just(n))))
def test_wilson_interval(count):
    """The bounds are those of Wilson's formula with the z of Appendix C, and hold the accuracy."""
    correct, n = count
    cells = pd.DataFrame({"model": ["m"], "total": [n], "correct": [correct]})
    row = accuracy_by(cells, "model").iloc[0]
    z, p = 1.644853627, correct / n
    middle = (p + z**2 / (2 * n)) / (1 + z**2 / n)
    half = z / (1 + z**2 / n) * np.sqrt(p * (1 - p) / n + z**2 / (4 * n**2))
    assert row["low"] == pytest.approx(max(middle - half, 0), abs=1e-9)
    assert row["high"] == pytest.approx(min(middle + half, 1), abs=1e-9)
    assert row["low"] <= row["accuracy"] + 1e-12
    assert row["accuracy"] <= row["high"] + 1e-12


def test_accuracy_by_keeps_order_and_drops_empty_cells():
    """Models come in printed order, then strangers by name; what has no puzzle has no accuracy."""
    assert order_models(["zeta", NAMES[3], "alpha", NAMES[0], NAMES[3]]) == [NAMES[0], NAMES[3], "alpha", "zeta"]
    own = rename_model(CELLS, "QwQ-32B", "A-model")
    empty = rename_model(CELLS, "QwQ-32B", "nothing").assign(total=0, correct=0)
    table = accuracy_by(pd.concat([own, empty, CELLS[::-1]]), "model", "N")
    assert list(table["model"].unique()) == [*NAMES, "A-model"]
    assert table.loc[table["model"] == "A-model", "N"].tolist() == [20, 50, 100, 250]


@pytest.mark.parametrize("dims", [(), ("model", "depth")])
def test_unknown_column_is_named(dims):
    """A wrong column name is answered with those there are."""
    with pytest.raises(ValueError, match=r"name some of: model, N, d"):
        accuracy_by(CELLS, *dims)
