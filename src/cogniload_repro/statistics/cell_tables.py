"""Tables of cells from a reader's file: CSV or Parquet, checked before anything is fitted to them."""

import re
from pathlib import Path

import pandas as pd

from cogniload_repro.frames import read_frame
from cogniload_repro.schemas import CELLS, PROVENANCE
from cogniload_repro.storage import RECONSTRUCTED, read_metadata

_REMEDY = "correct the table, or take that of a build (cells.parquet) as the pattern"


def read_cell_table(path: str | Path) -> pd.DataFrame:
    """Read a table of cells: one row a model and configuration.

    Parameters
    ----------
    path : path
        CSV or Parquet with the columns model, N, d, ratio_pct (%), rho (fraction), n (answers) and correct. The other
        columns of the cells table (`cells.count_cells`) may be absent; needles is then rho times N.

    Raises
    ------
    ValueError
        If there is no such file, it cannot be read, or a column or row is not as it must be.
    """
    path = Path(path)
    if not path.is_file():
        raise ValueError(f"there is no table of cells at {path}; check the path")
    if path.suffix not in (".csv", ".parquet"):
        raise ValueError(f"{path} ends in {path.suffix or 'nothing'}; a table of cells is a .csv or .parquet file")
    cells = read_frame(path, CELLS, _REMEDY)
    if not (cells["n"] > 0).any():
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


def plain_name(path: str | Path) -> str:
    """Return a file's name with anything but letters, digits and ``._-`` replaced, fit for captions and pictures."""
    return re.sub(r"[^\w.-]+", "-", Path(path).name)
