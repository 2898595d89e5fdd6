"""Figures that the paper does not have: intervals by model, other regressions, accuracy over (N, d) and along rho."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cogniload_repro.presentation.style import STYLE, WIDTH_IN, Pen, pens, write_note
from cogniload_repro.reconstruction.feasible import spread_band
from cogniload_repro.robustness.specifications import AIC_MARGIN
from cogniload_repro.statistics.accuracy import accuracy_by, evenly_asked, order_models
from cogniload_repro.statistics.regression import QUADRATIC, Fit, fit_glm


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
#: Colour scale of residuals, in percentage points either way.
RESIDUAL_LIMIT = 30
_BLUE, _RED = "#1861d3", "#ab3f00"


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
        As `draw_spans`; where no NT50 exists, words say on which side of one half the curve stays, and in which share
        of the bootstrap tables it does not.
    """
    figure = draw_spans(intervals.rename(columns={"profile_low": "low", "profile_high": "high"}), FINGERPRINT, note)
    points = {point: own.set_index("model") for point, own in intervals.groupby("point", sort=False)}
    middle = 10 ** np.log10(cells["N"].astype(float)).mean()
    for row, model in enumerate(points["ecl50"]["estimate"].sort_values().index):
        side = "above" if points["ecl50"].loc[model, "estimate"] > middle else "below"
        for ax, (point, scale) in zip(figure.axes, FINGERPRINT.items(), strict=True):
            own = points[point].loc[model]
            if np.isnan(own["estimate"]) and scale.limits:
                crossed = " throughout" if own["present"] < 0.05 else f"; crosses it in {own['present']:.0%}"
                words = f"{side} ½{crossed}"
                ax.text(
                    sum(scale.limits) / 2, row, words, size=7, color="0.4", ha="center", va="center_baseline"
                )  # fmt: skip
    return figure


