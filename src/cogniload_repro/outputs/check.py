"""A summary of a source of outputs, and of the chapters that it suffices for."""

from collections import Counter
from pathlib import Path

import pandas as pd

from cogniload_repro.endings import STOPS, take_answer
from cogniload_repro.formats import display_names
from cogniload_repro.grid import CELL, PAPER_GRID
from cogniload_repro.models import NAMES, order_models
from cogniload_repro.outputs.imports import DUPLICATE, read_source
from cogniload_repro.outputs.layout import LocalSource, find_files
from cogniload_repro.outputs.report import Report
from cogniload_repro.outputs.responses import Output
from cogniload_repro.puzzles.catalog import Catalog
from cogniload_repro.puzzles.draws import Edition
from cogniload_repro.regression.design import GRID
from cogniload_repro.regression.existence import find_deficiency
from cogniload_repro.regression.glm import INTERACTIONS, QUADRATIC

_FLAGS = ["tokens", "empty", "unclosed_trace"]
_REPORT_COLUMNS = (
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
#: Regressions by the columns of the report.
_REGRESSIONS = {"regression": QUADRATIC, "interactions": INTERACTIONS}
_USES = """
  rank          by accuracy among the paper's models, over the cells that they have too
  clause        accuracy where the last clause is right and where it is wrong, within cells
  regression    Table 2 and capacity points of the model, if it has correct and wrong answers
  interactions  Table 3 of the model
  All four are in the chapter "How does your model compare?" or in those of the tables."""
_ALONE = f"""
  With ADD the models stand beside the paper's {len(NAMES)}. A book of these outputs alone (SOURCE)
  judges no statement of the paper: that needs its {len(NAMES)} models in all
  {len(PAPER_GRID)} cells."""


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

    report = read_source(
        find_files(source), catalog, take, model=model, edition=edition
    )
    if not facts:
        return pd.DataFrame({"responses": []}), report
    puzzles = catalog.table().select(CELL).to_pandas()
    answers = pd.DataFrame(facts).join(puzzles, on="place")
    cells = answers.groupby(["model", *CELL]).size().rename("total").reset_index()
    expected = cells.groupby("model")["total"].transform("max")
    if known_puzzles:
        per_cell = puzzles.groupby(CELL).size().rename("known")
        expected = cells.join(per_cell, on=CELL)["known"].clip(upper=expected)
    cells["missing"] = expected - cells["total"]
    by_model = cells.groupby("model")
    counts = by_model["total"].agg(
        responses="sum", cells="size", min_per_cell="min", max_per_cell="max"
    )
    counts["missing"] = by_model["missing"].sum()
    counts[_FLAGS] = answers.groupby("model")[_FLAGS].sum()
    stops = pd.crosstab(answers["model"], answers["stopped"])
    counts = counts.join(stops.reindex(columns=list(STOPS), fill_value=0))
    duplicates = Counter(
        row.model for row in report.rejected if row.reason == DUPLICATE
    )
    counts["duplicates"] = [duplicates[name] for name in counts.index]
    counts = counts.join(_find_uses(cells))
    return counts.loc[order_models(counts.index)], report


def _find_uses(sizes: pd.DataFrame) -> pd.DataFrame:
    """Return what the cells of each model can feed: on_grid (cells of the paper), regressions.

    A regression has "" or the reason why these cells cannot carry it.
    """
    grid = pd.MultiIndex.from_frame(GRID[CELL].astype(float))
    rows = {}
    for model, cells in sizes.groupby("model"):
        on_grid = pd.MultiIndex.from_frame(cells[CELL].astype(float)).isin(grid)
        row: dict[str, object] = {"on_grid": int(on_grid.sum())}
        for name, formula in _REGRESSIONS.items():
            row[name] = find_deficiency(
                cells.assign(rho=cells["ratio_pct"] / 100), formula
            )
        rows[model] = row
    return pd.DataFrame.from_dict(rows, orient="index")


def print_check(frame: pd.DataFrame, report: Report) -> str:
    """Return what `check_outputs` has found as text.

    It has a row per model on coverage, endings and what the cells can feed; then rejected rows.
    """
    if frame.empty:
        return report.summary()
    frame = frame.rename(display_names(frame.index)).rename_axis("model")
    counts = frame.drop(columns=[*_REGRESSIONS]).map("{:,}".format)
    counts["per cell"] = counts["min_per_cell"] + "-" + counts["max_per_cell"]
    counts = counts.rename(columns={"unclosed_trace": "open"})
    coverage = counts[["responses", "cells", "per cell", "missing", "tokens", "empty"]]
    endings = counts[[*STOPS, "open"]]
    uses = [_print_table(_name_uses(frame)), _USES]
    if not set(NAMES) <= set(frame.index[frame["on_grid"] == len(PAPER_GRID)]):
        uses.append(_ALONE)
    parts = [
        _print_table(coverage),
        _print_table(endings),
        _LEGEND,
        *uses,
        "",
        report.summary(),
    ]
    return "\n".join(parts)


def _name_uses(frame: pd.DataFrame) -> pd.DataFrame:
    """Return for each model what its cells can feed, or why not."""
    on_grid = frame["on_grid"]
    rank = on_grid.astype(str) + f" of {len(PAPER_GRID)} cells"
    several = frame["max_per_cell"] > 1
    uses = pd.DataFrame(
        {
            "rank": rank.where(on_grid > 0, "no cell of the paper"),
            "clause": several.map({True: "yes", False: "needs 2 per cell"}),
        }
    )
    return uses.join(frame[[*_REGRESSIONS]].replace("", "yes"))


def _print_table(frame: pd.DataFrame) -> str:
    return frame.reset_index().to_string(index=False)
