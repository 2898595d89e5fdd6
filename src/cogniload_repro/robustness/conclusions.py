"""The paper's conclusions, judged by their own uncertainty and by other specifications.

What the paper concludes stands in ``data/published/iclr2026/conclusions.csv``, each statement with the name of the rule
that judges it. A rule is a function here: it takes numbers from the tables of `uncertainty`, `comparisons`,
`interactions`, `specifications`, `dispersion` and `overflows`, and decides the verdict by them.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial

import numpy as np
import pandas as pd
from scipy.stats import norm

from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import BY_NAME
from cogniload_repro.published import ALPHA, load_claims, load_conclusions
from cogniload_repro.robustness.comparisons import (
    TIERS,
    check_tiers,
    compare_pairs,
    dominant_load,
    place_outsiders,
)
from cogniload_repro.robustness.dispersion import dispersion_table
from cogniload_repro.robustness.interactions import WAYS, interaction_tests
from cogniload_repro.robustness.overflows import compare_treatments
from cogniload_repro.robustness.specifications import SPECIFICATIONS, fit_specifications, is_settled
from cogniload_repro.robustness.uncertainty import capacity_intervals, trough_table

LEADERS = ("gpt-5-2025-08-07", "o3-2025-04-16")
HOLDS, PARTLY, FAILS = "holds", "in part", "does not hold"


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


_ANALYSES: dict[str, Callable[[pd.DataFrame], pd.DataFrame]] = {
    "intervals": partial(capacity_intervals, replicates=1000),
    "troughs": trough_table,
    "accuracy_pairs": partial(compare_pairs, quantity="accuracy"),
    "ecl50_pairs": partial(compare_pairs, quantity="ecl50"),
    "loads": dominant_load,
    "interactions": interaction_tests,
    "specifications": lambda cells: fit_specifications(
        cells[cells["model"].isin(TIERS["frontier"])], [one for one in SPECIFICATIONS if is_settled(one)]
    ),
    "dispersion": dispersion_table,
    "overflows": compare_treatments,
}


def analyse(cells: pd.DataFrame, **made: pd.DataFrame) -> Analyses:
    """Return every analysis of a cells frame; those that are there already are taken as they are, by name."""
    return Analyses(**made, **{name: make(cells) for name, make in _ANALYSES.items() if name not in made})


@dataclass(frozen=True)
class Finding:
    """What a rule finds.

    Attributes
    ----------
    verdict : str
        `HOLDS`, `PARTLY` or `FAILS`.
    numbers : dict
        What the verdict follows from, by name: numbers, intervals as pairs, and where models are named a dict or
        list of them.
    settled : bool
        Whether the printed tables determine it; otherwise it belongs to the table of cells at hand.
    """

    verdict: str
    numbers: Mapping[str, object] = field(default_factory=dict)
    settled: bool = True


def judge_conclusions(analyses: Analyses) -> pd.DataFrame:
    """Judge the paper's conclusions by the analyses.

    Returns
    -------
    DataFrame
        One row a conclusion, in the order of the file: claims (ids in ``claims.csv``), location, statement, rule,
        verdict, numbers (dict), settled.

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
    conclusions = load_conclusions()
    found = [RULES[rule](analyses) for rule in conclusions["rule"]]
    return conclusions.assign(
        **{name: [getattr(one, name) for one in found] for name in ("verdict", "numbers", "settled")}
    )


def _stated(claim: str) -> str:
    """Return what a claim of the paper's prose states."""
    return load_claims().set_index("id").loc[claim, "value"]


def _grade(share: float) -> str:
    return HOLDS if share >= 0.9 else PARTLY if share >= 0.5 else FAILS


def _slopes(a: Analyses) -> Finding:
    table = a.dispersion
    kept = ((table[["p_quasi_d", "p_quasi_N"]] < ALPHA).all(axis=1) & (table[["z_d", "z_N"]] < 0).all(axis=1)).sum()
    numbers = {"kept": kept, "models": len(table), "phi": table["phi"].median()}
    return Finding(HOLDS if kept == len(table) else PARTLY, numbers, settled=False)


