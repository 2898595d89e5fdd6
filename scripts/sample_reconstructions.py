"""Sample counts that agree with the paper; `reconstruct.py` then regenerates cells.csv.

Writes two files to data/reconstructed: reconstructions.csv, the sampled tables of counts (a quarter
of an hour); bounds.csv, bounds on accuracy at each rho (half a minute).

The first table of a model, r0, is drawn around the smooth response; the others depart from it as
much as the accuracies stated in the prose do (`reconstruction.misfit`). They show which values of a
number are likely; the bounds show which are possible. The misfit is fixed at its estimate, and the
departures are random effects of the levels of rho alone.
"""

from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from functools import partial
from pathlib import Path

import click
import numpy as np
import pandas as pd

from cogniload_repro.commands.options import JOBS
from cogniload_repro.executors import open_executor
from cogniload_repro.grid import CELL
from cogniload_repro.models import MODELS, Model
from cogniload_repro.reconstruction.bounds import BOUNDS, PANELS, possible_range
from cogniload_repro.reconstruction.constraints import Constraints, constrain
from cogniload_repro.reconstruction.integers import draw_counts
from cogniload_repro.reconstruction.misfit import estimate_misfit, find_departures
from cogniload_repro.reconstruction.reconstruct import DRAW_SEED, write_csv
from cogniload_repro.reconstruction.sufficient import recover_sums, sum_cells
from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.regression.design import GRID
from cogniload_repro.regression.reconstructions import TABLES_FILE

#: Number of committed tables per model that depart from the smooth response.
COUNT = 24


def write_tables(
    executor: Executor,
    path: str | Path = TABLES_FILE,
    models: Iterable[Model] = MODELS,
    tables: int = COUNT,
) -> Path:
    """Draw the tables of every model and write them to one CSV file.

    They depart from the smooth response by the estimated misfit, rounded to two decimals. The file
    does not depend on the number of processes.
    """
    misfit = round(estimate_misfit(find_departures()).value, 2)
    draw = partial(_draw_model, misfit=misfit, tables=tables)
    return write_csv(path, executor.map(draw, models))


def _draw_model(model: Model, misfit: float, tables: int) -> pd.DataFrame:
    """Return a model's cells with its tables as columns: the smooth one, r0, then r1, r2, ..."""
    smooth_stream = np.random.default_rng([DRAW_SEED, MODELS.index(model)])
    smooth = draw_counts(recover_sums(model), smooth_stream)
    others = draw_tables(model, misfit, tables)
    cells = GRID[CELL].copy()
    cells.insert(0, "model", model.name)
    for number, correct in enumerate([smooth, *others]):
        cells[f"r{number}"] = correct
    return cells


def draw_tables(model: Model, misfit: float, tables: int) -> list[np.ndarray]:
    """Draw distinct tables of correct answers that agree with everything printed for a model.

    Each table has its own random stream, so that the first ones do not depend on ``tables``.
    """
    model_sums = recover_sums(model)
    drawn: dict[bytes, np.ndarray] = {}
    # a trailing 0 would be the stream of the smooth table
    for stream in range(1, 4 * tables + 1):
        rng = np.random.default_rng([DRAW_SEED, MODELS.index(model), stream])
        try:
            correct = draw_counts(model_sums, rng, misfit)
        except ValueError:
            continue
        drawn[correct.tobytes()] = correct
        if len(drawn) == tables:
            return list(drawn.values())
    raise ValueError(
        f"found only {len(drawn)} of {tables} tables of {model.name}; ask for fewer tables"
    )


def find_bounds(cells: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield the bounds of every point, one table per model, from the reconstructed cells.

    Columns model, load (empty, d or N), level (0 without a load), ratio_pct (%), least and most
    (fraction, to four decimals, rounded outwards).
    """
    for model in cells["model"].unique():
        model_sums = sum_cells(cells, model)
        # the printed numbers are linearised around the sums of these counts
        constraints = constrain(model_sums, model_sums.sums)
        points: list[tuple] = []
        for load, levels in PANELS.items():
            for level in levels:
                points += _bound_points(constraints, load, level)
        columns = ["load", "level", "ratio_pct", "least", "most"]
        bounds = pd.DataFrame(points, columns=columns)
        bounds.insert(0, "model", model)
        yield bounds


def _bound_points(
    constraints: Constraints,
    load: str,
    level: int,
) -> Iterator[tuple[str, int, int, float, float]]:
    """Yield load, level, needle ratio (%) and bounds for each point of a panel."""
    for ratio_pct in GRID["ratio_pct"].unique():
        is_point = GRID["ratio_pct"] == ratio_pct
        if load:
            is_point &= GRID[load] == level
        least, most = possible_range(constraints, is_point.to_numpy())
        rounded_least = np.floor(least * 1e4 + 1e-6) / 1e4
        rounded_most = np.ceil(most * 1e4 - 1e-6) / 1e4
        yield load, level, ratio_pct, max(rounded_least, 0.0), min(rounded_most, 1.0)


@click.command()
@JOBS
def main(jobs: int) -> None:
    """Sample the committed reconstructions and their bounds again."""
    with open_executor(jobs) as executor:
        print("wrote", write_tables(executor))
    print("wrote", write_csv(BOUNDS, find_bounds(load_cells())))


if __name__ == "__main__":
    main()
