"""Models that the paper does not have: their places, how answers ended, what was scored, how they were asked."""

import json
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
import pandas as pd

from cogniload_repro.endings import CUT, STOPS
from cogniload_repro.models import NAMES
from cogniload_repro.outputs.settings import SETTINGS
from cogniload_repro.robustness.comparisons import compare_pairs, place_outsiders, rank_intervals
from cogniload_repro.scoring.verdict import CONTEXT_BUCKET, CORRECT_BUCKETS
from cogniload_repro.statistics.accuracy import accuracy_by

_CELL = ["N", "ratio_pct", "d"]


def select_others(frame: pd.DataFrame) -> pd.DataFrame:
    """Return the rows of models that the paper does not have."""
    return frame[~frame["model"].isin(NAMES)].reset_index(drop=True)


def place_models(own: pd.DataFrame, paper: pd.DataFrame) -> pd.DataFrame:
    """Return accuracy, place and classes of each model among the paper's, all of them on the model's own cells.

    Parameters
    ----------
    own, paper : DataFrame
        Cells of models that the paper does not have, and of its own.

    Returns
    -------
    DataFrame
        One row a model: model, total (answers), cells (of the paper's grid), accuracy, low, high (90% Wilson interval),
        rank, best and worst of so many models (of) by accuracy and by ECL50 (suffix _ecl50; missing without a finite
        fit), and tiers (classes of the paper with members that it cannot be told from by ECL50).
    """
    rows = []
    for model, cells in own.groupby("model", sort=False):
        same = paper.merge(cells[_CELL], on=_CELL)
        together = pd.concat([same, cells], ignore_index=True)
        pooled = accuracy_by(cells, "model").to_dict("records")  # none of one whose puzzles were chosen
        row = {"model": model, "total": cells["total"].sum(), **dict.fromkeys(("accuracy", "low", "high"), np.nan)}
        row |= pooled[0] if pooled else {}
        row |= {"cells": same[_CELL].drop_duplicates().shape[0], "tiers": ""}
        for quantity, suffix in (("accuracy", ""), ("ecl50", "_ecl50")):
            pairs = compare_pairs(together, quantity)
            ranks = rank_intervals(pairs).set_index("model")
            row |= {name + suffix: ranks[name].get(model, pd.NA) for name in ("rank", "best", "worst")}
            row[f"of{suffix}"] = len(ranks)
        tied = place_outsiders(pairs).query("model == @model and tied > 0")
        rows.append(row | {"tiers": ", ".join(tied["tier"])})
    return pd.DataFrame(rows)


def show_place(rank: object, best: object, worst: object, of: int) -> str:
    """Return a place with those that are possible, and among how many; "--" where there is none."""
    if pd.isna(rank):  # type: ignore[call-overload]
        return "--"
    return f"{rank} of {of}" + (f" ({best} to {worst})" if best != worst else "")


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
        One row a model: model, answers, a column for each of `endings.STOPS`, unclosed_trace, over (answers whose
        tokens fill the paper's context), accuracy (the paper's rule, all answers), finished (answers that nothing cut
        off: no limit, no open trace, no full context), accuracy_finished (fraction of these).
    """
    rows = []
    for model, own in scores.groupby("model", sort=False):
        stopped = own["stopped"].fillna("unknown")
        over = own["bucket"] == CONTEXT_BUCKET
        finished = own[~(stopped.isin(CUT) | own["unclosed_trace"] | over)]
        rows.append(
            {"model": model, "answers": len(own)}
            | {kind: int((stopped == kind).sum()) for kind in STOPS}
            | {"unclosed_trace": int(own["unclosed_trace"].sum()), "over": int(over.sum())}
            | {"accuracy": own["correct"].mean() if model in averaged else np.nan, "finished": len(finished)}
            | {"accuracy_finished": finished["correct"].mean() if len(finished) and model in averaged else np.nan}
        )
    return pd.DataFrame(rows)


def count_leaning(scores: pd.DataFrame) -> pd.DataFrame:
    """Count by model what made answers right.

    Returns
    -------
    DataFrame
        One row a model: model, answers, correct, a column for each right bucket, alone (right answers whose last
        sentence, after the reasoning, is right by itself), leaning (the others), hedged (of these, answers that say
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
    """Return what the sources of a build tell of how models were asked.

    Returns
    -------
    DataFrame
        One row a model that the paper does not have and a setting of `settings.SETTINGS`: model, setting, value (words
        of the source, with the responses that had it where they are several; "" where nothing is told).
    """
    sources = json.loads((Path(build) / "sources.json").read_text(encoding="utf-8"))
    rows = []
    for source in sources:
        for model in (model for model in source["models"] if model not in NAMES):
            told = source.get("settings", {}).get(model, {})
            rows += [{"model": model, "setting": name, "value": _list_values(told.get(name, {}))} for name in SETTINGS]
    return pd.DataFrame(rows, columns=["model", "setting", "value"])


def _list_values(counts: Mapping[str, int]) -> str:
    if len(counts) < 2:
        return "".join(counts)
    return ", ".join(f"{value} ({count:,})" for value, count in counts.items())
