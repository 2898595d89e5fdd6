"""Published tables -> the sufficient statistics T = X'y of the paper's regressions.

Tables 4 and 5 fix three components of Table 2's regression, the two AICs of Table 6 two more, and so every number in
its row, but only if rho is computed as the authors did. Those of the interactions solve "the fit prints Table 3".
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from functools import cache
from itertools import combinations_with_replacement, product
from math import gcd, lcm
from operator import truediv

import numpy as np
import pandas as pd
from scipy.optimize import linprog
from scipy.special import expit
from scipy.stats import chi2, norm

from cogniload_repro.formats import stars
from cogniload_repro.grid import count_needles
from cogniload_repro.models import MODELS, Model, find_model
from cogniload_repro.published import correct_by, load_printed, load_table
from cogniload_repro.statistics.design import (
    FULL,
    GRID,
    LINEAR,
    PRODUCTS,
    QUADRATIC,
    X,
    grid_means,
    many_points,
)
from cogniload_repro.statistics.likelihood import maximise, maximise_all, solve_aic

#: Codings of rho: the share of needles after rounding halves up or to even, or the nominal ratio.
RULES = {"half-up": "halves up", "half-even": "halves to even", "nominal": "nominal ratio"}

BETAS = ("beta_0", "beta_d", "beta_N", "beta_rho", "beta_rho2")
POINTS = ("ecl50", "nt50", "id50")
#: Half a unit of the last printed digit.
HALF_UNITS = dict.fromkeys(BETAS, 0.005) | {"ecl50": 0.05, "nt50": 0.005, "id50": 0.005}
AIC_HALF_UNIT = 0.0005

#: AICs (linear, quadratic) that the reconstruction takes in place of those that Table 6 prints.
#: Everything else that is printed of this model agrees: Tables 2, 4 and 5, and the root and ID50 of
#: the authors' results page. Together they put the AICs about 4 higher, into a small region
#: (chapter 13), of which this is the middle.
REPLACED_AICS = {"DeepSeek-R1-Distill-Qwen-32B": (16491.6, 16414.1)}

#: Columns whose sums do not follow from Tables 4 and 5.
OPEN_COLUMNS = (3, 4, 5, 6, 7, 8)
#: Names of the printed numbers that identify them, in the order of `predict`.
PRINTED = (
    "aic_linear",
    "aic_quadratic",
    *(f"beta_{t}" for t in PRODUCTS),
    *(f"p_{t}" for t in PRODUCTS),
    "p_lr",
)


@dataclass(frozen=True)
class Derived:
    """What Tables 4, 5 and 6 say of one model's row of Table 2 under one coding of rho.

    ``missing`` has the nominal ratio taken for each missing puzzle; ``window`` the sums of rho that the three decimals
    of AIC_linear allow; ``max_deviation`` is the largest from the printed row, in half units of the last digit.
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


def derive_each(
    cases: Sequence[tuple[Model, tuple[int, ...]]], rule: str = "half-up"
) -> list[Derived]:
    """Derive rows of Table 2, each for a model and the ratios of its missing puzzles.

    Each AIC leaves two values of its sum, one for either sign of the slope; the printed row decides between them.
    """
    x, models = _design(rule), [model.name for model, _ in cases]
    n = np.array([puzzles_per_cell(*case) for case in cases])
    known = np.array([exact_statistics(model) for model in models])
    aics = _printed("table6").loc[models, ["aic_linear", "aic_quadratic"]].to_numpy(float)
    worst, T, beta = _rows(models, rule, n, known, aics)
    if (lost := np.isinf(worst).all(axis=1)).any():
        raise ValueError(f"nothing has the AICs of {models[lost.argmax()]}; check Tables 4 to 6")
    chosen = np.arange(len(cases)), worst.argmin(axis=1)
    worst, T, beta = worst[chosen], T[chosen], beta[chosen]
    p = expit(beta @ x.T)
    se = [
        np.sqrt(np.diag(np.linalg.inv(x.T @ (x * weight[:, None])))) for weight in n * p * (1 - p)
    ]
    windows = _windows(x[:, :4], n, known, aics[:, 0], T[:, 3])
    points = (
        pd.DataFrame(many_points(beta, _means(rule)))
        .assign(ecl50=lambda at: 10 ** at["ecl50"])
        .to_dict("records")
    )
    parts = zip(cases, T, windows, beta, se, points, worst, strict=True)
    return [Derived(model, rule, missing, *rest) for (model, missing), *rest in parts]


def derive_all(rule: str = "half-up") -> list[Derived]:
    """Derive every model's row of Table 2.

    Missing puzzles are put where they favour the coding: where the row is reproduced, then where the sum of rho is
    possible, then where the deviation is least.
    """
    derived = derive_each(
        [(model, choice) for model in MODELS for choice in missing_ratios(model)], rule
    )
    derived.sort(key=lambda one: (one.max_deviation > 1, not on_lattice(one), one.max_deviation))
    return [next(one for one in derived if one.model == model) for model in MODELS]


