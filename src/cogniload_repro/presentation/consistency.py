"""The consistency chapter: its pictures with their descriptions, and the two tables that take more than a frame."""

from collections.abc import Sequence

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cogniload_repro.models import BY_NAME
from cogniload_repro.presentation.style import STYLE, WIDTH_IN, write_note
from cogniload_repro.presentation.table_text import HEADINGS
from cogniload_repro.reconstruction.consistency import half_widths, used_ratios
from cogniload_repro.reconstruction.derivation import RULES
from cogniload_repro.statistics.provenance import origin_note

_ROW_IN = 0.185
#: Deviations below this are drawn there.
_LEAST_OFF = 0.05
_HIT, _MISS, _SILENT = "#1861d3", "#c04a00", "0.62"
#: The groupings of the figures that have rho: which figure, and how a panel is headed.
SPREADS = {
    ("ratio_pct",): ("Figure 6", r"by $\rho$ (Figure 6)"),
    ("d", "ratio_pct"): ("Figure 3", r"by $d$ and $\rho$ (Figure 3)"),
    ("N", "ratio_pct"): ("Figure 4", r"by $N$ and $\rho$ (Figure 4)"),
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


def describe_lattice(tests: pd.DataFrame) -> str:
    """Say for readers who do not see it what `draw_lattice` shows: how many models agree with each reading."""
    agree = tests.groupby("rule", sort=False)["inside"].agg(["sum", "size"])
    counts = [f"{RULES[row.Index]}: {row.sum} of {row.size} models agree" for row in agree.itertuples()]
    return f"{len(agree)} dot plots, one row a model. {'; '.join(counts)}."


def draw_deviations(worst: pd.DataFrame) -> Figure:
    """Draw how far each model's derived row of Table 2 lies from the printed one, by reading of rho.

    Parameters
    ----------
    worst : DataFrame
        One row a model, one column a reading (a key of `RULES`): the largest deviation in half units of the last
        printed digit.
    """
    height = 0.95 + _ROW_IN * len(worst)
    places = np.arange(len(worst))[::-1]
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH_IN, height))
        ax = figure.subplots()
        figure.subplots_adjust(left=0.2, right=0.985, top=1 - 0.3 / height, bottom=0.5 / height)
        ax.axvspan(_LEAST_OFF, 1, color="0.95", zorder=0)
        for (rule, words), color, marker in zip(RULES.items(), (_HIT, _MISS, _SILENT), "osD", strict=True):
            off = worst[rule].clip(lower=_LEAST_OFF)
            ax.plot(off, places, marker, color=color, markersize=4.5, label=words, mec="white", mew=0.4)
        ax.set(xscale="log", xlim=(_LEAST_OFF, None), ylim=(-0.7, len(worst) - 0.3))
        ax.set_yticks(places, [BY_NAME[name].label for name in worst.index])
        ax.set_xlabel("Largest deviation in the row, half units of the last printed digit (up to 1: as printed)")
        ax.legend(loc="lower center", bbox_to_anchor=(0.4, 1.0), ncols=len(RULES), frameon=False, fontsize=8.5)
    return figure


def describe_deviations(worst: pd.DataFrame) -> str:
    """Say for readers who do not see it what `draw_deviations` shows: the rows that come out under each reading."""
    counts = [f"{words}: {(worst[rule] <= 1).sum()} of {len(worst)} rows as printed" for rule, words in RULES.items()]
    return f"Dot plot, one row a model, three readings of rho. {'; '.join(counts)}."


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
    """Draw how far the points of Figures 3, 4 and 6 move between the drawn tables, against sampling error.

    Parameters
    ----------
    cells : DataFrame
        The reconstructed cells.

    Returns
    -------
    Figure
        One panel a figure, one row a model, in percentage points: a disc for the median and a line to the largest
        half width of the 95% band of the tables; an open ring for the median half width of the 90% Wilson intervals.
    """
    models = list(dict.fromkeys(cells["model"]))
    height = 1.2 + _ROW_IN * len(models)
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH_IN, height))
        axes = figure.subplots(1, len(SPREADS), sharey=True, sharex=True)
        figure.subplots_adjust(left=0.2, right=0.985, top=1 - 0.3 / height, bottom=0.85 / height, wspace=0.06)
        for ax, (dims, (_, title)) in zip(axes, SPREADS.items(), strict=True):
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
            "Half width (percentage points)\ndisc and line: 95% band of the drawn tables, median to largest; "
            "ring: 90% Wilson interval, median"
        )
        write_note(figure, origin_note("reconstructed"))
    return figure


