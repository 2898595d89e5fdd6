"""What a regression formula may say, and the columns that it stands for.

formulaic runs parts of a formula as Python. Formulas may come from strangers, so each part is read as a syntax tree
first, and nothing is evaluated but arithmetic on the covariates and the functions listed here. What a formula asks for
is counted before it is expanded.
"""

import ast
import math
import re
import warnings
from functools import lru_cache

import formulaic
import numpy as np
import pandas as pd
from formulaic.errors import DataMismatchWarning, FormulaicError
from formulaic.formula import SimpleFormula
from formulaic.parser import DefaultFormulaParser
from formulaic.parser.types import ASTNode

#: Names of the covariates.
COVARIATES = ("d", "N", "log10_N", "rho", "ratio_pct", "needles", "prompt_mean")
#: Columns of words, which stand for nothing but the levels of a factor: C(perturbation).
FACTORS = ("perturbation",)
#: Functions that may be called, those of numpy with their prefix.
FUNCTIONS = (
    "I", "C", "bs", "cr", "cc", "poly", "center", "scale", "log", "log2", "log10", "exp",
    "np.log", "np.log2", "np.log10", "np.log1p", "np.sqrt", "np.exp", "np.abs", "np.minimum", "np.maximum",
)  # fmt: skip
#: What the splines take beside an expression, and the words that some of it may be.
_SPLINES = {
    "bs": ("df", "degree", "knots", "include_intercept", "extrapolation"),
    **dict.fromkeys(("cr", "cc"), ("df", "knots", "constraints", "extrapolation")),
    "poly": ("degree", "raw"),
}
_CHOICES = ("center", "raise", "clip", "zero", "extend")
_OPERATORS = (
    ast.Add, ast.Sub, ast.Mult, ast.Div, ast.FloorDiv, ast.Mod, ast.Pow, ast.BitAnd, ast.BitOr, ast.UAdd, ast.USub,
    ast.Invert, ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq,
)  # fmt: skip
_WHOLE_LEVEL = re.compile(r"(\[(?:T\.)?-?\d+)\.0\]")
#: Bounds on what a formula may ask for, so that it is fitted in seconds or refused.
_LONGEST, _LARGEST_POWER, _LARGEST_DF, _MOST_TERMS, _MOST_PRODUCTS = 5_000, 6, 20, 200, 20_000
_MOST_COLUMNS, _MOST_CELLS = 1_000, 20_000_000


class _FormulaError(Exception):
    """What a formula says and may not: the end of a sentence that begins with the formula."""


@lru_cache(maxsize=256)
def read_formula(formula: str) -> SimpleFormula:
    """Read the right side of ``correct ~ ...`` without evaluating anything; a ValueError quotes what it refuses."""
    if len(formula) > _LONGEST:
        raise ValueError(f"formula {formula[:60]!r}... has {len(formula):,} characters; use at most {_LONGEST:,}")
    left, tilde, right = formula.partition("~")
    try:
        if not tilde or left.strip() != "correct" or not right.strip():
            raise _FormulaError(f"must read 'correct ~ ...' over {', '.join(COVARIATES)}")
        if "#" in right:
            raise _FormulaError("has a comment, which nobody fits; leave out '#' and what follows it")
        if _count_products(DefaultFormulaParser().get_ast(right)) > _MOST_PRODUCTS:
            raise _FormulaError(f"multiplies out to more than {_MOST_PRODUCTS:,} terms; use fewer")
        parsed = formulaic.Formula(right)
        if not isinstance(parsed, SimpleFormula):
            raise _FormulaError("has more than one right side; write one regression")
        if len(parsed) > _MOST_TERMS:
            raise _FormulaError(f"has {len(parsed)} terms; use at most {_MOST_TERMS}")
        for part in _parts(parsed):
            _check(ast.parse(part, mode="eval").body, outermost=True)
    except _FormulaError as refusal:
        raise ValueError(f"formula {formula!r} {refusal}") from None
    except Exception as error:  # formulaic raises many types, all of them for text that is no formula
        raise ValueError(f"formula {formula!r} cannot be read: {_first_line(error)}") from None
    return parsed


