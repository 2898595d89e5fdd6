"""What a book says of models that the paper does not have."""

import json

import pandas as pd
import pytest

from cogniload_repro.presentation.own_models import (
    count_endings,
    count_leaning,
    rank_models,
    read_settings,
    select_others,
)
from cogniload_repro.statistics.cell_tables import load_cells

NAMES = ["model", "bucket", "correct", "stopped", "unclosed_trace", "answer_correct", "unsure"]
ROWS = [
    ("a", "correct_valid", True, "stop", False, True, False),
    ("a", "correct_valid", True, "stop", False, False, True),
    ("a", "correct_poi", True, "length", True, False, False),
    ("a", "wrong_logic", False, None, False, False, True),
    ("a", "wrong_max_context", False, "context", False, False, False),
    ("a", "wrong_other", False, "shrug", True, False, False),
]


@pytest.fixture
def scores():
    """Six answers of one model."""
    return pd.DataFrame(ROWS, columns=NAMES)


def test_finished_answers_are_those_that_nothing_cut_off(scores):
    """Neither a limit nor an open trace nor a full context; the paper's accuracy is over all."""
    (row,) = count_endings(scores, set(scores["model"])).to_dict("records")
    assert [row[kind] for kind in ("stop", "length", "context", "unknown", "unclosed_trace", "over")] == [
        2,
        1,
        1,
        1,
        2,
        1,
    ]
    assert (row["accuracy"], row["finished"], row["accuracy_finished"]) == (0.5, 3, pytest.approx(2 / 3))


def test_right_answers_may_lean_on_their_reasoning(scores):
    """Of three right answers two are right by an earlier line only, one of which says that it is not sure."""
    (row,) = count_leaning(scores).to_dict("records")
    assert [row[name] for name in ("correct", "correct_valid", "correct_poi", "alone", "leaning", "hedged")] == [
        3,
        2,
        1,
        1,
        2,
        1,
    ]


def test_a_copy_of_a_model_ranks_next_to_it():
    """The same counts under another name have the rank of the original, on part of the grid too."""
    paper = load_cells()
    copy = paper.query("model == 'QwQ-32B' and N < 250").assign(model="mine")
    (row,) = rank_models(copy, paper).to_dict("records")
    assert (row["cells"], row["of"], row["total"]) == (105, 23, copy["total"].sum())
    assert row["best"] <= row["rank"] <= row["worst"]
    assert (row["nearest"], row["nearest_ecl50"]) == ("QwQ-32B", "QwQ-32B")
    better = (
        paper.query("N < 250").groupby("model")["correct"].sum()
        / paper.query("N < 250").groupby("model")["total"].sum()
    )
    assert row["rank"] == 1 + (better > better["QwQ-32B"] + 1e-12).sum()
    (row,) = rank_models(copy.assign(chosen=1), paper).to_dict("records")
    assert pd.isna([row["accuracy"], row["low"], row["rank"]]).all()
    assert (row["of_ecl50"], row["total"]) == (23, copy["total"].sum())
    assert row["best_ecl50"] <= row["rank_ecl50"] <= row["worst_ecl50"]
    assert select_others(pd.concat([paper, copy]))["model"].unique().tolist() == ["mine"]


def test_a_model_without_a_finite_fit_has_no_rank():
    """All answers correct: accuracy with its interval, and nothing else."""
    paper = load_cells()
    copy = paper[paper["model"] == "QwQ-32B"].assign(model="mine", correct=lambda cells: cells["total"])
    (row,) = rank_models(copy, paper).to_dict("records")
    assert row["accuracy"] == 1
    assert pd.isna([row["rank"], row["rank_ecl50"]]).all()


def test_settings_are_those_of_the_sources(tmp_path):
    """Several values show how many responses had them; models of the paper have no card."""
    told = {"mine": {"effort": {"high": 3}, "max_tokens": {"1": 1, "2": 1200}}}
    sources = [
        {"source": "reconstructed", "models": ["QwQ-32B"]},
        {"source": "x", "models": ["mine"], "settings": told},
    ]
    (tmp_path / "sources.json").write_text(json.dumps(sources))
    values = read_settings(tmp_path).set_index("model").loc["mine"]
    assert (values["effort"], values["max_tokens"], values["version"]) == ("high", "1 (1), 2 (1,200)", "")
