"""What the analyses say, in words: sentences of the pages on uncertainty and alternatives, and what survives."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from cogniload_repro.presentation.fragments import Fragment, show_frame, show_sentence
from cogniload_repro.presentation.robustness_pages import label
from cogniload_repro.reconstruction.feasible import spread_band
from cogniload_repro.robustness.comparisons import TIER_OF, check_tiers
from cogniload_repro.robustness.conclusions import Analyses, draw_conclusions


def describe_agreement(intervals: pd.DataFrame, cells: pd.DataFrame) -> Fragment:
    """Return how well three kinds of interval agree, and how many points lie outside the grid, as sentences.

    Agreement is that of the ends of ECL50, as its logarithm, and of ID50, in standard errors.
    """
    if intervals.empty:
        return Fragment("", "")
    outside = {}
    for point, load in (("ecl50", "N"), ("id50", "d")):
        inside = intervals.loc[intervals["point"] == point, "estimate"].between(cells[load].min(), cells[load].max())
        outside[point] = f"{(~inside).sum()} of {len(inside)}"
    beyond = show_sentence(
        f"Outside the grid: {outside['ecl50']} ECL50 and {outside['id50']} ID50 are loads that were not tested. Their "
        "intervals say how well the line is known there, not whether accuracy follows it."
    )
    facts = measure_agreement(intervals)
    if not facts:
        return show_sentence("Agreement: no interval has ends that could be compared.") + beyond
    agreement = show_sentence(
        f"Agreement: the ends of the delta intervals lie a median of {facts['delta_median']} and at most "
        f"{facts['delta_largest']} standard errors from those of the profile, those of the bootstrap "
        f"{facts['bootstrap_median']} and {facts['bootstrap_largest']}, its random error included. Where they differ "
        "the profile is the one to use: far from the grid the likelihood is lopsided."
    )
    return agreement + beyond


def measure_agreement(intervals: pd.DataFrame) -> dict[str, str]:
    """Return how far delta and bootstrap ends lie from those of the profile, in standard errors: median and largest.

    ECL50 and ID50 only, ECL50 as its logarithm, and of the bootstrap's random error nothing is taken off. Empty where
    no interval has two ends.
    """
    own = intervals[intervals["point"] != "nt50"].copy()
    ends = [column for column in own if column.endswith(("_low", "_high"))]
    lengths = own["point"] == "ecl50"
    with np.errstate(divide="ignore"):  # an end without limit is at 0, and left out below
        own.loc[lengths, ends] = np.log10(own.loc[lengths, ends])
    facts = {}
    for kind in ("delta", "bootstrap"):
        apart = np.abs([(own[f"{kind}_{end}"] - own[f"profile_{end}"]) / own["se"] for end in ("low", "high")])
        apart = apart[np.isfinite(apart)]
        if apart.size == 0:
            return {}
        facts |= {f"{kind}_median": f"{np.median(apart):.2f}", f"{kind}_largest": f"{apart.max():.2f}"}
    return facts


def describe_pairs(accuracy: pd.DataFrame, ecl50: pd.DataFrame) -> Fragment:
    """Return how many pairs of models are told apart, and how the paper's classes stand to that, as sentences."""
    if accuracy.empty:
        return show_sentence("Comparing models needs two with a finite fit of the paper's specification.")
    apart = [f"{(pairs['p_holm'] < 0.05).sum()}" for pairs in (accuracy, ecl50)]
    apart_bh = [f"{(pairs['p_bh'] < 0.05).sum()}" for pairs in (accuracy, ecl50)]
    text = (
        f"Of {len(accuracy)} pairs, {apart[0]} are told apart by accuracy and {apart[1]} by ECL50 after Holm's "
        f"correction ({apart_bh[0]} and {apart_bh[1]} after that of Benjamini and Hochberg)."
    )
    tiers = {TIER_OF.get(model, "") for model in pd.concat([ecl50["first"], ecl50["second"]])} - {""}
    if len(tiers) < 2:
        return show_sentence(text)
    open_pairs = [len(check_tiers(pairs)) for pairs in (ecl50, accuracy)]
    return show_sentence(
        f"{text} The paper's classes (section 3.1.4) hold where two models of different classes are never out of order "
        f"or tied; pairs for which this is not shown number {open_pairs[0]} by ECL50 and {open_pairs[1]} by accuracy."
    )


