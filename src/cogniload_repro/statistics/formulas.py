"""What a regression formula may name, and the columns that it stands for.

formulaic reads and evaluates formulas. Refused is what would silently be another regression: rho**2 is rho, and d - d
is nothing.
"""

import re
import warnings
from functools import lru_cache

import formulaic
import numpy as np
import pandas as pd
from formulaic.errors import DataMismatchWarning, FormulaicError
from formulaic.formula import SimpleFormula
from formulaic.parser import DefaultFormulaParser
from formulaic.parser.types import ASTNode, Token

#: Names of the covariates.
COVARIATES = ("d", "N", "log10_N", "rho", "ratio_pct", "needles", "prompt_mean")
#: Columns of words, which stand for nothing but the levels of a factor: C(perturbation).
FACTORS = ("perturbation",)
_WHOLE_LEVEL = re.compile(r"(\[(?:T\.)?-?\d+)\.0\]")


@lru_cache(maxsize=256)
def read_formula(formula: str) -> SimpleFormula:
    """Read the right side of ``correct ~ ...`` without evaluating it; a ValueError quotes what it refuses."""
    left, tilde, right = formula.partition("~")
    if not tilde or left.strip() != "correct" or not right.strip():
        raise ValueError(
            f"formula {formula!r} must read 'correct ~ ...' over {', '.join(COVARIATES)}"
        )
    try:
        silent = _find_silent(DefaultFormulaParser().get_ast(right))
        parsed = silent or formulaic.Formula(right)
    except (
        Exception
    ) as error:  # formulaic raises many types, all of them for text that is no formula
        raise ValueError(f"formula {formula!r} cannot be read: {_first_line(error)}") from None
    if silent:
        raise ValueError(f"formula {formula!r} {silent}")
    if not isinstance(parsed, SimpleFormula):
        raise ValueError(f"formula {formula!r} has more than one right side; write one regression")
    return parsed


def _find_silent(node: "Token | ASTNode") -> str:
    """Return what would be fitted as something else than a formula says, or ""."""
    if not isinstance(node, ASTNode):
        return ""
    if found := next(filter(None, map(_find_silent, node.args)), ""):
        return found
    symbol, terms = node.operator.symbol, [list(arg.to_terms()) for arg in node.args]
    if symbol in ("**", "^") and len(terms[0]) == 1:
        return _name_power(str(terms[0][0]), str(node.args[1]))
    if symbol in (":", "*", "/", "in"):
        one, other = ({str(factor) for term in side for factor in term.factors} for side in terms)
        if shared := sorted(one & other):
            return _name_power(shared[0], "2")
    if symbol == "-" and len(terms) == 2:
        written, there = _summands(node.args[0]), set(terms[0])
        if gone := [
            str(term)
            for term in terms[1]
            if str(term) != "1" and (term not in there or str(term) in written)
        ]:
            return f"subtracts {gone[0]}, so that nothing of it is fitted; leave it out"
    return ""


def _summands(node: "Token | ASTNode") -> set[str]:
    """Return the terms that stand in a sum as they are, not in a product."""
    if not isinstance(node, ASTNode):
        return {str(node)}
    if node.operator.symbol not in "+-":
        return {str(term) for term in node.to_terms()} if node.operator.symbol == ":" else set()
    return {
        name for arg in node.args[: 1 + (node.operator.symbol == "+")] for name in _summands(arg)
    }


def _name_power(factor: str, power: str) -> str:
    return (
        f"has {factor} times itself, which a formula takes for {factor}; write I({factor}**{power})"
    )


@lru_cache(maxsize=256)
def name_covariates(formula: str) -> tuple[str, ...]:
    """Return the covariates that a formula names."""
    required = read_formula(formula).required_variables
    return tuple(name for name in (*COVARIATES, *FACTORS) if name in required)


def check_cells(cells: pd.DataFrame, *formulas: str) -> None:
    """Raise ValueError for cells without rows, or without a column that a regression of their counts needs."""
    needed = dict.fromkeys(
        ("model", "total", "correct", *(name for one in formulas for name in name_covariates(one)))
    )
    cells = add_logarithm(cells)
    if absent := [name for name in needed if name not in cells]:
        raise ValueError(
            f"the cells have no column {', '.join(absent)}; they have {', '.join(map(str, cells))}"
        )
    if not len(cells) or cells["model"].isna().any():
        raise ValueError(
            "the cells have no rows" if not len(cells) else "some cells do not name their model"
        )


def build_design(cells: pd.DataFrame, formula: str) -> tuple[pd.DataFrame, formulaic.ModelSpec]:
    """Return a formula's columns at each row of the cells, all finite, and how to build them at other rows."""
    cells = add_logarithm(cells)
    # by substring: formulaic does not report variables inside a spline
    known = [name for name in (*COVARIATES, *FACTORS) if name in cells and name in formula]
    values = tuple((name, freeze(cells, name)) for name in known)
    design, spec = _build_design(formula, values, len(cells))
    return design.copy(), spec


@lru_cache(maxsize=64)
def _build_design(
    formula: str, values: tuple[tuple[str, bytes | tuple[str, ...]], ...], rows: int
) -> tuple[pd.DataFrame, formulaic.ModelSpec]:
    """Build a design once for all models with the same cells, of floats: powers may be larger than integers can be."""
    columns = {
        name: np.frombuffer(held) if isinstance(held, bytes) else list(held)
        for name, held in values
    }
    covariates, parsed = pd.DataFrame(columns, index=range(rows)), read_formula(formula)
    try:
        with (
            np.errstate(all="ignore"),
            warnings.catch_warnings(),
        ):  # what is not finite is refused below
            warnings.simplefilter("ignore")
            matrix = formulaic.model_matrix(
                parsed, covariates, na_action="ignore", context={"np": np}
            )
            design = pd.DataFrame(matrix).astype(float)
    except Exception as error:  # functions refuse their arguments with many types
        named = ", ".join(COVARIATES)
        raise ValueError(
            f"formula {formula!r} cannot be built from {named}: {_first_line(error)}"
        ) from None
    if design.shape[1] == 0 or not np.isfinite(design.to_numpy()).all():
        raise ValueError(
            f"formula {formula!r} has no term, or one that is not finite in every cell; change it"
        )
    return design.rename(columns=lambda term: _WHOLE_LEVEL.sub(r"\1]", term)), matrix.model_spec


def freeze(cells: pd.DataFrame, name: str) -> bytes | tuple[str, ...]:
    """Return a column as a key of the cache: numbers as bytes, words as they are, an absent one as the empty word."""
    if name in FACTORS:
        return tuple(cells[name].fillna("").astype(str))
    return cells[name].to_numpy(float).tobytes()


def expand_design(cells: pd.DataFrame, spec: formulaic.ModelSpec) -> np.ndarray:
    """Return the design matrix at other rows; levels that the fit does not know are refused."""
    cells = add_logarithm(cells)
    covariates = cells[[name for name in COVARIATES if name in cells]].astype(float)
    covariates = covariates.assign(
        **{name: list(freeze(cells, name)) for name in FACTORS if name in cells}
    )
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", DataMismatchWarning)
        try:
            return np.asarray(spec.get_model_matrix(covariates, context={"np": np}), dtype=float)
        except (DataMismatchWarning, FormulaicError) as error:
            raise ValueError(
                f"the fit does not reach all of these cells: {_first_line(error)}"
            ) from None


def add_logarithm(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with log10_N, if they have N."""
    return cells.assign(log10_N=np.log10(cells["N"].astype(float))) if "N" in cells else cells


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
