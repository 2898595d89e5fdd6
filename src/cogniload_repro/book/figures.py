"""The paper's Figures 1 and 3 to 7 from a cells frame: drawn and in words.

Panels of a row or a column have numeric axes (logarithmic for N). A large panel has its levels at
equal distances, so that the intervals of 22 models have room beside one another.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from matplotlib.layout_engine import ConstrainedLayoutEngine
from matplotlib.ticker import PercentFormatter

from cogniload_repro.analysis.comparisons import limit_models
from cogniload_repro.analysis.overflows import MARKED_SHARE, marked_levels
from cogniload_repro.book.drawing import (
    draw_course,
    draw_legend,
    name_ends,
    spread_sideways,
)
from cogniload_repro.book.markdown import escape
from cogniload_repro.book.style import PHONE_IN, STYLE, WIDTH_IN, pens
from cogniload_repro.counts.feasible import COUNT
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.models import order_models
from cogniload_repro.published import CONFIDENCE
from cogniload_repro.regression.cell_tables import accuracy_by, coverage, describe_cells
from cogniload_repro.regression.reconstructions import (
    from_printed_tables,
    mean_cells,
    prediction_band,
)

#: Of each dimension of the grid: symbol, axis label, its name in words, unit.
AXES = {
    "d": ("$d$", "Intrinsic difficulty $d$", "intrinsic difficulty d", ""),
    "N": ("$N$", "Task length $N$ (statements)", "task length N", ""),
    "ratio_pct": (
        r"$\rho$",
        r"Needle ratio $\rho$ (% needles)",
        "needle ratio rho",
        "%",
    ),
}


@dataclass(frozen=True)
class Panel:
    """Axes of accuracy against ``across``, over the cells where ``at`` equals ``level``."""

    across: str
    at: str | None = None
    level: int | None = None

    @property
    def title(self) -> str:
        """The level that its cells have in common, with math; "" for all cells."""
        return f"{AXES[self.at][0]} = {self.level}" if self.at else ""


#: The figures as the paper arranges them: three panels side by side, or one large one with
#: intervals.
FIGURES = {
    "figure1": (Panel("d"), Panel("N"), Panel("ratio_pct")),
    "figure3": tuple(Panel("ratio_pct", "d", level) for level in (1, 5, 10)),
    "figure4": tuple(Panel("ratio_pct", "N", level) for level in (20, 100, 250)),
    "figure5": (Panel("d"),),
    "figure6": (Panel("ratio_pct"),),
    "figure7": (Panel("N"),),
}
_LINE_IN, _LEGEND_COLUMNS = 0.158, 4  # inches a line of the legend takes
#: Models that a column of panels names, from all heights and families; the others are grey.
NAMED = (
    "gpt-5-2025-08-07",
    "gpt-5-mini-2025-08-07",
    "gemini-2.5-pro",
    "DeepSeek-R1-Distill-Llama-70B",
    "QwQ-32B",
    "Qwen3-1.7B",
)
#: Inches that a panel of a column is high.
_PANEL_IN = 2.35


#: In place of a model: the answerer that tracks nobody (`puzzles.baselines`), drawn beside the
#: models.
LAST_CLAUSE = "last clause"


def panel_accuracy(
    panel: Panel, cells: pd.DataFrame, *, banded: bool = False
) -> pd.DataFrame:
    """Return the accuracies that a panel shows; none if the grid lacks the panel's level.

    With ``banded`` the accuracies of reconstructed models are the mean over the drawn tables of
    counts (`reconstructions.mean_cells`), and lowest and highest the ends of their band, missing
    for other models. ``marked`` is whether too many of the answers ran out of context, as far as
    that is known (`overflows.marked_levels`).
    """
    kept = cells if panel.at is None else cells[cells[panel.at] == panel.level]
    shown = accuracy_by(mean_cells(kept) if banded else kept, "model", panel.across)
    if banded:
        shown = shown.merge(
            prediction_band(kept, "model", panel.across).drop(columns="mean"),
            how="left",
        )
    marks = marked_levels(cells)
    load = panel.at or panel.across
    marked = pd.MultiIndex.from_frame(
        marks.loc[marks["load"] == load, ["model", "level"]]
    )
    here = shown[["model"]].assign(
        level=panel.level if panel.at else shown[panel.across]
    )
    return shown.assign(marked=pd.MultiIndex.from_frame(here).isin(marked))


class PaperFigure:
    """One of the paper's figures over the cells given: picture, caption and description.

    It shows accuracy (0 to 1) by model, pooled over the puzzles of all other dimensions. Models
    beside the paper's 22 are drawn in black, over the others. Reconstructed points are the mean
    over drawn tables of counts, and behind them lies the band of these. The name is a key of
    `FIGURES`; a ValueError where there is no such figure, or the cells hold no puzzle.
    """

    def __init__(self, name: str, cells: pd.DataFrame):
        if name not in FIGURES:
            raise ValueError(
                f"there is no figure {name!r}; choose one of: {', '.join(FIGURES)}"
            )
        asked = cells["model"].nunique()
        cells = limit_models(cells)  # of very many, the paper's and some others
        self.left_out = asked - cells["model"].nunique()
        self.panels = FIGURES[name]
        self.note = describe_cells(cells[cells["model"] != LAST_CLAUSE])
        self.banded = bool(from_printed_tables(cells).any())
        if not (cells["total"] > 0).any():
            raise ValueError(
                f"no cell has a puzzle, so {name} cannot be drawn; score some outputs first"
            )
        self.accuracies = [
            panel_accuracy(panel, cells, banded=self.banded) for panel in self.panels
        ]
        self.cells = cells[cells["total"] > 0]
        self.pens = pens(order_models(self.cells["model"]))

    # ---- in words ----
    def caption(self) -> str:
        """Return what points and bars mean, as MyST Markdown without a full stop."""
        models, answers = self._extent()
        axes = _join(dict.fromkeys(AXES[panel.across][0] for panel in self.panels))
        at = _join(panel.title for panel in self.panels if panel.at)
        sentences = [
            self._message(),
            f"Mean accuracy of {models} ({answers} answers) against {axes}{f' at {at}' if at else ''}",
            "Each point averages over all levels of the other parameters",
        ]
        if len(self.panels) > 1 and len(self.pens) > len(NAMED):
            sentences.append(
                "Some models are named; grey: the others; dark: the median of all"
            )
        if len(self.panels) == 1:
            sentences.append(
                "Bars: 90% Wilson intervals. Levels are equally spaced, models shifted sideways"
            )
        if LAST_CLAUSE in self.pens:
            sentences.append(
                "Black: the last-clause shortcut, which repeats the last value that any statement sets"
            )
        if self.left_out:
            sentences.append(f"Not drawn: {self.left_out:,} more models")
        if any(accuracy["marked"].any() for accuracy in self.accuracies):
            sentences.append(
                f"Hollow points: more than {MARKED_SHARE:.0%} of the model's answers ran out of context"
            )
        return ". ".join(
            filter(None, [*sentences, self._describe_bands() if self.banded else ""])
        )

    def _message(self) -> str:
        """Return the finding: falls along d and N, lowest points along rho, or rises from them."""
        found, rises = [], []
        for panel, accuracy in zip(self.panels, self.accuracies, strict=True):
            wide = accuracy[accuracy["model"] != LAST_CLAUSE].pivot_table(
                "accuracy", "model", panel.across
            )
            if wide.shape[1] < 2:
                continue
            symbol, first, last = (
                AXES[panel.across][0],
                wide.iloc[:, 0],
                wide.iloc[:, -1],
            )
            if panel.at:
                rise = 100 * (last - wide.min(axis=1)).median()
                rises.append(f"{rise:.0f} points at {panel.title}")
            elif panel.across == "ratio_pct":
                inside = wide.min(axis=1) < np.minimum(first, last)
                found.append(
                    f"lowest between the ends of {symbol} in {inside.sum()} of {len(wide)} models"
                )
            else:
                count = f"{(last < first).sum()} of {len(wide)} models"
                found.append(
                    f"lower at {symbol} = {last.name} than at {first.name} in {count}"
                )
        if rises:
            found.append(
                f"higher at the right end than at the lowest point by {_join(rises)} (median over models)"
            )
        return f"Accuracy is {_join(found)}" if found else ""

    def describe(self) -> str:
        """Return the figure's description for readers who do not see it."""
        kind = (
            "Line chart with 90% intervals"
            if len(self.panels) == 1
            else f"{len(self.panels)} line charts"
        )
        message = re.sub(r"\$\\?(\w+)\$", r"\1", self._message())
        courses = map(self._describe_course, self.panels, self.accuracies)
        said = [
            f"{kind} of mean accuracy, {self._extent()[0]}",
            message,
            *courses,
            self.note,
        ]
        return ". ".join(filter(None, said)) + "."

    def _extent(self) -> tuple[str, str]:
        """Return the numbers of models and of answers, as words."""
        shown, (first, *_) = self.cells[self.cells["model"] != LAST_CLAUSE], self.panels
        if first.at:
            shown = shown[shown[first.at].isin([panel.level for panel in self.panels])]
        count = shown["model"].nunique()
        return f"{count} model{'s' * (count != 1)}", f"{int(shown['total'].sum()):,}"

    def _describe_bands(self) -> str:
        """Return the width of the bands; "" if no model is reconstructed."""
        pairs = zip(self.panels, self.accuracies, strict=True)
        along_rho = [
            accuracy for panel, accuracy in pairs if panel.across == "ratio_pct"
        ]
        points = pd.concat(along_rho or self.accuracies)
        half_width = (points["highest"] - points["lowest"]) / 2
        if half_width.isna().all():
            return ""
        if half_width.max() < 1e-9:
            return "All reconstructions give the same points"
        widest = escape(self.pens[points["model"].iloc[half_width.argmax()]].label)
        is_published = (
            self.banded
            and self._covers_paper_grid()
            and len(along_rho) < len(self.panels)
        )
        others = "; the other panels are published" if is_published else ""
        return (
            f"Points along ρ: mean of the {COUNT} reconstructions; shaded: their {CONFIDENCE} prediction interval "
            f"(median half-width {100 * half_width.median():.0f} points, largest {100 * half_width.max():.0f}, "
            f"{widest}){others}"
        )

    def _covers_paper_grid(self) -> bool:
        """Return whether all models drawn are reconstructed on the paper's whole grid."""
        models = self.cells[self.cells["model"] != LAST_CLAUSE]
        return bool(from_printed_tables(models).all()) and coverage(models)[0] == len(
            PAPER_GRID
        )

    def _describe_course(self, panel: Panel, accuracy: pd.DataFrame) -> str:
        """Return the median accuracy at each level of a panel."""
        *_, spoken, unit = AXES[panel.across]
        start = f"{f'At {panel.at} = {panel.level}, against' if panel.at else 'Against'} {spoken}"
        accuracy = accuracy[accuracy["model"] != LAST_CLAUSE]
        median = accuracy.groupby(panel.across)["accuracy"].median()
        if median.empty:
            return f"{start}: no cells in this grid"
        course = [f"{share:.0%} at {level:g}{unit}" for level, share in median.items()]
        subject = (
            "the median over models"
            if len(accuracy["model"].unique()) > 1
            else "accuracy"
        )
        return f"{start}, {subject} is {', '.join(course)}"

    # ---- drawn ----
    def draw(self) -> Figure:
        """Return the picture: a large panel, or panels with some models named, others grey."""
        if len(self.panels) == 1:
            return self.draw_as_printed()
        with mpl.rc_context(STYLE):
            size = (PHONE_IN, 0.2 + _PANEL_IN * len(self.panels))
            figure = Figure(figsize=size, layout="constrained")
            column = figure.subplots(len(self.panels), 1, squeeze=False)[:, 0]
            for ax, panel, accuracy in zip(
                column, self.panels, self.accuracies, strict=True
            ):
                self._set_levels(ax, panel)
                ax.set_title(panel.title)
                ax.set_ylabel("Correct answers")
                if (
                    panel.at and panel != self.panels[-1]
                ):  # the last one has the label of all
                    ax.set_xlabel("")
                self._draw_named(ax, panel, accuracy)
        return figure

    def _draw_named(self, ax: Axes, panel: Panel, accuracy: pd.DataFrame) -> None:
        """Draw the models of a panel; the named ones and a reader's have colours and bands."""
        if accuracy.empty:
            return _say_empty(ax, panel)
        few = len(self.pens) <= len(NAMED)
        ends = []
        for name, rows in accuracy.groupby("model"):
            pen = self.pens[name]
            x = rows[panel.across]
            if not (few or pen.own or name in NAMED):
                ax.plot(x, rows["accuracy"], color="0.85", linewidth=0.8, zorder=1)
                continue
            if self.banded:
                low, high = rows["lowest"], rows["highest"]
                ax.fill_between(
                    x, low, high, color=pen.color, alpha=0.14, linewidth=0, zorder=2
                )
            draw_course(ax, x, rows["accuracy"], pen, rows["marked"])
            ends.append((rows["accuracy"].iloc[-1], pen.label, pen.color))
        if not few:
            models = accuracy[accuracy["model"] != LAST_CLAUSE]
            median = models.groupby(panel.across)["accuracy"].median()
            ax.plot(median.index, median, color="0.25", linewidth=2.6, zorder=5)
            ends.append(
                (median.iloc[-1], f"median of {models['model'].nunique()}", "0.25")
            )
        name_ends(ax, sorted(accuracy[panel.across]), ends)

    def draw_as_printed(self) -> Figure:
        """Return the picture as the paper arranges it, every model with its own line."""
        large = len(self.panels) == 1
        lines = len(self.pens) if large else -(-len(self.pens) // _LEGEND_COLUMNS)
        height = max(5.6, 0.5 + _LINE_IN * lines) if large else 4.3 + _LINE_IN * lines
        with mpl.rc_context(STYLE):
            figure = Figure(
                figsize=(WIDTH_IN, height), layout=(layout := ConstrainedLayoutEngine())
            )
            axes = figure.subplots(1, len(self.panels), sharey=True, squeeze=False)[0]
            for ax, panel, accuracy in zip(
                axes, self.panels, self.accuracies, strict=True
            ):
                (self._draw_levels if large else self._draw_lines)(ax, panel, accuracy)
            axes[0].set_ylabel("Correct answers")
            if large:  # in the order of the lines' ends
                last = (
                    self.accuracies[0]
                    .groupby("model")["accuracy"]
                    .last()
                    .sort_values(ascending=False)
                )
                draw_legend(
                    figure,
                    [self.pens[name] for name in last.index],
                    "outside right center",
                    1,
                )
            else:
                draw_legend(
                    figure,
                    list(self.pens.values()),
                    "outside lower center",
                    _LEGEND_COLUMNS,
                )
            layout.execute(figure)
            figure.set_layout_engine("none")  # once is enough
            # it stays where it is when `save_figure` adds a strip below
            figure.legends[0].set_bbox_to_anchor(
                (0, 0, 1, 1), transform=figure.transFigure
            )
        return figure

    def _draw_lines(self, ax: Axes, panel: Panel, accuracy: pd.DataFrame) -> None:
        ax.set_title(panel.title)
        self._set_levels(ax, panel)
        if accuracy.empty:
            _say_empty(ax, panel)
        for name, pen in self.pens.items():
            rows = accuracy[accuracy["model"] == name]
            x = rows[panel.across]
            if self.banded:
                ax.fill_between(
                    x,
                    rows["lowest"],
                    rows["highest"],
                    color=pen.color,
                    alpha=0.08,
                    linewidth=0,
                    zorder=1,
                )
            draw_course(ax, x, rows["accuracy"], pen, rows["marked"])

    def _draw_levels(self, ax: Axes, panel: Panel, accuracy: pd.DataFrame) -> None:
        places = self._set_levels(ax, panel)
        for place in places.values():
            ax.axvspan(place - 0.4, place + 0.4, color="0.968", zorder=0)
        for name, offset in spread_sideways(accuracy, self.pens).items():
            pen, rows = self.pens[name], accuracy[accuracy["model"] == name]
            x, y = (
                rows[panel.across].map(places).to_numpy() + offset,
                rows["accuracy"].to_numpy(),
            )
            draw_course(ax, x, y, pen, rows["marked"], strength=0.45)
            ax.vlines(x, rows["low"], rows["high"], **pen.line() | {"linestyle": "-"})
            if self.banded:
                ax.vlines(
                    x,
                    rows["lowest"],
                    rows["highest"],
                    color=pen.color,
                    alpha=0.25,
                    linewidth=5,
                    zorder=1,
                )

    def _set_levels(self, ax: Axes, panel: Panel) -> dict[int, int]:
        """Lay out both axes.

        Return the place of each level in a large panel, where they are equally spaced.
        """
        levels = sorted(self.cells[panel.across].unique())
        if len(self.panels) > 1:
            if panel.across == "N":
                ax.set_xscale("log")
                ax.minorticks_off()
            labels = [
                f"{level:g}"
                if level not in (10, 90) or panel.across != "ratio_pct"
                else ""
                for level in levels
            ]
            ax.set_xticks(levels, labels)
            ax.margins(x=0.06)
        else:
            ax.set_xticks(range(len(levels)), [f"{level:g}" for level in levels])
            ax.set_xlim(-0.5, len(levels) - 0.5)
        ax.set_ylim(-0.02, 1.02)
        ax.set_yticks(np.linspace(0, 1, 6))
        ax.yaxis.set_major_formatter(PercentFormatter(1, decimals=0))
        ax.set_xlabel(AXES[panel.across][1])
        ax.grid(visible=False, axis="x")
        ax.spines[["top", "right", "left"]].set_visible(False)
        return {level: place for place, level in enumerate(levels)}


def _join(words: Iterable[str]) -> str:
    *head, last = list(words) or [""]
    return f"{', '.join(head)} and {last}" if head else last


def _say_empty(ax: Axes, panel: Panel) -> None:
    style: dict[str, Any] = {"ha": "center", "va": "center", "color": "0.35"}
    ax.text(
        0.5,
        0.5,
        f"No cells at {panel.title}\nin this grid",
        transform=ax.transAxes,
        **style,
    )
