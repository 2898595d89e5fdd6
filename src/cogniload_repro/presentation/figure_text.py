"""What the figures show, in words: captions and descriptions computed from the same cells."""

import pandas as pd

from cogniload_repro.presentation.figures import AXES, Panel, find_panels, panel_accuracy
from cogniload_repro.presentation.markdown import escape
from cogniload_repro.presentation.style import pens
from cogniload_repro.reconstruction.feasible import COUNT
from cogniload_repro.robustness.overflows import MARKED_SHARE
from cogniload_repro.statistics.accuracy import evenly_asked
from cogniload_repro.statistics.provenance import source_note

_SPOKEN = {"d": "intrinsic difficulty d", "N": "task length N", "ratio_pct": "needle ratio rho"}
_UNITS = {"d": "", "N": "", "ratio_pct": "%"}


def figure_caption(name: str, cells: pd.DataFrame, provenance: str) -> str:
    """Return a figure's caption: what is plotted, the numbers of models and answers, what the bars mean.

    MyST Markdown, without the last full stop.
    """
    panels = find_panels(name)
    models, answers = _extent(panels, cells)
    axes = _join(dict.fromkeys(AXES[panel.across][0] for panel in panels))
    at = _join(f"{AXES[panel.at][0]} = {panel.level}" for panel in panels if panel.at)
    sentences = [
        f"Mean accuracy of {models} ({answers} answers) against {axes}{f' at {at}' if at else ''}",
        "Each point averages over all levels of the other parameters",
    ]
    if len(panels) == 1:
        sentences.append("Bars: 90% Wilson intervals. Levels are equally spaced, models shifted sideways")
    if any(panel_accuracy(panel, cells)["marked"].any() for panel in panels):
        sentences.append(f"Hollow points: more than {MARKED_SHARE:.0%} of the model's answers ran out of context")
    if provenance == "reconstructed" and (range_ := _range(panels, cells)):
        sentences.append(range_)
    return ". ".join(sentences)


def alt_text(name: str, cells: pd.DataFrame, provenance: str = "") -> str:
    """Return a short description of a figure for readers who do not see it.

    It tells the course of the median over models, the extremes at each panel's right end and, with a
    provenance word, where the data come from. Numbers are accuracies between 0 and 1.
    """
    panels = find_panels(name)
    models, _ = _extent(panels, cells)
    kind = "Line chart with 90% intervals" if len(panels) == 1 else f"{len(panels)} line charts"
    sentences = [f"{kind} of mean accuracy, {models}.", *(_describe(panel, cells, provenance) for panel in panels)]
    if provenance and (note := source_note(cells, provenance)):
        sentences.append(f"{note}.")
    return " ".join(sentences)


def _range(panels: tuple[Panel, ...], cells: pd.DataFrame) -> str:
    """Tell how wide the bands are, of panels along rho where there are others; nothing if no model is reconstructed."""
    along_rho = [panel for panel in panels if panel.across == "ratio_pct"]
    points = pd.concat([panel_accuracy(panel, cells, banded=True) for panel in along_rho or panels])
    half_width = (points["highest"] - points["lowest"]) / 2
    if half_width.isna().all():
        return ""
    if half_width.max() < 1e-9:
        return "All reconstructions give the same points"
    widest = escape(_label(points["model"].iloc[half_width.argmax()]))
    others = "; the other panels are published" if len(along_rho) < len(panels) else ""
    return (
        f"Points along ρ: mean of the {COUNT} reconstructions that are not smooth; shaded: their 95% prediction "
        f"interval (median half-width {half_width.median():.3f}, largest {half_width.max():.3f}, {widest}){others}"
    )


def _describe(panel: Panel, cells: pd.DataFrame, provenance: str) -> str:
    where = f"At {panel.at} = {panel.level}, against" if panel.at else "Against"
    start = f"{where} {_SPOKEN[panel.across]}"
    accuracy = panel_accuracy(panel, cells, banded=provenance == "reconstructed")
    if accuracy.empty:
        return f"{start}: no cells in this grid."
    unit = _UNITS[panel.across]
    median = accuracy.groupby(panel.across)["accuracy"].median()
    first, last, lowest = median.index[0], median.index[-1], median.idxmin()
    course = [f"{median[first]:.2f} at {first:g}{unit}"]
    if lowest not in (first, last):
        course.append(f"its lowest, {median[lowest]:.2f}, at {lowest:g}{unit}")
    if last != first:
        course.append(f"{median[last]:.2f} at {last:g}{unit}")
    end = accuracy[accuracy[panel.across] == last].set_index("model")["accuracy"]
    extremes = f"; at {last:g}{unit} {_who(end, end.max())} highest, {_who(end, end.min())} lowest"
    models = accuracy["model"].unique()
    subject = "the median over models" if len(models) > 1 else _label(models[0])
    return f"{start}: {subject} is {', then '.join(course)}{extremes if len(end) > 1 else ''}."


def _label(model: str) -> str:
    return pens([model])[model].label


def _who(accuracy: pd.Series, extreme: float) -> str:
    """Name the model at an extreme, or count those that share it."""
    models = accuracy.index[accuracy == extreme]
    return f"{_label(models[0]) if len(models) == 1 else f'{len(models)} models'} ({extreme:.2f})"


def _extent(panels: tuple[Panel, ...], cells: pd.DataFrame) -> tuple[str, str]:
    """Return the number of models drawn, as words, and the number of answers behind the figure."""
    even = evenly_asked(cells)
    kept = pd.concat([even if p.at is None else even[even[p.at] == p.level] for p in panels])
    kept = kept[kept["total"] > 0].drop_duplicates(["model", "N", "d", "ratio_pct"])
    count = kept["model"].nunique()
    return f"{count} model{'s' if count != 1 else ''}", f"{int(kept['total'].sum()):,}"


def _join(words) -> str:
    *head, last = list(words) or [""]
    return f"{', '.join(head)} and {last}" if head else last
