"""Other tables of counts that the printed numbers allow; by how much printed accuracies leave the smooth response."""

from concurrent.futures import ThreadPoolExecutor
from itertools import product

import numpy as np
import pandas as pd
import pytest
import statsmodels.api as sm

from cogniload_repro.models import BY_NAME, NAMES
from cogniload_repro.published import correct_by
from cogniload_repro.reconstruction import feasible
from cogniload_repro.reconstruction.constraints import (
    Constraints,
    constrain,
    expected_accuracy,
    level_sums,
    prose_windows,
)
from cogniload_repro.reconstruction.reconstruct import find_typical, load_counts
from cogniload_repro.reconstruction.sufficient import predict, printed_windows, recovered_from
from cogniload_repro.statistics.cell_tables import accuracy_by
from cogniload_repro.statistics.design import GRID, X
from cogniload_repro.statistics.reconstructions import load_tables

CELLS, TABLES, BOUNDS = load_counts(), load_tables(), feasible.load_bounds()


def drawn(model):
    """Return a model's committed tables, shape (tables, 140)."""
    return TABLES[TABLES["model"] == model].iloc[:, 5:].to_numpy().T


def test_the_file_holds_different_tables_of_every_model():
    """Every model has its 140 cells in grid order and different tables; the one in use has the median lack of fit."""
    assert TABLES["model"].drop_duplicates().tolist() == list(NAMES)
    assert list(TABLES.columns[4:]) == [f"r{number}" for number in range(feasible.COUNT + 1)]
    for name, own in TABLES.groupby("model"):
        assert (
            own[["N", "d", "ratio_pct"]].to_numpy() == GRID[["N", "d", "ratio_pct"]].to_numpy()
        ).all()
        tables, used = own.iloc[:, 4:].to_numpy().T, CELLS[CELLS["model"] == name]
        assert len(np.unique(tables, axis=0)) == feasible.COUNT + 1
        total = used["total"].to_numpy()
        deviances = [lack_of_fit(table, total) for table in tables]
        # the windows of the printed digits leave the likelihood of the fit, not its order among the tables, some room
        assert lack_of_fit(used["correct"].to_numpy(), total) == pytest.approx(
            np.median(deviances), abs=0.05
        )
        assert (tables[find_typical(tables, total)] == used["correct"].to_numpy()).all()


def lack_of_fit(correct, total):
    """Return the deviance of the paper's regression, by statsmodels."""
    return (
        sm.GLM(np.column_stack([correct, total - correct]), X, family=sm.families.Binomial())
        .fit()
        .deviance
    )


@pytest.mark.parametrize("name", NAMES)
def test_every_table_prints_the_papers_numbers(name):
    """Sums by d and N are exact, and all numbers of Tables 3 and 6 and of the prose come out as printed."""
    n = CELLS.loc[CELLS["model"] == name, "total"].to_numpy(float)
    printed, widths = printed_windows(name)
    tables = TABLES[TABLES["model"] == name].iloc[:, 4:].to_numpy().T
    for table, key in (("table4", "d"), ("table5", "N")):
        sums = correct_by(table).query("model == @name").set_index(key)["correct"]
        for level, correct in sums.items():
            assert (tables[:, GRID[key] == level].sum(axis=1) == correct).all()
    assert constrain(recovered_from(CELLS, name), X.T @ tables[0]).met(tables[0])
    for k in tables:
        assert (k >= 0).all()
        assert (k <= n).all()
        assert np.abs((predict(n, X.T @ k)[0] - printed) / widths).max() <= 1
        for window in prose_windows(name, n):
            assert window.lowest - 1e-9 <= window.weights @ k <= window.highest + 1e-9


def test_tables_are_made_again(tmp_path):
    """A table is drawn again from its stream alone, and written as it is committed."""
    model = BY_NAME["QwQ-32B"]
    with ThreadPoolExecutor(1) as executor:
        written = pd.read_csv(feasible.write_tables(executor, tmp_path / "tables.csv", [model], 1))
    committed = load_tables().query("model == @model.name").reset_index(drop=True)
    pd.testing.assert_frame_equal(written, committed[written.columns], check_dtype=False)
    assert written.columns[-1] == "r1"


