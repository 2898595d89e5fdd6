"""Models that the paper does not have: their ranks among the paper's."""

from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from cogniload_repro.formats import format_name
from cogniload_repro.published import ALPHA
from cogniload_repro.robustness.uncertainty import correct_holm, fit_quadratics, standard_error
from cogniload_repro.statistics.cell_tables import accuracy_by
from cogniload_repro.statistics.design import GRID

_CELL = ["N", "ratio_pct", "d"]


def rank_models(own: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy and rank of each model among the paper's, which are taken on the model's own cells.

    One row per model: model, total (answers), cells (of the paper's grid), accuracy, low, high (90% Wilson interval);
    rank among the paper's models, best and worst rank that the tests against each of them leave open (Holm, 5%), of
    (models), and nearest (the closest of them), by accuracy, and by ECL50 with the suffix _ecl50. ECL50 is
    missing without a finite fit.
    """
    rows, known = [], {}
    printed = pd.MultiIndex.from_frame(paper[_CELL])
    for model, cells in own.groupby("model", sort=False):
        asked = pd.MultiIndex.from_frame(cells[_CELL])
        key = tuple(sorted(asked))
        if key not in known:  # most models share their cells
            known[key] = _estimate(paper[printed.isin(key)])
        mine = _estimate(cells)
        row = {"model": model, "total": cells["total"].sum(), "cells": asked.isin(printed).sum()}
        row |= next(iter(accuracy_by(cells, "model").to_dict("records")), {})
        for quantity, suffix in (("accuracy", ""), ("ecl50", "_ecl50")):
            if len(mine):
                row |= {name + suffix: value for name, value in _rank(mine.iloc[0], known[key], quantity).items()}
        rows.append(row)
    ranks = [name + suffix for suffix in ("", "_ecl50") for name in ("rank", "best", "worst", "of", "nearest")]
    return pd.DataFrame(rows).reindex(columns=["model", "total", "cells", "accuracy", "low", "high", *ranks])


def _estimate(cells: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy and log10 ECL50 of models with a finite fit, each with its standard error."""
    return pd.DataFrame(
        {
            "model": fit.model,
            "accuracy": fit.k.sum() / fit.n.sum(),
            "se_accuracy": np.sqrt(fit.n @ (fit.accuracy * (1 - fit.accuracy))) / fit.n.sum(),
            "ecl50": fit.points["ecl50"],
            "se_ecl50": standard_error(fit, "ecl50"),
        }
        for fit in fit_quadratics(cells)
    )


def _rank(mine: pd.Series, others: pd.DataFrame, quantity: str) -> dict[str, object]:
    """Return the rank of one estimate among others, by tests of its difference from each."""
    others = others.dropna(subset=[quantity, f"se_{quantity}"])
    if others.empty or not np.isfinite([mine[quantity], mine[f"se_{quantity}"]]).all():
        return {}
    difference = others[quantity] - mine[quantity]
    p = 2 * norm.sf(abs(difference) / np.hypot(others[f"se_{quantity}"], mine[f"se_{quantity}"]))
    differs, count = correct_holm(p) < ALPHA, len(others) + 1
    found = {"rank": 1 + (difference > 0).sum(), "best": 1 + (differs & (difference > 0)).sum()}
    found |= {"worst": count - (differs & (difference < 0)).sum(), "of": count}
    return found | {"nearest": others["model"][abs(difference).idxmin()]}


def describe_rank(row: Any) -> str:
    """Return a row of `rank_models` as a sentence."""
    parts = []
    if pd.notna(row.accuracy):
        parts.append(f"accuracy {row.accuracy:.1%} (90% interval {row.low:.1%} to {row.high:.1%})")
    if pd.notna(row.rank):
        parts.append(f"rank {row.rank:.0f} of {row.of:.0f} (ranks {row.best:.0f} to {row.worst:.0f} are not rejected)")
    if pd.notna(row.rank_ecl50):
        best, worst = f"{row.best_ecl50:.0f}", f"{row.worst_ecl50:.0f}"
        parts.append(f"rank {row.rank_ecl50:.0f} of {row.of_ecl50:.0f} by ECL50 ({best} to {worst})")
    found = ", ".join(parts) or "no finite fit and so no rank"
    answers = f"{row.total:,} answers in {row.cells} of the paper's {len(GRID)} cells"
    return f"Your model {format_name(row.model)}: {found}; {answers}."
