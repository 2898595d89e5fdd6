"""Accuracies and capacity points as lines of text for a terminal."""

import pandas as pd

from cogniload_repro.formats import display_names, format_frame

_MODELS_SHOWN = 40


def format_scores(answers: pd.DataFrame) -> str:
    """Return `summarise_answers` as a table: correct answers, and how answers ended."""
    columns: dict = {
        "accuracy": ("correct", ".1%"),
        "answers": ("of", ",.0f"),
        "cut": ("cut off", ",.0f"),
        "unclosed_trace": ("open reasoning", ",.0f"),
        "hedged": ("correct, but not sure", ",.0f"),
    }
    accuracy = answers["correct"] / answers["answers"]
    return _format_models(answers.assign(accuracy=accuracy), columns)


def format_capacity(glm: pd.DataFrame) -> str:
    """Return the capacity points of Table 2 as a table."""
    columns = {"ecl50": ("ECL50", 1), "nt50": ("NT50", 3), "id50": ("ID50", 2)}
    return _format_models(glm, columns)


def _format_models(table: pd.DataFrame, columns: dict) -> str:
    """Return a table with one row per model, of very many the first ones."""
    names = display_names(table["model"])
    columns = {"model": ("model", names.get)} | columns
    text = format_frame(table.head(_MODELS_SHOWN), columns).to_string(index=False)
    left_out = len(table) - _MODELS_SHOWN
    return f"{text}\nand {left_out:,} more models" if left_out > 0 else text
