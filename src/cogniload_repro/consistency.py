"""The paper's printed tables held against one another, under different readings of the covariate rho.

Tables 4 and 5 fix three sums of the correct answers, the two AICs of Table 6 two more. Together they fix every number
in a row of Table 2, but only if rho is computed as the authors computed it.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from fractions import Fraction
from itertools import combinations_with_replacement, product
from math import gcd, lcm

import numpy as np
import pandas as pd
from scipy.stats import norm

from .formats import stars
from .grid import count_needles
from .likelihood import maximise, solve_aic
from .models import MODELS, Model
from .published import ERRORS, load_printed, load_table
from .regression import capacity_points, grid_means
from .sufficient import GRID, PRINTED, X, exact_statistics, predict, printed_windows, puzzles_per_cell

#: Readings of rho: the share of needles after rounding halves up or to even, or the nominal ratio.
RULES = {"paper": "halves up", "port": "halves to even", "nominal": "nominal ratio"}

BETAS = ("beta_0", "beta_d", "beta_N", "beta_rho", "beta_rho2")
POINTS = ("ecl50", "nt50", "id50")
_HALF_UNITS = dict.fromkeys((*BETAS, "nt50", "id50"), 0.005) | {"ecl50": 0.05}
_AIC_HALF_UNIT = 0.0005


@dataclass(frozen=True)
class Derived:
    """What Tables 4, 5 and 6 say of one model under one reading of rho.

    Attributes
    ----------
    model : Model
    rule : str
        A key of `RULES`.
    missing : tuple of int
        Nominal ratio taken for each missing puzzle.
    T : ndarray, shape (5,)
        Sums over the correct answers of 1, d, log10 N, rho, rho^2.
    window : tuple of float
        Least and largest sum of rho that the three decimals of AIC_linear allow.
    beta, se : ndarray, shape (5,)
        Coefficients of Table 2 and their standard errors.
    points : dict
        ecl50, nt50, id50.
    misfit : float
        Largest deviation from the printed row, in half units of the last printed digit.
    least : float
        The same where the two AICs lie most favourably inside their rounding.
    """

    model: Model
    rule: str
    missing: tuple[int, ...]
    T: np.ndarray
    window: tuple[float, float]
    beta: np.ndarray
    se: np.ndarray
    points: dict[str, float]
    misfit: float
    least: float


def needle_shares(rule: str) -> list[Fraction]:
    """Return rho in each of the 140 cells under a reading of `RULES`, as exact fractions."""
    if rule not in RULES:
        raise ValueError(f"there is no reading {rule!r} of rho; choose one of: {', '.join(RULES)}")
    if rule == "nominal":
        return [Fraction(int(ratio), 100) for ratio in GRID["ratio_pct"]]
    cells = zip(GRID["N"].tolist(), GRID["ratio_pct"].tolist(), strict=True)
    return [Fraction(count_needles(N, ratio, rule), N) for N, ratio in cells]


def lattice_step(rule: str) -> Fraction:
    """Return the largest number of which rho is a multiple in every cell, and so any sum of rho over answers."""
    shares = needle_shares(rule)
    common = lcm(*(share.denominator for share in shares))
    return Fraction(gcd(*(int(share * common) for share in shares)), common)


def sums_by_level(model: str, dimension: str) -> pd.DataFrame:
    """Return how a model's sums follow from Table 4 (``d``) or Table 5 (``N``), level by level.

    Returns
    -------
    DataFrame
        The dimension, samples, errors, correct, covariate (d or log10 N), contribution (correct times covariate).
    """
    table = load_table({"d": "table4", "N": "table5"}[dimension])
    own = table[table["model"] == model].reset_index(drop=True)
    rows = own[[dimension, "samples"]].assign(errors=own[list(ERRORS)].sum(axis=1))
    rows["correct"] = rows["samples"] - rows["errors"]
    rows["covariate"] = rows["d"] if dimension == "d" else np.log10(rows["N"].astype(float))
    return rows.assign(contribution=rows["correct"] * rows["covariate"])


def derive(model: Model, rule: str = "paper", missing: tuple[int, ...] = ()) -> Derived:
    """Derive a model's row of Table 2 from Tables 4, 5 and 6.

    Each AIC leaves two values of its sum, one for either sign of the slope; the printed row decides between them.
    """
    x, n, known = _design(rule), puzzles_per_cell(model, missing), exact_statistics(model.name)
    linear, quadratic = load_table("table6").set_index("model").loc[model.name, ["aic_linear", "aic_quadratic"]]
    best, rows = None, []
    for shift, other in ((0, 0), (-1, -1), (-1, 1), (1, -1), (1, 1)):
        aics = linear + shift * _AIC_HALF_UNIT, quadratic + other * _AIC_HALF_UNIT
        for T in _solutions(x, n, known, *aics):
            beta, _ = maximise(x, n, T)
            points = capacity_points(beta, grid_means(GRID.assign(rho=x[:, 3])))
            rows.append(max(_deviations(model.name, beta, points).values()))
            if shift == 0 and (best is None or rows[-1] < best[0]):
                best = rows[-1], T, beta, points
    misfit, T, beta, points = best
    p = 1 / (1 + np.exp(-x @ beta))
    se = np.sqrt(np.diag(np.linalg.inv(x.T @ (x * (n * p * (1 - p))[:, None]))))
    window = _window(x[:, :4], n, known, linear, T[3])
    return Derived(model, rule, missing, T, window, beta, se, points, misfit, min(rows))


def derive_all(rule: str = "paper", models: Iterable[Model] = MODELS) -> list[Derived]:
    """Derive every model's row of Table 2; missing puzzles are put where the row fits best."""
    return [
        min((derive(model, rule, choice) for choice in _choices(model)), key=lambda derived: derived.misfit)
        for model in models
    ]


