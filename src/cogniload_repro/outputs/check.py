"""What a source of outputs holds, told before a long run: cells, missing puzzles, token counts, possible tables."""

from collections import Counter, defaultdict
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from cogniload_repro.endings import CONTEXT_TOKENS, CUT, RESERVED_TOKENS, STOPS, take_answer
from cogniload_repro.formats import format_name
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import BY_NAME, Model
from cogniload_repro.outputs.imports import Report
from cogniload_repro.outputs.layout import find_files
from cogniload_repro.outputs.named import NamedPuzzles
from cogniload_repro.outputs.rows import DUPLICATE, Output, Rejected, read_layout
from cogniload_repro.published import TOKEN_TABLES
from cogniload_repro.puzzles.catalog import Catalog
from cogniload_repro.puzzles.editions import Edition
from cogniload_repro.puzzles.origin import describe_fits
from cogniload_repro.statistics.accuracy import order_models

_CELL = ["N", "ratio_pct", "d"]
_PAPER = {(cell.N, float(cell.ratio_pct), cell.d) for cell in PAPER_GRID}
_COLUMNS = ["model", "responses", "cells", "outside", "fewest", "most", "missing", "complete",
            "prompt_counts", "response_counts", "empty", "tables", "obstacles",
            "stopped", "unclosed_trace", "duplicates", "budget"]  # fmt: skip
_LEGEND = f"""
  cells     of the paper's {len(PAPER_GRID)} with a response; a cell: responses in each
  missing   puzzles that a model lacks in its cells, as against its fullest one
  complete  cells with the paper's number of puzzles; only these are held against the paper's numbers
  tokens    responses with both token counts; without, the context limit is not tested
  tables    of the paper, that can be computed; 2, 3 and 6 if answers are neither all right nor all wrong
"""
_ENDINGS = f"""
  length    answers cut off by the limit of tokens; context: by the model's or the server's window
  unknown   answers of which the source does not tell why the model stopped, or in a word that is not known
  open      answers that end within their reasoning, of those with marks around it
  early     of the answers cut off, those with fewer tokens, prompt included, than the paper's {CONTEXT_TOKENS:,}; they
            are scored as any other answer, since the paper's rule looks at counts of tokens alone
  Scored is the whole response, reasoning first where a source keeps it apart, as in the paper.
"""


def check_outputs(
    source: str | Path, catalog: Catalog, *, model: str | None = None, edition: Edition | None = None
) -> tuple[pd.DataFrame, Report]:
    """Read a source without writing anything, and count what is there.

    Parameters
    ----------
    source : path
        A local file or folder, see `cogniload_repro.outputs.rows.read_outputs`.
    catalog : Catalog
        Known puzzles, against which missing ones are counted.
    model : str, optional
        The model of rows that name none.
    edition : Edition, optional
        Under which puzzles known by name alone are drawn; by default the one that fits them.

    Returns
    -------
    frame : DataFrame
        One row a model, the paper's first: model, responses, cells (with at least one response), outside (of these,
        cells that the paper does not have), fewest, most (responses in a cell), missing (puzzles that the model lacks
        in those cells, as against its fullest one and, if there were any, the puzzles known before), complete (cells
        with the paper's number of puzzles; missing for models that the paper does not have), prompt_counts,
        response_counts (responses with a token count), empty (responses without text), tables (numbers of the
        paper's tables that can be computed from it), obstacles (why the others can not, by reason), stopped (responses
        by why the model stopped, of `endings.STOPS`), unclosed_trace (responses that end within their reasoning),
        duplicates (rows that answer a puzzle again), budget (max_tokens: the least and largest limit of a request, None
        where the source does not tell; paper: its tokens of prompt and response together; cut_early: answers that were
        cut off with fewer).
    report : Report
        Responses by model, rejected rows by reason, duplicates among them, and how well editions fit.

    Raises
    ------
    ValueError
        If there is no such source or it holds no outputs.
    """
    answers: dict[str, list[tuple[int, bool, bool, bool]]] = defaultdict(list)
    endings: dict[str, _Endings] = defaultdict(_Endings)
    rejected: Counter[str] = Counter()
    examples: dict[str, Rejected] = {}
    are_known = len(catalog) > 0
    layout = find_files(Path(source))
    named = NamedPuzzles(layout, catalog, edition)
    for item in read_layout(layout, catalog, model=model):
        if isinstance(item, Output):
            counted = item.prompt_tokens is not None, item.response_tokens is not None
            answers[item.model].append((catalog.place(item.name), *counted, item.response == ""))
            endings[item.model].add(item)
        else:
            if item.reason == DUPLICATE and item.model is not None:
                endings[item.model].duplicates += 1
            rejected[item.reason] += 1
            examples.setdefault(item.reason, item)
    puzzles = catalog.table().select([*_CELL, "rho"]).to_pandas()
    known = puzzles.groupby(_CELL).size() if are_known else None
    rows = [
        (*_summarise(name, answers[name], puzzles, known), *endings[name].summary()) for name in order_models(answers)
    ]
    return pd.DataFrame(rows, columns=_COLUMNS), Report(
        {name: len(found) for name, found in answers.items()}, rejected, examples, describe_fits(named.fits)
    )


