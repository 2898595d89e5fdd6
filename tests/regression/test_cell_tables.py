"""Tables of cells, and the line that says where shown data come from."""

import pandas as pd
import pytest
from fixtures.provisional import mini_cells, provisional_cells, rename_model
from hypothesis import given
from hypothesis import strategies as st

from cogniload_repro.grid import MINI_GRID, PAPER_GRID, grid_cells
from cogniload_repro.models import NAMES, order_models
from cogniload_repro.published import ERRORS, load_table
from cogniload_repro.regression.cell_tables import (
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
    assert (
        describe_cells(committed)
        == "Reconstructed from the paper's tables, not raw outputs"
    )
    write_table(tmp_path / "cells.parquet", FEW.assign(provenance="scored"))
    built = load_cells(tmp_path)
    assert set(built["provenance"]) == {"scored"}
    for cells in (committed, built):
        assert (10 ** cells["log10_N"]).round().astype(int).tolist() == cells[
            "N"
        ].tolist()
    assert (
        describe_cells(built.query("d == 1"))
        == "Partial grid: 2 of the paper's 140 cells"
    )


def test_some_models_can_be_asked_for():
    """By name or by the short name of figures; an unknown name is answered with those known."""
    cells = load_cells(models=["QwQ-32B", "o3"])
    assert cells["model"].unique().tolist() == ["QwQ-32B", "o3-2025-04-16"]
    message = r"gpt-6.* \(did you mean gpt-5\?\); .*: DS-R1-0528"
    with pytest.raises(ValueError, match=message):
        load_cells(models=["gpt-6", "QwQ-32B"])


def test_a_build_says_what_its_cells_are(tmp_path):
    """An empty build folder, none, and cells without their origin are answered with the remedy."""
    remedy = "create it with `make score`"
    for build in (tmp_path, tmp_path / "none"):
        with pytest.raises(ValueError, match=rf"cells\.parquet is missing; {remedy}"):
            load_cells(build)
    path = tmp_path / "cells.parquet"
    FEW.to_parquet(path)
    with pytest.raises(
        ValueError, match=f"where its counts come from; delete it and {remedy}"
    ):
        load_cells(tmp_path)
    FEW.assign(provenance="invented").to_parquet(path)
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
    with pytest.raises(
        ValueError, match="no cell with N = 21, a needle ratio of 5% and d = 1"
    ):
        reconstructed_cells(grid_cells("N=20,21 ratio=5 d=1"))


def test_partial_grid_is_counted():
    """A part of the paper's grid says how many cells it has, and which model has no more."""
    sentence = f"Partial grid: {len(MINI_GRID)} of the paper's {len(PAPER_GRID)} cells"
    assert describe_cells(mini_cells()) == sentence
    paper = PROVISIONAL.assign(provenance="reconstructed")
    mine = rename_model(mini_cells(), "QwQ-32B", "mine").assign(provenance="scored")
    sentence = describe_cells(pd.concat([paper, mine]))
    assert sentence.startswith("The paper's models: reconstructed from its tables")
    count = f"{len(MINI_GRID)} of the paper's {len(PAPER_GRID)} cells"
    assert sentence.endswith(f"Partial grid of mine: {count}")


def one_cell_a_row(table, dimension):
    """Turn Table 4 or 5 into cells, one for each printed row."""
    correct = table["samples"] - table[list(ERRORS)].sum(axis=1)
    other = "N" if dimension == "d" else "d"
    return table.assign(
        total=table["samples"], correct=correct, ratio_pct=50, **{other: 5}
    )


@pytest.mark.parametrize(("name", "dimension"), [("table4", "d"), ("table5", "N")])
def test_errors_by_is_the_printed_table(name, dimension):
    """Every count and percentage of Tables 4 and 5 comes back from cells with the same counts."""
    printed = load_table(name)
    cells = one_cell_a_row(printed, dimension).sample(frac=1, random_state=1)
    keys = ["model", dimension]
    errors = errors_by(cells, dimension).set_index(keys)
    pd.testing.assert_frame_equal(
        errors.sort_index(), printed.set_index(keys).sort_index()
    )


COUNTS = st.integers(1, 20_000).flatmap(
    lambda total: st.tuples(st.integers(0, total), st.just(total))
)


@given(COUNTS)
def test_percent_is_nearest(count):
    """No whole percentage is nearer than the one returned."""
    correct, total = count
    rounded = percent(correct, total)
    assert 2 * abs(100 * correct - rounded * total) <= total


def test_halves_of_a_percent_are_rounded_to_even():
    """97.5% is printed as 98, 2.5% as 2."""
    assert percent(273, 280) == 98
    assert percent(1, 40) == 2


def test_accuracy_by_keeps_order_and_drops_empty_cells():
    """Models come in printed order, then strangers by name; what has no puzzle has no accuracy."""
    order = order_models(["zeta", NAMES[3], "alpha", NAMES[0], NAMES[3]])
    assert order == [NAMES[0], NAMES[3], "alpha", "zeta"]
    stranger = rename_model(PROVISIONAL, "QwQ-32B", "A-model")
    empty = rename_model(PROVISIONAL, "QwQ-32B", "nothing").assign(total=0, correct=0)
    table = accuracy_by(pd.concat([stranger, empty, PROVISIONAL[::-1]]), "model", "N")
    assert list(table["model"].unique()) == [*NAMES, "A-model"]
    assert table.loc[table["model"] == "A-model", "N"].tolist() == [20, 50, 100, 250]
