"""Accuracies by model as lines of text, for a terminal: the paper's models in one line, others one by one."""

import pandas as pd

from cogniload_repro.endings import CUT
from cogniload_repro.formats import format_name
from cogniload_repro.models import NAMES
from cogniload_repro.statistics.accuracy import accuracy_by


def print_scores(scores: pd.DataFrame) -> str:
    """Return accuracies, answers that were cut off, and right ones that say they are not sure.

    Parameters
    ----------
    scores : DataFrame
        The scores table.
    """
    columns = {"accuracy": "mean", "answers": "size", "cut": "sum", "unclosed_trace": "sum", "hedged": "sum"}
    marked = scores.assign(
        accuracy=scores["correct"],
        answers=1,
        cut=scores["stopped"].isin(CUT),
        hedged=scores["correct"] & ~scores["answer_correct"] & scores["unsure"],
    )
    by_model = marked.groupby("model").agg(columns)
    lines = [
        f"  {format_name(row.Index)}: {100 * row.accuracy:.1f}% of {row.answers:,} right, {row.cut:,} cut off, "
        f"{row.unclosed_trace:,} with reasoning that is not closed, {row.hedged:,} right by it though not sure"
        for row in by_model[~by_model.index.isin(NAMES)].itertuples()
    ]
    return "\n".join([*_print_papers(by_model["accuracy"]), *lines])


def print_fit_summary(cells: pd.DataFrame, glm: pd.DataFrame) -> str:
    """Return accuracies with 90% Wilson intervals and capacity points.

    Parameters
    ----------
    cells, glm : DataFrame
        Cells, and the fits of Table 2 (`paper_tables.glm_table`).
    """
    pooled = accuracy_by(cells, "model").merge(glm[["model", "ecl50", "nt50", "id50"]], on="model")
    lines = [
        f"  {format_name(row.model)}: {100 * row.accuracy:.1f}% ({100 * row.low:.1f} to {100 * row.high:.1f}) of "
        f"{row.n:,} right, ECL50 {_show(row.ecl50, 1)}, NT50 {_show(row.nt50, 3)}, ID50 {_show(row.id50, 2)}"
        for row in pooled[~pooled["model"].isin(NAMES)].itertuples()
    ]
    return "\n".join([*_print_papers(pooled.set_index("model")["accuracy"]), *lines])


def _show(value: float, digits: int) -> str:
    return "--" if pd.isna(value) else f"{value:.{digits}f}"


def _print_papers(accuracy: pd.Series) -> list[str]:
    own = 100 * accuracy[accuracy.index.isin(NAMES)]
    if own.empty:
        return []
    if len(own) == 1:
        return [f"  {format_name(own.index[0])}: {own.iloc[0]:.1f}% right"]
    best, worst = own.idxmax(), own.idxmin()
    return [f"  the paper's {len(own)} models: {own.min():.1f}% ({format_name(worst)}) to {own.max():.1f}% "
            f"({format_name(best)}) right"]  # fmt: skip
