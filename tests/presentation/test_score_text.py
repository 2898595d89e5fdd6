"""Accuracies as lines of text."""

import pandas as pd

from cogniload_repro.presentation.score_text import print_fit_summary, print_scores
from cogniload_repro.statistics.cell_tables import load_cells


def test_own_models_have_a_line_with_what_they_lean_on():
    """The paper's models share one line; beyond forty, other models are counted."""
    rows = [("mine", 4, 3, 2, 1, 1), ("QwQ-32B", 1, 1, 0, 0, 0), ("o3-2025-04-16", 1, 0, 0, 0, 0)]
    endings = pd.DataFrame(rows, columns=["model", "answers", "correct", "cut", "unclosed", "hedged"])
    first, second = print_scores(endings).splitlines()
    assert "2 models: 0.0% (o3" in first
    expected = "mine: 75.0% of 4 correct, 2 truncated, 1 with reasoning that is not closed, 1 correct by it though"
    assert second.strip().startswith(expected)
    assert "mine: 4 answers, puzzles were chosen" in print_scores(endings, {"mine"})
    many = pd.concat([endings.iloc[:1].assign(model=f"model {number}") for number in range(50)])
    assert print_scores(many).splitlines()[-1].strip() == "and 10 more models"


def test_a_fit_is_summed_up_by_model():
    """A model without a capacity point shows dashes."""
    cells = load_cells(models=["QwQ-32B"]).assign(model="nan")
    glm = pd.DataFrame({"model": ["nan"], "ecl50": [float("nan")], "nt50": [0.25], "id50": [3.0]})
    shown = print_fit_summary(cells, glm)
    assert shown.startswith("  nan: ")
    chosen = print_fit_summary(cells.assign(chosen=1), glm)
    assert "%" not in chosen
    assert chosen.endswith("accuracy is not averaged, ECL50 --, NT50 0.250, ID50 3.00")
    assert shown.endswith("correct, ECL50 --, NT50 0.250, ID50 3.00")
