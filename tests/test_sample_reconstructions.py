"""The committed tables of counts: different, and all in agreement with what is printed."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from runpy import run_path

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from cogniload_repro.models import BY_NAME, NAMES
from cogniload_repro.published import correct_by
from cogniload_repro.reconstruction.bounds import load_bounds, possible_range
from cogniload_repro.reconstruction.constraints import constrain
from cogniload_repro.reconstruction.prose import prose_windows
from cogniload_repro.reconstruction.reconstruct import find_typical
from cogniload_repro.reconstruction.sufficient import miss_printed, sum_cells
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.regression.design import GRID, X
from cogniload_repro.regression.reconstructions import KEYS, load_tables

SCRIPT = run_path(str(Path(__file__).parents[1] / "scripts/sample_reconstructions.py"))
COUNT = SCRIPT["COUNT"]
CELLS = load_cells()
BOUNDS = load_bounds()
TABLES = load_tables()
KEYS_OF_GRID = KEYS[1:]


def committed(model):
    """A model's committed tables, the smooth one first, shape (tables, 140)."""
    of_model = TABLES[TABLES["model"] == model]
    return of_model.drop(columns=KEYS).to_numpy().T


def test_the_file_has_the_tables_of_every_model():
    """A smooth table and the others, r0 to r24, of the models in printed order."""
    assert TABLES["model"].drop_duplicates().tolist() == list(NAMES)
    names = [f"r{number}" for number in range(COUNT + 1)]
    assert TABLES.columns.tolist() == [*KEYS, *names]


@pytest.mark.parametrize("model", NAMES)
def test_a_model_has_different_tables_over_the_grid(model):
    """Its 140 cells are in grid order, and no table is there twice."""
    cells = TABLES.loc[TABLES["model"] == model, KEYS_OF_GRID]
    np.testing.assert_array_equal(cells, GRID[KEYS_OF_GRID])
    different = np.unique(committed(model), axis=0)
    assert len(different) == COUNT + 1


@pytest.mark.parametrize("model", ["QwQ-32B", "gpt-5-2025-08-07"])
def test_the_typical_table_has_the_median_lack_of_fit(model):
    """It is the one of the committed cells; the deviance is that of statsmodels."""
    cells = CELLS[CELLS["model"] == model]
    correct = cells["correct"].to_numpy()
    total = cells["total"].to_numpy()
    tables = committed(model)
    assert (tables[find_typical(tables, total)] == correct).all()
    deviances = [lack_of_fit(table, total) for table in tables]
    median = np.median(deviances)
    # windows of printed digits leave the likelihood of the fit some room
    assert lack_of_fit(correct, total) == pytest.approx(median, abs=0.05)


def lack_of_fit(correct, total):
    """The deviance of Appendix B's regression, by statsmodels."""
    counts = np.column_stack([correct, total - correct])
    model = sm.GLM(counts, X, family=sm.families.Binomial())
    return model.fit().deviance


@pytest.mark.parametrize("model", NAMES)
def test_every_table_has_the_printed_sums(model):
    """Correct answers by d and by N are those of Tables 4 and 5."""
    tables = committed(model)
    for name, key in (("table4", "d"), ("table5", "N")):
        printed = correct_by(name)
        printed = printed[printed["model"] == model]
        for level, correct in printed[[key, "correct"]].to_numpy():
            of_level = tables[:, GRID[key] == level]
            sums = of_level.sum(axis=1)
            assert (sums == correct).all()


@pytest.mark.parametrize("model", NAMES)
def test_every_table_prints_the_papers_numbers(model):
    """All numbers of Tables 3 and 6 and of the prose follow as printed."""
    model_sums = sum_cells(CELLS, model)
    answers = model_sums.answers
    tables = committed(model)
    for correct in tables:
        assert (correct >= 0).all()
        assert (correct <= answers).all()
        drawn = model_sums._replace(sums=X.T @ correct)
        misses, _ = miss_printed(drawn)
        assert np.abs(misses).max() <= 1
    for window in prose_windows(model, answers):
        stated = tables @ window.weights
        assert stated.min() >= window.lowest - 1e-9
        assert stated.max() <= window.highest + 1e-9


def test_tables_are_made_again(tmp_path):
    """A table is drawn again from its stream alone, and written as it is committed."""
    model = BY_NAME["QwQ-32B"]
    path = tmp_path / "tables.csv"
    with ThreadPoolExecutor(1) as executor:
        SCRIPT["write_tables"](executor, path, [model], 1)
    written = pd.read_csv(path)
    assert written.columns[-1] == "r1"
    of_model = TABLES[TABLES["model"] == model.name]
    expected = of_model[written.columns].reset_index(drop=True)
    pd.testing.assert_frame_equal(written, expected, check_dtype=False)


def test_bounds_are_made_again_and_rounded_outwards():
    """The programmes give a model's committed rows."""
    model = "o4-mini-2025-04-16"
    (bounds,) = SCRIPT["find_bounds"](CELLS[CELLS["model"] == model])
    model_sums = sum_cells(CELLS, model)
    constraints = constrain(model_sums, model_sums.sums)
    is_first = GRID["ratio_pct"] == bounds["ratio_pct"][0]
    low, high = possible_range(constraints, is_first.to_numpy())
    assert low < high
    assert bounds["least"][0] <= low + 1e-9
    assert bounds["most"][0] >= high - 1e-9
    committed = BOUNDS[BOUNDS["model"] == model].reset_index(drop=True)
    ends = ["least", "most"]
    np.testing.assert_allclose(bounds[ends], committed[ends], atol=1.5e-4)
    points = bounds.drop(columns=ends)
    expected = committed.drop(columns=ends)
    pd.testing.assert_frame_equal(points, expected, check_dtype=False)
