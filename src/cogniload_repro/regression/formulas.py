"""Regression formulas and their design matrices.

A formula is its reader's own code, as in R: formulaic evaluates it as Python.
"""

import re
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import formulaic
import numpy as np
import pandas as pd
from formulaic.errors import DataMismatchWarning

LINEAR = "correct ~ d + log10_N + rho"
#: The paper's specification (section 3.1.1).
QUADRATIC = "correct ~ d + log10_N + rho + I(rho**2)"
#: The specification of Appendix B.
INTERACTIONS = "correct ~ d * log10_N * rho + I(rho**2)"
#: The largest identified regression: all columns whose sums the printed tables fix.
FIXED_SUMS = (
    "correct ~ C(d) + C(N) + rho + I(rho**2) "
    "+ d:log10_N + d:rho + log10_N:rho + d:log10_N:rho"
)
#: The paper's symbols for the terms of its formulas.
SYMBOLS = {
    "Intercept": "0",
    "d": "d",
    "log10_N": "N",
    "rho": "rho",
    "I(rho ** 2)": "rho2",
    "d:log10_N": "dN",
    "d:rho": "drho",
    "log10_N:rho": "Nrho",
    "d:log10_N:rho": "dNrho",
}
#: Names of the covariates.
COVARIATES = ("d", "N", "log10_N", "rho", "ratio_pct", "needles")
#: Functions that formulaic knows only as numpy's, such as np.sqrt.
_FUNCTIONS = {"np": np, "sqrt": np.sqrt}
#: A level of a factor that is a whole number, as formulaic writes it.
_WHOLE_LEVEL = re.compile(r"(\[(?:T\.)?-?\d+)\.0\]")


class Design(NamedTuple):
    """The design matrix of a formula, and the specification that builds it for other cells."""

    matrix: pd.DataFrame
    spec: formulaic.ModelSpec

    @property
    def x(self) -> np.ndarray:
        """The matrix as an array of shape (cells, terms)."""
        return self.matrix.to_numpy()

    @property
    def factors(self) -> set[str]:
        """The columns that enter as factors."""
        variables = [
            self.spec.factor_variables[name] for name in self.spec.factor_contrasts
        ]
        return {str(name) for names in variables for name in names}

    def expand(self, cells: pd.DataFrame) -> np.ndarray:
        """Return the matrix for other cells; ValueError if the fit does not cover them."""
        try:
            with _strictly():
                rows = self.spec.get_model_matrix(
                    _take_covariates(cells), context=_FUNCTIONS
                )
        except Exception as error:  # transforms raise many types for values not covered
            raise ValueError(f"the fit does not cover these cells: {error}") from None
        return np.asarray(rows, dtype=float)


def name_covariates(formula: str) -> list[str]:
    """Return the covariates that a formula names."""
    words = {*re.findall(r"\w+", formula)}
    return [name for name in COVARIATES if name in words]


def build_design(cells: pd.DataFrame, formula: str) -> Design:
    """Build the design matrix of ``correct ~ ...``; a ValueError quotes a formula at fault.

    Columns are named after their terms. Infinite values are refused.
    """
    response, _, right = formula.partition("~")
    if response.strip() != "correct" or not right.strip():
        raise ValueError(
            f"formula {formula!r} must read 'correct ~ ...', such as 'correct ~ d'"
        )
    _refuse_lost_power(formula)
    try:
        with _strictly():
            matrix = formulaic.model_matrix(
                right, _take_covariates(cells), na_action="ignore", context=_FUNCTIONS
            )
            design = pd.DataFrame(matrix).astype(float)
    except Exception as error:  # formulaic and transforms raise many types
        reason = str(error).partition("\n")[0]
        names = ", ".join(COVARIATES)
        raise ValueError(
            f"formula {formula!r:.300} cannot be built from {names}: {reason:.300}; a power is"
            " I(rho**2); C(d) takes the levels of d as a factor, C(d, levels=[3, 1, 5, 7, 10]) with"
            " 3 as the reference"
        ) from None
    if design.empty or not np.isfinite(design.to_numpy()).all():
        raise ValueError(
            f"formula {formula!r} has no term, or one that is not finite in every cell; "
            "write terms that are finite in all cells"
        )
    design.columns = [_WHOLE_LEVEL.sub(r"\1]", term) for term in design.columns]
    return Design(design, matrix.model_spec)


def _refuse_lost_power(formula: str) -> None:
    """Refuse rho**2 outside a function: in a formula it is rho."""
    outside = formula
    calls = 1
    while calls:
        outside, calls = re.subn(r"[\w.]*\([^()]*\)", "", outside)
    power = re.search(r"(\w+)\s*(?:\*\*|\^)\s*(\w+)", outside)
    if power:
        name, exponent = power.groups()
        raise ValueError(
            f"formula {formula!r} takes {power[0]} as {name}; write I({name}**{exponent})"
        )


def _take_covariates(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the covariates that cells have, as floats: powers of integers may overflow."""
    return add_logarithm(cells).filter(COVARIATES).astype(float)


@contextmanager
def _strictly() -> Iterator[None]:
    """Raise an error for unknown factor levels; formulaic would code them as the reference."""
    with np.errstate(all="ignore"), warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", DataMismatchWarning)
        yield


def add_logarithm(cells: pd.DataFrame) -> pd.DataFrame:
    """Return the cells with log10_N, if they have N."""
    if "N" not in cells:
        return cells
    lengths = cells["N"].astype(float)
    return cells.assign(log10_N=np.log10(lengths))
