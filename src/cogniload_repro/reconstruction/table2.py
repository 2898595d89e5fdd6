"""Table 2 derived from Tables 4 to 6, as a test of the paper's tables against one another.

Table 2's regression has five sufficient statistics. Tables 4 and 5 fix three of them, the two AICs
of Table 6 the other two. They determine a whole row, but only if rho is coded as the authors did.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import product
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import norm

from cogniload_repro.formats import stars
from cogniload_repro.models import MODELS, Model
from cogniload_repro.published import load_printed
from cogniload_repro.reconstruction.codings import (
    coded_covariates,
    coded_means,
    lattice_step,
)
from cogniload_repro.reconstruction.printed import (
    AIC_HALF_UNIT,
    BETAS,
    HALF_UNITS,
    exact_sums,
    missing_ratios,
    printed_aics,
    printed_rows,
    puzzles_per_cell,
)
from cogniload_repro.regression.design import roots_along_rho
from cogniload_repro.regression.likelihood import maximise_all, solve_aic


@dataclass(frozen=True)
class DerivedRow:
    """One model's row of Table 2 as derived from Tables 4, 5 and 6 under one coding of rho.

    ``ratios`` has the needle ratio (%) assumed for each missing puzzle; ``sums`` the sums of the
    five covariates over the correct answers; ``window`` the range of the sum of rho that agrees
    with the linear AIC, printed to three decimals. ``values`` and ``deviations`` (absolute, from
    the printed row, in half units of the last digit) are in the order of `printed.HALF_UNITS`;
    ``se`` are the standard errors of the coefficients.
    """

    model: Model
    coding: str
    ratios: tuple[int, ...]
    sums: np.ndarray
    window: tuple[float, float]
    values: np.ndarray
    deviations: np.ndarray
    se: np.ndarray

    @property
    def beta(self) -> np.ndarray:
        """The five coefficients."""
        return self.values[: len(BETAS)]

    @property
    def max_deviation(self) -> float:
        """The largest deviation; the row is reproduced if it is at most 1."""
        return float(self.deviations.max())

    @property
    def has_possible_sum(self) -> bool:
        """Whether the window of the sum of rho contains a multiple of the coding's lattice step."""
        step = float(lattice_step(self.coding))
        low, high = self.window
        return bool(np.floor(high / step) >= np.ceil(low / step))


class _Candidates(NamedTuple):
    """The four rows that two AICs allow for each model.

    There is one per pair of signs of beta_rho in the linear fit and beta_rho2 in the quadratic fit.
    Arrays have the shape (models, 4, ...).
    """

    sums: np.ndarray
    values: np.ndarray
    deviations: np.ndarray

    def select_nearest(self) -> "_Candidates":
        """Return for each model the row with the smallest maximum deviation."""
        worst = self.deviations.max(axis=2)
        models = np.arange(len(worst))
        nearest = (models, worst.argmin(axis=1))
        return _Candidates(*(part[nearest] for part in self))


def derive_each(
    cases: Sequence[tuple[Model, tuple[int, ...]]],
    coding: str = "half-up",
) -> list[DerivedRow]:
    """Derive a row of Table 2 for each model and needle ratios of its missing puzzles.

    Each AIC has two solutions for the sum of its last covariate, one per sign of the coefficient;
    the nearest to the printed row is taken.
    """
    names = [model.name for model, _ in cases]
    answers = np.array([puzzles_per_cell(model, ratios) for model, ratios in cases])
    known = np.array([exact_sums(name) for name in names])
    aics = printed_aics(names)
    candidates = _solve_rows(names, coding, answers, known, aics)
    nearest = candidates.select_nearest()
    windows = _find_windows(coding, answers, known, aics[:, 0], nearest.sums[:, 3])
    se = _standard_errors(coding, answers, nearest.values[:, : len(BETAS)])
    rows = []
    for place, (model, ratios) in enumerate(cases):
        row = DerivedRow(
            model=model,
            coding=coding,
            ratios=ratios,
            sums=nearest.sums[place],
            window=tuple(windows[place].tolist()),
            values=nearest.values[place],
            deviations=nearest.deviations[place],
            se=se[place],
        )
        if np.isinf(row.max_deviation):
            raise ValueError(
                f"no fit has the AICs printed for {model.name}; check Tables 4 to 6"
            )
        rows.append(row)
    return rows


def derive_all(coding: str = "half-up") -> list[DerivedRow]:
    """Derive every model's row of Table 2 under a coding of rho.

    Missing puzzles get the ratios most favourable to the coding: those that reproduce the row come
    first, then those with a possible sum of rho, then those with the smallest maximum deviation.
    """
    cases = [(model, ratios) for model in MODELS for ratios in missing_ratios(model)]
    best: dict[Model, DerivedRow] = {}
    for row in sorted(derive_each(cases, coding), key=_rank_row):
        best.setdefault(row.model, row)
    return [best[model] for model in MODELS]


def _rank_row(row: DerivedRow) -> tuple[bool, bool, float]:
    """Return a key that sorts the rows most favourable to the coding first."""
    return row.max_deviation > 1, not row.has_possible_sum, row.max_deviation


def least_deviations(rows: Sequence[DerivedRow]) -> np.ndarray:
    """Return each row's smallest maximum deviation over the rounding of both AICs.

    The AICs are tried as printed and at the four corners of their rounding intervals. The rows are
    of one coding.
    """
    names = [row.model.name for row in rows]
    answers = np.array([puzzles_per_cell(row.model, row.ratios) for row in rows])
    known = np.array([exact_sums(name) for name in names])
    least = np.array([row.max_deviation for row in rows])
    for signs in product((-1, 1), repeat=2):
        aics = printed_aics(names) + np.array(signs) * AIC_HALF_UNIT
        candidates = _solve_rows(names, rows[0].coding, answers, known, aics)
        worst = candidates.deviations.max(axis=2)
        least = np.minimum(least, worst.min(axis=1))
    return least


