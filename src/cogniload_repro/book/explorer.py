"""What the page Explorer shows: puzzles to answer and step through, and counts of all models."""

from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cogniload_repro.book.page_data import cells_to_show, list_columns
from cogniload_repro.formats import display_names
from cogniload_repro.grid import CELL
from cogniload_repro.models import order_models
from cogniload_repro.puzzles.ontology import PHRASES
from cogniload_repro.puzzles.parse import parse_puzzle
from cogniload_repro.puzzles.puzzle import Puzzle
from cogniload_repro.regression.cell_tables import describe_cells
from cogniload_repro.regression.reconstructions import (
    RANGE,
    committed_counts,
    from_printed_tables,
)

_PER_CELL = 10  # puzzles of a configuration
#: Puzzles of `describe_puzzle` by configuration (N, d, needle ratio).
Puzzles = dict[tuple, list[dict[str, Any]]]


def explorer_data(build: Path, puzzles: Puzzles) -> dict[str, Any]:
    """Return what the explorer needs at once: phrases, configurations, counts of all models.

    ``phrases`` has the initial, condition, update and question phrase of each category, with {} for
    the value or person. ``counts`` are those of `count_rows`.
    """
    cells = cells_to_show(build)
    models = order_models(cells["model"])
    names = display_names(models)
    configurations = pd.DataFrame(list(puzzles), columns=CELL)
    return {
        "phrases": {name: list(forms) for name, forms in PHRASES.items()},
        "configurations": list_columns(configurations, models),
        "models": [names[model] for model in models],
        "origin": describe_cells(cells),
        "counts": list_columns(count_rows(cells), models),
    }


# ---- puzzles ----
def read_puzzles(build: Path) -> Puzzles:
    """Return the first ten puzzles of each configuration, without those that cannot be read."""
    path = build / "puzzles.parquet"
    table = pd.read_parquet(path, columns=["name", *CELL])
    names = table.groupby(CELL).head(_PER_CELL)["name"].tolist()
    rows = pd.read_parquet(path, filters=[("name", "in", names)])
    puzzles: Puzzles = {}
    for row in rows.to_dict("records"):
        try:
            puzzle = parse_puzzle(row["text"])
        except ValueError:  # a reader's own puzzle that the parser cannot read
            continue
        numbers = describe_puzzle(puzzle) | {"name": row["name"]}
        puzzles.setdefault(tuple(row[load] for load in CELL), []).append(numbers)
    return puzzles


def describe_puzzle(puzzle: Puzzle) -> dict[str, Any]:
    """Return a puzzle in which indices into lists replace people, categories and values.

    Each statement in ``moves`` has its conditions and its updates, as pairs of category and value.
    """
    moves = [
        [_list_pairs(conditions, before), _list_pairs(updates, after)]
        for _, before, conditions, after, updates in puzzle.moves
    ]
    return {
        "people": puzzle.people,
        "poi": puzzle.people.index(puzzle.poi),
        "category": puzzle.category,
        "domains": puzzle.domains,
        "start": [list(values) for values in puzzle.start],
        "moves": moves,
    }


def _list_pairs(categories: list[int], values: Any) -> list[list[int]]:
    return [[category, int(values[category])] for category in categories]


# ---- counts ----
def count_rows(cells: pd.DataFrame) -> pd.DataFrame:
    """Return counts by model and configuration: the loads, answers, low, high, overflows.

    Low and high are the 10 and 90% quantiles of correct answers over the reconstructions, equal for
    scored answers. The number of answers that ran out of context is missing where it is not known.
    """
    cells = cells[cells["total"] > 0].reset_index(drop=True)
    is_reconstructed = from_printed_tables(cells)
    correct = np.where(is_reconstructed, committed_counts(cells), cells["correct"])
    overflows = cells["ctx"].where(~is_reconstructed)
    counts = cells[["model", *CELL]].assign(answers=cells["total"])
    counts["low"], counts["high"] = np.quantile(correct, RANGE, axis=0)
    counts["reconstructed"] = is_reconstructed
    return counts.assign(overflows=overflows.astype(float))
