"""A summary of a source of answers, as `cogniload check` prints it."""

from collections import Counter
from statistics import NormalDist

import numpy as np
import pandas as pd

from cogniload_repro.importing.report import Report
from cogniload_repro.models import order_models
from cogniload_repro.published import ALPHA
from cogniload_repro.scoring.reasoning import STOPS

#: Puzzles per cell that most of the paper's models have answered.
_PAPER_PER_CELL = 100

EXPLANATION = """
  cells     configurations with a response
  tokens    responses with both token counts; without them overflows cannot be tested
  length    responses cut off by the token limit; context: by the model's or server's window
  unknown   the source does not say why the model stopped, or uses an unknown word
  paper     the difference of accuracies, in points, from a model of the paper with 100 puzzles
            per cell that is found with 80% power (two-sided, 5%, accuracies near 50%: others need
            less); own: from another model with as many answers
  The whole response is scored, including the reasoning before the answer, as in the paper.
"""


def summarise_responses(report: Report) -> pd.DataFrame:
    """Return one row per model, the paper's first, with the columns that `EXPLANATION` explains."""
    cells = Counter(model for model, *_ in report.cells)
    summary = pd.DataFrame({"responses": report.responses, "cells": cells})
    for fact in ("tokens", *STOPS):
        summary[fact] = [report.facts[model, fact] for model in summary.index]
    answers = summary["responses"]
    summary["paper"] = find_difference(answers, summary["cells"] * _PAPER_PER_CELL)
    summary["own"] = find_difference(answers, answers)
    return summary.loc[order_models(summary.index)]


def find_difference(answers, others):
    """Return the difference of two accuracies near 50%, in points, that is found with 80% power.

    Parameters
    ----------
    answers, others : float or Series
        Numbers of answers of the two models.
    """
    normal = NormalDist()
    quantiles = normal.inv_cdf(1 - ALPHA / 2) + normal.inv_cdf(0.8)
    error = 0.5 * np.sqrt(1 / answers + 1 / others)
    return np.minimum(100 * quantiles * error, 100)