def draw_spans(spans: pd.DataFrame, scales: Mapping[str, Scale], note: str) -> Figure:
    """Draw quantities of every model with their intervals.

    Parameters
    ----------
    spans : DataFrame
        One row a model and quantity: model, point (a key of ``scales``), estimate, low, high; without an interval
        (both ends missing) a line leads from zero to the estimate.
    scales : mapping
        `FINGERPRINT`, `SLOPES` or `CURVE`.
    note : str
        Where the numbers come from, written below.

    Returns
    -------
    Figure
        One panel a quantity that is there, one row a model that has the first, its largest value on top. A triangle
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


def draw_specifications(summary: pd.DataFrame, note: str, *, reconstructed: bool) -> Figure:
    """Draw whether other regressions fit better than the paper's, and whether they put the models in another order.

    Parameters
    ----------
    summary : DataFrame
        As `specifications.summarise_specifications` returns it, the paper's in its first row.
    note : str
        Where the cells come from, written below.
    reconstructed : bool
        Whether what the printed tables do not settle belongs to one draw of counts: such regressions are pale.

    Returns
    -------
    Figure
        One row a regression: left the share of its models with an AIC lower by more than `AIC_MARGIN`, right the rank
        correlation of its ECL50 with the paper's.
    """
    shown = summary.iloc[:0:-1].reset_index(drop=True)
    height = 0.75 + 0.16 * len(shown)
    panels = {
        f"models with an AIC lower by more than {AIC_MARGIN}": shown["aic_better"]
        / shown["models"].where(shown["models"] > 0),
        r"rank correlation of $\mathrm{ECL}_{50}$ with the paper's": shown["order"].astype(float),
    }
    pale = reconstructed & ~shown["settled"].astype(bool)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH_IN, height))
        axes = figure.subplots(1, 2, sharey=True)
        figure.subplots_adjust(left=0.17, right=0.985, top=1 - 0.1 / height, bottom=0.65 / height, wspace=0.14)
        for ax, (title, values) in zip(axes, panels.items(), strict=True):
            for rows, color, word in ((~pale, _BLUE, "settled by the printed tables"), (pale, "0.58", "of the draw")):
                ax.plot(values[rows], shown.index[rows], "o", color=color, markersize=5, label=word, clip_on=False)
            ax.set(xlim=(0, 1), xlabel=title)
        axes[0].axvline(0.5, color="0.6", linewidth=0.8, zorder=1)
        axes[0].xaxis.set_major_formatter(mpl.ticker.PercentFormatter(1))
        axes[0].set_yticks(shown.index, shown["specification"], parse_math=False)
        if pale.any():
            axes[1].legend(loc="center left", fontsize=8)
        write_note(figure, note)
    return figure


def draw_classes(groups: Sequence[Sequence[str]], accuracy: pd.Series, note: str) -> Figure:
    """Draw models by accuracy, and beside them the classes within which they cannot be told apart.

    Parameters
    ----------
    groups : sequence of sequences of str
        As `comparisons.group_models` returns them.
    accuracy : Series
        Of each model, a fraction.
    note : str
        Where the answers come from, written below.

    Returns
    -------
    Figure
        One row a model, the best on top: left its accuracy, right a column a class with a mark for each member.
    """
    accuracy = accuracy.sort_values()
    rows, drawn = {model: row for row, model in enumerate(accuracy.index)}, pens(list(accuracy.index))
    height = 0.85 + 0.15 * len(accuracy)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH_IN, height))
        left, right = figure.subplots(1, 2, sharey=True)
        figure.subplots_adjust(left=0.2, right=0.985, top=1 - 0.1 / height, bottom=0.65 / height, wspace=0.06)
        left.plot(accuracy, range(len(accuracy)), "o", color=_BLUE, markersize=4)
        left.set(xlim=(0, 1), xlabel="Mean accuracy over cells")
        left.set_yticks(range(len(accuracy)), [drawn[model].label for model in accuracy.index], parse_math=False)
        for number, group in enumerate(groups, 1):
            own = sorted(rows[model] for model in group)
            right.plot([number] * len(own), own, "o-", color=_BLUE, markersize=3.5, linewidth=1.6)
        right.set(xlabel="Class", xlim=(0.4, len(groups) + 0.6))
        right.set_xticks(range(1, len(groups) + 1))
        write_note(figure, note)
    return figure


def draw_surfaces(cells: pd.DataFrame, note: str, formula: str = QUADRATIC) -> Figure:
    """Draw accuracy over (N, d) for every model, and how far a regression is from it.

    Returns
    -------
    Figure
        One panel a model, one tile a pair (N, d) over all rho: the number is the accuracy in percent, the colour
        observed less fitted accuracy in percentage points. Models whose fit does not exist have grey tiles,
        those whose puzzles were chosen by what they tell no numbers.
    """
    models = order_models(cells.loc[cells["total"] > 0, "model"])
    across, down = 4, -(-len(models) // 4)
    height = 0.95 + 1.28 * down
    with mpl.rc_context(STYLE | {"axes.grid": False}):
        figure = Figure(figsize=(WIDTH_IN, height))
        axes = figure.subplots(down, across, squeeze=False, sharex=True, sharey=True)
        figure.subplots_adjust(
            left=0.07, right=0.99, top=1 - 0.25 / height, bottom=0.95 / height, hspace=0.27, wspace=0.06
        )
        for ax in axes.flat[len(models) :]:
            ax.set_axis_off()
        for ax, model in zip(axes.flat, models, strict=False):
            own = cells[cells["model"] == model]
            image = _draw_tiles(ax, surface(own, formula), numbered=len(evenly_asked(own)) > 0)
            ax.set_title(pens([model])[model].label, size=8, pad=2, parse_math=False)
        for ax in axes[:, 0]:
            ax.set_ylabel("$N$", labelpad=1)
        for place in range(len(models) - min(across, len(models)), len(models)):
            axes.flat[place].tick_params(labelbottom=True)
            axes.flat[place].set_xlabel("$d$", labelpad=0)
        bar = figure.add_axes((0.3, 0.4 / height, 0.4, 0.09 / height))
        figure.colorbar(image, cax=bar, orientation="horizontal", extend="both")
        bar.tick_params(labelsize=7)
        bar.set_title("observed less fitted accuracy (percentage points)", size=7.5, pad=2)
        write_note(figure, note)
    return figure


def surface(own: pd.DataFrame, formula: str = QUADRATIC) -> pd.DataFrame:
    """Return one model's observed and fitted accuracy over (N, d).

    Returns
    -------
    DataFrame
        One row a pair: N, d, n and correct (answers), accuracy and fitted (fractions; fitted is NaN if the fit
        does not exist).
    """
    own = own[own["total"] > 0]
    fit = fit_glm(own, formula)
    expected = own["total"] * (fit.accuracy if fit.status == "ok" else np.nan)
    tiles = (
        own.assign(expected=expected)
        .groupby(["N", "d"])[["total", "correct", "expected"]]
        .sum(min_count=1)
        .reset_index()
    )
    return tiles.assign(accuracy=tiles["correct"] / tiles["total"], fitted=tiles["expected"] / tiles["total"]).drop(
        columns="expected"
    )


def describe_spread(cells: pd.DataFrame) -> str:
    """Return a sentence on how far drawn tables of counts that agree with the paper differ in accuracies over (N, d).

    Without the last full stop; empty for cells that are not the committed reconstruction.
    """
    band = spread_band(cells, "model", "N", "d")
    if band.empty:
        return ""
    points = 100 * (band["highest"] - band["lowest"])
    return (
        "Over drawn tables of counts that agree with everything printed, the 95% band of a tile's accuracy is "
        f"{points.median():.0f} points wide (median), at most {points.max():.0f}"
    )


def _draw_tiles(ax: Axes, tiles: pd.DataFrame, *, numbered: bool) -> mpl.image.AxesImage:
    tiles = tiles.assign(residual=100 * (tiles["accuracy"] - tiles["fitted"]))
    accuracy, residual = (
        tiles.pivot_table(name, index="N", columns="d", dropna=False) for name in ("accuracy", "residual")
    )
    ax.set_facecolor("0.9")
    image = ax.imshow(residual, cmap="RdBu", vmin=-RESIDUAL_LIMIT, vmax=RESIDUAL_LIMIT, aspect="auto")
    for (row, column), value in np.ndenumerate(accuracy.to_numpy()):
        if numbered and np.isfinite(value):
            dark = abs(np.nan_to_num(residual.iloc[row, column])) > 0.62 * RESIDUAL_LIMIT
            ax.text(column, row, f"{100 * value:.0f}", size=6.5, ha="center", va="center",
                    color="white" if dark else "0.1")  # fmt: skip
    ax.set_xticks(range(accuracy.shape[1]), [f"{d:g}" for d in accuracy.columns])
    ax.set_yticks(range(accuracy.shape[0]), [f"{N:g}" for N in accuracy.index])
    ax.tick_params(labelsize=7, length=0, pad=1)
    return image


def draw_rho_response(cells: pd.DataFrame, model: str, note: str, formula: str = QUADRATIC) -> Figure:
    """Draw one model's accuracy against rho in every (N, d), with the curve of a regression.

    Parameters
    ----------
    cells : DataFrame
        Cells frame.
    model : str
    note : str
        Where the cells come from, written below.
    formula : str
        Of the curve; nothing is drawn if its fit does not exist.

    Returns
    -------
    Figure
        One panel a pair (N, d): accuracies with 90% Wilson intervals, the fitted curve and, behind the committed
        reconstruction, the range of the tables of counts that the printed numbers allow.

    Raises
    ------
    ValueError
        If the cells have no such model.
    """
    own = cells[(cells["model"] == model) & (cells["total"] > 0)]
    if own.empty:
        raise ValueError(f"the cells have no model {model!r}; they have: {', '.join(order_models(cells['model']))}")
    keys = ("model", "N", "d", "ratio_pct")
    counts, fit = accuracy_by(own, *keys), fit_glm(own, formula)
    band = spread_band(own, *keys)
    lengths, levels = sorted(counts["N"].unique()), sorted(counts["d"].unique())
    height = 0.75 + 1.15 * len(lengths)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH_IN, height))
        axes = figure.subplots(len(lengths), len(levels), squeeze=False, sharex=True, sharey=True)
        figure.subplots_adjust(
            left=0.09, right=0.985, top=1 - 0.22 / height, bottom=0.62 / height, hspace=0.1, wspace=0.08
        )
        for (row, column), ax in np.ndenumerate(axes):

            def here(frame: pd.DataFrame, N=lengths[row], d=levels[column]) -> pd.DataFrame:  # fmt: skip
                return frame[(frame["N"] == N) & (frame["d"] == d)]

            _draw_panel(ax, here, counts, own, fit, band)
        for ax, d in zip(axes[0], levels, strict=True):
            ax.set_title(f"$d$ = {d:g}", size=8.5, pad=3)
        for ax, N in zip(axes[:, 0], lengths, strict=True):
            ax.set_ylabel(f"$N$ = {N:g}", size=8.5)
        axes[0, 0].set(xlim=(0, 100), ylim=(-0.05, 1.05), xticks=(10, 50, 90), yticks=(0, 0.5, 1))
        figure.supxlabel(r"Needle ratio $\rho$ (%)", size=9, y=0.3 / height)
        figure.supylabel("Accuracy", size=9, x=0.005)
        write_note(figure, note)
    return figure


def _draw_panel(
    ax: Axes, here: Callable, counts: pd.DataFrame, own: pd.DataFrame, fit: Fit, band: pd.DataFrame
) -> None:
    rows = here(counts)
    ax.axhline(0.5, color="0.8", linewidth=0.6, zorder=1)
    if not band.empty:
        span = here(band).sort_values("ratio_pct")
        ax.fill_between(
            span["ratio_pct"], span["lowest"], span["highest"], color=_RED, alpha=0.22, linewidth=0, zorder=2
        )
    ax.vlines(rows["ratio_pct"], rows["low"], rows["high"], color=_BLUE, linewidth=1, zorder=3)
    ax.plot(rows["ratio_pct"], rows["accuracy"], "o", color=_BLUE, markersize=2.6, zorder=4)
    if fit.status == "ok":
        fitted = own[["N", "d", "rho"]].assign(p=fit.accuracy)
        curve = here(fitted).sort_values("rho")
        ax.plot(100 * curve["rho"], curve["p"], color="0.15", linewidth=1, zorder=5)
    ax.tick_params(labelsize=7, pad=1)
