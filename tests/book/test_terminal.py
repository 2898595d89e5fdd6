"""Accuracies as lines of text."""

import pandas as pd

from cogniload_repro.book.terminal import format_scores


def test_each_model_has_a_row_with_how_its_answers_ended():
    """Accuracy, answers, and two ways to end."""
    row = {"model": "mine", "answers": 4, "correct": 3, "cut": 2, "unclosed_trace": 1}
    answers = pd.DataFrame([row])
    _, first = format_scores(answers).splitlines()
    assert first.split() == ["mine", "75.0%", "4", "2", "1"]
