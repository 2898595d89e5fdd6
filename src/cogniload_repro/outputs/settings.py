"""How models were asked, as their sources say, in one row per model."""

from collections.abc import Iterable, Mapping, Sequence

import pandas as pd

from cogniload_repro.outputs.rows import SETTINGS

#: Shown where a source does not say.
NOT_STATED = "not stated"
_VALUES_SHOWN = 3


def settings_table(sources: Iterable[Mapping], models: Sequence[str]) -> pd.DataFrame:
    """Return the settings of some models: model, then a column of text for each of `SETTINGS`.

    Sources are those of a build's ``sources.json``. Several values stand with the responses that
    had each.
    """
    stated: dict[str, Mapping] = {}
    for source in sources:
        settings = source.get("settings", {})
        stated |= {model: settings.get(model, {}) for model in source["models"]}
    rows = []
    for model in models:
        values = stated.get(model, {})
        texts = {name: _describe_values(values.get(name, {})) for name in SETTINGS}
        rows.append({"model": model} | texts)
    return pd.DataFrame(rows, columns=["model", *SETTINGS])


def _describe_values(counts: Mapping[str, int]) -> str:
    """Return the values of one setting, with their numbers of responses if they differ."""
    if not counts:
        return NOT_STATED
    if len(counts) == 1:
        return next(iter(counts))
    texts = [f"{value} ({count:,})" for value, count in counts.items()]
    left_out = len(texts) - _VALUES_SHOWN
    more = f" and {left_out:,} other values" if left_out > 0 else ""
    return ", ".join(texts[:_VALUES_SHOWN]) + more
