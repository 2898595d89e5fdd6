"""Capacity points: the loads at which fitted accuracy is one half, the other loads at their means.

The paper defines them for its own regression (section 3.1.3); here they follow from the linear
predictor of any formula in d, N and rho, evaluated along one load. A point along N or d exists only
where accuracy falls with that load.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.optimize import elementwise

from cogniload_repro.regression.checks import check_cells
from cogniload_repro.regression.design import grid_means
from cogniload_repro.regression.formulas import Design
from cogniload_repro.regression.glm import (
    FAMILIES,
    QUADRATIC,
    Fit,
    fit_all,
    group_by_design,
)
from cogniload_repro.regression.identification import is_identified

#: The load along which each point is searched for, and the limits of the search.
POINTS = {
    "ecl50": ("log10_N", -30.0, 30.0),
    "nt50": ("rho", 0.0, 1.0),
    "id50": ("d", -300.0, 300.0),
}
#: The columns that a formula may take as factors in place of each load.
_COLUMNS = {"log10_N": {"log10_N", "N"}, "d": {"d"}, "rho": {"rho", "ratio_pct"}}
_LOADS = {"d", "N", "log10_N", "rho", "ratio_pct", "needles"}
#: Points of a curve at which a root is looked for.
_POINTS_OF_CURVE = 2001
#: Step of the numerical derivative along a load.
_STEP = 1e-6


class Curve(NamedTuple):
    """A regression along the load of a capacity point, the other loads at their means.

    Where the formula takes another load as a factor, which has no mean, the curve is the mean of
    those at its levels.
    """

    point: str
    design: Design
    cells: pd.DataFrame
    means: dict[str, float]

    @property
    def load(self) -> str:
        """The load along which the curve runs."""
        return POINTS[self.point][0]

    def lay_out(self, values: np.ndarray) -> np.ndarray:
        """Return the rows of the design matrix at values of the load."""
        axes = {self.load: values}
        for load, mean in self.means.items():
            if load != self.load:
                is_factor = self._is_factor(load)
                axes[load] = self._find_levels(load) if is_factor else np.array([mean])
        mesh = pd.MultiIndex.from_product(axes.values(), names=axes).to_frame(
            index=False
        )
        lengths = 10 ** mesh["log10_N"]
        mesh["N"] = lengths.round(9) if self._is_factor("log10_N") else lengths
        mesh["ratio_pct"] = 100 * mesh["rho"]
        mesh["needles"] = mesh["rho"] * mesh["N"]
        rows = self.design.expand(mesh)
        return rows.reshape(len(values), -1, rows.shape[1]).mean(axis=1)

    def sample(self) -> tuple[np.ndarray, np.ndarray]:
        """Return values of the load, and the rows there.

        They reach over the limits of `POINTS` or, if the formula is not defined there (as a
        spline), over the tested levels.
        """
        _, lowest, highest = POINTS[self.point]
        values = np.linspace(lowest, highest, _POINTS_OF_CURVE)
        try:
            return values, self.lay_out(values)
        except ValueError:
            levels = self._find_levels(self.load)
            values = np.linspace(levels[0], levels[-1], _POINTS_OF_CURVE)
            return values, self.lay_out(values)

    def explain_absence(self) -> str:
        """Return why no fit has a point along the load, "" if nothing is known against it."""
        if self._is_factor(self.load):
            return f"{self.load.removeprefix('log10_')} is a factor"
        others = {*map(str, self.design.spec.required_variables)} - _LOADS
        return f"not defined with {', '.join(sorted(others))}" if others else ""

    def _is_factor(self, load: str) -> bool:
        return not self.design.factors.isdisjoint(_COLUMNS[load])

    def _find_levels(self, load: str) -> np.ndarray:
        if load == "log10_N":
            return np.log10(np.unique(self.cells["N"].astype(float)))
        column = self.cells["ratio_pct"] / 100 if load == "rho" else self.cells[load]
        return np.unique(column.astype(float))


def find_roots(
    curve: Curve, coef: np.ndarray, half: float = 0.0
) -> tuple[np.ndarray, list[str]]:
    """Return the loads at which fits have the predictor ``half``, and "ok" or why there is none.

    ``coef`` has the shape (fits, terms). Of several roots, that along rho is the largest, others
    are nearest to the mean; along N and d the predictor falls at the root. ECL50 is a decimal
    logarithm.
    """
    roots = np.full(len(coef), np.nan)
    absence = curve.explain_absence()
    if absence:
        return roots, [absence] * len(coef)
    values, rows = curve.sample()
    brackets = [_find_bracket(curve, values, rows @ b - half) for b in coef]
    low = np.array([bracket[0] for bracket in brackets])
    found = np.flatnonzero(np.isfinite(low))

    def above_half(values: np.ndarray, place: np.ndarray) -> np.ndarray:
        return (curve.lay_out(values) * coef[place.astype(int)]).sum(axis=1) - half

    if len(found):
        ends = low[found], low[found] + (values[1] - values[0]) * (1 + 1e-9)
        roots[found] = elementwise.find_root(above_half, ends, args=(found,)).x
    return roots, [bracket[1] for bracket in brackets]


def _find_bracket(
    curve: Curve, values: np.ndarray, height: np.ndarray
) -> tuple[float, str]:
    """Return the value after which a curve has its capacity point, and "ok" or why it has none."""
    is_above = height > 0
    is_crossed = is_above[:-1] != is_above[1:]
    if curve.point == "nt50":
        places = np.flatnonzero(is_crossed)
        middle = values[-1]
    else:
        places = np.flatnonzero(is_crossed & is_above[:-1])
        middle = curve.means[curve.load]
    if len(places):
        return values[places[np.abs(values[places] - middle).argmin()]], "ok"
    load = curve.load.removeprefix("log10_")
    if is_crossed.any():
        return np.nan, f"accuracy does not fall with {load}"
    side = "above" if is_above[0] else "below"
    return np.nan, f"accuracy is {side} one half at every {load}"


def find_points(fits: Sequence[Fit], point: str) -> pd.DataFrame:
    """Return a capacity point of each fit: value, se (delta method) and status.

    Without such a point, value and se are NaN and the status says why.
    """
    points = pd.DataFrame({"value": np.nan, "se": np.nan}, index=range(len(fits)))
    points["status"] = [fit.status for fit in fits]
    for places in group_by_design(fits):
        points.loc[places] = _find_in_group([fits[place] for place in places], point)
    return points


def _find_in_group(fits: list[Fit], point: str) -> np.ndarray:
    """Return the rows of `find_points` of fits with the same design matrix."""
    first = fits[0]
    assert first.design is not None  # fits without a design are in no group
    curve = Curve(point, first.design, first.cells, grid_means(first.cells))
    half = float(FAMILIES[first.family](0.5))
    values, statuses = find_roots(curve, np.array([fit.coef for fit in fits]), half)
    errors = np.full(len(fits), np.nan)
    found = np.flatnonzero(np.isfinite(values))
    if len(found):
        errors[found] = _find_errors(
            curve, [fits[place] for place in found], values[found]
        )
    return np.array([values, errors, statuses], dtype=object).T


def _find_errors(curve: Curve, fits: list[Fit], roots: np.ndarray) -> list[float]:
    """Return standard errors of roots: that of the predictor there over its slope."""
    # a spline ends at the last tested level
    steps = curve.lay_out(np.concatenate([roots, roots - _STEP]))
    errors = []
    for row, before, fit in zip(*np.split(steps, 2), fits, strict=True):
        slope = (row - before) @ fit.coef / _STEP
        errors.append(float(np.sqrt(row @ fit.covariance @ row) / abs(slope)))
    return errors


def capacity_points(
    cells: pd.DataFrame, formula: str = QUADRATIC, family: str = "logit"
) -> pd.DataFrame:
    """Return the loads at which each model's fitted accuracy is one half (section 3.1.3).

    Parameters
    ----------
    cells, formula, family
        As for `fit`; any formula in the loads. The other loads are held at their means over the
        model's configurations, each counted once; a load that is a factor is averaged over its
        levels.

    Returns
    -------
    DataFrame
        One row per model: reconstruction (if the cells have it), model, ecl50 (statements), nt50
        (fraction: the largest root in [0, 1]) and id50 (units of d); ecl50_status, nt50_status and
        id50_status: "ok", or why there is no such point and the number is NaN; status and
        identified, as in `fit`.

    Raises
    ------
    ValueError
        As for `fit`.

    Examples
    --------
    >>> import cogniload_repro as cl
    >>> cells = cl.load_cells(models=["QwQ-32B"])
    >>> points = cl.capacity_points(cells, "correct ~ d * log10_N + rho + I(rho**2)")
    >>> points[["model", "ecl50", "nt50", "id50", "status"]].round(2)
    """
    fits = fit_all(check_cells(cells, formula), formula, family)
    points = pd.DataFrame([fit.key for fit in fits])
    for point in POINTS:
        found = find_points(fits, point)
        value = found["value"].astype(float)
        points[point] = 10**value if point == "ecl50" else value
        points[f"{point}_status"] = found["status"]
    points["status"] = [fit.status for fit in fits]
    points["identified"] = [is_identified(fit) for fit in fits]
    return points
