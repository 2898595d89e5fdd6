"""The paper's Figures 1 and 3 to 7, drawn from a cells frame.

Panels side by side have numeric axes (logarithmic for N). A large panel has its levels at equal distances, so that the
intervals of 22 models have room beside one another.
"""

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from scipy.optimize import isotonic_regression

from cogniload_repro.presentation.style import FAMILY_COLORS, OTHERS, STYLE, WIDTH_IN, Pen, pens, write_note
from cogniload_repro.reconstruction.feasible import mean_cells, spread_band
from cogniload_repro.robustness.overflows import marked_levels
from cogniload_repro.statistics.accuracy import accuracy_by, evenly_asked, order_models
from cogniload_repro.statistics.provenance import source_note

#: Symbol and axis label of each dimension of the grid.
AXES = {
    "d": ("$d$", "Intrinsic difficulty $d$"),
    "N": ("$N$", "Task length $N$ (statements)"),
    "ratio_pct": (r"$\rho$", r"Needle ratio $\rho$ (% needles)"),
}


@dataclass(frozen=True)
class Panel:
    """One set of axes: accuracy against ``across``, of the cells where ``at`` has the value ``level``."""

    across: str
    at: str | None = None
    level: int | None = None


#: The figures as the paper arranges them: three panels side by side, or one large one with intervals.
FIGURES = {
    "figure1": (Panel("d"), Panel("N"), Panel("ratio_pct")),
    "figure3": tuple(Panel("ratio_pct", "d", level) for level in (1, 5, 10)),
    "figure4": tuple(Panel("ratio_pct", "N", level) for level in (20, 100, 250)),
    "figure5": (Panel("d"),),
    "figure6": (Panel("ratio_pct"),),
    "figure7": (Panel("N"),),
}

_LABEL_SIZE, _LINE_IN = 8.5, 0.158  # points; inches a line of labels takes


def draw_figure(name: str, cells: pd.DataFrame, provenance: str, *, noted: bool = True) -> Figure:
    """Draw one of the paper's figures from whatever cells there are.

    Parameters
    ----------
    name : str
        A key of `FIGURES`.
    cells : DataFrame
        Cells frame; models beside the paper's 22 are drawn in black, over the others.
    provenance : str
        reconstructed or imported.
    noted : bool
        Name reconstructed data and a partial grid in the picture.

    Returns
    -------
    Figure
        Accuracy (0 to 1) by model, pooled over the puzzles of all other dimensions. Three panels share a
        legend by family (paper, Figures 1, 3, 4); a single one has 90% Wilson intervals and labels at the
        line ends, its points moved apart sideways (Figures 5, 6, 7). Reconstructed points are the mean over drawn
        tables of counts, and behind them lies the 95% band of these.

    Raises
    ------
    ValueError
        If there is no such figure, the cells hold no puzzle, or the provenance is not one of the three words.
    """
    panels = find_panels(name)
    cells = evenly_asked(cells)
    note = source_note(cells, provenance)
    if not (cells["total"] > 0).any():
        raise ValueError(f"no cell has a puzzle, so {name} cannot be drawn; score some outputs first")
    models = order_models(cells.loc[cells["total"] > 0, "model"])
    with mpl.rc_context(STYLE):
        draw = _draw_large if len(panels) == 1 else _draw_row
        figure = draw(panels, cells, pens(models), banded=provenance == "reconstructed")
        write_note(figure, note if noted else "")
    return figure


def find_panels(name: str) -> tuple[Panel, ...]:
    """Return the panels of a figure, or raise a ValueError that lists the figures there are."""
    if name not in FIGURES:
        raise ValueError(f"there is no figure {name!r}; choose one of: {', '.join(FIGURES)}")
    return FIGURES[name]


def panel_accuracy(panel: Panel, cells: pd.DataFrame, *, banded: bool = False) -> pd.DataFrame:
    """Return the accuracies that a panel shows; empty where the grid does not have the panel's level.

    With ``banded`` the accuracies of reconstructed models are the mean over the drawn tables of counts
    (`feasible.mean_cells`), and lowest and highest the ends of their 95% band, missing for other models. ``marked`` is
    true where more than a tenth of the answers ran out of context, as far as that is known (`overflows.marked_levels`).
    """
    shown = _pool(panel, _Cells(evenly_asked(cells)), banded).copy()
    marks = marked_levels(cells)
    if panel.at is None:
        levels = set(marks.loc[marks["load"] == panel.across, ["model", "level"]].itertuples(index=False, name=None))
        return shown.assign(marked=[pair in levels for pair in zip(shown["model"], shown[panel.across], strict=True)])
    models = marks.loc[(marks["load"] == panel.at) & (marks["level"] == panel.level), "model"]
    return shown.assign(marked=shown["model"].isin(models))


