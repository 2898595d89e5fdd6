"""Validate a table of counts before anything is fitted to it."""

import numbers
from collections.abc import Iterator

import pandas as pd

from cogniload_repro.regression.formulas import (
    COVARIATES,
    add_logarithm,
    name_covariates,
)


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
        The same rows, indexed from 0; covariates and counts are numbers. A covariate that no
        formula names may be missing; log10_N is that of N, where the cells have N.

    Raises
    ------
    ValueError
        If a column is missing, a value is invalid, or a configuration of a model stands twice. The
        message names the value and its row, counted from 0.
    """
    text = " ".join(formulas)
    given = cells.reset_index(drop=True)
    if "N" in given:
        text = text.replace("log10_N", "N")
        given = given.drop(columns="log10_N", errors="ignore")
    named = name_covariates(text)
    _check_columns(given, named)
    checked = given.copy()
    covariates = [name for name in COVARIATES if name in given]
    for name in [*covariates, "correct", "total"]:
        values = given[name].astype(object)
        checked[name] = pd.to_numeric(values, errors="coerce")
    for rule, is_broken in _list_rules(given, checked, covariates, named):
        if is_broken.any():
            row = int(is_broken.argmax())
            values = given.iloc[row].map(_show)
            raise ValueError(f"row {row} of the cells {rule.format_map(values)}")
    return add_logarithm(checked)


def _check_columns(cells: pd.DataFrame, named: list[str]) -> None:
    """Raise ValueError if there are no rows, or if a column is missing."""
    needed = ["model", "total", "correct", *named]
    absent = [name for name in needed if name not in cells]
    if absent:
        names = ", ".join(map(str, cells.columns))
        raise ValueError(
            f"the cells have no column {', '.join(absent)}; they have {names}"
        )
    if cells.empty:
        raise ValueError("the cells have no rows")


def _list_rules(
    given: pd.DataFrame,
    checked: pd.DataFrame,
    covariates: list[str],
    named: list[str],
) -> Iterator[tuple[str, pd.Series]]:
    """Yield what is wrong with a row, its values in braces, and the rows with which it is wrong."""
    is_name = [isinstance(name, str) and name != "" for name in given["model"]]
    yield (
        "does not name its model: it has {model}, not a name",
        ~pd.Series(is_name, dtype=bool),
    )
    for name in covariates:
        values = checked[name]
        has = f"has {name} {{{name}}}: "
        is_optional = given[name].isna() & (name not in named)
        yield has + "not a number", values.isna() & ~is_optional
    correct = checked["correct"]
    total = checked["total"]
    has = "has {correct} correct of {total} answers: "
    yield has + "not a whole number", (correct % 1 != 0) | (total % 1 != 0)
    yield has + "counts may not be negative", (correct < 0) | (total < 0)
    yield has + "more correct answers than answers", correct > total
    loads = [name for name in covariates if name in given]
    keys = [name for name in ("reconstruction", "model") if name in given]
    keys += loads
    values = ", ".join(f"{name} {{{name}}}" for name in keys)
    is_repeated = checked[total > 0].duplicated(keys) & bool(loads)
    yield (
        f"repeats a configuration ({values}); add up its counts by groupby",
        is_repeated.reindex(checked.index, fill_value=False),
    )


def _show(value: object) -> str:
    """Return a value as text for a message: numbers in short form, others as their repr."""
    is_number = isinstance(value, numbers.Real)
    return f"{value:g}" if is_number else f"{value!r:.60}"
