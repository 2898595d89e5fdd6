"""Tables of cells: the committed one, a build's, or a reader's file, checked; words that say where they are from."""

import re
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

_REMEDY = "correct the table, or take that of a build (cells.parquet) as the pattern"


def load_cells(source: str | Path | None = None, models: Collection[str] | str | None = None) -> pd.DataFrame:
    """Return counts of correct answers by model and configuration, ready for a regression.

    Parameters
    ----------
    source : path, optional
        A build folder (its ``cells.parquet``), or a table of cells of your own, CSV or Parquet. Without it the
        typical reconstruction of the paper's 22 models (`load_reconstructions` has all).
    models : collection of str or str, optional
        Only these; all by default.

    Returns
    -------
    DataFrame
        One row per model and configuration: model, N (statements), d, ratio_pct (nominal, %), needles, rho (actual,
        fraction), log10_N, total (answers), correct and whatever else the table has, such as the five error counts.
        ``.attrs`` has provenance (reconstructed, imported, or "" where it is not recorded) and, for a table of your
        own, cells (its file's name).

    Raises
    ------
    ValueError
        If there is no such table, it is none, or it has no model of that name.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> cells = cl.load_cells(models=["QwQ-32B"])
    >>> cells[["model", "N", "d", "rho", "log10_N", "total", "correct"]].head(2).round(3)
         model   N  d   rho  log10_N  total  correct
    0  QwQ-32B  20  1  0.05    1.301    100       90
    1  QwQ-32B  20  3  0.05    1.301    100       97
    >>> cells.attrs
    {'provenance': 'reconstructed'}
    """
    path = RECONSTRUCTED / "cells.csv" if source is None else Path(source)
    if path.is_dir() or not path.suffix:
        attributes = {"provenance": read_provenance(path)}
        cells = read_frame(path / "cells.parquet", CELLS, "make it again with `make score`")
    else:
        attributes = {"provenance": read_origin(path)} | ({} if source is None else {"cells": plain_name(path)})
        cells = read_cell_table(path)
    if models is not None:
        models = [models] if isinstance(models, str) else models
        if unknown := sorted(set(models) - set(cells["model"])):
            known = ", ".join(cells["model"].unique())
            raise ValueError(f"the cells have no model {', '.join(unknown)}; they have: {known}")
        cells = cells[cells["model"].isin(models)].reset_index(drop=True)
    cells = add_logarithm(cells)
    cells.attrs = attributes
    return cells


def load_reconstructions(models: Collection[str] | str | None = None) -> pd.DataFrame:
    """Return every committed reconstruction of the paper's counts.

    Parameters
    ----------
    models : collection of str or str, optional
        Only these; all 22 by default.

    Returns
    -------
    DataFrame
        One row per reconstruction, model and configuration: reconstruction (0, 1, ...), then the columns of
        `load_cells` without error counts. ``.attrs["provenance"]`` is reconstructed.

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
    """Return the line that captions and pictures of cells carry: the name of another table, provenance, coverage.

    Empty for a build's outputs that cover the whole grid.
    """
    word, name = cells.attrs.get("provenance", ""), cells.attrs.get("cells")
    note = source_note(cells, word or "imported")
    if word and not name:
        return note
    own = f"Counts of {name or 'a table'}" + ("" if word else ", whose origin is not recorded")
    return f"{own}. {note}" if note else own


def source_note(cells: pd.DataFrame, provenance: str) -> str:
    """Return the line that pictures and captions carry: reconstructed data, a partial grid, or neither."""
    parts = []
    if origin := origin_note(provenance, strangers=not set(cells["model"]) <= set(BY_NAME)):
        parts.append(origin)
    fewest, most = coverage(cells)
    if fewest < len(PAPER_GRID):
        some = f"{most}" if fewest == most else f"{fewest} to {most}"
        parts.append(f"Partial grid: {some} of the paper's {len(PAPER_GRID)} cells")
    return ". ".join(parts)


def origin_note(provenance: str, *, strangers: bool = False) -> str:
    """Return the warning that reconstructed data need, else ""; with strangers it speaks of the paper's models."""
    if provenance not in PROVENANCE:
        raise ValueError(f"provenance {provenance!r} is not one of: {', '.join(PROVENANCE)}")
    if provenance != "reconstructed":
        return ""
    if strangers:
        return "The paper's models: reconstructed from its tables, not raw outputs"
    return "Reconstructed from the paper's tables, not raw outputs"


def read_cell_table(path: str | Path) -> pd.DataFrame:
    """Read and check a table of `schemas.CELLS` that anybody may have written; needles follow from rho and N."""
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"there is no table of cells at {path}; check the path")
    if path.suffix not in (".csv", ".parquet"):
        raise ValueError(f"{path} ends in {path.suffix or 'nothing'}; a table of cells is a .csv or .parquet file")
    cells = read_frame(path, CELLS, _REMEDY)
    if not (cells["total"] > 0).any():
        raise ValueError(f"{path} holds no answers; {_REMEDY}")
    if "needles" not in cells:
        cells["needles"] = (cells["rho"] * cells["N"]).round().astype("int64")
    return cells


def read_origin(path: str | Path) -> str:
    """Return the provenance that a table carries: reconstructed or imported; "" if it carries none."""
    if Path(path).resolve().parent == RECONSTRUCTED.resolve():
        return "reconstructed"
    word = read_metadata(path).get("provenance", "") if Path(path).suffix == ".parquet" else ""
    return word if word in PROVENANCE else ""


def read_provenance(build: str | Path) -> str:
    """Return the word that a build's cells carry: reconstructed or imported; ValueError if they do not say."""
    file = Path(build) / "cells.parquet"
    if not file.is_file():
        raise ValueError(f"{file} is missing; make it with `make score`")
    if not (word := read_origin(file)):
        raise ValueError(f"{file} does not say where its data come from; make it again with `make score`")
    return word


def plain_name(path: str | Path) -> str:
    """Return a file's name with anything but letters, digits and ``._-`` replaced, fit for captions and pictures."""
    return re.sub(r"[^\w.-]+", "-", Path(path).name)
