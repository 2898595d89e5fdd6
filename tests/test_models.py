"""The list of models against the printed tables."""

from collections import Counter

import pytest

from cogniload_repro.models import BY_NAME, MODELS, NAMES, find_model
from cogniload_repro.published import load_table


@pytest.mark.parametrize("table", ["table3", "table6"])
def test_models_stand_in_printed_order(table):
    """Names and order are those of the printed table."""
    assert tuple(load_table(table)["model"]) == NAMES


@pytest.mark.parametrize("table", ["table2", "table4", "table5", "tokens"])
def test_other_tables_have_the_same_models(table):
    """Tables of another order have the same names."""
    assert set(load_table(table)["model"]) == set(NAMES)
    assert len(MODELS) == len(BY_NAME) == len({model.label for model in MODELS}) == 22


@pytest.mark.parametrize(("table", "key", "place"), [("table4", "d", 0), ("table5", "N", 1)])
def test_samples_follow_from_puzzles_per_cell_and_missing_puzzles(table, key, place):
    """Every printed number of samples is that of a full grid less the missing puzzles."""
    printed = load_table(table)
    levels = printed[key].nunique()
    for row in printed.itertuples():
        model = BY_NAME[row.model]
        missing = Counter(condition[place] for condition in model.missing)[getattr(row, key)]
        assert row.samples == 140 // levels * model.puzzles_per_cell - missing, (row.model, getattr(row, key))


def test_an_unknown_model_is_refused_with_the_list():
    """The complaint quotes the name and lists the paper's models; a known name gives its model."""
    assert find_model("QwQ-32B").puzzles_per_cell == 100
    with pytest.raises(ValueError, match=r"unknown model 'gpt-6'.*QwQ-32B") as refusal:
        find_model("gpt-6")
    assert all(name in str(refusal.value) for name in NAMES)
