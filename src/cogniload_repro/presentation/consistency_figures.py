"""Pictures of the consistency chapter."""

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cogniload_repro.models import BY_NAME
from cogniload_repro.presentation.style import STYLE, WIDTH_IN, write_note
from cogniload_repro.reconstruction.derivation import RULES
from cogniload_repro.reconstruction.feasible import spread_band
from cogniload_repro.statistics.accuracy import accuracy_by
from cogniload_repro.statistics.provenance import origin_note

_ROW_IN = 0.185
_HIT, _MISS, _SILENT = "#1861d3", "#c04a00", "0.62"
#: The groupings of the figures that have rho, and what each is called.
SPREADS = {
    ("ratio_pct",): r"by $\rho$ (Figure 6)",
    ("d", "ratio_pct"): r"by $d$ and $\rho$ (Figure 3)",
    ("N", "ratio_pct"): r"by $N$ and $\rho$ (Figure 4)",
}


def draw_lattice(tests: pd.DataFrame) -> Figure:
    """Draw how far each model's sum of rho lies from the nearest value that it can have, by reading of rho.

    Parameters
    ----------
    tests : DataFrame
        `consistency.lattice_test` of one or more readings.

    Returns
    -------
    Figure
        One panel a reading, one row a model, in lattice steps from the nearest possible value. A bar is what the
        three decimals of AIC_linear leave: filled disc and blue where it holds a possible value, cross and orange
        where it does not, grey where it is wider than a step and excludes nothing.
    """
    rules = list(dict.fromkeys(tests["rule"]))
    models = list(dict.fromkeys(tests["model"]))
    height = 1.05 + _ROW_IN * len(models)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH_IN, height))
        axes = figure.subplots(1, len(rules), sharey=True, squeeze=False)[0]
        figure.subplots_adjust(left=0.2, right=0.985, top=1 - 0.3 / height, bottom=0.72 / height, wspace=0.06)
        for ax, rule in zip(axes, rules, strict=True):
            own = tests[tests["rule"] == rule].set_index("model").loc[models]
            _draw_windows(ax, own)
            ax.set_title(RULES[rule])
        _name_rows(axes[0], models)
        axes[len(axes) // 2].set_xlabel(
            r"$T_\rho$ minus the nearest possible value, in lattice steps" + "\n"
            "bar: what the printed AIC allows; disc: agrees, cross: does not, grey: allows any value"
        )
    return figure


def _draw_windows(ax: Axes, rows: pd.DataFrame) -> None:
    ax.axvline(0, color="0.35", linewidth=0.8, zorder=1)
    for place, row in enumerate(rows.itertuples()):
        silent = row.chance >= 1
        color = _SILENT if silent else _HIT if row.inside else _MISS
        low, high = (-0.5, 0.5) if silent else (max(row.low, -0.5), min(row.high, 0.5))
        ax.hlines(place, low, high, color=color, linewidth=2.2, alpha=0.65, zorder=2)
        marker = "o" if row.inside else "X"
        ax.plot(row.value, place, color=color, marker=marker, markersize=4.5, linestyle="", zorder=3)
    ax.set(xlim=(-0.58, 0.58))
    ax.set_xticks([-0.5, 0, 0.5], ["-½", "0", "½"])
    ax.grid(visible=False)


def draw_spread(cells: pd.DataFrame) -> Figure:
    """Draw how far the points of Figures 3, 4 and 6 move between the possible tables, against sampling error.

    Parameters
    ----------
    cells : DataFrame
        The reconstructed cells.

    Returns
    -------
    Figure
        One panel a figure, one row a model, in percentage points: a disc for the median and a line to the largest
        half width of the range over tables; an open ring for the median half width of the 90% Wilson intervals.
    """
    models = list(dict.fromkeys(cells["model"]))
    height = 1.2 + _ROW_IN * len(models)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH_IN, height))
        axes = figure.subplots(1, len(SPREADS), sharey=True, sharex=True)
        figure.subplots_adjust(left=0.2, right=0.985, top=1 - 0.3 / height, bottom=0.85 / height, wspace=0.06)
        for ax, (dims, title) in zip(axes, SPREADS.items(), strict=True):
            widths = half_widths(cells, *dims).groupby("model")
            for place, model in enumerate(models):
                own = widths.get_group(model)
                ax.hlines(place, own["tables"].median(), own["tables"].max(), color=_HIT, linewidth=1.4)
                ax.plot(own["tables"].median(), place, "o", color=_HIT, markersize=4.5)
                ax.plot(own["wilson"].median(), place, "o", color=_MISS, markersize=5.5, fillstyle="none")
            ax.set_title(title)
            ax.grid(visible=False, axis="y")
        axes[0].set_xlim(0, ax.get_xlim()[1])
        _name_rows(axes[0], models)
        axes[1].set_xlabel(
            "Half width (percentage points)\ndisc and line: between tables, median to largest; "
            "ring: 90% Wilson interval, median"
        )
        write_note(figure, origin_note("reconstructed"))
    return figure


def half_widths(cells: pd.DataFrame, *dims: str) -> pd.DataFrame:
    """Return by how much accuracies are uncertain, in percentage points to either side.

    Returns
    -------
    DataFrame
        One row a model and combination of the dims: these, tables (half the range over the possible tables) and
        wilson (half the 90% Wilson interval).
    """
    keys = ["model", *dims]
    both = accuracy_by(cells, *keys).merge(spread_band(cells, *keys), on=keys)
    tables, wilson = (50 * (both[high] - both[low]) for low, high in (("lowest", "highest"), ("low", "high")))
    return both[keys].assign(tables=tables, wilson=wilson)


def _name_rows(ax: Axes, models: list[str]) -> None:
    labels = [BY_NAME[model].label for model in models]
    ax.set_yticks(np.arange(len(models)), labels, size=8.5)
    ax.set_ylim(len(models) - 0.4, -0.6)
