"""Sentences of findings: every rule has one, made of its numbers."""

import pandas as pd
import pytest

from cogniload_repro.presentation import conclusion_text
from cogniload_repro.presentation.conclusion_text import describe_findings
from cogniload_repro.robustness.conclusions import RULES

NUMBERS = {
    "slopes": {"kept": 21, "models": 22, "least": 1.05, "most": 6.03, "weakest": "mine", "bearable": 8.28},
    "dominant_load": {"length": 11, "difficulty": 7, "open": 4, "models": 22, "range": 13, "explained": 15},
    "nt50_meaning": {"values": 9, "falling": ["Phi-4-reasoning-plus"], "unlimited": [], "unsure": ["mine"]},
    "classes": {"pairs": 0, "outsiders": [("gemini-2.5-flash", 2, "frontier")]},
    "N_by_rho": {"paper": (2, 3), "holm": (1, 0), "levels": {1.0: (2, 7), 10.0: (1, 12)}, "third": "d"},
    "d_by_N_leaders": {
        "p": {"gpt-5-2025-08-07": 0.69}, "third": "rho", "detectable": {"gpt-5-2025-08-07": 0.89},
        "others": (0.13, 0.45), "levels": {0.05: [(-0.18, 0.54)], 0.95: [(-1.12, 0.001)]},
    },
}  # fmt: skip


@pytest.mark.parametrize("rule", NUMBERS)
def test_numbers_of_a_finding_are_said(rule):
    """Counts, models and coefficients of a rule stand in its sentence; every model keeps its one name."""
    (sentence,) = describe_findings(pd.DataFrame([{"rule": rule, "numbers": NUMBERS[rule], "holm": ""}]))
    said = {
        "slopes": ["21 of 22", "1.05 times", "6.0 at most", "(mine)", "8.3 times"],
        "dominant_load": ["in 11 models", "in 7 (Holm)", "4 do not say", "13 of 22", "15"],
        "nt50_meaning": [
            "Of 9 values, 1 is",
            "(Phi-4-reasoning-plus)",
            "0 have no upper limit",
            "(none)",
            "open for mine",
        ],
        "classes": ["All pairs", "gemini-2.5-flash (2 of the frontier class)"],
        "N_by_rho": ["2 negative, 3 positive (1 and 0 after Holm)", "d = 1: 2/7", "d = 10: 1/12"],
        "d_by_N_leaders": ["p 0.69", "0.89 for gpt-5-2025-08-07", "0.13 to 0.45", "ρ = 95% for", "-1.12, p 0.001"],
    }[rule]
    assert [words for words in said if words not in sentence] == []
    assert rule != "d_by_N_leaders" or "5% for gpt-5-2025-08-07 (-0.18" not in sentence


def test_another_verdict_after_correction_is_said():
    """Where Holm's correction would change a verdict its sentence ends with that."""
    row = {"rule": "N_by_rho", "numbers": NUMBERS["N_by_rho"], "holm": "in part"}
    assert describe_findings(pd.DataFrame([row]))[0].endswith("With Holm's correction over the models: in part.")


def test_every_rule_has_a_sentence():
    """No rule is without words, and no words are without a rule."""
    assert set(conclusion_text._SENTENCES) == set(RULES)
