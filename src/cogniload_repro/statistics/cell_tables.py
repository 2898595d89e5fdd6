"""Tables of cells: the committed one and a build's, checked; the line that says where they are from."""

from collections.abc import Collection
from pathlib import Path

import pandas as pd

from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import BY_NAME
from cogniload_repro.schemas import CELLS, PROVENANCE, read_frame
from cogniload_repro.statistics.accuracy import coverage
from cogniload_repro.statistics.formulas import add_logarithm
from cogniload_repro.statistics.reconstructions import over_reconstructions
from cogniload_repro.storage import RECONSTRUCTED, read_metadata

_REMEDY = "make it again with `make score`"


def load_cells(build: str | Path | None = None, models: Collection[str] | str | None = None) -> pd.DataFrame:
    """Return counts of correct answers by model and configuration, ready for a regression.

    Parameters
    ----------
    build : path, optional
        A build folder (its ``cells.parquet``). Without it the typical reconstruction of the paper's 22 models
        (`load_reconstructions` has all).
    models : collection of str or str, optional
        Only these, by name or by the short name of figures ("o3"); all by default.

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
        short = {model.label: name for name, model in BY_NAME.items()}
        asked = {short.get(name, name) for name in ([models] if isinstance(models, str) else models)}
        if unknown := sorted(asked - set(cells["model"])):
            known = ", ".join(cells["model"].unique())
            raise ValueError(f"the cells have no model {', '.join(unknown)}; they have: {known}")
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
        what = "The paper's models: reconstructed from its" if own else "Reconstructed from the paper's"
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
