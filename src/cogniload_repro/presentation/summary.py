"""Pictures that sum up: what was found, what became of the printed numbers, where the paper disagrees with itself."""

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cogniload_repro.presentation.score_text import NOT_AVERAGED
from cogniload_repro.presentation.style import STYLE, WIDTH_IN, pens
from cogniload_repro.presentation.verdicts import WORDS, title
from cogniload_repro.statistics.accuracy import evenly_asked

_GREY = "0.8"
#: Verdicts from good to bad, told apart by lightness too.
_COLORS = dict(zip(WORDS, ("#1861d3", "#6fb1e8", "#bcdcf4", "#ab3f00", "#dddddd"), strict=True))


def draw_summary(cells: pd.DataFrame, checks: pd.DataFrame, note: str = "") -> Figure:
    """Draw accuracy against task length for all models, and the coefficients of Table 2, printed and recomputed.

    Parameters
    ----------
    cells : DataFrame
        As `load_cells` returns it.
    checks : DataFrame
        The fidelity table.
    note : str
        Where the data come from, stated in the picture.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH_IN, 2.7), layout="constrained")
        left, right = figure.subplots(1, 2, width_ratios=[1.25, 1])
        _draw_lengths(left, cells)
        _draw_coefficients(right, coefficients(checks))
        figure.supxlabel(note, x=0.01, ha="left", size=7.5, style="italic", color="0.35", parse_math=False)
    return figure


def coefficients(checks: pd.DataFrame) -> pd.DataFrame:
    """Return Table 2's coefficients that were recomputed: model, quantity, printed and recomputed (log-odds), off."""
    own = checks[(checks["table"] == "table2") & checks["quantity"].str.fullmatch(r"beta_\w+")]
    own = own[own["verdict"] != "not_computable"]
    printed = own["published"].astype(float)
    return own[["model", "quantity", "recomputed"]].assign(printed=printed, off=own["verdict"] == "differs")


def _draw_lengths(axes: Axes, cells: pd.DataFrame) -> None:
    """Draw all models in grey, and name a reader's own, the best, the one in the middle and the last."""
    sums = evenly_asked(cells).groupby(["model", "N"])[["correct", "total"]].sum().reset_index()
    if sums.empty:
        axes.text(0.5, 0.5, f"All {NOT_AVERAGED}", transform=axes.transAxes, ha="center", va="center", color="0.35",
                  wrap=True)  # fmt: skip
        axes.set_axis_off()
        return
    curves = sums.assign(share=sums["correct"] / sums["total"]).pivot_table("share", "model", "N")
    drawn, order = pens(curves.index.tolist()), curves.mean(axis=1).sort_values(ascending=False).index.tolist()
    places = [order[0], order[len(order) // 2], order[-1]]
    named = dict.fromkeys([*(name for name in order if drawn[name].own), *places])
    ticks = range(curves.shape[1])
    for name in sorted(order, key=lambda name: name in named):
        color = drawn[name].color if name in named else _GREY
        axes.plot(
            ticks, curves.loc[name], color=color, linewidth=1.8 if name in named else 0.9, marker="o", markersize=3
        )
    for name in named:
        axes.annotate(drawn[name].label, (ticks[-1], curves.loc[name].iloc[-1]), (5, 0), textcoords="offset points",
                      va="center", size=8, color=drawn[name].color, parse_math=False)  # fmt: skip
    axes.set(ylim=(0, 1), xlabel="Task length N (statements)", ylabel="Mean accuracy")
    axes.set_xticks(ticks, [f"{level:g}" for level in curves.columns])
    axes.set_xlim(-0.2, len(ticks) - 0.2 + 0.25 * len(ticks))


def _draw_coefficients(axes: Axes, own: pd.DataFrame) -> None:
    axes.axline((0, 0), slope=1, color="0.75", linewidth=0.8)
    for off, rows in own.groupby("off"):
        color, size = ("#ab3f00", 5) if off else ("#1861d3", 3.5)
        axes.plot(rows["printed"], rows["recomputed"], "o", color=color, markersize=size, mfc="none", zorder=3 + off)
    axes.set(xlabel="Coefficient, printed (Table 2)", ylabel="recomputed")


def describe_summary(cells: pd.DataFrame, checks: pd.DataFrame) -> str:
    """Say for readers who do not see it what `draw_summary` shows."""
    by_length = evenly_asked(cells).groupby("N")[["correct", "total"]].sum()
    course = ", ".join(f"{share:.2f} at N = {N:g}" for N, share in (by_length["correct"] / by_length["total"]).items())
    course = course or f"nothing, since all {NOT_AVERAGED}"
    own = coefficients(checks)
    return (
        f"Left: mean accuracy against task length, one line a model; over all answers {course}. Right: {len(own)} "
        f"coefficients of Table 2, recomputed against printed, on the diagonal but for {own['off'].sum()}."
    )


def draw_scoreboard(checks: pd.DataFrame) -> Figure:
    """Draw what became of the printed numbers: one bar a table and kind, as shares, with how many there are."""
    counts = pd.crosstab([checks["table"], checks["kind"]], checks["verdict"])
    counts = counts.reindex(checks.groupby(["table", "kind"], sort=False).groups, columns=WORDS, fill_value=0).iloc[
        ::-1
    ]
    total, left = counts.sum(axis=1), 0.0
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH_IN, 0.9 + 0.2 * len(counts)), layout="constrained")
        axes = figure.add_subplot()
        labels = [f"{title(table)}, {kind} ({total[table, kind]:,})" for table, kind in counts.index]
        for verdict, word in WORDS.items():
            if counts[verdict].any():
                share = counts[verdict] / total
                axes.barh(labels, share, left=left, color=_COLORS[verdict], label=word, height=0.75)
                left = left + share.to_numpy()
        axes.set(xlim=(0, 1), xlabel="Share of the printed numbers")
        axes.xaxis.set_major_formatter(mpl.ticker.PercentFormatter(1))
        axes.grid(visible=False)
        axes.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=5, frameon=False, fontsize=8)
    return figure
