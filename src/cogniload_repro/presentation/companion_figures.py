<<<<<<< HEAD
"""Figures of the chapters beyond the paper: perturbed prompts, accuracy against load, designs."""
=======
"""The figure of two versions of the paper's regressions."""
>>>>>>> a1d2457 (wip2)

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.figure import Figure
<<<<<<< HEAD
from scipy.special import expit
=======
from scipy.stats import chi2
>>>>>>> a1d2457 (wip2)

from cogniload_repro.presentation.style import STYLE, pens, write_note
from cogniload_repro.published import ALPHA

_WIDTH_IN = 7.2
_BLUE, _RED = "#1861d3", "#ab3f00"
<<<<<<< HEAD
#: Curves that designs are tried on: colour and marker.
_TRUTHS = {"logistic": (_BLUE, "o"), "spline": (_RED, "s"), "lapse": ("0.45", "^")}


def draw_loads(cells: pd.DataFrame, loads: pd.Series, thresholds: pd.DataFrame, models: list[str], note: str) -> Figure:
    """Draw every cell's accuracy against its load, each model's sigmoid through them, shaded by N.

    Parameters
    ----------
    cells : DataFrame
        Columns model, N, n, correct.
    loads : Series
        ln L of the same rows.
    thresholds : DataFrame
        As `load.fit_thresholds` returns it.
    models : list of str
        One panel each.
    note : str
        Where the cells come from, written below.
    """
    lengths = sorted(cells["N"].unique())
    shades = dict(zip(lengths, mpl.colormaps["viridis"](np.linspace(0.05, 0.85, len(lengths))), strict=True))
    drawn, found = pens(models), thresholds.set_index("model")
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(_WIDTH_IN, 3.2))
        axes = figure.subplots(1, len(models), sharey=True, squeeze=False)[0]
        figure.subplots_adjust(left=0.08, right=0.985, top=0.9, bottom=0.24, wspace=0.08)
        line = np.linspace(loads.min(), loads.max(), 200)
        for ax, model in zip(axes, models, strict=True):
            own = cells[cells["model"] == model]
            for N, rows in own.groupby("N"):
                share = rows["correct"] / rows["total"]
                ax.plot(
                    np.exp(loads[rows.index]), share, "o", color=shades[N], markersize=3.2, alpha=0.8, label=f"N = {N}"
                )
            row = found.loc[model]
            centre = np.log(row["critical_load"])
            ax.plot(np.exp(line), expit(row["slope"] * (line - centre)), color="0.2", linestyle="--", linewidth=1.2)
            ax.set(xscale="log", ylim=(-0.03, 1.03), xlabel="load L")
            ax.set_title(drawn[model].label, parse_math=False)
        axes[0].set_ylabel("accuracy of a cell")
        axes[0].legend(fontsize=7, loc="lower left", handletextpad=0.2)
        write_note(figure, note)
    return figure


