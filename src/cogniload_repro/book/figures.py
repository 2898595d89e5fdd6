"""The paper's Figures 1 and 3 to 7, drawn from a cells frame.

Axes are numeric (logarithmic for N).
"""

from collections.abc import Iterable
from itertools import cycle
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.lines import Line2D
from matplotlib.ticker import PercentFormatter

from cogniload_repro.analysis.overflows import marked_levels
from cogniload_repro.book.style import PHONE_IN, STYLE, WIDTH_IN, Pen, pens
from cogniload_repro.models import BY_NAME, order_models
from cogniload_repro.regression.cell_tables import accuracy_by
from cogniload_repro.regression.reconstructions import (
    from_printed_tables,
    mean_cells,
    prediction_band,
)

#: Symbol and label of the axis of each load.
AXES = {
    "d": ("$d$", "Intrinsic difficulty $d$"),
    "N": ("$N$", "Task length $N$ (statements)"),
    "ratio_pct": (r"$\rho$", r"Needle ratio $\rho$ (% needles)"),
}


class Panel(NamedTuple):
    """Axes of accuracy against ``across``, over the cells where ``at`` equals ``level``."""

    across: str
    at: str = ""
    level: int = 0

    @property
    def title(self) -> str:
        """The level that its cells share, with math; "" for all cells."""
        return f"{AXES[self.at][0]} = {self.level}" if self.at else ""


#: The figures as the paper arranges them: three panels side by side, or a large one with intervals.
FIGURES = {
    "figure1": (Panel("d"), Panel("N"), Panel("ratio_pct")),
    "figure3": tuple(Panel("ratio_pct", "d", level) for level in (1, 5, 10)),
    "figure4": tuple(Panel("ratio_pct", "N", level) for level in (20, 100, 250)),
    "figure5": (Panel("d"),),
    "figure6": (Panel("ratio_pct"),),
    "figure7": (Panel("N"),),
}
#: Height in inches of a line of the legend, and of a panel in a column: of levels, of a family.
_LINE_IN = 0.158
_PANEL_IN = 2.35
_FAMILY_IN = 1.5
_LEGEND_COLUMNS = 4
_LEGEND_SIZE = 8.5
_LABEL_ROUNDS = 100  # enough rounds for the positions of names to settle
_LABEL_SIZE = 10.5
_NAME_IN = 0.165  # height of a name
_CHARACTER_IN = 0.1  # mean width of a character of it
_AXIS_IN = 3.75  # width of a panel's axis, with room for names
#: Models named in a column of panels, of all accuracies and families; the others are grey.
NAMED = (
    "gpt-5-2025-08-07",
    "gpt-5-mini-2025-08-07",
    "gemini-2.5-pro",
    "DeepSeek-R1-Distill-Llama-70B",
    "QwQ-32B",
    "Qwen3-1.7B",
)
#: Name under which the last-clause shortcut is drawn like a model (`puzzles.baselines`).
LAST_CLAUSE = "last clause"


def panel_accuracy(
    panel: Panel, cells: pd.DataFrame, *, banded: bool = False
) -> pd.DataFrame:
    """Return the accuracies that a panel shows; none if the grid lacks the panel's level.

    With ``banded``, the accuracies of reconstructed models are means over the reconstructions
    (`reconstructions.mean_cells`); lowest and highest are the ends of their band, missing for
    other models. ``marked`` says whether too many of the answers ran out of context, as far as
    that is known (`overflows.marked_levels`).
    """
    counts = cells[cells[panel.at] == panel.level] if panel.at else cells
    shown = mean_cells(counts) if banded else counts
    accuracies = accuracy_by(shown, "model", panel.across)
    if banded:
        band = prediction_band(counts, "model", panel.across)
        accuracies = accuracies.merge(band, how="left")
    marks = marked_levels(cells)
    marks = marks[marks["load"] == (panel.at or panel.across)]
    levels = accuracies[["model"]].assign(level=panel.level)
    if not panel.at:
        levels["level"] = accuracies[panel.across]
    pairs = pd.MultiIndex.from_frame(levels)
    marked = pd.MultiIndex.from_frame(marks[["model", "level"]])
    return accuracies.assign(marked=pairs.isin(marked))


