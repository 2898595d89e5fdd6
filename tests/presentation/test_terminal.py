"""Accuracies, regressions and their comparison as lines of text."""

import re

import pandas as pd
from samples import PRODUCT, three_models

from cogniload_repro.presentation.terminal import print_comparison, print_fits, print_scores, summarise
from cogniload_repro.statistics.cell_tables import load_cells
from cogniload_repro.statistics.fits import compare_each, fit

CELLS = load_cells()
QWQ = CELLS[CELLS["model"] == "QwQ-32B"]
THREE = three_models(CELLS)
SURE = THREE[THREE["model"] == "sure"]


def test_own_models_have_a_line_with_what_they_lean_on():
    """The paper's models share one line; beyond forty, other models are counted."""
    rows = [("mine", 4, 3, 2, 1, 1), ("QwQ-32B", 1, 1, 0, 0, 0), ("o3-2025-04-16", 1, 0, 0, 0, 0)]
    endings = pd.DataFrame(rows, columns=["model", "answers", "correct", "cut", "unclosed", "hedged"])
    first, second = print_scores(endings).splitlines()
    assert "2 models: 0.0% (o3" in first
    expected = "mine: 75.0% of 4 correct, 2 truncated, 1 with reasoning that is not closed, 1 correct by it though"
    assert second.strip().startswith(expected)
    many = pd.concat([endings.iloc[:1].assign(model=f"model {number}") for number in range(50)])
    assert print_scores(many).splitlines()[-1].strip() == "and 10 more models"


def test_the_printed_comparison_fits_a_terminal():
    """Lines have at most 100 characters, failed fits show their status; a sentence counts models."""
    hostile = THREE.assign(model=THREE["model"].replace("sure", "\x1b[31mme/" + "x" * 60))
    lines = print_fits(fit(hostile, "correct ~ C(d) + rho")).splitlines()
    assert [line.endswith(": separation") for line in lines] == [False, True, False]
    compared = compare_each(hostile, PRODUCT)
    said, text = summarise(compared), print_comparison(compared, PRODUCT)
    assert max(map(len, text.splitlines())) <= 100
    assert text.count("separation") == 1
    assert "\x1b" not in text
    assert said.startswith("3 models; AIC lower than the paper's by more than 2 in ")
    assert f"in {(compared['daic'] < -2).sum()}, higher in {(compared['daic'] > 2).sum()}" in said
    assert said.endswith("; 1 without a fit.")


def test_counts_are_ranges_where_not_identified():
    """A cubic in rho is better in more models of some reconstructions than of others."""
    each = compare_each(CELLS, "correct ~ d + log10_N + rho + I(rho**2) + I(rho**3)")
    text, better = summarise(each), (each["daic"] < -2).groupby(each["reconstruction"]).sum()
    least, most = map(int, re.search(r"more than 2 in (\d+) to (\d+) \(median", text).groups())
    assert (better.min(), better.max()) == (least, most)
    assert least < most <= 22
    assert text.endswith("ranges over 24 reconstructions.")
