"""Data for the scripts of pages: which cells they show, and how numbers are written.

The scripts make texts of them. Tables are dicts of columns. In them a model is its index in
``models``, since a name may be any text.
"""

import json
from pathlib import Path
from typing import Any

import pandas as pd

from cogniload_repro.regression.cell_tables import load_cells
from cogniload_repro.regression.reconstructions import from_printed_tables

_DIGITS = 8  # significant ones in a script


def write_script(name: str, value: Any) -> str:
    """Return a script that stores a value in ``cogniload.data.NAME``.

    A page opened from disk may load scripts from its folder, but no other data. A script may hold
    NaN and Infinity.
    """
    text = json.dumps(value, separators=(",", ":"))
    text = text.replace("</", r"<\/")  # wherever the text is put, no tag ends in it
    return f"(globalThis.cogniload ??= {{}}).data ??= {{}};\ncogniload.data.{name} = {text};\n"


def list_columns(rows: pd.DataFrame, models: list[str]) -> dict[str, list]:
    """Return rows as columns for a script: models as indices, numbers to `_DIGITS`."""
    columns = {}
    for name, values in rows.items():
        if name in ("model", "first", "second"):
            values = values.map(models.index)
        elif pd.api.types.is_float_dtype(values):
            values = values.map(lambda number: float(f"{number:.{_DIGITS}g}"))
        columns[name] = values.tolist()
    return columns


def cells_to_show(build: str | Path) -> pd.DataFrame:
    """Return the scored cells of a build, and the committed cells of the paper's other models.

    The committed cells cover the whole grid, so that what they show does not depend on the build.
    """
    committed = load_cells()
    if not (Path(build) / "cells.parquet").exists():
        return committed
    cells = load_cells(build)
    scored = cells[~from_printed_tables(cells)]
    others = committed[~committed["model"].isin(scored["model"])]
    if scored.empty:
        return others
    return pd.concat([others, scored], ignore_index=True)
