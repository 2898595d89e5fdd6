"""Accuracies as lines of text."""

import pandas as pd

from cogniload_repro.presentation.score_text import print_fit_summary, print_scores
from cogniload_repro.statistics.cell_tables import load_cells


def test_own_models_have_a_line_with_what_they_lean_on():
    """The paper's models share one; hedged are right answers that are right by their reasoning alone."""
    rows = [
        ("mine", True, True, False, "stop", False),
        ("mine", True, False, True, "length", True),
        ("mine", True, False, False, "context", False),
        ("mine", False, False, True, None, False),
        ("QwQ-32B", True, True, False, None, False),
        ("o3-2025-04-16", False, False, False, None, False),
    ]
    names = ["model", "correct", "answer_correct", "unsure", "stopped", "unclosed_trace"]
    first, second = print_scores(pd.DataFrame(rows, columns=names)).splitlines()
    assert "2 models: 0.0% (o3" in first
    expected = "mine: 75.0% of 4 right, 2 cut off, 1 with reasoning that is not closed, 1 right by it though not sure"
    assert second.strip().startswith(expected)
    assert "mine: 4 answers, puzzles were chosen" in print_scores(pd.DataFrame(rows, columns=names), {"mine"})


def test_a_fit_is_summed_up_by_model():
    """A model without a capacity point shows dashes."""
    cells = load_cells(models=["QwQ-32B"]).assign(model="nan")
    glm = pd.DataFrame({"model": ["nan"], "ecl50": [float("nan")], "nt50": [0.25], "id50": [3.0]})
    shown = print_fit_summary(cells, glm)
    assert shown.startswith("  nan: ")
    chosen = print_fit_summary(cells.assign(chosen=1), glm)
    assert "%" not in chosen
    assert chosen.endswith("accuracy is not averaged, ECL50 --, NT50 0.250, ID50 3.00")
    assert shown.endswith("right, ECL50 --, NT50 0.250, ID50 3.00")
