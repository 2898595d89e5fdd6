"""What a source of outputs holds, before a long run: cells, missing puzzles, token counts, how answers ended."""

from collections import Counter, defaultdict
from pathlib import Path

import pandas as pd

from cogniload_repro.endings import CONTEXT_TOKENS, CUT, RESERVED_TOKENS, STOPS, take_answer
from cogniload_repro.formats import format_name
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import BY_NAME, Model
from cogniload_repro.outputs.imports import NamedPuzzles, Report
from cogniload_repro.outputs.layout import find_files
from cogniload_repro.outputs.rows import DUPLICATE, Output, Rejected, read_outputs
from cogniload_repro.outputs.sources import LocalSource, local_source
from cogniload_repro.puzzles.catalog import Catalog, describe_fits
from cogniload_repro.puzzles.editions import Edition
from cogniload_repro.statistics.accuracy import order_models

_CELL = ["N", "ratio_pct", "d"]
_PAPER = {(cell.N, float(cell.ratio_pct), cell.d) for cell in PAPER_GRID}
_LEGEND = f"""
  cells     of the paper's {len(PAPER_GRID)} with a response; per cell: responses in each
  missing   puzzles that a model lacks in its cells, compared with its fullest one
  complete  cells with the paper's number of puzzles; only these are compared with the paper's numbers
  tokens    responses with both token counts; without, the context limit is not tested
"""
_ENDINGS = f"""
  length    answers truncated by the limit of tokens; context: by the model's or the server's window
  unknown   answers of which the source does not say why the model stopped, or in a word that is not known
  open      answers that end within their reasoning, of those with marks around it
  early     truncated answers with fewer tokens, prompt included, than the paper's {CONTEXT_TOKENS:,}; they are scored
            as any other answer, since the paper's rule looks at token counts alone
  Scored is the whole response, reasoning first where a source keeps it apart, as in the paper.
"""


def check_outputs(
    source: str | Path | LocalSource, catalog: Catalog, *, model: str | None = None, edition: Edition | None = None
) -> tuple[pd.DataFrame, Report]:
    """Read a source without writing anything, and count what is there.

    Missing puzzles are counted among those of the catalog, or else as compared with the model's fullest cell; `model`
    and `edition` are those of `imports.import_outputs`.

    Returns
    -------
    frame : DataFrame
        One row per model, the paper's first: model, responses, cells (with a response), off_grid_cells (those of them
        that the paper does not have), min_per_cell, max_per_cell (responses), missing (puzzles), complete (cells with
        the paper's number of puzzles; missing for models that the paper does not have), prompt_counts, response_counts
        (responses with a token count), empty (responses without text), stopped (responses by why the model stopped, of
        `endings.STOPS`), unclosed_trace (responses that end within their reasoning), duplicates (rows that answer a
        puzzle again), budget (max_tokens: the least and largest limit of a request, None where the source does not give
        it; paper: its tokens of prompt and response together; cut_early: answers that were truncated with fewer).
    report : Report
    """
    local = local_source(source)
    models: dict[str, _Tally] = defaultdict(_Tally)
    rejected = Counter(row.reason for row in local.refused)
    examples: dict[str, Rejected] = {row.reason: row for row in reversed(local.refused)}
    are_known = len(catalog) > 0
    layout = find_files(local.path, local.label, local.inner, may_be_empty=bool(local.refused))
    named = NamedPuzzles(layout, catalog, edition)
    for item in read_outputs(layout, catalog, model=model):
        if isinstance(item, Output):
            models[item.model].add(item, catalog.place(item.name))
        else:
            if item.reason == DUPLICATE and item.model is not None:
                models[item.model].duplicates += 1
            rejected[item.reason] += 1
            examples.setdefault(item.reason, item)
    puzzles = catalog.table().select(_CELL).to_pandas()
    known = puzzles.groupby(_CELL).size() if are_known else None
    answering = {name: tally for name, tally in models.items() if tally.places}
    rows = [answering[name].summarise(name, puzzles, known) for name in order_models(answering)]
    return pd.DataFrame(rows), Report(
        {name: len(tally.places) for name, tally in answering.items()}, rejected, examples, describe_fits(named.fits),
        others=[layout.label(path) for path in layout.others],
    )  # fmt: skip


