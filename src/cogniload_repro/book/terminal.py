"""Accuracies, regressions, and comparisons of fits and of models, as text for a terminal."""

from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from cogniload_repro.formats import NONE, display_names, format_frame
from cogniload_repro.published import CONFIDENCE
from cogniload_repro.regression.formulas import QUADRATIC

#: Tables of two models: title, factor and decimals of their numbers.
_SHEETS = {
    "accuracy": ("Accuracy, % of all answers of a model (90% Wilson interval)", 100, 1),
    "overflow": ("Overflows, % of all answers of a model", 100, 0),
    "regression": (f"Regression of all answers ({CONFIDENCE} interval)", 1, 3),
}


def format_fits(fits: pd.DataFrame) -> str:
    """Return the fits of `fits.fit`, one line per model: coefficients, or why there are none.

    Standard errors are in brackets; a coefficient that is not identified has its range over the
    reconstructions instead.
    """
    names = display_names(fits["model"])
    lines = []
    for model, terms in fits.groupby("model", sort=False):
        status = terms["status"].iloc[0]
        text = _write_terms(terms) if status == "ok" else status
        lines.append(f"{names[model]}: {text}")
    return "\n".join(lines)


def _write_terms(terms: pd.DataFrame) -> str:
    texts = []
    for term in terms.itertuples():
        precision = f"({term.se:.2g})"
        if not term.identified:
            precision = f"[{term.coef_p10:.4g} to {term.coef_p90:.4g}]"
        texts.append(f"{term.term} {term.coef:.4g} {precision}")
    aic = terms["aic"].iloc[0]
    if np.isfinite(aic):
        texts.append(f"AIC {aic:.1f}")
    return "  ".join(texts)


def format_comparison(
    compared: pd.DataFrame, formula: str = QUADRATIC, family: str = "logit"
) -> str:
    """Return a comparison of fits with the paper's (`selection.compare_fits`) as text.

    A line says in how many models AIC improves; one line per model follows.
    """
    better = (compared["daic"] < -2).sum()
    worse = (compared["daic"] > 2).sum()
    counts = (
        f"dAIC (yours minus the paper's) below -2 in {better} of {len(compared)} models, "
        f"above 2 in {worse}"
    )
    if not compared["identified"].all():
        counts += "; medians over the reconstructions where not identified"
    names = display_names(compared["model"])
    columns: dict = {
        "model": ("model", lambda model: names[model][:29]),
        "status": ("fit", str),
        "df": ("df", 0),
        "loglik": ("logLik", 2),
        "daic": ("dAIC", 2),
        "dbic": ("dBIC", 2),
        "lr_p": ("p (LR)", ".2g"),
        ("daic_p10", "daic_p90"): ("dAIC range", 1),
    }
    ranges = compared[["daic_p10", "daic_p90"]].mask(compared["identified"])
    table = format_frame(compared.assign(**ranges), columns).to_string(index=False)
    formulas = f"yours: {formula}, {family}\npaper: {QUADRATIC}, logit"
    return f"{formulas}\n{counts}\n\n{table}"


def format_pair(compared: dict[str, Any]) -> Iterator[str]:
    """Yield two models compared (`compare_rows.compare_pair`) as one table after the other."""
    names = display_names(compared["accuracy"]["model"])
    pair = compared["pair"]
    for row in pair.head(1).itertuples():
        yield f"Accuracy of {names[row.first]} minus {names[row.second]}, in points"
    points = ("estimate", "low", "high", "identified")
    columns: dict = {
        "cells": ("cells", 0),
        "N": ("N", lambda N: "all" if pd.isna(N) else f"{N:g}"),
        points: (
            f"difference ({CONFIDENCE} interval, or [range of reconstructions])",
            partial(_format_interval, scale=100, decimals=1),
        ),
        "p": ("p", ".2g"),
        "p_holm": (f"p (Holm, {compared['tests']} pairs)", ".2g"),
        "verdict": ("verdict", str),
    }
    yield format_frame(pair, columns).to_string(index=False)
    headings = {
        model: f"{names[model]}, {count} cells"
        for model, count in compared["cells"].items()
    }
    for sheet, (title, scale, decimals) in _SHEETS.items():
        rows = compared[sheet]
        if rows.empty:  # such as overflows of answers whose tokens are not known
            continue
        texts = [
            _format_interval(*numbers, scale=scale, decimals=decimals)
            for numbers in rows[[*points]].itertuples(index=False)
        ]
        labelled = rows.assign(text=texts, label=_label_rows(rows))
        wide = labelled.pivot_table("text", "label", "model", "first", NONE, sort=False)
        wide = wide.reindex(columns=[*headings], fill_value=NONE)
        wide = wide.rename(columns=headings)
        yield f"\n{title}\n{wide.rename_axis(None).rename_axis(None, axis=1).to_string()}"
    for model, origin in compared["origins"].items():
        if origin:
            yield f"\n{names[model]}: {origin}."


def _label_rows(rows: pd.DataFrame) -> pd.Series:
    """Return the quantity of each row, or its load and level."""
    if "quantity" in rows:
        return rows["quantity"]
    levels = rows["level"].map(" {:g}".format).replace(" nan", "")
    return rows["load"] + levels


def _format_interval(
    estimate: float,
    low: float,
    high: float,
    identified: bool,
    *,
    scale: int,
    decimals: int,
) -> str:
    """Return an estimate with its interval, or in square brackets its range."""
    number, start, end = (
        f"{scale * value:,.{decimals}f}" for value in (estimate, low, high)
    )
    if pd.isna(low):
        return NONE if pd.isna(estimate) else number
    ends = f"{start} to {end}"
    return f"{number} ({ends})" if identified else f"{number} [{ends}]"