class _Cells:
    """Cells that are the same when their contents are: picture, caption, description and data ask for the same."""

    def __init__(self, frame: pd.DataFrame):
        self.frame = frame[["model", "N", "d", "ratio_pct", "total", "correct"]]
        self._content = tuple(tuple(self.frame[name].tolist()) for name in self.frame)

    def __hash__(self) -> int:
        return hash(self._content)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Cells) and self._content == other._content


@lru_cache(maxsize=64)
def _pool(panel: Panel, cells: _Cells, banded: bool) -> pd.DataFrame:
    kept = cells.frame if panel.at is None else cells.frame[cells.frame[panel.at] == panel.level]
    if not banded:
        return accuracy_by(kept, "model", panel.across)
    band = spread_band(kept, "model", panel.across)[["model", panel.across, "lowest", "highest"]]
    return accuracy_by(mean_cells(kept), "model", panel.across).merge(band, how="left")


def _draw_row(panels: tuple[Panel, ...], cells: pd.DataFrame, drawn: dict[str, Pen], banded: bool) -> Figure:
    columns = _legend_columns(drawn, len(panels) + 1)
    legend_in = _LINE_IN * max(map(_legend_lines, columns))
    top, plot_in, gap, foot = 0.3 if panels[0].at else 0.12, 3.5, 0.58, 0.24
    height = top + plot_in + gap + legend_in + foot
    figure = Figure(figsize=(WIDTH_IN, height))
    axes = figure.subplots(1, len(panels), sharey=True, squeeze=False)[0]
    low = (gap + legend_in + foot) / height
    figure.subplots_adjust(left=0.08, right=0.99, top=1 - top / height, bottom=low, wspace=0.07)
    for ax, panel in zip(axes, panels, strict=True):
        _draw_lines(ax, panel, cells, drawn, banded)
    axes[0].set_ylabel("Mean accuracy")
    _draw_legend(figure.add_axes((0, foot / height, 1, legend_in / height)), columns, drawn)
    return figure


def _draw_lines(ax: Axes, panel: Panel, cells: pd.DataFrame, drawn: dict[str, Pen], banded: bool) -> None:
    accuracy = panel_accuracy(panel, cells, banded=banded)
    if panel.at:
        ax.set_title(f"{AXES[panel.at][0]} = {panel.level}")
    _set_levels(ax, panel, cells, numeric=True)
    if accuracy.empty:
        where = f" at {AXES[panel.at][0]} = {panel.level}\n" if panel.at else " "
        ax.text(
            0.5, 0.5, f"No cells{where}in this grid", transform=ax.transAxes, ha="center", va="center", color="0.35"
        )
    for name, pen in drawn.items():
        rows = accuracy[accuracy["model"] == name]
        x = rows[panel.across]
        if banded:
            ax.fill_between(x, rows["lowest"], rows["highest"], color=pen.color, alpha=0.08, linewidth=0, zorder=1)
        _draw_course(ax, x, rows["accuracy"], pen, rows["marked"])


def _draw_course(ax: Axes, x, y, pen: Pen, marked, strength: float = 1.0) -> None:
    if pen.own:  # a white seam, so that the line stands out where others cross it
        ax.plot(x, y, color="white", linewidth=4, zorder=5)
    ax.plot(x, y, **pen.line(), alpha=1.0 if pen.own else strength)
    ax.plot(x, y, **pen.dots())
    if (hollow := np.asarray(marked, bool)).any():
        look = pen.dots() | {"markerfacecolor": "white", "markeredgecolor": pen.color, "markeredgewidth": 0.9}
        ax.plot(np.asarray(x)[hollow], np.asarray(y)[hollow], **look)


def _draw_large(panels: tuple[Panel, ...], cells: pd.DataFrame, drawn: dict[str, Pen], banded: bool) -> Figure:
    (panel,) = panels
    accuracy = panel_accuracy(panel, cells, banded=banded)
    top, bottom, plot_in = 0.12, 0.78, max(4.0, 1.55 * _LINE_IN * len(drawn))
    height = top + plot_in + bottom
    figure = Figure(figsize=(WIDTH_IN, height))
    ax = figure.add_axes((0.08, bottom / height, 0.665, plot_in / height))
    places = _set_levels(ax, panel, cells, numeric=False)
    for place in places.values():
        ax.axvspan(place - 0.4, place + 0.4, color="0.968", zorder=0)
    ends = {}
    for name, offset in _sideways(accuracy, drawn).items():
        pen, rows = drawn[name], accuracy[accuracy["model"] == name]
        x, y = rows[panel.across].map(places).to_numpy() + offset, rows["accuracy"].to_numpy()
        _draw_course(ax, x, y, pen, rows["marked"], strength=0.45)
        ax.vlines(x, rows["low"], rows["high"], **pen.line() | {"linestyle": "-"})
        if banded:
            ax.vlines(x, rows["lowest"], rows["highest"], color=pen.color, alpha=0.25, linewidth=5, zorder=1)
        ends[name] = (x[-1], y[-1])
    ax.set_ylabel("Mean accuracy")
    _label_ends(ax, ends, drawn, _LINE_IN / plot_in)
    return figure


