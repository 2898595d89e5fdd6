"""Models that the paper does not have: their ranks, how answers ended, what was scored, how they were asked."""

import json
from collections.abc import Collection
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from scipy.stats import norm

from cogniload_repro.endings import CUT, STOPS
from cogniload_repro.formats import format_name
from cogniload_repro.models import NAMES
from cogniload_repro.outputs.settings import SETTINGS
from cogniload_repro.published import ALPHA
from cogniload_repro.robustness.families import correct_holm
from cogniload_repro.robustness.uncertainty import fit_quadratics, standard_error
from cogniload_repro.scoring.verdict import CONTEXT_BUCKET, CORRECT_BUCKETS
from cogniload_repro.statistics.accuracy import accuracy_by, evenly_asked
from cogniload_repro.statistics.design import GRID

_CELL = ["N", "ratio_pct", "d"]


def select_others(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of models that the paper does not have."""
    return frame[~frame["model"].isin(NAMES)].reset_index(drop=True)


def rank_models(own: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy and rank of each model among the paper's, which are taken on the model's own cells.

    Parameters
    ----------
    own, paper : DataFrame
        Cells of models that the paper does not have, and of its own.

    Returns
    -------
    DataFrame
        One row per model: model, total (answers), cells (of the paper's grid), accuracy, low, high (90% Wilson
        interval); rank among the paper's models, best and worst rank that the tests against each of them leave open
        (Holm, 5%), of (models), and nearest (the closest of them), by accuracy, and by ECL50 with the suffix _ecl50.
        Accuracy is missing for a model whose puzzles were chosen, ECL50 without a finite fit.
    """
    rows, known = [], {}
    for model, cells in own.groupby("model", sort=False):
        chosen = evenly_asked(cells).empty
        grid = pd.MultiIndex.from_frame(paper[_CELL].drop_duplicates() if chosen else cells[_CELL])
        key = tuple(sorted(grid))
        if key not in known:  # most models share their cells
            known[key] = _estimate(paper[pd.MultiIndex.from_frame(paper[_CELL]).isin(grid)])
        mine = _estimate(cells)
        shared = pd.MultiIndex.from_frame(cells[_CELL]).isin(pd.MultiIndex.from_frame(paper[_CELL])).sum()
        row = {"model": model, "total": cells["total"].sum(), "cells": shared}
        row |= dict.fromkeys(("accuracy", "low", "high"), np.nan)
        row |= (accuracy_by(cells, "model").to_dict("records") or [{}])[0]
        for quantity, suffix in (("accuracy", ""), ("ecl50", "_ecl50")):
            if len(mine) and not (chosen and quantity == "accuracy"):
                row |= {name + suffix: value for name, value in _rank(mine.iloc[0], known[key], quantity).items()}
        rows.append(row)
    ranks = [name + suffix for suffix in ("", "_ecl50") for name in ("rank", "best", "worst", "of", "nearest")]
    return pd.DataFrame(rows).reindex(columns=["model", "total", "cells", "accuracy", "low", "high", *ranks])


def _estimate(cells: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy and log10 ECL50 of models with a finite fit, each with its standard error."""
    rows = []
    for fit in fit_quadratics(cells):
        p, total = fit.accuracy, fit.n.sum()
        row = {
            "model": fit.model,
            "accuracy": fit.k.sum() / total,
            "se_accuracy": np.sqrt(fit.n @ (p * (1 - p))) / total,
        }
        rows.append(row | {"ecl50": fit.points["ecl50"], "se_ecl50": standard_error(fit, "ecl50")})
    return pd.DataFrame(rows)


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


def count_endings(scores: pd.DataFrame, averaged: Collection[str]) -> pd.DataFrame:
    """Count by model how answers ended, and what that does to accuracy.

    Parameters
    ----------
    scores : DataFrame
        The scores table.
    averaged : collection of str
        Models that were asked evenly; accuracies of the others are missing.

    Returns
    -------
    DataFrame
        One row per model: model, answers, a column for each of `endings.STOPS`, unclosed_trace, over (answers whose
        tokens fill the paper's context), accuracy (the paper's rule, all answers), finished (answers that nothing
        truncated: no limit, no open trace, no full context), accuracy_finished (fraction of these).
    """
    rows = []
    for model, own in scores.groupby("model", sort=False):
        stopped, over = own["stopped"].fillna("unknown"), own["bucket"] == CONTEXT_BUCKET
        finished = own[~(stopped.isin(CUT) | own["unclosed_trace"] | over)]
        is_averaged = model in averaged
        rows.append(
            {"model": model, "answers": len(own)}
            | {kind: int((stopped == kind).sum()) for kind in STOPS}
            | {"unclosed_trace": int(own["unclosed_trace"].sum()), "over": int(over.sum())}
            | {"accuracy": own["correct"].mean() if is_averaged else np.nan, "finished": len(finished)}
            | {"accuracy_finished": finished["correct"].mean() if len(finished) and is_averaged else np.nan}
        )
    return pd.DataFrame(rows)


def count_leaning(scores: pd.DataFrame) -> pd.DataFrame:
    """Count by model which window made answers correct.

    Returns
    -------
    DataFrame
        One row per model: model, answers, correct, a column for each correct bucket, alone (correct answers whose last
        sentence, after the reasoning, is correct by itself), leaning (the others), hedged (of these, answers that say
        they are not sure).
    """
    rows = []
    for model, own in scores.groupby("model", sort=False):
        right = own[own["correct"]]
        leaning = right[~right["answer_correct"]]
        rows.append(
            {"model": model, "answers": len(own), "correct": len(right)}
            | {bucket: int((right["bucket"] == bucket).sum()) for bucket in CORRECT_BUCKETS}
            | {"alone": len(right) - len(leaning), "leaning": len(leaning), "hedged": int(leaning["unsure"].sum())}
        )
    return pd.DataFrame(rows)


def read_settings(build: str | Path) -> pd.DataFrame:
    """Return what the sources of a build tell of how models were asked: model, and a column per `settings.SETTINGS`.

    Values are the source's words, with the responses that had each where they are several; "" where nothing is said.
    """
    sources = json.loads((Path(build) / "sources.json").read_text(encoding="utf-8"))
    rows = []
    for source in sources:
        for model in (model for model in source["models"] if model not in NAMES):
            told = source.get("settings", {}).get(model, {})
            rows.append({"model": model} | {name: _list_values(told.get(name, {})) for name in SETTINGS})
    return pd.DataFrame(rows, columns=["model", *SETTINGS])


def _list_values(counts: dict[str, int]) -> str:
    if len(counts) < 2:
        return "".join(counts)
    return ", ".join(f"{value} ({count:,})" for value, count in counts.items())
