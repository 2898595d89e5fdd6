"""Tables of cells (`schemas.CELLS`): the committed one and a build's, their origin, what they say as they stand."""

from collections.abc import Collection, Iterable
from pathlib import Path

import pandas as pd
from statsmodels.stats.proportion import proportion_confint

from cogniload_repro.files import RECONSTRUCTED
from cogniload_repro.grid import PAPER_GRID, Cell
from cogniload_repro.models import order_models, resolve_model
from cogniload_repro.published import ERRORS, INTERVAL_ALPHA, load_table
from cogniload_repro.schemas import CELLS, PROVENANCE, TOKENS, read_frame
from cogniload_repro.statistics.design import GRID
from cogniload_repro.statistics.formulas import add_logarithm
from cogniload_repro.statistics.reconstructions import from_printed_tables, over_reconstructions

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
        fraction), log10_N, total (answers), correct, provenance ("reconstructed" from the printed
        tables, or "scored" answers) and whatever else the table has, such as the five error counts.

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
    >>> cells["provenance"].unique().tolist()
    ['reconstructed']
    """
    if build is None:
        committed = read_frame(RECONSTRUCTED / "cells.csv", CELLS, _REMEDY)
        cells = add_logarithm(committed.assign(provenance="reconstructed"))
    else:
        path = Path(build) / "cells.parquet"
        cells = add_logarithm(read_frame(path, CELLS, _REMEDY))
        if "provenance" not in cells or not cells["provenance"].isin(PROVENANCE).all():
            raise ValueError(f"{path} does not say where its counts come from; {_REMEDY}")
    if models is not None:
        names = [models] if isinstance(models, str) else models
        asked = {resolve_model(name, cells["model"]) for name in names}
        cells = cells[cells["model"].isin(asked)].reset_index(drop=True)
    return cells


def reconstructed_cells(grid: Iterable[Cell]) -> pd.DataFrame:
    """Return the committed counts of the paper's models in the cells of a grid.

    The columns are those of `schemas.CELLS`. Token lengths are printed by N and d alone (Tables 7 to
    10), so cells that differ in the needle ratio have the same. A ValueError names a cell that the
    paper does not have.
    """
    committed = load_cells().drop(columns="log10_N")
    places = pd.MultiIndex.from_frame(committed[list(_CELL)].astype({"ratio_pct": float}))
    wanted = pd.MultiIndex.from_tuples([(cell.N, float(cell.ratio_pct), cell.d) for cell in grid])
    foreign = wanted.difference(places)
    if len(foreign):
        N, ratio_pct, d = foreign[0]
        cell = f"N = {N}, a needle ratio of {ratio_pct:g}% and d = {d}"
        raise ValueError(f"the paper has no cell with {cell}; only its cells can be reconstructed")
    lengths = load_table("tokens")[TOKENS.names]
    cells = committed[places.isin(wanted)].astype({"ratio_pct": float})
    provenance = cells.pop("provenance")
    return cells.merge(lengths, on=["model", "N", "d"], how="left").assign(
        provenance=provenance.to_numpy()
    )


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
        without error counts.

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
    columns = ["model", "N", "d", "ratio_pct", "needles", "rho", "log10_N", "total", "correct"]
    return over_reconstructions(cells[[*columns, "provenance"]], lambda table: table)


def describe_cells(cells: pd.DataFrame) -> str:
    """Return the line that pictures and captions carry: reconstructed counts, a partial grid, or neither."""
    parts = []
    reconstructed = from_printed_tables(cells)
    if reconstructed.all() and len(cells):
        parts.append("Reconstructed from the paper's tables, not raw outputs")
    elif reconstructed.any():
        parts.append("The paper's models: reconstructed from its tables, not raw outputs")
    fewest, most = coverage(cells)
    if fewest < len(PAPER_GRID):
        some = f"{most}" if fewest == most else f"{fewest} to {most}"
        parts.append(f"Partial grid: {some} of the paper's {len(PAPER_GRID)} cells")
    return ". ".join(parts)


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
