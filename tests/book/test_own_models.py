"""What the book says of a reader's model."""

import re

import numpy as np
import pandas as pd
import pytest
from extreme_models import CLAUSE, CUT, GUESS, PERFECT, SMALL, extreme_rows, few_rows
from harness import run, write_lines

from cogniload_repro.analysis.own_models import compare_with_baselines, rank_models
from cogniload_repro.analysis.shortcut import shortcut_use
from cogniload_repro.book.own_models import (
    describe_model,
    describe_regressions,
    format_ranks,
    shorten,
)
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.scoring.answers import summarise_answers
from cogniload_repro.scoring.cells import read_scores

FEW = "openai-api/local/tiny"
INTERVAL = r"95% interval [\d.]+ to [\d.]+%"


@pytest.fixture(scope="module")
def said(one_process, tmp_path_factory):
    """What is said of the four extreme models, and of one with 18 answers, after the real chain."""
    folder = tmp_path_factory.mktemp("own")
    source = write_lines(
        folder / "answers.jsonl", [*extreme_rows(SMALL, 6), *few_rows()]
    )
    for step in (["download-outputs", "--source", source], ["score", "--jobs", "1"]):
        done = run(*step, "--build", folder)
        assert done.exit_code == 0, done.output
    scores = read_scores(folder / "scores")
    baselines = pd.read_parquet(folder / "baselines.parquet")
    frames = (
        rank_models(load_cells(folder), load_cells()),
        compare_with_baselines(scores, baselines),
        shortcut_use(scores, baselines),
        summarise_answers(scores),
    )
    tables = [frame.set_index("model") for frame in frames]
    sentences = {}
    for name in tables[0].index:
        rows = [table.loc[name] for table in tables]
        sentences[name] = describe_model(name, *rows)
    return sentences


def test_every_model_has_an_interval_and_a_rank(said):
    """The clearest cases too: perfect, the last clause only, guessing, all cut off."""
    assert set(said) == {PERFECT, CLAUSE, GUESS, CUT, FEW}
    for text in said.values():
        assert re.search(INTERVAL, text)
        assert re.search(r"it ranks \d+ of 23", text)
        assert "nan" not in text
        assert not re.search(r"\d\.0 of", text)


def test_a_perfect_model_is_called_so(said):
    """All answers are correct, above guessing, and the last clause makes no difference."""
    text = said[PERFECT]
    assert text.startswith("72 of 72 answers of")
    assert "is above guessing" in text
    assert "shortcut" not in text
    assert "it ranks 1 of 23" in text


def test_a_model_that_repeats_the_last_clause_is_recognised(said):
    """The interval of a model that is right where the last clause is excludes zero."""
    text = said[CLAUSE]
    low = float(re.search(r"\+100\.0 \(\+([\d.]+) to \+100\.0\)", text)[1])
    assert low > 50
    assert "as the last-clause shortcut predicts" in text


def test_a_model_at_chance_is_called_so(said):
    """Its accuracy cannot be distinguished from guessing."""
    assert "cannot be distinguished from guessing" in said[GUESS]
    assert "cannot be distinguished" not in said[PERFECT]


def test_answers_that_were_all_cut_off_say_nothing_of_reasoning(said):
    """The sentence asks for a larger limit, and judges neither guessing nor the last clause."""
    text = said[CUT]
    assert text.startswith("0 of 72 answers of")
    assert "72 of 72 answers were cut off" in text
    assert "guessing" not in text
    assert "it ranks 23 of 23" in text


def test_a_few_answers_are_counted_where_the_last_clause_is_right_and_where_it_is_wrong(
    said,
):
    """With one answer per cell no cell has both kinds, but both counts are there."""
    text = said[FEW]
    counts = re.search(
        r"right, (\d+) of (\d+) answers are correct; where it is wrong, (\d+) of (\d+)\.",
        text,
    )
    right, of_right, wrong, of_wrong = map(int, counts.groups())
    assert (right + wrong, of_right + of_wrong) == (5, 18)
    assert "over the reconstructions" in text


def test_a_model_without_a_cell_of_the_paper_has_no_rank():
    """Its accuracy is described all the same, and that some answers were cut off."""
    ranked = pd.Series({"cells": 0})
    against = pd.Series(
        {
            "answers": 4,
            "correct": 1,
            "accuracy": 0.25,
            "low": 0.05,
            "high": 0.7,
            "guess": 0.9,
            "against_guess": "below",
        }
    )
    use = pd.Series(
        {
            "answers_right": 4,
            "correct_right": 1,
            "answers_wrong": 0,
            "correct_wrong": 0,
            "difference": np.nan,
        }
    )
    text = describe_model(
        "x", ranked, against, use, pd.Series({"answers": 4, "cut": 2})
    )
    assert "0 of 140 cells of the paper's grid" in text
    assert "2 of 4 answers were cut off" in text
    assert "This is below guessing, which scores 90.0% on these puzzles" in text
    assert "rank" not in text


def test_regressions_that_cannot_be_or_rest_on_little_are_named():
    """The design's reason is given, and few answers are no basis for standard errors."""
    models = pd.DataFrame(
        {
            "name": ["a", "b", "c"],
            "status": ["rho takes 2 values, the formula needs 3", "ok", "ok"],
            "correct": [9, 20, 500],
            "wrong": [9, 900, 500],
        }
    )
    text = describe_regressions(models)
    assert "no regression for a (rho takes 2 values, the formula needs 3)." in text
    assert text.endswith("rough: b.")
    assert (
        describe_regressions(models.tail(1))
        == "Every model of this page has a regression."
    )


def test_numbers_are_printed_with_what_is_known():
    """A range of one rank is that rank.

    Long answers are cut in the middle.
    """
    assert (format_ranks(3, 3), format_ranks(3.0, 5.0)) == ("3", "3 to 5")
    assert shorten("a" * 6 + "b" * 6, 4) == "aa\n[...]\nbb"
    assert shorten("", 4) == "(no text)"
