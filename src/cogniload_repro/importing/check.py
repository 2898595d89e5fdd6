"""A summary of a source of answers, as `cogniload check` prints it."""

from collections.abc import Iterable

import pandas as pd

from cogniload_repro.endings import STOPS, take_answer
from cogniload_repro.formats import display_names
from cogniload_repro.grid import CELL
from cogniload_repro.importing.report import Report
from cogniload_repro.importing.responses import Response
from cogniload_repro.models import order_models
from cogniload_repro.puzzles.catalog import Catalog

_COVERAGE = ["responses", "cells", "per cell", "missing", "tokens", "empty"]
_LEGEND = """
  cells     configurations with a response; per cell: fewest and most responses in a cell
  missing   responses that cells lack compared with the model's fullest cell
  tokens    responses with both token counts; without them the context limit is not tested
  length    responses cut off by the token limit; context: by the model's or server's window
  unknown   the source does not say why the model stopped, or uses an unknown word
  open      responses that end within their reasoning (marks: data/reasoning_marks.txt)
  The whole response is scored, including the reasoning before the answer, as in the paper.
"""


def summarise_responses(responses: Iterable[Response], catalog: Catalog) -> pd.DataFrame:
    """Return one row per model, the paper's first, with the columns that `format_check` explains.

    The catalog has the puzzles of the responses.
    """
    facts = [_describe(response, catalog[response.name]) for response in responses]
    if not facts:
        return pd.DataFrame({"responses": []})
    answers = pd.DataFrame(facts)
    cells = answers.groupby(["model", *CELL]).size()
    sizes = cells.groupby("model").agg(["sum", "size", "min", "max"])
    summary = answers.groupby("model")[["tokens", "empty", "open"]].sum()
    summary["responses"] = sizes["sum"]
    summary["cells"] = sizes["size"]
    summary["per cell"] = sizes["min"].astype(str) + "-" + sizes["max"].astype(str)
    summary["missing"] = sizes["max"] * sizes["size"] - sizes["sum"]
    stops = pd.crosstab(answers["model"], answers["stopped"])
    stops = stops.reindex(columns=list(STOPS), fill_value=0)
    return summary.join(stops).loc[order_models(summary.index)]


def _describe(response: Response, puzzle: dict) -> dict:
    facts = {load: puzzle[load] for load in CELL}
    facts["model"] = response.model
    facts["stopped"] = response.stopped or "unknown"
    facts["tokens"] = None not in (response.prompt_tokens, response.response_tokens)
    facts["empty"] = response.response == ""
    facts["open"] = take_answer(response.response) is None
    return facts


def format_check(summary: pd.DataFrame, report: Report) -> str:
    """Return a summary and the report as text for the terminal: coverage, endings, rejected rows."""
    if summary.empty:
        return report.summary()
    named = summary.rename(display_names(summary.index)).rename_axis("model").reset_index()
    coverage = named[["model", *_COVERAGE]].to_string(index=False)
    endings = named[["model", *STOPS, "open"]].to_string(index=False)
    return f"{coverage}\n{endings}\n{_LEGEND}\n{report.summary()}"