def test_bands_hold_the_points_and_vanish_where_tables_4_and_5_print():
    """By d and by N all tables agree; by rho they do not, and the committed accuracies lie in nearly all bands."""
    for dimension in ("d", "N"):
        band = feasible.prediction_band(CELLS, "model", dimension)
        assert (band["lowest"] == band["highest"]).all()
        assert len(band) == 22 * CELLS[dimension].nunique()
    band = feasible.prediction_band(CELLS, "model", "ratio_pct").merge(
        accuracy_by(CELLS, "model", "ratio_pct")
    )
    assert band["accuracy"].between(band["lowest"], band["highest"]).mean() > 0.9
    assert (band["lowest"] < band["highest"]).mean() > 0.9


def test_mean_cells_are_the_mean_of_the_drawn_tables():
    """Reconstructed models have the mean, other counts stay, and sums that are printed do not change."""
    mean = feasible.mean_cells(CELLS)
    for name in NAMES[:3]:
        assert mean.loc[mean["model"] == name, "correct"].to_numpy() == pytest.approx(
            drawn(name).mean(axis=0)
        )
    pd.testing.assert_frame_equal(mean.drop(columns="correct"), CELLS.drop(columns="correct"))
    for key in ("d", "N"):
        sums = (frame.groupby(["model", key])["correct"].sum() for frame in (mean, CELLS))
        pd.testing.assert_series_equal(*sums, check_dtype=False, check_exact=False, rtol=1e-12)
    stranger = CELLS[CELLS["model"] == NAMES[0]].assign(model="own")
    both = feasible.mean_cells(pd.concat([CELLS, stranger]).sample(frac=1, random_state=1))
    own = both[both["model"] == "own"].sort_index()
    assert own["correct"].tolist() == stranger["correct"].tolist()
    assert feasible.mean_cells(stranger) is stranger


@pytest.fixture(scope="module")
def departures():
    """What the prose states along rho."""
    return feasible.find_departures()


def simulated(misfit, models=300, seed=0):
    """Departures of two levels that each model prints, with a known misfit."""
    rng, one = np.random.default_rng(seed), np.array([[0.4, -0.1, 0.0], [0.0, 0.1, 0.3]])
    chance = np.array([[4e-4, 1e-4], [1e-4, 4e-4]])
    found = []
    for _ in range(models):
        gap = rng.multivariate_normal(np.zeros(2), chance) + one @ rng.normal(0, misfit, 3)
        found.append(feasible.Departures("any", (5, 95), 0.5 + gap, np.full(2, 0.5), chance, one))
    return found


@pytest.mark.parametrize("misfit", [0.0, 0.1, 0.3])
def test_a_known_misfit_is_found(misfit):
    """The estimate is near, and its interval holds, the misfit that departures were made with."""
    found = feasible.estimate_misfit(simulated(misfit))
    assert found.value == pytest.approx(misfit, abs=0.03)
    assert found.low <= misfit <= found.high
    assert (found.low > 0) == (misfit > 0)


def test_chance_is_that_of_answers_given_the_sums(departures):
    """Over answers drawn at random and corrected for the sums, an accuracy has the covariance of `chance`."""
    one = next(one for one in departures if one.model == "EXAONE-Deep-32B")
    recovered = recovered_from(CELLS, one.model)
    fixed = np.column_stack([*(cells for cells, _ in level_sums(one.model)), X[:, 3:]])
    p = expected_accuracy(recovered)
    rng = np.random.default_rng(2)
    drawn = rng.binomial(recovered.n.astype(int), p, (5_000, 140)) - recovered.n * p
    weights = recovered.n * p * (1 - p)
    within = (
        drawn
        - (np.linalg.solve((fixed * weights[:, None]).T @ fixed, fixed.T @ drawn.T).T @ fixed.T)
        * weights
    )
    shares = np.array(
        [
            within[:, (GRID["ratio_pct"] == level).to_numpy()].sum(axis=1) / 2000
            for level in one.levels
        ]
    )
    np.testing.assert_allclose(
        np.cov(shares) + np.eye(2) * 0.01**2 / 12, one.chance, rtol=0.1, atol=1e-6
    )


