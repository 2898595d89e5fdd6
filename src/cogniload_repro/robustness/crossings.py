"""Where the fitted course of any regression crosses one half, along one load and averaged over the others."""

import numpy as np
import pandas as pd

from cogniload_repro.statistics.regression import Fit

POINTS = ("ecl50", "nt50", "id50")
_LENGTHS = 10 ** np.arange(0, 7.001, 0.01)
_RATIOS = np.linspace(0, 1, 401)
_DIFFICULTIES = np.arange(-20, 60.01, 0.25)
#: Where a fall is looked for first: in the middle of the grid (log10 of statements, units of d).
_USUAL = {"ecl50": 1.85, "id50": 5.0}


def find_points(fit: Fit, courses: dict[str, tuple[np.ndarray, np.ndarray]]) -> dict[str, float]:
    """Return capacity points of any fit: where the linear predictor, averaged over the other loads, is at one half.

    Parameters
    ----------
    fit : Fit
    courses : dict
        As `lay_courses` returns it.

    Returns
    -------
    dict
        ecl50 (statements, or tokens; 0 below one, infinite above ten million), nt50 (fraction), id50 (units of d,
        between -20 and 60); NaN where there is none, or where a load enters as a factor.
    """
    half = {"cloglog": np.log(np.log(2))}.get(fit.family, 0.0)
    points = dict.fromkeys(POINTS, np.nan)
    for point, (values, design) in courses.items():
        points[point] = _cross(values, design @ fit.coef - half, point)
    return points


def lay_courses(fit: Fit, cells: pd.DataFrame, length: str = "N") -> dict[str, tuple[np.ndarray, np.ndarray]]:
    """Return design matrices along each load, averaged over the levels of the others; rho is held at its mean.

    For the paper's specification the averages over d and log10 N are the values at their means.

    Returns
    -------
    dict
        For ecl50, nt50 and id50: values of the load, shape (v,), and design matrix, shape (v, terms). A load that
        enters as a factor, or as a spline that ends with the grid, has none.
    """
    grid = cells[["N", "d", "rho"]].drop_duplicates()
    levels = {"d": np.sort(grid["d"].unique()), "N": np.sort(grid["N"].unique()), "rho": [grid["rho"].mean()]}
    if length == "prompt_mean":
        levels["N"] = 10 ** np.log10(cells["prompt_mean"]).groupby(cells["N"]).mean().to_numpy()
    courses = {}
    for point, load, values in (("ecl50", "N", _LENGTHS), ("nt50", "rho", _RATIOS), ("id50", "d", _DIFFICULTIES)):
        names = [load, *(name for name in levels if name != load)]
        mesh = pd.MultiIndex.from_product([(levels | {load: values})[name] for name in names], names=names)
        mesh = mesh.to_frame(index=False).assign(ratio_pct=lambda rows: 100 * rows["rho"])
        mesh = mesh.assign(needles=mesh["rho"] * mesh["N"]) if length == "N" else mesh.rename(columns={"N": length})
        try:
            design = fit.expand(mesh)
        except ValueError:  # a factor has no level between its levels, nor a spline values beyond its knots
            continue
        courses[point] = values, design.reshape(len(values), -1, design.shape[1]).mean(axis=1)
    return courses


def _cross(at: np.ndarray, above: np.ndarray, point: str) -> float:
    """Return where a course passes through zero: the largest ratio, or the fall nearest to the usual loads."""
    usual, known = _USUAL.get(point), np.isfinite(above)
    at, above = at[known], above[known]
    if point == "ecl50":
        at = np.log10(at)
    turns = above[:-1] * above[1:] <= 0 if point == "nt50" else (above[:-1] > 0) & (above[1:] <= 0)
    (left,) = np.nonzero(turns)
    if len(left) == 0:
        return (np.inf if above[0] > 0 else 0.0) if point == "ecl50" else np.nan
    roots = at[left] - above[left] * (at[left + 1] - at[left]) / (above[left + 1] - above[left])
    root = roots.max() if point == "nt50" else roots[np.abs(roots - usual).argmin()]
    return float(10**root if point == "ecl50" else root)
