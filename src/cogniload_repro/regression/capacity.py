"""Capacity points: the loads at which fitted accuracy is one half, the other loads at their means.

The paper defines them for its own regression (section 3.1.3); here they follow from the linear
predictor of any formula in d, N and rho, evaluated along one load. A point along N or d exists only
where accuracy falls with that load.
"""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.interpolate import CubicSpline, PPoly

from cogniload_repro.regression.checks import check_cells
from cogniload_repro.regression.design import grid_means
from cogniload_repro.regression.families import FAMILIES
from cogniload_repro.regression.formulas import QUADRATIC, add_logarithm
from cogniload_repro.regression.glm import Fit, fit_all, group_by_design

#: The load along which each point is searched for, and the limits of the search.
POINTS = {
    "ecl50": ("log10_N", (-30.0, 30.0)),
    "nt50": ("rho", (0.0, 1.0)),
    "id50": ("d", (-300.0, 300.0)),
}
#: The columns that a formula may take as factors in place of each load.
_AS_FACTORS = {"log10_N": {"log10_N", "N"}, "d": {"d"}, "rho": {"rho", "ratio_pct"}}
#: Points of a curve, between which it is interpolated.
_POINTS_OF_CURVE = 2001


class Curve(NamedTuple):
    """A regression along the load of a capacity point, the other loads at their means.

    Where the formula takes another load as a factor, which has no mean, the curve is the mean of
    those at its levels.
    """

    load: str
    limits: tuple[float, float]
    fit: Fit

    def lay_out(self, values: np.ndarray) -> np.ndarray:
        """Return the rows of the design matrix at values of the load."""
        axes = {self.load: values}
        for load, mean in grid_means(self.fit.cells).items():
            if load != self.load:
                axes[load] = np.array([mean])
                if self.is_factor(load):
                    axes[load] = self._find_levels(load)
        points = pd.MultiIndex.from_product(axes.values(), names=axes)
        mesh = points.to_frame(index=False)
        mesh["N"] = 10 ** mesh["log10_N"]
        if self.is_factor("log10_N"):
            mesh["N"] = mesh["N"].round(9)
        mesh["ratio_pct"] = 100 * mesh["rho"]
        mesh["needles"] = mesh["rho"] * mesh["N"]
        rows = self.fit.design.expand(mesh)
        by_value = rows.reshape(len(values), -1, rows.shape[1])
        return by_value.mean(axis=1)

    def sample(self) -> CubicSpline:
        """Return the rows as a function of the load.

        It reaches over the limits or, if the formula is not defined there (as a spline), over the
        tested levels.
        """
        values = np.linspace(*self.limits, _POINTS_OF_CURVE)
        try:
            return CubicSpline(values, self.lay_out(values))
        except ValueError:
            levels = self._find_levels(self.load)
            values = np.linspace(levels[0], levels[-1], _POINTS_OF_CURVE)
            return CubicSpline(values, self.lay_out(values))

    def is_factor(self, load: str) -> bool:
        """Return whether the formula takes a load as a factor."""
        return not self.fit.design.factors.isdisjoint(_AS_FACTORS[load])

    def _find_levels(self, load: str) -> np.ndarray:
        cells = add_logarithm(self.fit.cells)
        levels = cells["ratio_pct"] / 100 if load == "rho" else cells[load]
        return np.unique(levels.astype(float))


def find_points(fits: Sequence[Fit], point: str) -> pd.DataFrame:
    """Return a capacity point of each fit: value, se (delta method) and status.

    ECL50 is a decimal logarithm. Of several roots, NT50 is the largest; along N and d the predictor
    falls at the root, and the nearest to the mean is taken. Without such a point, value and se are
    NaN and the status says why.
    """
    statuses = [fit.status for fit in fits]
    points = pd.DataFrame({"value": np.nan, "se": np.nan, "status": statuses})
    load, limits = POINTS[point]
    for places in group_by_design(fits):
        group = [fits[place] for place in places]
        curve = Curve(load, limits, group[0])
        if curve.is_factor(load):
            points.loc[places, "status"] = f"{_name(load)} is a factor"
        else:
            points.loc[places] = _find_in_group(curve, group).set_axis(places)
    return points


def _find_in_group(curve: Curve, fits: list[Fit]) -> pd.DataFrame:
    """Return the rows of `find_points` of fits with the same design matrix."""
    half = FAMILIES[fits[0].family].half
    along = curve.sample()
    # NT50 is the largest root, the nearest to the right end; other points the nearest to the mean
    target = along.x[-1]
    if curve.load != "rho":
        target = grid_means(curve.fit.cells)[curve.load]
    points = []
    for fit in fits:
        predictor = PPoly(along.c @ fit.coef, along.x)
        roots = predictor.solve(half, extrapolate=False)
        slopes = predictor(roots, 1)
        # along N and d accuracy must fall
        places = np.flatnonzero((slopes < 0) | (curve.load == "rho"))
        if len(places):
            distances = np.abs(roots[places] - target)
            nearest = places[distances.argmin()]
            row = along(roots[nearest])
            error = np.sqrt(row @ fit.covariance @ row)
            error /= abs(slopes[nearest])
            points.append((roots[nearest], error, "ok"))
        else:
            is_above = predictor(along.x[0]) > half
            reason = _explain(curve.load, len(roots), is_above)
            points.append((np.nan, np.nan, reason))
    return pd.DataFrame(points, columns=["value", "se", "status"])


def _explain(load: str, crossings: int, is_above: bool) -> str:
    """Return why there is no point along a load."""
    if crossings:
        return f"accuracy does not fall with {_name(load)}"
    side = "above" if is_above else "below"
    return f"accuracy is {side} one half at every {_name(load)}"


def _name(load: str) -> str:
    return load.removeprefix("log10_")


def capacity_points(
    cells: pd.DataFrame,
    formula: str = QUADRATIC,
    family: str = "logit",
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
         model  ecl50  nt50  id50 status
    0  QwQ-32B  45.96  0.97  3.39     ok
    """
    fits = fit_all(check_cells(cells, formula), formula, family)
    points = pd.DataFrame([fit.key for fit in fits])
    for point in POINTS:
        found = find_points(fits, point)
        value = found["value"]
        points[point] = 10**value if point == "ecl50" else value
        points[f"{point}_status"] = found["status"]
    points["status"] = [fit.status for fit in fits]
    points["identified"] = [fit.identified for fit in fits]
    return points
