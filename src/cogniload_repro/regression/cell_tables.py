"""Counts by cell (`storage.CELLS`), committed or from a build, and accuracies by level."""

from collections.abc import Collection, Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import norm

from cogniload_repro.grid import CELL, PAPER_GRID, Cell
from cogniload_repro.models import order_models, resolve_model
from cogniload_repro.published import ERRORS, INTERVAL_ALPHA, load_table
from cogniload_repro.regression.design import GRID
from cogniload_repro.regression.formulas import add_logarithm
from cogniload_repro.regression.reconstructions import (
    CELLS_FILE,
    from_printed_tables,
    over_reconstructions,
)
from cogniload_repro.storage import CELLS, PROVENANCE, TOKENS, read_frame

_REMEDY = "create it with `make score`, or give the path of a build"


def load_cells(
    build: str | Path | None = None,
    models: Collection[str] | str | None = None,
) -> pd.DataFrame:
    """Return counts of correct answers by model and configuration, ready for a regression.

    Parameters
    ----------
    build : path, optional
        A build folder, whose ``cells.parquet`` is read. Default: the typical reconstruction of the
        paper's 22 models (`load_reconstructions` returns 24 samples).
    models : collection of str or str, optional
        Models to return, by full or short name ("o3"); all by default.

    Returns
    -------
    DataFrame
        One row per model and configuration: model, N (statements), d, ratio_pct (nominal, %),
        needles, rho (actual, fraction), log10_N, total (answers), correct, provenance
        ("reconstructed" from the printed tables, or "scored" answers) and any other columns of the
        table, such as the five error counts. ctx (answers that ran out of context) is missing where
        a scored answer has no token counts.

    Raises
    ------
    ValueError
        If the table is missing, does not state the provenance of its counts, or lacks a model.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> cells = cl.load_cells(models="QwQ-32B")
    >>> cells[["model", "N", "d", "rho", "log10_N", "total", "correct"]].head(2).round(3)
         model   N  d   rho  log10_N  total  correct
    0  QwQ-32B  20  1  0.05    1.301    100       90
    1  QwQ-32B  20  3  0.05    1.301    100       97
    >>> cells["provenance"].unique().tolist()
    ['reconstructed']
    """
    if build is None:
        cells = read_frame(CELLS_FILE, CELLS, _REMEDY)
        cells = cells.assign(provenance="reconstructed")
    else:
        path = Path(build) / "cells.parquet"
        cells = read_frame(path, CELLS, _REMEDY)
        if "provenance" not in cells or not cells["provenance"].isin(PROVENANCE).all():
            raise ValueError(
                f"{path} does not say where its counts come from; delete it and {_REMEDY}"
            )
    cells = add_logarithm(cells)
    if models is None:
        return cells
    names = [models] if isinstance(models, str) else models
    chosen = [resolve_model(name, cells["model"]) for name in names]
    is_chosen = cells["model"].isin(chosen)
    return cells[is_chosen].reset_index(drop=True)


def reconstructed_cells(grid: Iterable[Cell]) -> pd.DataFrame:
    """Return the committed counts of the paper's models in the cells of a grid.

    The columns are those of `storage.CELLS`. Token lengths are printed by N and d only (Tables 7
    to 10), so cells that differ only in the needle ratio have the same lengths. A ValueError names
    a cell that is not on the paper's grid.
    """
    committed = load_cells().drop(columns=["log10_N", "provenance"])
    committed = committed.astype({"ratio_pct": float})
    places = pd.MultiIndex.from_frame(committed[CELL])
    names = [(cell.N, cell.d, float(cell.ratio_pct)) for cell in grid]
    foreign = [name for name in names if name not in places]
    if foreign:
        N, d, ratio_pct = foreign[0]
        cell = f"N = {N}, a needle ratio of {ratio_pct:g}% and d = {d}"
        raise ValueError(
            f"the paper has no cell with {cell}; only its cells can be reconstructed"
        )
    lengths = load_table("tokens")[TOKENS.names]
    cells = committed[places.isin(names)].merge(
        lengths, on=["model", "N", "d"], how="left"
    )
    return cells.assign(provenance="reconstructed")


def load_reconstructions(models: Collection[str] | str | None = None) -> pd.DataFrame:
    """Return the 24 committed reconstructions of the paper's counts.

    Parameters
    ----------
    models : collection of str or str, optional
        Models to return; all 22 by default.

    Returns
    -------
    DataFrame
        One row per reconstruction, model and configuration: reconstruction (1 to 24), then the
        columns of `load_cells` without the error counts.

    Raises
    ------
    ValueError
        If a model is unknown.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> tables = cl.load_reconstructions("QwQ-32B")
    >>> by_level = tables.groupby(["reconstruction", "N"])["correct"].sum().unstack()
    >>> bool((by_level.nunique() == 1).all())  # accuracy by N is identified
    True
    """
    cells = load_cells(models=models)
    counts = cells.drop(columns=[*ERRORS])
    return over_reconstructions(counts)


