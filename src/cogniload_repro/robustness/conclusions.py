"""The paper's conclusions: for each the rule that decides it and the numbers of the sentence that explains it.

The statements are those of ``data/published/iclr2026/conclusions.csv``, each with the name of its rule and the sentence
of its finding. Numbers that decide are identified, or printed or bounded where the statement is about overflows. Tests
of many models are Holm-adjusted. Conclusions about the paper's models are judged on these alone.
"""

from collections.abc import Callable
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import logit
from scipy.stats import norm, spearmanr

from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import BY_NAME
from cogniload_repro.published import (
    ALPHA,
    CONFIDENCE,
    load_claims,
    load_conclusions,
    load_facts,
    load_table,
)
from cogniload_repro.puzzles.generate import domain_size
from cogniload_repro.puzzles.ontology import CATEGORIES
from cogniload_repro.robustness import comparisons, divisions, overflows, specifications
from cogniload_repro.robustness.comparisons import TIER_OF, TIERS
from cogniload_repro.robustness.interactions import (
    ARMS,
    THIRD,
    arm_changes,
    interaction_tests,
    simple_slopes,
)
from cogniload_repro.robustness.uncertainty import (
    capacity_intervals,
    correct_holm,
    fit_quadratics,
    trough_table,
)
from cogniload_repro.robustness.verdicts import (
    NOT_SUPPORTED,
    PARTLY,
    SUPPORTED,
    UNKNOWN,
    all_parts,
    each,
    most,
    single,
)
from cogniload_repro.statistics.likelihood import maximise
from cogniload_repro.statistics.paper_tables import interactions_table
from cogniload_repro.statistics.reconstructions import over_reconstructions

LEADERS = ("gpt-5-2025-08-07", "o3-2025-04-16")
GEMINI = ("gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite")
DEPENDS, DEFINITION = "depends on the overflows", "a matter of definition"
VERDICTS = (NOT_SUPPORTED, DEPENDS, PARTLY, SUPPORTED, DEFINITION)
_LEVELS = {load: sorted({getattr(cell, load) for cell in PAPER_GRID}) for load in ("N", "d")}
_LONGEST, _HARDEST = (levels[-1] for levels in _LEVELS.values())
_LEVEL = {"rho": "ρ = {:.0%}", "N": "N = {:g}", "d": "d = {:g}"}
#: A verdict, and the numbers of the finding.
_Found = tuple[str, dict[str, Any]]


class Analyses:
    """The tables that conclusions are drawn from, each computed when first used; see the functions that make them."""

    def __init__(self, cells: pd.DataFrame) -> None:
        self.cells = cells

    fits = cached_property(lambda self: fit_quadratics(self.cells))
    intervals = cached_property(lambda self: capacity_intervals(self.cells))
    troughs = cached_property(lambda self: trough_table(self.cells))
    ecl50_pairs = cached_property(lambda self: comparisons.compare_pairs(self.cells, "ecl50"))
    loads = cached_property(lambda self: comparisons.dominant_load(self.cells))
    slopes = cached_property(lambda self: simple_slopes(self.cells))
    arm_changes = cached_property(lambda self: arm_changes(self.cells))
    tests = cached_property(
        lambda self: interaction_tests(interactions_table(self.cells)).set_index(["term", "model"])
    )
    heterogeneity = cached_property(
        lambda self: comparisons.heterogeneity_table(self.cells).set_index("term")
    )
    overflows = cached_property(lambda self: overflows.overflow_shares(self.cells))

    @cached_property
    def dispersion(self) -> pd.DataFrame:
        """Pearson's dispersion of each model (columns) in each sample of counts, or in the outputs."""
        scatter = specifications.dispersion_table(
            over_reconstructions(self.cells, lambda table: table)
        )
        return scatter.pivot_table("phi", "reconstruction", "model")[self.cells["model"].unique()]

    answers = cached_property(lambda self: self.cells.pivot_table("total", "model", "N", "sum"))
    rates = cached_property(
        lambda self: self.cells.pivot_table("correct", "model", "N", "sum") / self.answers
    )

    @cached_property
    def placed(self) -> pd.DataFrame:
        """Model, parameters_billion (NaN where it is not public), accuracy overall, size of the slope of log10 N."""
        rows = [(one.model, one.k.sum() / one.n.sum(), abs(one.fit.coef[2])) for one in self.fits]
        return load_facts().merge(
            pd.DataFrame(rows, columns=["model", "accuracy", "beta_N"]), on="model"
        )

    @cached_property
    def guessing(self) -> dict[str, Any]:
        """The slope of d that guessing a value would give, and the slopes of the two smallest models."""
        small = self.placed.nsmallest(2, "parameters_billion")["model"]
        chance = {
            d: np.mean([1 / domain_size(name, d) for name in CATEGORIES]) for d in _LEVELS["d"]
        }
        one = self.fits[0]
        right = one.n * [chance[d] for d in one.x[:, 1].astype(int)]
        slopes = {one.model: one.fit.coef[1] for one in self.fits}
        shown = " and ".join(f"{slopes[model]:.2f} in {_name(model)}" for model in small)
        return {"guess": maximise(one.x, one.n, one.x.T @ right)[0][1], "small": shown}

    def levels(self, term: str) -> dict[float, pd.DataFrame]:
        """Return the simple slopes of a product at each tested level of the third load, by model."""
        own = self.slopes[self.slopes["tested"] & (self.slopes["term"] == term)].set_index("model")
        return {float(level): rows for level, rows in own.groupby("level")}

    def points(self, point: str) -> pd.DataFrame:
        """Return the intervals of a capacity point by model."""
        return self.intervals[self.intervals["point"] == point].set_index("model")


