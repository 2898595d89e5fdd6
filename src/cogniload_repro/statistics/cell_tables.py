"""Tables of cells (`schemas.CELLS`): the committed one and a build's, their origin, what they say as they stand."""

from collections.abc import Collection
from pathlib import Path

import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from cogniload_repro.files import RECONSTRUCTED
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import BY_NAME, order_models, resolve_model
from cogniload_repro.published import ERRORS, INTERVAL_ALPHA
from cogniload_repro.schemas import CELLS, PROVENANCE, read_frame
from cogniload_repro.statistics.design import GRID
from cogniload_repro.statistics.formulas import add_logarithm
from cogniload_repro.statistics.reconstructions import over_reconstructions
from cogniload_repro.storage import read_metadata

_CELL = ("N", "ratio_pct", "d")
_REMEDY = "make it again with `make score`"


def load_cells(
    build: str | Path | None = None, models: Collection[str] | str | None = None
) -> pd.DataFrame:
    """Return counts of correct answers by model and configuration, ready for a regression.

    Parameters
    ----------
    build : path, optional
        A build folder (its ``cells.parquet``). Without it the typical reconstruction of the paper's 22 models
        (`load_reconstructions` has all).
    models : collection of str or str, optional
        Only these, by name or by the short name that is shown ("o3"); all by default.

    Returns
    -------
    DataFrame
        One row per model and configuration: model, N (statements), d, ratio_pct (nominal, %), needles, rho (actual,
        fraction), log10_N, total (answers), correct and whatever else the table has, such as the five error counts.
        ``.attrs["provenance"]`` is reconstructed or imported.

    Raises
    ------
    ValueError
        If there is no such table, it does not say where its data come from, or it has no model of that name.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> cells = cl.load_cells(models="QwQ-32B")
    >>> cells[["model", "N", "d", "rho", "log10_N", "total", "correct"]].head(2).round(3)
         model   N  d   rho  log10_N  total  correct
    0  QwQ-32B  20  1  0.05    1.301    100       90
    1  QwQ-32B  20  3  0.05    1.301    100       97
    >>> cells.attrs
    {'provenance': 'reconstructed'}
    """
    provenance = "reconstructed" if build is None else read_provenance(build)
    path = RECONSTRUCTED / "cells.csv" if build is None else Path(build) / "cells.parquet"
    cells = add_logarithm(read_frame(path, CELLS, _REMEDY))
    if models is not None:
        names = [models] if isinstance(models, str) else models
        asked = {resolve_model(name, cells["model"]) for name in names}
        cells = cells[cells["model"].isin(asked)].reset_index(drop=True)
    cells.attrs = {"provenance": provenance}
    return cells


def load_reconstructions(models: Collection[str] | str | None = None) -> pd.DataFrame:
    """Return the committed samples of the paper's counts.

    Parameters
    ----------
    models : collection of str or str, optional
        Only these; all 22 by default.

    Returns
    -------
    DataFrame
        One row per reconstruction, model and configuration: reconstruction (1 to 24), then the columns of `load_cells`
        without error counts. ``.attrs["provenance"]`` is reconstructed.

    Raises
    ------
    ValueError
        If there is no model of that name.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> tables = cl.load_reconstructions("QwQ-32B")
    >>> by_level = tables.groupby(["reconstruction", "N"])["correct"].sum().unstack()
    >>> bool((by_level.nunique() == 1).all())  # accuracy by N is identified
    True
    """
    cells = load_cells(models=models)
    cells = cells[["model", "N", "d", "ratio_pct", "needles", "rho", "log10_N", "total", "correct"]]
    stacked = over_reconstructions(cells, lambda table: table)
    stacked.attrs = {"provenance": "reconstructed"}
    return stacked


def describe_cells(cells: pd.DataFrame) -> str:
    """Return `source_note` of cells as `load_cells` returns them."""
    return source_note(cells, cells.attrs.get("provenance", "imported"))


