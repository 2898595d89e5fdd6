"""Where the fitted course of any regression crosses one half, along one load and averaged over the others."""

import numpy as np
import pandas as pd
from scipy.optimize import brentq
from scipy.special import expit, logit

from cogniload_repro.robustness.uncertainty import fit_quadratics
from cogniload_repro.statistics.regression import Fit

POINTS = ("ecl50", "nt50", "id50")
_MARGINAL = ["model", *(f"{kind}_{point}" for point in ("ecl50", "ecl80", "id50") for kind in ("typical", "marginal"))]
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


def marginal_points(cells: pd.DataFrame) -> pd.DataFrame:
    """Return capacity points of the accuracy averaged over the grid beside those at the means of the other loads.

    The paper's points are those of a *typical* task, with the other loads at their means. The *marginal* accuracy is
    the mean over all tested levels of the other loads, which a curved link makes another thing.

    Returns
    -------
    DataFrame
        One row a model with a finite fit of the paper's regression: model, and with the prefix typical_ and marginal_
        ecl50 and ecl80 (statements at which accuracy falls to one half, to four fifths) and id50 (units of d); NaN
        where accuracy does not fall with the load. Nominal ratios stand for the actual ones.
    """
    rows, ratios = [], np.sort(cells["ratio_pct"].unique()) / 100
    for quadratic in fit_quadratics(cells):
        beta, means = quadratic.fit.coef, quadratic.means
        d, log10_N = np.unique(quadratic.x[:, 1]), np.unique(quadratic.x[:, 2])
        along_rho = beta[3] * ratios + beta[4] * ratios**2
        typical_rho = beta[3] * means["rho"] + beta[4] * means["rho"] ** 2
        others = {
            "ecl": (2, beta[1] * means["d"] + typical_rho, np.add.outer(beta[1] * d, along_rho)),
            "id": (1, beta[2] * means["log10_N"] + typical_rho, np.add.outer(beta[2] * log10_N, along_rho)),
        }
        row: dict[str, object] = {"model": quadratic.model}
        for load, share in (("ecl", 0.5), ("ecl", 0.8), ("id", 0.5)):
            place, at_means, levels = others[load]
            for kind, rest in (("typical", np.array([at_means])), ("marginal", levels.ravel())):
                value = _fall(beta[place], beta[0] + rest, share)
                name = f"{kind}_{load}{100 * share:.0f}"
                with np.errstate(over="ignore"):
                    row[name] = float(np.float64(10) ** value) if load == "ecl" else value
        rows.append(row)
    return pd.DataFrame(rows, columns=_MARGINAL)


def _fall(slope: float, rest: np.ndarray, share: float) -> float:
    """Return the load at which the mean accuracy over the other loads falls to a share; NaN if it does not fall."""
    if slope >= 0:
        return np.nan
    ends = (logit(share) - np.array([rest.min(), rest.max()])) / slope  # where all lie above, and all below
    if np.isclose(*ends):
        return float(ends[0])
    return float(brentq(lambda at: expit(rest + slope * at).mean() - share, ends.min(), ends.max()))


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