def least_deviation(derived: Derived) -> float:
    """Return the deviation of Table 2's row at the most favourable corner of the rounding of the two AICs."""
    model, rule = derived.model, derived.rule
    corners = np.array(list(product((-AIC_HALF_UNIT, AIC_HALF_UNIT), repeat=2)))
    aics = (
        _printed("table6").loc[model.name, ["aic_linear", "aic_quadratic"]].to_numpy(float)
        + corners
    )
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
        n[(GRID["d"] == d) & (GRID["N"] == N) & (GRID["ratio_pct"] == ratio)] -= 1
    return n


@cache
def exact_statistics(model: str) -> np.ndarray:
    """Return sum y, sum y*d and sum y*log10 N, exactly, from Tables 4 and 5."""
    by_d, by_N = (
        frame[frame["model"] == model] for frame in (correct_by("table4"), correct_by("table5"))
    )
    lengths = np.log10(by_N["N"].astype(float))
    return np.array([by_d["correct"].sum(), by_d["correct"] @ by_d["d"], by_N["correct"] @ lengths])


@cache
def _design(rule: str) -> np.ndarray:
    rho = np.array([float(share) for share in needle_shares(rule)])
    return np.column_stack([X[:, :3], rho, rho**2])


@cache
def _means(rule: str) -> dict[str, float]:
    return grid_means(GRID.assign(rho=_design(rule)[:, 3]))


@cache
def _printed(table: str) -> pd.DataFrame:
    return load_table(table).set_index("model")


