"""The paper's figures in words: captions, and descriptions for readers who do not see them."""

import re
from collections.abc import Iterable

import pandas as pd

from cogniload_repro.analysis.overflows import MARKED_SHARE
from cogniload_repro.book.figures import (
    AXES,
    LAST_CLAUSE,
    NAMED,
    Panel,
    PaperFigure,
    without_shortcut,
)
from cogniload_repro.book.markdown import escape
from cogniload_repro.counts.feasible import COUNT
from cogniload_repro.grid import PAPER_GRID
from cogniload_repro.published import CONFIDENCE
from cogniload_repro.regression.cell_tables import coverage, describe_cells
from cogniload_repro.regression.reconstructions import from_printed_tables


def caption_figure(figure: PaperFigure) -> str:
    """Return a figure's caption as MyST Markdown: its finding, and what points and bars mean.

    The last sentence has no full stop.
    """
    models, answers = _count_models_and_answers(figure)
    axes = _join(dict.fromkeys(AXES[panel.across].symbol for panel in figure.panels))
    levels = _join(panel.title for panel in figure.panels if panel.at)
    at_levels = f" at {levels}" if levels else ""
    is_large = len(figure.panels) == 1
    sentences = [
        _describe_finding(figure),
        f"Mean accuracy of {models} ({answers} answers) against {axes}{at_levels}",
        "Each point averages over all levels of the other parameters",
    ]
    if is_large:
        sentences.append(
            "Bars: 90% Wilson intervals. Levels are equally spaced, models shifted "
            "sideways"
        )
    elif len(figure.pens) > len(NAMED):
        sentences.append(
            "Some models and the median of all are named; grey: the others"
        )
    if LAST_CLAUSE in figure.pens:
        sentences.append(
            "Last clause: the shortcut that repeats the last value that any statement "
            "sets"
        )
    if figure.left_out:
        sentences.append(f"Not drawn: {figure.left_out:,} more models")
    if any(accuracy["marked"].any() for accuracy in figure.accuracies):
        sentences.append(
            f"Hollow points: more than {MARKED_SHARE:.0%} of the model's answers ran "
            "out of context"
        )
    if figure.banded:
        sentences.append(_describe_bands(figure))
    return ". ".join(filter(None, sentences))


def describe_figure(figure: PaperFigure) -> str:
    """Return the text alternative of a figure, for readers who cannot see it."""
    kind = f"{len(figure.panels)} line charts"
    if len(figure.panels) == 1:
        kind = "Line chart with 90% intervals"
    models, _ = _count_models_and_answers(figure)
    sentences = [
        f"{kind} of mean accuracy, {models}",
        re.sub(r"\$\\?(\w+)\$", r"\1", _describe_finding(figure)),
        *map(_describe_medians, figure.panels, figure.accuracies),
        describe_cells(without_shortcut(figure.cells)),
    ]
    return ". ".join(filter(None, sentences)) + "."


def _count_models_and_answers(figure: PaperFigure) -> tuple[str, str]:
    """Return the numbers of models and of answers that a figure shows, as words."""
    cells = without_shortcut(figure.cells)
    at = figure.panels[0].at
    if at:
        cells = cells[cells[at].isin([panel.level for panel in figure.panels])]
    count = cells["model"].nunique()
    return f"{count} model{'s' * (count != 1)}", f"{int(cells['total'].sum()):,}"


def _describe_finding(figure: PaperFigure) -> str:
    """Return the finding: fall along d and N, trough along rho, or rise from the trough."""
    findings = []
    rises = []
    for panel, accuracy in zip(figure.panels, figure.accuracies, strict=True):
        by_level = without_shortcut(accuracy).pivot_table(
            "accuracy", "model", panel.across
        )
        if by_level.shape[1] < 2:
            continue
        if panel.at:
            rise = by_level.iloc[:, -1] - by_level.min(axis=1)
            rises.append(f"{100 * rise.median():.0f} points at {panel.title}")
        else:
            findings.append(_compare_ends(panel, by_level))
    if rises:
        findings.append(
            f"higher at the right end than at the lowest point by {_join(rises)} "
            "(median over models)"
        )
    return f"Accuracy is {_join(findings)}" if findings else ""


def _compare_ends(panel: Panel, by_level: pd.DataFrame) -> str:
    """Return in how many models accuracy falls along an axis, or is lowest inside it."""
    symbol = AXES[panel.across].symbol
    first = by_level.iloc[:, 0]
    last = by_level.iloc[:, -1]
    if panel.across == "ratio_pct":
        lowest = by_level.min(axis=1)
        agree = (lowest < first) & (lowest < last)
        finding = f"lowest between the ends of {symbol}"
    else:
        agree = last < first
        finding = f"lower at {symbol} = {last.name} than at {first.name}"
    return f"{finding} in {agree.sum()} of {len(by_level)} models"


def _describe_bands(figure: PaperFigure) -> str:
    """Return the width of the bands; "" if no model is reconstructed."""
    along_rho = [
        accuracy
        for panel, accuracy in zip(figure.panels, figure.accuracies, strict=True)
        if panel.across == "ratio_pct"
    ]
    points = pd.concat(along_rho or figure.accuracies)
    half_width = (points["highest"] - points["lowest"]) / 2
    if half_width.isna().all():
        return ""
    if half_width.max() < 1e-9:
        return "All reconstructions give the same points"
    widest = figure.pens[points["model"].iloc[half_width.argmax()]].label
    has_other_panels = len(along_rho) < len(figure.panels)
    is_published = has_other_panels and _covers_paper_grid(figure)
    return (
        f"Points along ρ: mean of the {COUNT} reconstructions; shaded: their "
        f"{CONFIDENCE} prediction interval (median half-width "
        f"{100 * half_width.median():.0f} points, largest "
        f"{100 * half_width.max():.0f}, {escape(widest)})"
        f"{'; the other panels are published' if is_published else ''}"
    )


def _covers_paper_grid(figure: PaperFigure) -> bool:
    """Return whether all models drawn are reconstructed on the paper's whole grid."""
    models = without_shortcut(figure.cells)
    fewest, _ = coverage(models)
    return bool(from_printed_tables(models).all()) and fewest == len(PAPER_GRID)


def _describe_medians(panel: Panel, accuracy: pd.DataFrame) -> str:
    """Return the median accuracy at each level of a panel."""
    axis = AXES[panel.across]
    start = f"Against {axis.name}"
    if panel.at:
        start = f"At {panel.at} = {panel.level}, against {axis.name}"
    models = without_shortcut(accuracy)
    median = models.groupby(panel.across)["accuracy"].median()
    if median.empty:
        return f"{start}: no cells in this grid"
    points = [f"{share:.0%} at {level:g}{axis.unit}" for level, share in median.items()]
    several = len(models["model"].unique()) > 1
    subject = "the median over models" if several else "accuracy"
    return f"{start}, {subject} is {', '.join(points)}"


def _join(words: Iterable[str]) -> str:
    """Return words joined by commas and "and"."""
    *head, last = list(words) or [""]
    return f"{', '.join(head)} and {last}" if head else last
