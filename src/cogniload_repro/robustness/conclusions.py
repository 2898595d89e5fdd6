"""The paper's conclusions, held against their own uncertainty and against other specifications.

Every sentence is made from the tables of `uncertainty`, `comparisons`, `interactions`, `specifications`, `dispersion`
and `overflows`; the verdict is decided by a rule, not by hand.
"""

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import norm

from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import BY_NAME
from cogniload_repro.published import load_claims
from cogniload_repro.robustness.comparisons import (
    ALPHA,
    TIERS,
    check_tiers,
    compare_pairs,
    dominant_load,
    place_outsiders,
)
from cogniload_repro.robustness.dispersion import dispersion_table
from cogniload_repro.robustness.interactions import interaction_tests
from cogniload_repro.robustness.overflows import compare_treatments
from cogniload_repro.robustness.specifications import SPECIFICATIONS, fit_specifications, is_settled
from cogniload_repro.robustness.uncertainty import capacity_intervals, trough_table

LEADERS = ("gpt-5-2025-08-07", "o3-2025-04-16")
HOLDS, PARTLY, FAILS = "holds", "in part", "does not hold"


#: The longest task of the paper's grid, in statements.
_LONGEST = max(cell.N for cell in PAPER_GRID)


@dataclass(frozen=True)
class Analyses:
    """The tables that conclusions are drawn from, all of the same cells; see the functions that make them.

    Of the specifications only those that the printed tables settle, for the frontier class.
    """

    intervals: pd.DataFrame
    troughs: pd.DataFrame
    accuracy_pairs: pd.DataFrame
    ecl50_pairs: pd.DataFrame
    loads: pd.DataFrame
    interactions: pd.DataFrame
    specifications: pd.DataFrame
    dispersion: pd.DataFrame
    overflows: pd.DataFrame


def analyse(cells: pd.DataFrame, replicates: int = 1000) -> Analyses:
    """Return every analysis of a cells frame."""
    return Analyses(
        intervals=capacity_intervals(cells, replicates=replicates),
        troughs=trough_table(cells),
        accuracy_pairs=compare_pairs(cells, "accuracy"),
        ecl50_pairs=compare_pairs(cells, "ecl50"),
        loads=dominant_load(cells),
        interactions=interaction_tests(cells),
        specifications=fit_specifications(
            cells[cells["model"].isin(TIERS["frontier"])], [one for one in SPECIFICATIONS if is_settled(one)]
        ),
        dispersion=dispersion_table(cells),
        overflows=compare_treatments(cells),
    )


def draw_conclusions(analyses: Analyses) -> pd.DataFrame:
    """Hold the paper's conclusions against the analyses.

    Returns
    -------
    DataFrame
        One row a conclusion: where (in the paper), statement, finding, verdict (holds, in part, does not hold),
        settled (whether the printed tables determine the finding: "yes", "no").

    Raises
    ------
    ValueError
        If the cells lack models that the conclusions are about.
    """
    missing = sorted(set(BY_NAME) - set(analyses.intervals["model"]))
    if missing:
        named = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
        raise ValueError(f"conclusions about all {len(BY_NAME)} models need a finite fit of {named}; use all")
    if analyses.overflows.empty:
        raise ValueError("conclusions about overflows need the column ctx; use a table that has it")
    checks = (
        _sensitivities, _dominant, _lead, _classes, _leaders_id50, _nt50, _curvature, _trough, _dn_count, _dn_leaders,
        _drho_count, _drho_leaders, _nrho, _gemini, _overflow,
    )  # fmt: skip
    return pd.DataFrame([check(analyses) for check in checks])


def _row(where: str, statement: str, finding: str, verdict: str, settled: str = "yes") -> dict[str, str]:
    return {"where": where, "statement": statement, "finding": finding, "verdict": verdict, "settled": settled}


def _stated(claim: str) -> int:
    """Return the number that a claim of the paper's prose states."""
    claims = load_claims().set_index("id")
    return int(claims.loc[claim, "value"].lstrip(">"))


def _label(model: str) -> str:
    return BY_NAME[model].label if model in BY_NAME else model


