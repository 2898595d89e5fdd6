"""A summary of a source of outputs, and of the analyses that it allows."""

from pathlib import Path

import pandas as pd

from cogniload_repro.endings import STOPS, take_answer
from cogniload_repro.formats import display_names
from cogniload_repro.grid import CELL, PAPER_GRID
from cogniload_repro.models import NAMES, order_models
from cogniload_repro.outputs.imports import read_outputs
from cogniload_repro.outputs.layout import find_files
from cogniload_repro.outputs.report import Report
from cogniload_repro.outputs.sources import fetch_source
from cogniload_repro.puzzles.catalog import Catalog
from cogniload_repro.puzzles.draws import Edition
from cogniload_repro.regression.design import GRID
from cogniload_repro.regression.existence import find_deficiency
from cogniload_repro.regression.glm import INTERACTIONS, QUADRATIC

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
_USES = f"""
  rank          rank by accuracy among the paper's models, on the cells of the paper's grid
  clause        accuracy if the last clause is right and if it is wrong, within cells
  regression    Table 2 and capacity points, if the model has correct and wrong responses
  interactions  Table 3
  The chapter "How does your model compare?" and those of the tables have all four.

  ADD shows these models beside the paper's {len(NAMES)}. A book of these outputs alone (SOURCE)
  judges no statement of the paper: that needs the paper's {len(NAMES)} models in all
  {len(PAPER_GRID)} cells.
"""


def check_outputs(
    source: str | Path,
    catalog: Catalog,
    cache: Path,
    *,
    model: str | None = None,
    edition: Edition | None = None,
) -> tuple[pd.DataFrame, Report]:
    """Return a summary of a source, and the report of its import.

    Nothing is written except downloaded and unpacked files, into the cache. The summary has one
    row per model, the paper's first, with the columns that `format_check` explains. For the options
    see `imports.read_outputs`.
    """
    report = Report()
    facts = []
    layout = find_files(*fetch_source(source, cache))
    for output in read_outputs(layout, catalog, report, model=model, edition=edition):
        puzzle = catalog[output.name]
        about = {
            "model": output.model,
            "stopped": output.stopped or "unknown",
            "tokens": None not in (output.prompt_tokens, output.response_tokens),
            "empty": output.response == "",
            "open": take_answer(output.response) is None,
        }
        facts.append(about | {load: puzzle[load] for load in CELL})
    if not facts:
        return pd.DataFrame({"responses": []}), report
    answers = pd.DataFrame(facts)
    stops = pd.crosstab(answers["model"], answers["stopped"])
    stops = stops.reindex(columns=list(STOPS), fill_value=0)
    flags = answers.groupby("model")[["tokens", "empty", "open"]].sum()
    sizes = answers.groupby(["model", *CELL]).size().rename("total").reset_index()
    models = order_models(flags.index)
    uses = [_describe_cells(sizes[sizes["model"] == name]) for name in models]
    return pd.DataFrame(uses, models).join(flags).join(stops), report


def _describe_cells(cells: pd.DataFrame) -> dict[str, object]:
    """Return the coverage of a model's cells, and for each analysis whether it is possible."""
    most = cells["total"].max()
    grid = pd.MultiIndex.from_frame(GRID[CELL].astype(float))
    on_grid = pd.MultiIndex.from_frame(cells[CELL].astype(float)).isin(grid).sum()
    with_rho = cells.assign(rho=cells["ratio_pct"] / 100)
    return {
        "responses": cells["total"].sum(),
        "cells": len(cells),
        "per cell": f"{cells['total'].min():,}-{most:,}",
        "missing": (most - cells["total"]).sum(),
        "rank": f"{on_grid} of {len(PAPER_GRID)} cells",
        "clause": "yes" if most > 1 else "needs 2 per cell",
        "regression": find_deficiency(with_rho, QUADRATIC) or "yes",
        "interactions": find_deficiency(with_rho, INTERACTIONS) or "yes",
    }


def format_check(frame: pd.DataFrame, report: Report) -> str:
    """Return the findings of `check_outputs` as text for the terminal.

    Three tables with a row per model (coverage, endings, possible analyses); then rejected rows.
    """
    if frame.empty:
        return report.summary()
    frame = frame.rename(display_names(frame.index)).rename_axis("model")
    text = ""
    for columns, legend in (
        (_COVERAGE, ""),
        ([*STOPS, "open"], _LEGEND),
        (["rank", "clause", "regression", "interactions"], _USES),
    ):
        table = frame[columns].reset_index()
        text += f"{table.to_string(index=False)}\n{legend}"
    return f"{text}\n{report.summary()}"
