"""Accuracies, regressions and their comparison as lines of text for a terminal."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from cogniload_repro.formats import display_names, format_known
from cogniload_repro.models import NAMES

_MODELS_SHOWN = 40
_POINTS = {"ecl50": ".1f", "nt50": ".3f", "id50": ".2f"}


def print_scores(endings: pd.DataFrame) -> str:
    """Return accuracies, truncated answers, and correct ones that say they are not sure, of `cells.count_endings`."""
    by_model = endings.set_index("model").assign(
        accuracy=endings.set_index("model").eval("correct / answers")
    )
    said = {}
    for row in by_model.itertuples():
        said[row.Index] = (
            f"{row.accuracy:.1%} of {row.answers:,} correct, {row.cut:,} truncated, "
            f"{row.unclosed:,} with reasoning that is not closed, {row.hedged:,} correct by it though not sure"
        )
    return _list_models(by_model["accuracy"], said)


def print_fit_summary(cells: pd.DataFrame, glm: pd.DataFrame) -> str:
    """Return accuracies with 90% Wilson intervals and the capacity points of Table 2 (`paper_tables.glm_table`)."""
    from cogniload_repro.statistics.cell_tables import (
        accuracy_by,
    )  # here: the step `score` needs no regressions

    pooled, answers = (
        accuracy_by(cells, "model").set_index("model"),
        cells.groupby("model")["total"].sum(),
    )
    said = {}
    for row in glm.itertuples():
        group = 100 * pooled.loc[row.model, ["accuracy", "low", "high"]]
        share = f"{group.accuracy:.1f}% ({group.low:.1f} to {group.high:.1f}) of {answers[row.model]:,} correct"
        points = [
            f"{name.upper()} {format_known(getattr(row, name), form)}"
            for name, form in _POINTS.items()
        ]
        said[row.model] = ", ".join([share, *points])
    return _list_models(pooled["accuracy"], said)


def _list_models(accuracy: pd.Series, said: Mapping[str, str]) -> str:
    """Return one line for the paper's models, and one each for the first of the others."""
    papers, others = (
        accuracy[accuracy.index.isin(NAMES)],
        [model for model in said if model not in NAMES],
    )
    names = display_names(accuracy.index)
    lines = [f"  {names[model]}: {said[model]}" for model in others[:_MODELS_SHOWN]]
    if len(papers) == 1:
        lines.insert(0, f"  {papers.index[0]}: {papers.iloc[0]:.1%} correct")
    elif len(papers):
        worst = f"{papers.min():.1%} ({papers.idxmin()})"
        best = f"{papers.max():.1%} ({papers.idxmax()})"
        lines.insert(0, f"  the paper's {len(papers)} models: {worst} to {best} correct")
    if len(others) > _MODELS_SHOWN:
        lines.append(f"  and {len(others) - _MODELS_SHOWN:,} more models")
    return "\n".join(lines)


def print_fits(fits: pd.DataFrame) -> str:
    """Return the fits of `fits.fit`, one line per model: coefficients, or why there are none.

    Coefficients have their standard errors in brackets; those not identified their range in our samples.
    """
    lines = []
    names = display_names(fits["model"])
    for model, own in fits.groupby("model", sort=False):
        shown = own["status"].iloc[0]
        if shown == "ok":
            shown = "  ".join(
                f"{row.term} {row.coef:.4g} ({row.se:.2g})" if row.identified
                else f"{row.term} {row.coef:.4g} [{row.coef_p10:.4g} to {row.coef_p90:.4g}]"
                for row in own.itertuples()
            )  # fmt: skip
            shown += f"  AIC {aic:.1f}" if np.isfinite(aic := own["aic"].iloc[0]) else ""
        lines.append(f"{names[model]}: {shown}")
    return "\n".join(lines)


def print_comparison(compared: pd.DataFrame, formula: str, family: str = "logit") -> str:
    """Return `selection.compare_fits` against the paper as text: how many models gain, then a line per model."""
    from cogniload_repro.presentation.tables import format_frame
    from cogniload_repro.statistics.regression import QUADRATIC

    gain, loss = ((sign * compared["daic"] > 2).sum() for sign in (-1, 1))
    lines = [f"yours: {formula}, {family}", f"paper: {QUADRATIC}, logit"]
    medians = (
        ""
        if compared["identified"].all()
        else ", by the median of our samples where it is not identified"
    )
    lines.append(
        f"dAIC (less paper's) below -2 in {gain} of {len(compared)} models, above 2 in {loss}{medians}\n"
    )
    names = display_names(compared["model"])
    columns: dict = {"model": ("model", lambda name: names[name][:29])}
    columns |= {"status": ("fit", str), "df": ("df", 0)}
    columns |= {
        "loglik": ("logLik", 2),
        "daic": ("dAIC", 2),
        "dbic": ("dBIC", 2),
        "lr_p": ("p (LR)", ".2g"),
    }
    columns[("daic_p10", "daic_p90")] = "dAIC in our samples", 1
    samples = compared[["daic_p10", "daic_p90"]].mask(compared["identified"])
    return "\n".join(
        [*lines, format_frame(compared.assign(**samples), columns).to_string(index=False)]
    )
