"""What the page Explorer shows: puzzles to step through, and counts of all models."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from cogniload_repro.book.page_data import cells_to_show, has_tokens, list_columns
from cogniload_repro.formats import display_names
from cogniload_repro.grid import CELL
from cogniload_repro.models import order_models
from cogniload_repro.puzzles.ontology import PHRASES
from cogniload_repro.puzzles.parse import parse_puzzle
from cogniload_repro.puzzles.puzzle import Puzzle
from cogniload_repro.regression.cell_tables import describe_cells
from cogniload_repro.regression.reconstructions import (
    committed_counts,
    from_printed_tables,
)


def explorer_data(build: str | Path) -> dict[str, Any]:
    """Return what the explorer needs: phrases, two puzzles of each cell, and counts of all models.

    ``phrases`` has the initial, condition, update and question phrase of each category, with {} for
    the value or person. ``puzzles`` are those of `describe_puzzle`, ``counts`` those of
    `count_rows`.
    """
    cells = cells_to_show(build)
    models = order_models(cells["model"])
    names = display_names(models)
    return {
        "phrases": {name: list(forms) for name, forms in PHRASES.items()},
        "puzzles": list(_read_puzzles(Path(build) / "puzzles.parquet")),
        "models": [names[model] for model in models],
        "origin": describe_cells(cells),
        "counts": list_columns(count_rows(cells), models),
    }


# ---- puzzles ----
def _read_puzzles(path: Path) -> Iterator[dict[str, Any]]:
    """Yield the first two puzzles of each cell, without those that cannot be read."""
    table = pd.read_parquet(path, columns=["name", *CELL])
    names = table.groupby(CELL).head(2)["name"].tolist()
    puzzles = pd.read_parquet(path, filters=[("name", "in", names)])
    for row in puzzles.sort_values(CELL, kind="stable").to_dict("records"):
        try:
            puzzle = parse_puzzle(row["text"])
        except ValueError:  # a reader's own puzzle that the parser cannot read
            continue
        entry = {name: row[name] for name in ("name", "ratio_pct", "gold")}
        yield describe_puzzle(puzzle) | entry


def describe_puzzle(puzzle: Puzzle) -> dict[str, Any]:
    """Return a puzzle in which indices into lists replace people, categories and values.

    Each statement in ``moves`` has its conditions and its updates, as pairs of category and value.
    """
    moves = [
        [_list_pairs(conditions, before), _list_pairs(updates, after)]
        for _, before, conditions, after, updates in puzzle.moves
    ]
    return {
        "N": puzzle.N,
        "d": puzzle.d,
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
    """Return counts by model and configuration: the loads, answers, least, most, overflows.

    Least and most are correct answers over the reconstructions, equal for scored answers. The
    number of answers that ran out of context is missing where it is not known.
    """
    cells = cells[cells["total"] > 0].reset_index(drop=True)
    is_reconstructed = from_printed_tables(cells)
    correct = np.where(is_reconstructed, committed_counts(cells), cells["correct"])
    overflows = cells["ctx"].where(~is_reconstructed & has_tokens(cells))
    counts = cells[["model", *CELL]].assign(answers=cells["total"])
    counts["least"] = correct.min(axis=0)
    counts["most"] = correct.max(axis=0)
    return counts.assign(overflows=overflows.astype(float))