def describe_cells(cells: pd.DataFrame) -> str:
    """Return the note on the data for figures and captions, "" if none is needed.

    It says if counts are reconstructed, and which models have only a part of the paper's grid.
    """
    sentences = []
    is_reconstructed = from_printed_tables(cells)
    if is_reconstructed.any():
        whose = "Reconstructed from the paper's"
        if not is_reconstructed.all():
            whose = "The paper's models: reconstructed from its"
        sentences.append(f"{whose} tables, not raw outputs")
    counts = count_covered(cells)
    partial = counts[counts < len(PAPER_GRID)]
    if len(partial):
        ends = sorted({partial.min(), partial.max()})
        count = " to ".join(map(str, ends))
        whose = "" if len(partial) == len(counts) else f" of {', '.join(partial.index)}"
        sentences.append(
            f"Partial grid{whose}: {count} of the paper's {len(PAPER_GRID)} cells"
        )
    return ". ".join(sentences)


def accuracy_by(cells: pd.DataFrame, *levels: str) -> pd.DataFrame:
    """Pool the answers of a cells frame over everything but the named columns.

    Returns one row per combination of levels that has answers, models in printed order and numbers
    ascending: the columns, total and correct (answers), accuracy (fraction), low and high (90%
    Wilson interval; paper, Appendix C).
    """
    counts = _sum_by(cells, levels, ["total", "correct"])
    accuracy = counts["correct"] / counts["total"]
    low, high = wilson_limits(
        accuracy, counts["total"], norm.ppf(1 - INTERVAL_ALPHA / 2)
    )
    return counts.assign(accuracy=accuracy, low=low, high=high)


def wilson_limits(
    accuracy: np.ndarray | pd.Series,
    answers: np.ndarray | pd.Series,
    z: float | np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the limits of Wilson's score interval of accuracies (paper, Appendix C).

    ``z`` is the normal quantile of its level.
    """
    squared = z**2 / answers
    middle = (accuracy + squared / 2) / (1 + squared)
    variance = accuracy * (1 - accuracy) + squared / 4
    half_width = np.sqrt(squared * variance) / (1 + squared)
    # rounding must not put the accuracy itself outside
    low = np.clip(middle - half_width, 0, accuracy)
    high = np.clip(middle + half_width, accuracy, 1)
    return low, high


def errors_by(cells: pd.DataFrame, load: str) -> pd.DataFrame:
    """Return Table 4 (load d) or 5 (load N): accuracy and errors of each model at each level.

    One row per model and level: model, the load, samples (answers), acc_pct (accuracy in %) and the
    number of errors of each type; ctx is missing where it is missing in a cell of the level.
    """
    counts = _sum_by(cells, ("model", load), ["total", "correct", *ERRORS])
    percentage = 100 * counts["correct"] / counts["total"]
    counts["acc_pct"] = percentage.round().astype(int)
    named = counts.rename(columns={"total": "samples"})
    return named[["model", load, "samples", "acc_pct", *ERRORS]]


def percent(correct: int, total: int) -> int:
    """Return an accuracy in whole percent, rounded half to even as in Tables 4 and 5."""
    return round(100 * int(correct) / int(total))


def coverage(cells: pd.DataFrame) -> tuple[int, int]:
    """Return the smallest and the largest number of grid cells with answers over the models."""
    counts = count_covered(cells)
    if not len(counts):
        return 0, 0
    return int(counts.min()), int(counts.max())


def count_covered(cells: pd.DataFrame) -> pd.Series:
    """Return the number of grid cells with answers by model."""
    covered = cells[cells["total"] > 0].merge(GRID[CELL])
    cells_of_models = covered[["model", *CELL]].drop_duplicates()
    counts = cells_of_models["model"].value_counts()
    return counts.reindex(cells["model"].unique(), fill_value=0)


def _sum_by(
    cells: pd.DataFrame,
    levels: tuple[str, ...],
    columns: list[str],
) -> pd.DataFrame:
    """Return sums of columns by levels that have answers, with models in printed order."""
    groups = cells.groupby(list(levels), as_index=False)
    sums = groups[columns].sum(skipna=False)
    sums = sums[sums["total"] > 0]
    if "model" in levels:
        order = pd.Index(order_models(sums["model"]))
        sums = sums.sort_values("model", key=order.get_indexer, kind="stable")
    return sums.reset_index(drop=True)