def draw_growth(growth: pd.DataFrame, unit: str, note: str) -> Figure:
    """Draw by what factor every perturbation lengthens a prompt.

    Parameters
    ----------
    growth : DataFrame
        One row a perturbation, one column a way to count, factors.
    unit : str
        What is counted.
    note : str
        On which puzzles, written below.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(_WIDTH_IN, 1.0 + 0.24 * len(growth)))
        ax = figure.subplots()
        figure.subplots_adjust(left=0.24, right=0.97, top=0.97, bottom=0.2)
        places = np.arange(len(growth))[::-1]
        for place, values in zip(places, growth.to_numpy(), strict=True):
            ax.plot([values.min(), values.max()], [place, place], color="0.7", linewidth=1.2, zorder=2)
        for number, column in enumerate(growth.columns):
            ax.plot(
                growth[column], places, "osD^vP"[number % 6], color=f"C{number}", markersize=5, label=column, zorder=3
            )
        ax.axvline(1, color="0.4", linewidth=0.8)
        ax.set_yticks(places, [name.replace("_", " ") for name in growth.index])
        ax.set(xscale="log", xlabel=f"{unit} of the perturbed puzzle, as a multiple of those of the puzzle")
        ticks = [1, 2, 5, 10, 20]
        ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        ax.minorticks_off()
        if len(growth.columns) > 1:
            ax.legend(fontsize=7, loc="lower right")
        write_note(figure, note)
    return figure


def draw_designs(designs: pd.DataFrame, note: str) -> Figure:
    """Draw what choices of puzzles gain over the grid against how often their 95% interval has the right value.

    Parameters
    ----------
    designs : DataFrame
        As `planning.read_designs` returns it.
    note : str
        Where the curves come from, written below.

    Returns
    -------
    Figure
        Panels for ECL50 and ID50, one point a design and curve, named at the logistic ones; the line is at 95%.
    """
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(_WIDTH_IN, 3.2))
        axes = figure.subplots(1, 2, sharex=True, sharey=True)
        figure.subplots_adjust(left=0.1, right=0.985, top=0.9, bottom=0.24, wspace=0.06)
        for ax, point in zip(axes, ("ecl50", "id50"), strict=True):
            ax.axhline(1 - ALPHA, color="0.6", linewidth=0.8)
            for truth, (color, marker) in _TRUTHS.items():
                own = designs[designs["truth"] == truth]
                ax.plot(own[f"gain_{point}"], own[f"covers_{point}"], marker, color=color, markersize=5, label=truth)
            named = designs[designs["truth"] == "logistic"].sort_values(f"gain_{point}", kind="stable")
            for place, row in enumerate(named.to_dict("records")):  # neighbours on either side of the line
                side = -1 if place % 2 else 1
                ax.annotate(row["design"], (row[f"gain_{point}"], row[f"covers_{point}"]), (2, 7 * side), size=6.5,
                            textcoords="offset points", rotation=35 * side, rotation_mode="anchor",
                            va="top" if side < 0 else "baseline")  # fmt: skip
            ax.set(xlabel="puzzles saved: times fewer than on the grid", xlim=(0.5, None), ylim=(None, 1.05))
            ax.set_title(point.upper())
        axes[0].set_ylabel("intervals with the right value")
        axes[0].yaxis.set_major_formatter(mpl.ticker.PercentFormatter(1, decimals=0))
        axes[0].legend(fontsize=7, loc="lower right", handletextpad=0.2)
=======
#: Distances below this are drawn there.
_LEAST = 0.1


def draw_drift(rows: pd.DataFrame, best: pd.Series, note: str) -> Figure:
    """Draw how far each row moved between two versions, and how far it stays from the nearest explanation.

    Parameters
    ----------
    rows : DataFrame
        Columns model and distance (`versions.compare_rows`).
    best : Series
        Smallest distance under any explanation, by model.
    note : str
        Where the counts come from, written below.
    """
    rows = rows.sort_values("distance")
    drawn, places = pens(list(rows["model"])), np.arange(len(rows))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(_WIDTH_IN, 0.9 + 0.22 * len(rows)))
        ax = figure.subplots()
        figure.subplots_adjust(left=0.2, right=0.97, top=0.97, bottom=0.22)
        ax.axvspan(_LEAST / 2, chi2.ppf(1 - ALPHA, len(TERMS)), color="0.93", zorder=0)
        left = best[rows["model"]].clip(lower=_LEAST)
        ax.hlines(places, left, rows["distance"], color="0.7", linewidth=1.2)
        ax.plot(rows["distance"], places, "o", color=_RED, label="as published")
        ax.plot(left, places, "D", color=_BLUE, markersize=4.5, label="after the rule that brings it nearest")
        ax.set_yticks(places, [drawn[model].label for model in rows["model"]], parse_math=False)
        ax.set(
            xscale="log",
            xlim=(_LEAST / 2, None),
            xlabel="distance of the submission's row (chi-square of five coefficients)",
        )
        ax.legend(fontsize=7, loc="lower right")
>>>>>>> a1d2457 (wip2)
        write_note(figure, note)
    return figure
