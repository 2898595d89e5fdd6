"""The bound on how many answers repeat the last clause."""

from functools import cache

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cogniload_repro.analysis.shortcut import shortcut_bound, shortcut_use
from cogniload_repro.grid import CELL
from cogniload_repro.regression.cell_tables import load_cells, load_reconstructions
from cogniload_repro.regression.design import GRID


@cache
def draw_baselines() -> pd.DataFrame:
    """Twenty puzzles per cell whose last clause is right more often at high needle ratios."""
    chance = np.random.default_rng(1)
    puzzles = GRID.loc[GRID.index.repeat(20), CELL].reset_index(drop=True)
    right = chance.random(len(puzzles)) < puzzles["ratio_pct"] / 100
    return puzzles.assign(last_clause=right.astype(int))


@settings(max_examples=20)
@given(share=st.floats(0, 1), elsewhere=st.floats(0, 1))
def test_a_model_that_repeats_the_clause_in_a_share_of_its_answers_is_never_bounded_below_it(
    share, elsewhere
):
    """The bound is at least the true share, whatever the model does in its other answers."""
    baselines = draw_baselines()
    shortcut = baselines.groupby(CELL)["last_clause"].mean().rename("right")
    cells = GRID.join(shortcut, on=CELL).assign(model="mine", total=1000.0)
    accuracy = share * cells["right"] + (1 - share) * elsewhere * (cells["d"] < 5)
    cells["correct"] = cells["total"] * accuracy
    assert shortcut_bound(cells, baselines)["bound"].iloc[0] >= share - 1e-6


def test_a_model_that_fails_in_easy_cells_of_the_shortcut_is_bounded_near_zero():
    """Without a correct answer at 95% needles no share is possible.

    The clause is nearly always right there.
    """
    baselines = draw_baselines()
    cells = GRID[CELL].assign(model="mine", total=100, correct=0)
    assert shortcut_bound(cells, baselines)["bound"].iloc[0] == pytest.approx(
        0, abs=1e-9
    )


def test_the_bound_is_the_same_in_every_reconstruction():
    """The weights lie in the span of the columns that the paper fixes, so tables agree to 0.002."""
    baselines = draw_baselines()
    tables = load_reconstructions(["QwQ-32B", "gpt-5-2025-08-07"])
    bounds = []
    for _, table in tables.groupby("reconstruction"):
        bounds.append(shortcut_bound(table, baselines).set_index("model")["bound"])
    spread = pd.concat(bounds, axis=1)
    assert (spread.max(axis=1) - spread.min(axis=1)).max() < 0.002
    assert shortcut_bound(load_cells(models="QwQ-32B"), baselines)["identified"].all()


def test_a_part_of_the_grid_is_bounded_but_not_identified():
    """On a few cells the printed sums fix nothing of a reconstructed model."""
    part = load_cells(models="QwQ-32B").query("N <= 50 and d <= 5")
    bound = shortcut_bound(part, draw_baselines()).iloc[0]
    assert 0 < bound["bound"] <= bound["upper"] <= 1
    assert not bound["identified"]


def test_cells_without_a_puzzle_of_the_baselines_have_no_bound():
    """No share is stated where nothing is known about the last clause."""
    cells = pd.DataFrame(
        {
            "model": ["mine"],
            "N": [30],
            "d": [2],
            "ratio_pct": [40],
            "total": [10],
            "correct": [5],
        }
    )
    assert shortcut_bound(cells, draw_baselines())["bound"].isna().all()


def answers(*cells):
    """Scores and baselines of cells.

    Each cell is (answers, correct ones) where the clause is wrong, then where it is
    right.
    """
    rows = []
    for N, counts in enumerate(cells, 20):
        for clause, (size, correct) in enumerate(counts):
            for number in range(size):
                name = f"{N}-{clause}-{number}"
                rows.append(("m", name, N, clause, number < correct))
    columns = ["model", "name", "N", "last_clause", "correct"]
    frame = pd.DataFrame(rows, columns=columns).assign(d=1, ratio_pct=5.0)
    return frame.drop(columns="last_clause"), frame[["name", "last_clause"]]


def test_one_cell_is_the_difference_of_two_shares():
    """Its standard error is nearly that of two binomials."""
    (row,) = shortcut_use(*answers(((400, 100), (600, 300)))).itertuples()
    assert (row.right, row.wrong) == (0.5, 0.25)
    se = np.sqrt(0.25 * 0.75 / 400 + 0.25 / 600)
    ends = [0.25 - 1.96 * se, 0.25 + 1.96 * se]
    assert [row.ci_low, row.ci_high] == pytest.approx(ends, rel=0.01)


def test_loads_do_not_pass_for_a_shortcut():
    """An easy cell in which the clause is mostly right makes no difference.

    A cell with one kind alone has no part.
    """
    easy = ((100, 90), (900, 810))
    hard = ((900, 90), (100, 10))
    (row,) = shortcut_use(*answers(easy, hard, ((0, 0), (50, 50)))).itertuples()
    assert row.difference == pytest.approx(0)
    assert row.p == pytest.approx(1)
    assert row.ci_low < 0 < row.ci_high
    (row,) = shortcut_use(*answers(((2, 1), (2, 2)))).itertuples()
    assert row.difference < row.ci_high <= 1  # no difference is larger


def test_models_keep_their_order_and_one_without_both_kinds_is_unknown():
    """A category of names, a puzzle that the baselines lack, a model without comparison."""
    scores, baselines = answers(((4, 1), (4, 3)))
    other = scores[scores["name"].str.contains("-1-")].assign(model="a")
    unknown = scores.head(1).assign(name="no such puzzle")
    every = pd.concat([scores, other, unknown], ignore_index=True).astype(
        {"model": "category"}
    )
    table = shortcut_use(every, baselines).set_index("model")
    assert list(table.index) == ["m", "a"]
    assert table.loc["a", ["difference", "p"]].isna().all()