def analyse(cells: pd.DataFrame) -> Analyses:
    """Return the analyses of the paper's models in a cells frame."""
    return Analyses(cells[cells["model"].isin(BY_NAME)].reset_index(drop=True))


def judge_conclusions(analyses: Analyses) -> pd.DataFrame:
    """Return `published.load_conclusions` with a verdict, of `VERDICTS`, and the finding in words.

    Where a model of the paper has no finite fit, nothing is concluded (`verdicts.UNKNOWN`).
    """
    conclusions, missing = (
        load_conclusions(),
        sorted(set(BY_NAME) - {one.model for one in analyses.fits}),
    )
    if missing:
        return conclusions.assign(
            verdict=UNKNOWN, finding=f"A finite fit is missing: {', '.join(missing)}."
        )
    found = [RULES[rule](analyses) for rule in conclusions["rule"]]
    findings = [
        text.format(**facts) for text, (_, facts) in zip(conclusions["finding"], found, strict=True)
    ]
    return conclusions.assign(verdict=[word for word, _ in found], finding=findings)


def _stated(claim: str) -> int:
    """Return the number that a claim of the paper's prose states."""
    return int(load_claims().set_index("id")["value"][claim].lstrip(">"))


def _name(model: str) -> str:
    return BY_NAME[model].label


def _p(p: float, digits: int = 1) -> str:
    # a large p of a product is identified to one digit: the sums have windows as wide as the printed digits
    return "p < 0.001" if p < 0.001 else f"p = {p:.{digits}g}" if p >= 0.1 else f"p = {p:.2g}"


def _slopes(a: Analyses) -> _Found:
    z, reach = (
        np.array([(one.fit.coef / one.fit.se)[1:3] for one in a.fits]),
        norm.ppf(1 - ALPHA / 2),
    )
    kept, bearable = (z < -reach).all(axis=1), (np.abs(z).min(axis=1) / reach) ** 2
    low, high = a.dispersion.median(axis=1).quantile([0.1, 0.9])
    facts = {
        "weakest": _name(a.fits[bearable.argmin()].model),
        "bearable": bearable.min(),
        "low": low,
        "high": high,
    }
    return each(kept).word, {"kept": kept.sum(), "models": len(kept), **facts, **a.guessing}


def _dominant_load(a: Analyses) -> _Found:
    sure, larger = a.loads["p_holm"] < ALPHA, a.loads["range_N"] > a.loads["range_d"]
    length, difficulty = (sure & (sign * a.loads["difference"] > 0) for sign in (1, -1))
    counts = {
        "length": length.sum(),
        "difficulty": difficulty.sum(),
        "open": (~length & ~difficulty).sum(),
    }
    return most(length, difficulty).word, {**counts, "larger": larger.sum(), "models": len(larger)}


