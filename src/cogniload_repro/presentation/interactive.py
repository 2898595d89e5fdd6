"""The figures of accuracies as data that a page draws when a reader asks: the same frame as the picture's."""

from typing import Any

import pandas as pd

from cogniload_repro.formats import format_name
from cogniload_repro.presentation.figures import AXES, find_panels, panel_accuracy
from cogniload_repro.presentation.inline import write_json
from cogniload_repro.presentation.style import pens
from cogniload_repro.statistics.accuracy import evenly_asked, order_models

_COLUMNS = ("accuracy", "low", "high", "lowest", "highest")


def figure_data(name: str, cells: pd.DataFrame, provenance: str) -> dict[str, Any]:
    """Return what one of the figures shows, ready for JSON.

    Returns
    -------
    dict
        models (name, family, color, own) and panels: across, label and level (what the panel holds fixed, as it is
        written) with rows: place of the model, the value along the axis, n, correct, accuracy, ends of its interval
        and, where they are known, of the range over other tables of counts.
    """
    cells = evenly_asked(cells)
    drawn = pens(order_models(cells.loc[cells["n"] > 0, "model"]))
    places = {model: place for place, model in enumerate(drawn)}
    panels = []
    for panel in find_panels(name):
        shown = panel_accuracy(panel, cells, banded=provenance == "reconstructed")
        rows = []
        for row in shown.to_dict("records"):
            numbers = [round(row[column], 4) if pd.notna(row.get(column)) else None for column in _COLUMNS]
            rows.append([places[row["model"]], row[panel.across], row["n"], row["correct"], *numbers])
        title = f"{AXES[panel.at][0].strip('$')} = {panel.level}".replace(r"\rho", "ρ") if panel.at else ""
        label = AXES[panel.across][1].replace("$", "").replace(r"\rho", "ρ")
        fixed = {panel.at: panel.level} if panel.at else {}
        panels.append({"across": panel.across, "label": label, "title": title, "fixed": fixed, "rows": rows})
    models = [
        {"name": format_name(model), "family": pen.family, "color": pen.color, "own": pen.own}
        for model, pen in drawn.items()
    ]
    return {"models": models, "panels": panels}


def answering_figure(name: str, cells: pd.DataFrame, provenance: str) -> str:
    """Return, as Markdown, the place below a picture where the page's script puts the figure that answers."""
    data = write_json(figure_data(name, cells, provenance))
    script = f'<script type="application/json">{data}</script>'
    return f'```{{raw}} html\n<div class="figure-answers" data-figure="{name}">{script}</div>\n```'
