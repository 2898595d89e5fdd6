"""The chapter on the generator: pictures of what it draws, one panel a difficulty, and its tables as text."""

from collections.abc import Iterable
from pathlib import Path

import matplotlib as mpl
import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from cogniload_repro.formats import NONE
from cogniload_repro.presentation.fragments import Fragment, show_picture, show_sentence
from cogniload_repro.presentation.style import STYLE, WIDTH_IN
from cogniload_repro.puzzles.measure import REASONS, Measures, count_failures, profile_places
from cogniload_repro.puzzles.ontology import ontology
from cogniload_repro.puzzles.puzzle import Puzzle, Statement

_PANEL_IN, _FOOT_IN = 1.6, 0.85
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
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
            _bars(ax, relative.index.to_numpy() + shift, relative, error, color, label)
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


def show_panels(figure: Figure, name: str, build: str | Path, *, caption: str, note: str, empty: str) -> Fragment:
    """Return a picture of this chapter, described by the range of values in each panel.

    Parameters
    ----------
    figure, name, build, caption, note
        As `fragments.show_picture` takes them; the first sentence of the caption opens the description.
    empty : str
        The sentence that takes the picture's place if there is no panel.
    """
    panels = [f"{ax.get_title().replace('$', '')}: {_range(ax)}" for ax in figure.axes if ax.lines]
    if not panels:
        return show_sentence(empty, name)
    alt = f"{caption.split('. ')[0]}. One panel a difficulty, with values at {'; '.join(panels)}."
    return show_picture(figure, name, build, caption=caption, alt=alt, note=note)


def print_replay(puzzle: Puzzle) -> pd.DataFrame:
    """Return a drawn puzzle step by step: who changes, and what then holds for the person of interest."""
    steps = zip([None, *puzzle.statements], puzzle.states(), strict=True)
    before, rows = next(puzzle.states()), []
    for number, (statement, states) in enumerate(steps):
        changed = [person for person in puzzle.people if states[person] != before[person]]
        own = {name.replace("_", " "): value for name, value in states[puzzle.poi].items()}
        rows.append(
            {"Step": str(number), "Kind": _kind(puzzle, statement), "Changes": ", ".join(changed) or NONE} | own
        )
        before = states
    return pd.DataFrame(rows)


def print_draws(tests: pd.DataFrame) -> pd.DataFrame:
    """Return the tests of what is drawn at random (`measure.check_draws`), as text."""
    return pd.DataFrame(
        {
            "Draw": [draw[0].upper() + draw[1:] for draw in tests["draw"]],
            "Number": tests["n"].map("{:,}".format),
            "$\\chi^2$ / df": [f"{row.chi2:.1f} / {row.df}" for row in tests.itertuples()],
            "$p$": tests["p"].map(lambda p: f"{p:.2f}" if p >= 0.01 else f"{p:.1g}"),
        }
    )


def print_failures(measures: Measures) -> pd.DataFrame:
    """Return by difficulty how many attempts fail, and by which rule, as text."""
    counts = count_failures(measures, "d")
    counts["longest"] = counts["d"].map(_longest(measures)).fillna(0).astype(int)
    shown = pd.DataFrame({"$d$": counts["d"].astype(str), "Statements": counts["statements"].map("{:,}".format)})
    shown["Failed, per 100"] = (100 * counts["rate"]).map("{:.1f}".format)
    for reason, words in zip(REASONS, ("Hay moves PoI", "Needle moves all", "Equal to PoI"), strict=True):
        shown[words] = counts[reason].map("{:,}".format)
    return shown.assign(**{"Most in a row": counts["longest"].astype(str)})


def print_spaces(cast: pd.DataFrame) -> pd.DataFrame:
    """Return by difficulty what cast and space of states are, and how much of it puzzles pass through, as text.

    ``cast`` is the puzzles of `measure.Measures`.
    """
    rows = []
    for d, own in cast.groupby("d"):
        sizes = sorted({*own["smallest"], *own["largest"]})
        row = {"$d$": f"{d}", "People": f"{own['people'].iloc[0]}", "Values": " or ".join(map(str, sizes)),
               "States": _power(own["space"].median()), "$(d+1)^d$": _power((d + 1.0) ** d)}  # fmt: skip
        lengths = own.groupby("N")[["states", "poi_states"]].mean()
        row |= {f"Seen, $N$ = {N:,}": f"{lengths.loc[N, 'states']:.0f}" if N in lengths.index else NONE
                for N in (cast["N"].min(), cast["N"].max())}  # fmt: skip
        row["PoI's"] = f"{lengths['poi_states'].iloc[-1]:.0f}"
        rows.append(row)
    return pd.DataFrame(rows)


