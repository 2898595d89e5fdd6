"""Figures as data that a page draws when a reader asks: the same frames as the pictures'.

A figure has models and panels. A panel's rows begin with the place of their model: then the level, n, count, share,
the ends of its interval and of the range over the reconstructions. Numbers that are not known are None.
"""

from collections.abc import Mapping
from typing import Any

import pandas as pd
from scipy.stats import norm

from cogniload_repro.formats import format_name
from cogniload_repro.presentation.figures import AXES, find_panels, panel_accuracy
from cogniload_repro.presentation.inline import write_json
from cogniload_repro.presentation.style import pens
from cogniload_repro.published import INTERVAL_ALPHA
from cogniload_repro.statistics.accuracy import evenly_asked, order_models

#: What stands for the mathematics of a label; what is longer comes first.
_LETTERS = {r"\mathrm": "", "_{50}": "50", r"\beta": "β", r"\rho": "ρ", "^2": "²", "_": " ", "$": "", "{": "", "}": ""}
#: Figures that are drawn by the page too; the others are pictures only.
INTERACTIVE = ("figure1", "figure3", "figure4")
_SHARES = ("accuracy", "low", "high", "lowest", "highest")


def accuracy_data(name: str, cells: pd.DataFrame, provenance: str) -> dict[str, Any]:
    """Return one of the paper's figures (a key of `figures.FIGURES`): a panel of accuracies for each of its own."""
    cells = evenly_asked(cells)
    places = _place(cells.loc[cells["total"] > 0, "model"])
    panels = []
    for panel in find_panels(name):
        shown = panel_accuracy(panel, cells, banded=provenance == "reconstructed")
        title = f"{AXES[panel.at][0].strip('$')} = {panel.level}".replace(r"\rho", "ρ") if panel.at else ""
        fixed = {panel.at: panel.level} if panel.at else {}
        panels.append(_course(shown, places, panel.across, title) | {"fixed": fixed})
    return _figure(places, _share(cells), panels) | {"up": "Mean accuracy", "counted": "Correct", "most": 1}


def answering_figure(name: str, data: Mapping[str, Any]) -> str:
    """Return, as Markdown, the place below a picture where the page puts its interactive figure, if it has one."""
    if name not in INTERACTIVE:
        return ""
    script = f'<script type="application/json">{write_json(data)}</script>'
    place = name.replace("_", "-")  # as the picture's label stands in the page
    return f'```{{raw}} html\n<div class="figure-answers" data-figure="{place}">{script}</div>\n```'


def _figure(places: Mapping[str, int], score: pd.Series, panels: list[dict[str, Any]]) -> dict[str, Any]:
    """Return models (name, family, color, own, and the score by which the first few are chosen), z and panels."""
    models = [
        {"name": format_name(name), "family": pen.family, "color": pen.color, "own": pen.own, "score": score.get(name)}
        for name, pen in pens(list(places)).items()
    ]
    return {"models": models, "z": norm.ppf(1 - INTERVAL_ALPHA / 2), "panels": panels}


def _place(models: pd.Series) -> dict[str, int]:
    return {model: place for place, model in enumerate(order_models(models))}


def _share(cells: pd.DataFrame) -> pd.Series:
    sums = cells.groupby("model")[["correct", "total"]].sum()
    return sums["correct"] / sums["total"]


def _course(shown: pd.DataFrame, places: Mapping[str, int], across: str, title: str) -> dict[str, Any]:
    rows = [
        [places[row["model"]], row[across], row["total"], row["correct"], *_round(*(row.get(one) for one in _SHARES))]
        for row in shown.to_dict("records")
    ]
    return {"across": across, "label": _plain(AXES[across][1]), "title": title, "rows": rows}


def _plain(label: str) -> str:
    """Return an axis label without its mathematics."""
    for mark, letter in _LETTERS.items():
        label = label.replace(mark, letter)
    return label


def _round(*numbers: float | None) -> list[float | None]:
    return [None if number is None or pd.isna(number) else round(number, 4) for number in numbers]
