"""Forms of the benchmark: which puzzles a model is asked, from the whole grid to a few hundred puzzles.

The short form asks one puzzle of each of the paper's 140 cells, so that misfit stays visible and capacity points are
read where the paper reads them, and spends as many again where they settle ECL50 and ID50 best, on average over the
paper's 22 models.
"""

from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

import numpy as np
import pandas as pd

from cogniload_repro.companions.protocol import count_per_query, write_query
from cogniload_repro.evaluation.precision import CELLS, choose, inform
from cogniload_repro.frames import read_frame
from cogniload_repro.grid import PAPER_GRID, Cell, check_count, grid_cells
from cogniload_repro.puzzles.catalog import puzzle_row
from cogniload_repro.puzzles.editions import PORT, Edition
from cogniload_repro.puzzles.generate import draw_puzzle
from cogniload_repro.puzzles.ids import PUZZLES_PER_CELL, SEED, find_manifest, read_manifest, spawn_ids
from cogniload_repro.robustness.uncertainty import fit_quadratics
from cogniload_repro.schemas import Column, Schema
from cogniload_repro.statistics.cell_tables import load_cells
from cogniload_repro.storage import DATA

#: Forms with fixed puzzles; `adaptive` chooses them while it asks.
FIXED = ("paper", "mini", "short")
FORMS = (*FIXED, "adaptive")
#: Puzzles of the short form, and on how many cells those lie that are not spread.
SHORT, _SHORT_CELLS = 280, 8
SHORT_FORM = DATA / "evaluation" / "short_form.csv"

_SCHEMA = Schema(
    {"N": Column("whole", low=1), "ratio_pct": Column(low=0, high=100), "d": Column("whole", low=1),
     "puzzles": Column("whole", low=1)},
    ("N", "ratio_pct", "d"), others=None,
)  # fmt: skip


@cache
def paper_curves() -> np.ndarray:
    """Return the coefficients of the paper's 22 models, shape (22, 5), from the committed counts."""
    return np.array([quadratic.fit.coef for quadratic in fit_quadratics(load_cells())])


def derive_short() -> np.ndarray:
    """Choose the short form again: puzzles of each of the paper's cells, shape (140,)."""
    curves, spread = paper_curves(), np.ones(len(CELLS), dtype=np.int64)
    known, count = inform(curves, spread), SHORT - len(CELLS)
    freely = choose(curves, count, known)
    best = np.isin(np.arange(len(CELLS)), np.argsort(-freely, kind="stable")[:_SHORT_CELLS])
    return spread + choose(curves, count, known, best)


def frame_counts(counts: np.ndarray) -> pd.DataFrame:
    """Return puzzles of the paper's cells as a table: N, ratio_pct, d, puzzles; cells without any are left out."""
    rows = [(c.N, c.ratio_pct, c.d, int(n)) for c, n in zip(PAPER_GRID, counts, strict=True) if n]
    return pd.DataFrame(rows, columns=["N", "ratio_pct", "d", "puzzles"])


def read_short(path: Path = SHORT_FORM) -> dict[Cell, int]:
    """Return the committed short form: puzzles by cell.

    Raises
    ------
    ValueError
        If the file is missing or no such table.
    """
    frame = read_frame(path, _SCHEMA, "restore it from version control")
    return {
        Cell(int(row.N), float(row.ratio_pct), int(row.d)): int(row.puzzles) for row in frame.itertuples(index=False)
    }


def plan_form(form: str, per_cell: int = 10, rounding: str = "paper", grid: str | None = None) -> dict[Cell, int]:
    """Return how many puzzles of each cell a form with fixed puzzles asks, in grid order.

    Parameters
    ----------
    form : {"paper", "mini", "short"}
    per_cell : int
        Puzzles a cell; the short form has its own numbers.
    rounding : {"paper", "port"}
        Rule for the number of needles.
    grid : str, optional
        Another grid in place of the form's cells, see `grid_cells`.

    Raises
    ------
    ValueError
        If there is no such form or grid.
    """
    if grid is None and form == "short":
        return {Cell(cell.N, cell.ratio_pct, cell.d, rounding): count for cell, count in read_short().items()}
    if grid is None and form not in FIXED:
        raise ValueError(f"form is {form!r}; choose one of: {', '.join(FORMS)}")
    return dict.fromkeys(grid_cells(grid or form, rounding), check_count("per_cell", per_cell, 1))


def draw_puzzles(cell: Cell, start: int, stop: int, seed: int = SEED, edition: Edition = PORT) -> Iterator[dict]:
    """Draw the puzzles of some places in a cell as rows of the puzzles table; one place is always the same puzzle.

    Seed 42 gives the default set in the paper's cells, its first 100 puzzles; other seeds, cells and later places
    have ids that depend on nothing else (scheme ``spawn``), fresh puzzles that no model can have seen.

    Raises
    ------
    ValueError
        If the edition has no such ids: Elixir's are those of its default set.
    """
    for number in _ids(cell, seed, edition, stop)[start:stop]:
        yield puzzle_row(draw_puzzle(cell.N, cell.d, cell.needles, number, edition=edition), cell.ratio_pct)


def _ids(cell: Cell, seed: int, edition: Edition, count: int) -> list[int]:
    known = _default_ids(edition).get(cell, []) if seed == SEED else []
    if count <= len(known):
        return known
    if edition != PORT:
        raise ValueError(
            f"edition {edition} has the puzzles of its default set only: seed {SEED}, the paper's cells with its "
            f"rounding, {PUZZLES_PER_CELL} a cell; for others take edition port"
        )
    return [*known, *spawn_ids((cell,), count, seed)][:count]


@cache
def _default_ids(edition: Edition) -> Mapping[Cell, list[int]]:
    manifest = find_manifest(edition)
    return read_manifest(manifest) if manifest.exists() else {}


def draw_queries(
    cell: Cell,
    start: int,
    stop: int,
    seed: int = SEED,
    edition: Edition = PORT,
    perturbation: str | None = None,
    overload: int = 1,
) -> Iterator[tuple[dict, str]]:
    """Draw the puzzles of some places in a cell with what to ask about each; errors as for `draw_puzzles`.

    Statements that a query brings besides are those before it in the cell, as `protocol.write_query` takes them; where
    a form has too few puzzles in a cell for that, further ones are drawn, which are not asked about.
    """
    needed = count_per_query(perturbation, overload)
    first, last = (start, stop) if needed == 1 else (0, max(stop, needed))
    rows = list(draw_puzzles(cell, first, last, seed, edition))
    texts = [row["text"] for row in rows]
    for place in range(start - first, stop - first):
        yield rows[place], write_query(texts, place, perturbation, overload)
