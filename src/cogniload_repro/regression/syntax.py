"""Check the contents of a regression formula before any part of it is evaluated.

formulaic evaluates the factors of a formula as Python. A formula may come from somebody else's
``params.yaml``, so each factor is parsed to a syntax tree first. A tree that contains anything but
covariates, numbers, operators and the transforms listed here is rejected. The transforms do not
depend on the order of the rows or on random numbers.
"""

import ast
import warnings
from collections.abc import Iterator
from typing import TypeAlias

from formulaic.parser import DefaultFormulaParser
from formulaic.parser.types import ASTNode, Token

#: Names of the covariates.
COVARIATES = ("d", "N", "log10_N", "rho", "ratio_pct", "needles", "prompt_mean")
#: Categorical columns, which enter a regression as factors: C(perturbation).
FACTORS = ("perturbation",)
#: Transforms that may also be written as numpy's functions: np.log.
NUMPY_TRANSFORMS = ("log", "log10", "exp", "sqrt")
#: Functions of covariates: arithmetic, levels of a factor, splines, polynomials and so on.
TRANSFORMS = ("I", "C", "bs", "cr", "poly", "center", "scale", *NUMPY_TRANSFORMS)

#: Keywords of transforms that take a list of values.
_LISTS = ("knots", "levels")
#: The keywords of splines that take a value of the covariate.
_BOUNDS = ("lower_bound", "upper_bound")
#: Largest number of characters and terms of a formula, and largest number among the settings of a
#: transform, which may be its number of columns.
_MOST = 1000

_ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div)
_COMPARISONS = (ast.Lt, ast.LtE, ast.Gt, ast.GtE, ast.Eq, ast.NotEq)

#: A node of a formula: an operator with its arguments, or a factor.
Tree: TypeAlias = Token | ASTNode


def read_tree(right: str) -> Tree:
    """Return the syntax tree of a formula's right side; ValueError for unsupported contents."""
    if len(right) > _MOST:
        raise ValueError(f"has {len(right):,} characters; write at most {_MOST:,}")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # invalid escapes in strings
            tree = DefaultFormulaParser().get_ast(right)
            factors = [_parse(token) for token in find_factors(tree)]
    except Exception as error:  # formulaic raises many types for invalid formulas
        raise ValueError(f"cannot be read: {first_line(error)}") from None
    for factor in factors:
        _check(factor)
    if _bound_terms(tree) > _MOST:
        raise ValueError(f"has more than {_MOST:,} terms; write fewer")
    return tree


def find_factors(tree: Tree) -> Iterator[Token]:
    """Yield the factors of a formula: names, numbers and calls of functions."""
    if not isinstance(tree, ASTNode):
        yield tree
        return
    for part in tree.args:
        yield from find_factors(part)


def name_columns(tree: Tree) -> tuple[str, ...]:
    """Return the covariates and factors in a formula, also those inside its functions."""
    names = set()
    for token in find_factors(tree):
        names |= _find_names(_parse(token))
    return tuple(name for name in (*COVARIATES, *FACTORS) if name in names)


def first_line(error: Exception) -> str:
    """Return the first line of an error's message, or its type if it has none."""
    lines = str(error).splitlines()
    return lines[0] if lines else type(error).__name__


def _parse(token: Token) -> ast.expr:
    """Return the Python syntax tree of a factor."""
    return ast.parse(token.token, mode="eval").body


def _check(factor: ast.expr) -> None:
    """Reject a factor that contains anything but covariates, numbers, operators and transforms."""
    for part in _list_parts(factor):
        _check(part)


