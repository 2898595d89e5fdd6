"""The paper's conclusions: for each the rule that decides it and the sentence that explains it.

The statements are those of ``data/published/iclr2026/conclusions.csv``, each with the name of its rule. Only identified
numbers decide a verdict, and printed or bounded ones where the statement is about overflows. Tests of many models are
Holm-adjusted. Conclusions about the paper's models are judged on these alone.
"""

from collections.abc import Callable, Iterable
from functools import cached_property
from itertools import compress, pairwise
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.stats import binomtest, norm, spearmanr

from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import BY_NAME
from cogniload_repro.published import ALPHA, CONFIDENCE, load_claims, load_conclusions, load_table
from cogniload_repro.robustness import comparisons, specifications
from cogniload_repro.robustness.comparisons import TIER_OF, TIERS
from cogniload_repro.robustness.interactions import THIRD, interaction_tests, simple_slopes
from cogniload_repro.robustness.overflows import finished_accuracy, overflow_shares
from cogniload_repro.robustness.uncertainty import capacity_intervals, correct_holm, fit_quadratics, trough_table
from cogniload_repro.statistics.fits import interactions_table

LEADERS = ("gpt-5-2025-08-07", "o3-2025-04-16")
GEMINI = ("gemini-2.5-pro", "gemini-2.5-flash", "gemini-2.5-flash-lite")
HOLDS, PARTLY, FAILS, DEFINITION = "supported", "supported in part", "not supported", "a matter of definition"
VERDICTS = (HOLDS, PARTLY, FAILS, DEFINITION)
_LONGEST = max(cell.N for cell in PAPER_GRID)
_LEVEL = {"rho": "ρ = {:.0%}", "N": "N = {:g}", "d": "d = {:g}"}
_ORIGIN = {"rho": "ρ = 0", "N": "N = 1", "d": "d = 0"}
_Found = tuple[str, str]

#: How a verdict follows, by kind of statement.
KINDS = {
    "each": "A statement about each of several models or parts is supported if each is so, in part if some are.",
    "most": "A statement about models in general is supported if significantly more models agree than disagree (sign "
    "test over the models whose own test is significant), not supported if more disagree, else in part.",
    "interaction": "A statement about an interaction is supported if it holds at each tested level of the third load "
    "(simple slopes), in part if at some, and not supported if at none.",
    "absence": "A statement that there is no effect is not supported once the effect is significant at a tested level.",
    "definition": "A statement about the meaning of a number has no verdict; the text says where the meaning applies.",
}


class Analyses:
    """The tables that conclusions are drawn from, each computed when first used; see the functions that make them."""

    def __init__(self, cells: pd.DataFrame) -> None:
        self.cells = cells

    intervals = cached_property(lambda self: capacity_intervals(self.cells))
    troughs = cached_property(lambda self: trough_table(self.cells))
    ecl50_pairs = cached_property(lambda self: comparisons.compare_pairs(self.cells, "ecl50"))
    loads = cached_property(lambda self: comparisons.dominant_load(self.cells))
    slopes = cached_property(lambda self: simple_slopes(self.cells))
    dispersion = cached_property(lambda self: specifications.dispersion_table(self.cells))
    heterogeneity = cached_property(lambda self: comparisons.heterogeneity_table(self.cells).set_index("term"))
    placed = cached_property(lambda self: comparisons.place_models(self.cells))
    overflows = cached_property(lambda self: overflow_shares(self.cells))

    @cached_property
    def tests(self) -> dict[str, pd.DataFrame]:
        """The products as the paper tests them, by term and model."""
        tests = interaction_tests(interactions_table(self.cells)).set_index("model")
        return {str(term): own for term, own in tests.groupby("term")}

    def levels(self, term: str) -> dict[float, pd.DataFrame]:
        """Return the simple slopes of a product at each tested level of the third load, by model."""
        own = self.slopes[self.slopes["tested"] & (self.slopes["term"] == term)].set_index("model")
        return {float(level): rows for level, rows in own.groupby("level")}

    def points(self, point: str) -> pd.DataFrame:
        """Return the intervals of a capacity point by model."""
        return self.intervals[self.intervals["point"] == point].set_index("model")

    @cached_property
    def spans(self) -> pd.DataFrame:
        """Range of the leaders' ECL50 over identified specifications with no larger AIC: low and high by model."""
        known = specifications.SPECIFICATIONS
        smooth = list(compress(known, specifications.are_identified(self.cells, known)))
        fits = specifications.fit_specifications(self.cells[self.cells["model"].isin(LEADERS)], smooth)
        paper = fits[fits["specification"] == smooth[0].name].set_index("model")["aic"]
        better = fits[fits["aic"] <= fits["model"].map(paper)]
        return better.groupby("model")["ecl50"].agg(["min", "max"]).set_axis(["low", "high"], axis=1)


