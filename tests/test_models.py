"""The list of models against the printed tables."""

import pytest

from cogniload_repro.models import (
    BY_NAME,
    NAMES,
    find_model,
    resolve_model,
    short_names,
)
from cogniload_repro.published import load_table


def test_models_stand_in_printed_order():
    """Names are those of every printed table, in the order of Tables 3 and 6."""
    for table in ("table3", "table6"):
        assert tuple(load_table(table)["model"]) == NAMES
    for table in ("table2", "table4", "table5", "tokens"):
        assert set(load_table(table)["model"]) == set(NAMES)


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


def test_a_model_is_shown_by_what_follows_the_last_slash():
    """Its server is no part of the name, unless two models would share it."""
    names = [
        "openai-api/local/mine",
        "a/b",
        "c/b",
        "openai/gpt-5",
        "x/QwQ-32B",
        "plain",
        "QwQ-32B",
    ]
    assert short_names(names) == {
        "openai-api/local/mine": "mine",
        **{name: name for name in names[1:]},
    }
    assert short_names(["a/b"]) == {"a/b": "b"}


def test_a_model_is_found_by_each_name_that_is_shown():
    """Full, short, and the name of figures; a name that two models share is none."""
    models = ["openai-api/local/mine", "a/b", "c/b", "gpt-5-2025-08-07"]
    for name in ("mine", "openai-api/local/mine"):
        assert resolve_model(name, models) == "openai-api/local/mine"
    for name in ("gpt-5", "gpt-5-2025-08-07"):
        assert resolve_model(name, models) == "gpt-5-2025-08-07"
    with pytest.raises(ValueError, match=r"unknown model .b.*: mine, a/b, c/b, gpt-5$"):
        resolve_model("b", models)


@pytest.mark.parametrize(
    ("written", "meant"),
    [
        ("gpt5", "gpt-5"),
        ("GPT 5 mini", "gpt-5-mini"),
        ("qwq-32b", "QwQ-32B"),
        ("o4mini", "o4-mini"),
        ("llama", "DS-Llama-70B"),
        ("Phi4 mini", "Phi-4-mini-r."),
        ("gemini", "gemini-2.5-pro"),
    ],
)
def test_a_misspelt_model_is_suggested(written, meant):
    """The closest name is asked for, of the cells at hand and of the paper's models."""
    with pytest.raises(ValueError, match=f"did you mean {meant}"):
        resolve_model(written, NAMES)
    with pytest.raises(ValueError, match=f"did you mean {meant}"):
        find_model(written)
    with pytest.raises(ValueError, match=r"unknown model .\?\?.; choose"):
        resolve_model("??", NAMES)
