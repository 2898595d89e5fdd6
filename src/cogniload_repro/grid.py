"""Cells of the puzzle grid: N statements, nominal needle ratio, intrinsic difficulty d."""

import math
import operator
import re
from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from numbers import Real
from typing import Any

ROUNDINGS = ("half-up", "half-even")

#: A puzzle of more statements takes too long to be drawn, and has no name.
MAX_STATEMENTS = 1_000_000


@dataclass(frozen=True)
class Cell:
    """One configuration (paper, section 2.2): N statements, nominal share of needles (%), intrinsic difficulty d.

    The rounding is the rule for the number of needles, see `count_needles`. ValueError for a cell that cannot be.
    """

    N: int
    ratio_pct: float
    d: int
    rounding: str = "half-up"

    def __post_init__(self):
        object.__setattr__(self, "N", check_count("N", self.N, 1, MAX_STATEMENTS))
        object.__setattr__(self, "d", check_count("d", self.d, 1, 12))
        ratio_pct = self.ratio_pct
        if (
            isinstance(ratio_pct, bool)
            or not isinstance(ratio_pct, Real)
            or not 0 <= ratio_pct <= 100
        ):
            raise ValueError(
                f"ratio_pct is {ratio_pct!r}; give a percentage from 0 to 100, such as 25"
            )
        object.__setattr__(
            self, "ratio_pct", int(ratio_pct) if ratio_pct == int(ratio_pct) else float(ratio_pct)
        )
        if self.rounding not in ROUNDINGS:
            raise ValueError(
                f"rounding is {self.rounding!r}; choose one of: {', '.join(ROUNDINGS)}"
            )

    @property
    def needles(self) -> int:
        """Number of statements about the person of interest."""
        return count_needles(self.N, self.ratio_pct, self.rounding)

    @property
    def rho(self) -> float:
        """Actual share of needles, a fraction: the covariate of the regressions."""
        return self.needles / self.N


def check_count(name: str, value: Any, low: int, high: int | None = None) -> int:
    """Return `value` as a plain int when it is a whole number from `low` to `high`; else a ValueError that says so."""
    try:
        number = None if isinstance(value, bool) else operator.index(value)
    except TypeError:
        number = None
    if number is None or number < low or (high is not None and number > high):
        limits = f"of at least {low}" if high is None else f"from {low} to {high:,}"
        raise ValueError(f"{name} is {value!r}; give a whole number {limits}")
    return number


def count_needles(N: int, ratio_pct: float, rounding: str = "half-up") -> int:
    """Return the number of needles among `N` statements, from 1 to `N`.

    ``half-up`` is what the published regressions need; a ratio counts as the decimal number that it prints as.
    ``half-even`` rounds in floating point, as the authors' Python code does.
    """
    if rounding == "half-even":
        nearest = round(N * ratio_pct / 100)
    else:
        nearest = math.floor(N * Fraction(str(ratio_pct)) / 100 + Fraction(1, 2))
    return max(1, min(N, nearest))


def _cross(
    N: Iterable[float], ratio_pct: Iterable[float], d: Iterable[float], rounding: str
) -> tuple[Cell, ...]:
    return tuple(Cell(*point, rounding) for point in product(N, ratio_pct, d))  # type: ignore[arg-type]


_AXES = {
    "paper": ((20, 50, 100, 250), (5, 10, 25, 50, 75, 90, 95), (1, 3, 5, 7, 10)),
    "mini": ((20, 50), (5, 50, 95), (1, 5, 10)),
}

#: The paper's 140 cells (section 3) and the 18 of the smoke run: N outermost, then ratio_pct, then d.
PAPER_GRID = _cross(*_AXES["paper"], "half-up")
MINI_GRID = _cross(*_AXES["mini"], "half-up")


def grid_cells(grid: str, rounding: str = "half-up") -> tuple[Cell, ...]:
    """Return the cells of a named or written grid: N outermost, then ratio_pct, then d.

    A written grid has the three axes ``N=``, ``ratio=`` and ``d=`` in any order. Values and axes are separated by
    spaces, commas, colons or semicolons: ``N=20,50 ratio=5,50 d=1,3`` and ``N=20:50,ratio=5,d=3`` are both read. Values
    keep their order, which the id chain depends on. What is no grid, or has a value out of range, is a ValueError.
    """
    if grid in _AXES:
        return _cross(*_AXES[grid], rounding)
    head, *parts = re.split(r"(\w+)\s*=", grid)
    axes = {
        name: re.findall(r"[^\s,:;]+", text)
        for name, text in zip(parts[::2], parts[1::2], strict=True)
    }
    forms: dict[str, tuple[str, type]] = {
        "N": (r"\d{1,9}", int),
        "ratio": (r"\d{1,9}(\.\d+)?", float),
        "d": (r"\d{1,9}", int),
    }
    numbers = [{kind(word) for word in axes.get(name, ()) if re.fullmatch(form, word, re.ASCII)}
               for name, (form, kind) in forms.items()]  # fmt: skip
    if (
        head.strip()
        or len(parts) != 6
        or [*map(len, numbers)] != [len(axes.get(name, ())) or -1 for name in forms]
    ):
        raise ValueError(f"grid {grid!r:.200} is none; write paper, mini, or three axes, each with numbers that come "
                         "once, as in 'N=20,50 ratio=5,50 d=1,3'")  # fmt: skip
    N, ratio, d = ([kind(word) for word in axes[name]] for name, (_, kind) in forms.items())
    return _cross(N, ratio, d, rounding)