def _dominant_load(a: Analyses) -> Finding:
    apart = a.loads["p_holm"] < ALPHA
    length, difficulty = (apart & (a.loads["difference"] > 0)).sum(), (apart & (a.loads["difference"] < 0)).sum()
    numbers = {"length": length, "difficulty": difficulty, "open": len(a.loads) - length - difficulty}
    return Finding(_grade(length / len(a.loads)), numbers)


def _leaders(a: Analyses) -> Finding:
    ecl50 = a.intervals[a.intervals["point"] == "ecl50"].set_index("model")
    pairs = a.ecl50_pairs
    between = pairs[pairs["first"].isin(LEADERS) != pairs["second"].isin(LEADERS)]  # the first of a pair is the better
    p = between["p_holm"].where(between["first"].isin(LEADERS), 1.0).max()
    intervals = {model: tuple(ecl50.loc[model, ["profile_low", "profile_high"]]) for model in LEADERS}
    over = all(low > int(_stated("C070").lstrip(">")) for low, _ in intervals.values())
    numbers = {"lead": p < ALPHA, "p": p, "intervals": intervals, "longest": max(cell.N for cell in PAPER_GRID)}
    numbers["elsewhere"] = {model: _span(a, model, "ecl50") for model in LEADERS}
    return Finding(HOLDS if p < ALPHA and over else PARTLY if p < ALPHA else FAILS, numbers)


def _span(a: Analyses, model: str, point: str) -> tuple[float, float, bool]:
    """Return least and largest capacity point over settled specifications without a larger AIC, and if one has none."""
    own = a.specifications[(a.specifications["model"] == model) & (a.specifications["status"] == "ok")]
    smooth = own[own["aic"] <= own["aic"].iloc[0]]
    smooth = smooth[~smooth["specification"].isin(["N as factor", "d as factor", "all that is settled"])]
    return smooth[point].min(), smooth[point].max(), bool(smooth[point].isna().any())


def _classes(a: Analyses) -> Finding:
    open_pairs, outsiders = check_tiers(a.ecl50_pairs), place_outsiders(a.ecl50_pairs)
    tied = outsiders[outsiders["tied"] > 0]
    numbers = {"pairs": len(open_pairs), "outsiders": list(tied[["model", "tied", "tier"]].itertuples(index=False))}
    return Finding(HOLDS if open_pairs.empty else PARTLY, numbers)


def _id50_range(a: Analyses) -> Finding:
    id50 = a.intervals[a.intervals["point"] == "id50"].set_index("model")["estimate"]
    levels = [cell.d for cell in PAPER_GRID]
    outside = (~id50.between(min(levels), max(levels))).sum()
    numbers = {"outside": outside, "models": len(id50), "least": min(levels), "most": max(levels)}
    numbers["elsewhere"] = {m: _span(a, m, "id50") for m in TIERS["frontier"] if id50[m] > max(levels)}
    return Finding(_grade(1 - outside / len(id50)), numbers)


def _nt50_meaning(a: Analyses) -> Finding:
    nt50 = a.intervals[a.intervals["point"] == "nt50"].set_index("model")
    bottom, found = a.troughs.set_index("model")["trough"].reindex(nt50.index), nt50["estimate"].notna()
    masks = {
        "falling": found & (nt50["estimate"] < bottom),
        "unlimited": found & np.isinf(nt50["profile_high"]),
        "unsure": nt50["present"].between(0.05, 0.95),
    }
    numbers = {"values": found.sum()} | {name: list(mask.index[mask]) for name, mask in masks.items()}
    return Finding(PARTLY if any(mask.any() for mask in masks.values()) else HOLDS, numbers)


def _u_shape(a: Analyses) -> Finding:
    shaped, bent = (a.troughs["p_u"] < ALPHA).sum(), (a.dispersion["p_rho2"] < ALPHA).sum()
    numbers = {"shaped": shaped, "models": len(a.troughs), "bent": bent}
    return Finding(HOLDS if shaped > len(a.troughs) / 2 else FAILS, numbers)


def _trough(a: Analyses) -> Finding:
    least, most = (int(end) / 100 for end in _stated("C039").split("-"))
    shaped = a.troughs[a.troughs["p_u"] < ALPHA]
    above, below = (shaped["low"] > most).sum(), (shaped["high"] < least).sum()
    numbers = {"shaped": len(shaped), "inside": shaped["trough"].between(least, most).sum()}
    numbers |= {"above": above, "below": below, "least": least, "most": most}
    return Finding(_grade(1 - (above + below) / max(len(shaped), 1)), numbers)