def missing_choices(model: Model, rule: str = "paper") -> pd.DataFrame:
    """Return the ratios that a model's missing puzzles can have had, best first, and the balanced design last.

    Returns
    -------
    DataFrame
        ratios (nominal, in %, in the order of ``model.missing``; empty for the balanced design), beta_rho, misfit
        (half printed units, over the whole row of Table 2), whole (500 T_rho can be a whole number).
    """
    rows = []
    for choice in [*_choices(model), ()]:
        full = Model(model.name, model.label, model.family, model.puzzles_per_cell) if not choice else model
        derived = derive(full, rule, choice)
        rows.append((choice, derived.beta[3], derived.misfit, bool(lattice_test([derived])["inside"].iloc[0])))
    frame = pd.DataFrame(rows, columns=["ratios", "beta_rho", "misfit", "whole"])
    return pd.concat([frame.iloc[:-1].sort_values("misfit", kind="stable"), frame.iloc[-1:]], ignore_index=True)


def lattice_test(derived: Iterable[Derived]) -> pd.DataFrame:
    """Hold the sum of rho against the lattice that it must lie on.

    Returns
    -------
    DataFrame
        One row a model, in lattice steps: model, rule, nearest (the lattice point, in steps from 0), low, value and
        high (relative to it), inside (the window holds a lattice point), chance (that a window of this width does).
    """
    rows = []
    for one in derived:
        step = float(lattice_step(one.rule))
        value, low, high = one.T[3] / step, one.window[0] / step, one.window[1] / step
        nearest = round(value)
        inside = np.floor(high) >= np.ceil(low)
        rows.append((one.model.name, one.rule, nearest, low - nearest, value - nearest, high - nearest, inside,
                     min(1.0, high - low)))  # fmt: skip
    columns = ["model", "rule", "nearest", "low", "value", "high", "inside", "chance"]
    return pd.DataFrame(rows, columns=columns)


def table2_test(derived: Iterable[Derived]) -> pd.DataFrame:
    """Hold each derived number against Table 2.

    Returns
    -------
    DataFrame
        One row a model and printed number: model, rule, quantity, printed (text), derived, se, off (deviation in half
        printed units), stars, printed_stars (empty for the capacity points).
    """
    printed = load_printed("table2").set_index("model")
    rows = []
    for one in derived:
        name, off = one.model.name, _deviations(one.model.name, one.beta, one.points)
        own = printed.loc[name]
        for beta, value, se in zip(BETAS, one.beta, one.se, strict=True):
            shown = stars(2 * norm.sf(abs(value / se)))
            rows.append((name, one.rule, beta, own[beta], value, se, off[beta], shown, own[f"{beta}_stars"]))
        for point in POINTS:
            rows.append((name, one.rule, point, own[point], one.points[point], np.nan, off[point], "", ""))
    columns = ["model", "rule", "quantity", "printed", "derived", "se", "off", "stars", "printed_stars"]
    return pd.DataFrame(rows, columns=columns)


