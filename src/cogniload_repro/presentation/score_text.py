"""Accuracies by model as lines of text, for a terminal: the paper's models in one line, others one by one."""

from collections.abc import Collection, Mapping

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
    by_model = endings.set_index("model").assign(accuracy=endings.set_index("model").eval("correct / answers"))
    said = {
        row.Index: (
            f"{row.answers:,} answers, {NOT_AVERAGED}"
            if row.Index in chosen
            else f"{row.accuracy:.1%} of {row.answers:,} correct"
        )
        + f", {row.cut:,} truncated, {row.unclosed:,} with reasoning that is not closed, "
        f"{row.hedged:,} correct by it though not sure"
        for row in by_model.itertuples()
    }
    return _list_models(by_model["accuracy"], said)


def print_fit_summary(cells: pd.DataFrame, glm: pd.DataFrame) -> str:
    """Return accuracies with 90% Wilson intervals and the capacity points of Table 2 (`paper_tables.glm_table`)."""
    pooled, answers = accuracy_by(cells, "model").set_index("model"), cells.groupby("model")["total"].sum()
    said = {}
    for row in glm.itertuples():
        share = f"{answers[row.model]:,} answers, {NOT_AVERAGED}"
        if row.model in pooled.index:
            group = 100 * pooled.loc[row.model, ["accuracy", "low", "high"]]
            share = f"{group.accuracy:.1f}% ({group.low:.1f} to {group.high:.1f}) of {answers[row.model]:,} correct"
        points = f"ECL50 {_show(row.ecl50, 1)}, NT50 {_show(row.nt50, 3)}, ID50 {_show(row.id50, 2)}"
        said[row.model] = f"{share}, {points}"
    return _list_models(pooled["accuracy"], said)


def _show(value: float, digits: int) -> str:
    return "--" if pd.isna(value) else f"{value:.{digits}f}"


def _list_models(accuracy: pd.Series, said: Mapping[str, str]) -> str:
    """Return one line for the paper's models, and one each for the first of the others."""
    papers, others = accuracy[accuracy.index.isin(NAMES)], [model for model in said if model not in NAMES]
    lines = [f"  {format_name(model)}: {said[model]}" for model in others[:_MODELS_SHOWN]]
    if len(papers) == 1:
        lines = [f"  {format_name(papers.index[0])}: {papers.iloc[0]:.1%} correct", *lines]
    elif len(papers):
        worst, best = (f"{papers[name]:.1%} ({format_name(name)})" for name in (papers.idxmin(), papers.idxmax()))
        lines = [f"  the paper's {len(papers)} models: {worst} to {best} correct", *lines]
    return "\n".join([*lines, *[f"  and {len(others) - _MODELS_SHOWN:,} more models"] * (len(others) > _MODELS_SHOWN)])
