"""Accuracies, regressions and their comparison as lines of text."""

import pandas as pd
from samples import PRODUCT, three_models

from cogniload_repro.book.terminal import (
    format_comparison,
    format_fits,
    format_scores,
)
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.regression.fits import fit
from cogniload_repro.regression.selection import compare_fits

THREE = three_models(load_cells())


def test_each_model_has_a_row_with_how_its_answers_ended():
    """Beyond forty, models are counted."""
    row = {"model": "mine", "answers": 4, "correct": 3, "cut": 2, "unclosed_trace": 1}
    answers = pd.DataFrame([row | {"hedged": 1}])
    _, first = format_scores(answers).splitlines()
    assert first.split() == ["mine", "75.0%", "4", "2", "1", "1"]
    many = pd.concat([answers.assign(model=f"model {number}") for number in range(50)])
    assert format_scores(many).splitlines()[-1] == "and 10 more models"


def test_the_printed_comparison_fits_a_terminal():
    """Lines have at most 100 characters, failed fits show their status; a line counts models."""
    hostile = THREE.assign(
        model=THREE["model"].replace("sure", "\x1b[31mme/" + "x" * 60)
    )
    lines = format_fits(fit(hostile, "correct ~ C(d) + rho")).splitlines()
    assert [line.endswith(": separation") for line in lines] == [False, True, False]
    compared = compare_fits(hostile, PRODUCT)
    text = format_comparison(compared.assign(dbic=-compared["daic"]), PRODUCT)
    assert max(map(len, text.splitlines())) <= 100
    assert text.count("separation") == 1
    assert "\x1b" not in text
    better = (compared["daic"] < -2).sum()
    worse = (compared["daic"] > 2).sum()
    assert f"in {better} of 3 models, above 2 in {worse}\n" in text
