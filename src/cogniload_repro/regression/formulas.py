"""Read regression formulas and build their design matrices.

formulaic parses and evaluates a formula, after `syntax` has checked its contents. Formulas that
formulaic would silently read as another regression are rejected here: it takes rho**2 for rho, and
drops d - d.
"""

import re
import warnings
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import lru_cache
from typing import NamedTuple, TypeAlias

import formulaic
import numpy as np
import pandas as pd
from formulaic.errors import DataMismatchWarning, FormulaicError
from formulaic.formula import SimpleFormula
from formulaic.parser.types import ASTNode

from cogniload_repro.regression.syntax import (
    COVARIATES,
    FACTORS,
    Tree,
    first_line,
    name_columns,
    read_tree,
)

#: formulaic knows sqrt only as np.sqrt.
_SQRT = re.compile(r"(?<![\w.])sqrt\(")
#: A level of a factor that is a whole number, as formulaic writes it.
_WHOLE_LEVEL = re.compile(r"(\[(?:T\.)?-?\d+)\.0\]")

#: Columns of a table by name, as a hashable cache key.
Columns: TypeAlias = tuple[tuple[str, bytes | tuple[str, ...]], ...]


class Formula(NamedTuple):
    """The terms of a regression, and the covariates and factors in them."""

    terms: SimpleFormula
    columns: tuple[str, ...]


def read_formula(formula: str) -> Formula:
    """Read ``correct ~ ...`` without evaluating it; a ValueError quotes it with its fault."""
    if not isinstance(formula, str):
        raise ValueError(
            f"{formula!r:.60} is not a formula; write one such as 'correct ~ d + rho'"
        )
    try:
        return _read_formula(formula)
    except ValueError as error:
        raise ValueError(f"formula {_quote(formula)} {error}") from None


def _quote(formula: str) -> str:
    """Return a formula in quotation marks, truncated if it is too long for a message."""
    return repr(formula if len(formula) <= 300 else f"{formula[:60]}...")


@lru_cache(maxsize=256)
def _read_formula(formula: str) -> Formula:
    response, tilde, right = formula.partition("~")
    if not tilde or response.strip() != "correct" or not right.strip():
        raise ValueError(f"must read 'correct ~ ...' over {', '.join(COVARIATES)}")
    right = _SQRT.sub("np.sqrt(", right)
    tree = read_tree(right)
    try:
        terms = formulaic.Formula(right)
    except Exception as error:  # formulaic raises many types for invalid formulas
        raise ValueError(f"cannot be read: {first_line(error)}") from None
    if not isinstance(terms, SimpleFormula):
        raise ValueError("has more than one right side; write one regression")
    _refuse_losses(tree)
    return Formula(terms, name_columns(tree))


def _refuse_losses(tree: Tree) -> None:
    """Reject a formula if formulaic would silently drop a part of it."""
    if not isinstance(tree, ASTNode):
        return
    for part in tree.args:
        _refuse_losses(part)
    symbol = tree.operator.symbol
    if symbol in ("**", "^"):
        _refuse_lost_power(*tree.args)
    elif symbol in (":", "*", "/", "in"):
        _refuse_repeated_factor(*tree.args)
    elif symbol == "-" and len(tree.args) == 2:
        _refuse_lost_term(*tree.args)


def _refuse_lost_power(base: Tree, exponent: Tree) -> None:
    terms = list(base.to_terms())
    if len(terms) == 1:
        raise ValueError(_advise_power(str(terms[0]), str(exponent)))


def _refuse_repeated_factor(first: Tree, second: Tree) -> None:
    repeated = _name_factors(first) & _name_factors(second)
    if repeated:
        raise ValueError(_advise_power(min(repeated), "2"))


def _name_factors(tree: Tree) -> set[str]:
    factors = [factor for term in tree.to_terms() for factor in term.factors]
    return {str(factor) for factor in factors}


def _advise_power(factor: str, power: str) -> str:
    return (
        f"multiplies {factor} by itself, which in a formula is just {factor}; "
        f"write I({factor}**{power})"
    )


def _refuse_lost_term(minuend: Tree, subtrahend: Tree) -> None:
    """Reject the subtraction of a term that is absent or was itself added (d - d)."""
    present = set(minuend.to_terms())
    summands = _name_summands(minuend)
    for term in subtrahend.to_terms():
        is_intercept = str(term) == "1"
        if not is_intercept and (term not in present or str(term) in summands):
            raise ValueError(
                f"subtracts {term}, so that it is not fitted at all; leave it out"
            )


