"""Figures that the paper does not have: intervals and interactions by model."""

from collections.abc import Mapping
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cogniload_repro.presentation.style import STYLE, WIDTH_IN, Pen, pens, write_note


@dataclass(frozen=True)
class Scale:
    """How a quantity that every model has is laid along an axis.

    Attributes
    ----------
    label : str
        Of the axis.
    kind : str
        linear, log or symlog (straight within two units of zero).
    limits : pair of float, optional
        Ends of the axis; as the values have it if there are none.
    tested : pair of float, optional
        What the grid has, shaded; zero is marked where there is no such range.
    ticks : tuple of float
        As matplotlib sets them if there are none.
    """

    label: str
    kind: str = "linear"
    limits: tuple[float, float] | None = None
    tested: tuple[float, float] | None = None
    ticks: tuple[float, ...] = ()


#: What `draw_spans` can show of every model, a panel a quantity; models are sorted by the first.
FINGERPRINT = {
    "ecl50": Scale(r"$\mathrm{ECL}_{50}$ (statements)", "log", (1.0, 1000.0), (20, 250), (1, 10, 100)),
    "nt50": Scale(r"$\mathrm{NT}_{50}$ (share of needles)", "linear", (0.0, 1.0), (0.05, 0.95), (0.1, 0.5, 0.9)),
    "id50": Scale(r"$\mathrm{ID}_{50}$ (units of $d$)", "linear", (-6.0, 26.0), (1, 10), (-5, 1, 10, 20)),
}
SLOPES = {"d": Scale(r"$\beta_d$ (log-odds)"), "log10_N": Scale(r"$\beta_N$ (log-odds)")}
CURVE = {
    "daic": Scale("ΔAIC (curve − line)", "symlog", ticks=(-1000, -100, -10, 0, 10)),
    "rho2": Scale(r"$\beta_{\rho^2}$ (log-odds)"),
}


def draw_fingerprints(intervals: pd.DataFrame, cells: pd.DataFrame, note: str) -> Figure:
    """Draw the three capacity points of every model with 95% profile intervals.

    Parameters
    ----------
    intervals : DataFrame
        As `uncertainty.capacity_intervals` returns it.
    cells : DataFrame
        The cells behind it.
    note : str
        Where they come from (`cell_tables.describe_cells`), written below.

    Returns
    -------
    Figure
        As `draw_spans`; where no NT50 exists, words say on which side of one half the curve stays.
    """
    figure = draw_spans(intervals.rename(columns={"profile_low": "low", "profile_high": "high"}), FINGERPRINT, note)
    points = {point: own.set_index("model") for point, own in intervals.groupby("point", sort=False)}
    middle = 10 ** np.log10(cells["N"].astype(float)).mean()
    for row, model in enumerate(points["ecl50"]["estimate"].sort_values().index):
        side = "above" if points["ecl50"].loc[model, "estimate"] > middle else "below"
        for ax, (point, scale) in zip(figure.axes, FINGERPRINT.items(), strict=True):
            own = points[point].loc[model]
            if np.isnan(own["estimate"]) and scale.limits:
                place = {"size": 7, "color": "0.4", "ha": "center", "va": "center_baseline"}
                ax.text(sum(scale.limits) / 2, row, f"{side} ½ throughout", **place)
    return figure


def draw_spans(spans: pd.DataFrame, scales: Mapping[str, Scale], note: str) -> Figure:
    """Draw quantities of every model with their intervals.

    Parameters
    ----------
    spans : DataFrame
        One row per model and quantity: model, point (a key of ``scales``), estimate, low, high; without an interval
        (both ends missing) a line leads from zero to the estimate.
    scales : mapping
        `FINGERPRINT`, `SLOPES` or `CURVE`.
    note : str
        Where the numbers come from, written below.

    Returns
    -------
    Figure
        One panel a quantity that is there, one row per model that has the first, its largest value on top. A triangle
        stands for a value off the scale.
    """
    points = {point: own.set_index("model") for point, own in spans.groupby("point", sort=False)}
    scales = {point: scale for point, scale in scales.items() if point in points}
    order = points[next(iter(scales))]["estimate"].sort_values().index
    drawn = pens(list(order))
    height = 0.75 + 0.19 * len(order)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH_IN, height))
        axes = figure.subplots(1, len(scales), sharey=True, squeeze=False)[0]
        figure.subplots_adjust(left=0.2, right=0.985, top=1 - 0.1 / height, bottom=0.65 / height, wspace=0.1)
        for ax, (point, scale) in zip(axes, scales.items(), strict=True):
            ax.set_xlabel(scale.label)
            ax.set_xscale(scale.kind, **({"linthresh": 2} if scale.kind == "symlog" else {}))
            if scale.limits:
                ax.set_xlim(scale.limits)
            if scale.tested:
                ax.axvspan(*scale.tested, color="0.955", zorder=0)
            else:
                ax.axvline(0, color="0.6", linewidth=0.8, zorder=1)
            for row, model in enumerate(order):
                if model in points[point].index:
                    _draw_interval(ax, row, points[point].loc[model], drawn[model], scale.limits or (-np.inf, np.inf))
            if scale.ticks:
                low, high = ax.get_xlim()
                ticks = [tick for tick in scale.ticks if low <= tick <= high]
                ax.set_xticks(ticks, [f"{tick:g}" for tick in ticks])
        axes[0].set_yticks(range(len(order)), [drawn[model].label for model in order], parse_math=False)
        axes[0].set_ylim(-0.7, len(order) - 0.3)
        write_note(figure, note)
    return figure


def _draw_interval(ax: Axes, row: int, values: pd.Series, pen: Pen, limits: tuple[float, float]) -> None:
    low, high = limits
    if np.isnan(values["estimate"]):
        return
    inside = low <= values["estimate"] <= high
    ends = values[["low", "high"]].to_numpy(float)
    ends = np.array([0, values["estimate"]]) if np.isnan(ends).all() else np.clip(ends, low, high)
    if inside:
        ax.plot(ends, [row, row], color=pen.color, linewidth=1.6, solid_capstyle="butt", zorder=3)
    marker = (
        pen.dots() if inside else pen.dots() | {"marker": ">" if values["estimate"] > high else "<", "clip_on": False}
    )
    ax.plot([np.clip(values["estimate"], low, high)], [row], **marker)
