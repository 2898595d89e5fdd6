"""Tables and pictures of the pages on uncertainty and on alternatives, as a reader sees them."""

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from cogniload_repro.formats import NONE, stars
from cogniload_repro.models import BY_NAME
from cogniload_repro.presentation.fragments import Fragment, show_frame, show_picture, show_sentence
from cogniload_repro.presentation.robustness_figures import draw_fingerprints
from cogniload_repro.robustness.comparisons import TIERS
from cogniload_repro.robustness.pooling import pool_models
from cogniload_repro.statistics.regression import fit_glm

_TERMS = {"dN": "d × N", "drho": "d × ρ", "Nrho": "N × ρ", "dNrho": "d × N × ρ"}
_WAYS = {"paper": "as Table 3", "pairs": "no three-way product", "mean": "third load at its mean"}
_TREATMENTS = {"wrong": "as wrong", "excluded": "left out", "competing": "own outcome"}


def label(model: str) -> str:
    """Return a model's short name; a model that the paper does not have keeps its own."""
    return BY_NAME[model].label if model in BY_NAME else model


def print_intervals(intervals: pd.DataFrame, point: str) -> pd.DataFrame:
    """Return one capacity point of every model with its three intervals, as text."""
    places = {"ecl50": 1, "nt50": 2, "id50": 2}[point]
    own = intervals[intervals["point"] == point]
    if point == "nt50":
        own = own[own["estimate"].notna() | (own["present"] > 0)]
    frame = pd.DataFrame({"Model": own["model"].map(label)})
    frame[{"ecl50": "ECL50", "nt50": "NT50", "id50": "ID50"}[point]] = own["estimate"].map(lambda x: _number(x, places))
    frame["SE"] = own["se"].map(lambda x: _number(x, 3))
    for kind in ("profile", "delta", "bootstrap"):
        ends = zip(own[f"{kind}_low"], own[f"{kind}_high"], strict=True)
        frame[kind.capitalize()] = [_range(low, high, places) for low, high in ends]
    if point == "nt50":
        frame["Exists"] = own["present"].map("{:.0%}".format)
    return frame


def show_fingerprints(intervals: pd.DataFrame, cells: pd.DataFrame, build: str | Path, note: str) -> Fragment:
    """Return the picture of the capacity points with intervals; a sentence if there are none."""
    if intervals.empty:
        return show_sentence(describe_needs(cells))
    return show_picture(
        draw_fingerprints(intervals, cells, note),
        "fingerprints",
        build,
        caption="Capacity points with 95% profile intervals; shaded: the range of the grid; triangles: off the scale",
        note=note,
        alt="Three panels with one row a model: ECL50, NT50 and ID50 with intervals, sorted by ECL50.",
    )


def describe_needs(cells: pd.DataFrame) -> str:
    """Return a sentence that says why no model has a finite fit of the paper's specification."""
    fits = (fit_glm(own).status for _, own in cells.groupby("model", sort=False, observed=True))
    return (
        f"This needs a finite fit of the paper's specification, and no model here has one "
        f"({', '.join(sorted(set(fits)))}): answers must be mixed, and d, N and three values of ρ vary."
    )


def print_ranks(accuracy: pd.DataFrame, ecl50: pd.DataFrame) -> pd.DataFrame:
    """Return the rank intervals by accuracy and by ECL50 beside the paper's class, as text."""
    both = accuracy.merge(ecl50, on=["model", "tier"], suffixes=("", "_ecl50"))
    return pd.DataFrame(
        {
            "Model": both["model"].map(label),
            "Class in the paper": both["tier"].replace("", NONE),
            "Rank by accuracy": [_ranks(*row) for row in both[["rank", "best", "worst"]].to_numpy()],
            "Rank by ECL50": [_ranks(*row) for row in both[["rank_ecl50", "best_ecl50", "worst_ecl50"]].to_numpy()],
        }
    )


def _ranks(rank: int, best: int, worst: int) -> str:
    return f"{rank}" if best == worst else f"{rank} ({best} to {worst})"


def print_open_pairs(pairs: pd.DataFrame, quantity: str, alpha: float = 0.05) -> pd.DataFrame:
    """Return the pairs that Holm's correction leaves open, with the puzzles per cell that would tell them apart."""
    left = pairs[pairs["p_holm"] > alpha].sort_values("needed")
    ratio = quantity == "ecl50"
    return pd.DataFrame(
        {
            "Model": left["first"].map(label),
            "Against": left["second"].map(label),
            "Ratio" if ratio else "Difference": [f"{10**x:.2f}" if ratio else f"{x:.3f}" for x in left["difference"]],
            "p": left["p"].map("{:.2g}".format),
            "p (Holm)": left["p_holm"].map("{:.2g}".format),
            "p (BH)": left["p_bh"].map("{:.2g}".format),
            "Puzzles per cell": left["needed"].map(lambda x: f"{np.ceil(x):,.0f}" if np.isfinite(x) else NONE),
        }
    )