def describe_spread(cells: pd.DataFrame) -> str:
    """Say for readers who do not see it what `draw_spread` shows: medians and the largest half width by figure."""
    described = []
    for dims, (figure, _) in SPREADS.items():
        widths = half_widths(cells, *dims)
        middle, most, wilson = widths["tables"].median(), widths["tables"].max(), widths["wilson"].median()
        described.append(f"{figure}: {middle:.1f} in the median and {most:.1f} at most, Wilson {wilson:.1f}")
    return f"Three dot plots of half widths in percentage points, one row a model. {'; '.join(described)}."


def draw_ranges(ranges: pd.DataFrame, models: Sequence[str]) -> Figure:
    """Draw what is known of accuracies along rho: drawn tables, their 95% band, and the bounds of all tables.

    Parameters
    ----------
    ranges : DataFrame
        `bounds.point_ranges`.
    models : sequence of str
        One column a model, one row for all puzzles and one for d = 1.

    Returns
    -------
    Figure
        Grey: between the least and the largest possible accuracy. Blue: the 95% band, and bars over the drawn tables;
        the line is their mean.
    """
    rows = {"": "all puzzles", "d": "$d$ = 1"}
    with mpl.rc_context(STYLE):
        figure = Figure(figsize=(WIDTH_IN, 4.4))
        axes = figure.subplots(len(rows), len(models), sharex=True, sharey=True, squeeze=False)
        figure.subplots_adjust(left=0.09, right=0.985, top=0.93, bottom=0.17, wspace=0.06, hspace=0.1)
        for (load, words), line in zip(rows.items(), axes, strict=True):
            for model, ax in zip(models, line, strict=True):
                own = ranges[(ranges["model"] == model) & (ranges["load"] == load) & (ranges["level"] <= 1)]
                x = np.arange(len(own))
                ax.fill_between(x, own["least"], own["most"], color="0.9", linewidth=0)
                ax.fill_between(x, own["lowest"], own["highest"], color=_HIT, alpha=0.3, linewidth=0)
                ax.vlines(x, own["least_drawn"], own["most_drawn"], color=_HIT, linewidth=1.2)
                ax.plot(x, own["mean"], "o-", color=_HIT, markersize=3.5, linewidth=1)
                ax.set_xticks(x, own["ratio_pct"].astype(str))
                ax.set_ylim(-0.02, 1.02)
            line[0].set_ylabel(f"Accuracy, {words}")
        for model, ax in zip(models, axes[0], strict=True):
            ax.set_title(BY_NAME[model].label)
        figure.supxlabel(
            "Needle ratio $\\rho$ (%)\nline, bar: mean and range of the drawn tables; blue: their 95% band; "
            "grey: all that any table can have",
            size=9,
        )
        write_note(figure, origin_note("reconstructed"))
    return figure


def describe_ranges(ranges: pd.DataFrame) -> str:
    """Say for readers who do not see it what `draw_ranges` shows: median widths of band and bounds by figure."""
    described = []
    for load, figure in (("", "Figure 6"), ("d", "Figure 3"), ("N", "Figure 4")):
        own = ranges[ranges["load"] == load]
        band, bounds = (own["highest"] - own["lowest"]).median(), (own["most"] - own["least"]).median()
        described.append(f"{figure}: 95% band {band:.3f} wide in the median, bounds {bounds:.2f}")
    return f"Line charts with two nested bands against the needle ratio, one column a model. {'; '.join(described)}."


