"""A summary of a source of answers, as `cogniload check` prints it."""

from collections.abc import Iterable
from math import inf
from statistics import NormalDist

import numpy as np
import pandas as pd

from cogniload_repro.grid import CELL
from cogniload_repro.importing.responses import Response
from cogniload_repro.models import order_models
from cogniload_repro.published import ALPHA
from cogniload_repro.puzzles.rows import KnownPuzzles
from cogniload_repro.scoring.reasoning import STOPS, take_answer

#: Share of samples in which a test should find a difference.
_FOUND_SHARE = 0.8
#: Puzzles per cell that most of the paper's models have answered.
_PAPER_PER_CELL = 100

_LEGEND = """
  cells     configurations with a response; fewest, most: responses in a cell
  tokens    responses with both token counts; without them overflows cannot be tested
  length    responses cut off by the token limit; context: by the model's or server's window
  unknown   the source does not say why the model stopped, or uses an unknown word
  open      responses that end within their reasoning (marks: data/reasoning_marks.txt)
  paper     the difference of accuracies, in points, from a model of the paper with 100 puzzles
            per cell that is found with 80% power (two-sided, 5%, accuracies near 50%: others need
            less); own: from another model with as many answers; shortcut: from the accuracy of
            the last clause on the same puzzles, which does not vary
  The whole response is scored, including the reasoning before the answer, as in the paper.
"""


def summarise_responses(
    responses: Iterable[Response], known: KnownPuzzles
) -> pd.DataFrame:
    """Return one row per model, the paper's first, with the columns that `format_check` explains.

    ``known`` has the puzzles of the responses.
    """
    facts = [_describe(response) for response in responses]
    columns = ["model", "name", "stopped", "tokens", "empty", "open"]
    answers = pd.DataFrame(facts, columns=columns).join(known.cells(), on="name")
    cells = answers.groupby(["model", *CELL]).size().groupby("model")
    summary = cells.agg(responses="sum", cells="size", fewest="min", most="max")
    sums = answers.groupby("model")[["tokens", "empty", "open"]].sum()
    stops = pd.crosstab(answers["model"], answers["stopped"])
    stops = stops.reindex(columns=list(STOPS), fill_value=0)
    summary = summary.join([sums, stops])
    counts = summary["responses"]
    summary["paper"] = find_difference(counts, summary["cells"] * _PAPER_PER_CELL)
    summary["own"] = find_difference(counts, counts)
    summary["shortcut"] = find_difference(counts, inf)
    return summary.loc[order_models(summary.index)]


def find_difference(answers, others, variance: float = 0.25):
    """Return the difference of two accuracies, in points, that is found with 80% power.

    Parameters
    ----------
    answers, others : float or Series
        Numbers of answers of the two models; ``inf`` for an accuracy that does not vary.
    variance : float or Series
        Mean variance of an answer within a cell, 0.25 for accuracies of 50%.
    """
    normal = NormalDist()
    quantiles = normal.inv_cdf(1 - ALPHA / 2) + normal.inv_cdf(_FOUND_SHARE)
    error = np.sqrt(variance * (1 / answers + 1 / others))
    return np.minimum(100 * quantiles * error, 100)


def _describe(response: Response) -> dict:
    """Return a response's model, puzzle, stop reason and flags."""
    return {
        "model": response.model,
        "name": response.name,
        "stopped": response.stopped or "unknown",
        "tokens": response.has_tokens,
        "empty": not response.response,
        "open": take_answer(response.response) is None,
    }


def format_check(summary: pd.DataFrame) -> str:
    """Return a summary as text for the terminal."""
    return f"{summary.round(1).to_string(line_width=100)}\n{_LEGEND}"
