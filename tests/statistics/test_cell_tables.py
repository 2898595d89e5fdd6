"""Tables of cells, and the line that says where shown data come from."""

import pandas as pd
import pytest
from fixtures.provisional import mini_cells, provisional_cells, rename_model

from cogniload_repro.grid import MINI_GRID, PAPER_GRID
from cogniload_repro.statistics.cell_tables import describe_cells, load_cells, read_provenance, source_note
from cogniload_repro.storage import write_table

PROVISIONAL = provisional_cells()
FEW = load_cells(models="QwQ-32B").head(6)[["model", "N", "d", "ratio_pct", "rho", "total", "correct"]]


def test_cells_come_from_the_committed_table_or_a_build(tmp_path):
    """Both are ready for a formula and say where they come from; a subset keeps that."""
    committed = load_cells()
    assert committed.attrs == {"provenance": "reconstructed"}
    assert describe_cells(committed) == "Reconstructed from the paper's tables, not raw outputs"
    write_table(tmp_path / "cells.parquet", FEW, {"provenance": "imported"})
    built = load_cells(tmp_path)
    assert built.attrs == {"provenance": "imported"}
    for cells in (committed, built):
        assert (10 ** cells["log10_N"]).round().astype(int).tolist() == cells["N"].tolist()
    assert describe_cells(built.query("d == 1")) == "Partial grid: 2 of the paper's 140 cells"


def test_some_models_can_be_asked_for():
    """By name or by the short name of figures; a model that the cells do not have is named, with those they have."""
    assert load_cells(models=["QwQ-32B", "o3"])["model"].unique().tolist() == ["QwQ-32B", "o3-2025-04-16"]
    with pytest.raises(ValueError, match=r"no model gpt-6; they have: DeepSeek-R1-0528"):
        load_cells(models=["gpt-6", "QwQ-32B"])


def test_a_build_says_what_its_cells_are(tmp_path):
    """An empty build folder, none, and cells without their origin are answered with the remedy."""
    for build in (tmp_path, tmp_path / "none"):
        with pytest.raises(ValueError, match=r"cells\.parquet is missing; make it with `make score`"):
            load_cells(build)
    FEW.to_parquet(tmp_path / "cells.parquet")
    with pytest.raises(ValueError, match="does not say where its data come from; make it again with `make score`"):
        read_provenance(tmp_path)


def test_partial_grid_is_counted():
    """A grid with fewer cells than the paper's says how many there are, by model where that differs."""
    assert source_note(mini_cells(), "imported") == (
        f"Partial grid: {len(MINI_GRID)} of the paper's {len(PAPER_GRID)} cells"
    )
    own = rename_model(mini_cells(), "QwQ-32B", "own")
    both = pd.concat([PROVISIONAL, own])
    assert source_note(both, "reconstructed").startswith("The paper's models: reconstructed from its tables")
    assert source_note(both, "reconstructed").endswith("18 to 140 of the paper's 140 cells")
