"""The paper's printed tables held against one another, as a reader would check by hand."""

from collections.abc import Iterable
from itertools import pairwise

import numpy as np
import pandas as pd
from scipy.special import expit
from scipy.stats import norm

from cogniload_repro.formats import stars
from cogniload_repro.models import Model, find_model
from cogniload_repro.published import ERRORS, load_printed, load_table
from cogniload_repro.reconstruction.derivation import (
    BETAS,
    HALF_UNITS,
    POINTS,
    Derived,
    derive_each,
    deviations,
    exact_statistics,
    lattice_step,
    least_misfit,
    missing_ratios,
    on_lattice,
    puzzles_per_cell,
)
from cogniload_repro.reconstruction.feasible import spread_band
from cogniload_repro.reconstruction.polytope import constraints_around, estimate_log10_tables
from cogniload_repro.reconstruction.sufficient import PRINTED, predict, printed_windows
from cogniload_repro.statistics.accuracy import accuracy_by
from cogniload_repro.statistics.capacity import capacity_points
from cogniload_repro.statistics.design import GRID, X
from cogniload_repro.statistics.likelihood import maximise


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
        position = (low - nearest, value - nearest, high - nearest)
        rows.append((one.model.name, one.rule, nearest, *position, on_lattice(one), min(1.0, high - low)))
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
        name, off = one.model.name, deviations(one.model.name, one.beta, one.points)
        own = printed.loc[name]
        for beta, value, se in zip(BETAS, one.beta, one.se, strict=True):
            shown = stars(2 * norm.sf(abs(value / se)))
            rows.append((name, one.rule, beta, own[beta], value, se, off[beta], shown, own[f"{beta}_stars"]))
        for point in POINTS:
            rows.append((name, one.rule, point, own[point], one.points[point], np.nan, off[point], "", ""))
    columns = ["model", "rule", "quantity", "printed", "derived", "se", "off", "stars", "printed_stars"]
    return pd.DataFrame(rows, columns=columns)


def missing_choices(model: Model) -> pd.DataFrame:
    """Return the ratios that a model's missing puzzles can have had, best first, and the balanced design last.

    Returns
    -------
    DataFrame
        ratios (nominal, in %, in the order of ``model.missing``; empty for the balanced design), beta_rho, misfit
        (half printed units, over the whole row of Table 2), misfit_weighted (the same if capacity points were taken at
        means over the answers, not over the design), whole (500 T_rho can be a whole number).
    """
    rows = []
    whole = Model(model.name, model.label, model.family, model.puzzles_per_cell)
    cases = [*((model, choice) for choice in missing_ratios(model)), (whole, ())]
    for (full, choice), derived in zip(cases, derive_each(cases), strict=True):
        means = X[:, 1:4].T @ puzzles_per_cell(full, choice) / puzzles_per_cell(full, choice).sum()
        weighted = capacity_points(derived.beta, dict(zip(("d", "log10_N", "rho"), means, strict=True)))
        off = max(deviations(model.name, derived.beta, weighted).values())
        rows.append((choice, derived.beta[3], derived.misfit, off, on_lattice(derived)))
    frame = pd.DataFrame(rows, columns=["ratios", "beta_rho", "misfit", "misfit_weighted", "whole"])
    return pd.concat([frame.iloc[:-1].sort_values("misfit", kind="stable"), frame.iloc[-1:]], ignore_index=True)


def summarise_rules(derived: Iterable[Derived]) -> pd.DataFrame:
    """Say of each reading of rho how many models agree with it.

    Returns
    -------
    DataFrame
        One row a reading: rule, step (of the lattice), complete (models without missing puzzles), on_lattice and
        expected (how many of those have a lattice point in their window, and how many would by chance), models, rows
        (how many of all models have a row of Table 2 that can come out), worst (largest misfit, half printed units).
    """
    derived, rows = list(derived), []
    for rule in dict.fromkeys(one.rule for one in derived):
        own = [one for one in derived if one.rule == rule]
        test = lattice_test(one for one in own if not one.model.missing)
        out = sum(one.misfit <= 1 or least_misfit(one) <= 1 for one in own)
        worst = max(one.misfit for one in own)
        rows.append((rule, str(lattice_step(rule)), len(test), test["inside"].sum(), test["chance"].sum(), len(own),
                     out, worst))  # fmt: skip
    columns = ["rule", "step", "complete", "on_lattice", "expected", "models", "rows", "worst"]
    return pd.DataFrame(rows, columns=columns)


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
        predicted, _ = predict(own["total"].to_numpy(float), X.T @ own["correct"].to_numpy(float))
        off = pd.Series(np.abs(predicted - printed) / widths, PRINTED)
        groups = (off[off.index.str.startswith(kind)].max() for kind in ("aic", "beta", "p_d", "p_N"))
        aic, beta, p_d, p_N = groups
        rows.append((model, aic, beta, max(p_d, p_N), off.idxmax()))
    return pd.DataFrame(rows, columns=["model", "aic", "beta", "p", "worst"])