def describe_check(frame: pd.DataFrame) -> dict[str, dict[str, object]]:
    """Return stopped, unclosed_trace, missing, duplicates and budget of each model, as `check_outputs` counts them."""
    keys = ("stopped", "unclosed_trace", "missing", "duplicates", "budget")
    return {row["model"]: {key: row[key] for key in keys} for row in frame.to_dict("records")}


def print_check(frame: pd.DataFrame, report: Report) -> str:
    """Return what `check_outputs` has found as text: a table, what cannot be computed and why, rejected rows."""
    if frame.empty:
        return report.summary()
    rows = list(frame.itertuples())
    table = pd.DataFrame(
        {
            "model": [format_name(row.model) for row in rows],
            "responses": [f"{row.responses:,}" for row in rows],
            "cells": [f"{row.cells - row.outside}" + f" + {row.outside} others" * (row.outside > 0) for row in rows],
            "a cell": [f"{row.fewest}" + f"-{row.most}" * (row.most > row.fewest) for row in rows],
            "missing": [f"{row.missing:,}" for row in rows],
            "complete": ["not in the paper" if pd.isna(row.complete) else f"{row.complete:.0f}" for row in rows],
            "tokens": [_share(min(row.prompt_counts, row.response_counts), row.responses) for row in rows],
            "empty": [f"{row.empty:,}" for row in rows],
            "tables": [_ranges(row.tables) for row in rows],
        }
    )
    obstacles = defaultdict(list)
    for row in rows:
        for why, numbers in row.obstacles.items():
            obstacles[_ranges(numbers), why].append(format_name(row.model))
    lines = [f"no Table {numbers} without {why}: {_name_some(models)}" for (numbers, why), models in obstacles.items()]
    return "\n".join([table.to_string(index=False), _LEGEND, _print_endings(frame), _ENDINGS, *lines, report.summary()])


def _print_endings(frame: pd.DataFrame) -> str:
    """Return how the responses of each model ended, as a table."""
    rows = []
    for row in frame.itertuples():
        low, high = row.budget["max_tokens"] or (None, None)
        limit = "not told" if low is None else f"{low:,}" + f"-{high:,}" * (high > low)
        rows.append(
            {"model": format_name(row.model)}
            | {kind: f"{count:,}" for kind, count in row.stopped.items()}
            | {"open": f"{row.unclosed_trace:,}", "early": f"{row.budget['cut_early']:,}", "limit": limit}
        )
    return pd.DataFrame(rows).to_string(index=False)


class _Endings:
    """How the responses of one model ended, counted as they are read."""

    def __init__(self) -> None:
        self.stopped: Counter[str] = Counter()
        self.unclosed = self.duplicates = self.early = 0
        self.limits: set[int] = set()

    def add(self, output: Output) -> None:
        self.stopped[output.stopped or "unknown"] += 1
        self.unclosed += take_answer(output.response) is None
        prompt, spent = output.prompt_tokens, output.response_tokens
        if output.stopped in CUT and prompt is not None and spent is not None:
            self.early += prompt + spent + RESERVED_TOKENS < CONTEXT_TOKENS
        if (limit := output.settings.get("max_tokens", "")).isdecimal():
            self.limits.add(int(limit))

    def summary(self) -> tuple[dict[str, int], int, int, dict[str, object]]:
        """Return stopped, unclosed_trace, duplicates and budget."""
        limits = [min(self.limits), max(self.limits)] if self.limits else None
        budget: dict[str, object] = {"max_tokens": limits, "paper": CONTEXT_TOKENS, "cut_early": self.early}
        return {kind: self.stopped[kind] for kind in STOPS}, self.unclosed, self.duplicates, budget