def analyse(cells: pd.DataFrame) -> Analyses:
    """Return the analyses of the paper's models in a cells frame; ValueError if one lacks a finite fit."""
    cells = cells[cells["model"].isin(BY_NAME)]
    if missing := sorted(set(BY_NAME) - {one.model for one in fit_quadratics(cells)}):
        named = ", ".join(missing[:3]) + (f" and {len(missing) - 3} more" if len(missing) > 3 else "")
        raise ValueError(f"conclusions about all {len(BY_NAME)} models need a finite fit of {named}; use all")
    return Analyses(cells)


def judge_conclusions(analyses: Analyses) -> pd.DataFrame:
    """Return `published.load_conclusions` with verdict (of `VERDICTS`), finding (sentences), kind and evidence."""
    conclusions = load_conclusions()
    rules = [RULES[name] for name in conclusions["rule"]]
    rows = [(*rule.judge(analyses), rule.kind, rule.evidence) for rule in rules]
    return conclusions.join(pd.DataFrame(rows, columns=["verdict", "finding", "kind", "evidence"]))


class Rule(NamedTuple):
    """What decides one statement: from the analyses the verdict and the sentences that explain it.

    kind is a key of `KINDS`; evidence is identified (the same in every table of counts that agrees with the paper),
    bounded, or published.
    """

    judge: Callable[[Analyses], _Found]
    kind: str
    evidence: str = "identified"


def _stated(claim: str) -> str:
    """Return what a claim of the paper's prose states."""
    return load_claims().set_index("id")["value"][claim]


def _name(model: str) -> str:
    return BY_NAME[model].label


def _each(parts: Iterable[bool]) -> str:
    parts = list(parts)
    return HOLDS if all(parts) else PARTLY if any(parts) else FAILS


def _most(agree: int, oppose: int) -> str:
    """Return the verdict of a sign test over the models with a significant test."""
    if agree + oppose == 0 or binomtest(agree, agree + oppose).pvalue >= ALPHA:
        return PARTLY
    return HOLDS if agree > oppose else FAILS


def _p(p: float) -> str:
    # a large p is identified to one digit: the products' sums have windows as wide as the printed digits
    return "p < 0.001" if p < 0.001 else f"p = {p:.1g}" if p >= 0.1 else f"p = {p:.2g}"


def _slopes(a: Analyses) -> _Found:
    z = np.array([(one.fit.coef / one.fit.se)[1:3] for one in fit_quadratics(a.cells)])
    kept = (z < -norm.ppf(1 - ALPHA / 2)).all(axis=1)
    bearable = (np.abs(z).min(axis=1) / norm.ppf(1 - ALPHA / 2)) ** 2
    weakest, bound = a.dispersion["model"][bearable.argmin()], a.dispersion["phi_lower_bound"]
    return _each(kept), (
        f"Both are significant in {kept.sum()} of {len(kept)} models. The weakest slope ({_name(weakest)}) would stay "
        f"significant with up to {bearable.min():.1f} times the binomial variance; the misfit that the tables imply is "
        f"{bound.median():.2f} times in the median model and {bound.max():.1f} at most."
    )