def compare_table2(rows: Iterable[DerivedRow]) -> pd.DataFrame:
    """Return each derived number beside the printed text of Table 2, one row per number.

    Deviations are in half units of the last printed digit.
    """
    printed = load_printed("table2").set_index("model")
    numbers = []
    for row in rows:
        texts = printed.loc[row.model.name]
        se = [*row.se, *[np.nan] * (len(HALF_UNITS) - len(BETAS))]
        for place, quantity in enumerate(HALF_UNITS):
            value = row.values[place]
            number = {
                "model": row.model.name,
                "coding": row.coding,
                "quantity": quantity,
                "printed": texts[quantity],
                "derived": value,
                "se": se[place],
                "deviation": row.deviations[place],
                "stars": "",
                "printed_stars": "",
            }
            if quantity in BETAS:
                z = value / se[place]
                number["stars"] = stars(2 * norm.sf(abs(z)))
                number["printed_stars"] = texts[f"{quantity}_stars"]
            numbers.append(number)
    return pd.DataFrame(numbers)


def row_values(betas: np.ndarray, means: dict[str, float]) -> np.ndarray:
    """Return rows of Table 2, shape (rows, 8), from coefficients (rows, 5).

    The order is that of `printed.HALF_UNITS`; capacity points hold the other loads at ``means``.
    This is the closed form of `regression.capacity` for the paper's formula, which thousands of
    candidate rows need.
    """
    intercept, slope_d, slope_N, slope_rho, curvature = betas.T
    at_rho = intercept + slope_rho * means["rho"] + curvature * means["rho"] ** 2
    with np.errstate(all="ignore"):
        log10_ecl50 = -(at_rho + slope_d * means["d"]) / slope_N
        ecl50 = 10**log10_ecl50
        id50 = -(at_rho + slope_N * means["log10_N"]) / slope_d
    roots = roots_along_rho(betas, means)
    is_share = (roots >= 0) & (roots <= 1)
    shares = pd.DataFrame(roots).where(is_share)
    ecl50[slope_N >= 0] = np.nan
    id50[slope_d >= 0] = np.nan
    return np.column_stack([betas, ecl50, shares.max(axis=1), id50])


def row_deviations(values: np.ndarray, printed: np.ndarray) -> np.ndarray:
    """Return how far numbers of Table 2 are from printed ones, in half units of the last digit.

    The deviation is infinite if only one of the two has a capacity point, zero if neither has it.
    """
    deviations = np.abs(values - printed) / list(HALF_UNITS.values())
    in_neither = np.isnan(values) & np.isnan(printed)
    deviations[np.isnan(deviations)] = np.inf
    deviations[in_neither] = 0.0
    return deviations


def _solve_rows(
    names: Sequence[str],
    coding: str,
    answers: np.ndarray,
    known: np.ndarray,
    aics: np.ndarray,
) -> _Candidates:
    """Return the four rows of Table 2 that two AICs allow for each model."""
    covariates = coded_covariates(coding)
    means = coded_means(coding)
    printed = printed_rows(names)
    candidates = []
    for sum_rho in solve_aic(covariates[:, :4], answers, known, aics[:, 0]):
        with_rho = np.column_stack([known, sum_rho])
        for sum_square in solve_aic(covariates, answers, with_rho, aics[:, 1]):
            sums = np.column_stack([with_rho, sum_square])
            betas, _ = maximise_all(covariates, answers, sums)
            values = row_values(betas, means)
            candidates.append(
                _Candidates(sums, values, row_deviations(values, printed))
            )
    parts = zip(*candidates, strict=True)
    return _Candidates(*(np.stack(part, axis=1) for part in parts))


def _find_windows(
    coding: str,
    answers: np.ndarray,
    known: np.ndarray,
    aic: np.ndarray,
    sums: np.ndarray,
) -> np.ndarray:
    """Return, per model, the sums of rho (a range) for which the linear AIC rounds as printed.

    There is one such window per sign of beta_rho; the one that belongs to ``sums`` is returned.
    """
    covariates = coded_covariates(coding)[:, :4]
    # the AIC is highest at beta_rho = 0, so the solutions for a lower AIC are further apart
    outer_low, outer_high = solve_aic(covariates, answers, known, aic - AIC_HALF_UNIT)
    inner_low, inner_high = solve_aic(covariates, answers, known, aic + AIC_HALF_UNIT)
    is_below = sums < (outer_low + outer_high) / 2
    # if the highest AIC also rounds to the printed one, the two windows merge
    is_joined = np.isnan(inner_low)
    low = np.where(is_below | is_joined, outer_low, inner_high)
    high = np.where(is_below & ~is_joined, inner_low, outer_high)
    return np.column_stack([low, high])


def _standard_errors(
    coding: str,
    answers: np.ndarray,
    betas: np.ndarray,
) -> np.ndarray:
    """Return the standard errors of coefficients, from the inverse expected information."""
    covariates = coded_covariates(coding)
    accuracies = expit(betas @ covariates.T)
    weights = answers * accuracies * (1 - accuracies)
    errors = []
    for weight in weights:
        weighted = covariates * weight[:, None]
        information = covariates.T @ weighted
        covariance = np.linalg.inv(information)
        variances = np.diag(covariance)
        errors.append(np.sqrt(variances))
    return np.array(errors)
