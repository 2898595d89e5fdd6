"""Tables 4, 5 and 6 -> Table 2, under different readings of the covariate rho.

Tables 4 and 5 fix three sums of the correct answers, the two AICs of Table 6 two more. Together they fix every number
in a row of Table 2, but only if rho is computed as the authors computed it.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from math import gcd, lcm

import numpy as np
import pandas as pd
from scipy.special import expit

from cogniload_repro.grid import count_needles
from cogniload_repro.models import MODELS, Model
from cogniload_repro.published import correct_by, load_table
from cogniload_repro.statistics.capacity import capacity_points, grid_means
from cogniload_repro.statistics.design import GRID, X
from cogniload_repro.statistics.likelihood import maximise, solve_aic

#: Readings of rho: the share of needles after rounding halves up or to even, or the nominal ratio.
RULES = {"paper": "halves up", "port": "halves to even", "nominal": "nominal ratio"}

BETAS = ("beta_0", "beta_d", "beta_N", "beta_rho", "beta_rho2")
POINTS = ("ecl50", "nt50", "id50")
#: Half a unit of the last printed digit.
HALF_UNITS = dict.fromkeys((*BETAS, "nt50", "id50"), 0.005) | {"ecl50": 0.05}
AIC_HALF_UNIT = 0.0005


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


def needle_shares(rule: str) -> list[Fraction]:
    """Return rho in each of the 140 cells under a reading of `RULES`, as exact fractions."""
    if rule not in RULES:
        raise ValueError(f"there is no reading {rule!r} of rho; choose one of: {', '.join(RULES)}")
    if rule == "nominal":
        return [Fraction(int(ratio), 100) for ratio in GRID["ratio_pct"]]
    cells = zip(GRID["N"].tolist(), GRID["ratio_pct"].tolist(), strict=True)
    return [Fraction(count_needles(N, ratio, rule), N) for N, ratio in cells]


@cache
def lattice_step(rule: str) -> Fraction:
    """Return the largest number of which rho is a multiple in every cell, and so any sum of rho over answers."""
    shares = needle_shares(rule)
    common = lcm(*(share.denominator for share in shares))
    return Fraction(gcd(*(int(share * common) for share in shares)), common)


@cache
def derive(model: Model, rule: str = "paper", missing: tuple[int, ...] = ()) -> Derived:
    """Derive a model's row of Table 2 from Tables 4, 5 and 6.

    Each AIC leaves two values of its sum, one for either sign of the slope; the printed row decides between them.
    """
    x, n, known = _design(rule), puzzles_per_cell(model, missing), exact_statistics(model.name)
    aics = _printed("table6", model.name)[["aic_linear", "aic_quadratic"]]
    misfit, T, beta, points = min(_rows(model.name, rule, x, n, known, *aics), key=lambda row: row[0])
    p = expit(x @ beta)
    se = np.sqrt(np.diag(np.linalg.inv(x.T @ (x * (n * p * (1 - p))[:, None]))))
    window = _window(x[:, :4], n, known, aics["aic_linear"], T[3])
    return Derived(model, rule, missing, T, window, beta, se, points, misfit)


def derive_all(rule: str = "paper") -> list[Derived]:
    """Derive every model's row of Table 2.

    Missing puzzles are put where they favour the reading: where the row comes out, then where the sum of rho can lie
    on its lattice, then where the misfit is least.
    """

    def merit(one: Derived) -> tuple:
        return one.misfit > 1, not on_lattice(one), one.misfit

    return [min((derive(model, rule, choice) for choice in missing_ratios(model)), key=merit) for model in MODELS]


def least_misfit(derived: Derived) -> float:
    """Return the misfit of Table 2's row where the two AICs lie most favourably inside their rounding.

    The corners of the rounding are tried; between them the row changes in proportion.
    """
    model, rule = derived.model, derived.rule
    x, n, known = _design(rule), puzzles_per_cell(model, derived.missing), exact_statistics(model.name)
    aics = _printed("table6", model.name)[["aic_linear", "aic_quadratic"]].to_numpy(float)
    misfits = [derived.misfit]
    for corner in product((-AIC_HALF_UNIT, AIC_HALF_UNIT), repeat=2):
        misfits += [row[0] for row in _rows(model.name, rule, x, n, known, *(aics + corner))]
    return min(misfits)


def missing_ratios(model: Model) -> list[tuple[int, ...]]:
    """Return every way to give a ratio to each of a model's missing puzzles; one empty way if none is missing."""
    ratios = GRID["ratio_pct"].unique().tolist()
    if len(set(model.missing)) == 1:  # two puzzles of one (d, N): their order says nothing
        return list(combinations_with_replacement(ratios, len(model.missing)))
    return list(product(ratios, repeat=len(model.missing)))