def _dominant_load(a: Analyses) -> _Found:
    length, difficulty = (
        int(((a.loads["p_holm"] < ALPHA) & (sign * a.loads["difference"] > 0)).sum()) for sign in (1, -1)
    )
    return _most(length, difficulty), (
        f"Accuracy falls more over the tested range of N than over that of d in {length} models and less in "
        f"{difficulty} (Holm); {len(a.loads) - length - difficulty} are inconclusive. In fitted log-odds N has the "
        f"larger effect in {(a.loads['range_N'] > a.loads['range_d']).sum()} of {len(a.loads)} models. The tested "
        "ranges are the authors' choice, and the answer depends on them."
    )


def _steepest(a: Analyses) -> _Found:
    wide = a.cells.pivot_table(["correct", "total"], "model", "N", "sum")
    correct, wrong = wide["correct"].to_numpy(), (wide["total"] - wide["correct"]).to_numpy()
    log_odds = np.log((correct + 0.5) / (wrong + 0.5))
    per_decade = np.diff(log_odds, axis=1) / np.diff(np.log10(wide["correct"].columns.to_numpy(float)))
    falls = np.diff(correct / (correct + wrong), axis=1), per_decade
    most, steepest = (int((values.argmin(axis=1) == 0).sum()) for values in falls)
    return _each([2 * most > len(wide)]), (
        f"Accuracy falls most between N = 20 and N = 50 in {most} of {len(wide)} models. Per factor of ten in N, in "
        f"log-odds, the first step is the steepest in {steepest}."
    )


def _larger_models(a: Analyses) -> _Found:
    sized = a.placed.dropna(subset="parameters_billion")
    better, size = (spearmanr(own[name], own["beta_N"]) for own, name in
                    ((a.placed, "accuracy"), (sized, "parameters_billion")))  # fmt: skip
    return _each(one.pvalue < ALPHA and one.statistic > 0 for one in (better, size)), (
        f"The size of the slope of N rises with overall accuracy (Spearman {better.statistic:.2f} over "
        f"{len(a.placed)} models, {_p(better.pvalue)}) and with the number of parameters ({size.statistic:.2f} over "
        f"the {len(sized)} open models, {_p(size.pvalue)})."
    )


def _leaders(a: Analyses) -> _Found:
    pairs, points = a.ecl50_pairs, a.points("ecl50").loc[list(LEADERS)]
    between = pairs[pairs["first"].isin(LEADERS) != pairs["second"].isin(LEADERS)]
    p = between["p_holm"].where(between["first"].isin(LEADERS), 1.0).max()  # the first of a pair is the better
    stated = int(_stated("C070").lstrip(">"))
    shown = " and ".join(
        f"{row.estimate:.0f} for {_name(model)} ({CONFIDENCE} interval {row.profile_low:.0f} to "
        f"{row.profile_high:.0f}; {a.spans.loc[model, 'low']:.0f} to {a.spans.loc[model, 'high']:.0f} in other "
        "identified regressions with no larger AIC)"
        for model, row in points.iterrows()
    )
    return _each([p < ALPHA, *(points["estimate"] > stated)]), (
        f"Both have a larger ECL50 than each other model (largest {_p(p)}, Holm). The estimates are {shown}. All of "
        f"these lie beyond the longest puzzle tested, {_LONGEST} statements."
    )


def _classes(a: Analyses) -> _Found:
    pairs, order = a.ecl50_pairs, list(TIERS)
    upper, lower = (pairs[side].map(TIER_OF).map(order.index, na_action="ignore") for side in ("first", "second"))
    tied = ~(pairs["p_holm"] <= ALPHA)
    overlaps = ((upper > lower) | ((upper < lower) & tied)).sum()  # the first of a pair is the better
    beside = pd.concat([pairs["first"][tied & upper.isna() & lower.notna()],
                        pairs["second"][tied & upper.notna() & lower.isna()]]).nunique()  # fmt: skip
    ecl50 = np.log(a.points("ecl50")["estimate"])
    inside = {tier: np.diff(np.sort(ecl50[list(models)])).max() for tier, models in TIERS.items() if tier != "low"}
    between = [ecl50[list(TIERS[up])].min() - ecl50[list(TIERS[down])].max()
               for up, down in pairwise(order)]  # fmt: skip
    separate = f"All but {overlaps} pairs" if overlaps else "All pairs"
    return _each([not overlaps, between[0] > max(inside.values())]), (
        f"{separate} of models of different classes differ in ECL50 (Holm): the classes do not overlap. They are not "
        f"three clusters: neighbours within the frontier class differ by a factor of up to "
        f"{np.exp(inside['frontier']):.2f}, the frontier and mid classes by {np.exp(between[0]):.2f}, and "
        f"{beside} of the {len(a.cells['model'].unique()) - sum(map(len, TIERS.values()))} models "
        "that the paper leaves out do not differ from members of a class."
    )