def summarise_rules(derived: Iterable[Derived]) -> pd.DataFrame:
    """Say of each reading of rho how many models agree with it.

    Returns
    -------
    DataFrame
        One row a reading: rule, step (of the lattice), on_lattice and expected (models whose window holds a lattice
        point, and how many would by chance), rows (models whose row of Table 2 can come out), worst (largest
        misfit in half printed units), models.
    """
    derived, rows = list(derived), []
    for rule in dict.fromkeys(one.rule for one in derived):
        own = [one for one in derived if one.rule == rule]
        test = lattice_test(own)
        rows.append((rule, str(lattice_step(rule)), int(test["inside"].sum()), test["chance"].sum(),
                     sum(one.least <= 1 for one in own), max(one.misfit for one in own), len(own)))  # fmt: skip
    return pd.DataFrame(rows, columns=["rule", "step", "on_lattice", "expected", "rows", "worst", "models"])


def table3_test(cells: pd.DataFrame) -> pd.DataFrame:
    """Hold the statistics of a table of counts against all numbers of Tables 3 and 6.

    Parameters
    ----------
    cells : DataFrame
        Counts of the paper's grid, 140 rows a model.

    Returns
    -------
    DataFrame
        One row a model: model, aic, beta, p (largest deviation from the AICs, and from the four coefficients and the
        four p-values of Table 3, in half printed units), worst (name of the number that is furthest off).
    """
    rows = []
    for model in dict.fromkeys(cells["model"]):
        own = GRID.merge(cells[cells["model"] == model], on=["N", "d", "ratio_pct"])
        printed, widths = printed_windows(model)
        predicted, _ = predict(own["n"].to_numpy(float), X.T @ own["correct"].to_numpy(float))
        off = pd.Series(np.abs(predicted - printed) / widths, PRINTED)
        groups = (off[off.index.str.startswith(kind)].max() for kind in ("aic", "beta", "p_d", "p_N"))
        aic, beta, p_d, p_N = groups
        rows.append((model, aic, beta, max(p_d, p_N), off.idxmax()))
    return pd.DataFrame(rows, columns=["model", "aic", "beta", "p", "worst"])


def _design(rule: str) -> np.ndarray:
    rho = np.array([float(share) for share in needle_shares(rule)])
    return np.column_stack([X[:, :3], rho, rho**2])


def _choices(model: Model) -> list[tuple[int, ...]]:
    ratios = GRID["ratio_pct"].unique().tolist()
    if len(set(model.missing)) == 1:  # two puzzles of one (d, N): their order says nothing
        return list(combinations_with_replacement(ratios, len(model.missing)))
    return list(product(ratios, repeat=len(model.missing)))


def _solutions(x: np.ndarray, n: np.ndarray, known: np.ndarray, linear: float, quadratic: float):
    try:
        for t_rho in solve_aic(x[:, :4], n, known, linear):
            first = np.append(known, t_rho)
            for t_rho2 in solve_aic(x, n, first, quadratic):
                yield np.append(first, t_rho2)
    except ValueError:  # a corner of the rounding beyond the highest possible AIC
        return


def _window(x: np.ndarray, n: np.ndarray, known: np.ndarray, aic: float, t_rho: float) -> tuple[float, float]:
    """Return the sums of rho between which AIC_linear prints as it does, on the side of the given one."""
    outer = solve_aic(x, n, known, aic - _AIC_HALF_UNIT)
    try:
        inner = solve_aic(x, n, known, aic + _AIC_HALF_UNIT)
    except ValueError:  # no slope at all is possible: both signs are
        return outer
    return (outer[0], inner[0]) if t_rho < np.mean(outer) else (inner[1], outer[1])


def _deviations(model: str, beta: np.ndarray, points: dict[str, float]) -> dict[str, float]:
    """Return the deviations from a row of Table 2 in half printed units; NT50 where neither has one deviates by 0."""
    printed, computed = load_table("table2").set_index("model").loc[model], dict(zip(BETAS, beta, strict=True)) | points
    off = {name: abs(value - printed[name]) / _HALF_UNITS[name] for name, value in computed.items()}
    if np.isnan(off["nt50"]):
        off["nt50"] = 0.0 if np.isnan(printed["nt50"]) and np.isnan(computed["nt50"]) else np.inf
    return off