def print_domains(levels: Iterable[int]) -> pd.DataFrame:
    """Return how many values each category has, and at which of these difficulties a puzzle cannot have d + 1."""
    levels = sorted(levels)
    rows = [(name, len(own), ", ".join(f"{d}" for d in levels if len(own) < d + 1) or "none")
            for name, own in ontology().values.items()]  # fmt: skip
    return pd.DataFrame(rows, columns=["Category", "Values", "Too few at d ="])


def print_lengths(lengths: pd.DataFrame) -> pd.DataFrame:
    """Return printed mean prompt lengths beside those of sets of puzzles and those expected, as text.

    Parameters
    ----------
    lengths : DataFrame
        ``data/companions/edition_lengths.csv``, whose columns ``benchmarks/edition_lengths.py`` describes.

    Returns
    -------
    DataFrame
        One row a task length and difficulty: the printed mean, then of each set the mean with the model's constant
        overhead, for the expected one its standard error, and in brackets the distance in standard errors.
    """
    keys = ["N", "d"]
    shown = lengths[[*keys, "printed"]].drop_duplicates().reset_index(drop=True)
    for name, own in lengths.groupby("set", sort=False):
        own = own.set_index(keys).loc[list(zip(shown["N"], shown["d"], strict=True))]
        means = (own["counted"] + own["overhead"]).map("{:.0f}".format)
        if name == "expected":
            means += " ± " + own["se"].map("{:.1f}".format)
        shown[name] = (means + own["z"].map(" ({:+.1f})".format)).to_numpy()
    shown["printed"] = shown["printed"].map("{:.0f}".format)
    words = {"N": "$N$", "d": "$d$", "printed": "Printed", "expected": "Expected"}
    return shown.astype(str).rename(columns=words | {"port": "Port draw", "elixir-1.17": "Elixir draw"})


def print_sameness(measures: Measures) -> pd.DataFrame:
    """Return by difficulty how often no two others differ after a hay, and how many states are left, as text."""
    own = measures.statements
    hays = own[~own["needle"]]
    alike = hays["distinct"].le(1).groupby(hays["d"]).mean()
    last = own[own["place"] == own["N"] - 1].groupby(["d", "N"])["distinct"].mean()
    rows = []
    for d, cast in measures.puzzles.groupby("d"):
        row = {"$d$": f"{d}", "Others": f"{cast['people'].iloc[0] - 1}"}
        row["All alike after a hay [%]"] = f"{100 * alike[d]:.1f}" if d in alike.index else NONE
        for N in (measures.puzzles["N"].min(), measures.puzzles["N"].max()):
            row[f"At the end, $N$ = {N:,}"] = f"{last[d, N]:.1f}" if (d, N) in last.index else NONE
        rows.append(row)
    return pd.DataFrame(rows)


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


def _range(ax: Axes) -> str:
    values = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in ax.lines])
    values = values[np.isfinite(values)]
    return f"{values.min():.3g} to {values.max():.3g}" if len(values) else NONE


def _longest(measures: Measures) -> pd.Series:
    """Return by difficulty the most attempts that failed one after the other."""
    return measures.failures.groupby(["d", "puzzle", "place"]).size().groupby("d").max()


def _kind(puzzle: Puzzle, statement: Statement | None) -> str:
    if statement is None:
        return "start"
    return "needle" if statement.reference == puzzle.poi else "hay"


def _power(number: float) -> str:
    """Return a number that may be huge: in full up to a million, beyond that as a power of ten."""
    if number < 1e6:
        return f"{number:,.0f}"
    mantissa, exponent = f"{number:.1e}".split("e")
    return f"{mantissa} × 10{str(int(exponent)).translate(_RAISED)}"