def print_misfits(misfits: pd.DataFrame) -> pd.DataFrame:
    """Return the misfits by load (`misfit.estimate_by_load`) as text."""
    names = {"ratio_pct": "ρ (prose)", "d": "d (Table 4)", "N": "N (Table 5)"}
    return pd.DataFrame(
        {
            "Levels of": misfits["load"].map(names),
            "Models": misfits["models"],
            "Printed numbers": misfits["numbers"],
            "Misfit (log-odds)": misfits["value"].map("{:.2f}".format),
            "95% interval": [f"{row.low:.2f} to {row.high:.2f}" for row in misfits.itertuples()],
            "Likelihood ratio": misfits["ratio"].map("{:.1f}".format),
        }
    )


def print_left_out(predictions: pd.DataFrame) -> pd.DataFrame:
    """Return the predictions of printed accuracies from all the others (`misfit.predict_left_out`) as text."""
    return pd.DataFrame(
        {
            "Model": predictions["model"],
            "ρ": [f"{level}%" for level in predictions["level"]],
            "Printed": predictions["printed"].map("{:.2f}".format),
            "If smooth": [f"{row.expected_smooth:.3f} ± {row.sd_smooth:.3f}" for row in predictions.itertuples()],
            "$z$": predictions["z_smooth"].map("{:+.1f}".format),
            "With misfit": [f"{row.expected:.3f} ± {row.sd:.3f}" for row in predictions.itertuples()],
            "$z$ with misfit": predictions["z"].map("{:+.1f}".format),
            "Inside 95%": predictions["inside"].map({True: "yes", False: "no"}),
        }
    )


def print_sums(rows: pd.DataFrame, dimension: str) -> pd.DataFrame:
    """Return one model's sums level by level (`consistency.sums_by_level`) as text, with their total below."""
    whole = ["samples", "errors", "correct"]
    total = rows[[*whole, "contribution"]].sum().to_frame().T.assign(**{dimension: "sum"})
    both = pd.concat([rows.astype({dimension: object}), total], ignore_index=True).astype(dict.fromkeys(whole, int))
    for column in ("covariate", "contribution"):
        both[column] = [f"{x:,.4f}".rstrip("0").rstrip(".") if pd.notna(x) else "" for x in both[column]]
    covariate = {"d": "$d$", "N": r"$\log_{10} N$"}[dimension]
    return both.set_axis(
        [f"${dimension}$", "Samples", "Errors", "Correct", covariate, f"Correct × {covariate}"], axis=1
    )


def print_choices(choices: dict[str, pd.DataFrame], cells: pd.DataFrame, most: int = 6) -> pd.DataFrame:
    """Return where missing puzzles can have been, as text.

    Parameters
    ----------
    choices : dict
        `consistency.missing_choices` by model.
    cells : DataFrame
        The reconstructed cells, which say which choice is in use.
    most : int
        So many of a model's best choices are listed, besides the one in use and the design that lacks none.
    """
    rows = []
    for name, own in choices.items():
        missing, used = BY_NAME[name].missing, used_ratios(name, cells)
        listed = [place < most or ratios in (used, ()) for place, ratios in enumerate(own["ratios"])]
        for row in own[listed].itertuples():
            where = "; ".join(f"d = {d}: {ratio}%" for (d, _), ratio in zip(missing, row.ratios, strict=False))
            rows.append((name, where or "none missing", f"{row.beta_rho:.4f}", f"{row.misfit:.2f}",
                         "yes" if row.whole else "no", "yes" if row.ratios == used else ""))  # fmt: skip
    names = [
        "Model",
        "Ratio of the missing puzzles",
        HEADINGS["beta_rho"],
        "Misfit",
        r"$500\,T_\rho$ whole",
        "Used here",
    ]
    return pd.DataFrame(rows, columns=names)


def _name_rows(ax: Axes, models: list[str]) -> None:
    labels = [BY_NAME[model].label for model in models]
    ax.set_yticks(np.arange(len(models)), labels, size=8.5)
    ax.set_ylim(len(models) - 0.4, -0.6)
