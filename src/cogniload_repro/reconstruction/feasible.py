"""Many tables of counts per model, each in agreement with all printed numbers.

The first, r0, is drawn around a smooth response; the others depart from it as far as printed accuracies do (`misfit`):
their mean and variance say what is likely of a number, `bounds` gives an outer bound.
"""

import shutil
from collections.abc import Iterable
from concurrent.futures import Executor
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import t

from cogniload_repro.files import write_whole
from cogniload_repro.models import MODELS, Model
from cogniload_repro.reconstruction.counts import draw_counts
from cogniload_repro.reconstruction.misfit import CERTAINTY, estimate_misfit, find_departures, widening
from cogniload_repro.reconstruction.reconstruct import DRAW_SEED
from cogniload_repro.reconstruction.sufficient import recover
from cogniload_repro.statistics.design import GRID
from cogniload_repro.statistics.reconstructions import TABLES_FILE, committed_counts, reconstructed_models

#: Committed tables of each model that depart from the smooth response.
COUNT = 24


@cache
def drawn_misfit() -> float:
    """Return the misfit along rho (log-odds) that the tables are drawn with: as estimated, to two decimals."""
    return round(estimate_misfit(find_departures()).value, 2)


def draw_tables(model: Model, misfit: float, tables: int = COUNT, seed: int = DRAW_SEED) -> np.ndarray:
    """Draw different tables of correct answers that agree with everything printed for a model, shape (tables, 140).

    ``misfit`` is the standard deviation (log-odds) by which each level of rho departs from a smooth response, in every
    table anew. Every table has its own random stream, so the first ones do not depend on how many are drawn.
    """
    recovered, drawn = recover(model), list[np.ndarray]()
    for stream in range(1, 4 * tables + 1):  # a trailing 0 would be the stream of the committed table
        try:
            correct = draw_counts(recovered, np.random.default_rng([seed, MODELS.index(model), stream]), misfit)
        except ValueError:
            continue
        if not any((correct == other).all() for other in drawn):
            drawn.append(correct)
        if len(drawn) == tables:
            return np.array(drawn)
    raise ValueError(f"{model.name}: {len(drawn)} tables found where {tables} were asked for; ask for fewer")


def write_tables(
    executor: Executor,
    path: str | Path = TABLES_FILE,
    models: Iterable[Model] = MODELS,
    tables: int = COUNT,
    seed: int = DRAW_SEED,
) -> Path:
    """Draw tables of every model and write them as one CSV file, the same whatever the number of processes.

    A finished model is kept in the folder ``NAME.parts`` beside the file until all are done: an interrupted run
    goes on with the models that are missing. The columns are model, N, d, ratio_pct (%), r0, r1, ... (correct
    answers).
    """
    path, models = Path(path), tuple(models)
    folder = path.with_suffix(".parts")
    misfit = drawn_misfit()
    parts = [folder / f"{model.name}-{seed}-{tables}-{misfit:.6g}.csv" for model in models]
    todo = [(model, part) for model, part in zip(models, parts, strict=True) if not part.exists()]
    draw = partial(_write_part, misfit=misfit, tables=tables, seed=seed)
    for _ in executor.map(draw, *zip(*todo, strict=True)):
        pass
    head, *rest = (part.read_text(encoding="utf-8") for part in parts)
    write_whole(path, head + "".join(text.split("\n", 1)[1] for text in rest))
    shutil.rmtree(folder)
    return path


def mean_cells(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with the mean over the tables in place of the correct answers of reconstructed models.

    One table, even the nearest to this, has the chance of one draw in it; the mean has next to none.
    """
    known = cells["model"].isin(reconstructed_models(cells)).to_numpy()
    if not known.any():
        return cells
    return cells.assign(correct=np.where(known, committed_counts(cells)[1:].mean(axis=0), cells["correct"]))


def spread_band(cells: pd.DataFrame, *dims: str) -> pd.DataFrame:
    """Return the 95% band of reconstructed models' accuracies, pooled over everything but the named columns.

    The first of ``dims`` is ``"model"``; what the cells lack of the grid is left out of the tables too.

    One row per combination: the dims, mean, lowest and highest (accuracy, fraction): the ends of a prediction
    interval for one more table (Student's t), widened because the misfit is uncertain (`misfit.widening`). Empty
    if no model is reconstructed.
    """
    own = cells[(cells["total"] > 0) & cells["model"].isin(reconstructed_models(cells))]
    drawn = pd.DataFrame(committed_counts(own)[1:].T, index=own.index)
    groups = pd.concat([own[[*dims, "total"]], drawn], axis=1).groupby(list(dims), observed=True)
    counts, n = groups[list(drawn)].sum(), groups["total"].sum()
    reach = t.ppf((1 + CERTAINTY) / 2, drawn.shape[1] - 1) * np.sqrt(1 + 1 / drawn.shape[1]) * counts.std(axis=1)
    if len(own):
        reach = reach * _widening(own, groups.ngroup().to_numpy(), len(counts))
    mean = counts.mean(axis=1)
    columns = {"mean": mean, "lowest": (mean - reach).clip(0), "highest": (mean + reach).clip(upper=n)}
    return pd.DataFrame(columns).div(n, axis=0).reset_index()


def _widening(own: pd.DataFrame, points: np.ndarray, count: int) -> np.ndarray:
    """Return the factor of each point, given which rows of the cells it pools."""
    cells = pd.MultiIndex.from_frame(GRID[["N", "d", "ratio_pct"]])
    places = cells.get_indexer(pd.MultiIndex.from_frame(own[["N", "d", "ratio_pct"]]))
    factors, misfit = np.ones(count), drawn_misfit()
    for model, rows in own.reset_index(drop=True).groupby("model", observed=True).indices.items():
        found, at = np.unique(points[rows], return_inverse=True)
        shares = np.zeros((len(found), len(GRID)))
        shares[at, places[rows]] = 1
        factors[found] = widening(str(model), shares, misfit)
    return factors


def _write_part(model: Model, part: Path, misfit: float, tables: int, seed: int) -> None:
    smooth = draw_counts(recover(model), np.random.default_rng([seed, MODELS.index(model)]))
    counts = np.vstack([smooth, draw_tables(model, misfit, tables, seed)])
    drawn = pd.DataFrame(counts.T, columns=[f"r{number}" for number in range(tables + 1)])
    cells = pd.concat([GRID[["N", "d", "ratio_pct"]], drawn], axis=1)
    cells.insert(0, "model", model.name)
    write_whole(part, cells.to_csv(index=False, lineterminator="\n"))