def _grade(share: float) -> str:
    return HOLDS if share >= 0.9 else PARTLY if share >= 0.5 else FAILS


def _sensitivities(a: Analyses) -> dict[str, str]:
    table = a.dispersion
    kept = ((table[["p_quasi_d", "p_quasi_N"]] < ALPHA).all(axis=1) & (table[["z_d", "z_N"]] < 0).all(axis=1)).sum()
    return _row(
        "3.1.2", "The slopes of d and N are significant and negative in all models.",
        f"So they remain in {kept} of {len(table)} with quasi-binomial standard errors (median dispersion "
        f"{table['phi'].median():.1f}).", HOLDS if kept == len(table) else PARTLY, "no",
    )  # fmt: skip


def _dominant(a: Analyses) -> dict[str, str]:
    apart = a.loads["p_holm"] < ALPHA
    length, difficulty = (apart & (a.loads["difference"] > 0)).sum(), (apart & (a.loads["difference"] < 0)).sum()
    return _row(
        "Abstract, 3", "Task length is the dominant stressor.",
        f"Accuracy falls more over the range of N than over that of d in {length} models, and more over that of d in "
        f"{difficulty} (Holm); the other {len(a.loads) - length - difficulty} do not say.",
        _grade(length / len(a.loads)),
    )  # fmt: skip


def _lead(a: Analyses) -> dict[str, str]:
    ecl50 = a.intervals[a.intervals["point"] == "ecl50"].set_index("model")
    pairs = a.ecl50_pairs
    between = pairs[pairs["first"].isin(LEADERS) != pairs["second"].isin(LEADERS)]  # the first of a pair is the better
    lead = between["p_holm"].where(between["first"].isin(LEADERS), 1.0).max()
    ranges = [f"{_label(m)} {ecl50.loc[m, 'profile_low']:.0f} to {ecl50.loc[m, 'profile_high']:.0f}" for m in LEADERS]
    spans = [_span(a, model, "ecl50") for model in LEADERS]
    stated = _stated("C070")
    over = all(ecl50.loc[m, "profile_low"] > stated for m in LEADERS)
    return _row(
        "3.1.4", f"gpt-5 and o3 lead by a wide margin, with an ECL50 above {stated}.",
        f"They {'lead' if lead < ALPHA else 'do not lead'} all others (largest p {lead:.2g}, Holm). The 95% intervals "
        f"are {' and '.join(ranges)}, where the longest N tested is {_LONGEST}; settled specifications with no larger "
        f"AIC give {' and '.join(spans)}.",
        HOLDS if lead < ALPHA and over else PARTLY if lead < ALPHA else FAILS,
    )  # fmt: skip


def _span(a: Analyses, model: str, point: str) -> str:
    """Return the range of a model's capacity point over the settled specifications whose AIC is not larger."""
    own = a.specifications[(a.specifications["model"] == model) & (a.specifications["status"] == "ok")]
    smooth = own[own["aic"] <= own["aic"].iloc[0]]
    smooth = smooth[~smooth["specification"].isin(["N as factor", "d as factor", "all that is settled"])]
    values = smooth[point]
    found = f"{values.min():.3g} to {values.max():.3g}"
    return f"{found} and none ({_label(model)})" if values.isna().any() else f"{found} ({_label(model)})"


def _classes(a: Analyses) -> dict[str, str]:
    open_pairs = check_tiers(a.ecl50_pairs)
    outsiders = place_outsiders(a.ecl50_pairs)
    tied = outsiders[(outsiders["tied"] > 0)]
    words = [f"{_label(row.model)} ({row.tied} of the {row.tier} class)" for row in tied.itertuples()]
    return _row(
        "3.1.4", "The models form three classes.",
        f"{len(open_pairs)} pairs of models of different classes are not told apart by ECL50 (Holm). Of the models "
        f"left out, some cannot be told from members: {', '.join(words)}.", HOLDS if open_pairs.empty else PARTLY,
    )  # fmt: skip


