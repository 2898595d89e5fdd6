"""Pictures that sum up: what was found, what became of the printed numbers, where the paper disagrees with itself."""

from collections.abc import Mapping
from typing import Any

import matplotlib as mpl
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine

from cogniload_repro.presentation.score_text import NOT_AVERAGED
from cogniload_repro.presentation.style import STYLE, WIDTH_IN, pens, write_note
from cogniload_repro.presentation.verdicts import WORDS, title
from cogniload_repro.robustness.conclusions import VERDICTS
from cogniload_repro.statistics.accuracy import evenly_asked

_GREY = "0.8"
#: What became of a conclusion, in the order of `conclusions.VERDICTS`.
_BECAME = ("#1861d3", "#972e78", "#972e78", "#6b6b6b", "#ab3f00")
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


def draw_verdicts(judged: pd.DataFrame, note: str) -> Figure:
    """Draw what became of the paper's conclusions: a row a section, a column a verdict, their numbers inside.

    Parameters
    ----------
    judged : DataFrame
        As `conclusions.judge_conclusions` returns it, with the number of each.
    note : str
        Where the counts behind them come from, written below.
    """
    return _draw_discs(judged, "verdict", dict(zip(VERDICTS, _BECAME, strict=True)), note)


def _draw_discs(numbered: pd.DataFrame, column: str, colors: Mapping[str, str], note: str = "") -> Figure:
    """Draw rows of a table as numbered discs, by section and by what stands in a column of theirs."""
    places = numbered.assign(section=_sections(numbered))
    rows, columns = sorted(places["section"].unique(), key=_reading_order), list(colors)
    with mpl.rc_context(STYLE | {"axes.grid": False}):
        foot = 0.2 if note else 0.0
        height = 0.5 + 0.26 * len(rows) + foot
        layout = ConstrainedLayoutEngine(rect=(0, foot / height, 1, 1 - foot / height))
        figure = Figure(figsize=(WIDTH_IN, height), layout=layout)
        axes = figure.add_subplot()
        words: dict[str, Any] = {"ha": "center", "va": "center_baseline", "color": "white", "size": 8}
        for (section, value), own in places.groupby(["section", column]):
            place, row = columns.index(value), len(rows) - 1 - rows.index(section)
            disc = {"boxstyle": "circle,pad=0.25", "color": colors[value]}
            for at, number in enumerate(own["number"]):
                axes.text(place - 0.4 + 0.043 * len(columns) * at, row, f"{number}", bbox=disc, **words)
        axes.set(xlim=(-0.55, len(columns) - 0.45), ylim=(-0.6, len(rows) - 0.4))
        axes.set_xticks(range(len(columns)), [name.replace(", ", ",\n") for name in columns])
        axes.xaxis.tick_top()
        axes.set_yticks(range(len(rows)), rows[::-1])
        axes.tick_params(length=0)
        axes.hlines([row + 0.5 for row in range(len(rows) - 1)], -0.55, len(columns) - 0.45, color="0.9", linewidth=0.6)
        write_note(figure, note)
    return figure


def describe_verdicts(judged: pd.DataFrame) -> str:
    """Say for readers who do not see it what `draw_verdicts` shows."""
    counts = judged["verdict"].value_counts()
    became = "; ".join(f"{verdict}: {counts[verdict]}" for verdict in VERDICTS if verdict in counts)
    return f"Numbered discs by section of the paper, in columns by what became of a conclusion: {became}."


def _sections(ranked: pd.DataFrame) -> pd.Series:
    """Return the part of the paper that each contradiction names first: a section, an appendix, a table."""
    first = ranked["location"].str.split(", ").str[0].str.split(" to ").str[0]
    return first.str.replace(r"^(App\. [A-Z]).*", r"\1", regex=True).str.replace("Tables", "Table")


def _reading_order(section: str) -> tuple[int, str]:
    kinds = ("Abstract", "Sec.", "Table", "App.")
    return next(place for place, kind in enumerate((*kinds, section)) if section.startswith(kind)), section
