"""The list of models against the printed tables."""

from collections import Counter

import pytest

from cogniload_repro.models import BY_NAME, MODELS, NAMES
from cogniload_repro.published import load_table


def test_models_stand_in_printed_order():
    """Names are those of every printed table, in the order of Tables 3 and 6."""
    assert all(tuple(load_table(table)["model"]) == NAMES for table in ("table3", "table6"))
    assert all(
        set(load_table(table)["model"]) == set(NAMES)
        for table in ("table2", "table4", "table5", "tokens")
    )
    assert len(MODELS) == len(BY_NAME) == len({model.label for model in MODELS}) == 22


@pytest.mark.parametrize(("table", "key", "place"), [("table4", "d", 0), ("table5", "N", 1)])
def test_samples_follow_from_puzzles_per_cell_and_missing_puzzles(table, key, place):
    """Every printed number of samples is that of a full grid less the missing puzzles."""
    printed = load_table(table)
    levels = printed[key].nunique()
    for row in printed.itertuples():
        model = BY_NAME[row.model]
        missing = Counter(condition[place] for condition in model.missing)[getattr(row, key)]
        assert row.samples == 140 // levels * model.puzzles_per_cell - missing, (
            row.model,
            getattr(row, key),
        )