def _sideways(accuracy: pd.DataFrame, drawn: dict[str, Pen]) -> dict[str, float]:
    """Return how far beside its level each model stands: models of like accuracy far from one another.

    Ranks times the golden ratio, modulo one, put neighbours in rank far apart.
    """
    ranked = accuracy.groupby("model")["accuracy"].mean().loc[list(drawn)].sort_values(kind="stable").index
    golden = (np.arange(len(ranked)) * (np.sqrt(5) - 1) / 2) % 1
    slots = np.argsort(np.argsort(golden)) + 0.5
    return dict(zip(ranked, 0.7 * (slots / len(ranked) - 0.5), strict=True))


def _label_ends(ax: Axes, ends: dict[str, tuple], drawn: dict[str, Pen], gap: float) -> None:
    """Write each model's name to the right of its line's end, moved no more than readable lines need."""
    names = sorted(ends, key=lambda name: ends[name][1])
    low, high = ax.get_ylim()
    heights = spread([ends[name][1] for name in names], gap * (high - low), low, high)
    right = ax.get_xlim()[1]
    width = right - ax.get_xlim()[0]
    for name, y in zip(names, heights, strict=True):
        pen, (x_end, y_end) = drawn[name], ends[name]
        elbow = [x_end, right, right + 0.035 * width, right + 0.05 * width]
        ax.plot(elbow, [y_end, y_end, y, y], color=pen.color, linewidth=0.6, alpha=0.6, clip_on=False, zorder=2)
        ax.plot([right + 0.062 * width], [y], clip_on=False, **pen.dots())
        ax.text(right + 0.08 * width, y, pen.label, size=_LABEL_SIZE, va="center_baseline", parse_math=False)


def spread(targets: list[float], gap: float, low: float, high: float) -> np.ndarray:
    """Return ascending positions at least ``gap`` apart in [low, high], in least squares nearest the targets.

    Positions minus their rank times the gap must not descend: an isotonic regression. More labels than fit
    share the range evenly.
    """
    count = len(targets)
    gap = min(gap, (high - low) / max(count - 1, 1))
    steps = gap * np.arange(count)
    fitted = isotonic_regression(np.sort(np.asarray(targets, dtype=float)) - steps).x
    return np.clip(fitted, low, high - gap * (count - 1)) + steps


def _set_levels(ax: Axes, panel: Panel, cells: pd.DataFrame, *, numeric: bool) -> dict[int, int]:
    levels = sorted(cells.loc[cells["total"] > 0, panel.across].unique())
    if numeric:
        if panel.across == "N":
            ax.set_xscale("log")
            ax.minorticks_off()
        labels = [f"{level:g}" if level not in (10, 90) or panel.across != "ratio_pct" else "" for level in levels]
        ax.set_xticks(levels, labels)
        ax.margins(x=0.06)
    else:
        ax.set_xticks(range(len(levels)), [f"{level:g}" for level in levels])
        ax.set_xlim(-0.5, len(levels) - 0.5)
    ax.set_ylim(-0.02, 1.02)
    ax.set_yticks(np.linspace(0, 1, 6))
    ax.set_xlabel(AXES[panel.across][1])
    ax.grid(visible=False, axis="x")
    ax.spines[["top", "right", "left"]].set_visible(False)
    return {level: place for place, level in enumerate(levels)}


def _legend_columns(drawn: dict[str, Pen], count: int) -> list[list[tuple[str, list[str]]]]:
    """Share the families out to columns of about equal height, the largest family first."""
    families = [
        (family, [name for name, pen in drawn.items() if pen.family == family]) for family in (*FAMILY_COLORS, OTHERS)
    ]
    columns: list[list[tuple[str, list[str]]]] = [[] for _ in range(count)]
    for family, names in sorted(families, key=lambda item: -len(item[1])):
        if names:
            min(columns, key=_legend_lines).append((family, names))
    return columns


def _legend_lines(column: list[tuple[str, list[str]]]) -> float:
    """Return the lines that a legend column takes: a heading and a gap besides the models of each family."""
    return sum(len(names) + 1.35 for _, names in column)


def _draw_legend(ax: Axes, columns: list[list[tuple[str, list[str]]]], drawn: dict[str, Pen]) -> None:
    ax.set_axis_off()
    ax.set(xlim=(0, len(columns)), ylim=(max(map(_legend_lines, columns)), 0))
    words: dict[str, Any] = {"size": _LABEL_SIZE, "va": "center_baseline"}
    for left, column in enumerate(columns):
        line = 0.5
        for family, names in column:
            ax.text(left + 0.05, line, family, weight="bold", **words)
            for name in names:
                line += 1
                ax.plot(left + np.array([0.05, 0.2]), [line] * 2, clip_on=False, **drawn[name].line())
                ax.plot(left + 0.125, line, clip_on=False, **drawn[name].dots())
                ax.text(left + 0.24, line, drawn[name].label, parse_math=False, **words)
            line += 1.35