class PaperFigure:
    """One of the paper's figures over the cells given.

    It shows accuracy (0 to 1) by model, pooled over the puzzles of all other dimensions. Models
    other than the paper's 22 are drawn in black, over the others. For reconstructed models, the
    points are means over reconstructions, with their band behind. The name is a key of `FIGURES`.
    """

    def __init__(self, name: str, cells: pd.DataFrame):
        self.panels = FIGURES[name]
        self.is_large = len(self.panels) == 1
        self.banded = bool(from_printed_tables(cells).any())
        self.accuracies = []
        for panel in self.panels:
            accuracy = panel_accuracy(panel, cells, banded=self.banded)
            self.accuracies.append(accuracy)
        self.cells = cells[cells["total"] > 0]
        self.pens = pens(order_models(self.cells["model"]))

    def draw(self) -> Figure:
        """Draw a column of panels with some models named and the others grey.

        A figure of one panel has one for each family, with intervals.
        """
        groups = self._group_models()
        height = _FAMILY_IN if self.is_large else _PANEL_IN
        with mpl.rc_context(STYLE):
            tall = 0.3 + height * len(groups)
            figure = Figure(figsize=(PHONE_IN, tall), layout="constrained")
            axes = figure.subplots(len(groups), sharex=self.is_large, squeeze=False)
            column = axes[:, 0]
            shown = cycle(zip(self.panels, self.accuracies, strict=True))
            for ax, (title, named) in zip(column, groups, strict=True):
                panel, accuracy = next(shown)
                self._draw_lines(ax, panel, accuracy, named, alpha=0.14, zorder=2)
                self._name_lines(ax, panel, accuracy, named, _NAME_IN / (height - 0.5))
                ax.set_title(title)
                if self.is_large:
                    ax.set_yticks([0, 0.5, 1])
                if panel.across == self.panels[-1].across and ax is not column[-1]:
                    ax.set_xlabel("")  # the last panel has the label of all
            figure.supylabel("Correct answers", size=_LABEL_SIZE)
        return figure

    def _group_models(self) -> list[tuple[str, list[str]]]:
        """Return the title of each panel of the column, and the models that it names."""
        if not self.is_large:
            is_small = len(self.pens) <= len(NAMED)
            named = []
            for name, pen in self.pens.items():
                if is_small or pen.own or name in NAMED:
                    named.append(name)
            return [(panel.title, named) for panel in self.panels]
        families: dict[str, list[str]] = {}
        for name in self.pens:
            family = BY_NAME[name].family if name in BY_NAME else "Other models"
            families.setdefault(family, []).append(name)
        return list(families.items())

    def _name_lines(
        self,
        ax: Axes,
        panel: Panel,
        accuracy: pd.DataFrame,
        named: list[str],
        gap: float,
    ) -> None:
        """Write names beside the lines of named models; draw the median where others are grey."""
        if accuracy.empty:
            return
        last = accuracy.groupby("model")["accuracy"].last()
        ends = []
        for name in last.index.intersection(named):
            pen = self.pens[name]
            ends.append((last[name], pen.label, pen.color))
        if len(named) < len(self.pens) and not self.is_large:
            models = accuracy[accuracy["model"] != LAST_CLAUSE]
            median = models.groupby(panel.across)["accuracy"].median()
            ax.plot(median.index, median, color="0.25", linewidth=2.6, zorder=5)
            title = f"median of {models['model'].nunique()}"
            ends.append((median.iloc[-1], title, "0.25"))
        shown = self.pens if self.is_large else named  # panels of one width
        longest = max(len(self.pens[name].label) for name in shown)
        levels = sorted(accuracy[panel.across])
        name_ends(ax, levels, ends, gap, _CHARACTER_IN * longest)

    def draw_as_printed(self) -> Figure:
        """Draw the figure in the paper's layout, every model with its own line."""
        width = PHONE_IN if self.is_large else WIDTH_IN
        columns = 2 if self.is_large else _LEGEND_COLUMNS
        names = list(self.pens)
        height = 4.3 + _LINE_IN * np.ceil(len(self.pens) / columns)
        with mpl.rc_context(STYLE):
            layout = ConstrainedLayoutEngine()
            figure = Figure(figsize=(width, height), layout=layout)
            row = figure.subplots(1, len(self.panels), sharey=True, squeeze=False)[0]
            row[0].set_ylabel("Correct answers")
            panels = zip(row, self.panels, self.accuracies, strict=True)
            for ax, panel, accuracy in panels:
                self._draw_lines(ax, panel, accuracy, names, alpha=0.08, zorder=1)
            draw_legend(figure, list(self.pens.values()), columns)
            layout.execute(figure)
            figure.set_layout_engine("none")  # once is enough
            # the legend stays where it is when `save_figure` adds a strip below
            figure.legends[0].set_bbox_to_anchor((0, 0, 1, 1), figure.transFigure)
        return figure

    def _draw_lines(
        self,
        ax: Axes,
        panel: Panel,
        accuracy: pd.DataFrame,
        named: list[str],
        **band: Any,
    ) -> None:
        """Draw the lines of all models on a numeric axis; those that are not named are grey."""
        ax.set_title(panel.title)
        self._set_numeric_levels(ax, panel)
        if accuracy.empty:
            _note_empty(ax, panel)
        for name, pen in self.pens.items():
            rows = accuracy[accuracy["model"] == name]
            levels = rows[panel.across]
            if name not in named:
                ax.plot(levels, rows["accuracy"], color="0.85", linewidth=0.8, zorder=1)
                continue
            if self.banded:
                look: dict[str, Any] = {"color": pen.color, "linewidth": 0} | band
                ax.fill_between(levels, rows["lowest"], rows["highest"], **look)
            draw_course(ax, levels, rows["accuracy"], pen, rows["marked"])
            if self.is_large:
                ax.vlines(levels, rows["low"], rows["high"], color=pen.color)

    def _set_numeric_levels(self, ax: Axes, panel: Panel) -> None:
        """Set up the axes of a panel in a row or column, with levels at their numeric values."""
        _set_axes(ax, panel)
        if panel.across == "N":
            ax.set_xscale("log")
            ax.minorticks_off()
        levels = sorted(self.cells[panel.across].unique())
        labels = [f"{level:g}" for level in levels]
        if panel.across == "ratio_pct":  # 5 and 10, 90 and 95 would touch
            labels = ["" if label in ("10", "90") else label for label in labels]
        ax.set_xticks(levels, labels)
        ax.margins(x=0.06)