def _leaders_id50(a: Analyses) -> dict[str, str]:
    id50 = a.intervals[a.intervals["point"] == "id50"].set_index("model")["estimate"]
    beyond = [model for model in TIERS["frontier"] if id50[model] > 10]
    outside = sum(not 1 <= value <= 10 for value in id50)
    return _row(
        "Table 2", "ID50 measures the difficulty that a model can handle.",
        f"{outside} of {len(id50)} values lie outside the tested 1 to 10. Settled specifications with no larger AIC "
        f"give {', '.join(_span(a, model, 'id50') for model in beyond)}.",
        _grade(1 - outside / len(id50)),
    )  # fmt: skip


def _nt50(a: Analyses) -> dict[str, str]:
    nt50 = a.intervals[a.intervals["point"] == "nt50"].set_index("model")
    slopes = a.troughs.set_index("model")["trough"].reindex(nt50.index)
    found = nt50["estimate"].notna()
    falling = found & (nt50["estimate"] < slopes)
    open_end = found & np.isinf(nt50["profile_high"])
    unsure = nt50["present"].between(0.05, 0.95)
    return _row(
        "3.1.3", "NT50 is the least share of needles that keeps accuracy at one half.",
        f"Of {found.sum()} values, {falling.sum()} is where accuracy falls below one half ({_names(falling)}), "
        f"{open_end.sum()} have no upper limit in [0, 1] ({_names(open_end)}); whether one exists at all is open for "
        f"{_names(unsure)}.", PARTLY if falling.any() or open_end.any() or unsure.any() else HOLDS,
    )  # fmt: skip


def _names(mask: pd.Series) -> str:
    return ", ".join(_label(model) for model in mask.index[mask]) or "none"


def _curvature(a: Analyses) -> dict[str, str]:
    shape = (a.troughs["p_u"] < ALPHA).sum()
    return _row(
        "3.1.2", "The response to rho is U-shaped for most models.",
        f"A fall at 5% and a rise at 95% are both significant in {shape} of {len(a.troughs)}; the quadratic term is in "
        f"{(a.dispersion['p_rho2'] < ALPHA).sum()}.",
        HOLDS if shape > len(a.troughs) / 2 else FAILS,
    )  # fmt: skip


def _trough(a: Analyses) -> dict[str, str]:
    shaped = a.troughs[a.troughs["p_u"] < ALPHA]
    above, below = (shaped["low"] > 0.5).sum(), (shaped["high"] < 0.25).sum()
    inside = shaped["trough"].between(0.25, 0.5).sum()
    return _row(
        "3", "Accuracy is lowest at a rho of 25 to 50%.",
        f"Of the {len(shaped)} fitted curves that are U-shaped, {inside} have their lowest point there; for {above} "
        f"the 95% interval lies above 50%, for {below} below 25%.", _grade(1 - (above + below) / max(len(shaped), 1)),
    )  # fmt: skip


def _tests(a: Analyses, term: str) -> pd.DataFrame:
    return a.interactions[a.interactions["term"] == term].set_index("model")


def _count(table: pd.DataFrame, way: str, sign: int, alpha: float) -> int:
    return int(((table[f"p_{way}"] < alpha) & (sign * table[f"beta_{way}"] > 0)).sum())


def _dn_count(a: Analyses) -> dict[str, str]:
    table = _tests(a, "dN")
    paper, pairs = _count(table, "paper", -1, 0.01), _count(table, "pairs", -1, 0.01)
    stated = _stated("C075")
    return _row(
        "3.1.6", f"d x N is negative and significant (p < 0.01) in {stated} of {len(BY_NAME)}.",
        f"{paper} as the paper tests it, at rho = 0; {pairs} without the three-way product, "
        f"{_count(table, 'mean', -1, 0.01)} at the mean of rho.", _grade(1 - abs(pairs - stated) / stated),
    )  # fmt: skip


def _dn_leaders(a: Analyses) -> dict[str, str]:
    table = _tests(a, "dN").loc[list(LEADERS)]
    words = [f"{_label(m)} {row.beta_pairs:.2f} (p {row.p_pairs:.2g})" for m, row in table.iterrows()]
    third = [f"{p:.2g}" for p in _tests(a, "dNrho").loc[list(LEADERS), "p_paper"]]
    return _row(
        "3.1.6", "gpt-5 and o3 show no detectable d x N interaction.",
        f"Table 3 tests it at rho = 0, where no puzzle is. Without the three-way product (p {', '.join(third)}): "
        f"{', '.join(words)}.",
        FAILS if (table["p_pairs"] < ALPHA).any() else HOLDS,
    )  # fmt: skip


