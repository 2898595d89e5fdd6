"""What a source of outputs holds, before a long run: cells, missing puzzles, how answers ended."""

from collections import Counter
from pathlib import Path

import pandas as pd

from cogniload_repro.endings import STOPS, take_answer
from cogniload_repro.formats import display_names
from cogniload_repro.models import order_models
from cogniload_repro.outputs.imports import DUPLICATE, read_source
from cogniload_repro.outputs.layout import LocalSource, find_files
from cogniload_repro.outputs.report import Report
from cogniload_repro.outputs.responses import Output
from cogniload_repro.puzzles.catalog import Catalog
from cogniload_repro.puzzles.draws import Edition

_CELL = ["N", "ratio_pct", "d"]
_FLAGS = ["tokens", "empty", "unclosed_trace"]
_COLUMNS = (
    ["responses", "cells", "per cell", "missing", "tokens", "empty"],
    [*STOPS, "open"],
)
_LEGEND = """
  cells     configurations with a response; per cell: responses in each
  missing   puzzles that a model lacks in its cells, compared with its fullest one
  tokens    responses with both token counts; without, the context limit is not tested
  length    answers cut off by the limit of tokens; context: by the model's or server's window
  unknown   answers of which the source does not say why the model stopped, or in an unknown word
  open      answers that end within their reasoning, by the marks of data/reasoning_marks.txt
  The whole response is scored, with the reasoning before the answer, as in the paper.
"""


def check_outputs(
    source: str | Path | LocalSource,
    catalog: Catalog,
    *,
    model: str | None = None,
    edition: Edition | None = None,
) -> tuple[pd.DataFrame, Report]:
    """Read a source without writing anything; for the options see `imports.import_outputs`.

    The frame has one row per model, the paper's first, with the numbers of the legend. Missing
    are puzzles of the catalog or, without one, of the model's fullest cell; duplicates are rows
    that answer a puzzle again.
    """
    known_puzzles = len(catalog)
    facts: list[dict] = []

    def take(output: Output) -> None:
        facts.append(
            {
                "model": output.model,
                "place": catalog.place(output.name),
                "stopped": output.stopped or "unknown",
                "tokens": None not in (output.prompt_tokens, output.response_tokens),
                "empty": output.response == "",
                "unclosed_trace": take_answer(output.response) is None,
            }
        )

    report = read_source(find_files(source), catalog, take, model=model, edition=edition)
    if not facts:
        return pd.DataFrame({"responses": []}), report
    puzzles = catalog.table().select(_CELL).to_pandas()
    answers = pd.DataFrame(facts).join(puzzles, on="place")
    cells = answers.groupby(["model", *_CELL]).size().rename("total").reset_index()
    expected = cells.groupby("model")["total"].transform("max")
    if known_puzzles:
        per_cell = puzzles.groupby(_CELL).size().rename("known")
        expected = cells.join(per_cell, on=_CELL)["known"].clip(upper=expected)
    cells["missing"] = expected - cells["total"]
    by_model = cells.groupby("model")
    counts = by_model["total"].agg(
        responses="sum", cells="size", min_per_cell="min", max_per_cell="max"
    )
    counts["missing"] = by_model["missing"].sum()
    counts[_FLAGS] = answers.groupby("model")[_FLAGS].sum()
    stops = pd.crosstab(answers["model"], answers["stopped"])
    counts = counts.join(stops.reindex(columns=list(STOPS), fill_value=0))
    duplicates = Counter(row.model for row in report.rejected if row.reason == DUPLICATE)
    counts["duplicates"] = [duplicates[name] for name in counts.index]
    return counts.loc[order_models(counts.index)], report


def print_check(frame: pd.DataFrame, report: Report) -> str:
    """Return `check_outputs` as text: a row per model, how answers ended, rejected rows."""
    if frame.empty:
        return report.summary()
    table = frame.map("{:,}".format)
    table = table.rename(columns={"unclosed_trace": "open"}, index=display_names(frame.index))
    table["per cell"] = table["min_per_cell"] + "-" + table["max_per_cell"]
    table = table.rename_axis("model").reset_index()
    texts = [table[["model", *names]].to_string(index=False) for names in _COLUMNS]
    return "\n".join([*texts, _LEGEND, report.summary()])