def _steepest(a: Analyses) -> _Found:
    odds = logit((a.rates * a.answers + 0.5) / (a.answers + 1)).diff(axis=1)
    falls = a.rates.diff(axis=1), odds / np.log10(odds.columns.to_series()).diff()
    first, log_odds = ((one.iloc[:, 1:].idxmin(axis=1) == one.columns[1]).sum() for one in falls)
    return single(2 * first > len(a.rates)).word, {
        "first": first,
        "log_odds": log_odds,
        "models": len(a.rates),
    }


def _larger_models(a: Analyses) -> _Found:
    """Judge that larger and better models lose a larger share of their accuracy to length."""
    loss = 1 - a.rates[_LONGEST] / a.rates.iloc[:, 0]
    models = a.placed.assign(loss=a.placed["model"].map(loss))
    sized = models.dropna(subset="parameters_billion")
    good = models[models["accuracy"] > 0.4]
    by_size = spearmanr(sized["parameters_billion"], sized["loss"])
    by_accuracy = spearmanr(models["accuracy"], models["loss"])
    slope = spearmanr(models["accuracy"], models["beta_N"])

    parabola = np.polyfit(models["accuracy"], models["loss"], 2)
    rest = models["loss"] - np.polyval(parabola, models["accuracy"])
    least = [
        f"{_name(row.model)} ({row.loss:.0%})" for row in good.nsmallest(2, "loss").itertuples()
    ]
    facts = {
        "size": f"{by_size.statistic:.2f} ({_p(by_size.pvalue, 2)})",
        "better": f"{by_accuracy.statistic:.2f} ({_p(by_accuracy.pvalue, 2)})",
        "slope": f"{slope.statistic:.2f} ({_p(slope.pvalue, 2)})",
        "peak": -parabola[1] / (2 * parabola[0]),
        "explained": 1 - rest.var() / models["loss"].var(),
        "sized": len(sized),
        "models": len(models),
        "good": len(good),
        "least": " and ".join(least),
    }
    holds = [test.pvalue < ALPHA and test.statistic > 0 for test in (by_size, by_accuracy)]
    return each(holds).word, facts


def _leaders(a: Analyses) -> _Found:
    pairs, points, stated = a.ecl50_pairs, a.points("ecl50").loc[list(LEADERS)], _stated("C070")
    between = pairs[pairs["first"].isin(LEADERS) != pairs["second"].isin(LEADERS)]
    p = (
        between["p_holm"].where(between["first"].isin(LEADERS), 1.0).max()
    )  # the first of a pair is the better
    shown = [f"{row.estimate:.0f} for {_name(row.Index)} ({row.profile_low:.0f} to {row.profile_high:.0f})"
             for row in points.itertuples()]  # fmt: skip
    facts = {
        "p": _p(p),
        "points": " and ".join(shown),
        "confidence": CONFIDENCE,
        "longest": _LONGEST,
    }
    return each([p < ALPHA, *(points["estimate"] > stated)]).word, facts


def _classes(a: Analyses) -> _Found:
    pairs, order = a.ecl50_pairs, list(TIERS)
    upper, lower = (
        pairs[side].map(TIER_OF).map(order.index, na_action="ignore")
        for side in ("first", "second")
    )
    tied = ~(pairs["p_holm"] <= ALPHA)
    overlaps = (
        (upper > lower) | ((upper < lower) & tied)
    ).sum()  # the first of a pair is the better
    ecl50 = np.log(a.points("ecl50")["estimate"])
    inside = {
        tier: np.diff(np.sort(ecl50[list(models)])).max()
        for tier, models in TIERS.items()
        if tier != "low"
    }
    between = [
        ecl50[list(TIERS[up])].min() - ecl50[list(TIERS[down])].max()
        for up, down in pairwise(order)
    ]
    facts = {"within": np.exp(inside["frontier"]), "between": np.exp(between[0]), **a.guessing}
    facts |= {"separate": f"All but {overlaps} pairs" if overlaps else "All pairs"}
    return each([not overlaps, between[0] > max(inside.values())]).word, facts


