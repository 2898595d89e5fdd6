"""Accuracies, regressions and their comparison as lines of text for a terminal."""

from collections.abc import Mapping

import numpy as np
import pandas as pd

from cogniload_repro.formats import display_names, format_number
from cogniload_repro.models import NAMES

_MODELS_SHOWN = 40
_POINT_DECIMALS = {"ecl50": 1, "nt50": 3, "id50": 2}


def print_scores(answers: pd.DataFrame) -> str:
    """Return one line per model of `summarise_answers`: accuracy, and how its answers ended."""
    answers = answers.set_index("model")
    accuracy = answers["correct"] / answers["answers"]
    texts = {}
    for row in answers.itertuples():
        texts[row.Index] = (
            f"{accuracy[row.Index]:.1%} of {row.answers:,} correct, "
            f"{row.length + row.context:,} truncated, "
            f"{row.unclosed_trace:,} with reasoning that is not closed, "
            f"{row.hedged:,} correct by it though not sure"
        )
    return _list_models(accuracy, texts)


def print_fit_summary(cells: pd.DataFrame, glm: pd.DataFrame) -> str:
    """Return one line per model: accuracy with its 90% Wilson interval, and capacity points."""
    # here, since the step `score` needs no regressions
    from cogniload_repro.regression.cell_tables import accuracy_by

    accuracies = accuracy_by(cells, "model").set_index("model")
    texts = {}
    for row in glm.itertuples():
        model = accuracies.loc[row.model]
        interval = f"{100 * model['low']:.1f} to {100 * model['high']:.1f}"
        share = f"{100 * model['accuracy']:.1f}% ({interval}) of {model['total']:,.0f} correct"
        points = [
            f"{name.upper()} {format_number(getattr(row, name), decimals)}"
            for name, decimals in _POINT_DECIMALS.items()
        ]
        texts[row.model] = ", ".join([share, *points])
    return _list_models(accuracies["accuracy"], texts)


def _list_models(accuracy: pd.Series, texts: Mapping[str, str]) -> str:
    """Return one line for the paper's models, and one each for the first of the others."""
    papers = accuracy[accuracy.index.isin(NAMES)]
    others = [model for model in texts if model not in NAMES]
    names = display_names(accuracy.index)
    lines = [f"  {names[model]}: {texts[model]}" for model in others[:_MODELS_SHOWN]]
    if len(papers) == 1:
        lines.insert(0, f"  {papers.index[0]}: {papers.iloc[0]:.1%} correct")
    elif len(papers):
        worst = f"{papers.min():.1%} ({papers.idxmin()})"
        best = f"{papers.max():.1%} ({papers.idxmax()})"
        lines.insert(
            0, f"  the paper's {len(papers)} models: {worst} to {best} correct"
        )
    if len(others) > _MODELS_SHOWN:
        lines.append(f"  and {len(others) - _MODELS_SHOWN:,} more models")
    return "\n".join(lines)


def print_fits(fits: pd.DataFrame) -> str:
    """Return the fits of `fits.fit`, one line per model: coefficients, or why there are none.

    Coefficients have their standard errors in brackets; those not identified their range in our
    samples.
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


def print_comparison(
    compared: pd.DataFrame, formula: str, family: str = "logit"
) -> str:
    """Return `selection.compare_fits` against the paper's regression as text.

    It says how many models gain, then has a line per model.
    """
    from cogniload_repro.book.tables import format_frame
    from cogniload_repro.regression.glm import QUADRATIC

    better = (compared["daic"] < -2).sum()
    worse = (compared["daic"] > 2).sum()
    counts = (
        f"dAIC (less paper's) below -2 in {better} of {len(compared)} models, "
        f"above 2 in {worse}"
    )
    if not compared["identified"].all():
        counts += ", by the median of our samples where it is not identified"
    names = display_names(compared["model"])
    columns: dict = {
        "model": ("model", lambda model: names[model][:29]),
        "status": ("fit", str),
        "df": ("df", 0),
        "loglik": ("logLik", 2),
        "daic": ("dAIC", 2),
        "dbic": ("dBIC", 2),
        "lr_p": ("p (LR)", ".2g"),
        ("daic_p10", "daic_p90"): ("dAIC in our samples", 1),
    }
    ranges = compared[["daic_p10", "daic_p90"]].mask(compared["identified"])
    table = format_frame(compared.assign(**ranges), columns).to_string(index=False)
    formulas = f"yours: {formula}, {family}\npaper: {QUADRATIC}, logit"
    return f"{formulas}\n{counts}\n\n{table}"
