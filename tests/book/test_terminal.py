"""Accuracies, regressions and their comparison as lines of text."""

import pandas as pd
from samples import PRODUCT, three_models

from cogniload_repro.book.terminal import (
    print_comparison,
    print_fits,
    print_scores,
)
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.regression.fits import fit
from cogniload_repro.regression.selection import compare_fits

THREE = three_models(load_cells())


def test_own_models_have_a_line_with_what_they_lean_on():
    """The paper's models share one line; beyond forty, other models are counted."""
    columns = [
        "model",
        "answers",
        "correct",
        "length",
        "context",
        "unclosed_trace",
        "hedged",
    ]
    rows = [
        ("mine", 4, 3, 1, 1, 1, 1),
        ("QwQ-32B", 1, 1, 0, 0, 0, 0),
        ("o3-2025-04-16", 1, 0, 0, 0, 0, 0),
    ]
    answers = pd.DataFrame(rows, columns=columns)
    first, second = print_scores(answers).splitlines()
    assert "2 models: 0.0% (o3" in first
    expected = (
        "mine: 75.0% of 4 correct, 2 truncated, 1 with reasoning that is not closed, "
        "1 correct by it though"
    )
    assert second.strip().startswith(expected)
    many = pd.concat(
        [answers.iloc[:1].assign(model=f"model {number}") for number in range(50)]
    )
    assert print_scores(many).splitlines()[-1].strip() == "and 10 more models"


def test_the_printed_comparison_fits_a_terminal():
    """Lines have at most 100 characters, failed fits show their status; a line counts models."""
    hostile = THREE.assign(
        model=THREE["model"].replace("sure", "\x1b[31mme/" + "x" * 60)
    )
    lines = print_fits(fit(hostile, "correct ~ C(d) + rho")).splitlines()
    assert [line.endswith(": separation") for line in lines] == [False, True, False]
    compared = compare_fits(hostile, PRODUCT)
    text = print_comparison(compared.assign(dbic=-compared["daic"]), PRODUCT)
    assert max(map(len, text.splitlines())) <= 100
    assert text.count("separation") == 1
    assert "\x1b" not in text
    better = (compared["daic"] < -2).sum()
    worse = (compared["daic"] > 2).sum()
    assert f"in {better} of 3 models, above 2 in {worse}\n" in text
