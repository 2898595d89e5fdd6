"""Every verdict is right in worlds where the statement holds, and where it does not."""

import numpy as np
import pandas as pd
import pytest
from judging import judge, read_cells, run_chapter, write_build
from right_words import RIGHT, compare
from worlds import WORLDS, draw_world, expect_outcomes

import cogniload_repro as cl
from cogniload_repro.analysis.verdicts import AGREES, DISAGREES
from cogniload_repro.published import load_conclusions
from cogniload_repro.storage import ERRORS, write_table

FAST = ("null", "hinge", "loops")
SLOW = [
    pytest.param(name, marks=pytest.mark.slow) for name in WORLDS if name not in FAST
]
#: The first seed of the committed rates, none of which was used to form a rule.
SEED = 1000


@pytest.fixture(scope="module")
def build(tmp_path_factory):
    """A build folder with what the shortcut scores on ten puzzles of each cell."""
    return write_build(tmp_path_factory.mktemp("world"), 10)


def test_every_conclusion_has_a_world_in_which_another_word_is_right():
    """A verdict that no world changes says nothing."""
    statements = {}
    for of_chapter in RIGHT.values():
        statements |= of_chapter
    assert set(load_conclusions()["name"]) <= set(statements)
    for statement, words in statements.items():
        assert len(set(words.values())) > 1, statement


def test_all_chapters_with_verdicts_are_judged():
    """The tag of their cells finds them."""
    assert set(read_cells()) == set(RIGHT)


@pytest.mark.parametrize("world", list(WORLDS))
def test_a_world_has_the_answers_of_the_paper(world):
    """Outcomes are probabilities, and the drawn counts add up to the paper's answers."""
    expected = expect_outcomes(WORLDS[world]())
    assert expected["p"].between(0, 1).all()
    assert (expected["p"] + expected["q"]).between(0, 1).all()
    cells = draw_world(world, 0)
    assert (cells["correct"] + cells[list(ERRORS)].sum(axis=1)).equals(cells["total"])
    assert cells["total"].equals(expected["total"])


def mean_by(expected, load):
    """The expected accuracy of each model at the levels of a load, over its answers."""
    correct = expected["p"] * expected["total"]
    sums = expected.assign(correct=correct).pivot_table(
        ["correct", "total"], load, "model", "sum"
    )
    return sums["correct"] / sums["total"]


def test_the_paper_is_right_in_its_world():
    """What the conclusions say is so in the expected accuracies, not only in the parameters."""
    expected = expect_outcomes(WORLDS["paper"]())
    by_length = mean_by(expected, "N")
    by_difficulty = mean_by(expected, "d")
    by_ratio = mean_by(expected, "ratio_pct")
    half = by_length.shape[1] / 2
    fall = by_length.iloc[0] - by_length.iloc[-1]
    assert (fall > by_difficulty.iloc[0] - by_difficulty.iloc[-1]).sum() > half
    assert (by_length.diff().idxmin() == 50).sum() > half
    assert by_ratio.idxmin().isin([25, 50]).sum() > half


def test_accuracy_never_falls_along_the_hinge_and_turns_late_in_the_late_trough():
    """The critics of the U are what they say."""
    curves = {}
    for world in ("hinge", "late_trough"):
        expected = expect_outcomes(WORLDS[world]())
        curves[world] = expected.pivot_table("p", ["model", "N", "d"], "ratio_pct")
    steps = curves["hinge"].diff(axis=1).iloc[:, 1:]
    assert (steps > -1e-12).all(axis=None)
    assert (curves["late_trough"].idxmin(axis=1) == 75).all()


@pytest.mark.parametrize("world", [*FAST, *SLOW])
def test_verdicts_are_right_in_a_world(world, build):
    """The words that were right in every committed draw are right in the first of them.

    The others, which chance can change, have their rates in ``verdict_rates.csv``.
    """
    rates = pd.read_csv(cl.verdicts.RATES, keep_default_na=False).query(
        "world == @world"
    )
    always = set(rates.loc[rates["hits"] == rates["draws"], "statement"])
    words = compare(world, draw_world(world, SEED), build, judge)
    assert {statement for statement, *_ in words} >= always
    assert [row for row in words if row[0] in always and row[1] != row[2]] == []


def test_a_printed_number_agrees_or_does_not(build):
    """No number of models is in part right."""
    judged = judge(draw_world("null", SEED), build, ["07_aic"])
    words = {name: verdict.word for name, verdict in judged.items() if "AIC" in name}
    assert len(words) == 2
    assert set(words.values()) <= {AGREES, DISAGREES}


def test_a_bound_on_the_shortcut_without_equal_use_is_not_led_astray(build):
    """Of models that take 72 of 100 answers from it, the second bound allows that in all."""
    write_table(build / "cells.parquet", draw_world("shortcut", SEED))
    space = run_chapter("04_accuracy", build)
    assert space["half"] == 22  # with equal use: less than half
    assert space["over_half"].min() == 22


@pytest.mark.parametrize(("world", "limited"), [("loops", 0), ("budget", 22)])
def test_only_overflows_that_grow_with_length_are_limits_of_the_budget(
    build, world, limited
):
    """As many overflows in short puzzles as in long ones say nothing about the budget."""
    write_table(build / "cells.parquet", draw_world(world, SEED))
    assert run_chapter("08_errors", build)["limited"].sum() == limited


def test_the_committed_rates_cover_every_statement_and_world():
    """The table of chapter 10 is that of these worlds, with the draws that it says."""
    rates = pd.read_csv(cl.verdicts.RATES, keep_default_na=False)
    expected = {
        (statement, world): word
        for statements in RIGHT.values()
        for statement, words in statements.items()
        for world, word in words.items()
    }
    rows = rates.set_index(["statement", "world"])
    assert rows["right"].to_dict() == expected
    draws = rows["draws"].groupby("world").unique()
    assert {name: list(values) for name, values in draws.items()} == {
        name: [60] if name in ("paper", "null") else [20] for name in draws.index
    }
    assert (rows["low"] <= rows["hits"] / rows["draws"]).all()
    null = rows.xs("null", level="world")
    assert np.average(null["hits"] / null["draws"]) >= 0.95