def _count_products(node: object) -> int:
    """Return at most how many terms are multiplied out when a formula is expanded."""
    if not isinstance(node, ASTNode):
        return 1
    symbol, counts = node.operator.symbol, [_count_products(arg) for arg in node.args]
    if symbol in ("**", "^"):
        if (power := int(str(node.args[1]))) > _LARGEST_POWER:
            raise _FormulaError(f"has a power above {_LARGEST_POWER}; choose a smaller one")
        return counts[0] ** power
    if symbol == "*":
        return math.prod(count + 1 for count in counts)
    return math.prod(counts) if symbol == ":" else max(1, sum(counts))


def _parts(parsed: SimpleFormula) -> list[str]:
    """Return the expressions that terms are products of, each once."""
    return sorted({factor.expr for term in parsed for factor in term.factors})


def _check(node: ast.expr, *, outermost: bool = False) -> None:
    """Allow covariates, numbers, arithmetic and known calls; splines and factors are no part of anything else."""
    said = ast.unparse(node)
    if said in COVARIATES or (outermost and said in [f"C({factor})" for factor in FACTORS]):
        return
    if _is_number(node):
        return
    if isinstance(node, ast.Call) and (name := ast.unparse(node.func)) in FUNCTIONS:
        if not outermost and name in ("C", *_SPLINES):
            raise _FormulaError(f"has {name}() inside of something else; let it stand for itself")
        children = _check_arguments(name, node)
    elif isinstance(node, ast.BinOp | ast.UnaryOp | ast.Compare):
        children = [child for child in ast.iter_child_nodes(node) if isinstance(child, ast.expr)]
        if not all(isinstance(operator, _OPERATORS) for operator in getattr(node, "ops", [getattr(node, "op", None)])):
            raise _FormulaError(f"says {said!r}, which is no arithmetic that formulas know")
        if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Pow):
            constant = not any(isinstance(part, ast.Name) and part.id in COVARIATES for part in ast.walk(node.left))
            power = node.right.operand if isinstance(node.right, ast.UnaryOp) else node.right
            if constant or not _is_number(power, _LARGEST_POWER):
                raise _FormulaError(f"has {said!r}: a power is a covariate's, by a number up to {_LARGEST_POWER}")
    else:
        raise _FormulaError(
            f"says {ast.unparse(getattr(node, 'func', node))!r}, which is neither a covariate "
            f"({', '.join(COVARIATES)}) nor a call of a known function ({', '.join(FUNCTIONS)}) nor a number"
        )
    for child in children:
        _check(child)


def _is_number(node: ast.expr, most: float = math.inf) -> bool:
    value = node.value if isinstance(node, ast.Constant) else None
    return isinstance(value, int | float) and not isinstance(value, bool) and value <= most


def _check_arguments(name: str, call: ast.Call) -> list[ast.expr]:
    """Return what a function is of: one expression, two for a minimum or maximum; allow options that it takes."""
    takes, known, given = 2 if name in ("np.minimum", "np.maximum") else 1, _SPLINES.get(name, ()), call.args
    options = [(keyword.arg, keyword.value) for keyword in call.keywords]
    if known and len(given) == 2:
        given, options = given[:1], [(known[0], given[1]), *options]
    if len(given) != takes or not all(word in known and _is_option(value) for word, value in options):
        raise _FormulaError(
            f"says {ast.unparse(call)!r}; {name}() takes {takes} expression{'s' * (takes > 1)} and as options "
            f"{', '.join(known) or 'none'}: whole numbers from 1 to {_LARGEST_DF}, lists of numbers, True or False, or "
            "a known word"
        )
    return given


def _is_option(value: ast.expr) -> bool:
    """Return whether an option is written out and small; formulaic refuses those of a wrong kind."""
    try:
        content = ast.literal_eval(value)
    except ValueError:  # an expression
        return False
    if isinstance(content, list | tuple):
        return len(content) <= _LARGEST_DF and all(type(knot) in (int, float) for knot in content)
    if isinstance(content, str | bool):
        return content in (True, False, *_CHOICES)
    return type(content) is int and 1 <= content <= _LARGEST_DF


