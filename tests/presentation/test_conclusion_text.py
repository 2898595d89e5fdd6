"""Sentences of findings: every rule has one, made of its numbers."""

import pandas as pd
import pytest

from cogniload_repro.presentation.conclusion_text import describe_findings
from cogniload_repro.robustness.conclusions import RULES

NUMBERS = {
    "slopes": {"kept": 21, "models": 22, "phi": 2.96},
    "dominant_load": {"length": 11, "difficulty": 7, "open": 4},
    "nt50_meaning": {"values": 9, "falling": ["Phi-4-reasoning-plus"], "unlimited": [], "unsure": ["mine"]},
    "classes": {"pairs": 0, "outsiders": [("gemini-2.5-flash", 2, "frontier")]},
    "N_by_rho": {"paper": (2, 3), "pairs": (12, 0), "mean": (13, 1)},
    "d_by_N_leaders": {"p_triple": [0.076, 0.092], "products": {"gpt-5-2025-08-07": (-0.58, 0.0033)}},
}


@pytest.mark.parametrize("rule", NUMBERS)
def test_numbers_of_a_finding_are_said(rule):
    """Counts, models and coefficients of a rule stand in its sentence; a model of anybody keeps its name."""
    (sentence,) = describe_findings(pd.DataFrame([{"rule": rule, "numbers": NUMBERS[rule]}]))
    said = {
        "slopes": ["21 of 22", "3.0"],
        "dominant_load": ["in 11 models", "in 7 (Holm)", "other 4"],
        "nt50_meaning": ["Of 9 values, 1 is", "(Phi-4-plus)", "0 have no upper limit", "(none)", "open for mine"],
        "classes": ["0 pairs", "gemini-2.5-flash (2 of the frontier class)"],
        "N_by_rho": ["2 positive and 3 negative", "12 and 0 without", "13 and 1 at the mean"],
        "d_by_N_leaders": ["(p 0.076, 0.092)", "gpt-5 -0.58 (p 0.0033)"],
    }[rule]
    assert [words for words in said if words not in sentence] == []


def test_every_rule_has_a_sentence():
    """No rule is without words, and no words are without a rule."""
    from cogniload_repro.presentation import conclusion_text

    assert set(conclusion_text._SENTENCES) == set(RULES)