def source_note(cells: pd.DataFrame, provenance: str) -> str:
    """Return the line that pictures and captions carry: reconstructed data, a partial grid, or neither."""
    parts = []
    if provenance == "reconstructed":
        own = not set(cells["model"]) <= set(BY_NAME)
        what = (
            "The paper's models: reconstructed from its"
            if own
            else "Reconstructed from the paper's"
        )
        parts.append(f"{what} tables, not raw outputs")
    fewest, most = coverage(cells)
    if fewest < len(PAPER_GRID):
        some = f"{most}" if fewest == most else f"{fewest} to {most}"
        parts.append(f"Partial grid: {some} of the paper's {len(PAPER_GRID)} cells")
    return ". ".join(parts)


def read_provenance(build: str | Path) -> str:
    """Return the word that a build's cells carry, of `schemas.PROVENANCE`; ValueError if they do not say."""
    file = Path(build) / "cells.parquet"
    if not file.is_file():
        raise ValueError(f"{file} is missing; make it with `make score`")
    if (word := read_metadata(file).get("provenance", "")) not in PROVENANCE:
        raise ValueError(f"{file} does not say where its data come from; {_REMEDY}")
    return word


def accuracy_by(cells: pd.DataFrame, *dims: str) -> pd.DataFrame:
    """Pool the puzzles of a cells frame over everything but the named columns.

    Returns one row per combination that has puzzles, models in printed order and numbers ascending: the columns, total
    and correct (puzzles), accuracy (fraction), low and high (90% Wilson interval; paper, Appendix C).
    """
    counts = _sum_by(cells, dims, ["total", "correct"]).query("total > 0").reset_index(drop=True)
    low, high = proportion_confint(
        counts["correct"], counts["total"], alpha=INTERVAL_ALPHA, method="wilson"
    )
    return counts.assign(accuracy=counts["correct"] / counts["total"], low=low, high=high)


def errors_by(cells: pd.DataFrame, dimension: str) -> pd.DataFrame:
    """Return Tables 4 and 5: samples, acc_pct (accuracy in %) and errors of each type by model and one dimension."""
    counts = _sum_by(cells, ("model", dimension), ["total", "correct", *ERRORS]).query("total > 0")
    acc_pct = [
        percent(correct, n) for correct, n in zip(counts["correct"], counts["total"], strict=True)
    ]
    frame = counts.rename(columns={"total": "samples"}).assign(acc_pct=acc_pct)
    return frame[["model", dimension, "samples", "acc_pct", *ERRORS]].reset_index(drop=True)


def percent(correct: int, n: int) -> int:
    """Return an accuracy in whole percent, halves to even as in Tables 4 and 5; whole numbers decide ties."""
    whole, rest = divmod(100 * int(correct), int(n))
    return whole + (2 * rest > n or (2 * rest == n and whole % 2 == 1))


def coverage(cells: pd.DataFrame) -> tuple[int, int]:
    """Return the fewest and the most cells of the paper's grid that a model of the frame has puzzles in."""
    covered = cells[cells["total"] > 0].merge(GRID[[*_CELL]]).drop_duplicates(["model", *_CELL])
    per_model = covered["model"].value_counts().reindex(cells["model"].unique(), fill_value=0)
    return (0, 0) if per_model.empty else (int(per_model.min()), int(per_model.max()))


def _sum_by(cells: pd.DataFrame, dims: tuple[str, ...], columns: list[str]) -> pd.DataFrame:
    unknown = [name for name in (*dims, *columns) if name not in cells.columns]
    if unknown or not dims:
        what = (
            f"have no column {', '.join(unknown)}"
            if unknown
            else "were given no column to group by"
        )
        raise ValueError(f"the cells {what}; name some of: {', '.join(map(str, cells.columns))}")
    sums = cells.groupby(list(dims), as_index=False, sort=True)[columns].sum()
    if "model" not in dims:
        return sums
    rank = {model: place for place, model in enumerate(order_models(sums["model"]))}
    return sums.sort_values(
        "model", key=lambda names: names.map(rank), kind="stable", ignore_index=True
    )
