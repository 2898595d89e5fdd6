"""Printed numbers of a model, and the AICs that stand in for two of them."""

from itertools import product

import numpy as np
import pytest

from cogniload_repro.models import BY_NAME, MODELS
from cogniload_repro.published import load_table
from cogniload_repro.reconstruction.printed import (
    exact_sums,
    load_imputed_aics,
    missing_ratios,
    printed_aics,
    printed_rows,
    puzzles_per_cell,
    uses_table2,
)
from cogniload_repro.reconstruction.table2 import row_deviations, row_values
from cogniload_repro.regression.design import (
    GRID,
    LINEAR_COLUMNS,
    QUADRATIC_COLUMNS,
    X,
    grid_means,
    roots_along_rho,
)
from cogniload_repro.regression.likelihood import maximise_all, solve_aic

pytestmark = pytest.mark.filterwarnings("error")
IMPUTED = load_imputed_aics()
MEANS = grid_means(GRID)


def test_missing_puzzles_are_taken_from_their_cells():
    """Whatever ratios the missing puzzles get, their (d, N) are short by as many as are missing."""
    for model in MODELS:
        for ratios in missing_ratios(model):
            puzzles = puzzles_per_cell(model, ratios)
            missing = (model.puzzles_per_cell - puzzles).astype(int)
            short = GRID.loc[GRID.index.repeat(missing)]
            conditions = zip(short["d"], short["N"], strict=True)
            assert sorted(conditions) == sorted(model.missing)
            assert sorted(short["ratio_pct"]) == sorted(ratios)


def test_each_set_of_ratios_is_tried_once():
    """Two puzzles of one (d, N) have no order; those of two cells have one."""
    assert missing_ratios(BY_NAME["QwQ-32B"]) == [()]
    for model in MODELS:
        if len(model.missing) == 2:
            first, second = model.missing
            ways = 28 if first == second else 49
            assert len(missing_ratios(model)) == ways


def refit(name, aics):
    """Rows of Table 2 and smaller roots (%) from pairs of AICs, with rising slopes."""
    puzzles = puzzles_per_cell(BY_NAME[name], ())
    answers = np.tile(puzzles, (len(aics), 1))
    sums = np.tile(exact_sums(name), (len(aics), 1))
    for columns, aic in zip((LINEAR_COLUMNS, QUADRATIC_COLUMNS), aics.T, strict=True):
        _, above = solve_aic(X[:, columns], answers, sums, aic)
        sums = np.column_stack([sums, above])
    betas, _ = maximise_all(X[:, QUADRATIC_COLUMNS], answers, sums)
    roots = roots_along_rho(betas, MEANS)
    return row_values(betas, MEANS), 100 * roots[:, 0]


def agree_with_all_else(name, aics):
    """Whether Table 2's row and the page's root and ID50 follow from pairs of AICs."""
    page = load_table("results_page").set_index("model").loc[name]
    values, roots = refit(name, aics)
    deviations = row_deviations(values, printed_rows([name]))
    same_row = deviations.max(axis=1) <= 1
    same_root = roots.round(1) == page["nt50_pct"]
    same_id50 = values[:, 7].round(1) == page["id50"]
    return same_row, same_root, same_id50


AICS = ["aic_linear", "aic_quadratic"]


@pytest.mark.parametrize("name", IMPUTED.index)
def test_imputed_aics_agree_with_everything_else_that_is_printed(name):
    """From the printed AICs neither Table 2's row nor the page's numbers follow."""
    imputed = IMPUTED.loc[[name], AICS].to_numpy(float)
    assert np.all(agree_with_all_else(name, imputed))
    assert not np.any(agree_with_all_else(name, printed_aics([name])))


@pytest.mark.parametrize("name", IMPUTED.index)
def test_imputed_aics_are_the_middle_of_those_that_agree(name):
    """To the tenth, on a grid of pairs that reaches beyond all that agree."""
    steps = np.arange(3, 6.05, 0.1)
    raised = np.array(list(product(steps, repeat=2)))
    aics = printed_aics([name]) + raised
    agrees = np.all(agree_with_all_else(name, aics), axis=0)
    assert raised[agrees].min() > 3
    assert raised[agrees].max() < 6
    least = aics[agrees].min(axis=0)
    most = aics[agrees].max(axis=0)
    middle = (least + most) / 2
    imputed = IMPUTED.loc[name, AICS].to_numpy(float)
    assert imputed == pytest.approx(middle.round(1))


def test_rows_that_select_or_replace_something_are_no_tests():
    """Those of models with missing puzzles, and of the model with imputed AICs."""
    using = {model.name for model in MODELS if uses_table2(model.name)}
    incomplete = {model.name for model in MODELS if model.missing}
    assert using == incomplete | set(IMPUTED.index)
    assert IMPUTED["source"].str.len().min() > 0