def _set_axes(ax: Axes, panel: Panel) -> None:
    """Set up what all panels share: accuracy in percent, labels and grid lines."""
    ax.set_ylim(-0.02, 1.02)
    ax.set_yticks(np.linspace(0, 1, 6))
    ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
    ax.set_xlabel(AXES[panel.across][1])
    ax.grid(visible=False, axis="x")
    ax.spines[["top", "right", "left"]].set_visible(False)


def _note_empty(ax: Axes, panel: Panel) -> None:
    """Write into a panel that the grid lacks its level."""
    note = f"No cells at {panel.title}\nin this grid"
    look: dict[str, Any] = {"ha": "center", "va": "center", "color": "0.35"}
    ax.text(0.5, 0.5, note, transform=ax.transAxes, **look)


# ---- models on axes ----
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
    lowest, highest = axes.get_ylim()
    for rank, place in enumerate(places):
        places[rank] = max(place, lowest + (rank + 0.5) * gap)
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


def name_ends(
    ax: Axes,
    levels: list[int],
    ends: list[tuple[float, str, str]],
    gap: float,
    width: float,
) -> None:
    """Write names beside the ends of lines, and extend the axis by the width of a name (inches)."""
    scale = ax.xaxis.get_transform()
    first, last = scale.transform([levels[0], levels[-1]])
    extent = max(last - first, 0.01 * last)
    room = width / (_AXIS_IN - width)
    places = [first - 0.04 * extent, last + 0.03 * extent, last + room * extent]
    low, start, high = scale.inverted().transform(places)
    ax.set_xlim(low, high)
    label_ends(ax, ends, at=start, gap=gap)


def draw_course(ax: Axes, x, y, pen: Pen, marked) -> None:
    """Draw the line and the points of a model; marked points are hollow."""
    if pen.own:  # a white outline, so that the line stands out where others cross it
        ax.plot(x, y, color="white", linewidth=4, zorder=5)
    ax.plot(x, y, **pen.line())
    ax.plot(x, y, **pen.dots())
    if marked.any():
        look = pen.dots() | {"markerfacecolor": "white", "markeredgewidth": 0.9}
        look["markeredgecolor"] = pen.color
        ax.plot(x[marked], y[marked], **look)


def draw_legend(figure: Figure, drawn: list[Pen], columns: int) -> None:
    """Draw a legend below the panels, with the line and the point of each model."""
    handles: list[Any] = []
    for pen in drawn:
        line = Line2D([], [], **pen.line())
        dots = Line2D([], [], **pen.dots())
        handles.append((line, dots))
    legend = figure.legend(
        handles,
        [""] * len(drawn),
        loc="outside lower center",
        ncols=columns,
        fontsize=_LEGEND_SIZE,
        frameon=False,
        labelspacing=0.3,
        handlelength=2.4,
    )
    for text, pen in zip(legend.get_texts(), drawn, strict=True):
        # set afterwards: matplotlib would drop labels with a leading _ and parse $math$
        text.set(text=pen.label, parse_math=False)
