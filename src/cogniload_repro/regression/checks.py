"""Validate a table of counts before anything is fitted to it."""

import numbers

import numpy as np
import pandas as pd
from pandas.api.types import is_bool_dtype, is_complex_dtype, is_numeric_dtype

from cogniload_repro.regression.formulas import name_covariates
from cogniload_repro.regression.syntax import COVARIATES

#: Largest count accepted: beyond it, a fit would lose digits to rounding.
MOST_ANSWERS = 10**12
_COUNTS = ("correct", "total")


def check_cells(cells: pd.DataFrame, *formulas: str) -> pd.DataFrame:
    """Validate a table of counts and return it with numbers in every column that a fit uses.

    Parameters
    ----------
    cells : DataFrame
        One row per configuration, or per answer: model, total (answers), correct and covariates.
    *formulas : str
        The formulas of the regressions to be fitted.

    Returns
    -------
    DataFrame
        The same rows, indexed from 0; covariates and counts are numbers, a missing covariate is
        NaN.

    Raises
    ------
    ValueError
        If a column is missing or duplicated, or a value is invalid. The message names the value
        and its row, counted from 0.
    """
    if not isinstance(cells, pd.DataFrame):
        raise ValueError(f"the cells are a {type(cells).__name__}; pass a DataFrame")
    _check_columns(cells, formulas)
    checked = cells.reset_index(drop=True)
    _check_models(checked["model"])
    for name in COVARIATES:
        if name in checked:
            checked[name] = _check_covariate(checked[name])
    _check_counts(checked)
    for name in _COUNTS:
        checked[name] = _as_numbers(checked[name])
    return checked


def _check_columns(cells: pd.DataFrame, formulas: tuple[str, ...]) -> None:
    """Raise ValueError if there are no rows, or if a column is missing or duplicated."""
    repeated = cells.columns[cells.columns.duplicated()]
    if len(repeated):
        raise ValueError(
            f"the cells have the column {repeated[0]} twice; keep one of them"
        )
    present = {*cells.columns}
    if "N" in present:
        present.add("log10_N")
    needed = ["model", "total", "correct"]
    for formula in formulas:
        needed += [name for name in name_covariates(formula) if name not in needed]
    absent = [name for name in needed if name not in present]
    if absent:
        names = ", ".join(map(str, cells.columns))
        raise ValueError(
            f"the cells have no column {', '.join(absent)}; they have {names}"
        )
    if cells.empty:
        raise ValueError("the cells have no rows")


def _check_models(models: pd.Series) -> None:
    """Raise ValueError if the model of a row is missing, empty or not a string."""
    is_name = [isinstance(model, str) and model != "" for model in models]
    row = _find_first(~np.array(is_name))
    if row is not None:
        model = _show(models.iloc[row])
        raise ValueError(
            f"row {row} of the cells does not name its model: it has {model}, not a name"
        )


def _check_covariate(column: pd.Series) -> pd.Series:
    """Return a covariate as numbers; missing values are allowed, the fit's status reports them."""
    values = _as_numbers(column)
    rules = {
        "not a number": _find_words(column),
        "not a finite number": np.isinf(values),
        "not above 0": (values <= 0) & (column.name == "N"),
    }
    for rule, faults in rules.items():
        row = _find_first(faults)
        if row is not None:
            value = _show(column.iloc[row])
            raise ValueError(
                f"row {row} of the cells has {column.name} {value}: {rule}"
            )
    return values


def _check_counts(cells: pd.DataFrame) -> None:
    """Raise ValueError unless all counts are whole numbers with 0 <= correct <= total."""
    correct = _as_numbers(cells["correct"])
    total = _as_numbers(cells["total"])
    rules = {
        "not a number": _find_words(cells["correct"]) | _find_words(cells["total"]),
        "not a whole number": ~(_is_whole(correct) & _is_whole(total)),
        "counts may not be negative": (correct < 0) | (total < 0),
        "more correct answers than answers": correct > total,
        f"counts may not exceed {MOST_ANSWERS:,}": total > MOST_ANSWERS,
    }
    for rule, faults in rules.items():
        row = _find_first(faults)
        if row is not None:
            counts = [_show(cells[name].iloc[row]) for name in _COUNTS]
            raise ValueError(
                f"row {row} of the cells has {counts[0]} correct of {counts[1]} answers: {rule}"
            )


def _as_numbers(column: pd.Series) -> pd.Series:
    """Return a column as numbers, with NaN for missing and non-numeric values."""
    if is_bool_dtype(column):  # single answers, right or wrong
        return column.astype(float)
    if _holds_numbers(column):
        is_plain = isinstance(column.dtype, np.dtype)
        return (
            column if is_plain else pd.Series(column.to_numpy(float, na_value=np.nan))
        )
    return pd.Series([_as_float(value) for value in column], dtype=float)


def _as_float(value: object) -> float:
    if not isinstance(value, numbers.Real):
        return np.nan
    try:
        return float(value)
    except OverflowError:
        return np.inf


def _holds_numbers(column: pd.Series) -> bool:
    return is_numeric_dtype(column) and not is_complex_dtype(column)


def _find_words(column: pd.Series) -> pd.Series:
    """Return a mask of the values that are neither numbers nor missing."""
    if _holds_numbers(column):
        return pd.Series(False, range(len(column)))
    is_number = [isinstance(value, numbers.Real) for value in column]
    return pd.Series(~np.array(is_number)) & column.notna()


def _is_whole(values: pd.Series) -> pd.Series:
    return np.isfinite(values) & (values == values.round())


def _find_first(faults: pd.Series | np.ndarray) -> int | None:
    """Return the position of the first row with a fault, None if there is none."""
    places = np.flatnonzero(faults)
    return int(places[0]) if len(places) else None


def _show(value: object) -> str:
    """Return a value as text for a message: numbers in short form, others as their repr."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, numbers.Real):
        return f"{value:g}" if isinstance(value, float) else str(value)
    return f"{value!r:.60}"