def describe_settled(provenance: str) -> Fragment:
    """Return what numbers of a page the printed tables determine, for reconstructed cells; for others nothing."""
    if provenance != "reconstructed":
        return Fragment("", "")
    return show_sentence(
        "A logistic regression depends on the answers only through sums over the correct ones. The printed tables fix "
        "these sums for every level of d, every level of N, for ρ, ρ² and the products of Appendix B. What is built "
        "from these columns with a logit link is settled: all tables of counts that agree with the paper give the same "
        "fit, up to the printed digits. Powers of ρ beyond the second, splines in ρ, the nominal ratio, other links, "
        "other standard errors and prompt tokens are not, nor are calibration and dispersion of any fit; what they say "
        "belongs to the table of cells at hand."
    )


def describe_specifications(summary: pd.DataFrame, provenance: str) -> Fragment:
    """Return what the specifications say together, as sentences: which do better, what they leave of the ranking.

    Of reconstructed cells only what the printed tables settle is said to do better.
    """
    paper, others = summary.iloc[0], summary.iloc[1:]
    if paper["models"] == 0:
        return Fragment("", "")
    sure = others["settled"] | (provenance != "reconstructed")
    better = others.loc[sure & (others["aic_better"] > others["models"] / 2), "specification"]
    text = (
        f"The paper's own is miscalibrated for {paper['miscalibrated']} of {paper['models']} models, and the variance "
        f"of its residuals is {paper['dispersion']:.1f} times that of independent answers (median). A lower AIC in more"
        f" than half of the models{', and settled' if provenance == 'reconstructed' else ''}: "
        f"{_list(better) or 'none'}."
    )
    ranked = others[others["order"].notna() & (others["models"] > 2)]
    if ranked.empty:
        return show_sentence(text)
    least, same = ranked.loc[ranked["order"].idxmin()], (ranked["leader"] == paper["leader"]).sum()
    return show_sentence(
        f"{text} The rank correlation of ECL50 with the paper's is lowest for {least['specification']} "
        f"({least['order']:.3f}); {label(paper['leader'])} leads in {same} of {len(ranked)} specifications. In the "
        f"median one the ECL50 of {ranked['ecl50_left'].median():.0f} models leaves the paper's 95% interval."
    )


def _list(names: Iterable[str]) -> str:
    *most, last = [*names] or [""]
    return f"{', '.join(most)} and {last}" if most else last


def describe_spread(cells: pd.DataFrame) -> str:
    """Return a sentence on how far accuracies over (N, d) differ between the tables that agree with the paper.

    Without the last full stop; empty for cells that are not the committed reconstruction.
    """
    band = spread_band(cells, "model", "N", "d")
    if band.empty:
        return ""
    points = 100 * (band["highest"] - band["lowest"])
    return (
        "Between tables of counts that agree with everything printed, the accuracy of a tile spreads by "
        f"{points.median():.0f} points (median), at most {points.max():.0f}"
    )


def show_conclusions(analyses: Analyses, provenance: str) -> Fragment:
    """Return the paper's conclusions with what became of them; a sentence where the cells do not allow any.

    What the printed tables settle matters to reconstructed cells only.
    """
    names = {"where": "Where", "statement": "The paper", "finding": "Here", "verdict": "So it", "settled": "Settled"}
    try:
        conclusions = draw_conclusions(analyses)
    except ValueError as error:
        return show_sentence(str(error))
    if provenance != "reconstructed":
        conclusions = conclusions.drop(columns="settled")
    return show_frame(conclusions.rename(columns=names), caption="The paper's conclusions and what becomes of them.")
