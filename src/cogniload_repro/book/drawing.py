"""Models on axes: lines and points, names at the ends of lines, legends."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.lines import Line2D

from cogniload_repro.book.style import Pen

_LABEL_ROUNDS = 100  # enough rounds for the positions of names to settle
_LABEL_SIZE = 8.5
_NAME_GAP = 0.085  # height of a name, in units of accuracy
_NAME_ROOM = 0.42  # width reserved for names, as a share of the axis


def label_ends(
    axes: Axes, ends: Iterable[tuple[float, str, str]], at: float, gap: float
) -> None:
    """Write names beside the right ends of lines, at least a gap apart.

    Each end is the height of its line (in units of the axes), the name and the colour.
    """
    ends = sorted(ends)
    places = [height for height, _, _ in ends]
    for _ in range(_LABEL_ROUNDS):  # push overlapping neighbours apart
        for upper in range(1, len(places)):
            overlap = places[upper - 1] + gap - places[upper]
            if overlap > 0:
                places[upper - 1] -= overlap / 2
                places[upper] += overlap / 2
    highest = axes.get_ylim()[1]
    for (_, name, color), place in zip(reversed(ends), reversed(places), strict=True):
        height = min(place, highest)
        axes.text(
            at,
            height,
            name,
            color=color,
            fontsize=_LABEL_SIZE,
            fontweight="bold",
            va="center",
            parse_math=False,
        )
        highest = height - gap


def name_ends(ax: Axes, levels: list[int], ends: list[tuple[float, str, str]]) -> None:
    """Write names beside the ends of lines, and extend the axis to make room for them."""
    scale = ax.xaxis.get_transform()
    first, last = scale.transform([levels[0], levels[-1]])
    width = max(last - first, 0.01 * last)
    places = [first - 0.04 * width, last + 0.03 * width, last + _NAME_ROOM * width]
    low, start, high = scale.inverted().transform(places)
    ax.set_xlim(low, high)
    label_ends(ax, ends, at=start, gap=_NAME_GAP)


def draw_course(ax: Axes, x, y, pen: Pen, marked, strength: float = 1.0) -> None:
    """Draw the line and the points of a model; marked points are hollow."""
    if pen.own:  # a white outline, so that the line stands out where others cross it
        ax.plot(x, y, color="white", linewidth=4, zorder=5)
    ax.plot(x, y, **pen.line(), alpha=1.0 if pen.own else strength)
    ax.plot(x, y, **pen.dots())
    if marked.any():
        look = pen.dots() | {"markerfacecolor": "white", "markeredgewidth": 0.9}
        look["markeredgecolor"] = pen.color
        ax.plot(x[marked], y[marked], **look)


def spread_sideways(accuracy: pd.DataFrame, drawn: dict[str, Pen]) -> dict[str, float]:
    """Return the horizontal offset of each model from its level.

    Multiplying ranks by the golden ratio separates models of neighbouring ranks.
    """
    means = accuracy.groupby("model")["accuracy"].mean().loc[list(drawn)]
    ranked = means.sort_values(kind="stable").index
    golden = (np.arange(len(ranked)) * (np.sqrt(5) - 1) / 2) % 1
    slots = golden.argsort().argsort() + 0.5
    return dict(zip(ranked, 0.7 * (slots / len(ranked) - 0.5), strict=True))


def draw_legend(figure: Figure, drawn: list[Pen], place: str, columns: int) -> None:
    """Draw a legend with the line and the point of each model."""
    handles: list[Any] = [
        (Line2D([], [], **pen.line()), Line2D([], [], **pen.dots())) for pen in drawn
    ]
    look: dict[str, Any] = {
        "loc": place,
        "ncols": columns,
        "fontsize": _LABEL_SIZE,
        "frameon": False,
        "labelspacing": 0.3,
        "handlelength": 2.4,
    }
    legend = figure.legend(handles, ["" for _ in drawn], **look)
    for text, pen in zip(legend.get_texts(), drawn, strict=True):
        # set afterwards: matplotlib would drop labels with a leading _ and parse $math$
        text.set(text=pen.label, parse_math=False)
