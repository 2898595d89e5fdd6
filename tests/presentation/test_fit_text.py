"""Regressions and their comparison as lines of text."""

import re

import pandas as pd

from cogniload_repro.presentation.fit_text import describe_needs, print_comparison, print_fits, summarise
from cogniload_repro.reconstruction.reconstruct import load_counts
from cogniload_repro.statistics.fits import compare_each, fit
from cogniload_repro.statistics.regression import LINEAR

CELLS = load_counts()
QWQ = CELLS[CELLS["model"] == "QwQ-32B"]
SURE = QWQ.assign(model="sure", correct=QWQ["total"])
THREE = pd.concat([QWQ, SURE, CELLS[CELLS["model"] == "o3-2025-04-16"]])
PRODUCT = "correct ~ d * log10_N + rho + I(rho**2)"


def test_a_fit_that_failed_shows_its_status():
    """Coefficients with standard errors in one line a model, or why there are none."""
    lines = print_fits(fit(THREE, "correct ~ C(d) + rho")).splitlines()
    assert [line.partition(":")[0] for line in lines] == ["QwQ-32B", "sure", "o3-2025-04-16"]
    assert lines[1] == "sure: separation"


def test_the_printed_comparison_fits_a_terminal():
    """Lines have at most 100 characters, and failed fits show their status on both sides."""
    hostile = THREE.assign(model=THREE["model"].replace("sure", "\x1b[31mme/" + "x" * 60))
    text = print_comparison(compare_each(hostile, PRODUCT), PRODUCT)
    assert max(map(len, text.splitlines())) <= 100
    assert text.count("separation") == 2
    assert "\x1b" not in text
    assert "effect where the loads it is multiplied by are 0" in text
    assert "multiplied" not in print_comparison(compare_each(QWQ, LINEAR), LINEAR)


def test_the_summary_counts_models():
    """One sentence says how many models each criterion favours, change or have no fit."""
    compared = compare_each(THREE, PRODUCT)
    text = summarise(compared)
    assert text.startswith("3 models; AIC lower than the paper's by more than 2 in ")
    assert f"in {(compared['daic'] < -2).sum()}, higher in {(compared['daic'] > 2).sum()}" in text
    assert text.endswith("; 1 without a fit.")


def test_counts_are_ranges_where_not_identified():
    """A cubic in rho is better in more models of some reconstructions than of others."""
    text = summarise(compare_each(CELLS, "correct ~ d + log10_N + rho + I(rho**2) + I(rho**3)"))
    least, most = map(int, re.search(r"more than 2 in (\d+) to (\d+) \(median", text).groups())
    assert least < most <= 22
    assert text.endswith("ranges over 25 reconstructions.")


def test_what_a_page_needs_names_what_is_in_the_way():
    """Where no model has a fit, the sentence says why."""
    assert "no model here has one (separation)" in describe_needs(fit(SURE))