def _drho_count(a: Analyses) -> dict[str, str]:
    table = _tests(a, "drho")
    paper, pairs = _count(table, "paper", -1, ALPHA), _count(table, "pairs", -1, ALPHA)
    ratio = (table["beta_pairs"] / table["beta_paper"])[table["p_paper"] < ALPHA].median()
    return _row(
        "3.1.6", "d x rho is negative and significant in 13 of 22.",
        f"{paper} as the paper tests it, at N = 1; {pairs} without the three-way product, where the coefficients are "
        f"{ratio:.0%} of those with it (median). As rho is the share of needles, the sign says that difficulty "
        "takes from what needles give.", PARTLY if pairs >= paper else FAILS,
    )  # fmt: skip


def _drho_leaders(a: Analyses) -> dict[str, str]:
    table = _tests(a, "drho").loc[list(LEADERS)]
    words = [f"{_label(m)} {row.beta_pairs:.2f} (p {row.p_pairs:.2g})" for m, row in table.iterrows()]
    return _row(
        "B.1", "For gpt-5 and o3, d x rho is not detectable.",
        f"Without the three-way product: {', '.join(words)}.",
        FAILS if (table["p_pairs"] < ALPHA).any() else HOLDS,
    )  # fmt: skip


def _nrho(a: Analyses) -> dict[str, str]:
    table = _tests(a, "Nrho")
    counts = {way: (_count(table, way, 1, ALPHA), _count(table, way, -1, ALPHA)) for way in ("paper", "pairs", "mean")}
    agree = sum(counts["pairs"]) <= 1.5 * sum(counts["paper"]) and counts["pairs"][1] > 0
    return _row(
        "B.1", f"N x rho is significant in {_stated('C097')} of {len(BY_NAME)}, of either sign.",
        f"{counts['paper'][0]} positive and {counts['paper'][1]} negative at d = 0; {counts['pairs'][0]} and "
        f"{counts['pairs'][1]} without the three-way product, {counts['mean'][0]} and {counts['mean'][1]} at the mean "
        "of d.", HOLDS if agree else FAILS,
    )  # fmt: skip


def _gemini(a: Analyses) -> dict[str, str]:
    row = _tests(a, "Nrho").loc["gemini-2.5-pro"]
    return _row(
        "B.1", "gemini-2.5-pro has a large negative N x rho.",
        f"{row['beta_paper']:.2f} at d = 0 (p {row['p_paper']:.2g}), {row['beta_mean']:.2f} at the mean of d "
        f"(p {row['p_mean']:.2g}).", HOLDS if row["p_mean"] < ALPHA and row["beta_mean"] < 0 else FAILS,
    )  # fmt: skip


def _overflow(a: Analyses) -> dict[str, str]:
    table = a.overflows[a.overflows["treatment"].isin(["wrong", "excluded"]) & (a.overflows["status"] == "ok")]
    last = table.groupby("model", sort=False).tail(1).sort_values("ecl50", ascending=False).set_index("model")
    words = [f"{_label(m)} {row.ecl50:.0f} (95% interval ×/÷ {10 ** (1.96 * row.se_log10_ecl50):.2f})"
             for m, row in last.head(3).iterrows()]  # fmt: skip
    others = last[~last.index.isin(LEADERS)].iloc[0]
    behind = min((last.loc[leader] for leader in LEADERS), key=lambda row: row["ecl50"])
    z = np.log10(behind["ecl50"] / others["ecl50"]) / np.hypot(behind["se_log10_ecl50"], others["se_log10_ecl50"])
    return _row(
        "3.1.4, H", "gpt-5 and o3 lead also among answers that fit the context.",
        f"With overflows left out the largest ECL50 are {', '.join(words)}; {_label(behind.name)} against "
        f"{_label(others.name)}: p {2 * norm.sf(abs(z)):.2g}.",
        HOLDS if z > norm.ppf(1 - ALPHA / 2) else FAILS, "no",
    )  # fmt: skip