def _summarise(
    name: str, answers: list[tuple[int, bool, bool, bool]], puzzles: pd.DataFrame, known: pd.Series | None
) -> tuple:
    places, prompts, responses, empty = (list(column) for column in zip(*answers, strict=True))
    answered = puzzles.iloc[places].assign(counted=np.logical_and(prompts, responses))
    sizes = answered.groupby(_CELL).size()
    fullest = sizes.max() if known is None else known.reindex(sizes.index).clip(upper=sizes.max())
    inside = sizes[[cell in _PAPER for cell in sizes.index]]
    lacking = int((fullest - sizes).sum())
    counts = inside.rename("total").reset_index().itertuples(index=False)
    complete = sum(_is_complete(BY_NAME[name], *row) for row in counts) if name in BY_NAME else None
    obstacles = _find_obstacles(answered)
    failing = {number for numbers in obstacles.values() for number in numbers}
    return (
        name, len(answers), len(sizes), len(sizes) - len(inside), sizes.min(), sizes.max(), lacking, complete,
        sum(prompts), sum(responses), sum(empty), [n for n in range(2, 11) if n not in failing], obstacles,
    )  # fmt: skip


def _is_complete(model: Model, N: int, ratio_pct: float, d: int, n: int) -> bool:
    """Tell whether the paper may have had so many puzzles in a cell: the ratio of a missing one is not printed."""
    return model.puzzles_per_cell - model.missing.count((d, N)) <= n <= model.puzzles_per_cell


def _find_obstacles(answered: pd.DataFrame) -> dict[str, list[int]]:
    """Return what the covered cells lack, and the numbers of the paper's tables that need it."""
    cells = answered.drop_duplicates(_CELL)
    d, log10_N, rho = cells["d"], np.log10(cells["N"]), cells["rho"]
    quadratic = [d**0, d, log10_N, rho, rho**2]
    interactions = [*quadratic, d * log10_N, d * rho, log10_N * rho, d * log10_N * rho]
    obstacles = defaultdict(list)
    for number, columns in ((2, quadratic), (3, interactions), (6, quadratic)):
        if not _is_estimable(columns):
            obstacles[_name_lack(cells)].append(number)
    present, counted = set(cells["N"]), set(answered.loc[answered["counted"], "N"])
    absent = ", ".join(f"{N}" for N in TOKEN_TABLES if N not in present)
    for number, N in enumerate(TOKEN_TABLES, start=7):
        if N not in counted:
            obstacles["token counts" if N in present else f"answers at N = {absent}"].append(number)
    return dict(obstacles)


def _is_estimable(columns: list[pd.Series]) -> bool:
    """Tell whether a regression on these columns has one solution."""
    design = np.column_stack([column.to_numpy(float) for column in columns])
    design /= np.abs(design).max(axis=0).clip(min=1e-300)
    return np.linalg.matrix_rank(design) == design.shape[1]


def _name_lack(cells: pd.DataFrame) -> str:
    """Say what levels a regression lacks."""
    least = {"d": 2, "N": 2, "ratio_pct": 3}
    lacking = [name for name, count in least.items() if cells[name].nunique() < count]
    words = {"d": "a second d", "N": "a second N", "ratio_pct": "three ratios"}
    return ", ".join(words[name] for name in lacking) or "cells in more places of the grid"


def _share(count: int, total: int) -> str:
    """Return how many of a total, with words for all and none."""
    return {total: "all", 0: "none"}.get(count, f"{count:,}")


def _ranges(numbers: Iterable[int]) -> str:
    """Return increasing whole numbers with dashes for those that follow one another, such as "2, 4-7"."""
    runs: list[list[int]] = []
    for number in numbers:
        if runs and number == runs[-1][-1] + 1:
            runs[-1].append(number)
        else:
            runs.append([number])
    return ", ".join(f"{run[0]}-{run[-1]}" if len(run) > 1 else f"{run[0]}" for run in runs)


def _name_some(models: list[str]) -> str:
    """Return up to three names, and how many more there are."""
    rest = len(models) - 3
    return ", ".join(models[:3]) + (f" and {rest} more" if rest > 0 else "")