def puzzles_per_cell(model: Model, missing_ratios: tuple[int, ...]) -> np.ndarray:
    """Return the number of puzzles in each of the 140 cells."""
    n = np.full(len(GRID), float(model.puzzles_per_cell))
    for (d, N), ratio in zip(model.missing, missing_ratios, strict=True):
        n[(GRID["d"] == d) & (GRID["N"] == N) & (GRID["ratio_pct"] == ratio)] -= 1
    return n


@cache
def exact_statistics(model: str) -> np.ndarray:
    """Return sum y, sum y*d and sum y*log10 N, exactly, from Tables 4 and 5; not to be written to."""
    by_d, by_N = (frame[frame["model"] == model] for frame in (correct_by("table4"), correct_by("table5")))
    sums = np.array(
        [
            by_d["correct"].sum(),
            by_d["correct"] @ by_d["d"],
            by_N["correct"] @ np.log10(by_N["N"].astype(float)),
        ]
    )
    sums.setflags(write=False)
    return sums


@cache
def _design(rule: str) -> np.ndarray:
    rho = np.array([float(share) for share in needle_shares(rule)])
    return np.column_stack([X[:, :3], rho, rho**2])


@cache
def _means(rule: str) -> dict[str, float]:
    return grid_means(GRID.assign(rho=_design(rule)[:, 3]))


@cache
def _printed(table: str, model: str) -> pd.Series:
    return load_table(table).set_index("model").loc[model]


def _rows(
    model: str, rule: str, x: np.ndarray, n: np.ndarray, known: np.ndarray, linear: float, quadratic: float
) -> Iterator[tuple[float, np.ndarray, np.ndarray, dict[str, float]]]:
    """Yield misfit, statistics, coefficients and capacity points for each pair of roots of the two AICs."""
    try:
        for t_rho in solve_aic(x[:, :4], n, known, linear):
            first = np.append(known, t_rho)
            for t_rho2 in solve_aic(x, n, first, quadratic):
                T = np.append(first, t_rho2)
                beta, _ = maximise(x, n, T)
                points = capacity_points(beta, _means(rule))
                yield max(deviations(model, beta, points).values()), T, beta, points
    except ValueError:  # a corner of the rounding beyond the highest possible AIC
        return


def _window(x: np.ndarray, n: np.ndarray, known: np.ndarray, aic: float, t_rho: float) -> tuple[float, float]:
    """Return the sums of rho between which AIC_linear prints as it does, on the side of the given one."""
    outer = solve_aic(x, n, known, aic - AIC_HALF_UNIT)
    try:
        inner = solve_aic(x, n, known, aic + AIC_HALF_UNIT)
    except ValueError:  # no slope at all is possible: both signs are
        return outer
    return (outer[0], inner[0]) if t_rho < np.mean(outer) else (inner[1], outer[1])


def on_lattice(derived: Derived) -> bool:
    """Say whether the window of the sum of rho holds a value that the sum can have."""
    step = float(lattice_step(derived.rule))
    low, high = derived.window
    return bool(np.floor(high / step) >= np.ceil(low / step))


def deviations(model: str, beta: np.ndarray, points: dict[str, float]) -> dict[str, float]:
    """Return the deviations from a row of Table 2 in half printed units; NT50 where neither has one deviates by 0."""
    printed, computed = _printed("table2", model), dict(zip(BETAS, beta, strict=True)) | points
    off = {name: abs(value - printed[name]) / HALF_UNITS[name] for name, value in computed.items()}
    if np.isnan(off["nt50"]):
        off["nt50"] = 0.0 if np.isnan(printed["nt50"]) and np.isnan(computed["nt50"]) else np.inf
    return off
