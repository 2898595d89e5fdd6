"""Two models compared, as text for a terminal."""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pandas as pd

from cogniload_repro.analysis.comparisons import (
    compare_answers,
    compare_models,
)
from cogniload_repro.analysis.differences import judge_difference
from cogniload_repro.analysis.overflows import MARKED_SHARE
from cogniload_repro.analysis.shortcut import shortcut_use
from cogniload_repro.formats import display_names, format_frame, format_points
from cogniload_repro.models import resolve_model
from cogniload_repro.published import CONFIDENCE
from cogniload_repro.regression.cell_tables import describe_cells, load_cells
from cogniload_repro.storage import partition_path


def describe_pair(
    build: Path, first: str, second: str, loads: Sequence[list[str]], margin: float
) -> Iterator[str]:
    """Yield paragraphs that compare two models of a build: accuracies, overflows, answers.

    Without a build, the committed counts of the paper's models are compared. The first table is
    overall; `loads` has the columns of the others. Differences below `margin` are negligible.
    """
    has_cells = (build / "cells.parquet").exists()
    cells = load_cells(build if has_cells else None)
    names = display_names(cells["model"])
    first = resolve_model(first, cells["model"])
    second = resolve_model(second, cells["model"])
    titles = [names[first], names[second]]
    yield " minus ".join(titles)
    for columns in ([], *loads):
        differences = compare_models(cells, first, second, columns, margin)
        yield _format_differences(differences, columns, titles) + "\n"
    counts = {model: cells[cells["model"] == model] for model in (first, second)}
    for model, of_model in counts.items():
        for remark in _describe_counts(of_model):
            yield f"{names[model]}: {remark}"
    origin = describe_cells(cells[cells["model"].isin([first, second])])
    if origin:
        yield f"{origin}."
    scored = [model for model, of_model in counts.items() if _are_scored(of_model)]
    if scored:
        yield from _describe_answers(build, scored, margin)


def _are_scored(cells: pd.DataFrame) -> bool:
    return bool((cells["provenance"] == "scored").all())


def _describe_counts(cells: pd.DataFrame) -> Iterator[str]:
    """Yield remarks on a model's counts: many overflows, or no single answers behind them."""
    lost = cells["ctx"].sum() / cells["total"].sum()
    if lost > MARKED_SHARE:
        yield f"{lost:.0%} of the answers ran out of context and count as wrong."
    if not _are_scored(cells):
        yield (
            "no single answers exist, its counts are reconstructed from the printed "
            "tables."
        )


def _format_differences(
    differences: pd.DataFrame, loads: list[str], titles: list[str]
) -> str:
    """Return a table of differences in points; those that are not identified have no p-value."""
    columns: dict = {load: (load, ",.10g") for load in loads}
    if "ratio_pct" in columns:
        columns["ratio_pct"] = ("rho (%)", "g")
    columns["cells"] = ("cells", 0)
    for place in ("first", "second"):
        columns[f"accuracy_{place}"] = (place, ".1%")
    if differences["identified"].all():
        interval = "difference", "ci_low", "ci_high"
        columns[interval] = (f"difference ({CONFIDENCE})", format_points)
        columns["p_holm"] = ("p (Holm)", ".2g")
    else:
        interval = "difference", "difference_p10", "difference_p90"
        heading = "median and range over the reconstructions"
        columns[interval] = (heading, format_points)
    columns["verdict"] = ("verdict", str)
    texts = format_frame(differences, columns)
    # a model may be called like another column, so its name is set last
    texts = texts.rename(columns=dict(zip(("first", "second"), titles, strict=True)))
    return texts.to_string(index=False)


def _describe_answers(build: Path, models: list[str], margin: float) -> Iterator[str]:
    """Yield each scored model's use of the last clause, then both models on the same puzzles."""
    names = display_names(models)
    scores = [
        pd.read_parquet(partition_path(build / "scores", name)) for name in models
    ]
    baselines = pd.read_parquet(build / "baselines.parquet")
    for row in shortcut_use(pd.concat(scores), baselines).itertuples():
        yield f"{names[row.model]}: {_describe_kinds(row)}"
    if len(models) < 2:
        return
    first, second = (frame.set_index("name")["correct"] for frame in scores)
    if first.index.intersection(second.index).empty:
        return
    counts, difference = compare_answers(first, second, margin)
    outcomes = [f"{count:,} {word.replace('_', ' ')}" for word, count in counts.items()]
    yield f"{counts.sum():,} puzzles answered by both: {', '.join(outcomes)}"
    verdict = judge_difference(difference.p, difference.p_equivalence)
    yield f"{_format_difference(difference)}, McNemar p = {difference.p:.2g}: {verdict}"


def _describe_kinds(row: Any) -> str:
    """Return a model's accuracy where the last clause is right and where it is wrong."""
    right = f"{row.correct_right:,} of {row.answers_right:,} correct where the last clause is right"
    wrong = f"{row.correct_wrong:,} of {row.answers_wrong:,} where it is wrong"
    within = "no cell has puzzles of both kinds"
    if row.answers:
        within = f"within cells, {_format_difference(row)}"
    return f"{right}, {wrong}; {within}"


def _format_difference(difference: Any) -> str:
    points = format_points(difference.difference, difference.ci_low, difference.ci_high)
    return f"difference in points ({CONFIDENCE} interval): {points}"
