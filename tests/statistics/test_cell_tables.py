"""Tables of cells, and the line that says where shown data come from."""

import numpy as np
import pandas as pd
import pytest
from fixtures.provisional import mini_cells, provisional_cells, rename_model
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.grid import MINI_GRID, PAPER_GRID, grid_cells
from cogniload_repro.models import NAMES, order_models
from cogniload_repro.published import ERRORS, load_table
from cogniload_repro.statistics.cell_tables import (
    accuracy_by,
    describe_cells,
    errors_by,
    load_cells,
    percent,
    reconstructed_cells,
)
from cogniload_repro.storage import write_table

PROVISIONAL = provisional_cells()
FEW = load_cells(models="QwQ-32B").head(6)[
    ["model", "N", "d", "ratio_pct", "rho", "total", "correct"]
]


def test_cells_come_from_the_committed_table_or_a_build(tmp_path):
    """Both are ready for a formula and each row says where it comes from."""
    committed = load_cells()
    assert set(committed["provenance"]) == {"reconstructed"}
    assert describe_cells(committed) == "Reconstructed from the paper's tables, not raw outputs"
    write_table(tmp_path / "cells.parquet", FEW.assign(provenance="scored"))
    built = load_cells(tmp_path)
    assert set(built["provenance"]) == {"scored"}
    for cells in (committed, built):
        assert (10 ** cells["log10_N"]).round().astype(int).tolist() == cells["N"].tolist()
    assert describe_cells(built.query("d == 1")) == "Partial grid: 2 of the paper's 140 cells"


def test_some_models_can_be_asked_for():
    """By name or by the short name of figures; a model that the cells do not have is named, with those they have."""
    assert load_cells(models=["QwQ-32B", "o3"])["model"].unique().tolist() == [
        "QwQ-32B",
        "o3-2025-04-16",
    ]
    with pytest.raises(
        ValueError, match=r"no model gpt-6 \(did you mean gpt-5\?\); they have: DS-R1-0528"
    ):
        load_cells(models=["gpt-6", "QwQ-32B"])


def test_a_build_says_what_its_cells_are(tmp_path):
    """An empty build folder, none, and cells without their origin are answered with the remedy."""
    for build in (tmp_path, tmp_path / "none"):
        with pytest.raises(
            ValueError, match=r"cells\.parquet is missing; make it again with `make score`"
        ):
            load_cells(build)
    FEW.to_parquet(tmp_path / "cells.parquet")
    with pytest.raises(
        ValueError, match="does not say where its counts come from; make it again with `make score`"
    ):
        load_cells(tmp_path)
    FEW.assign(provenance="invented").to_parquet(tmp_path / "cells.parquet")
    with pytest.raises(ValueError, match="does not say where its counts come from"):
        load_cells(tmp_path)


def test_the_printed_lengths_go_with_the_counts_of_a_grid():
    """A cell has the lengths printed for its N and d; a cell that the paper lacks is named."""
    cells = reconstructed_cells(MINI_GRID)
    assert len(cells) == len(NAMES) * len(MINI_GRID)
    assert set(cells["provenance"]) == {"reconstructed"}
    printed = load_table("tokens").set_index(["model", "N", "d"])["output_mean"]
    for row in cells.query("model == 'QwQ-32B'").itertuples():
        assert row.output_mean == printed[(row.model, row.N, row.d)]
    with pytest.raises(ValueError, match="no cell with N = 21, a needle ratio of 5% and d = 1"):
        reconstructed_cells(grid_cells("N=20,21 ratio=5 d=1"))


def test_partial_grid_is_counted():
    """A grid with fewer cells than the paper's says how many there are, by model where that differs."""
    assert describe_cells(mini_cells()) == (
        f"Partial grid: {len(MINI_GRID)} of the paper's {len(PAPER_GRID)} cells"
    )
    own = rename_model(mini_cells(), "QwQ-32B", "own")
    both = pd.concat(
        [PROVISIONAL.assign(provenance="reconstructed"), own.assign(provenance="scored")]
    )
    assert describe_cells(both).startswith("The paper's models: reconstructed from its tables")
    assert describe_cells(both).endswith("18 to 140 of the paper's 140 cells")


def one_cell_a_row(table, dimension):
    """Turn Table 4 or 5 into cells, one for each printed row."""
    correct = table["samples"] - table[list(ERRORS)].sum(axis=1)
    other = "N" if dimension == "d" else "d"
    return table.assign(total=table["samples"], correct=correct, ratio_pct=50, **{other: 5})


@pytest.mark.parametrize(("name", "dimension"), [("table4", "d"), ("table5", "N")])
def test_errors_by_is_the_printed_table(name, dimension):
    """Every count and percentage of Tables 4 and 5 comes back from cells with the same counts."""
    printed = load_table(name)
    counted = errors_by(
        one_cell_a_row(printed, dimension).sample(frac=1, random_state=1), dimension
    )
    key = ["model", dimension]
    pd.testing.assert_frame_equal(
        counted.set_index(key).sort_index(), printed.set_index(key).sort_index()
    )


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
    assert order_models(["zeta", NAMES[3], "alpha", NAMES[0], NAMES[3]]) == [
        NAMES[0],
        NAMES[3],
        "alpha",
        "zeta",
    ]
    own = rename_model(PROVISIONAL, "QwQ-32B", "A-model")
    empty = rename_model(PROVISIONAL, "QwQ-32B", "nothing").assign(total=0, correct=0)
    table = accuracy_by(pd.concat([own, empty, PROVISIONAL[::-1]]), "model", "N")
    assert list(table["model"].unique()) == [*NAMES, "A-model"]
    assert table.loc[table["model"] == "A-model", "N"].tolist() == [20, 50, 100, 250]
