"""Cells of the puzzle grid: N statements, nominal needle ratio, intrinsic difficulty d."""

import math
import re
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from itertools import product
from numbers import Integral, Real
from typing import Any

#: The values of N, ratio and d, by the name of the axis.
Axes = dict[str, tuple[float, ...]]

#: The columns that identify a cell.
CELL = ["N", "d", "ratio_pct"]
ROUNDINGS = ("half-up", "half-even")

#: The longest puzzle: ten times the paper's longest.
MAX_STATEMENTS = 2_500


@dataclass(frozen=True)
class Cell:
    """One configuration of the benchmark (paper, section 2.2).

    It has N statements, a nominal needle ratio (%) and an intrinsic difficulty d. ``rounding``
    is the rule for the number of needles, see `count_needles`. ValueError for a value out of range.
    """

    N: int
    ratio_pct: float
    d: int
    rounding: str = "half-up"

    def __post_init__(self):
        if self.rounding not in ROUNDINGS:
            options = ", ".join(ROUNDINGS)
            raise ValueError(f"rounding is {self.rounding!r}; choose one of: {options}")
        checked = {
            "N": check_count("N", self.N, 1, MAX_STATEMENTS),
            "ratio_pct": _check_percentage(self.ratio_pct),
            "d": check_count("d", self.d, 1, 12),
        }
        for name, value in checked.items():
            object.__setattr__(self, name, value)  # the class is frozen

    @cached_property
    def needles(self) -> int:
        """Number of statements about the person of interest."""
        return count_needles(self.N, self.ratio_pct, self.rounding)

    @property
    def rho(self) -> float:
        """Actual needle ratio, a fraction: the covariate of the regressions."""
        return self.needles / self.N


def check_count(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return a whole number from ``low`` to ``high`` as an int; ValueError for any other value."""
    is_whole = isinstance(value, Integral) and not isinstance(value, bool)
    if not is_whole or value < low or (high is not None and value > high):
        limits = f"of at least {low}" if high is None else f"from {low} to {high:,}"
        raise ValueError(f"{name} is {value!r}; give a whole number {limits}")
    return int(value)


def _check_percentage(ratio_pct: Any) -> float:
    """Return a percentage, a whole one as an int."""
    is_number = isinstance(ratio_pct, Real) and not isinstance(ratio_pct, bool)
    if not is_number or not 0 <= ratio_pct <= 100:
        raise ValueError(
            f"ratio_pct is {ratio_pct!r}; give a percentage from 0 to 100, such as 25"
        )
    if ratio_pct == int(ratio_pct):
        return int(ratio_pct)
    return float(ratio_pct)


def count_needles(N: int, ratio_pct: float, rounding: str = "half-up") -> int:
    """Return the number of needles among N statements, at least 1 and at most N.

    ``half-up`` reproduces the published regressions; it takes a ratio as the decimal number that it
    is printed as. ``half-even`` rounds in floating point, as the authors' Python code does.
    """
    if rounding == "half-even":
        nearest = round(N * ratio_pct / 100)
    else:
        exact = N * Fraction(str(ratio_pct)) / 100
        nearest = math.floor(exact + Fraction(1, 2))
    return max(1, min(N, nearest))


def _cross(axes: Axes, rounding: str) -> tuple[Cell, ...]:
    points = product(axes["N"], axes["ratio"], axes["d"])
    return tuple(Cell(*point, rounding) for point in points)  # type: ignore[arg-type]


_AXES: dict[str, Axes] = {
    "paper": {
        "N": (20, 50, 100, 250),
        "ratio": (5, 10, 25, 50, 75, 90, 95),
        "d": (1, 3, 5, 7, 10),
    },
    "mini": {
        "N": (20, 50),
        "ratio": (5, 50, 95),
        "d": (1, 5, 10),
    },
}

#: The paper's 140 cells (section 3): N outermost, then ratio_pct, then d.
PAPER_GRID = _cross(_AXES["paper"], "half-up")
#: The 18 cells of the smoke run.
MINI_GRID = _cross(_AXES["mini"], "half-up")


def grid_cells(grid: str, rounding: str = "half-up") -> tuple[Cell, ...]:
    """Return the cells of a named or written grid: N outermost, then ratio_pct, then d.

    The names are ``paper`` and ``mini``. A written grid has the three axes ``N=``, ``ratio=`` and
    ``d=`` in any order. Values and axes are separated by spaces, commas, colons or semicolons:
    ``N=20,50 ratio=5,50 d=1,3`` and ``N=20:50,ratio=5,d=3`` are both read. Values keep their order,
    which the id chain depends on. ValueError if a grid cannot be read or has a value out of range.
    """
    axes = _AXES.get(grid) or _read_axes(grid)
    return _cross(axes, rounding)


def _read_axes(grid: str) -> Axes:
    """Read the three axes of a written grid."""
    before, *parts = re.split(r"(\w+)\s*=", grid)
    names = parts[::2]
    try:
        if before.strip() or sorted(names) != sorted(_AXES["paper"]):
            raise ValueError("must have the axes N, ratio and d, each once")
        texts = zip(names, parts[1::2], strict=True)
        return {name: _read_axis(name, text) for name, text in texts}
    except ValueError as error:
        example = "write paper, mini, or three axes as in 'N=20,50 ratio=5,50 d=1,3'"
        raise ValueError(f"grid {grid!r:.200} {error}; {example}") from None


def _read_axis(name: str, text: str) -> tuple[float, ...]:
    """Read the numbers of one axis."""
    words = re.findall(r"[^\s,:;]+", text)
    for word in words:
        if not re.fullmatch(r"\d{1,9}(\.\d+)?", word, re.ASCII):
            raise ValueError(f"has {word!r:.80} as a value of {name}")
    numbers = tuple(float(word) if "." in word else int(word) for word in words)
    if not numbers or len(set(numbers)) < len(numbers):
        raise ValueError(f"must have at least one value of {name}, and none twice")
    return numbers
