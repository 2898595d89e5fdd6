"""What a regression formula may say, and the columns that it stands for.

formulaic runs parts of a formula as Python. Formulas may come from strangers, so each part is read as a syntax tree
first, and nothing is evaluated but arithmetic on the covariates and the functions listed here.
"""

import ast
import re
from functools import lru_cache

import formulaic
import numpy as np
import pandas as pd
from formulaic.formula import SimpleFormula

#: Names of the covariates.
COVARIATES = ("d", "N", "log10_N", "rho", "ratio_pct", "needles", "prompt_mean")
#: Functions that may be called, those of numpy with their prefix.
FUNCTIONS = (
    "I", "C", "bs", "cr", "cc", "poly", "center", "scale", "log", "log2", "log10", "exp",
    "np.log", "np.log2", "np.log10", "np.log1p", "np.sqrt", "np.exp", "np.abs", "np.minimum", "np.maximum",
)  # fmt: skip
_SPLINES = ("bs", "cr", "cc", "poly")
_HARMLESS = (
    ast.Expression, ast.Constant, ast.BinOp, ast.UnaryOp, ast.operator, ast.unaryop, ast.Compare, ast.cmpop, ast.List,
    ast.Tuple, ast.keyword, ast.expr_context,
)  # fmt: skip
#: Bounds on what a formula may ask for, so that it is fitted in seconds or refused.
_LARGEST_POWER, _LARGEST_DF, _MOST_TERMS = 6, 20, 200
_POWER = re.compile(r"(?:\*\*|\^)[\s(]*(\d+)")


@lru_cache(maxsize=256)
def read_formula(formula: str) -> SimpleFormula:
    """Read the right side of a formula without evaluating anything.

    Parameters
    ----------
    formula : str
        ``correct ~ ...`` over `COVARIATES` and `FUNCTIONS`.

    Raises
    ------
    ValueError
        If it has another form, or says anything else; the sentence quotes it.
    """
    left, tilde, right = formula.partition("~")
    if not tilde or left.strip() != "correct" or not right.strip():
        raise ValueError(f"formula {formula!r} must read 'correct ~ ...' over {', '.join(COVARIATES)}")
    if any(int(power) > _LARGEST_POWER for power in _POWER.findall(right)):
        raise ValueError(f"formula {formula!r} has a power above {_LARGEST_POWER}; choose a smaller one")
    try:
        parsed = formulaic.Formula(right)
    except Exception as error:  # formulaic raises many types, all of them for text that is no formula
        raise ValueError(f"formula {formula!r} cannot be read: {_first_line(error)}") from None
    if not isinstance(parsed, SimpleFormula):
        raise ValueError(f"formula {formula!r} has more than one right side; write one regression")
    if len(parsed) > _MOST_TERMS:
        raise ValueError(f"formula {formula!r} has {len(parsed)} terms; use at most {_MOST_TERMS}")
    for part in {factor.expr for term in parsed for factor in term.factors}:
        _check_part(part, formula)
    return parsed


def _check_part(part: str, formula: str) -> None:
    """Refuse a part that is more than arithmetic on covariates and calls of the listed functions."""
    try:
        tree = ast.parse(part, mode="eval")
    except (SyntaxError, ValueError) as error:
        raise ValueError(f"formula {formula!r} cannot be read at {part!r}: {_first_line(error)}") from None
    called = {node.func for node in ast.walk(tree) if isinstance(node, ast.Call)}
    for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
        numbers = [node.value for node in ast.walk(call) if isinstance(node, ast.Constant)]
        if ast.unparse(call.func) in _SPLINES and any(isinstance(n, int) and n > _LARGEST_DF for n in numbers):
            raise ValueError(
                f"formula {formula!r} asks {call.func.id}() for more than {_LARGEST_DF} columns; use fewer"
            )
    inner = {node.value for node in called if isinstance(node, ast.Attribute)}
    for node in ast.walk(tree):
        if isinstance(node, (ast.Call, *_HARMLESS)) or node in inner:
            if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
                _check_power(node, formula)
            continue
        word = ast.unparse(node)
        if word not in (FUNCTIONS if node in called else COVARIATES):
            raise ValueError(
                f"formula {formula!r} says {word!r}, which is neither a covariate ({', '.join(COVARIATES)}) "
                f"nor a call of a known function ({', '.join(FUNCTIONS)})"
            )


def _check_power(node: ast.BinOp, formula: str) -> None:
    power = node.right.operand if isinstance(node.right, ast.UnaryOp) else node.right
    if not isinstance(power, ast.Constant) or not isinstance(power.value, int | float) or power.value > _LARGEST_POWER:
        raise ValueError(f"formula {formula!r} has a power that is not a number up to {_LARGEST_POWER}; change it")


@lru_cache(maxsize=256)
def name_covariates(formula: str) -> tuple[str, ...]:
    """Return the covariates that a formula names."""
    required = read_formula(formula).required_variables
    return tuple(name for name in COVARIATES if name in required)


def build_design(cells: pd.DataFrame, formula: str) -> tuple[pd.DataFrame, formulaic.ModelSpec]:
    """Return a formula's columns at each row of the cells, and how to build them at other rows.

    Raises
    ------
    ValueError
        If the formula cannot be read, names something that the cells do not have, or is not finite somewhere.
    """
    cells, named = add_logarithm(cells), name_covariates(formula)
    known = [name for name in COVARIATES if name in cells]
    if absent := [name for name in named if name not in known]:
        raise ValueError(f"formula {formula!r} names {', '.join(absent)}; these cells have only {', '.join(known)}")
    # by their letters: what is required inside of a spline, formulaic does not tell
    columns = ((name, cells[name].to_numpy()) for name in known if name in formula)
    values = tuple((name, column.dtype.str, column.tobytes()) for name, column in columns)
    design, spec = _build_design(formula, values, len(cells))
    return design.copy(), spec


@lru_cache(maxsize=64)
def _build_design(
    formula: str, values: tuple[tuple[str, str, bytes], ...], rows: int
) -> tuple[pd.DataFrame, formulaic.ModelSpec]:
    """Build a design once for all models with the same cells: half the time of a fit goes into it."""
    covariates = pd.DataFrame(
        {name: np.frombuffer(content, dtype) for name, dtype, content in values}, index=range(rows)
    )
    try:
        with np.errstate(all="ignore"):  # what is not finite is refused below
            matrix = formulaic.model_matrix(read_formula(formula), covariates, na_action="ignore", context={"np": np})
        design = pd.DataFrame(matrix).astype(float)
    except Exception as error:  # functions refuse their arguments with many types
        named = ", ".join(covariates)
        raise ValueError(f"formula {formula!r} cannot be built from {named}: {_first_line(error)}") from None
    if design.shape[1] == 0 or not np.isfinite(design.to_numpy()).all():
        raise ValueError(f"formula {formula!r} has no term, or one that is not finite in every cell; change it")
    return design, matrix.model_spec


def expand_design(cells: pd.DataFrame, spec: formulaic.ModelSpec) -> np.ndarray:
    """Return the design matrix at other rows; knots and levels stay those of the fit."""
    return np.asarray(spec.get_model_matrix(add_logarithm(cells), context={"np": np}), dtype=float)


def add_logarithm(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with log10_N, if they have N."""
    return cells.assign(log10_N=np.log10(cells["N"].astype(float))) if "N" in cells else cells


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
