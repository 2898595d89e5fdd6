"""Validate a table of counts before anything is fitted to it."""

import numbers

import numpy as np
import pandas as pd

from cogniload_repro.regression.formulas import COVARIATES, FACTORS, name_covariates

#: Largest count accepted.
MOST_ANSWERS = 10**6
_NUMBERS_OF_ANSWERS = ["correct", "total"]


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
    covariates = [name for name in COVARIATES if name in given]
    checked = given.copy()
    for name in [*covariates, *_NUMBERS_OF_ANSWERS]:
        checked[name] = pd.to_numeric(given[name].astype(object), errors="coerce")
    _check_names(given)
    for name in covariates:
        _check_covariate(given, checked[name])
    _check_counts(given, checked["correct"], checked["total"])
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


def _check_names(cells: pd.DataFrame) -> None:
    """Refuse models whose name is no text."""
    is_nameless = [not isinstance(name, str) or not name for name in cells["model"]]
    rule = "does not name its model: it has {model}, not a name"
    _refuse(cells, pd.Series(is_nameless), rule)


def _check_covariate(given: pd.DataFrame, values: pd.Series) -> None:
    """Refuse words and infinite values; the status of a fit reports missing ones."""
    name = values.name
    has = f"has {name} {{{name}}}: "
    _refuse(given, values.isna() & given[name].notna(), has + "not a number")
    _refuse(given, np.isinf(values), has + "not a finite number")
    _refuse(given, (values <= 0) & (name == "N"), has + "not above 0")


def _check_counts(
    given: pd.DataFrame,
    correct: pd.Series,
    total: pd.Series,
) -> None:
    """Refuse counts unless they are whole numbers with 0 <= correct <= total."""
    rules = {
        "not a whole number": (correct % 1 != 0) | (total % 1 != 0),
        "counts may not be negative": (correct < 0) | (total < 0),
        "more correct answers than answers": correct > total,
        f"counts may not exceed {MOST_ANSWERS:,}": total > MOST_ANSWERS,
    }
    for rule, faults in rules.items():
        _refuse(given, faults, "has {correct} correct of {total} answers: " + rule)


def _check_repetitions(cells: pd.DataFrame, covariates: list[str]) -> None:
    """Refuse a second row of the same model and configuration."""
    names = [
        "reconstruction",
        "model",
        *covariates,
        *FACTORS,
    ]
    keys = [name for name in names if name in cells]
    if not {*covariates, *FACTORS} & {*keys}:
        return
    values = ", ".join(f"{name} {{{name}}}" for name in keys)
    rule = f"repeats a configuration ({values}); add up its counts by groupby"
    is_repeated = cells[cells["total"] > 0].duplicated(keys)
    _refuse(cells, is_repeated.reindex(cells.index, fill_value=False), rule)


def _refuse(
    cells: pd.DataFrame,
    faults: pd.Series,
    rule: str,
) -> None:
    """Raise ValueError for the first faulty row, whose values fill the rule."""
    if faults.any():
        row = int(faults.argmax())
        values = {name: _show(cells[name].iloc[row]) for name in cells}
        raise ValueError(f"row {row} of the cells {rule.format_map(values)}")


def _show(value: object) -> str:
    """Return a value as text for a message: numbers in short form, others as their repr."""
    if isinstance(value, numbers.Real):
        return f"{value:g}" if isinstance(value, float) else str(value)
    return f"{value!r:.60}"