def describe_check(frame: pd.DataFrame) -> dict[str, dict[str, object]]:
    """Return stopped, unclosed_trace, missing, duplicates and budget of each model, as `check_outputs` counts them."""
    keys = ("stopped", "unclosed_trace", "missing", "duplicates", "budget")
    return {row["model"]: {key: row[key] for key in keys} for row in frame.to_dict("records")}


def print_check(frame: pd.DataFrame, report: Report) -> str:
    """Return what `check_outputs` has found as text: a row per model, how answers ended, rejected rows."""
    if frame.empty:
        return report.summary()
    coverage, endings = [], []
    for row in frame.itertuples():
        off_grid = f" + {row.off_grid_cells} others" if row.off_grid_cells else ""
        limits = row.budget["max_tokens"]
        counted = min(row.prompt_counts, row.response_counts)
        coverage.append(
            {
                "model": format_name(row.model),
                "responses": f"{row.responses:,}",
                "cells": f"{row.cells - row.off_grid_cells}{off_grid}",
                "per cell": _format_range(row.min_per_cell, row.max_per_cell),
                "missing": f"{row.missing:,}",
                "complete": "not in the paper" if pd.isna(row.complete) else f"{row.complete:.0f}",
                "tokens": {row.responses: "all", 0: "none"}.get(counted, f"{counted:,}"),
                "empty": f"{row.empty:,}",
            }
        )
        endings.append(
            {"model": format_name(row.model)}
            | {kind: f"{count:,}" for kind, count in row.stopped.items()}
            | {"open": f"{row.unclosed_trace:,}", "early": f"{row.budget['cut_early']:,}"}
            | {"limit": _format_range(*limits) if limits else "not stated"}
        )
    tables = [pd.DataFrame(rows).to_string(index=False) for rows in (coverage, endings)]
    return "\n".join([tables[0], _LEGEND, tables[1], _ENDINGS, report.summary()])


def _format_range(low: int, high: int) -> str:
    return f"{low:,}" + f"-{high:,}" * (high > low)


class _Tally:
    """The responses of one model, counted as they are read."""

    def __init__(self) -> None:
        self.places: list[int] = []
        self.stopped: Counter[str] = Counter()
        self.prompts = self.responses = self.empty = self.unclosed = self.duplicates = self.early = 0
        self.limits: set[int] = set()

    def add(self, output: Output, place: int) -> None:
        prompt, spent = output.prompt_tokens, output.response_tokens
        self.places.append(place)
        self.prompts += prompt is not None
        self.responses += spent is not None
        self.empty += output.response == ""
        self.stopped[output.stopped or "unknown"] += 1
        self.unclosed += take_answer(output.response) is None
        if output.stopped in CUT and prompt is not None and spent is not None:
            self.early += prompt + spent + RESERVED_TOKENS < CONTEXT_TOKENS
        if (limit := output.settings.get("max_tokens", "")).isdecimal():
            self.limits.add(int(limit))

    def summarise(self, name: str, puzzles: pd.DataFrame, known: pd.Series | None) -> dict[str, object]:
        """Return the model's row of `check_outputs`."""
        sizes = puzzles.iloc[self.places].groupby(_CELL).size()
        fullest = sizes.max() if known is None else known.reindex(sizes.index).clip(upper=sizes.max())
        inside = sizes[[cell in _PAPER for cell in sizes.index]]
        cells = inside.rename("total").reset_index().itertuples(index=False)
        complete = sum(_is_complete(BY_NAME[name], *cell) for cell in cells) if name in BY_NAME else None
        return {
            "model": name,
            "responses": len(self.places),
            "cells": len(sizes),
            "off_grid_cells": len(sizes) - len(inside),
            "min_per_cell": sizes.min(),
            "max_per_cell": sizes.max(),
            "missing": int((fullest - sizes).sum()),
            "complete": complete,
            "prompt_counts": self.prompts,
            "response_counts": self.responses,
            "empty": self.empty,
            "stopped": {kind: self.stopped[kind] for kind in STOPS},
            "unclosed_trace": self.unclosed,
            "duplicates": self.duplicates,
            "budget": {
                "max_tokens": [min(self.limits), max(self.limits)] if self.limits else None,
                "paper": CONTEXT_TOKENS,
                "cut_early": self.early,
            },
        }


def _is_complete(model: Model, N: int, ratio_pct: float, d: int, total: int) -> bool:
    """Return whether the paper may have had so many puzzles in a cell: the ratio of a missing one is not printed."""
    return model.puzzles_per_cell - model.missing.count((d, N)) <= total <= model.puzzles_per_cell