def test_every_point_has_its_bounds():
    """All points of Figures 1, 3, 4 and 6 along rho, each once, with a lower and an upper bound."""
    levels = sum(len(levels) for levels in feasible.PANELS.values())
    assert len(BOUNDS) == 22 * 7 * levels
    assert not BOUNDS.duplicated(["model", "load", "level", "ratio_pct"]).any()
    assert (BOUNDS["least"] <= BOUNDS["most"]).all()
    assert BOUNDS["model"].drop_duplicates().tolist() == list(NAMES)


def test_no_reconstruction_lies_outside():
    """Every committed table lies between the bounds of every point; for gpt-5 they allow more than any table has."""
    tables = load_tables().merge(CELLS[["model", "N", "d", "ratio_pct", "total"]])
    drawn = [name for name in tables if name.startswith("r") and name[1:].isdigit()]
    for load, levels in feasible.PANELS.items():
        for level in levels:
            kept = tables if not load else tables[tables[load] == level]
            sums = kept.groupby(["model", "ratio_pct"])[[*drawn, "total"]].sum()
            own = BOUNDS[(BOUNDS["load"].fillna("") == load) & (BOUNDS["level"] == level)]
            ends = own.set_index(["model", "ratio_pct"]).loc[sums.index, ["least", "most"]]
            shares = sums[drawn].div(sums["total"], axis=0)
            assert shares.ge(ends["least"] - 1e-12, axis=0).all(axis=None)
            assert shares.le(ends["most"] + 1e-12, axis=0).all(axis=None)
    gpt5 = BOUNDS[(BOUNDS["model"] == "gpt-5-2025-08-07") & (BOUNDS["load"] == "")]
    assert (gpt5["most"] - gpt5["least"]).max() > 0.1


def test_bounds_are_made_again():
    """The programmes give a model's committed rows."""
    name = "o4-mini-2025-04-16"
    (made,) = feasible.find_bounds(CELLS[CELLS["model"] == name])
    recovered, first = (
        recovered_from(CELLS, name),
        (GRID["ratio_pct"] == made["ratio_pct"][0]).to_numpy(),
    )
    low, high = feasible.possible_range(constrain(recovered, recovered.T), first)
    assert made["least"][0] <= low + 1e-9 <= high - 1e-9 <= made["most"][0]  # rounded outwards
    committed = BOUNDS[BOUNDS["model"] == name].reset_index(drop=True)
    np.testing.assert_allclose(made[["least", "most"]], committed[["least", "most"]], atol=1.5e-4)
    pd.testing.assert_frame_equal(made.drop(columns=["least", "most"]), committed.drop(columns=["least", "most"]),
                                  check_dtype=False)  # fmt: skip


def small_problem(seed):
    """Return nine cells in a square with up to 14 answers each, their margins, two windows, and all tables that fit."""
    rng = np.random.default_rng(seed)
    square = np.arange(9).reshape(3, 3)
    margins = [
        *(np.isin(range(9), row) for row in square),
        *(np.isin(range(9), column) for column in square.T[:2]),
    ]
    exact, middle = np.array(margins, dtype=int), rng.integers(4, 11, 9)
    weights = rng.normal(size=(2, 9)) / 3
    constraints = Constraints(exact, exact @ middle, weights, weights @ middle, np.full(9, 14.0))
    k = np.zeros((15**4, 9), dtype=int)
    k[:, [0, 1, 3, 4]] = list(product(range(15), repeat=4))
    k[:, [2, 5]] = constraints.sums[:2] - k.reshape(-1, 3, 3).sum(axis=2)[:, :2]
    k[:, [6, 7]] = constraints.sums[3:] - k.reshape(-1, 3, 3).sum(axis=1)[:, :2]
    k[:, 8] = constraints.sums[2] - k[:, 6:8].sum(axis=1)
    return constraints, np.array([table for table in k if constraints.met(table)])


@pytest.mark.parametrize("seed", range(2))
def test_no_table_lies_outside_the_range(seed):
    """The range of a group's share holds every table, and is not much wider than they are."""
    constraints, tables = small_problem(seed)
    members = np.isin(range(9), [0, 4])
    low, high = feasible.possible_range(constraints, members)
    shares = tables[:, members].sum(axis=1) / 28
    assert low - 1e-9 <= shares.min() <= low + 0.15
    assert high - 0.15 <= shares.max() <= high + 1e-9
