"""How much the printed tables leave open: many tables of counts per model, each in agreement with all of them.

`reconstruct` commits one such table, drawn around a smooth response. Those drawn here depart from the smooth as far as
printed accuracies do (`misfit`): their mean and spread say what is likely of a number, `bounds` what is possible.
"""

import shutil
from collections.abc import Iterable, Iterator
from concurrent.futures import Executor
from functools import cache, partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import t

from cogniload_repro.files import write_whole
from cogniload_repro.frames import read_frame
from cogniload_repro.models import MODELS, Model
from cogniload_repro.reconstruction.counts import draw_counts
from cogniload_repro.reconstruction.misfit import CERTAINTY, estimate_misfit, find_departures
from cogniload_repro.reconstruction.reconstruct import DRAW_SEED, load_counts
from cogniload_repro.reconstruction.sufficient import recover
from cogniload_repro.schemas import CELLS, Column, Schema
from cogniload_repro.statistics.design import GRID
from cogniload_repro.storage import RECONSTRUCTED

#: The committed tables, and how many there are of each model.
TABLES = RECONSTRUCTED / "feasible.csv"
COUNT = 24

_KEYS = ["model", "N", "d", "ratio_pct"]
_DRAWN = Column("whole", low=0)
_SCHEMA = Schema(
    {name: CELLS.columns[name] for name in _KEYS} | {"table_1": _DRAWN, "table_2": _DRAWN}, tuple(_KEYS), others=_DRAWN
)


def drawn_misfit() -> float:
    """Return the misfit along rho (log-odds) that the tables are drawn with: as estimated, to two decimals."""
    return round(estimate_misfit(find_departures(load_counts())).value, 2)


def draw_tables(model: Model, misfit: float, tables: int = COUNT, seed: int = DRAW_SEED) -> np.ndarray:
    """Draw different tables of correct answers that agree with everything printed for a model.

    Parameters
    ----------
    model : Model
    misfit : float
        Standard deviation (log-odds) by which each level of rho departs from a smooth response, in every table anew.
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
        If not even every fourth stream leads to a new table.
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
    path: str | Path = TABLES,
    models: Iterable[Model] = MODELS,
    tables: int = COUNT,
    seed: int = DRAW_SEED,
) -> Path:
    """Draw tables of every model and write them as one CSV file, the same whatever the number of processes.

    Each level of rho departs from a smooth response by the misfit that the printed accuracies show (`drawn_misfit`).

    A finished model is kept in the folder ``NAME.parts`` beside the file until all are done: an interrupted run
    goes on with the models that are missing. The columns are model, N, d, ratio_pct (%), table_1, table_2, ...
    (correct answers).
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


def load_tables(path: str | Path = TABLES) -> pd.DataFrame:
    """Return the possible tables of all models: model, N, d, ratio_pct (%), table_1, ... (correct answers).

    Raises
    ------
    ValueError
        If the file is missing or is not such a table.
    """
    return read_frame(path, _SCHEMA, "restore it with git, or make it again with `cogniload feasible`")


def other_cells(cells: pd.DataFrame) -> Iterator[pd.DataFrame]:
    """Yield the cells with the correct answers of each other possible table in place of the committed ones.

    Models whose counts are not the committed reconstruction keep theirs; nothing is yielded if that is all of them.

    Parameters
    ----------
    cells : DataFrame
        Cells frame.
    """
    models, tables = _reconstructed(cells), _committed()[1]
    if len(models) == 0:
        return
    own = cells.merge(tables[tables["model"].isin(models)], on=_KEYS, how="left")
    for table in tables.columns[len(_KEYS) :]:
        yield cells.assign(correct=own[table].fillna(own["correct"]).astype(int).to_numpy())


def mean_cells(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with the mean over the drawn tables in place of the committed correct answers.

    One table, even the nearest to this, has the chance of one draw in it; the mean has next to none. Models whose
    counts are not the committed reconstruction keep theirs.

    Parameters
    ----------
    cells : DataFrame
        Cells frame.
    """
    models, tables = _reconstructed(cells), _committed()[1]
    if len(models) == 0:
        return cells
    mean = tables[_KEYS].assign(mean=tables[tables.columns[len(_KEYS) :]].mean(axis=1))
    own = cells[_KEYS].merge(mean[mean["model"].isin(models)], on=_KEYS, how="left")["mean"]
    return cells.assign(correct=own.fillna(pd.Series(cells["correct"].to_numpy(), own.index)).to_numpy())


def spread_band(cells: pd.DataFrame, *dims: str) -> pd.DataFrame:
    """Return where accuracies lie over the drawn tables, pooled over everything but the named columns.

    Only models whose counts are the committed reconstruction have a band: other counts are known, not chosen.

    Parameters
    ----------
    cells : DataFrame
        Cells frame; what it lacks of the grid is left out of the tables too.
    *dims : str
        Columns to keep apart, such as ``"model", "d"``.

    Returns
    -------
    DataFrame
        One row a combination: the dims, mean, lowest and highest (accuracy, fraction; the ends of a 95% prediction
        interval for one more table, from Student's t), least_drawn and most_drawn (range over the drawn tables).
        Empty if no model is reconstructed.
    """
    tables, own = _committed()[1], cells[cells["total"] > 0]
    own = own.loc[own["model"].isin(_reconstructed(cells)), [*_KEYS, "total"]].merge(tables, on=_KEYS)
    drawn = tables.columns[len(_KEYS) :]
    sums = own.groupby(list(dims), observed=True)[["total", *drawn]].sum()
    counts = sums[drawn]
    reach = t.ppf((1 + CERTAINTY) / 2, len(drawn) - 1) * np.sqrt(1 + 1 / len(drawn)) * counts.std(axis=1)
    mean, n = counts.mean(axis=1), sums["total"]
    columns = {"mean": mean, "lowest": (mean - reach).clip(0), "highest": (mean + reach).clip(upper=n)}
    columns |= {"least_drawn": counts.min(axis=1), "most_drawn": counts.max(axis=1)}
    return pd.DataFrame(columns).div(n, axis=0).reset_index()


def _reconstructed(cells: pd.DataFrame) -> pd.Index:
    """Return the models whose counts are the committed reconstruction, wherever there are answers."""
    own = cells[cells["total"] > 0].merge(_committed()[0], on=_KEYS, how="left", suffixes=("", "_committed"))
    chosen = (own["total"] == own["total_committed"]) & (own["correct"] == own["correct_committed"])
    models = chosen.groupby(own["model"], observed=True).all()
    return models.index[models]


@cache
def _committed() -> tuple[pd.DataFrame, pd.DataFrame]:
    return load_counts()[[*_KEYS, "total", "correct"]], load_tables()


def _write_part(model: Model, part: Path, misfit: float, tables: int, seed: int) -> None:
    columns = [f"table_{number}" for number in range(1, tables + 1)]
    drawn = pd.DataFrame(draw_tables(model, misfit, tables, seed).T, columns=columns)
    cells = pd.concat([GRID[["N", "d", "ratio_pct"]], drawn], axis=1)
    cells.insert(0, "model", model.name)
    write_whole(part, cells.to_csv(index=False, lineterminator="\n"))