def _id50_range(a: Analyses) -> _Found:
    id50, (low, *_, high) = a.points("id50")["estimate"], _LEVELS["d"]
    outside = (~id50.between(low, high)).sum()
    return DEFINITION, {
        "outside": outside,
        "models": len(id50),
        "low": low,
        "high": high,
        **a.guessing,
    }


def _nt50_meaning(a: Analyses) -> _Found:
    nt50 = a.points("nt50").dropna(subset="estimate")
    falls = nt50["estimate"] < a.troughs.set_index("model")["trough"].reindex(nt50.index)
    falling, unlimited = (
        ", ".join(map(_name, nt50.index[kind])) for kind in (falls, np.isinf(nt50["profile_high"]))
    )
    facts = {"falling": falling, "unlimited": unlimited, "confidence": CONFIDENCE}
    return DEFINITION, {**facts, "applies": (~falls).sum(), "models": len(nt50)}


def _narrow_range(a: Analyses) -> _Found:
    found = {f"{name}_{term}": a.heterogeneity[name][term] for name in ("relative", "tau", "mean")
             for term in a.heterogeneity.index}  # fmt: skip
    relative = a.heterogeneity["relative"]
    return each(relative["d"] < relative.drop("d")).word, {
        **found,
        "p": _p(a.heterogeneity["p"]["d"]),
    }


def _u_shape(a: Analyses) -> _Found:
    shaped = correct_holm(a.troughs["p_u"]) < ALPHA
    wide = a.dispersion.median().clip(lower=1)[a.troughs["model"]] ** 0.5
    p, bend = (np.array([getattr(one.fit, name)[4] for one in a.fits]) for name in ("p", "coef"))
    against = (correct_holm(p) < ALPHA) & (bend < 0)
    spread = norm.sf(norm.isf(a.troughs["p_u"]) / wide), 2 * norm.sf(norm.isf(p / 2) / wide)
    facts = {
        "shaped": shaped.sum(),
        "models": len(p),
        "bent": (p < ALPHA).sum(),
        "against": against.sum() or "none",
    }
    shaped_spread, bent_spread = ((correct_holm(one) < ALPHA).sum() for one in spread)
    return most(shaped, against).word, {
        **facts,
        "shaped_spread": shaped_spread,
        "bent_spread": bent_spread,
    }


def _trough(a: Analyses) -> _Found:
    """Judge where fitted accuracy is lowest: among the tested levels, and on the curve."""
    shaped = a.troughs[a.troughs["p_u"] < ALPHA]
    low, high = 0.25, 0.5
    at_level = shaped["inside"]
    on_curve = shaped["trough"].between(low, high)
    above = shaped["trough"] > high
    # the curve still falls at 50%: the whole interval of the trough lies above it
    surely_above = shaped["low"] > high
    word = all_parts(level=most(at_level, ~at_level), trough=most(on_curve, above)).word
    counts = shaped["lowest"].value_counts().sort_index().items()
    facts = {
        "lowest": ", ".join(f"{level:.0%} in {count}" for level, count in counts),
        "at_level": at_level.sum(),
        "models": len(shaped),
        "inside": on_curve.sum(),
        "above": above.sum(),
        "surely": surely_above.sum(),
        "from_": shaped["trough"].min(),
        "to": shaped["trough"].max(),
    }
    return word, facts


def _appendix_a(a: Analyses) -> _Found:
    """Judge both arms of the U: a deeper U has a longer fall and a longer rise."""
    changes = a.arm_changes.set_index(["load", "arm"])
    sure = changes["p_holm"] < ALPHA
    longer = sure & (changes["change"] > 0)
    shorter = sure & (changes["change"] < 0)
    parts = {}
    for arm in ARMS:
        parts[f"d {arm}"] = most(longer["d", arm], shorter["d", arm])
        parts[f"N {arm}"] = most(shorter["N", arm], longer["N", arm])
    facts = {"models": a.cells["model"].nunique()}
    for load in ("d", "N"):
        for arm in ARMS:
            facts[f"{load}_{arm}_longer"] = longer[load, arm].sum() or "none"
            facts[f"{load}_{arm}_shorter"] = shorter[load, arm].sum() or "none"
    return all_parts(**parts).word, facts


