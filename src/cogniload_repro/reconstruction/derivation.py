"""Tables 4, 5 and 6 -> Table 2, under different codings of the covariate rho.

Tables 4 and 5 fix three sums of the correct answers, the two AICs of Table 6 two more. Together they fix every number
in a row of Table 2, but only if rho is computed as the authors computed it.
"""

from collections.abc import Sequence
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
from cogniload_repro.statistics.capacity import capacity_points, grid_means, many_points
from cogniload_repro.statistics.design import GRID, X
from cogniload_repro.statistics.likelihood import maximise_all, solve_aic

#: Codings of rho: the share of needles after rounding halves up or to even, or the nominal ratio.
RULES = {"half-up": "halves up", "half-even": "halves to even", "nominal": "nominal ratio"}

BETAS = ("beta_0", "beta_d", "beta_N", "beta_rho", "beta_rho2")
POINTS = ("ecl50", "nt50", "id50")
#: Half a unit of the last printed digit.
HALF_UNITS = dict.fromkeys(BETAS, 0.005) | {"ecl50": 0.05, "nt50": 0.005, "id50": 0.005}
AIC_HALF_UNIT = 0.0005
_PLACES = {cell: place for place, cell in enumerate(zip(GRID["d"], GRID["N"], GRID["ratio_pct"], strict=True))}


@dataclass(frozen=True)
class Derived:
    """What Tables 4, 5 and 6 say of one model under one coding of rho.

    ``missing`` has the nominal ratio taken for each missing puzzle; ``T`` the sums over the correct answers of 1, d,
    log10 N, rho, rho^2; ``window`` the least and largest sum of rho that the three decimals of AIC_linear allow;
    ``beta`` and ``se`` the coefficients of Table 2 and their standard errors, ``points`` its capacity points;
    ``max_deviation`` is the largest deviation from the printed row, in half units of the last printed digit.
    """

    model: Model
    rule: str
    missing: tuple[int, ...]
    T: np.ndarray
    window: tuple[float, float]
    beta: np.ndarray
    se: np.ndarray
    points: dict[str, float]
    max_deviation: float


def needle_shares(rule: str) -> list[Fraction]:
    """Return rho in each of the 140 cells under a coding of `RULES`, as exact fractions."""
    if rule not in RULES:
        raise ValueError(f"unknown coding {rule!r} of rho; codings are {', '.join(RULES)}")
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


def derive_each(cases: Sequence[tuple[Model, tuple[int, ...]]], rule: str = "half-up") -> list[Derived]:
    """Derive rows of Table 2, each for a model and the ratios of its missing puzzles, all at once.

    Each AIC leaves two values of its sum, one for either sign of the slope; the printed row decides between them.
    """
    x, models = _design(rule), [model.name for model, _ in cases]
    n = np.array([puzzles_per_cell(*case) for case in cases])
    known = np.array([exact_statistics(model) for model in models])
    aics = np.array([_printed("table6", model)[["aic_linear", "aic_quadratic"]] for model in models], dtype=float)
    worst, T, beta = _rows(models, rule, n, known, aics)
    if (lost := np.isinf(worst).all(axis=1)).any():
        raise ValueError(f"nothing has the AICs of {models[lost.argmax()]}; check Tables 4 to 6")
    chosen = np.arange(len(cases)), worst.argmin(axis=1)
    worst, T, beta = worst[chosen], T[chosen], beta[chosen]
    p = expit(beta @ x.T)
    se = [np.sqrt(np.diag(np.linalg.inv(x.T @ (x * weight[:, None])))) for weight in n * p * (1 - p)]
    windows = _windows(x[:, :4], n, known, aics[:, 0], T[:, 3])
    return [
        Derived(
            model, rule, missing, T[i], windows[i], beta[i], se[i], capacity_points(beta[i], _means(rule)), worst[i]
        )
        for i, (model, missing) in enumerate(cases)
    ]


def derive_all(rule: str = "half-up") -> list[Derived]:
    """Derive every model's row of Table 2.

    Missing puzzles are put where they favour the coding: where the row is reproduced, then where the sum of rho is
    possible, then where the deviation is least.
    """

    def merit(one: Derived) -> tuple:
        return one.max_deviation > 1, not on_lattice(one), one.max_deviation

    derived = derive_each([(model, choice) for model in MODELS for choice in missing_ratios(model)], rule)
    return [min((one for one in derived if one.model == model), key=merit) for model in MODELS]