def _rows(
    models: Sequence[str], rule: str, n: np.ndarray, known: np.ndarray, aics: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return what each pair of roots of two AICs gives: deviations (m, 4), statistics and coefficients (m, 4, 5)."""
    x, m = _design(rule), len(models)
    T = known
    for columns, aic in ((4, aics[:, 0]), (5, np.repeat(aics[:, 1], 2))):
        roots = np.column_stack(solve_aic(x[:, :columns], n, T, aic))
        n, T = np.repeat(n, 2, axis=0), np.column_stack([np.repeat(T, 2, axis=0), roots.ravel()])
    beta, _ = maximise_all(x, n, T)
    points = many_points(beta, _means(rule))
    values = np.column_stack([beta, 10 ** points["ecl50"], points["nt50"], points["id50"]]).reshape(
        m, 4, -1
    )
    printed = _printed("table2").loc[list(models), list(HALF_UNITS)].to_numpy(float)
    worst = _deviate(values, printed[:, None]).max(axis=2)
    return worst, T.reshape(m, 4, 5), beta.reshape(m, 4, 5)


def _windows(
    x: np.ndarray, n: np.ndarray, known: np.ndarray, aics: np.ndarray, sums: np.ndarray
) -> list[tuple[float, float]]:
    """Return the sums of rho between which AIC_linear prints as it does, on the side of the given ones."""
    outer_low, outer_high = solve_aic(x, n, known, aics - AIC_HALF_UNIT)
    inner_low, inner_high = solve_aic(x, n, known, aics + AIC_HALF_UNIT)
    below = sums < (outer_low + outer_high) / 2
    flat = np.isnan(inner_low)  # no slope at all is possible: both signs are
    low, high = (
        np.where(below | flat, outer_low, inner_high),
        np.where(below & ~flat, inner_low, outer_high),
    )
    return list(zip(low.tolist(), high.tolist(), strict=True))


def on_lattice(derived: Derived) -> bool:
    """Return whether the window of the sum of rho holds a value that the sum can have."""
    step = float(lattice_step(derived.rule))
    low, high = derived.window
    return bool(np.floor(high / step) >= np.ceil(low / step))


def deviations(model: str, beta: np.ndarray, points: dict[str, float]) -> dict[str, float]:
    """Return the deviations from a row of Table 2 in half printed units; NT50 where neither has one deviates by 0."""
    values = np.array([*beta, *(points[point] for point in POINTS)], dtype=float)
    off = _deviate(values, _printed("table2").loc[model, list(HALF_UNITS)].to_numpy(float))
    return dict(zip(HALF_UNITS, off.tolist(), strict=True))


def uses_table2(model: str) -> bool:
    """Return whether a model's reconstruction rests on its row of Table 2, which then is no test.

    The row selects the needle ratios of missing puzzles, or takes the place of Table 6.
    """
    return bool(find_model(model).missing) or model in REPLACED_AICS


def _deviate(values: np.ndarray, printed: np.ndarray) -> np.ndarray:
    """Return deviations of the numbers of `HALF_UNITS` in half printed units, infinite where one is missing."""
    off = np.abs(values - printed) / np.array(list(HALF_UNITS.values()))
    return np.where(np.isnan(off), np.where(np.isnan(values) & np.isnan(printed), 0.0, np.inf), off)


def compare_table2(derived: Iterable[Derived]) -> pd.DataFrame:
    """Compare each derived number with the printed text of Table 2; deviations are in half printed units."""
    printed, rows = load_printed("table2").set_index("model"), []
    for one in derived:
        name, own = one.model.name, printed.loc[one.model.name]
        off = deviations(name, one.beta, one.points)
        for beta, value, se in zip(BETAS, one.beta, one.se, strict=True):
            shown = stars(2 * norm.sf(abs(value / se)))
            rows.append(
                (name, one.rule, beta, own[beta], value, se, off[beta], shown, own[f"{beta}_stars"])
            )
        for point in POINTS:
            rows.append(
                (name, one.rule, point, own[point], one.points[point], np.nan, off[point], "", "")
            )
    columns = [
        "model",
        "rule",
        "quantity",
        "printed",
        "derived",
        "se",
        "deviation",
        "stars",
        "printed_stars",
    ]
    return pd.DataFrame(rows, columns=columns)


def compare_codings(derived: Iterable[Derived]) -> pd.DataFrame:
    """Return how many models agree with each coding of rho.

    The sum of rho is a multiple of ``step``; of the ``complete`` models, ``possible`` have such a sum inside the
    rounding of AIC_linear (and ``by_chance`` would), and the ``rows`` of Table 2 follow.
    """
    derived, rows = list(derived), []
    for rule in dict.fromkeys(one.rule for one in derived):
        own, step = [one for one in derived if one.rule == rule], lattice_step(rule)
        complete = [one for one in own if not one.model.missing]
        chances = [min(1.0, (one.window[1] - one.window[0]) / float(step)) for one in complete]
        follow = sum(one.max_deviation <= 1 or least_deviation(one) <= 1 for one in complete)
        rows.append((rule, str(step), len(complete), sum(map(on_lattice, complete)), sum(chances), follow,
                     max(one.max_deviation for one in own)))  # fmt: skip
    columns = ["rule", "step", "complete", "possible", "by_chance", "rows", "max_deviation"]
    return pd.DataFrame(rows, columns=columns)


@dataclass(frozen=True)
class Recovered:
    """Sufficient statistics T = X'y, shape (9,), of one model's answers to n puzzles per cell.

    ``missing_ratios`` has the nominal ratio chosen for each missing puzzle, in the order of ``model.missing``;
    ``max_deviation`` is the largest from the numbers of `PRINTED`, in half units of the last printed digit.
    """

    model: Model
    missing_ratios: tuple[int, ...]
    n: np.ndarray
    T: np.ndarray
    max_deviation: float


def predict(n: np.ndarray, T: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the numbers of `PRINTED` (p as log p) that statistics imply, and their derivatives by `OPEN_COLUMNS`."""
    values, jacobian = np.empty(len(PRINTED)), np.zeros((len(PRINTED), 9))
    for row, columns in enumerate((LINEAR, QUADRATIC)):
        beta, loglik = maximise(X[:, columns], n, T[list(columns)])
        values[row] = 2 * len(columns) - 2 * loglik
        jacobian[row, list(columns)] = -2 * beta
    full, loglik = maximise(X[:, FULL], n, T[list(FULL)])
    p = expit(X @ full)
    covariance = np.linalg.inv(X.T @ (X * (n * p * (1 - p))[:, None]))
    for row, column in enumerate(PRODUCTS.values(), start=2):
        values[row], jacobian[row] = full[column], covariance[column]
        kept = [c for c in FULL if c != column]
        reduced, reduced_loglik = maximise(X[:, kept], n, T[kept])
        statistic = max(2 * (loglik - reduced_loglik), 1e-12)
        slope = 2 * full
        slope[kept] -= 2 * reduced
        values[row + 4] = chi2.logsf(statistic, 1)
        jacobian[row + 4] = -np.exp(chi2.logpdf(statistic, 1) - values[row + 4]) * slope
    statistic = values[0] - values[1] + 2
    values[-1] = chi2.sf(statistic, 1)
    jacobian[-1] = -chi2.pdf(statistic, 1) * (jacobian[0] - jacobian[1])
    return values, jacobian[:, list(OPEN_COLUMNS)]


def printed_windows(model: str) -> tuple[np.ndarray, np.ndarray]:
    """Return what is printed for `PRINTED` (Table 3's p as log p) and the half widths that rounding leaves.

    `REPLACED_AICS` take the place of printed ones.
    """
    table6 = _printed("table6").loc[model]
    aics = REPLACED_AICS.get(model, table6[["aic_linear", "aic_quadratic"]])
    table3 = load_printed("table3").set_index("model").loc[model].to_dict()
    beta, p = ([float(table3[f"{kind}_{term}"]) for term in PRODUCTS] for kind in ("beta", "p"))
    half_units = [
        0.5 * 10.0 ** (np.floor(np.log10(one)) - 2) for one in p
    ]  # three significant digits
    values = [*aics, *beta, *map(np.log, p), table6["p_lr"]]
    widths = [0.0005, 0.0005, *[0.005] * len(beta), *map(truediv, half_units, p), 0.0005]
    return np.array(values, float), np.array(widths)


def recover(model: Model) -> Recovered:
    """Recover a model's sufficient statistics from Tables 3 to 6; Table 2 selects the ratios of missing puzzles."""
    starts = derive_each([(model, choice) for choice in missing_ratios(model)])
    if model.missing:
        starts = [start for start in starts if start.max_deviation <= 1]
    if not starts:
        raise ValueError(
            f"no choice of the missing puzzles of {model.name} gives its row of Table 2; check the tables"
        )
    return min(map(_recover_from, starts), key=lambda recovered: recovered.max_deviation)


def recovered_from(cells: pd.DataFrame, model: str) -> Recovered:
    """Return the sufficient statistics of a model's reconstructed counts (all 140 cells), without a search."""
    own = GRID.merge(cells[cells["model"] == model], on=["N", "d", "ratio_pct"])
    if len(own) != len(GRID):
        raise ValueError(
            f"{model} has {len(own)} of the paper's {len(GRID)} cells; give the reconstructed cells whole"
        )
    n = own["total"].to_numpy(float)
    return Recovered(find_model(model), (), n, X.T @ own["correct"].to_numpy(float), 0.0)


def _recover_from(start: Derived) -> Recovered:
    """Find the statistics that print Tables 3 and 6, from those that print Tables 4 to 6, without interactions."""
    n = puzzles_per_cell(start.model, start.missing)
    expected = n * expit(X[:, QUADRATIC] @ start.beta)
    T = np.concatenate([start.T, X[:, 5:].T @ expected])
    values, widths = printed_windows(start.model.name)
    # the first six numbers bring the statistics near, then all centre them
    T, _ = _centre(n, T, values, widths, OPEN_COLUMNS, numbers=6)
    T, _ = _centre(n, T, values, widths, OPEN_COLUMNS, numbers=len(PRINTED))
    # needles / N is a multiple of 1/500 in every cell, so 500 T_rho is a whole number
    candidates = []
    for whole in (np.floor(500 * T[3]), np.ceil(500 * T[3])):
        fixed = T.copy()
        fixed[3] = whole / 500
        candidates.append(_centre(n, fixed, values, widths, OPEN_COLUMNS[1:], numbers=len(PRINTED)))
    T, deviation = min(candidates, key=lambda candidate: candidate[1])
    T[4:] = significant(T[4:], 9)
    return Recovered(start.model, start.missing, n, T, deviation)


def significant(values: np.ndarray, digits: int) -> np.ndarray:
    """Round to so many digits, so that processors that differ in the last ones find the same table of counts."""
    return np.vectorize(lambda value: float(f"{value:.{digits}g}"))(values)


def _centre(
    n: np.ndarray,
    T: np.ndarray,
    values: np.ndarray,
    widths: np.ndarray,
    free: tuple[int, ...],
    numbers: int,
) -> tuple[np.ndarray, float]:
    """Move the free statistics to where the largest deviation from the first `numbers` printed numbers is least."""
    moving = [OPEN_COLUMNS.index(column) for column in free]

    def deviations(T):
        predicted, jacobian = predict(n, T)
        return ((predicted - values) / widths)[:numbers], (jacobian / widths[:, None])[
            :numbers, moving
        ]

    residual, jacobian = deviations(T)
    for _ in range(25):
        step = centre_step(residual, jacobian)
        for halvings in range(20):
            moved = T.copy()
            moved[list(free)] += step / 2**halvings
            try:
                new = deviations(moved)
            except (ValueError, np.linalg.LinAlgError):  # outside what n allows
                continue
            if np.abs(new[0]).max() < np.abs(residual).max() * (1 - 1e-4):
                T, (residual, jacobian) = moved, new
                break
        else:
            break
    return T, float(np.abs(residual).max())


def centre_step(residual: np.ndarray, jacobian: np.ndarray) -> np.ndarray:
    """Return the step s that minimises max |residual + jacobian s|."""
    scale = 1 / np.abs(jacobian).max(axis=0)
    a = jacobian * scale
    bound = np.ones((len(a), 1))
    programme = linprog(
        np.append(np.zeros(a.shape[1]), 1.0),
        A_ub=np.block([[a, -bound], [-a, -bound]]),
        b_ub=np.concatenate([-residual, residual]),
        bounds=[(None, None)] * a.shape[1] + [(0, None)],
    )
    return scale * programme.x[:-1]
