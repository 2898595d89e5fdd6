"""Tables of numbers checked against their schemas, on reading and on writing; all that is wrong is said at once."""

from pathlib import Path

import numpy as np
import pandas as pd
from pandas.api.types import is_numeric_dtype

from cogniload_repro.schemas import Column, Schema

#: So many faults of a table are named, the others counted.
_NAMED = 8


def read_frame(path: str | Path, schema: Schema, remedy: str, *, as_text: bool = False) -> pd.DataFrame:
    """Read a table from a CSV or Parquet file and check it.

    Parameters
    ----------
    path : path
        Parquet if the name ends in ``.parquet``, else CSV.
    schema : Schema
    remedy : str
        What to do about a table that is refused.
    as_text : bool
        Give the cells of a CSV file as the strings that they are, empty where there is nothing.

    Raises
    ------
    ValueError
        If the file is missing or no table, or the table is not as the schema says.
    """
    path, strings = Path(path), {"dtype": str, "keep_default_na": False, "skip_blank_lines": False} if as_text else {}
    try:
        frame = pd.read_parquet(path) if path.suffix == ".parquet" else pd.read_csv(path, **strings)
    except FileNotFoundError:
        raise ValueError(f"{path} is missing; {remedy}") from None
    except (ValueError, OSError) as error:  # pyarrow's and pandas' own are ValueErrors
        raise ValueError(f"{path} cannot be read ({(str(error).splitlines() or [''])[0]}); {remedy}") from None
    if not isinstance(frame.index, pd.RangeIndex):
        raise ValueError(f"{path}: row 1 has more fields than the header; {remedy}")
    words = [name for name, column in schema.columns.items() if column.kind == "text" and name in frame]
    if words and path.suffix != ".parquet" and not as_text:  # a model may be called nan, or 007
        frame[words] = pd.read_csv(path, usecols=words, dtype=str, keep_default_na=False)[words]
    checked = check_frame(frame, schema, str(path), remedy)
    return frame if as_text else checked


def check_frame(frame: pd.DataFrame, schema: Schema, place: str, remedy: str) -> pd.DataFrame:
    """Return a table with its columns as the numbers and words that they should be.

    Parameters
    ----------
    frame : DataFrame
    schema : Schema
    place : str
        What the table is called in a complaint.
    remedy : str
        What to do about a table that is refused.

    Raises
    ------
    ValueError
        If a column is absent, or rows are not as the schema says: every fault with its row (from 1, without the
        header), model, value and rule.

    Examples
    --------
    >>> own = Schema({"model": Column("text"), "rho": Column(low=0, high=1)}, ("model",))
    >>> check_frame(pd.DataFrame({"model": ["a", "a"], "rho": [0.5, 40]}), own, "mine.csv", "correct the table")
    Traceback (most recent call last):
    ...
    ValueError: mine.csv: row 2 (a) has rho 40.0, not a number from 0 to 1; row 2 (a) is there before; correct the table
    """
    former = {old: new for old, new in schema.former.items() if old in frame and new not in frame}
    frame = frame.rename(columns=former)
    if absent := [name for name, column in schema.columns.items() if not column.optional and name not in frame]:
        raise ValueError(f"{place} has no column {', '.join(absent)}; {remedy}")
    if schema.others is None and (others := [str(name) for name in frame if name not in schema.columns]):
        raise ValueError(f"{place} has the unknown column {', '.join(others)}; {remedy}")
    checked, faults = frame.copy(), []
    for name in frame:
        column = schema.columns.get(name, schema.others or Column("anything"))
        checked[name], wrong = _convert(frame[name], column)
        faults += [(row, f"has {name} {_show(frame[name], row)}, {column.rule}") for row in _rows(wrong)]
    if not faults:  # the rules compare numbers
        for rule in schema.rules:
            faults += [(row, rule.complaint) for row in _rows(~rule.holds(checked))]
    if key := [name for name in schema.key if name in frame]:
        faults += [(row, "is there before") for row in _rows(frame.duplicated(key))]
    if faults:
        raise ValueError(f"{place}: {_describe(frame, faults)}; {remedy}")
    return checked


def _convert(values: pd.Series, column: Column) -> tuple[pd.Series, np.ndarray]:
    """Return a column as its kind has it, and which of its values are wrong."""
    if column.kind == "anything":
        return values, np.zeros(len(values), bool)
    if column.kind == "text":
        empty = (values.isna() | (values == "")).to_numpy(bool)
        other = ~values.isin(column.words).to_numpy(bool) if column.words else np.zeros(len(values), bool)
        return values.astype(str).where(~empty, ""), np.where(empty, not column.missing, other)
    numbers = values if is_numeric_dtype(values) else pd.to_numeric(values, errors="coerce")
    array = numbers.to_numpy(float, na_value=np.nan)
    empty = (values.isna() | (values == "")).to_numpy(bool) if np.isnan(array).any() else np.zeros(len(array), bool)
    fits = (array >= column.low) & (array <= column.high) & ~(np.isinf(array) & np.isfinite(column.low))
    if column.kind == "whole":
        fits &= array == np.round(array)
        numbers = numbers.astype("int64") if fits.all() else numbers
    return numbers, ~fits & ~(empty & column.missing)


def _rows(wrong: pd.Series | np.ndarray) -> list[int]:
    return np.flatnonzero(np.asarray(wrong, bool)).tolist()


def _show(values: pd.Series, row: int) -> str:
    value = values.iloc[row]
    return repr(value.item() if isinstance(value, np.generic) else value)[:80]


def _describe(frame: pd.DataFrame, faults: list[tuple[int, str]]) -> str:
    """Return the faults in the order of the rows, the first few in words."""
    faults = sorted(faults, key=lambda fault: fault[0])
    models = frame["model"] if "model" in frame else pd.Series("", frame.index)
    shown = [f"row {row + 1} ({str(models.iloc[row])[:80]}) {what}" for row, what in faults[:_NAMED]]
    return "; ".join([*shown, f"and {len(faults) - _NAMED:,} faults more"] if len(faults) > _NAMED else shown)
