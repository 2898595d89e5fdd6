"""The comparison of prompt lengths: its picture with the description, and its tables as text."""

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from cogniload_repro.models import BY_NAME
from cogniload_repro.presentation.style import FAMILY_COLORS, STYLE, WIDTH_IN
from cogniload_repro.prompts.comparison import LARGEST_Z

_EDGE = 5.0  # z-scores beyond are drawn at the edge
_SMALL_P = 0.01
_TICKS = (500, 1000, 2000, 5000, 10_000)  # tokens
_QUANTITY = {"prompt_mean": "mean", "prompt_p90": "90th percentile"}


def describe_errors(comparison: pd.DataFrame) -> str:
    """Say for readers who do not see it what `draw_errors` shows: lengths, median and points far off."""
    means = _means(comparison)
    outside = (means["z"].abs() > LARGEST_Z).sum()
    return (
        f"Scatter plot, one point a printed mean. Horizontal: prompts of {means['printed'].min():,.0f} to "
        f"{means['printed'].max():,.0f} tokens. Vertical: departure in standard errors, median "
        f"{means['z'].median():+.1f}; {outside:,} points outside the band of {LARGEST_Z:g}."
    )


def draw_errors(comparison: pd.DataFrame) -> Figure:
    """Draw the z-scores of printed means against the length of the prompts, coloured by family of models."""
    means = _means(comparison)
    families = means["model"].map(lambda name: BY_NAME[name].family)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH_IN, 3.2), layout="constrained")
        axes = figure.add_subplot()
        axes.axhspan(-LARGEST_Z, LARGEST_Z, color="0.92", zorder=0)
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


def print_overview(comparison: pd.DataFrame, summary: pd.DataFrame) -> pd.DataFrame:
    """Return what the comparison says in all, as text: models, tests, numbers within three standard errors.

    Parameters
    ----------
    comparison, summary : DataFrame
        As `comparison.compare_prompts` and `comparison.summarize_prompts` return them.
    """
    if summary.empty:
        return pd.DataFrame()
    mean = summary[summary["quantity"] == "prompt_mean"]
    tests = {(row.tokenizer, BY_NAME[row.model].puzzles_per_cell) for row in mean.itertuples()}
    fits = mean["p"] >= _SMALL_P
    rows = [
        ("Models compared", f"{len(mean)} of {len(BY_NAME)}", ""),
        ("Tests: pairs of tokenizer and puzzles", f"{len(tests)}", ""),
        (f"Means are one constant and chance (p at least {_SMALL_P:g})", f"{fits.sum()} of {len(mean)} models",
         ", ".join(mean.loc[~fits, "model"])),
    ]  # fmt: skip
    for quantity, own in summary.groupby("quantity", sort=False):
        far = ", ".join(f"{row.beyond} of {row.model}" for row in own[own["beyond"] > 0].itertuples())
        near = f"{own['cells'].sum() - own['beyond'].sum():,} of {own['cells'].sum():,}"
        rows.append((f"Printed {_QUANTITY[quantity]} within {LARGEST_Z:g} standard errors", near, far))
    return pd.DataFrame(rows, columns=["What", "Number", "The others"])


def print_exceptions(comparison: pd.DataFrame, summary: pd.DataFrame) -> pd.DataFrame:
    """Return how models leave one constant, as text: means far off, the farthest of them, the trend with length.

    Models whose means one constant explains are left out; see `print_overview` for the parameters.
    """
    means, rows = _means(comparison), []
    for row in summary[(summary["quantity"] == "prompt_mean") & (summary["p"] < _SMALL_P)].itertuples():
        own = means[means["model"] == row.model]
        far = own.loc[own["z"].abs().idxmax()]
        rows.append((row.model, f"{row.beyond} of {row.cells}", f"{far['z']:+.1f} at N = {far['N']} and d = {far['d']}",
                     f"{row.trend_pct:+.2f}% ({row.trend_z:+.1f})"))  # fmt: skip
    return pd.DataFrame(rows, columns=["Model", "Means far off", "Farthest ($z$)", "Trend ($z$)"])


def print_agreement(summary: pd.DataFrame) -> pd.DataFrame:
    """Return how well one constant a model explains its printed means and percentiles, as text."""
    mean, p90 = (summary[summary["quantity"] == quantity].set_index("model") for quantity in _QUANTITY)
    p90 = p90.loc[mean.index]
    return pd.DataFrame(
        {
            "Model": mean.index,
            "Template": [f"{v:.1f} ± {se:.1f}" for v, se in mean[["overhead", "overhead_se"]].to_numpy()],
            "Mean: $\\chi^2$ / df": _chi2(mean),
            "$p$": mean["p"].map(lambda p: f"{p:.2f}" if p >= 0.01 else "< 0.01").to_list(),
            "$\\vert z \\vert$": mean["largest"].map("{:.1f}".format).to_list(),
            "Trend ($z$)": [f"{v:+.2f}% ({z:+.1f})" for v, z in mean[["trend_pct", "trend_z"]].to_numpy()],
            "p90: $\\chi^2$ / df": _chi2(p90),
            "$\\vert z\\vert$": p90["largest"].map("{:.1f}".format).to_list(),
        }
    )


def print_pairs(summary: pd.DataFrame, pairs: pd.DataFrame) -> pd.DataFrame:
    """Return how well two models' difference in printed means agrees with that of their tokenizers, as text."""
    if pairs.empty:
        return pd.DataFrame()
    references = pairs.drop_duplicates("model").set_index("model")["reference"]
    return pd.DataFrame(
        {
            "Model": summary["model"],
            "Held against": summary["model"].map(references),
            "Constant [tokens]": summary["overhead"].map("{:+.1f}".format),
            "$\\chi^2$ / df": _chi2(summary),
            "Largest $\\vert z \\vert$": summary["largest"].map("{:.1f}".format),
        }
    )


def print_printed(rows: pd.DataFrame) -> pd.DataFrame:
    """Return two models' printed prompts against one another (`comparison.compare_printed`) as text."""
    return pd.DataFrame(
        {
            "$N$": rows["N"],
            "$d$": rows["d"],
            "Mean": rows["mean"].map("{:+.0f}".format),
            "90th percentile": rows["p90"].map("{:+.0f}".format),
            "Percentile / mean": rows["tail"].map("{:.3f}".format),
            "The other's": rows["tail_reference"].map("{:.3f}".format),
        }
    )


def print_odd(comparison: pd.DataFrame) -> pd.DataFrame:
    """Return the printed lengths that are off their own model's pattern, with what the puzzles give, as text."""
    odd = comparison[comparison["odd"]]
    return pd.DataFrame(
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


def _means(comparison: pd.DataFrame) -> pd.DataFrame:
    return comparison[(comparison["quantity"] == "prompt_mean") & ~comparison["odd"]]


def _chi2(summary: pd.DataFrame) -> list[str]:
    return [f"{chi2:,.1f} / {df:.0f}" for chi2, df in zip(summary["chi2"], summary["df"], strict=True)]
