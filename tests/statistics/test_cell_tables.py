"""Tables of cells from a reader's file, and the line that says where shown data come from."""

import pandas as pd
import pytest
from fixtures.provisional import mini_cells, provisional_cells, rename_model

from cogniload_repro.grid import MINI_GRID, PAPER_GRID
from cogniload_repro.statistics.cell_tables import (
    describe_cells,
    load_cells,
    plain_name,
    read_cell_table,
    read_origin,
    source_note,
)
from cogniload_repro.storage import RECONSTRUCTED, write_table

PROVISIONAL = provisional_cells()
FEW = load_cells().query("model == 'QwQ-32B'").head(6)[["model", "N", "d", "ratio_pct", "rho", "total", "correct"]]


def write(folder, **columns):
    """Write a table with some columns replaced; None takes one away."""
    frame = FEW.assign(**{name: values for name, values in columns.items() if values is not None})
    frame = frame.drop(columns=[name for name, values in columns.items() if values is None])
    frame.to_csv(folder / "mine.csv", index=False)
    return folder / "mine.csv"


def test_csv_and_parquet_give_the_same_table(tmp_path):
    """Both forms are read, and needles follow from rho where they are not given."""
    from_csv = read_cell_table(write(tmp_path))
    write_table(tmp_path / "mine.parquet", FEW, {"provenance": "imported"})
    pd.testing.assert_frame_equal(from_csv, read_cell_table(tmp_path / "mine.parquet"), check_dtype=False)
    assert from_csv["needles"].tolist() == (FEW["rho"] * FEW["N"]).round().tolist()


@pytest.mark.parametrize("model", ["None", "nan", "null", "NA", "007", "1e5", "#N/A"])
def test_any_name_of_a_model_comes_back(tmp_path, model):
    """Names are words, also those that pandas takes for missing values or numbers."""
    assert set(read_cell_table(write(tmp_path, model=model))["model"]) == {model}


def test_origin_is_what_the_file_says(tmp_path):
    """Parquet carries its word, the committed table is the reconstruction, and any other CSV has no origin."""
    write_table(tmp_path / "mine.parquet", FEW, {"provenance": "imported"})
    assert read_origin(tmp_path / "mine.parquet") == "imported"
    assert read_origin(RECONSTRUCTED / "cells.csv") == "reconstructed"
    assert read_origin(write(tmp_path)) == ""


@pytest.mark.parametrize(
    ("columns", "complaint"),
    [
        ({"N": None, "model": None}, "has no column model, N"),
        ({"correct": [1, 2, 101, 4, 5, 6]}, r"row 3 \(QwQ-32B\) has more correct and wrong answers than its total"),
        ({"rho": [0.1, 0.2, 0.3, 40, 0.5, 0.6]}, r"row 4 .* has rho 40\.0, not a number from 0 to 1"),
        ({"d": 1, "ratio_pct": 5}, "row 2 .* is there before"),
        ({"total": 0, "correct": 0}, "holds no answers"),
        ({"ctx": 99}, "row 1 .* has more correct and wrong answers than its total"),
    ],
)
def test_impossible_tables_are_refused(tmp_path, columns, complaint):
    """File, row, value and rule are named in one sentence."""
    with pytest.raises(ValueError, match=complaint) as refusal:
        read_cell_table(write(tmp_path, **columns))
    assert "mine.csv" in str(refusal.value)
    assert "\n" not in str(refusal.value)


def test_what_is_no_table_is_refused(tmp_path):
    """A missing file, another kind of file and damaged ones have their sentence."""
    for name, content, complaint in (
        ("none.csv", None, "there is no table of cells at"),
        ("mine.xlsx", b"x", r"ends in \.xlsx"),
        ("mine.parquet", b"x", "cannot be read"),
        ("empty.csv", b"", "cannot be read"),
    ):
        if content is not None:
            (tmp_path / name).write_bytes(content)
        with pytest.raises(ValueError, match=complaint):
            read_cell_table(tmp_path / name)


def test_names_of_files_are_harmless_in_captions():
    """Markup and formulas in a file's name do not reach a caption or a picture."""
    assert plain_name("/a/b/my $x$ <b>`{raw}`.csv") == "my-x-b-raw-.csv"


def test_cells_come_from_the_committed_table_a_build_or_a_file(tmp_path):
    """All three are ready for a formula and say where they come from; a subset keeps that."""
    committed = load_cells()
    assert committed.attrs == {"provenance": "reconstructed"}
    assert describe_cells(committed) == "Reconstructed from the paper's tables, not raw outputs"
    write_table(tmp_path / "cells.parquet", FEW, {"provenance": "imported"})
    built, own = load_cells(tmp_path), load_cells(write(tmp_path))
    assert (built.attrs, own.attrs) == ({"provenance": "imported"}, {"provenance": "", "cells": "mine.csv"})
    for cells in (committed, built, own):
        assert (10 ** cells["log10_N"]).round().astype(int).tolist() == cells["N"].tolist()
    assert describe_cells(own.query("d == 1")).startswith("Counts of mine.csv, whose origin is not recorded. Partial")
    assert describe_cells(pd.DataFrame(own.to_dict("list"))).startswith("Counts of a table, whose origin is not rec")


def test_some_models_can_be_asked_for():
    """A model that the cells do not have is named, with those they have."""
    assert load_cells(models=["QwQ-32B"])["model"].unique().tolist() == ["QwQ-32B"]
    with pytest.raises(ValueError, match=r"no model gpt-6; they have: DeepSeek-R1-0528"):
        load_cells(models=["gpt-6", "QwQ-32B"])


def test_a_build_without_cells_names_the_step_that_makes_them(tmp_path):
    """An empty build folder, or none, is answered with the remedy."""
    for build in (tmp_path, tmp_path / "none"):
        with pytest.raises(ValueError, match=r"cells\.parquet is missing; make it with `make score`"):
            load_cells(build)


def test_partial_grid_is_counted():
    """A grid with fewer cells than the paper's says how many there are, by model where that differs."""
    assert source_note(mini_cells(), "imported") == (
        f"Partial grid: {len(MINI_GRID)} of the paper's {len(PAPER_GRID)} cells"
    )
    own = rename_model(mini_cells(), "QwQ-32B", "own")
    assert source_note(pd.concat([PROVISIONAL, own]), "reconstructed").startswith("The paper's models: reconstructed")
    assert source_note(pd.concat([PROVISIONAL, own]), "reconstructed").endswith("18 to 140 of the paper's 140 cells")