def _id50_range(a: Analyses) -> _Found:
    id50, levels = a.points("id50")["estimate"], [cell.d for cell in PAPER_GRID]
    outside = int((~id50.between(min(levels), max(levels))).sum())
    return DEFINITION, (
        f"{outside} of {len(id50)} values lie outside the tested d of {min(levels)} to {max(levels)}; these are "
        "extrapolations of a straight line in log-odds."
    )


def _nt50_meaning(a: Analyses) -> _Found:
    nt50 = a.points("nt50").dropna(subset="estimate")
    bottom = a.troughs.set_index("model")["trough"].reindex(nt50.index)
    falling, unlimited = nt50.index[nt50["estimate"] < bottom], nt50.index[np.isinf(nt50["profile_high"])]
    return DEFINITION, (
        f"It applies to {len(nt50) - len(falling)} of {len(nt50)} printed values. For "
        f"{', '.join(map(_name, falling))} accuracy falls below one half there, so a small value is no robustness. "
        f"{', '.join(map(_name, unlimited))}: no upper {CONFIDENCE} limit in [0, 1]."
    )


def _narrow_range(a: Analyses) -> _Found:
    relative, tau = a.heterogeneity["relative"], a.heterogeneity["tau"]
    return _each(relative["d"] < relative.drop("d")), (
        f"Between models the slope of d varies by {relative['d']:.0%} of its mean (true standard deviation "
        f"{tau['d']:.2f} around {a.heterogeneity['mean']['d']:.2f}), that of log10 N by {relative['N']:.0%} "
        f"({tau['N']:.1f} around {a.heterogeneity['mean']['N']:.1f}), those of ρ and ρ² by {relative['rho']:.0%} and "
        f"{relative['rho2']:.0%} (Paule-Mandel). One slope for all is rejected ({_p(a.heterogeneity['p']['d'])})."
    )


def _u_shape(a: Analyses) -> _Found:
    shaped = int((correct_holm(a.troughs["p_u"]) < ALPHA).sum())
    fits = fit_quadratics(a.cells)
    p, bend = (np.array([getattr(one.fit, name)[4] for one in fits]) for name in ("p", "coef"))
    against = int(((correct_holm(p) < ALPHA) & (bend < 0)).sum())
    return _most(shaped, against), (
        f"A fall at ρ = 5% together with a rise at 95% is significant in {shaped} of {len(fits)} models (Sasabuchi's "
        f"test, Holm). The quadratic term is significant in {(p < ALPHA).sum()}, "
        f"{f'{against} with the opposite sign' if against else 'never with the opposite sign'}."
    )


def _trough(a: Analyses) -> _Found:
    stated = [int(end) / 100 for end in _stated("C039").split("-")]
    shaped = a.troughs[a.troughs["p_u"] < ALPHA]
    lowest = shaped["lowest"].value_counts().sort_index()
    shown = ", ".join(f"{level:.0%} in {count}" for level, count in lowest.items())
    none = [f"{level:.0%}" for level in stated if level not in lowest]
    return _each(level in lowest for level in stated), (
        f"Of the {len(shaped)} fitted curves that are U-shaped, the lowest tested ρ is {shown}"
        f"{f' and in none {none[0]}' if none else ''}. Between 50% and 75% nothing was tested."
    )


