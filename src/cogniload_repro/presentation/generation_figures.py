"""Figures of what the generator draws, one panel a difficulty, from the tables of `generator_checks`."""

from collections.abc import Iterable

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cogniload_repro.presentation.style import STYLE, WIDTH_IN
from cogniload_repro.puzzles.measure import Measures, count_failures, profile_places

_PANEL_IN, _FOOT_IN = 1.6, 0.85
_ACROSS = 5  # panels a row
_NEEDLE, _HAY, _LITERAL = "#1861d3", "#ab3f00", "#005936"
_MARKERS = "os^Dv"


def draw_places(measures: Measures) -> Figure:
    """Draw how needles fall along a puzzle, against an even fall and the printed formula's."""
    profile = profile_places(measures)
    figure, panels = _panels(profile["d"].unique(), "Tenth of the puzzle", "Needles relative to\nan even fall")
    for d, ax in panels.items():
        own = profile[profile["d"] == d]
        ax.axhline(1, color="0.55", linewidth=0.8)
        _bars(ax, own["tenth"], own["needles"] / own["even"], own["se"] / own["even"], _NEEDLE, "drawn")
        literal = own["literal"] / own["even"]
        ax.plot(
            own["tenth"],
            literal,
            color=_LITERAL,
            linewidth=1.4,
            linestyle=(0, (4, 1.2)),
            label="expected by the printed formula",
            zorder=2,
        )
        ax.set_xticks([1, 4, 7, 10])
    return _close(figure, panels)


def draw_counts(measures: Measures, what: str) -> Figure:
    """Draw the numbers of conditions, or of updates, of the statements that were allowed, against equal chances.

    ``what`` is conditions or updates.
    """
    own = measures.statements[measures.statements["d"] > 1]
    figure, panels = _panels(own["d"].unique(), what.capitalize(), "Share relative to\nequal chances")
    for d, ax in panels.items():
        ax.axhline(1, color="0.55", linewidth=0.8)
        for needle, color, label, shift in ((True, _NEEDLE, "needles", 0.1), (False, _HAY, "hays", -0.1)):
            drawn = own.loc[(own["d"] == d) & (own["needle"] == needle), what]
            relative = d * drawn.value_counts(normalize=True).reindex(range(1, d + 1), fill_value=0.0)
            error = np.full(d, np.sqrt((d - 1) / max(len(drawn), 1)))
            _bars(ax, relative.index + shift, relative, error, color, label)
        ax.set_xticks(range(1, d + 1, 1 + d // 6))
    return _close(figure, panels)


def draw_failures(measures: Measures) -> Figure:
    """Draw failed attempts a statement against the nominal ratio, a line a task length; cells without are left out."""
    counts = count_failures(measures, "d", "N", "ratio_pct")
    counts["rate"] = counts["rate"].where(counts["failed"] > 0)
    scale = "log" if counts["failed"].any() else "linear"
    return _draw_by_ratio(counts, "rate", "Failed attempts\nper statement", scale)


def draw_missing(measures: Measures) -> Figure:
    """Draw the share of the cast without an initial line against the nominal ratio, a line a task length."""
    cast = measures.puzzles.assign(share=lambda own: 100 * (1 - own["lines"] / own["people"]))
    means = cast[cast["d"] > 1].groupby(["d", "N", "ratio_pct"])["share"].mean().reset_index()
    return _draw_by_ratio(means, "share", "Missing from the\ntext (% of the cast)", "linear")


def draw_merging(measures: Measures) -> Figure:
    """Draw how many different states the people beside the PoI are in, along the longest puzzles."""
    own = measures.statements[
        (measures.statements["d"] > 1) & (measures.statements["N"] == measures.puzzles["N"].max())
    ]
    means = own.groupby(["d", "ratio_pct", "place"])["distinct"].mean().reset_index()
    figure, panels = _panels(means["d"].unique(), "Statement", "Different others\n(mean)", sharey=False)
    ratios = _spread(means["ratio_pct"].unique(), 3)
    for d, ax in panels.items():
        for ratio, color in zip(ratios, _shades(len(ratios)), strict=True):
            line = means[(means["d"] == d) & (means["ratio_pct"] == ratio)]
            ax.plot(line["place"] + 1, line["distinct"], color=color, linewidth=1.4, label=f"ratio {ratio:g}%")
        ax.set(ylim=(0, d - 0.8), yticks=range(0, d, 1 + d // 6))
    return _close(figure, panels)


def _draw_by_ratio(frame: pd.DataFrame, column: str, words: str, scale: str) -> Figure:
    figure, panels = _panels(frame["d"].unique(), "Nominal ratio (%)", words)
    lengths = _spread(frame["N"].unique(), 5)
    for d, ax in panels.items():
        for N, color, marker in zip(lengths, _shades(len(lengths)), _MARKERS, strict=False):
            line = frame[(frame["d"] == d) & (frame["N"] == N)]
            ax.plot(line["ratio_pct"], line[column], color=color, marker=marker, label=f"$N$ = {N:,}",
                    linewidth=1.1, markersize=3.6, markeredgecolor="white", markeredgewidth=0.4)  # fmt: skip
        ax.set(xlim=(0, 100), yscale=scale)
        ax.set_xticks([10, 50, 90])
    if scale == "log":  # a panel without points must not undo the limits of the others
        ax.set_ylim(frame[column].min() / 1.5, frame[column].max() * 1.5)
    return _close(figure, panels)


def _panels(levels: Iterable[int], across: str, up: str, *, sharey: bool = True) -> tuple[Figure, dict[int, Axes]]:
    """Return a figure with one set of axes a difficulty, perhaps none."""
    levels = sorted(levels)
    rows = max(1, -(-len(levels) // _ACROSS))
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH_IN, rows * (_PANEL_IN + 0.4) + _FOOT_IN - 0.15), layout="constrained")
        grid = figure.subplots(rows, min(max(1, len(levels)), _ACROSS), sharey=sharey, squeeze=False)
        for ax in grid.flat[len(levels) :]:
            ax.set_axis_off()
        for ax in grid[:, 0]:
            ax.set_ylabel(up)
        panels = dict(zip(levels, grid.flat, strict=False))
        for d, ax in panels.items():
            ax.set_title(f"$d$ = {d}")
            ax.grid(visible=False, axis="x")
        figure.supxlabel(across, size=9.5)
    return figure, panels


def _close(figure: Figure, panels: dict[int, Axes]) -> Figure:
    """Add the legend of the first panel above all of them."""
    with mpl.rc_context(STYLE):
        for ax in list(panels.values())[:1]:
            handles, labels = ax.get_legend_handles_labels()
            figure.legend(handles, labels, loc="outside upper center", ncols=len(labels), frameon=False, fontsize=8.5)
    return figure


def _bars(ax: Axes, x, y, se, color: str, label: str) -> None:
    """Draw points with bars of two standard errors to either side."""
    ax.errorbar(x, y, 2 * np.asarray(se), color=color, fmt="o", markersize=3.4, elinewidth=1.1, label=label, zorder=4)


def _spread(levels: Iterable[float], most: int) -> list[float]:
    """Return at most so many levels, the first, the last and others evenly between."""
    levels = sorted(levels)
    places = np.linspace(0, len(levels) - 1, min(most, len(levels))).round().astype(int)
    return [levels[place] for place in places]


def _shades(count: int) -> np.ndarray:
    """Return colours from dark to bright, each dark enough to be seen on white."""
    return mpl.colormaps["plasma"](np.linspace(0.0, 0.68, count))