def _count(beta: pd.Series, p: pd.Series) -> tuple[int, int]:
    """Return how many coefficients are significant and negative, and positive."""
    return int(((p < ALPHA) & (beta < 0)).sum()), int(((p < ALPHA) & (beta > 0)).sum())


def _in_models(a: Analyses, term: str, agree: Callable[[int, int], bool]) -> _Found:
    """Judge in how many models a product is significant, at each tested level of the third load (Holm)."""
    tests, levels = a.tests.loc[term], a.levels(term)
    counts = {level: _count(rows["slope"], rows["p_holm"]) for level, rows in levels.items()}
    ends = [
        (_LEVEL[THIRD[term]].format(level), *counts[level]) for level in (min(counts), max(counts))
    ]
    shown = [f"at {level} negative in {minus or 'no'} models and positive in {plus or 'none'}"
             for level, minus, plus in ends]  # fmt: skip
    least, most_ = _count(tests["beta_paper"], tests["p_paper"])
    facts = {"minus": least, "plus": most_ or "none", "levels": ", ".join(shown)}
    return each(agree(*pair) for pair in counts.values()).word, facts


def _d_by_n(a: Analyses) -> _Found:
    word, facts = _in_models(a, "dN", lambda minus, plus: 2 * minus > len(BY_NAME))
    z = divisions.finished_interactions(a.cells[a.cells["model"] == GEMINI[0]], "dN", 0).iloc[0]
    pro = f" The sign of {GEMINI[0]} depends on its overflows: z is {z.z_low:.1f} to {z.z_high:.1f} without them."
    return word, {**facts, "pro": pro if z.z_low < 0 < z.z_high else ""}


def _undetected(a: Analyses, term: str) -> _Found:
    """Judge that the leaders have no detectable product of loads, and whether overflows decide it.

    Each model is tested at every level of the third load. The test among finished answers takes the
    weakest effect that a searched table allows, adjusted over the models (Holm) and for the choice
    of the level (Bonferroni).
    """
    sentences = []
    survives = []
    for model in LEADERS:
        tests = _test_finished(a, term, model)
        if tests.empty:
            continue
        survives.append(tests["p_finished"].min() < ALPHA)
        strongest = tests.loc[tests["p_finished"].idxmin()]
        ends = dict.fromkeys(
            f"{slope:.2f}" for slope in (tests["slope"].max(), tests["slope"].min())
        )
        sentences.append(
            f"{_name(model)} {' to '.join(ends)} (largest {_p(tests['p_holm'].max())}), among "
            f"finished answers z = {strongest['z_low']:.1f} to {strongest['z_high']:.1f} at "
            f"{_LEVEL[THIRD[term]].format(strongest['level'])} ({_p(strongest['p_finished'])} at the "
            f"weak end, adjusted also for the choice among {len(a.levels(term))} levels)"
        )
    printed = a.tests.loc[term].loc[list(LEADERS), "p_paper"]
    if not survives:
        word = SUPPORTED
    elif any(survives):
        word = NOT_SUPPORTED
    else:
        word = DEPENDS
    facts = {"printed": " and ".join(map(_p, printed)), "found": "; ".join(sentences) or "none"}
    return word, facts


def _test_finished(a: Analyses, term: str, model: str) -> pd.DataFrame:
    """Return the levels at which a model's product is significant, with the test among finished answers.

    One row per level: level, slope, p_holm (overflows counted as failures), z_low and z_high (the
    range among finished answers), p_finished (of the weaker end).
    """
    cells = a.cells[a.cells["model"] == model]
    levels = a.levels(term)
    rows = []
    for level, tests in levels.items():
        if tests.loc[model, "p_holm"] >= ALPHA:
            continue
        finished = divisions.finished_interactions(cells, term, level).iloc[0]
        weakest = max(finished["z_low"], -finished["z_high"], 0)
        p = tests["p"].mask(tests.index == model, 2 * norm.sf(weakest))
        adjusted = correct_holm(p)[tests.index.get_loc(model)]
        p_finished = min(adjusted * len(levels), 1.0)
        ends = (finished["z_low"], finished["z_high"])
        rows.append((level, *tests.loc[model, ["slope", "p_holm"]], *ends, p_finished))
    columns = ["level", "slope", "p_holm", "z_low", "z_high", "p_finished"]
    return pd.DataFrame(rows, columns=columns).astype(float)