def _list_parts(node: ast.expr) -> list[ast.expr]:
    """Return the operands of an expression that a formula may contain; reject any other."""
    match node:
        case ast.Name() if node.id in (*COVARIATES, *FACTORS):
            parts: list[ast.expr] = []
        case ast.Constant() if _is_number(node):
            parts = []
        case ast.UnaryOp(op=ast.UAdd() | ast.USub()):
            parts = [node.operand]
        case ast.BinOp() if isinstance(node.op, _ARITHMETIC):
            parts = [node.left, node.right]
        # a power of numbers alone, such as 9**9**9, could take forever to evaluate
        case ast.BinOp(op=ast.Pow()) if _has_covariate(node.left):
            parts = [node.left, node.right]
        case ast.Compare(ops=[comparison]) if isinstance(comparison, _COMPARISONS):
            parts = [node.left, *node.comparators]
        case ast.Call() if _name_transform(node.func) in TRANSFORMS:
            _check_settings(node)
            parts = node.args[:1]
        case _:
            raise ValueError(_describe_refusal(node))
    return parts


def _check_settings(call: ast.Call) -> None:
    """Reject settings of a transform other than numbers, knots of a spline and levels of a factor.

    Any other list, or a column, would make the result depend on the order of the rows; numpy's
    functions would overwrite a column given as second argument.
    """
    transform = _name_transform(call.func)
    settings = call.args[1:]
    listed = []
    for keyword in call.keywords:
        if keyword.arg in _LISTS and isinstance(keyword.value, ast.List):
            listed += keyword.value.elts
        elif keyword.arg in _BOUNDS and _is_signed_number(keyword.value):
            listed.append(keyword.value)
        else:
            settings.append(keyword.value)
    if (settings or listed) and transform in ("I", *NUMPY_TRANSFORMS):
        raise ValueError(f"has {ast.unparse(call):.60}; {transform} takes one argument")
    is_plain = all(
        isinstance(value, ast.Constant) or _is_signed_number(value) for value in listed
    )
    if not is_plain or not all(_is_number(setting) for setting in settings):
        raise ValueError(_describe_refusal(call))
    if any(not 0 <= ast.literal_eval(setting) <= _MOST for setting in settings):
        raise ValueError(
            f"has {ast.unparse(call):.60}; its numbers must be from 0 to {_MOST:,}"
        )


def _name_transform(function: ast.expr) -> str:
    """Return the name of a called function without ``np.``, "" if it is not a plain name."""
    match function:
        case ast.Name():
            return function.id
        case ast.Attribute(value=ast.Name(id="np")) if (
            function.attr in NUMPY_TRANSFORMS
        ):
            return function.attr
    return ""


def _has_covariate(node: ast.expr) -> bool:
    return not _find_names(node).isdisjoint(COVARIATES)


def _find_names(node: ast.expr) -> set[str]:
    parts = ast.walk(node)
    return {part.id for part in parts if isinstance(part, ast.Name)}


def _is_number(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and isinstance(node.value, int | float)


def _is_signed_number(node: ast.expr) -> bool:
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.UAdd | ast.USub):
        node = node.operand
    return _is_number(node)


def _describe_refusal(node: ast.expr) -> str:
    """Return a message that a part of a formula is not supported, listing what is."""
    columns = ", ".join((*COVARIATES, *FACTORS))
    return (
        f"has {ast.unparse(node):.60}, which cannot be built from {columns}, numbers, + - * / ** "
        f"and comparisons, and the functions {', '.join(TRANSFORMS)}"
    )


def _bound_terms(tree: Tree) -> int:
    """Return an upper bound on the number of terms of a formula after expansion."""
    if not isinstance(tree, ASTNode):
        return 1
    counts = []
    for part in tree.args:
        count = _bound_terms(part)
        counts.append(min(count, _MOST + 1))
    symbol = tree.operator.symbol
    if symbol in ("*", "/", ":", "in"):
        first, second = counts
        return first * second + first + second
    if symbol in ("**", "^"):
        exponent = str(tree.args[1])
        # formulaic rejects other exponents
        power = int(exponent[:9]) if exponent.isdecimal() else 1
        return counts[0] ** min(power, 20)
    return sum(counts)
