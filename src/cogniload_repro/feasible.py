"""How much the printed tables leave open: many tables of counts per model, each in agreement with all of them.

`reconstruct` commits one such table. The others drawn here say which of its numbers are settled and which are not.
"""

from collections.abc import Iterable
from concurrent.futures import Executor
from functools import cache
from itertools import count
from pathlib import Path

import numpy as np
import pandas as pd

from .counts import draw_counts
from .files import write_whole
from .models import BY_NAME, MODELS, Model
from .paths import RECONSTRUCTED
from .reconstruct import SEED, load_cells
from .sufficient import GRID, recover

#: The committed tables, and how many there are of each model.
TABLES = RECONSTRUCTED / "feasible.csv"
COUNT = 40

_KEYS = ["model", "N", "d", "ratio_pct"]


def draw_tables(model: Model, tables: int = COUNT, seed: int = SEED) -> np.ndarray:
    """Draw different tables of correct answers that agree with everything printed for a model.

    Parameters
    ----------
    model : Model
    tables : int
        How many; every one has its own random stream, so the first ones do not depend on it.
    seed : int

    Returns
    -------
    ndarray of int, shape (tables, 140)
        Correct answers per cell, in grid order.

    Raises
    ------
    ValueError
        If not even every second stream leads to a new table.
    """
    recovered, drawn = recover(model), []
    for stream in count(1):  # a trailing 0 would be the stream of the committed table
        if len(drawn) == tables:
            return np.array(drawn)
        if stream > 2 * tables:
            raise ValueError(f"{model.name}: {len(drawn)} tables found where {tables} were asked for; ask for fewer")
        try:
            correct = draw_counts(recovered, np.random.default_rng([seed, MODELS.index(model), stream]))
        except ValueError:
            continue
        if not any((correct == other).all() for other in drawn):
            drawn.append(correct)


def write_tables(
    executor: Executor,
    path: str | Path = TABLES,
    models: Iterable[Model] = MODELS,
    tables: int = COUNT,
    seed: int = SEED,
) -> Path:
    """Draw tables of every model and write them as one CSV file, the same whatever the number of processes.

    A finished model is kept in the folder ``NAME.parts`` beside the file until all are done: an interrupted run
    goes on with the models that are missing. The columns are model, N, d, ratio_pct (%), table_1, table_2, ...
    (correct answers).
    """
    path = Path(path)
    folder = path.with_suffix(".parts")
    parts = [folder / f"{model.name}-{seed}-{tables}.csv" for model in models]
    todo = [(model, part) for model, part in zip(models, parts, strict=True) if not part.exists()]
    for _ in executor.map(_write_part, *zip(*todo, strict=True), [tables] * len(todo), [seed] * len(todo)):
        pass
    head, *rest = (part.read_text(encoding="utf-8") for part in parts)
    write_whole(path, head + "".join(text.split("\n", 1)[1] for text in rest))
    for part in parts:
        part.unlink()
    folder.rmdir()
    return path


def _write_part(model: Model, part: Path, tables: int, seed: int) -> None:
    drawn = pd.DataFrame(draw_tables(model, tables, seed).T).add_prefix("table_")
    drawn.columns = [f"table_{number}" for number in range(1, tables + 1)]
    cells = pd.concat([GRID[["N", "d", "ratio_pct"]], drawn], axis=1)
    cells.insert(0, "model", model.name)
    write_whole(part, cells.to_csv(index=False, lineterminator="\n"))
