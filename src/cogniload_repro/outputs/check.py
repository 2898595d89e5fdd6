"""What a source of outputs holds, before a long run: cells, missing puzzles, token counts, how answers ended."""

from array import array
from collections import Counter, defaultdict
from collections.abc import Mapping
from functools import partial
from pathlib import Path

import pandas as pd

from cogniload_repro.endings import CONTEXT_TOKENS, CUT, RESERVED_TOKENS, STOPS, take_answer
from cogniload_repro.formats import format_name
from cogniload_repro.models import order_models
from cogniload_repro.outputs.imports import Report, read_source
from cogniload_repro.outputs.layout import LocalSource, Rejected, find_files
from cogniload_repro.outputs.rows import DUPLICATE, Output
from cogniload_repro.puzzles.catalog import Catalog
from cogniload_repro.puzzles.editions import Edition

_CELL = ["N", "ratio_pct", "d"]
_FACTS = ["model", "tokens", "empty", "stopped", "unclosed_trace", "cut_early", "limit"]
_LEGEND = f"""
  cells     configurations with a response; per cell: responses in each
  missing   puzzles that a model lacks in its cells, compared with its fullest one
  tokens    responses with both token counts; without, the context limit is not tested
  length    answers truncated by the limit of tokens; context: by the model's or the server's window
  unknown   answers of which the source does not say why the model stopped, or in a word that is not known
  open      answers that end within their reasoning, of those with marks around it
  early     truncated answers with fewer tokens, prompt included, than the paper's {CONTEXT_TOKENS:,}; they are scored
            as any other answer, since the paper's rule looks at token counts alone
  limit     tokens that a request allows
  Scored is the whole response, reasoning first where a source keeps it apart, as in the paper.
"""


def check_outputs(
    source: str | Path | LocalSource, catalog: Catalog, *, model: str | None = None, edition: Edition | None = None
) -> tuple[pd.DataFrame, Report]:
    """Read a source without writing anything; `model` and `edition` are those of `imports.import_outputs`.

    The frame has one row per model, the paper's first: responses, cells (with a response), min_per_cell, max_per_cell
    (responses), missing (puzzles of the catalog or, without one, as compared with the model's fullest cell), tokens
    (responses with both counts), empty (without text), one column for each of `endings.STOPS`, unclosed_trace (end
    within their reasoning), cut_early (truncated with fewer tokens than the paper's), least_limit, most_limit (tokens
    that a request allows; missing where no source says), duplicates (rows that answer a puzzle again).
    """
    facts, places = Counter[tuple](), defaultdict[str, array](partial(array, "q"))
    rejected, layout, are_known = list[Rejected](), find_files(source), len(catalog) > 0

    def take(output: Output) -> None:
        facts[_describe_answer(output)] += 1
        places[output.model].append(catalog.place(output.name))

    report, frame = read_source(layout, catalog, take, rejected, model, edition), pd.DataFrame({"responses": []})
    if facts:
        frame = _count(facts, places, catalog.table().select(_CELL).to_pandas(), are_known)
        duplicates = Counter(row.model for row in rejected if row.reason == DUPLICATE)
        frame["duplicates"] = [duplicates[name] for name in frame.index]
    return frame, report


def _describe_answer(output: Output) -> tuple:
    """Return the `_FACTS` of a response."""
    tokens, limit = (output.prompt_tokens, output.response_tokens), output.settings.get("max_tokens", "")
    is_counted = None not in tokens
    is_early = is_counted and output.stopped in CUT and sum(tokens, RESERVED_TOKENS) < CONTEXT_TOKENS  # type: ignore[arg-type]
    stopped, is_open = output.stopped or "unknown", take_answer(output.response) is None
    allowed = int(limit) if limit.isdecimal() else None
    return output.model, is_counted, output.response == "", stopped, is_open, is_early, allowed


def _count(facts: Counter[tuple], places: Mapping[str, array], puzzles: pd.DataFrame, are_known: bool) -> pd.DataFrame:
    """Return one row per model of `check_outputs`, duplicates aside; places are a model's rows of the puzzles."""
    answers = pd.DataFrame([(*fact, rows) for fact, rows in facts.items()], columns=[*_FACTS, "rows"])
    sizes = pd.concat(
        {model: puzzles.iloc[own].groupby(_CELL).size() for model, own in places.items()}, names=["model"]
    )
    sizes = sizes.rename("total").reset_index()
    fullest = sizes.groupby("model")["total"].transform("max")
    if are_known:
        known = puzzles.groupby(_CELL).size().rename("known")
        fullest = sizes.join(known, on=_CELL)["known"].clip(upper=fullest)
    by_cell = sizes.assign(missing=fullest - sizes["total"]).groupby("model")
    counts = by_cell["total"].agg(responses="sum", cells="size", min_per_cell="min", max_per_cell="max")
    counts["missing"] = by_cell["missing"].sum()
    flags = answers[["tokens", "empty", "unclosed_trace", "cut_early"]].mul(answers["rows"], axis=0)
    counts = counts.join(flags.groupby(answers["model"]).sum())
    counts = counts.join(answers.groupby("model")["limit"].agg(least_limit="min", most_limit="max"))
    stops = answers.pivot_table("rows", "model", "stopped", "sum", 0).reindex(columns=STOPS, fill_value=0)
    return counts.join(stops).loc[order_models(counts.index)]


def print_check(frame: pd.DataFrame, report: Report) -> str:
    """Return what `check_outputs` has found as text: a row per model, how answers ended, rejected rows."""
    if frame.empty:
        return report.summary()
    counts = frame[["responses", "cells", "missing", "tokens", "empty", *STOPS, "unclosed_trace", "cut_early"]]
    shown = counts.map("{:,.0f}".format).rename(columns={"unclosed_trace": "open", "cut_early": "early"})
    rows = [row for _, row in frame.iterrows()]
    shown.insert(2, "per cell", [_format_range([row["min_per_cell"], row["max_per_cell"]]) for row in rows])
    shown["limit"] = [_format_range(_limits(row)) for row in rows]
    shown = shown.rename(index=format_name)
    tables = [
        part.rename_axis("model").reset_index().to_string(index=False)
        for part in (shown.iloc[:, :6], shown.iloc[:, 6:])
    ]
    return "\n".join([*tables, _LEGEND, report.summary()])


def _limits(row: Mapping) -> list[int] | None:
    return None if pd.isna(row["least_limit"]) else [int(row["least_limit"]), int(row["most_limit"])]


def _format_range(ends: list[int] | None) -> str:
    return "-".join(f"{end:,.0f}" for end in dict.fromkeys(ends)) if ends else "not stated"