def _check_columns(parsed: SimpleFormula, formula: str, covariates: pd.DataFrame) -> None:
    """Refuse a formula whose splines and factors multiply out to too many columns, before they do."""

    def width(part: str) -> int:
        function = part.partition("(")[0]
        named = [name for name in covariates if re.search(rf"\b{name}\b", part)]
        levels = max(1, len(covariates[named].drop_duplicates())) if function == "C" else 1
        return _LARGEST_DF * (2 if "knots" in part else 1) if function in _SPLINES else levels

    widths = {part: width(part) for part in _parts(parsed)}
    columns = sum(math.prod(widths[factor.expr] for factor in term.factors) for term in parsed)
    most = min(_MOST_COLUMNS, _MOST_CELLS // max(len(covariates), 1))
    if columns > most:
        raise ValueError(f"formula {formula!r} asks for up to {columns:,} columns; use at most {most:,}")


@lru_cache(maxsize=256)
def name_covariates(formula: str) -> tuple[str, ...]:
    """Return the covariates that a formula names."""
    required = read_formula(formula).required_variables
    return tuple(name for name in (*COVARIATES, *FACTORS) if name in required)


def build_design(cells: pd.DataFrame, formula: str) -> tuple[pd.DataFrame, formulaic.ModelSpec]:
    """Return a formula's columns at each row of the cells, all finite, and how to build them at other rows."""
    cells, named = add_logarithm(cells), name_covariates(formula)
    known = [name for name in (*COVARIATES, *FACTORS) if name in cells]
    if absent := [name for name in named if name not in known]:
        raise ValueError(f"formula {formula!r} names {', '.join(absent)}; these cells have only {', '.join(known)}")
    # by their letters: what is required inside of a spline, formulaic does not tell
    values = tuple((name, _freeze(cells, name)) for name in known if name in formula)
    design, spec = _build_design(formula, values, len(cells))
    return design.copy(), spec


@lru_cache(maxsize=64)
def _build_design(
    formula: str, values: tuple[tuple[str, bytes | tuple[str, ...]], ...], rows: int
) -> tuple[pd.DataFrame, formulaic.ModelSpec]:
    """Build a design once for all models with the same cells, of floats: powers may be larger than integers can be."""
    columns = {name: np.frombuffer(held) if isinstance(held, bytes) else list(held) for name, held in values}
    covariates, parsed = pd.DataFrame(columns, index=range(rows)), read_formula(formula)
    _check_columns(parsed, formula, covariates)
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():  # what is not finite is refused below
            warnings.simplefilter("ignore")
            matrix = formulaic.model_matrix(parsed, covariates, na_action="ignore", context={"np": np})
            design = pd.DataFrame(matrix).astype(float)
    except Exception as error:  # functions refuse their arguments with many types
        named = ", ".join(covariates)
        raise ValueError(f"formula {formula!r} cannot be built from {named}: {_first_line(error)}") from None
    if design.shape[1] == 0 or not np.isfinite(design.to_numpy()).all():
        raise ValueError(f"formula {formula!r} has no term, or one that is not finite in every cell; change it")
    return design.rename(columns=lambda term: _WHOLE_LEVEL.sub(r"\1]", term)), matrix.model_spec


def _freeze(cells: pd.DataFrame, name: str) -> bytes | tuple[str, ...]:
    """Return a column as a key of the cache: numbers as bytes, words as they are, an absent one as the empty word."""
    if name in FACTORS:
        return tuple(cells[name].fillna("").astype(str))
    return cells[name].to_numpy(float).tobytes()


def expand_design(cells: pd.DataFrame, spec: formulaic.ModelSpec) -> np.ndarray:
    """Return the design matrix at other rows; levels that the fit does not know are refused."""
    cells = add_logarithm(cells)
    covariates = cells[[name for name in COVARIATES if name in cells]].astype(float)
    covariates = covariates.assign(**{name: list(_freeze(cells, name)) for name in FACTORS if name in cells})
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", DataMismatchWarning)
        try:
            return np.asarray(spec.get_model_matrix(covariates, context={"np": np}), dtype=float)
        except (DataMismatchWarning, FormulaicError) as error:
            raise ValueError(f"the fit does not reach all of these cells: {_first_line(error)}") from None


def add_logarithm(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with log10_N, if they have N."""
    return cells.assign(log10_N=np.log10(cells["N"].astype(float))) if "N" in cells else cells


def _first_line(error: Exception) -> str:
    return next(iter(str(error).splitlines()), type(error).__name__)
