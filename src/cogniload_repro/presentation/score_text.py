"""Accuracies by model as lines of text, for a terminal: the paper's models in one line, others one by one."""

from collections.abc import Collection

import pandas as pd

from cogniload_repro.formats import format_name
from cogniload_repro.models import NAMES
from cogniload_repro.statistics.accuracy import accuracy_by

#: Said in place of an accuracy where a model's puzzles were chosen by what they tell.
NOT_AVERAGED = "puzzles were chosen by what they tell, so accuracy is not averaged"
_MODELS_SHOWN = 40


def print_scores(endings: pd.DataFrame, chosen: Collection[str] = ()) -> str:
    """Return accuracies, truncated answers, and correct ones that say they are not sure, of `cells.count_endings`.

    Accuracies of models that are named as chosen are not averaged, see `accuracy.evenly_asked`.
    """
    by_model = endings.set_index("model")
    others = by_model[~by_model.index.isin(NAMES)]
    lines = [
        f"  {format_name(row.Index)}: "
        + (
            f"{row.answers:,} answers, {NOT_AVERAGED}"
            if row.Index in chosen
            else f"{100 * row.correct / row.answers:.1f}% of {row.answers:,} correct"
        )
        + f", {row.cut:,} truncated, {row.unclosed:,} with reasoning that is not closed, "
        f"{row.hedged:,} correct by it though not sure"
        for row in others.head(_MODELS_SHOWN).itertuples()
    ]
    more = [f"  and {len(others) - _MODELS_SHOWN:,} more models"] if len(others) > _MODELS_SHOWN else []
    return "\n".join([*_print_papers(by_model["correct"] / by_model["answers"]), *lines, *more])


def print_fit_summary(cells: pd.DataFrame, glm: pd.DataFrame) -> str:
    """Return accuracies with 90% Wilson intervals and capacity points.

    Parameters
    ----------
    cells, glm : DataFrame
        Cells, and the fits of Table 2 (`paper_tables.glm_table`).
    """
    pooled, answers = accuracy_by(cells, "model").set_index("model"), cells.groupby("model")["total"].sum()
    lines = []
    others = glm[~glm["model"].isin(NAMES)]
    for row in others.head(_MODELS_SHOWN).itertuples():
        said = f"{answers[row.model]:,} answers, {NOT_AVERAGED}"
        if row.model in pooled.index:
            own = 100 * pooled.loc[row.model, ["accuracy", "low", "high"]]
            said = f"{own.accuracy:.1f}% ({own.low:.1f} to {own.high:.1f}) of {answers[row.model]:,} correct"
        points = f"ECL50 {_show(row.ecl50, 1)}, NT50 {_show(row.nt50, 3)}, ID50 {_show(row.id50, 2)}"
        lines.append(f"  {format_name(row.model)}: {said}, {points}")
    more = [f"  and {len(others) - _MODELS_SHOWN:,} more models"] if len(others) > _MODELS_SHOWN else []
    return "\n".join([*_print_papers(pooled["accuracy"]), *lines, *more])


def _show(value: float, digits: int) -> str:
    return "--" if pd.isna(value) else f"{value:.{digits}f}"


def _print_papers(accuracy: pd.Series) -> list[str]:
    own = 100 * accuracy[accuracy.index.isin(NAMES)]
    if own.empty:
        return []
    if len(own) == 1:
        return [f"  {format_name(own.index[0])}: {own.iloc[0]:.1f}% correct"]
    best, worst = own.idxmax(), own.idxmin()
    return [f"  the paper's {len(own)} models: {own.min():.1f}% ({format_name(worst)}) to {own.max():.1f}% "
            f"({format_name(best)}) correct"]  # fmt: skip
