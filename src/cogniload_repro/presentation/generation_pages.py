"""The chapter on the generator: figures and tables of drawn puzzles, and the numbers in its sentences."""

from collections.abc import Callable
from functools import partial, wraps
from pathlib import Path

import numpy as np
import pandas as pd
from matplotlib.axes import Axes

from cogniload_repro.formats import NONE
from cogniload_repro.presentation import generation_figures
from cogniload_repro.presentation.fragments import Fragment, show_frame, show_picture
from cogniload_repro.puzzles.measure import REASONS, Measures, check_draws, count_failures
from cogniload_repro.puzzles.ontology import ontology
from cogniload_repro.puzzles.puzzle import Puzzle
from cogniload_repro.puzzles.statement import Statement

_NOTHING = "Nothing to measure: no puzzle of this build is what the generator draws from its name."
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")
_BARS = "Bars: two standard errors to either side"
_FIGURES = {
    "places": (
        generation_figures.draw_places,
        f"Needles by tenth of the puzzle, relative to an even fall. {_BARS}. Line: what the formula gives as printed.",
    ),
    "conditions": (
        partial(generation_figures.draw_counts, what="conditions"),
        f"Statements by number of conditions, relative to equal chances. {_BARS}, at equal chances.",
    ),
    "updates": (
        partial(generation_figures.draw_counts, what="updates"),
        f"Statements by number of updates, relative to equal chances. {_BARS}, at equal chances.",
    ),
    "failures": (
        generation_figures.draw_failures,
        "Failed attempts per statement against the nominal needle ratio. Logarithmic; cells without any are left out.",
    ),
    "missing": (
        generation_figures.draw_missing,
        "Share of the cast that has no line in the text, against the nominal needle ratio. Means over puzzles.",
    ),
    "merging": (
        generation_figures.draw_merging,
        "Different states among the people other than the person of interest, after each statement of the longest "
        "puzzles. Means over puzzles.",
    ),
}


def _measured(show: Callable[..., "Fragment"]) -> Callable[..., "Fragment"]:
    """Make a piece of the page say so where there is nothing to measure."""

    @wraps(show)
    def guarded(measures: Measures, *arguments) -> Fragment:
        if measures.puzzles.empty:
            return Fragment(_NOTHING, f"<p>{_NOTHING}</p>")
        return show(measures, *arguments)

    return guarded


def show_replay(puzzle: Puzzle) -> Fragment:
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
    caption = (
        f"The statements applied in turn. The last {puzzle.d} columns hold the values of {puzzle.poi}, the person of "
        f"interest, who is asked for {puzzle.category.replace('_', ' ')}."
    )
    return show_frame(pd.DataFrame(rows), caption=caption)


@_measured
def show_draws(measures: Measures) -> Fragment:
    """Return the tests of what is drawn at random."""
    tests = check_draws(measures)
    shown = pd.DataFrame(
        {
            "Draw": [draw[0].upper() + draw[1:] for draw in tests["draw"]],
            "Number": tests["n"].map("{:,}".format),
            "$\\chi^2$ / df": [f"{row.chi2:.1f} / {row.df}" for row in tests.itertuples()],
            "$p$": tests["p"].map(lambda p: f"{p:.2f}" if p >= 0.01 else f"{p:.1g}"),
        }
    )
    return show_frame(shown, caption=f"Random draws against the chances they should have. {_extent(measures)}")


@_measured
def show_failures(measures: Measures) -> Fragment:
    """Return by difficulty how many attempts fail, and by which rule."""
    counts = count_failures(measures, "d")
    counts["longest"] = counts["d"].map(_longest(measures)).fillna(0).astype(int)
    shown = pd.DataFrame({"$d$": counts["d"].astype(str), "Statements": counts["statements"].map("{:,}".format)})
    shown["Failed, per 100"] = (100 * counts["rate"]).map("{:.1f}".format)
    for reason, words in zip(REASONS, ("Hay moves PoI", "Needle moves all", "Equal to PoI"), strict=True):
        shown[words] = counts[reason].map("{:,}".format)
    shown["Most in a row"] = counts["longest"].astype(str)
    caption = f"Attempts that failed, and the rule that they broke. {_extent(measures)}"
    return show_frame(shown, caption=caption)


@_measured
def show_spaces(measures: Measures) -> Fragment:
    """Return by difficulty what the cast and the space of states are, and how much of it puzzles pass through."""
    cast = measures.puzzles
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
    caption = (
        "Values of a category; states that one person can be in (their product, median); different ones seen in a "
        f"puzzle, on average, and the PoI's own in the longest. {_extent(measures)}"
    )
    return show_frame(pd.DataFrame(rows), caption=caption)


@_measured
def show_domains(measures: Measures) -> Fragment:
    """Return how many values each category has, and at which difficulties a puzzle cannot have d + 1 of them."""
    levels = sorted(measures.puzzles["d"].unique())
    values = ontology().values
    rows = [(name, len(own), ", ".join(f"{d}" for d in levels if len(own) < d + 1) or "none")
            for name, own in values.items()]  # fmt: skip
    shown = pd.DataFrame(rows, columns=["Category", "Values", "Too few at d ="])
    return show_frame(shown, caption="Values by category (Appendix G), and the difficulties here that ask for more.")


@_measured
def show_sameness(measures: Measures) -> Fragment:
    """Return by difficulty how often no two others differ after a hay, and how many states are left at the end."""
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
    caption = (
        "People other than the person of interest: share of hays after which all of them are in one state, and in how "
        f"many different states they are at the end, on average. {_extent(measures)}"
    )
    return show_frame(pd.DataFrame(rows), caption=caption)


@_measured
def show_figure(measures: Measures, name: str, build: str | Path) -> Fragment:
    """Draw one of the chapter's figures: places, conditions, updates, failures, missing or merging.

    The last two and the counts have no panel for d = 1, where there is nothing to see.
    """
    draw, caption = _FIGURES[name]
    figure = draw(measures)
    panels = [f"{ax.get_title().replace('$', '')}: {_range(ax)}" for ax in figure.axes if ax.lines]
    if not panels:
        return Fragment(_NOTHING, f"<p>{_NOTHING}</p>")
    alt = f"{caption.split('. ')[0]}. One panel a difficulty, with values at {'; '.join(panels)}."
    drawn = f"{caption} {_extent(measures)} Drawn here, not reconstructed"
    return show_picture(figure, f"generator_{name}", build, caption=drawn, alt=alt)


def _range(ax: Axes) -> str:
    values = np.concatenate([np.asarray(line.get_ydata(), dtype=float) for line in ax.lines])
    values = values[np.isfinite(values)]
    return f"{values.min():.3g} to {values.max():.3g}" if len(values) else NONE


def _extent(measures: Measures) -> str:
    return f"{len(measures.puzzles):,} puzzles, {len(measures.statements):,} statements."


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