def least_deviation(derived: Derived) -> float:
    """Return the deviation of Table 2's row where the two AICs lie most favourably inside their rounding.

    The corners of the rounding are tried; between them the row changes in proportion.
    """
    model, rule = derived.model, derived.rule
    corners = np.array(list(product((-AIC_HALF_UNIT, AIC_HALF_UNIT), repeat=2)))
    aics = _printed("table6", model.name)[["aic_linear", "aic_quadratic"]].to_numpy(float) + corners
    n, known = puzzles_per_cell(model, derived.missing), exact_statistics(model.name)
    each = np.ones((len(corners), 1))
    worst, _, _ = _rows([model.name] * len(corners), rule, each * n, each * known, aics)
    return float(min(derived.max_deviation, worst.min()))


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
        n[_PLACES[d, N, ratio]] -= 1
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
    models: Sequence[str], rule: str, n: np.ndarray, known: np.ndarray, aics: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what each pair of roots of two AICs gives: deviations (m, 4), statistics and coefficients (m, 4, 5).

    Where an AIC is higher than any can be, as in a corner of the rounding, deviations are infinite.
    """
    x, m = _design(rule), len(models)
    first = _append_roots(x[:, :4], n, known, aics[:, 0])
    twice, four = np.repeat(n, 2, axis=0), np.repeat(n, 4, axis=0)
    T = _append_roots(x, twice, first, np.repeat(aics[:, 1], 2))
    beta, _ = maximise_all(x, four, T)
    points = many_points(beta, _means(rule))
    values = np.column_stack([beta, 10 ** points["ecl50"], points["nt50"], points["id50"]]).reshape(m, 4, -1)
    printed = np.array([_printed("table2", model)[list(HALF_UNITS)] for model in models], dtype=float)
    worst = _deviate(values, printed[:, None]).max(axis=2)
    return np.where(np.isnan(worst), np.inf, worst), T.reshape(m, 4, 5), beta.reshape(m, 4, 5)


def _append_roots(x: np.ndarray, n: np.ndarray, t: np.ndarray, aics: np.ndarray) -> np.ndarray:
    """Return statistics (2 m, q) with either root of an AIC as the last, where (m, q - 1) are known."""
    roots = np.column_stack(solve_aic(x, n, t, aics))
    return np.column_stack([np.repeat(t, 2, axis=0), roots.ravel()])


def _windows(
    x: np.ndarray, n: np.ndarray, known: np.ndarray, aics: np.ndarray, sums: np.ndarray
) -> list[tuple[float, float]]:
    """Return the sums of rho between which AIC_linear prints as it does, on the side of the given ones."""
    outer_low, outer_high = solve_aic(x, n, known, aics - AIC_HALF_UNIT)
    inner_low, inner_high = solve_aic(x, n, known, aics + AIC_HALF_UNIT)
    below = sums < (outer_low + outer_high) / 2
    flat = np.isnan(inner_low)  # no slope at all is possible: both signs are
    low, high = np.where(below | flat, outer_low, inner_high), np.where(below & ~flat, inner_low, outer_high)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def on_lattice(derived: Derived) -> bool:
    """Return whether the window of the sum of rho holds a value that the sum can have."""
    step = float(lattice_step(derived.rule))
    low, high = derived.window
    return bool(np.floor(high / step) >= np.ceil(low / step))


def deviations(model: str, beta: np.ndarray, points: dict[str, float]) -> dict[str, float]:
    """Return the deviations from a row of Table 2 in half printed units; NT50 where neither has one deviates by 0."""
    values = np.array([*beta, *(points[point] for point in POINTS)], dtype=float)
    off = _deviate(values, _printed("table2", model)[list(HALF_UNITS)].to_numpy(float))
    return dict(zip(HALF_UNITS, off.tolist(), strict=True))


def _deviate(values: np.ndarray, printed: np.ndarray) -> np.ndarray:
    """Return deviations in half printed units, both arrays with the numbers of `HALF_UNITS` along the last axis."""
    off = np.abs(values - printed) / np.array(list(HALF_UNITS.values()))
    neither = np.isnan(values) & np.isnan(printed)
    nt50 = list(HALF_UNITS).index("nt50")
    lacks = np.isnan(off[..., nt50])
    off[..., nt50] = np.where(lacks, np.where(neither[..., nt50], 0.0, np.inf), off[..., nt50])
    return off
