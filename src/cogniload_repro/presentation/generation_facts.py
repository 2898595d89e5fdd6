"""The numbers in the sentences of the chapter on the generator, as text."""

import pandas as pd

from cogniload_repro.formats import NONE
from cogniload_repro.puzzles.generate import MAX_FAILURES
from cogniload_repro.puzzles.measure import REASONS, Measures, attempts, count_failures, profile_places


def describe_sample(measures: Measures) -> dict[str, str]:
    """Return how many puzzles were to be measured and were, and how much that is."""
    return {
        "asked": f"{measures.asked:,}",
        "measured": f"{len(measures.puzzles):,}",
        "statements": f"{len(measures.statements):,}",
        "attempts": f"{len(attempts(measures)):,}",
    }


def describe_needles(measures: Measures) -> dict[str, str]:
    """Return how far the needles are from what was asked, and where in the puzzle they stand."""
    own, cast = measures.statements, measures.puzzles
    found = own.groupby("puzzle")["needle"].sum().reindex(cast.index, fill_value=0)
    last = own[own["place"] == own["N"] - 1]
    rho = cast["needles"] / cast["N"]
    facts = {
        "needles_exact": f"{(found == cast['needles']).sum():,}",
        "rho_largest": f"{(100 * rho - cast['ratio_pct']).abs().max():.1f}" if len(cast) else NONE,
        "last_needle": _percent(last["needle"]),
        "last_even": _percent(last["puzzle"].map(rho)),
    }
    profile = profile_places(measures)
    relative = (profile["needles"] / profile["even"]).set_axis(pd.MultiIndex.from_frame(profile[["d", "tenth"]]))
    for d, word in ((1, "easiest"), (profile["d"].max(), "hardest")):
        for tenth in (1, 10):
            facts[f"{word}_tenth{tenth}"] = f"{relative.get((d, tenth), float('nan')):.2f}".replace("nan", NONE)
    return facts


def describe_failures(measures: Measures) -> dict[str, str]:
    """Return how often attempts fail, and how often rules of the paper's text would have allowed them."""
    counts, failures = count_failures(measures, "d"), measures.failures
    rates = (100 * counts["rate"]).set_axis(counts["d"])
    equal = failures[failures["reason"] == REASONS[2]]
    some = equal["alike"] < equal["others"]
    needles = attempts(measures)["needle"].sum()
    return {
        "give_up": f"{MAX_FAILURES + 1}",
        "rate_first": f"{rates.iloc[0]:.1f}" if len(rates) else NONE,
        "rate_last": f"{rates.iloc[-1]:.1f}" if len(rates) else NONE,
        "d_first": f"{rates.index[0]}" if len(rates) else NONE,
        "d_last": f"{rates.index[-1]}" if len(rates) else NONE,
        "equal": f"{len(equal):,}",
        "equal_some": f"{some.sum():,}",
        "equal_some_pct": _percent(some[equal["d"] > 1]),
        "equal_some_needles_pct": f"{100 * some.sum() / needles:.2f}" if needles else NONE,
    }


def describe_values(measures: Measures) -> dict[str, str]:
    """Return how often updates would have no effect if values were drawn as the paper's text says."""
    facts = {}
    for word, own in (("needle", measures.statements.query("needle")), ("hay", measures.statements.query("~needle"))):
        updates = own["updates"].sum()
        facts[f"repeat_{word}"] = f"{100 * own['repeats'].sum() / updates:.1f}" if updates else NONE
        facts[f"idle_{word}"] = _percent(own["idle"])
        facts[f"idle_{word}_d1"] = _percent(own.loc[own["d"] == 1, "idle"])
    return facts


def describe_people(measures: Measures) -> dict[str, str]:
    """Return how often people are missing, how different they are at the start, and how often they become the same."""
    cast, own = measures.puzzles, measures.statements
    hays = own[~own["needle"]]
    missing = cast["lines"] < cast["people"]
    worst = (1 - cast["lines"] / cast["people"]).groupby([cast["N"], cast["d"], cast["ratio_pct"]]).mean()
    N, d, ratio = worst.idxmax() if len(worst) else (NONE, NONE, 0)
    some = hays[hays["d"] > 1]
    return {
        "missing_pct": _percent(missing),
        "missing_worst_pct": f"{100 * worst.max():.0f}" if len(worst) else NONE,
        "missing_worst": f"N = {N}, d = {d} and a nominal {ratio:g}%",
        "pairs": f"{cast['pairs'].sum():,}",
        "pairs_apart": f"{cast['pairs_apart'].sum():,}",
        "alike_pct": _percent(some["distinct"] <= 1),
        "small_domains": f"{(cast['smallest'] < cast['d'] + 1).sum():,}",
        "large_d": f"{(cast['d'] >= 10).sum():,}",
    }


def _percent(values: pd.Series) -> str:
    return f"{100 * values.mean():.1f}" if len(values) else NONE