def print_outsiders(outsiders: pd.DataFrame) -> pd.DataFrame:
    """Return how the models outside the paper's classes stand to each class: better, not told apart, worse."""
    if outsiders.empty:
        return outsiders
    cells = outsiders.assign(text=[f"{r.better} / {r.tied} / {r.worse}" for r in outsiders.itertuples()])
    table = cells.pivot_table("text", "model", "tier", aggfunc="first", sort=False)[list(TIERS)]
    return table.reset_index().assign(model=lambda rows: rows["model"].map(label)).rename(columns={"model": "Model"})


def print_specifications(summary: pd.DataFrame, provenance: str) -> pd.DataFrame:
    """Return the summary of the specifications, as text; what is settled matters to reconstructed cells only."""
    frame = pd.DataFrame(
        {
            "Specification": summary["specification"],
            "Settled": summary["settled"].map({True: "yes", False: "no"}),
            "Models": summary["models"],
            "AIC - paper's": [f"{daic:+,.0f}" if np.isfinite(daic) else NONE for daic in summary["daic"]],
            "AIC better": summary["aic_better"],
            "BIC better": summary["bic_better"],
            "Miscalibrated": summary["miscalibrated"],
            "Dispersion": summary["dispersion"].map(lambda x: _number(x, 2)),
            "Error": summary["error"].map(lambda x: _number(x, 3)),
            "ECL50 moves": summary["ecl50_moved"].map(lambda x: _number(x, 2)),
            "Leave interval": summary["ecl50_left"].map(lambda x: _number(x, 0)),
            "Order": summary["order"].map(lambda x: _number(x, 3)),
            "Leader": [label(model) if model else NONE for model in summary["leader"]],
        }
    )
    return frame if provenance == "reconstructed" else frame.drop(columns="Settled")


def print_points(fits: pd.DataFrame, point: str, specifications: Iterable[str]) -> pd.DataFrame:
    """Return one capacity point by model and specification, as text; the status where there is no fit."""
    places = {"ecl50": 1, "nt50": 2, "id50": 2}[point]
    models = fits["model"].drop_duplicates()
    frame = pd.DataFrame({"Model": models.map(label).to_list()})
    for name in specifications:
        own = fits[fits["specification"] == name].set_index("model").reindex(models).fillna({"status": NONE})
        texts = zip(own["status"], own[point], strict=True)
        frame[name] = [_number(value, places) if status == "ok" else status for status, value in texts]
    return frame


def print_interactions(tests: pd.DataFrame, models: Iterable[str] | None = None) -> pd.DataFrame:
    """Return the products of loads, tested in three ways, with stars."""
    own = tests if models is None else tests[tests["model"].isin(list(models))]
    frame = pd.DataFrame({"Model": own["model"].map(label), "Product": own["term"].map(_TERMS)})
    for way, heading in _WAYS.items():
        pairs = zip(own[f"beta_{way}"], own[f"p_{way}"], strict=True)
        frame[heading] = [f"{beta:.2f}{stars(p)}" if np.isfinite(beta) else NONE for beta, p in pairs]
    return frame


def print_interaction_counts(counts: pd.DataFrame) -> pd.DataFrame:
    """Return the numbers of models with a significant product: negative and positive, tested in three ways."""
    if counts.empty:
        return counts
    cells = counts.assign(text=[f"{r.negative} / {r.positive}" for r in counts.itertuples()])
    table = cells.pivot_table("text", "term", "way", aggfunc="first", sort=False).reindex(columns=list(_WAYS))
    frame = table.fillna(NONE).reset_index().assign(term=lambda rows: rows["term"].map(_TERMS))
    return frame.rename(columns={"term": "Product", **_WAYS})


