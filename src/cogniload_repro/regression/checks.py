"""Validate a table of counts before anything is fitted to it."""

import numbers

import numpy as np
import pandas as pd
from pandas.api.types import is_complex_dtype, is_numeric_dtype

from cogniload_repro.regression.formulas import COVARIATES, FACTORS, name_covariates

#: Largest count accepted: beyond it, a fit would lose digits to rounding.
MOST_ANSWERS = 10**12
_COUNTS = ["correct", "total"]


def check_cells(cells: pd.DataFrame, *formulas: str) -> pd.DataFrame:
    """Validate a table of counts and return it with numbers in every column that a fit uses.

    Parameters
    ----------
    cells : DataFrame
        One row per model and configuration: model, total (answers), correct and covariates. With a
        column reconstruction, one such table per reconstruction.
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
        If a column is missing or duplicated, a value is invalid, or a configuration of a model
        stands twice. The message names the value and its row, counted from 0.
    """
    if not isinstance(cells, pd.DataFrame):
        raise ValueError(f"the cells are a {type(cells).__name__}; pass a DataFrame")
    _check_columns(cells, formulas)
    given = cells.reset_index(drop=True)
    is_nameless = [not isinstance(name, str) or not name for name in given["model"]]
    _refuse(
        given,
        pd.Series(is_nameless),
        "does not name its model: it has {model}, not a name",
    )
    covariates = [name for name in COVARIATES if name in given]
    values = {name: _as_numbers(given[name]) for name in [*covariates, *_COUNTS]}
    checked = given.assign(**values)
    for name in covariates:
        _check_covariate(given, checked[name])
    _check_counts(given, checked[_COUNTS])
    _check_repetitions(checked, covariates)
    return checked


def _check_columns(cells: pd.DataFrame, formulas: tuple[str, ...]) -> None:
    """Raise ValueError if there are no rows, or if a column is missing or duplicated."""
    repeated = cells.columns[cells.columns.duplicated()]
    if len(repeated):
        raise ValueError(
            f"the cells have the column {repeated[0]} twice; keep one of them"
        )
    needed = ["model", "total", "correct"]
    for formula in formulas:
        needed += name_covariates(formula)
    absent = [name for name in dict.fromkeys(needed) if name not in cells]
    if "N" in cells and "log10_N" in absent:
        absent.remove("log10_N")
    if absent:
        names = ", ".join(map(str, cells.columns))
        raise ValueError(
            f"the cells have no column {', '.join(absent)}; they have {names}"
        )
    if cells.empty:
        raise ValueError("the cells have no rows")


def _check_covariate(given: pd.DataFrame, values: pd.Series) -> None:
    """Refuse words and infinite values; the status of a fit reports missing ones."""
    name = values.name
    has = f"has {name} {{{name}}}: "
    _refuse(given, values.isna() & given[name].notna(), has + "not a number")
    _refuse(given, np.isinf(values), has + "not a finite number")
    _refuse(given, (values <= 0) & (name == "N"), has + "not above 0")


def _check_counts(given: pd.DataFrame, counts: pd.DataFrame) -> None:
    """Refuse counts unless they are whole numbers with 0 <= correct <= total."""
    is_word = counts.isna() & given[_COUNTS].notna()
    rules = {
        "not a number": is_word.any(axis=1),
        "not a whole number": (counts % 1 != 0).any(axis=1),
        "counts may not be negative": (counts < 0).any(axis=1),
        "more correct answers than answers": counts["correct"] > counts["total"],
        f"counts may not exceed {MOST_ANSWERS:,}": counts["total"] > MOST_ANSWERS,
    }
    for rule, faults in rules.items():
        _refuse(given, faults, "has {correct} correct of {total} answers: " + rule)


def _check_repetitions(cells: pd.DataFrame, covariates: list[str]) -> None:
    """Refuse a second row of the same model and configuration."""
    loads = [name for name in (*covariates, *FACTORS) if name in cells]
    keys = [name for name in ("reconstruction", "model", *loads) if name in cells]
    values = [f"{name} {{{name}}}" for name in keys]
    repeats = f"repeats a configuration ({', '.join(values)}); add up its counts"
    answered = cells[cells["total"] > 0]
    is_second = answered.duplicated(keys).reindex(cells.index, fill_value=False)
    _refuse(cells, is_second & bool(loads), repeats)


def _as_numbers(column: pd.Series) -> pd.Series:
    """Return a column as numbers, with NaN for whatever is none."""
    if is_numeric_dtype(column) and not is_complex_dtype(column):
        if isinstance(column.dtype, np.dtype) and column.dtype != bool:
            return column
        return pd.Series(column.to_numpy(float, na_value=np.nan))
    return pd.Series([_as_float(value) for value in column], dtype=float)


def _as_float(value: object) -> float:
    if not isinstance(value, numbers.Real):
        return np.nan
    return float(min(value, 10**300))  # type: ignore[arg-type]  # no overflow


def _refuse(cells: pd.DataFrame, faults: pd.Series, sentence: str) -> None:
    """Raise ValueError for the first faulty row, whose values fill the sentence."""
    if faults.any():
        row = int(faults.argmax())
        values = {name: _show(cells[name].iloc[row]) for name in cells}
        raise ValueError(f"row {row} of the cells {sentence.format_map(values)}")


def _show(value: object) -> str:
    """Return a value as text for a message: numbers in short form, others as their repr."""
    if isinstance(value, np.generic):
        value = value.item()
    if isinstance(value, numbers.Real):
        return f"{value:g}" if isinstance(value, float) else str(value)
    return f"{value!r:.60}"