def _n_by_rho_gemini(a: Analyses) -> _Found:
    row, levels = a.tests.loc[("Nrho", GEMINI[0])], a.levels("Nrho")
    found = {level: rows.loc[GEMINI[0]] for level, rows in levels.items()}
    shown = ", ".join(f"{one.slope:.1f} at d = {level:g}" for level, one in found.items())
    holds = [one.slope < 0 and one.p_holm < ALPHA for one in found.values()]
    facts = {
        "beta": row["beta_paper"],
        "p": _p(row["p_paper"]),
        "holm": _p(row["holm_paper"]),
        "slopes": shown,
    }
    return each(holds).word, {**facts, "number": sum(holds) or "none", "of": len(holds)}


def _lost(a: Analyses) -> pd.Series:
    """Return the share of its answers at the longest N that each model lost to overflows."""
    return a.overflows[a.overflows["N"] == _LONGEST].set_index("model")["share"]


def _lower_bound(a: Analyses) -> _Found:
    own, shares = a.cells[a.cells["model"].isin([GEMINI[0], *LEADERS])], _lost(a)
    bounds = overflows.finished_accuracy(own, _LONGEST, {"3+": _LEVELS["d"][1:]}).set_index("model")
    shown = ", ".join(
        f"{_name(model)} {row.low:.2f} to {row.high:.2f}" for model, row in bounds.iterrows()
    )
    return each(shares[list(GEMINI)] > 0).word, {"share": shares[GEMINI[0]], "bounds": shown}


def _overflows(a: Analyses) -> _Found:
    sums, longest = a.overflows.groupby("model")[["ctx", "total"]].sum(), _lost(a)
    weighted, there = (
        rates[list(GEMINI)].sum() / rates.sum() for rates in (sums["ctx"] / sums["total"], longest)
    )
    others = [
        f"{_name(model)} loses {share:.0%}"
        for model, share in longest.drop(list(GEMINI)).nlargest(3).items()
    ]
    facts = {"weighted": weighted, "there": there, "own": f"{longest[list(GEMINI)].max():.0%}"}
    return single(weighted > 0.5).word, {**facts, "others": ", ".join(others)}


def _budget(a: Analyses) -> _Found:
    at = (
        a.cells.query("N == @_LONGEST and d == @_HARDEST")
        .groupby("model")["total"]
        .sum()[list(LEADERS)]
    )
    over = (
        overflows.overflow_shares(a.cells, "d")
        .pivot_table("ctx", "model", "d", "sum")
        .loc[list(LEADERS)]
    )
    tokens = (
        load_table("tokens").set_index(["model", "N", "d"]).loc[(LEADERS[0], _LONGEST, _HARDEST)]
    )
    facts = {
        "gpt5": over.iloc[0, -1],
        "o3": over.iloc[1, -1],
        "asked": at.iloc[0],
        "asked_o3": at.iloc[1],
    }
    facts |= {
        "easy": over.iloc[:, :3].to_numpy().sum(),
        "tokens": tokens["prompt_p90"] + tokens["output_p90"],
    }
    return single(over.iloc[:, -1].max() == 0).word, {**facts, "budget": _stated("C008")}


_FOUND = (
    _slopes, _dominant_load, _steepest, _larger_models, _leaders, _classes, _id50_range, _nt50_meaning, _narrow_range,
    _u_shape, _trough, _appendix_a, _d_by_n, _n_by_rho_gemini, _lower_bound, _overflows, _budget,
)  # fmt: skip
#: What decides the statements of ``conclusions.csv``, by the name of the rule.
RULES: dict[str, Callable[[Analyses], _Found]] = {judge.__name__[1:]: judge for judge in _FOUND} | {
    "d_by_rho": lambda a: _in_models(a, "drho", lambda minus, plus: plus > minus),
    "n_by_rho": lambda a: _in_models(a, "Nrho", lambda minus, plus: min(minus, plus) > 0),
    "d_by_n_leaders": lambda a: _undetected(a, "dN"),
    "d_by_rho_leaders": lambda a: _undetected(a, "drho"),
}