def print_overflows(treatments: pd.DataFrame) -> pd.DataFrame:
    """Return ECL50, with the factor of its 95% interval, under each treatment of overflows, as text."""
    own = treatments[treatments["overflows"] > 0]
    if own.empty:
        return own
    cells = [f"{_number(r.ecl50, 1)} (×/÷ {10 ** (1.96 * r.se_log10_ecl50):.2f})" if r.status == "ok" else r.status
             for r in own.itertuples()]  # fmt: skip
    table = own.assign(text=cells).pivot_table("text", ["model", "overflows"], "treatment", aggfunc="first", sort=False)
    frame = table.reset_index().assign(model=lambda rows: rows["model"].map(label))
    return frame.rename(columns={"model": "Model", "overflows": "Overflows", **_TREATMENTS})


def print_dispersion(table: pd.DataFrame) -> pd.DataFrame:
    """Return dispersion, and the stars of the coefficients with three kinds of standard error, as text."""
    if table.empty:
        return table
    frame = pd.DataFrame({"Model": table["model"].map(label), "Dispersion": table["phi"].map("{:.2f}".format)})
    frame["Correlation"] = table["icc"].map("{:.3f}".format)
    for term, symbol in (("d", "d"), ("N", "N"), ("rho", "ρ"), ("rho2", "ρ²")):
        kinds = zip(*(table[f"p{kind}_{term}"] for kind in ("", "_quasi", "_beta")), strict=True)
        frame[symbol] = [" / ".join(stars(p) or "–" for p in ps) for ps in kinds]
    return frame


def show_pooling(cells: pd.DataFrame) -> Fragment:
    """Return each model's own and pooled slope of rho^2 and capacity points; a sentence if models are too few."""
    try:
        pooled = pool_models(cells)
    except ValueError as error:
        return show_sentence(str(error))
    frame = pd.DataFrame({"Model": pooled["model"].map(label)})
    kinds = (("rho2", "ρ²", 2), ("ecl50", "ECL50", 1), ("nt50", "NT50", 2), ("id50", "ID50", 1))
    for name, heading, places in kinds:
        for kind in ("own", "pooled"):
            frame[f"{heading}, {kind}"] = pooled[f"{kind}_{name}"].map(lambda x, p=places: _number(x, p))
    return show_frame(frame, caption="Own and partially pooled estimates.")


def print_troughs(troughs: pd.DataFrame) -> pd.DataFrame:
    """Return where along rho each model's fitted accuracy is lowest, as text."""
    shaped = troughs["curvature"] > 0
    low, high = troughs["low"].clip(lower=0).where(shaped), troughs["high"].clip(upper=1).where(shaped)
    return pd.DataFrame(
        {
            "Model": troughs["model"].map(label),
            "Lowest at ρ": [_number(x, 2) for x in troughs["trough"].where(shaped)],
            "95% interval in [0, 1]": [_range(*ends, 2) for ends in zip(low, high, strict=True)],
            "p of a U": troughs["p_u"].map("{:.2g}".format),
        }
    )


def print_loads(loads: pd.DataFrame) -> pd.DataFrame:
    """Return how far accuracy falls over the range of N and over that of d, as text."""
    apart = loads["p_holm"] < 0.05
    larger = np.where(loads["difference"] > 0, "N", "d")
    return pd.DataFrame(
        {
            "Model": loads["model"].map(label),
            "Fall over N": loads["fall_N"].map("{:.3f}".format),
            "Fall over d": loads["fall_d"].map("{:.3f}".format),
            "p (Holm)": loads["p_holm"].map("{:.2g}".format),
            "Larger": np.where(apart, larger, "not told apart"),
        }
    )


def print_steps(steps: pd.DataFrame) -> pd.DataFrame:
    """Return the products that enter each model's regression, in order, with sign and stars, as text."""
    words = [f"{_TERMS[row.term]} {row.beta:+.2f}{stars(row.p)}" for row in steps.itertuples()]
    joined = steps.assign(text=words).groupby("model", sort=False)["text"].agg(", ".join).reset_index()
    return pd.DataFrame({"Model": joined["model"].map(label), "Products": joined["text"]})


def _number(value: float, places: int) -> str:
    if np.isnan(value):
        return NONE
    return "no limit" if np.isinf(value) else _decimal(value, places)


def _decimal(value: float, places: int) -> str:
    """Return a number with so many decimals; with its first digit where these would all be zero, or far off."""
    if abs(value) >= 1e6:  # longer than any puzzle
        return f"{value:.1e}"
    return f"{value:,.{places}f}" if value == 0 or abs(value) >= 0.5 * 10**-places else f"{value:.0e}"


def _range(low: float, high: float, places: int) -> str:
    if np.isnan(low):
        return NONE
    return " to ".join("no limit" if np.isinf(end) else _decimal(end, places) for end in (low, high))