def aic_region(model: str, steps: int = 21) -> pd.DataFrame:
    """Return the AICs that a printed row of Table 2 would need, given Tables 4 and 5.

    The coefficients of rho and rho^2 run over what their two decimals allow; Tables 4 and 5 fix the other three, and
    rows in which these do not print as they are printed are left out.

    Returns
    -------
    DataFrame
        beta_0, beta_d, beta_N, beta_rho, beta_rho2, aic_linear, aic_quadratic; empty if the row contradicts Tables 4
        and 5 alone.
    """
    found = find_model(model)
    if found.missing:
        raise ValueError(f"{model} lacks puzzles of unknown ratio, so its row leaves no single region; choose another")
    n, known = puzzles_per_cell(found, ()), exact_statistics(model)
    printed = load_table("table2").set_index("model").loc[model, list(BETAS)].to_numpy(float)
    half = HALF_UNITS["beta_rho"]
    rows = []
    for slope in printed[3] + np.linspace(-half, half, steps):
        for bend in printed[4] + np.linspace(-half, half, steps):
            settled, _ = maximise(X[:, :3], n, known, X[:, 3:5] @ [slope, bend])
            beta = np.append(settled, [slope, bend])
            if (np.abs(beta - printed) > half * (1 + 1e-9)).any():
                continue
            eta = X[:, :5] @ beta
            T = X[:, :5].T @ (n * expit(eta))
            quadratic = 10 - 2 * (beta @ T - n @ np.logaddexp(0, eta))
            rows.append((*beta, 8 - 2 * maximise(X[:, :4], n, T[:4])[1], quadratic))
    return pd.DataFrame(rows, columns=[*BETAS, "aic_linear", "aic_quadratic"])


def misprints(printed: str) -> list[str]:
    """Return what a number can have been if one digit of it was misread, or two neighbouring ones swapped."""
    places = [place for place, letter in enumerate(printed) if letter.isdigit()]
    changed = {printed[:place] + digit + printed[place + 1 :] for place in places for digit in "0123456789"}
    for first, second in pairwise(places):
        swapped = list(printed)
        swapped[first], swapped[second] = printed[second], printed[first]
        changed.add("".join(swapped))
    return sorted(changed - {printed})


def needed_aics(model: str) -> pd.DataFrame:
    """Return which AICs a printed row of Table 2 needs, beside those of Table 6 and what these may be misprints of.

    Returns
    -------
    DataFrame
        One row an AIC: aic (linear, quadratic), printed (text), low and high (`aic_region`), slips (numbers that are
        one slip away, see `misprints`), slips_inside (those between low and high).

    Raises
    ------
    ValueError
        If the row contradicts Tables 4 and 5 alone, so that no AIC can mend it.
    """
    region, printed = aic_region(model), load_printed("table6").set_index("model").loc[model]
    if region.empty:
        raise ValueError(f"the printed row of {model} contradicts Tables 4 and 5 alone; no AIC can mend that")
    rows = []
    for kind in ("linear", "quadratic"):
        needed, shown = region[f"aic_{kind}"], printed[f"aic_{kind}"]
        low, high, slips = needed.min(), needed.max(), misprints(shown)
        rows.append((kind, shown, low, high, len(slips), sum(low <= float(slip) <= high for slip in slips)))
    return pd.DataFrame(rows, columns=["aic", "printed", "low", "high", "slips", "slips_inside"])


def used_ratios(model: str, cells: pd.DataFrame) -> tuple[int, ...]:
    """Return the nominal ratios (%) that a table of counts gives to a model's missing puzzles, in their order."""
    found = find_model(model)
    own = cells[(cells["model"] == model) & (cells["total"] < found.puzzles_per_cell)]
    lacking: dict[tuple[int, int], list[int]] = {}
    for row in own.sort_values("ratio_pct").itertuples():
        lacking.setdefault((row.d, row.N), []).extend([int(row.ratio_pct)] * (found.puzzles_per_cell - row.total))
    return tuple(lacking[place].pop(0) for place in found.missing)


def half_widths(cells: pd.DataFrame, *dims: str) -> pd.DataFrame:
    """Return by how much accuracies are uncertain, in percentage points to either side.

    Returns
    -------
    DataFrame
        One row a model and combination of the dims: these, tables (half the 95% band of the drawn tables) and wilson
        (half the 90% Wilson interval).
    """
    keys = ["model", *dims]
    both = accuracy_by(cells, *keys).merge(spread_band(cells, *keys), on=keys)
    tables, wilson = (50 * (both[high] - both[low]) for low, high in (("lowest", "highest"), ("low", "high")))
    return both[keys].assign(tables=tables, wilson=wilson)


def count_tables(cells: pd.DataFrame) -> pd.Series:
    """Estimate how many tables of counts are possible, as a power of ten, by model (`estimate_log10_tables`).

    Parameters
    ----------
    cells : DataFrame
        The reconstructed cells.
    """
    return pd.Series(
        {model: estimate_log10_tables(constraints_around(cells, model)) for model in dict.fromkeys(cells["model"])}
    )
