"""Other tables of counts that the printed numbers allow."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest

from cogniload_repro.models import BY_NAME, MODELS, NAMES
from cogniload_repro.published import correct_by
from cogniload_repro.reconstruction import feasible
from cogniload_repro.reconstruction.constraints import prose_windows
from cogniload_repro.reconstruction.feasible import (
    COUNT,
    draw_tables,
    load_tables,
    other_cells,
    spread_band,
    write_tables,
)
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.reconstruction.sufficient import predict, printed_windows
from cogniload_repro.statistics.accuracy import accuracy_by
from cogniload_repro.statistics.design import GRID, X

CELLS, TABLES = load_counts(), load_tables()


def drawn(model):
    """Return a model's committed tables, shape (tables, 140)."""
    return TABLES[TABLES["model"] == model].iloc[:, 4:].to_numpy().T


def test_the_file_holds_different_tables_of_every_model():
    """Every model has its 140 cells in grid order, and tables that differ from one another and from the one in use."""
    assert TABLES["model"].drop_duplicates().tolist() == list(NAMES)
    assert list(TABLES.columns[4:]) == [f"table_{number}" for number in range(1, COUNT + 1)]
    for name, own in TABLES.groupby("model"):
        assert (own[["N", "d", "ratio_pct"]].to_numpy() == GRID[["N", "d", "ratio_pct"]].to_numpy()).all()
        used = CELLS.loc[CELLS["model"] == name, "correct"].to_numpy()
        assert len(np.unique(np.vstack([drawn(name), used]), axis=0)) == COUNT + 1


@pytest.mark.parametrize("name", NAMES)
def test_every_table_prints_the_papers_numbers(name):
    """Sums by d and N are exact, and all numbers of Tables 3 and 6 and of the prose come out as printed."""
    n = CELLS.loc[CELLS["model"] == name, "n"].to_numpy(float)
    printed, widths = printed_windows(name)
    for table, key in (("table4", "d"), ("table5", "N")):
        sums = correct_by(table).query("model == @name").set_index(key)["correct"]
        for level, correct in sums.items():
            assert (drawn(name)[:, GRID[key] == level].sum(axis=1) == correct).all()
    for k in drawn(name):
        assert (k >= 0).all()
        assert (k <= n).all()
        assert np.abs((predict(n, X.T @ k)[0] - printed) / widths).max() <= 1
        for row, (lowest, highest) in prose_windows(name, n, half_unit=0.00501):
            assert lowest - 1e-9 <= row @ k <= highest + 1e-9


def test_tables_are_made_again():
    """A table is drawn again from its stream alone."""
    model = BY_NAME["DeepSeek-R1-Distill-Llama-70B"]
    (again,) = draw_tables(model, 1)
    assert (again == drawn(model.name)[0]).all()


def test_an_interrupted_run_goes_on(tmp_path, monkeypatch):
    """Finished models are kept and not drawn again, and the file is that of a run in one piece."""
    models, asked = MODELS[:3], []

    def draw(model, tables, seed, broken=None):
        asked.append(model.name)
        if model.name == broken:
            raise KeyboardInterrupt
        return np.full((tables, 140), MODELS.index(model) + seed)

    whole, path = tmp_path / "whole.csv", tmp_path / "tables.csv"
    with ThreadPoolExecutor(1) as executor:
        monkeypatch.setattr(feasible, "draw_tables", draw)
        write_tables(executor, whole, models, 2, 5)
        monkeypatch.setattr(feasible, "draw_tables", lambda *one: draw(*one, broken=models[1].name))
        with pytest.raises(KeyboardInterrupt):
            write_tables(executor, path, models, 2, 5)
        assert not path.exists()
        asked.clear()
        monkeypatch.setattr(feasible, "draw_tables", draw)
        write_tables(executor, path, models, 2, 5)
    assert models[0].name not in asked
    assert path.read_bytes() == whole.read_bytes()
    assert sorted(tmp_path.iterdir()) == [path, whole]
    assert load_tables(path)["table_2"].tolist() == [5] * 140 + [6] * 140 + [7] * 140


def test_bands_hold_the_points_and_vanish_where_tables_4_and_5_print():
    """By d and by N all tables agree; by rho they do not, and the committed accuracy lies between them."""
    for dimension in ("d", "N"):
        band = spread_band(CELLS, "model", dimension)
        assert (band["lowest"] == band["highest"]).all()
        assert len(band) == 22 * CELLS[dimension].nunique()
    band = spread_band(CELLS, "model", "ratio_pct").merge(accuracy_by(CELLS, "model", "ratio_pct"))
    assert (band["lowest"] <= band["accuracy"]).all()
    assert (band["accuracy"] <= band["highest"]).all()
    assert (band["lowest"] < band["highest"]).mean() > 0.9


def test_bands_follow_the_cells():
    """A part of the grid has the band of that part; known answers, or a stranger's model, have none."""
    part = CELLS[(CELLS["N"] == 20) & (CELLS["d"] == 1)]
    band = spread_band(part, "model", "ratio_pct").set_index(["model", "ratio_pct"])
    own = TABLES.query("N == 20 and d == 1 and ratio_pct == 50 and model == 'QwQ-32B'").iloc[0, 4:]
    assert band.loc[("QwQ-32B", 50), "lowest"] == min(own.min(), part_correct(part)) / 100
    real = CELLS.copy()
    mine = real["model"] == "QwQ-32B"
    real.loc[real.index[mine][60], "correct"] -= 1
    assert set(spread_band(real, "model", "d")["model"]) == set(NAMES) - {"QwQ-32B"}
    stranger = CELLS[mine].assign(model="own")
    assert spread_band(stranger, "model", "d").empty
    assert set(spread_band(pd.concat([CELLS, stranger]), "model", "d")["model"]) == set(NAMES)


def part_correct(cells):
    """Return QwQ-32B's correct answers at rho = 50%."""
    return cells.query("model == 'QwQ-32B' and ratio_pct == 50")["correct"].item()


def test_bad_files_are_refused(tmp_path):
    """A missing or foreign file is named, with the remedy."""
    with pytest.raises(ValueError, match=r"no\.csv is missing; .*cogniload feasible"):
        load_tables(tmp_path / "no.csv")
    (tmp_path / "other.csv").write_text("a,b\n1,2\n")
    with pytest.raises(ValueError, match=r"other\.csv has no column model, N, d, ratio_pct, table_1, table_2"):
        load_tables(tmp_path / "other.csv")
    (tmp_path / "empty.csv").write_text("")
    with pytest.raises(ValueError, match=r"empty\.csv cannot be read"):
        load_tables(tmp_path / "empty.csv")


def test_other_cells_carry_the_other_tables():
    """Committed counts give way to those of each table in turn; known counts and other columns stay."""
    own = CELLS[CELLS["model"].isin(NAMES[:3])].sample(frac=1, random_state=1)
    known = own["model"] == NAMES[1]
    own.loc[known, "correct"] = own.loc[known, "n"]
    given = list(other_cells(own))
    assert len(given) == COUNT
    for number, cells in enumerate(given):
        pd.testing.assert_frame_equal(cells.drop(columns="correct"), own.drop(columns="correct"))
        assert (cells.loc[known, "correct"] == own.loc[known, "correct"]).all()
        for model in (NAMES[0], NAMES[2]):
            assert (cells[cells["model"] == model].sort_index()["correct"].to_numpy() == drawn(model)[number]).all()
    assert list(other_cells(own[known])) == []