def _count(beta: pd.Series, p: pd.Series) -> tuple[int, int]:
    """Return how many coefficients are significant and negative, and positive."""
    return int(((p < ALPHA) & (beta < 0)).sum()), int(((p < ALPHA) & (beta > 0)).sum())


def _in_models(a: Analyses, term: str, agree: Callable[[int, int], bool]) -> _Found:
    """Judge in how many models a product is significant, at each tested level of the third load (Holm)."""
    tests, third = a.tests[term], THIRD[term]
    levels = {level: _count(rows["slope"], rows["p_holm"]) for level, rows in a.levels(term).items()}
    shown = [
        f"at {_LEVEL[third].format(level)} negative in {minus or 'no'} model{'s' * (minus > 1)} and positive in "
        f"{plus or 'none'}"
        for level, (minus, plus) in (list(levels.items())[place] for place in (0, -1))
    ]
    least, most = _count(tests["beta_paper"], tests["p_paper"])
    return _each(agree(*counts) for counts in levels.values()), (
        f"Table 3 tests at {_ORIGIN[third]}, which no puzzle has: negative in {least} models, positive in "
        f"{most or 'none'}. After Holm's adjustment it is {', '.join(shown)}."
    )


def _d_by_rho(a: Analyses) -> _Found:
    _, found = _in_models(a, "drho", lambda minus, plus: plus > minus)
    levels = [_count(rows["slope"], rows["p_holm"]) for rows in a.levels("drho").values()]
    opposed = sum(minus > plus for minus, plus in levels)
    return FAILS if 2 * opposed > len(levels) else PARTLY, (
        "ρ is the share of needles: greater harm from distractors would be a positive product. A negative one means "
        f"that needles help less in difficult puzzles. {found}"
    )


def _undetected(a: Analyses, term: str) -> _Found:
    """Judge that the leaders have no detectable product of loads."""
    tests, third = a.tests[term].loc[list(LEADERS)], THIRD[term]
    origin = a.slopes[(a.slopes["term"] == term) & ~a.slopes["tested"]].set_index("model")["detectable"]
    found = {
        model: [(level, rows.loc[model]) for level, rows in a.levels(term).items() if rows.loc[model, "p_holm"] < ALPHA]
        for model in LEADERS
    }
    parts = []
    for model, rows in found.items():
        if not rows:
            parts.append(f"{_name(model)}: none")
            continue
        ends = [f"{row.slope:.2f} at {_LEVEL[third].format(level)}" for level, row in (rows[0], rows[-1])]
        largest = max(row.p for _, row in rows)
        parts.append(f"{_name(model)}: {' to '.join(dict.fromkeys(ends))} ({_p(largest)})")
    least = " and ".join(f"{origin[model]:.2f} for {_name(model)}" for model in LEADERS)
    return FAILS if any(found.values()) else HOLDS, (
        f"Table 3 tests at {_ORIGIN[third]} ({', '.join(_p(p) for p in tests['p_paper'])}), where 80% power needs a "
        f"coefficient of {least}. Significant at tested levels (Holm): {'; '.join(parts)}."
    )


def _gemini(a: Analyses) -> _Found:
    row = a.tests["Nrho"].loc[GEMINI[0]]
    levels = {level: rows.loc[GEMINI[0]] for level, rows in a.levels("Nrho").items()}
    shown = ", ".join(f"{one.slope:.1f} at d = {level:g}" for level, one in levels.items())
    found = sum(one.p_holm < ALPHA for one in levels.values())
    return _each(one.slope < 0 and one.p_holm < ALPHA for one in levels.values()), (
        f"Table 3 tests at d = 0: {row['beta_paper']:.1f} ({_p(row['p_paper'])}; {_p(row['holm_paper'])} after Holm). "
        f"At the tested levels it is {shown}; after Holm {found or 'none'} {'are' if found > 1 else 'is'} significant."
    )


