"""A summary of a source of answers, as `cogniload check` prints it."""

from collections.abc import Iterable

import pandas as pd

from cogniload_repro.grid import CELL
from cogniload_repro.importing.responses import Response
from cogniload_repro.models import order_models
from cogniload_repro.puzzles.rows import KnownPuzzles
from cogniload_repro.scoring.reasoning import STOPS, take_answer

_LEGEND = """
  cells     configurations with a response; fewest, most: responses in a cell
  tokens    responses with both token counts; without them the context limit is not tested
  length    responses cut off by the token limit; context: by the model's or server's window
  unknown   the source does not say why the model stopped, or uses an unknown word
  open      responses that end within their reasoning (marks: data/reasoning_marks.txt)
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
    return summary.join([sums, stops]).loc[order_models(summary.index)]


def _describe(response: Response) -> dict:
    """Return a response's model, puzzle, stop reason and flags."""
    return {
        "model": response.model,
        "name": response.name,
        "stopped": response.stopped or "unknown",
        "tokens": None not in (response.prompt_tokens, response.response_tokens),
        "empty": not response.response,
        "open": take_answer(response.response) is None,
    }


def format_check(summary: pd.DataFrame) -> str:
    """Return a summary as text for the terminal."""
    return f"{summary.to_string(line_width=100)}\n{_LEGEND}"