def _tests(a: Analyses, term: str) -> pd.DataFrame:
    return a.interactions[a.interactions["term"] == term].set_index("model")


def _count(table: pd.DataFrame, way: str, sign: int, alpha: float = ALPHA) -> int:
    return int(((table[f"p_{way}"] < alpha) & (sign * table[f"beta_{way}"] > 0)).sum())


def _d_by_N(a: Analyses) -> Finding:  # noqa: N802
    found = {way: _count(_tests(a, "dN"), way, -1, 0.01) for way in WAYS}
    stated = int(_stated("C075"))
    return Finding(_grade(1 - abs(found["pairs"] - stated) / stated), found)


def _of_leaders(a: Analyses, term: str) -> Finding:
    """Judge that the leaders have no detectable product of loads."""
    table = _tests(a, term).loc[list(LEADERS)]
    numbers: dict[str, object] = {"p_triple": list(_tests(a, "dNrho").loc[list(LEADERS), "p_paper"])}
    numbers["products"] = {model: (row.beta_pairs, row.p_pairs) for model, row in table.iterrows()}
    return Finding(FAILS if (table["p_pairs"] < ALPHA).any() else HOLDS, numbers)


def _d_by_rho(a: Analyses) -> Finding:
    table = _tests(a, "drho")
    found = {way: _count(table, way, -1) for way in ("paper", "pairs")}
    ratio = (table["beta_pairs"] / table["beta_paper"])[table["p_paper"] < ALPHA].median()
    return Finding(PARTLY if found["pairs"] >= found["paper"] else FAILS, found | {"ratio": ratio})


def _N_by_rho(a: Analyses) -> Finding:  # noqa: N802
    table = _tests(a, "Nrho")
    found = {way: (_count(table, way, 1), _count(table, way, -1)) for way in WAYS}
    agree = sum(found["pairs"]) <= 1.5 * sum(found["paper"]) and found["pairs"][1] > 0
    return Finding(HOLDS if agree else FAILS, found)


def _N_by_rho_gemini(a: Analyses) -> Finding:  # noqa: N802
    row = _tests(a, "Nrho").loc["gemini-2.5-pro"]
    numbers = {name: row[name] for name in ("beta_paper", "p_paper", "beta_mean", "p_mean")}
    return Finding(HOLDS if row["p_mean"] < ALPHA and row["beta_mean"] < 0 else FAILS, numbers)


def _overflows(a: Analyses) -> Finding:
    table = a.overflows[a.overflows["treatment"].isin(["wrong", "excluded"]) & (a.overflows["status"] == "ok")]
    last = table.groupby("model", sort=False).tail(1).sort_values("ecl50", ascending=False).set_index("model")
    first = {model: (row.ecl50, 10 ** (1.96 * row.se_log10_ecl50)) for model, row in last.head(3).iterrows()}
    other = last[~last.index.isin(LEADERS)].iloc[0]
    behind = min((last.loc[leader] for leader in LEADERS), key=lambda row: row["ecl50"])
    z = np.log10(behind["ecl50"] / other["ecl50"]) / np.hypot(behind["se_log10_ecl50"], other["se_log10_ecl50"])
    numbers = {"first": first, "behind": behind.name, "other": other.name, "p": 2 * norm.sf(abs(z))}
    return Finding(HOLDS if z > norm.ppf(1 - ALPHA / 2) else FAILS, numbers, settled=False)


#: What judges the statements of ``conclusions.csv``, by the name that stands there.
RULES: dict[str, Callable[[Analyses], Finding]] = {
    "slopes": _slopes,
    "dominant_load": _dominant_load,
    "leaders": _leaders,
    "classes": _classes,
    "id50_range": _id50_range,
    "nt50_meaning": _nt50_meaning,
    "u_shape": _u_shape,
    "trough": _trough,
    "d_by_N": _d_by_N,
    "d_by_N_leaders": lambda a: _of_leaders(a, "dN"),
    "d_by_rho": _d_by_rho,
    "d_by_rho_leaders": lambda a: _of_leaders(a, "drho"),
    "N_by_rho": _N_by_rho,
    "N_by_rho_gemini": _N_by_rho_gemini,
    "overflows": _overflows,
}