def _name_summands(tree: Tree) -> set[str]:
    """Return the terms that are summands as written, not the result of expanding a product."""
    if not isinstance(tree, ASTNode):
        return {str(tree)}
    symbol = tree.operator.symbol
    if symbol == ":":
        return {str(term) for term in tree.to_terms()}
    if symbol == "+":
        return {name for part in tree.args for name in _name_summands(part)}
    if symbol == "-":
        return _name_summands(tree.args[0])
    return set()


def name_covariates(formula: str) -> tuple[str, ...]:
    """Return the covariates and factors that a formula names."""
    return read_formula(formula).columns


def build_design(
    cells: pd.DataFrame,
    formula: str,
) -> tuple[pd.DataFrame, formulaic.ModelSpec]:
    """Return a formula's design matrix, and the specification that builds it for other cells.

    All values are finite. Columns are named after their terms.
    """
    columns = _freeze_columns(add_logarithm(cells), name_covariates(formula))
    design, spec = _build_design(formula, columns, len(cells))
    return design.copy(), spec


@lru_cache(maxsize=64)
def _build_design(
    formula: str,
    columns: Columns,
    rows: int,
) -> tuple[pd.DataFrame, formulaic.ModelSpec]:
    """Build a design matrix; it is cached, since many models have the same cells."""
    terms = read_formula(formula).terms
    covariates = _thaw_columns(columns, rows)
    try:
        with _strictly():
            matrix = formulaic.model_matrix(
                terms, covariates, na_action="ignore", context={"np": np}
            )
            design = pd.DataFrame(matrix).astype(float)
    except Exception as error:  # transforms raise many types for invalid arguments
        names = ", ".join(COVARIATES)
        raise ValueError(
            f"formula {_quote(formula)} cannot be built from {names}: {first_line(error):.300}"
        ) from None
    is_finite = np.isfinite(design.to_numpy()).all()
    if not len(design.columns) or not is_finite:
        raise ValueError(
            f"formula {_quote(formula)} has no term, or one that is not finite in every cell; "
            "write terms that are finite in all cells"
        )
    design.columns = [_WHOLE_LEVEL.sub(r"\1]", term) for term in design.columns]
    return design, matrix.model_spec


def _freeze_columns(cells: pd.DataFrame, names: Sequence[str]) -> Columns:
    """Return the named columns that the cells have, as a hashable cache key."""
    present = [name for name in names if name in cells]
    return tuple((name, _freeze_column(cells[name])) for name in present)


def _freeze_column(column: pd.Series) -> bytes | tuple[str, ...]:
    """Return a numeric column as bytes, a factor as a tuple of levels with "" if missing."""
    if column.name in FACTORS:
        words = column.astype(object).where(column.notna(), "")
        return tuple(words.astype(str))
    return column.to_numpy(float).tobytes()


def _thaw_columns(columns: Columns, rows: int) -> pd.DataFrame:
    """Return the table whose columns are in a key of `_freeze_columns`.

    All numbers are floats, because powers of integers may overflow.
    """
    table = pd.DataFrame(index=range(rows))
    for name, column in columns:
        if isinstance(column, bytes):
            table[name] = np.frombuffer(column)
        else:
            table[name] = list(column)
    return table


@contextmanager
def _strictly() -> Iterator[None]:
    """Raise an error for unknown factor levels; formulaic would code them as the reference."""
    # values that are not finite are rejected later
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", DataMismatchWarning)
        yield


def expand_design(
    cells: pd.DataFrame,
    spec: formulaic.ModelSpec,
) -> np.ndarray:
    """Return the design matrix for other cells; ValueError for factor levels not fitted."""
    columns = _freeze_columns(add_logarithm(cells), (*COVARIATES, *FACTORS))
    covariates = _thaw_columns(columns, len(cells))
    try:
        with _strictly():
            design = spec.get_model_matrix(covariates, context={"np": np})
    except (DataMismatchWarning, FormulaicError) as error:
        raise ValueError(
            f"the fit does not cover all of these cells: {first_line(error)}"
        ) from None
    return np.asarray(design, dtype=float)


def add_logarithm(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with log10_N, if they have N."""
    if "N" not in cells:
        return cells
    lengths = cells["N"].astype(float)
    return cells.assign(log10_N=np.log10(lengths))
