"""What a source of outputs holds, before a long run: cells, missing puzzles, token counts, how answers ended."""

from collections import Counter
from pathlib import Path

import pandas as pd

from cogniload_repro.endings import STOPS, take_answer
from cogniload_repro.formats import display_names
from cogniload_repro.models import order_models
from cogniload_repro.outputs.imports import DUPLICATE, Output, Rejected, Report, read_source
from cogniload_repro.outputs.sources import LocalSource, find_files
from cogniload_repro.puzzles.catalog import Catalog
from cogniload_repro.puzzles.draws import Edition

_CELL = ["N", "ratio_pct", "d"]
_FLAGS = ["tokens", "empty", "unclosed_trace"]
_LEGEND = """
  cells     configurations with a response; per cell: responses in each
  missing   puzzles that a model lacks in its cells, compared with its fullest one
  tokens    responses with both token counts; without, the context limit is not tested
  length    answers truncated by the limit of tokens; context: by the model's or the server's window
  unknown   answers of which the source does not say why the model stopped, or in a word that is not known
  open      answers that end within their reasoning, of those with marks around it
  Scored is the whole response, reasoning first where a source keeps it apart, as in the paper.
"""


def check_outputs(
    source: str | Path | LocalSource,
    catalog: Catalog,
    *,
    model: str | None = None,
    edition: Edition | None = None,
) -> tuple[pd.DataFrame, Report]:
    """Read a source without writing anything; `model` and `edition` are those of `imports.import_outputs`.

    The frame has one row per model, the paper's first, with the numbers of the legend; missing are puzzles of the
    catalog or, without one, of the model's fullest cell; duplicates are rows that answer a puzzle again.
    """
    rejected, layout, known, facts = (
        list[Rejected](),
        find_files(source),
        len(catalog),
        list[tuple](),
    )

    def take(output: Output) -> None:
        counted = output.prompt_tokens is not None and output.response_tokens is not None
        ends = output.response == "", take_answer(output.response) is None
        facts.append(
            (output.model, catalog.place(output.name), output.stopped or "unknown", counted, *ends)
        )

    report = read_source(layout, catalog, take, rejected, model, edition)
    if not facts:
        return pd.DataFrame({"responses": []}), report
    puzzles = catalog.table().select(_CELL).to_pandas()
    answers = pd.DataFrame(facts, columns=["model", "place", "stopped", *_FLAGS]).join(
        puzzles, on="place"
    )
    sizes = answers.groupby(["model", *_CELL]).size().rename("total").reset_index()
    fullest = sizes.groupby("model")["total"].transform("max")
    if known:
        fullest = sizes.join(puzzles.groupby(_CELL).size().rename("known"), on=_CELL)["known"].clip(
            upper=fullest
        )
    by_cell = sizes.assign(missing=fullest - sizes["total"]).groupby("model")
    counts = by_cell["total"].agg(
        responses="sum", cells="size", min_per_cell="min", max_per_cell="max"
    )
    stops = pd.crosstab(answers["model"], answers["stopped"]).reindex(
        columns=list(STOPS), fill_value=0
    )
    counts = (
        counts.join(by_cell["missing"].sum())
        .join(answers.groupby("model")[_FLAGS].sum())
        .join(stops)
    )
    again = Counter(row.model for row in rejected if row.reason == DUPLICATE)
    return counts.assign(duplicates=[again[name] for name in counts.index]).loc[
        order_models(counts.index)
    ], report


def print_check(frame: pd.DataFrame, report: Report) -> str:
    """Return what `check_outputs` has found as text: a row per model, how answers ended, rejected rows."""
    if frame.empty:
        return report.summary()
    shown = frame.map("{:,}".format).rename(
        columns={"unclosed_trace": "open"}, index=display_names(frame.index)
    )
    shown["per cell"] = shown["min_per_cell"] + "-" + shown["max_per_cell"]
    shown = shown.rename_axis("model").reset_index()
    tables = ["responses", "cells", "per cell", "missing", "tokens", "empty"], [*STOPS, "open"]
    return "\n".join(
        [
            *(shown[["model", *names]].to_string(index=False) for names in tables),
            _LEGEND,
            report.summary(),
        ]
    )
