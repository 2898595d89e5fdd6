"""The least and the largest accuracy that any table of counts can have at a point."""

from dataclasses import replace

import numpy as np
import pytest
from scipy.optimize import linprog

from cogniload_repro.models import NAMES
from cogniload_repro.reconstruction.bounds import (
    PANELS,
    load_bounds,
    possible_range,
)
from cogniload_repro.reconstruction.constraints import constrain
from cogniload_repro.reconstruction.sufficient import (
    OPEN_COLUMNS,
    miss_printed,
    sum_cells,
)
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.regression.design import GRID, X
from cogniload_repro.regression.reconstructions import KEYS, load_tables

CELLS = load_cells()
BOUNDS = load_bounds()


def test_every_point_has_its_bounds():
    """All points of Figures 1, 3, 4 and 6 along rho, each once, with a lower and an upper bound."""
    panels = sum(len(levels) for levels in PANELS.values())
    assert len(BOUNDS) == 22 * 7 * panels
    assert not BOUNDS.duplicated(["model", "load", "level", "ratio_pct"]).any()
    assert (BOUNDS["least"] <= BOUNDS["most"]).all()
    assert BOUNDS["model"].drop_duplicates().tolist() == list(NAMES)


@pytest.mark.parametrize("load", PANELS)
def test_no_reconstruction_lies_outside(load):
    """Every committed table lies between the bounds of every point."""
    tables = load_tables()
    names = tables.columns.drop(KEYS)
    tables = tables.merge(CELLS[[*KEYS, "total"]])
    points = ["model", "ratio_pct"]
    for level in PANELS[load]:
        cells = tables[tables[load] == level] if load else tables
        sums = cells.groupby(points)[[*names, "total"]].sum()
        accuracies = sums[names].div(sums["total"], axis=0)
        is_load = BOUNDS["load"] == load
        is_level = BOUNDS["level"] == level
        bounds = BOUNDS[is_load & is_level].set_index(points)
        bounds = bounds.loc[sums.index]
        is_above = accuracies.ge(bounds["least"] - 1e-12, axis=0)
        is_below = accuracies.le(bounds["most"] + 1e-12, axis=0)
        assert is_above.all(axis=None)
        assert is_below.all(axis=None)


@pytest.mark.parametrize("model", ["gemini-2.5-flash", "gpt-5-2025-08-07"])
def test_printed_numbers_are_nearly_linear_in_the_counts(model):
    """So bounds from linear programmes hold for the printed numbers themselves.

    At the least and the largest value of each open sum the linear approximation errs by at most a
    twentieth of half a unit of the last digit, and windows wider by that move no bound by a
    hundredth of a percentage point.
    """
    model_sums = sum_cells(CELLS, model)
    constraints = constrain(model_sums, model_sums.sums)
    numbers = len(miss_printed(model_sums)[0]) - 1  # the linear AIC is exact
    for column in OPEN_COLUMNS:
        for sign in (-1, 1):
            programme = linprog(
                sign * X[:, column],
                A_ub=np.vstack([constraints.windows, -constraints.windows]),
                b_ub=np.append(constraints.centre + 1, 1 - constraints.centre),
                A_eq=constraints.exact,
                b_eq=constraints.sums,
                bounds=np.column_stack([np.zeros(140), constraints.answers]),
            )
            misses, _ = miss_printed(model_sums._replace(sums=X.T @ programme.x))
            linear = (constraints.windows @ programme.x - constraints.centre)[:numbers]
            assert np.abs(misses[1:] - linear).max() <= 0.05
    width = np.ones(len(constraints.centre))
    width[:numbers] += 0.05
    wider = replace(
        constraints,
        windows=constraints.windows / width[:, None],
        centre=constraints.centre / width,
    )
    for ratio_pct in GRID["ratio_pct"].unique():
        is_point = (GRID["ratio_pct"] == ratio_pct).to_numpy()
        bounds = np.array(possible_range(constraints, is_point))
        assert np.abs(bounds - possible_range(wider, is_point)).max() < 1e-4
