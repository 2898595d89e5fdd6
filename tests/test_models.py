"""The list of models against the printed tables."""

import pytest

from cogniload_repro.models import BY_NAME, MODELS, NAMES
from cogniload_repro.published import load_table


def test_models_stand_in_printed_order():
    """Names are those of every printed table, in the order of Tables 3 and 6."""
    for table in ("table3", "table6"):
        assert tuple(load_table(table)["model"]) == NAMES
    for table in ("table2", "table4", "table5", "tokens"):
        assert set(load_table(table)["model"]) == set(NAMES)


def test_each_of_the_22_models_has_a_name_and_a_label_of_its_own():
    """Tables are joined by the name, figures labelled by the label."""
    labels = {model.label for model in MODELS}
    assert len(MODELS) == len(BY_NAME) == len(labels) == 22


@pytest.mark.parametrize(
    ("table", "level", "place"),
    [
        ("table4", "d", 0),
        ("table5", "N", 1),
    ],
)
def test_samples_follow_from_puzzles_per_cell_and_missing_puzzles(table, level, place):
    """Every printed number of samples is that of a full grid less the missing puzzles."""
    printed = load_table(table)
    cells = 140 // printed[level].nunique()
    for row in printed.to_dict("records"):
        model = BY_NAME[row["model"]]
        levels = [condition[place] for condition in model.missing]
        missing = levels.count(row[level])
        full = cells * model.puzzles_per_cell
        assert row["samples"] == full - missing, row