def _lower_bound(a: Analyses) -> _Found:
    shares = a.overflows[a.overflows["N"] == _LONGEST].set_index("model")["share"]
    own = a.cells[a.cells["model"].isin([GEMINI[0], *LEADERS])]
    bounds = finished_accuracy(own, [_LONGEST]).query("d == '3+'").set_index("model")
    shown = ", ".join(f"{_name(model)} {row.low:.2f} to {row.high:.2f}" for model, row in bounds.iterrows())
    leads = bounds.loc[LEADERS[0], "low"] > bounds.loc[GEMINI[0], "high"]
    return _each(shares[list(GEMINI)] > 0), (
        f"At N = {_LONGEST}, {shares[GEMINI[0]]:.0%} of the answers of gemini-2.5-pro ran out of context; most that "
        f"finished are at d = 1. Among finished answers at d ≥ 3 accuracy lies within these bounds: {shown}."
        f"{' So gpt-5 leads also among answers that fit.' if leads else ''}"
    )


def _overflows(a: Analyses) -> _Found:
    total = a.overflows.groupby("model")["ctx"].sum()
    gemini, longest = total[list(GEMINI)].sum(), a.overflows[a.overflows["N"] == _LONGEST].set_index("model")["share"]
    others = longest.drop(list(GEMINI)).nlargest(3)
    return _each([2 * gemini > total.sum()]), (
        f"Gemini 2.5 accounts for {gemini:,} of {total.sum():,} overflows. Its rates at N = {_LONGEST} are the highest "
        f"({', '.join(f'{share:.0%}' for share in longest[list(GEMINI)].nlargest(2))}), but "
        f"{', '.join(f'{_name(model)} loses {share:.0%}' for model, share in others.items())} of the answers there, so "
        "that the slopes in N and ECL50 of these models depend on overflows too."
    )


def _budget(a: Analyses) -> _Found:
    tokens = load_table("tokens")
    tokens = tokens[tokens["model"].isin(LEADERS) & (tokens["N"] == _LONGEST)]
    budget, p90 = int(_stated("C008")), tokens["prompt_p90"] + tokens["output_p90"]
    row = tokens.loc[p90.idxmax()]
    ctx = a.overflows[a.overflows["N"] == _LONGEST].set_index("model")["ctx"]
    return _each([p90.max() < budget, (ctx[list(LEADERS)] == 0).all()]), (
        f"At N = {_LONGEST} and d = {row['d']} the 90th percentiles of prompt and output of {_name(row['model'])} sum "
        f"to {p90.max():,.0f} tokens (budget {budget:,}), and {ctx[LEADERS[0]]} answers of gpt-5 and {ctx[LEADERS[1]]} "
        f"of o3 overflow at N = {_LONGEST}."
    )


#: What decides the statements of ``conclusions.csv``, by the name of the rule.
RULES: dict[str, Rule] = {
    "slopes": Rule(_slopes, "each"),
    "dominant_load": Rule(_dominant_load, "most"),
    "steepest": Rule(_steepest, "each"),
    "larger_models": Rule(_larger_models, "each"),
    "leaders": Rule(_leaders, "each"),
    "classes": Rule(_classes, "each"),
    "id50_range": Rule(_id50_range, "definition"),
    "nt50_meaning": Rule(_nt50_meaning, "definition"),
    "narrow_range": Rule(_narrow_range, "each"),
    "u_shape": Rule(_u_shape, "most"),
    "trough": Rule(_trough, "each"),
    "d_by_N": Rule(lambda a: _in_models(a, "dN", lambda minus, plus: 2 * minus > len(BY_NAME)), "interaction"),
    "d_by_N_leaders": Rule(lambda a: _undetected(a, "dN"), "absence"),
    "d_by_rho": Rule(_d_by_rho, "interaction"),
    "d_by_rho_leaders": Rule(lambda a: _undetected(a, "drho"), "absence"),
    "N_by_rho": Rule(lambda a: _in_models(a, "Nrho", lambda minus, plus: min(minus, plus) > 0), "interaction"),
    "N_by_rho_gemini": Rule(_gemini, "interaction"),
    "lower_bound": Rule(_lower_bound, "each", "bounded"),
    "overflows": Rule(_overflows, "each", "published"),
    "budget": Rule(_budget, "each", "published"),
}
